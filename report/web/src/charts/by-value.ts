// Makespans over the values of the one parameter that varies, in the order of the file.

import type { Candidate, Search } from "../contract.ts";
import { s, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { extent, ticks, timeLabels } from "../core/scale.ts";
import { type Plot, chartBox, linear, marker, plot, telling } from "./axes.ts";
import { categoryLabels } from "./categories.ts";
import { baselineLevel } from "./curve.ts";

/** More values are not told apart: their sorted curve and histogram say more. */
const MOST = 200;

export interface ByValue {
  path: string;
  rows: Candidate[];
}

/** The rows of a search over one parameter, all of them, in the order of its values; null for any other search. */
export function byValueOf(search: Search): ByValue | null {
  const rows = [...(search.rows ?? [])].sort((a, b) => a.candidate - b.candidate);
  const paths = Object.keys(rows[0]?.parameters ?? {});
  const isWhole = rows.length === search.candidates && rows.length > 1 && rows.length <= MOST;
  return isWhole && paths.length === 1 ? { path: paths[0]!, rows } : null;
}

/** Each value with its makespan, and where the scenario as it is stands. */
export function byValueChart(search: Search, { path, rows }: ByValue): HTMLElement {
  const [low, high] = extent(rows.map((row) => row.makespan_s).concat(search.baseline_s ?? []));
  const room = (high - low || high || 1) * 0.08;
  const marks = ticks(low - room, high + room, 6);
  const p = plot(
    linear(-0.5, rows.length - 0.5, visible(path), [], []),
    linear(low - room, high + room, "makespan", marks, timeLabels(marks)),
    `Makespan over ${visible(path)}`,
  );
  const values = rows.map((row) => row.parameters[path] ?? "");
  for (const label of categoryLabels(values, p.x(1) - p.x(0)))
    p.root.append(
      s("text", { class: "tick category", x: p.x(label.at), y: p.bottom + 17, "text-anchor": "middle" }, label.text),
    );
  if (search.baseline_s != null) baselineLevel(p, search.baseline_s);
  const d = rows.map((row, i) => `${i ? "L" : "M"}${p.x(i).toFixed(1)} ${p.y(row.makespan_s).toFixed(1)}`).join("");
  p.root.append(s("path", { class: "curve", d }));
  rows.forEach((row, i) => p.root.append(mark(p, row, i, path)));
  return chartBox(p, "value");
}

function mark(p: Plot, row: Candidate, i: number, path: string): SVGElement {
  const [x, y] = [p.x(i), p.y(row.makespan_s)];
  const shape = row.best
    ? marker(0, x, y, "var(--faster)", 5.5)
    : s("circle", { class: "curve-dot", cx: x, cy: y, r: 3.2 });
  return telling(shape, [
    { what: visible(path), value: visible(row.parameters[path] ?? "") },
    { what: "makespan", value: `${format.time(row.makespan_s)}${row.best ? ", the best" : ""}` },
  ]);
}
