// The gain of the best order along the first axis of a sweep: steps, one line per combination of the other axes.

import type { Sweep } from "../contract.ts";
import { CATEGORIES, DASHES } from "../core/colour.ts";
import { isolated, s, shortened } from "../core/dom.ts";
import { ticks } from "../core/scale.ts";
import { gainOf, type SweepLine } from "../run/sweep.ts";
import { type Axis, type Plot, linear, marker, plot } from "./axes.ts";
import { categoryLabels } from "./categories.ts";

/** Beside the colours of all charts the ink and a grey, so that eight lines have their own. */
const COLOURS = [...CATEGORIES, "var(--ink)", "var(--free)"];
/** Marks beside the five of all charts: bow tie, hourglass, bar. */
const MORE_MARKS: ((x: number, y: number, r: number) => string)[] = [
  (x, y, r) => `M${x - 1.4 * r} ${y - r}v${2 * r}l${2.8 * r} ${-2 * r}v${2 * r}Z`,
  (x, y, r) => `M${x - r} ${y - 1.4 * r}h${2 * r}l${-2 * r} ${2.8 * r}h${2 * r}Z`,
  (x, y, r) => `M${x - r / 2} ${y - 1.5 * r}h${r}v${3 * r}h${-r}Z`,
];
const HEIGHT = 360;
/** Narrower categories are drawn by their treads: dashes have no room, pixels. */
const NARROW = 10;
/** Space for a mark, and the radius of marks, pixels. */
const ROOM = 12;
const RADIUS = 4.5;

export const colourOf = (line: number) => COLOURS[line % COLOURS.length]!;
export const dashOf = (line: number) => DASHES[line % DASHES.length]!.join(" ") || "none";

/** The mark of a line; a hollow one where the best is not proved. */
export function lineMark(line: number, x: number, y: number, proved: boolean, radius = RADIUS): SVGPathElement {
  const mark = marker(line, x, y, colourOf(line), radius);
  const more = MORE_MARKS[line - 5];
  if (more) mark.setAttribute("d", more(x, y, radius));
  if (!proved) {
    mark.classList.add("unproved");
    mark.style.fill = "var(--card)";
    mark.style.stroke = colourOf(line);
  }
  return mark;
}

/** A sample of a line for its key. */
export function lineSample(line: number): SVGSVGElement {
  const stroke = s("line", { x1: 0, x2: 44, y1: 8, y2: 8, "stroke-width": 2, "stroke-dasharray": dashOf(line) });
  stroke.style.stroke = colourOf(line);
  return s("svg", { width: 44, height: 16, "aria-hidden": "true" }, stroke, lineMark(line, 22, 8, true, 4.5));
}

/** Gains in percent, with room above the largest; zero is always there. */
function gainAxis(lines: SweepLine[]): Axis {
  const gains = lines.flatMap((line) => line.points.map((p) => 100 * (gainOf(p) ?? 0)));
  const [least, most] = gains.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [0, 0] as [number, number]);
  const room = (most - least) * 0.08;
  const [from, to] = [least < 0 ? least - room : 0, most + room || 1];
  const marks = ticks(from, to, 6);
  const texts = marks.map((v) => `${Number(v.toPrecision(6))} %`);
  return linear(from, to, "gain of the best order", marks, texts);
}

/** Value i of the first axis lies at x(i), its category from x(i − ½) to x(i + ½), and its mark on a line at spot(line, i). */
export interface SweepPlot extends Plot {
  spot: Places["spot"];
}

/** The picture in a width of pixels. */
export function sweepPlot(sweep: Sweep, lines: SweepLine[], width: number): SweepPlot {
  const { path, values } = sweep.axes[0]!;
  const title = `${isolated(shortened(path, 60))}, values in their order`;
  const x: Axis = { place: (i) => (i + 0.5) / values.length, ticks: [], labels: [], title };
  const p = plot(x, gainAxis(lines), "", width, HEIGHT);
  p.root.setAttribute("aria-hidden", "true");
  const step = (p.right - p.left) / values.length;
  for (const label of categoryLabels(values, step)) {
    const at = p.x(label.at);
    if (label.at > 0 && at + label.width / 2 > width) continue;
    p.root.append(
      s("path", { class: "axis", d: `M${at.toFixed(1)} ${p.bottom}v4` }),
      s("text", { class: "tick category", x: at, y: p.bottom + 17, "text-anchor": "middle" }, label.text),
    );
  }
  lines.forEach((line, k) => drawLine(p, line, k, step < NARROW));
  const places = marksOf(p, lines.length, values.length);
  lines.forEach((line, k) => drawMarks(p, line, k, places));
  return { ...p, spot: places.spot };
}

/** Where marks stand and how large they are, by line and value of the first axis. */
interface Places {
  spot: (line: number, i: number) => number;
  radius: (line: number, i: number) => number;
}

/** Marks of different lines stand beside each other, also where gains are equal; without room every n-th is large. */
function marksOf(p: Plot, lines: number, values: number): Places {
  const step = (p.right - p.left) / values;
  const every = Math.ceil((ROOM * Math.max(2, lines)) / step);
  const part = (line: number) => (line + 0.5) / lines;
  const first = (line: number) => Math.floor(part(line) * Math.min(every, values));
  return {
    spot: (line, i) => p.x(every > 1 ? i : i - 0.5 + part(line)),
    radius: (line, i) => (i % every === first(line) ? RADIUS : Math.min(RADIUS - 1, Math.max(2, step / 2))),
  };
}

/** Steps with dashes. In narrow categories risers would hide all else: they are faint there, below treads without dashes. */
function drawLine(p: Plot, line: SweepLine, k: number, narrow: boolean): void {
  let [steps, treads, open] = ["", "", false];
  line.points.forEach((point, i) => {
    const gain = gainOf(point);
    if (gain !== null) {
      const [x, y, end] = [p.x(i - 0.5).toFixed(1), p.y(100 * gain).toFixed(1), `H${p.x(i + 0.5).toFixed(1)}`];
      steps += `${open ? `V${y}` : `M${x} ${y}`}${end}`;
      treads += `M${x} ${y}${end}`;
    }
    open = gain !== null;
  });
  const add = (kind: string, d: string, dashes: string, key?: number) => {
    const path = s("path", { class: `series ${kind}`, "data-line": key, d, "stroke-dasharray": dashes });
    path.style.stroke = colourOf(k);
    p.root.append(path);
  };
  add(narrow ? "faint" : "", steps, dashOf(k), k);
  if (narrow) add("treads", treads, "none");
}

/** Marks tell the lines apart without colours: the large ones, and those of points that are not proved. */
function drawMarks(p: Plot, line: SweepLine, k: number, { spot, radius }: Places): void {
  line.points.forEach((point, i) => {
    const [gain, size] = [gainOf(point), radius(k, i)];
    if (gain === null || (size < RADIUS && point!.proved_optimal)) return;
    p.root.append(lineMark(k, spot(k, i), p.y(100 * gain), point!.proved_optimal, size));
  });
}
