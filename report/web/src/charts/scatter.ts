// Predicted against measured: points near the diagonal are right, the band around it is 15 %.

import type { Validated } from "../contract.ts";
import { CATEGORIES } from "../core/colour.ts";
import { h, name, s } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { extent, ticks, timeLabels } from "../core/scale.ts";
import type { Line } from "../core/tip.ts";
import { type Axis, type Plot, chartBox, linear, logarithmic, marker, plot, telling } from "./axes.ts";

/** The error that the summary counts. */
const BAND = 0.15;

/** Logarithmic where the times differ by more than a factor of 20. */
function axis(low: number, high: number, title: string): Axis {
  if (low > 0 && high / low > 20) {
    const powers: number[] = [];
    for (let p = 10 ** Math.floor(Math.log10(low)); p <= high * 1.0001; p *= 10) if (p >= low * 0.9999) powers.push(p);
    return logarithmic(
      low,
      high,
      title,
      powers,
      powers.map((p) => format.time(p).replace(".000", "")),
    );
  }
  const marks = ticks(low, high, 6);
  return linear(low, high, title, marks, timeLabels(marks));
}

export function scatterChart(data: Validated): HTMLElement {
  const times = data.transfers.flatMap((t) => [t.measured_s, t.simulated_s]);
  const [least, most] = extent(times);
  const [low, high] = [least * 0.9, most * 1.1];
  const p = plot(
    axis(low, high, "measured"),
    axis(low, high, "simulated"),
    "Simulated times against measured ones",
    560,
    480,
  );
  const steps = Array.from({ length: 33 }, (_, i) => low * (high / low) ** (i / 32));
  const edge = (factor: number) => steps.map((v) => `${p.x(v).toFixed(1)} ${p.y(v * factor).toFixed(1)}`);
  p.root.append(
    s(
      "clipPath",
      { id: "inside" },
      s("rect", { x: p.left, y: p.top, width: p.right - p.left, height: p.bottom - p.top }),
    ),
    s("path", {
      class: "band",
      "clip-path": "url(#inside)",
      d: `M${[...edge(1 + BAND), ...edge(1 - BAND).reverse()].join("L")}Z`,
    }),
    s("path", { class: "diagonal", d: `M${p.x(low)} ${p.y(low)}L${p.x(high)} ${p.y(high)}` }),
    s("text", { class: "tick", x: p.left + 12, y: p.top + 16 }, "slower than measured"),
    s("text", { class: "tick", x: p.right - 12, y: p.bottom - 10, "text-anchor": "end" }, "faster than measured"),
  );
  const links = [...new Set(data.transfers.map((t) => t.bottleneck ?? ""))];
  const groups = together(
    data.transfers,
    (t) => `${Math.round(p.x(t.measured_s))} ${Math.round(p.y(t.simulated_s))} ${t.bottleneck}`,
  );
  for (const group of groups) mark(p, group, links);
  markCounts(p, groups);
  return h("div", { class: "with-keys" }, chartBox(p, "point"), keys(links));
}

type Point = Validated["transfers"][number];

/** Transfers that fall on the same place and are held back at the same link. */
export function together<T>(all: T[], key: (t: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const t of all) {
    const k = key(t);
    const group = groups.get(k);
    if (group) group.push(t);
    else groups.set(k, [t]);
  }
  return [...groups.values()];
}

const place = (links: string[], at: string | null | undefined) =>
  Math.min(links.indexOf(at ?? ""), CATEGORIES.length - 1);

function mark(p: Plot, group: Point[], links: string[]): void {
  const t = group[0]!;
  const k = place(links, t.bottleneck);
  const [x, y] = [p.x(t.measured_s), p.y(t.simulated_s)];
  const lines: Line[] = [{ what: "", names: group.map((g) => g.id), title: true }];
  if (group.length === 1 && t.from !== null && t.to !== null) {
    lines.push({ what: "from, to", ends: { from: t.from, to: t.to } });
  }
  lines.push(
    { what: "measured", value: format.time(t.measured_s) },
    { what: "simulated", value: format.time(t.simulated_s) },
    { what: "error", value: signed(t.error) },
  );
  if (t.bottleneck) lines.push({ what: "held back at", names: [t.bottleneck] });
  p.root.append(telling(marker(k, x, y, CATEGORIES[k]!, 5.5), lines));
}

/** A place of a label: its left, its middle in height, and its width. */
export type Place = [number, number, number];

/** Pixels of a character of a count, and of its height. */
const [CHARACTER, HIGH] = [7, 13];

/** Beside a mark: right, left, then above and below. */
export function placesFor(x: number, y: number, width: number): Place[] {
  const [right, left, middle] = [x + 9, x - 9 - width, x - width / 2];
  return [
    [right, y, width],
    [left, y, width],
    [middle, y - 15, width],
    [middle, y + 15, width],
    [right, y - HIGH, width],
    [right, y + HIGH, width],
  ];
}

/** The first place that none of those taken overlaps. */
export function freePlace(places: Place[], taken: Place[]): Place | undefined {
  const over = ([x, y, w]: Place, [a, b, v]: Place) => x < a + v && a < x + w && Math.abs(y - b) < HIGH;
  return places.find((place) => !taken.some((t) => over(place, t)));
}

/** How many transfers a mark stands for; a count without room is told by the mark alone. */
function markCounts(p: Plot, groups: Point[][]): void {
  const at = ([t]: Point[]): [number, number] => [p.x(t!.measured_s), p.y(t!.simulated_s)];
  const taken = groups.map((g): Place => [at(g)[0] - 5, at(g)[1], 10]);
  for (const group of groups) {
    if (group.length < 2) continue;
    const words = `×${group.length}`;
    const place = freePlace(placesFor(...at(group), words.length * CHARACTER), taken);
    if (!place) continue;
    taken.push(place);
    p.root.append(s("text", { class: "times", x: place[0], y: place[1] + 4 }, words));
  }
}

/** Links by mark; those beyond the last colour share it. */
function keys(links: string[]): HTMLElement {
  const named = links.slice(0, CATEGORIES.length);
  const items = named.map((link, k) => {
    const more = k === CATEGORIES.length - 1 && links.length > CATEGORIES.length;
    return h(
      "li",
      {},
      s("svg", { width: 18, height: 16, "aria-hidden": "true" }, marker(k, 9, 8, CATEGORIES[k]!, 5)),
      more ? "other links" : name(link || "no link named"),
    );
  });
  return h("ul", { class: "chart-keys" }, ...items);
}

export function signed(error: number): string {
  return `${error > 0 ? "+" : error < 0 ? "−" : "± "}${format.percent(Math.abs(error))}`;
}
