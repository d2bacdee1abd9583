// A sweep of searches: the gain of the best order at each point, and in total.

import type { Sweep, SweepTotal } from "../contract.ts";
import { lineSample } from "../charts/sweep.ts";
import { SweepChart } from "../charts/sweep-pointer.ts";
import { type Child, h, name, section, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { combinations, gridSize, knownPoints, type SweepLine, sweepLines, totalGain, valuesOf } from "../run/sweep.ts";
import { dataTable } from "./measured.ts";
import { more } from "./parts.ts";

/** Rows of totals at most. */
const MOST = 200;

export function sweepSection(sweep: Sweep, index: number): HTMLElement {
  const lines = sweepLines(sweep);
  return section(
    `sweep-${index}`,
    `Best ${sweep.vary} at each point: ${sweep.scenario}`,
    `${sweep.file}, ${format.arbiter(sweep.arbiter)}`,
    h("p", {}, ...extent(sweep)),
    h("p", {}, proof(sweep)),
    ...(lines.length > 0 ? chart(sweep, lines) : [h("p", { class: "note" }, "Single points are not in the data.")]),
    ...totals(sweep),
  );
}

/** Names with commas between them. */
function listed(texts: string[]): Child[] {
  return texts.flatMap((text, i) => [i > 0 ? ", " : "", name(text)]);
}

const pathsOf = (sweep: Sweep) => sweep.axes.map((axis) => axis.path);

/** The number of values of the first axis, and its path. */
function firstAxis(sweep: Sweep): Child[] {
  const { path, values } = sweep.axes[0]!;
  return [`${format.counted(values.length, "value")} of `, name(path)];
}

/** How large the grid is, in words. */
function extent(sweep: Sweep): Child[] {
  const others = pathsOf(sweep).slice(1);
  const each = ` with ${format.counted(combinations(sweep), "combination")} of `;
  const took = sweep.wall_s == null ? "" : ` in ${format.time(sweep.wall_s)}`;
  return [
    `${format.counted(gridSize(sweep), "point")}: `,
    ...firstAxis(sweep),
    ...(others.length > 0 ? [each, ...listed(others)] : []),
    `. Searches (equal points share one): ${format.count(sweep.searches)}${took}.`,
  ];
}

/** Whether all points are known, and whether there can be better orders. */
export function proof(sweep: Sweep): string {
  const [known, all] = [knownPoints(sweep), gridSize(sweep)];
  const by = sweep.objective === "makespan" ? "" : ` for ${visible(sweep.objective)}`;
  if (sweep.proved_optimal) return `Proved${by}: no ${visible(sweep.vary)} is better at any point.`;
  const cut =
    known < all ? `The sweep was ended: ${format.count(known)} of ${format.counted(all, "point")} are known. ` : "";
  if (!sweep.points?.length) return `${cut}Not proved at all points.`;
  const unproved = sweep.points.filter((p) => !p.proved_optimal).length;
  if (unproved === 0) return `${cut}At these the best is proved.`;
  return `${cut}Not proved to be the best at ${format.counted(unproved, "point")} (hollow marks).`;
}

function chart(sweep: Sweep, lines: SweepLine[]): Child[] {
  const all = combinations(sweep);
  const left = `Of ${format.count(all)} combinations the ${lines.length} with the largest gains in total are drawn.`;
  return [
    all > lines.length && h("p", { class: "note" }, left),
    new SweepChart(sweep, lines).element,
    h("p", { class: "chart-hint", "aria-hidden": "true" }, "arrow keys go along a line, and to the next one"),
    sweep.axes.length > 1 && keys(sweep, lines),
  ];
}

/** The values of each line. */
function keys(sweep: Sweep, lines: SweepLine[]): HTMLElement {
  const items = lines.map((line, k) => h("li", {}, lineSample(k), combination(sweep, line.combination, line.values)));
  return h(
    "div",
    { class: "sweep-keys" },
    h("p", { class: "small" }, ...listed(pathsOf(sweep).slice(1))),
    h("ul", { class: "chart-keys" }, ...items),
  );
}

function totals(sweep: Sweep): Child[] {
  const head = [pathsOf(sweep).slice(1).map(visible).join(", "), "points", "baseline", "best", "gain", "proved"];
  const missing = sweep.totals.some((t) => !t.complete);
  return [
    h(
      "p",
      { class: "small" },
      "In total: sums over ",
      ...firstAxis(sweep),
      "; less time is 1 − best / baseline, faster is baseline / best − 1.",
      missing && " Where points are missing, sums are over the others and do not compare.",
    ),
    dataTable(
      head,
      sweep.totals.slice(0, MOST).map((total, c) => row(sweep, total, c)),
    ),
    more(sweep.totals.length, MOST),
  ];
}

/** A combination with its number, as in the key of the chart. */
function combination(sweep: Sweep, c: number, values: string[]): HTMLElement {
  return h("span", {}, ...(sweep.axes.length > 1 ? [`(${c + 1}) `, ...listed(values)] : ["total"]));
}

function row(sweep: Sweep, total: SweepTotal, c: number): (string | HTMLElement)[] {
  const all = sweep.axes[0]!.values.length;
  const time = (seconds: number) => format.time(total.points > 0 ? seconds : null);
  return [
    combination(sweep, c, valuesOf(sweep, c)),
    format.count(total.points) + (total.points < all ? ` of ${format.count(all)}` : ""),
    time(total.baseline_s),
    time(total.best_s),
    format.gain(totalGain(sweep, c)),
    total.proved_optimal ? "yes" : total.complete ? "no" : "not finished",
  ];
}
