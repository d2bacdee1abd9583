// Utilisation of links over time as lines: the busiest links and the selected one, a plot per run.

import uPlot from "uplot";
import { CATEGORIES, DASHES } from "../core/colour.ts";
import { arrow, h, isolated, name, s } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { type TimeAxis, timeAxis } from "../core/scale.ts";
import type { Store } from "../core/store.ts";
import { onPrint, onTheme } from "../core/theme.ts";
import { type RunView, busiestLinks, knownOverTime, utilisation } from "../run/view.ts";

/** Lines that can be told apart. */
const MOST = CATEGORIES.length;
const HEIGHT = 230;
/** Widths from the first line to the last: where they run together, each is seen under those after it. */
const WIDTHS = [5, 4.2, 3.4, 2.6, 2, 1.4];
/** Pixels of a plot on A4 landscape, beside its keys. */
const PAPER = 800;
/** Pixels of the axis of utilisation; the keys take the rest of the column of names. */
const AXIS = 50;

export class Lines {
  readonly element = h("div", { class: "lines" });
  private plots: { view: RunView; from: HTMLElement; plot: uPlot }[] = [];
  private links: number[] = [];
  private values = new Map<string, HTMLElement>();
  private pointed: number | null = null;
  private setting = false;
  private printing = false;

  constructor(
    private views: RunView[],
    private store: Store,
  ) {
    store.on(["visible", "link"], () => this.build());
    store.on(["window"], () => this.window());
    store.on(["time"], () => this.redraw());
    onTheme(() => this.redraw());
    onPrint((on) => {
      this.printing = on;
      this.resize();
    });
    new ResizeObserver(() => this.resize()).observe(this.element);
    requestAnimationFrame(() => this.build());
  }

  private get visible(): RunView[] {
    return this.store.state.visible.map((i) => this.views[i]!);
  }

  private choose(): number[] {
    const { link } = this.store.state;
    const view = this.visible.find((v) => v.loads.byLink.size > 0) ?? this.visible[0]!;
    const busiest = busiestLinks(view).filter((id) => knownOverTime(view, id));
    const first = busiest.slice(0, MOST);
    if (link === null || first.includes(link) || !busiest.includes(link)) return first;
    return [...busiest.slice(0, MOST - 1), link];
  }

  private build(): void {
    for (const { plot } of this.plots) plot.destroy();
    this.links = this.choose();
    this.plots = [];
    const plots = h("div", { class: "plots" });
    this.element.replaceChildren(this.legend(), plots);
    for (const view of this.visible) {
      const box = h("figure", { class: "plot", "data-run": view.index, role: "img", "aria-label": this.words(view) });
      if (this.visible.length > 1)
        box.append(h("figcaption", {}, h("b", { class: "letter" }, view.letter), " ", name(view.title)));
      if (view.loads.byLink.size === 0 && [...view.links.values()].some((l) => l.bytes > 0))
        box.append(h("p", { class: "note" }, "Not known: this run was saved without `--full`."));
      plots.append(box);
      const from = h("p", { class: "base", "aria-hidden": "true" });
      this.plots.push({ view, from, plot: this.plot(view, box) });
      box.append(from);
    }
    this.window();
    this.tell();
  }

  private words(view: RunView): string {
    return `Utilisation over time of run ${view.letter}: ${this.links.length} lines; the heat map below tells the same numbers row by row`;
  }

  /** Times and per cent, from the begin of the axis to the end of the run: no line where nothing is known. */
  private data(view: RunView): uPlot.AlignedData {
    const { times } = view.loads;
    if (times.length === 0)
      return [
        [0, view.end],
        ...this.links.map((id) => (knownOverTime(view, id) ? [0, 0] : [null, null])),
      ] as uPlot.AlignedData;
    const lines = this.links.map((id) => {
      if (!knownOverTime(view, id)) return [null, ...times.map(() => null), null];
      return [0, ...lineOf(view, id), 0];
    });
    const begin = Math.min(this.store.whole.from, times[0]!);
    return [[begin, ...times, Math.max(view.end, times.at(-1)!)], ...lines] as uPlot.AlignedData;
  }

  private plot(view: RunView, box: HTMLElement): uPlot {
    const plot = new uPlot(this.options(), this.data(view), box);
    plot.over.addEventListener("click", () => {
      if (this.pointed !== null && plot.select.width === 0) this.store.set({ time: this.pointed });
    });
    return plot;
  }

  private options(): uPlot.Options {
    const { from, to } = this.store.state.window;
    const paths = uPlot.paths.stepped!({ align: 1 });
    const line = (_: number, i: number): uPlot.Series => ({
      stroke: CATEGORIES[i]!,
      width: WIDTHS[i]!,
      dash: DASHES[i]!,
      paths,
      points: { show: false },
    });
    return {
      width: this.width(),
      height: HEIGHT,
      legend: { show: false },
      padding: [8, 1, 0, 0],
      scales: {
        x: { time: false, min: from, max: to },
        y: { range: (_, __, most) => [0, Math.max(105, most * 1.05)] },
      },
      axes: axes(),
      series: [{}, ...this.links.map(line)],
      cursor: { sync: { key: "weir" }, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      hooks: { setSelect: [(u) => this.selected(u)], setCursor: [(u) => this.point(u)], draw: [(u) => this.mark(u)] },
    };
  }

  /** Paper is not laid out yet when it is drawn for. */
  private width(): number {
    if (this.printing) return PAPER;
    return Math.max(260, this.element.querySelector(".plots")?.clientWidth ?? 0);
  }

  private resize(): void {
    for (const { plot } of this.plots)
      if (plot.width !== this.width()) plot.setSize({ width: this.width(), height: HEIGHT });
    this.bases();
  }

  private selected(u: uPlot): void {
    if (u.select.width < 4 || this.setting) return;
    const [from, to] = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
    this.setting = true;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.setting = false;
    this.store.set({ window: { from: Math.max(from, this.store.whole.from), to: Math.min(to, this.store.whole.to) } });
  }

  private point(u: uPlot): void {
    const left = u.cursor.left ?? -1;
    this.pointed = left >= 0 ? Math.max(0, u.posToVal(left, "x")) : null;
    this.tell();
  }

  private window(): void {
    const { from, to } = this.store.state.window;
    for (const { plot } of this.plots) plot.setScale("x", { min: from, max: to });
    this.bases();
  }

  /** What is to be added to the times under the plots, where these would be long. */
  private bases(): void {
    const { from, to } = this.store.state.window;
    for (const p of this.plots) {
      const { base } = timeAxis({ from, to, width: inside(p.plot) });
      p.from.textContent = base ? `${base} …` : "";
    }
  }

  private redraw(): void {
    for (const { plot } of this.plots) plot.redraw(false, true);
    this.tell();
  }

  /** The line of the moment. */
  private mark(u: uPlot): void {
    const x = u.valToPos(this.store.state.time, "x", true);
    if (x < u.bbox.left - 1 || x > u.bbox.left + u.bbox.width + 1) return;
    u.ctx.save();
    u.ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--lit");
    u.ctx.setLineDash([]);
    u.ctx.lineWidth = 1.5 * devicePixelRatio;
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.restore();
  }

  private legend(): HTMLElement {
    this.values = new Map();
    const at = h("span", { class: "at" });
    this.values.set("at", at);
    const same = sameLines(this.links, this.visible);
    const items = this.links.map((id, i) => {
      const l = this.visible.find((v) => v.links.has(id))!.links.get(id)!;
      const value = h("b", { class: "value" });
      this.values.set(String(id), value);
      const item = h(
        "button",
        {
          type: "button",
          class: "line-key",
          title: `${isolated(l.from)} → ${isolated(l.to)}`,
          "data-link": id,
          "aria-pressed": String(this.store.state.link === id),
        },
        dash(i),
        arrow(l.from, l.to),
        value,
        this.same(same.get(id)),
      );
      item.addEventListener("click", () =>
        this.store.set({ link: this.store.state.link === id ? null : id, transfer: null }),
      );
      return item;
    });
    return h("div", { class: "line-keys" }, at, ...items);
  }

  /** Words under the key of a line that another hides or is hidden by. */
  private same(first: number | undefined): HTMLElement | null {
    if (first === undefined) return null;
    const l = this.visible.find((v) => v.links.has(first))!.links.get(first)!;
    return h("span", { class: "same" }, "same as ", arrow(l.from, l.to));
  }

  /** One value per run, with the letters of the runs where there are several. */
  private valuesOf(id: number, time: number): HTMLElement[] {
    const several = this.visible.length > 1;
    return this.visible.map((v) =>
      h("span", {}, several ? `${v.letter} ` : "", format.percent(utilisation(v, id, time))),
    );
  }

  /** The values under the pointer, or at the moment. */
  private tell(): void {
    const time = this.pointed ?? this.store.state.time;
    this.values.get("at")?.replaceChildren(`at ${format.time(time)}:`);
    for (const id of this.links) this.values.get(String(id))?.replaceChildren(...this.valuesOf(id, time));
  }
}

/** Links whose lines are equal all the time in all runs, with the first of those that they are equal to. */
export function sameLines(links: number[], views: RunView[]): Map<number, number> {
  const first = new Map<string, number>();
  const same = new Map<number, number>();
  for (const id of links) {
    const key = JSON.stringify(views.map((v) => lineOf(v, id).map((x) => Math.fround(x))));
    const before = first.get(key);
    if (before === undefined) first.set(key, id);
    else if (views.some((v) => knownOverTime(v, id))) same.set(id, before);
  }
  return same;
}

/** Per cent at each time. */
function lineOf(view: RunView, id: number): number[] {
  const bandwidth = view.links.get(id)?.bandwidth_Bps ?? 0;
  const load = view.loads.byLink.get(id);
  return view.loads.times.map((_, i) => (load && bandwidth ? (100 * (load[i] ?? 0)) / bandwidth : 0));
}

/** Axes of time and of utilisation; their colours are asked for at each drawing, as the theme may have changed. */
function axes(): uPlot.Axis[] {
  const ink = (key: string) => () => getComputedStyle(document.documentElement).getPropertyValue(key).trim();
  const rule = { stroke: ink("--rule"), width: 1 };
  const axis = { stroke: ink("--soft"), grid: rule, ticks: rule, font: "11px system-ui, sans-serif" };
  return [
    {
      ...axis,
      size: 32,
      splits: (u, _, from, to) => timeAxis({ from, to, width: inside(u) }).marks,
      values: (u, marks) => withoutLast(timesOf(u).labels, marks, u.scales.x!),
    },
    { ...axis, size: AXIS, values: (_, marks) => marks.map((v) => `${v} %`) },
  ];
}

/** Pixels between the axis of utilisation and the end of a plot. */
const inside = (u: uPlot) => u.width - AXIS;

/** The times that stand under a plot. */
function timesOf(u: uPlot): TimeAxis {
  const { min, max } = u.scales.x!;
  return timeAxis({ from: min ?? 0, to: max ?? 0, width: inside(u) });
}

/** A label at the very end would be cut: the axis ends where the rows of the other sections end. */
function withoutLast(labels: string[], marks: number[], x: { min?: number; max?: number }): string[] {
  const [min, max] = [x.min ?? 0, x.max ?? 0];
  return labels.map((text, i) => (max > min && (marks[i]! - min) / (max - min) > 0.975 ? "" : text));
}

/** A sample of a line, with its dashes. */
function dash(i: number): SVGSVGElement {
  const line = s("line", {
    x1: 0,
    x2: 26,
    y1: 5,
    y2: 5,
    "stroke-width": WIDTHS[i]!,
    "stroke-dasharray": DASHES[i]!.join(" ") || "none",
  });
  line.style.stroke = CATEGORIES[i]!;
  return s("svg", { width: 26, height: 10, "aria-hidden": "true" }, line);
}
