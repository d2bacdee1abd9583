// Axes of a small chart in SVG: places, grid, ticks, titles.

import { h, s } from "../core/dom.ts";
import { hideTip, type Line, showTip, wordsOf } from "../core/tip.ts";

export interface Axis {
  /** From a value to a part of the axis, 0 to 1. */
  place: (value: number) => number;
  ticks: number[];
  labels: string[];
  title: string;
}

export interface Plot {
  root: SVGSVGElement;
  x: (value: number) => number;
  y: (value: number) => number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export function linear(from: number, to: number, title: string, ticks: number[], labels: string[]): Axis {
  const span = to - from || 1;
  return { place: (v) => (v - from) / span, ticks, labels, title };
}

export function logarithmic(from: number, to: number, title: string, ticks: number[], labels: string[]): Axis {
  const span = Math.log(to / from) || 1;
  return { place: (v) => Math.log(v / from) / span, ticks, labels, title };
}

export function plot(x: Axis, y: Axis, label: string, width = 720, height = 340): Plot {
  const [left, right, top, bottom] = [78, width - 18, 14, height - 46];
  const px = (v: number) => left + x.place(v) * (right - left);
  const py = (v: number) => bottom - y.place(v) * (bottom - top);
  const root = s("svg", {
    class: "chart",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "group",
    "aria-label": label,
  });
  x.ticks.forEach((t, i) => {
    root.append(s("line", { class: "grid", x1: px(t), x2: px(t), y1: top, y2: bottom }));
    root.append(s("text", { class: "tick", x: px(t), y: bottom + 16, "text-anchor": "middle" }, x.labels[i]!));
  });
  y.ticks.forEach((t, i) => {
    root.append(s("line", { class: "grid", x1: left, x2: right, y1: py(t), y2: py(t) }));
    root.append(s("text", { class: "tick", x: left - 8, y: py(t) + 4, "text-anchor": "end" }, y.labels[i]!));
  });
  root.append(
    s("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }),
    s("text", { class: "axis-title", x: (left + right) / 2, y: height - 8, "text-anchor": "middle" }, x.title),
    s(
      "text",
      { class: "axis-title", transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" },
      y.title,
    ),
  );
  return { root, x: px, y: py, left, right, top, bottom };
}

/** Makes a mark tell its words: on hover, on focus, and to those who hear it. */
export function telling<T extends SVGElement>(mark: T, lines: Line[]): T {
  mark.setAttribute("tabindex", "-1");
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", lines.map(wordsOf).join("; "));
  const show = () => {
    const box = mark.getBoundingClientRect();
    showTip(lines, box.left + box.width / 2, box.top + box.height / 2);
  };
  mark.addEventListener("pointerenter", show);
  mark.addEventListener("focus", show);
  mark.addEventListener("pointerleave", hideTip);
  mark.addEventListener("blur", hideTip);
  return mark;
}

/** No chart is drawn smaller than this part of its size: its words stay readable, and its box scrolls. */
const SMALLEST = 0.84;

/** A chart is one stop of Tab; from there arrow keys go from mark to mark. */
export function chartBox(p: Plot, marks = "mark"): HTMLElement {
  const all = [...p.root.querySelectorAll<SVGElement>("[role='img']")];
  p.root.style.minWidth = `${SMALLEST * Number(p.root.getAttribute("width"))}px`;
  if (all.length === 0) return h("div", { class: "chart-box" }, p.root);
  const words = `arrow keys go from ${marks} to ${marks}`;
  p.root.setAttribute("aria-label", `${p.root.getAttribute("aria-label")}: ${words}`);
  all[0]!.setAttribute("tabindex", "0");
  p.root.addEventListener("keydown", (e) => {
    const at = all.indexOf(e.target as SVGElement);
    const to = at < 0 ? at : target(e.key, at, all.length - 1);
    if (to < 0) return;
    e.preventDefault();
    all[at]!.setAttribute("tabindex", "-1");
    all[to]!.setAttribute("tabindex", "0");
    all[to]!.focus();
  });
  return h("div", { class: "chart-box" }, p.root, h("p", { class: "chart-hint", "aria-hidden": "true" }, words));
}

/** Where a key leads from mark `at`: -1 where it is no key of the chart. */
function target(key: string, at: number, last: number): number {
  if (key === "ArrowRight" || key === "ArrowDown") return Math.min(last, at + 1);
  if (key === "ArrowLeft" || key === "ArrowUp") return Math.max(0, at - 1);
  return key === "Home" ? 0 : key === "End" ? last : -1;
}

const SHAPES: ((x: number, y: number, r: number) => string)[] = [
  (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
  (x, y, r) => `M${x} ${y - r * 1.3}L${x + r * 1.2} ${y + r}H${x - r * 1.2}Z`,
  (x, y, r) => `M${x} ${y - r * 1.4}L${x + r * 1.4} ${y}L${x} ${y + r * 1.4}L${x - r * 1.4} ${y}Z`,
  (x, y, r) => `M${x} ${y + r * 1.3}L${x + r * 1.2} ${y - r}H${x - r * 1.2}Z`,
];

/** A mark whose shape tells its series beside its colour. */
export function marker(series: number, x: number, y: number, colour: string, radius = 4.5): SVGPathElement {
  const path = s("path", { class: "marker", d: SHAPES[series % SHAPES.length]!(x, y, radius) });
  path.style.fill = colour;
  return path;
}
