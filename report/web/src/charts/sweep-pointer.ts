// Reading a chart of gains point by point: with the pointer, or with arrow keys.

import type { Sweep } from "../contract.ts";
import { h, isolated, s, shortened } from "../core/dom.ts";
import { extent } from "../core/scale.ts";
import * as format from "../core/format.ts";
import { hideTip, type Line, showTip, speak } from "../core/tip.ts";
import { gainOf, type SweepLine } from "../run/sweep.ts";
import { type SweepPlot, sweepPlot } from "./sweep.ts";

/** Widths in which the picture is drawn; wider or narrower it is scaled. */
const [LEAST_WIDTH, FIRST_WIDTH, MOST_WIDTH] = [300, 900, 1400];
const FAR = 1e9;

/** What a key changes: places on the first axis, and lines. */
const MOVES: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  PageUp: [-10, 0],
  PageDown: [10, 0],
  Home: [-FAR, 0],
  End: [FAR, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** What a point says: the value of each axis, both times, the gain, and whether it is proved. */
export function pointLines(sweep: Sweep, line: SweepLine, at: number): Line[] {
  const point = line.points[at];
  const lines = sweep.axes.map(({ path, values }, i): Line => {
    const what = isolated(shortened(path, 40));
    if (i > 0) return { what, names: [line.values[i - 1]!] };
    return { what, value: `${at + 1} of ${values.length}:`, names: [values[at]!] };
  });
  if (sweep.axes.length > 1) lines.unshift({ what: "", value: `combination (${line.combination + 1})`, title: true });
  if (!point) return [...lines, { what: "no result", value: "the search was cut off" }];
  return [
    ...lines,
    { what: "baseline", value: format.time(point.baseline_s) },
    { what: "best", value: format.time(point.best_s) },
    { what: "gain", value: format.gain(gainOf(point)) },
    { what: "best is", value: point.proved_optimal ? "proved" : "not proved" },
  ];
}

/** The line whose gain at a value of the first axis is the least `away`; −1 where none has one. */
export function nearestLine(lines: SweepLine[], at: number, away: (gain: number) => number): number {
  const distances = lines.map((line) => {
    const gain = gainOf(line.points[at]);
    return gain === null ? FAR : away(gain);
  });
  const least = extent(distances)[0];
  return least < FAR ? distances.indexOf(least) : -1;
}

const clamped = (value: number, count: number) => Math.min(count - 1, Math.max(0, value));

export class SweepChart {
  readonly element: HTMLElement;
  private plot!: SweepPlot;
  private cursor = s("g", { class: "sweep-at" });
  private at = 0;
  private line = 0;

  constructor(
    private sweep: Sweep,
    private lines: SweepLine[],
  ) {
    const label = `Gain of the best at each value of ${isolated(sweep.axes[0]!.path)}: arrow keys go along and between ${format.counted(lines.length, "line")}`;
    const box = h("div", { class: "sweep-chart", tabindex: 0, role: "application", "aria-label": label });
    this.element = box;
    this.draw(FIRST_WIDTH);
    box.addEventListener("pointermove", (e) => this.point(e));
    box.addEventListener("pointerleave", () => this.leave());
    box.addEventListener("keydown", (e) => this.key(e));
    box.addEventListener("focus", () => box.matches(":focus-visible") && this.tell());
    box.addEventListener("blur", () => this.leave());
    new ResizeObserver(() => this.draw(box.clientWidth)).observe(box);
  }

  private get length(): number {
    return this.sweep.axes[0]!.values.length;
  }

  private draw(wanted: number): void {
    const width = Math.round(Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, wanted)));
    if (this.plot?.root.viewBox.baseVal.width === width) return;
    this.plot = sweepPlot(this.sweep, this.lines, width);
    this.cursor.replaceChildren();
    this.plot.root.append(this.cursor);
    this.element.replaceChildren(this.plot.root);
  }

  private point(event: PointerEvent): void {
    const { root, left, right, y } = this.plot;
    const box = root.getBoundingClientRect();
    const scale = root.viewBox.baseVal.width / box.width;
    const part = ((event.clientX - box.left) * scale - left) / (right - left);
    if (part < 0 || part > 1) return this.leave();
    this.at = clamped(Math.floor(part * this.length), this.length);
    const height = (event.clientY - box.top) * scale;
    const nearest = nearestLine(this.lines, this.at, (gain) => Math.abs(y(100 * gain) - height));
    if (nearest >= 0) this.line = nearest;
    showTip(this.mark(), event.clientX, event.clientY);
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape") this.leave();
    const move = MOVES[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.at = clamped(this.at + move[0], this.length);
    this.line = clamped(this.line + move[1], this.lines.length);
    this.tell();
  }

  /** The point that the keys have reached, to those who see it and those who hear it. */
  private tell(): void {
    const words = this.mark();
    const box = this.cursor.lastElementChild!.getBoundingClientRect();
    showTip(words, box.left + box.width / 2, box.top + box.height / 2);
    speak(words);
  }

  /** Puts the cursor on the point, its line above the others, and tells what it says. */
  private mark(): Line[] {
    const { spot, y, top, bottom, root } = this.plot;
    const line = this.lines[this.line]!;
    const gain = gainOf(line.points[this.at]);
    const at = spot(this.line, this.at);
    this.cursor.replaceChildren(
      root.querySelector(`[data-line="${this.line}"]`)!.cloneNode(),
      s("path", { d: `M${at} ${top}V${bottom}` }),
      ...(gain === null ? [] : [s("circle", { cx: at, cy: y(100 * gain), r: 8 })]),
    );
    return pointLines(this.sweep, line, this.at);
  }

  private leave(): void {
    hideTip();
    this.cursor.replaceChildren();
  }
}
