// What a search found: the sorted curve of all times by its objective, or their histogram.

import type { Search } from "../contract.ts";
import { s } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { type Objective, objectiveOf } from "../core/objective.ts";
import { extent, ticks } from "../core/scale.ts";
import { type Plot, chartBox, linear, marker, plot, telling } from "./axes.ts";

export interface Curve {
  /** Part of the candidates, and the time of the one there. */
  points: [number, number][];
  /** Which candidates the points are. */
  of: "all" | "spaced" | "some" | "percentiles";
  source: string;
}

/** How many candidates there are: more than 2^128 have no number in the data. */
export function candidatesOf(search: Search): string {
  const n = search.candidates;
  if (n == null) return "more than 2^128 candidates";
  return n > Number.MAX_SAFE_INTEGER ? `about ${n.toPrecision(3)} candidates` : format.counted(n, "candidate");
}

/** The sorted curve: of all candidates where they are given, otherwise through the percentiles. */
export function curveOf(search: Search): Curve | null {
  const n = search.candidates == null ? null : search.candidates - (search.stopped?.candidates ?? 0);
  const rows = timesOf(search);
  const given = search.curve_s?.length ? search.curve_s : rows.length > 1 ? rows.sort((a, b) => a - b) : null;
  if (given === null) return fromPercentiles(search);
  const points = given.map((v, i): [number, number] => [given.length > 1 ? i / (given.length - 1) : 0, v]);
  const all = search.curve_s?.length ? n != null && given.length >= n : n != null && search.rows!.length >= n;
  if (all) return { points, of: "all", source: `all ${format.counted(given.length, "candidate")}` };
  const others = n == null ? "all candidates" : `the ${candidatesOf(search)}`;
  if (given === rows)
    return { points, of: "some", source: `${format.count(rows.length)} of ${others}, those in the data` };
  return {
    points,
    of: "spaced",
    source: `${format.count(given.length)} of ${others}, evenly spaced in the sorted order`,
  };
}

/** The times of the rows by the objective; none where it is none, as a throughput is. */
function timesOf(search: Search): number[] {
  const by = objectiveOf(search);
  return by.kind === "time" ? (search.rows ?? []).map(by.of) : [];
}

function fromPercentiles(search: Search): Curve | null {
  const timed = search.objective === "makespan";
  const { best, kind } = objectiveOf(search);
  const [percentiles, worst] = timed ? [search.percentiles_s, search.worst_s] : [search.percentiles, search.worst];
  if (kind !== "time" || !percentiles || best == null || worst == null) return null;
  const points: [number, number][] = [[0, best]];
  for (const [p, v] of Object.entries(percentiles)) points.push([Number(p) / 100, v]);
  const median = timed ? search.median_s : search.median;
  if (median != null) points.push([0.5, median]);
  points.push([1, worst]);
  points.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return {
    points,
    of: "percentiles",
    source: `through ${points.length} percentiles of ${candidatesOf(search)}`,
  };
}

/** Times that differ by less than this part are equal. */
const EQUAL = 1e-12;

/** How many of all candidates are better than a time: "about" where not all are given. */
export function betterThan(search: Search, curve: Curve, time: number): string {
  const below = curve.points.filter(([, v]) => v < time * (1 - EQUAL)).length;
  const all = curve.points.length;
  if (curve.of === "all") return format.percent(below / all);
  if (curve.of === "some") return `${format.count(below)} of the ${format.count(all)} in the data`;
  if (curve.of === "spaced") return `about ${format.percent(below / all)}`;
  // The last of n stands at 1, and n − 1 are before it.
  const n = search.candidates ?? Number.POSITIVE_INFINITY;
  return `about ${format.percent(shareBelow(curve, time) * (n < Number.POSITIVE_INFINITY ? (n - 1) / n : 1))}`;
}

/** The place of a time on the curve, 0 to 1. */
export function shareBelow(curve: Curve, time: number): number {
  const { points } = curve;
  for (let i = 1; i < points.length; i++) {
    const [[p0, v0], [p1, v1]] = [points[i - 1]!, points[i]!];
    if (time <= v1) return time <= v0 ? p0 : p0 + ((p1 - p0) * (time - v0)) / (v1 - v0);
  }
  return 1;
}

export function curveChart(search: Search, curve: Curve): HTMLElement {
  const by = objectiveOf(search);
  const values = curve.points.map(([, v]) => v).concat(by.baseline ?? []);
  const [low, high] = extent(values);
  const room = (high - low || high || 1) * 0.08;
  const marks = ticks(low - room, high + room, 6);
  const shares = [0, 0.25, 0.5, 0.75, 1];
  const p = plot(
    linear(
      0,
      1,
      `candidates, sorted (${curve.source})`,
      shares,
      shares.map((x) => `${x * 100} %`),
    ),
    linear(low - room, high + room, by.name, marks, by.labels(marks)),
    by.name === "makespan" ? "Sorted curve of makespans" : `Sorted curve of all candidates by ${by.name}`,
  );
  const d = curve.points.map(([x, v], i) => `${i ? "L" : "M"}${p.x(x).toFixed(1)} ${p.y(v).toFixed(1)}`).join("");
  p.root.append(s("path", { class: "curve", d }));
  if (curve.points.length < 60)
    for (const [x, v] of curve.points) p.root.append(dot(p, by, [x, v], betterThan(search, curve, v)));
  markBaseline(p, search, by, curve);
  markBest(p, by);
  return chartBox(p, "point");
}

function dot(p: Plot, by: Objective, [x, v]: [number, number], better: string): SVGElement {
  const mark = s("circle", { class: "curve-dot", cx: p.x(x), cy: p.y(v), r: 3.2 });
  return telling(mark, [
    { what: "better candidates", value: better },
    { what: by.name, value: by.text(v) },
  ]);
}

function markBaseline(p: Plot, search: Search, by: Objective, curve: Curve): void {
  if (by.baseline === null) return;
  const share = shareBelow(curve, by.baseline);
  const y = p.y(by.baseline);
  const mark = marker(3, p.x(share), y, "var(--slower)", 5.5);
  baselineLevel(p, by, by.baseline);
  p.root.append(
    telling(mark, [
      { what: "baseline", value: by.text(by.baseline) },
      { what: "better candidates", value: betterThan(search, curve, by.baseline) },
    ]),
  );
}

/** The level of the baseline. */
export function baselineLevel(p: Plot, by: Objective, value: number): void {
  const y = p.y(value);
  p.root.append(
    s("line", { class: "level baseline", x1: p.left, x2: p.right, y1: y, y2: y }),
    s(
      "text",
      { class: "level-text slower", x: p.right - 4, y: y - 6, "text-anchor": "end" },
      `baseline: ${by.text(value)}`,
    ),
  );
}

function markBest(p: Plot, by: Objective): void {
  if (by.best === null) return;
  const y = p.y(by.best);
  p.root.append(
    s("line", { class: "level best", x1: p.left, x2: p.right, y1: y, y2: y }),
    telling(marker(0, p.x(0), y, "var(--faster)", 5.5), [{ what: "best", value: by.text(by.best) }]),
    s(
      "text",
      { class: "level-text faster", x: p.right - 4, y: y + 15, "text-anchor": "end" },
      `best: ${by.text(by.best)}`,
    ),
  );
}

export interface Histogram {
  from_s: number;
  to_s: number;
  counts: number[];
}

/** Bins of equal width, where the data hold the time of every candidate, or counts already. */
export function histogramOf(search: Search): Histogram | null {
  if (search.histogram) return search.histogram;
  const curve = search.curve_s ?? [];
  const rows = timesOf(search);
  const holdsAll = (list: number[]) => search.candidates != null && list.length === search.candidates;
  const values = holdsAll(curve) ? curve : holdsAll(rows) ? rows : [];
  if (values.length < 8) return null;
  const [from_s, to_s] = extent(values);
  const counts = new Array<number>(Math.min(40, Math.max(8, Math.round(Math.sqrt(values.length))))).fill(0);
  const width = (to_s - from_s) / counts.length || 1;
  for (const v of values) counts[Math.min(counts.length - 1, Math.floor((v - from_s) / width))]!++;
  return { from_s, to_s, counts };
}

export function histogramChart(search: Search, data: Histogram): HTMLElement {
  const most = Math.max(extent(data.counts)[1], 1);
  const by = objectiveOf(search);
  const low = Math.min(data.from_s, by.baseline ?? data.from_s);
  const high = Math.max(data.to_s, by.baseline ?? data.to_s);
  const marks = ticks(low, high, 6);
  const counts = ticks(0, most, 5).filter((c) => Number.isInteger(c));
  const p = plot(
    linear(low, high, by.name, marks, by.labels(marks)),
    linear(0, most * 1.25, "candidates", counts, counts.map(format.count)),
    by.name === "makespan" ? "Histogram of makespans" : `Histogram of all candidates by ${by.name}`,
  );
  drawBars(p, by, data);
  drawLevels(p, by);
  return chartBox(p, "bar");
}

function drawBars(p: Plot, by: Objective, data: Histogram): void {
  const width = (data.to_s - data.from_s) / data.counts.length;
  data.counts.forEach((n, i) => {
    const from = data.from_s + i * width;
    const bar = s("rect", {
      class: "bar",
      x: p.x(from) + 0.5,
      y: p.y(n),
      width: Math.max(1, p.x(from + width) - p.x(from) - 1),
      height: p.bottom - p.y(n),
    });
    p.root.append(
      telling(bar, [
        { what: by.name, value: `${by.text(from)} to ${by.text(from + width)}` },
        { what: "candidates", value: format.count(n) },
      ]),
    );
  });
}

/** Where the best and the baseline stand among the bars. */
function drawLevels(p: Plot, by: Objective): void {
  for (const [v, kind, words, y] of [
    [by.best, "best", "best", 24],
    [by.baseline, "baseline", "baseline", 40],
  ] as const) {
    if (v == null) continue;
    const right = p.x(v) > (p.left + p.right) / 2;
    p.root.append(s("line", { class: `level ${kind}`, x1: p.x(v), x2: p.x(v), y1: p.top, y2: p.bottom }));
    p.root.append(
      s(
        "text",
        {
          class: `level-text ${kind === "best" ? "faster" : "slower"}`,
          x: p.x(v) + (right ? -6 : 6),
          y,
          "text-anchor": right ? "end" : "start",
        },
        `${words}: ${by.text(v)}`,
      ),
    );
  }
}
