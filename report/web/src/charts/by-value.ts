// The objective over the values of the one parameter that varies: quantities by their size, others in the order of the file.

import type { Candidate, Search } from "../contract.ts";
import { s, visible } from "../core/dom.ts";
import { type Objective, objectiveOf } from "../core/objective.ts";
import { quantities } from "../core/quantity.ts";
import { extent, ticks } from "../core/scale.ts";
import { type Axis, type Plot, chartBox, linear, logarithmic, marker, plot, telling } from "./axes.ts";
import { categoryLabels, placedLabels } from "./categories.ts";
import { baselineLevel } from "./curve.ts";

/** Dots of more values are not told apart: the line says as much. */
const MOST_DOTS = 200;

export interface ByValue {
  path: string;
  rows: Candidate[];
  /** Where each row stands: its quantity, or its place in the list. */
  places: number[];
  scale: "list" | "linear" | "logarithmic";
}

/** The rows of a search over one parameter, all that run to the end: ascending where all are quantities; null for any other
 * search, and over seeds, whose values mean nothing. */
export function byValueOf(search: Search): ByValue | null {
  const rows = [...(search.rows ?? [])].sort((a, b) => a.candidate - b.candidate);
  const paths = Object.keys(rows[0]?.parameters ?? {});
  const isWhole = rows.length + (search.stopped?.candidates ?? 0) === search.candidates && rows.length > 1;
  return isWhole && paths.length === 1 && !paths[0]!.endsWith(".seed") ? placed(paths[0]!, rows) : null;
}

function placed(path: string, rows: Candidate[]): ByValue {
  const values = quantities(rows.map((row) => row.parameters[path] ?? ""));
  if (!values) return { path, rows, places: rows.map((_, i) => i), scale: "list" };
  const pairs = rows.map((row, i) => ({ row, value: values[i]! })).sort((a, b) => a.value - b.value);
  const places = pairs.map(({ value }) => value);
  return { path, rows: pairs.map(({ row }) => row), places, scale: isGeometric(places) ? "logarithmic" : "linear" };
}

/** Least factor from the first to the last value for a logarithmic axis; assumed. */
const FACTOR = 10;

/** Whether ascending values are closer to equal factors than to equal steps. */
function isGeometric(values: number[]): boolean {
  const [low, high] = extent(values);
  if (!(low > 0) || high / low < FACTOR) return false;
  const spread = (steps: number[]) => {
    const [least, most] = extent(steps.filter((step) => step > 0));
    return most / least;
  };
  const between = (step: (from: number, to: number) => number) =>
    spread(values.slice(1).map((value, i) => step(values[i]!, value)));
  return between((from, to) => Math.log(to / from)) < between((from, to) => to - from);
}

/** The axis of the values, with room at both ends. */
function axisOf({ path, places, scale }: ByValue): Axis {
  const [low, high] = extent(places);
  const title = visible(path);
  if (scale === "list") return linear(low - 0.5, high + 0.5, title, [], []);
  if (scale === "linear") return linear(low - (high - low) * 0.04, high + (high - low) * 0.04, title, [], []);
  const room = (high / low) ** 0.04;
  return logarithmic(low / room, high * room, title, [], []);
}

/** Each value with what it comes to, and where the baseline stands. */
export function byValueChart(search: Search, byValue: ByValue): HTMLElement {
  const { path, rows, places, scale } = byValue;
  const by = objectiveOf(search);
  const [low, high] = extent(rows.map(by.of).concat(by.baseline ?? []));
  const room = (high - low || high || 1) * 0.08;
  const marks = ticks(low - room, high + room, 6);
  const p = plot(
    axisOf(byValue),
    linear(low - room, high + room, by.name, marks, by.labels(marks)),
    `${by.name[0]!.toUpperCase()}${by.name.slice(1)} over ${visible(path)}`,
  );
  const values = rows.map((row) => row.parameters[path] ?? "");
  const labels = scale === "list" ? categoryLabels(values, p.x(1) - p.x(0)) : placedLabels(values, places.map(p.x));
  for (const label of labels)
    p.root.append(
      s(
        "text",
        { class: "tick category", x: p.x(places[label.at]!), y: p.bottom + 17, "text-anchor": "middle" },
        label.text,
      ),
    );
  if (by.baseline !== null) baselineLevel(p, by, by.baseline);
  const d = rows
    .map((row, i) => `${i ? "L" : "M"}${p.x(places[i]!).toFixed(1)} ${p.y(by.of(row)).toFixed(1)}`)
    .join("");
  p.root.append(s("path", { class: "curve", d }));
  rows.forEach((row, i) => {
    if (row.best || rows.length <= MOST_DOTS) p.root.append(mark(p, row, by, p.x(places[i]!), path));
  });
  return chartBox(p, "value");
}

function mark(p: Plot, row: Candidate, by: Objective, x: number, path: string): SVGElement {
  const y = p.y(by.of(row));
  const shape = row.best
    ? marker(0, x, y, "var(--faster)", 5.5)
    : s("circle", { class: "curve-dot", cx: x, cy: y, r: 3.2 });
  return telling(shape, [
    { what: visible(path), value: visible(row.parameters[path] ?? "") },
    { what: by.name, value: `${by.text(by.of(row))}${row.best ? ", the best" : ""}` },
  ]);
}
