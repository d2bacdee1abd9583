// The heat map: a row per link, a lane per run, coloured by what a quantity is over time: utilisation, or how full a buffer is.

import { heat, level } from "../core/colour.ts";
import { arrow, h, isolated, s, type Child } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { type Scale, lastAtMost, toPixel, toValue } from "../core/scale.ts";
import type { Store } from "../core/store.ts";
import { isDark } from "../core/theme.ts";
import type { Line } from "../core/tip.ts";
import { meanLoad } from "../run/loads.ts";
import { FILL, type Quantity } from "../run/quantity.ts";
import { type RunView, moments, spanAt, transfersOn } from "../run/view.ts";
import { emptyLabel } from "./labels.ts";
import type { RowSource } from "./rows.ts";

const LANE = 17;
const GAP = 4;
/** The line of the name, where lanes of several runs stand below it. */
const NAME = 17;
/** Steps of colour: equal neighbours are one box. */
const LEVELS = 32;

export class HeatMap implements RowSource {
  readonly label: string;
  readonly moments: number[];
  private links: number[] = [];

  constructor(
    private views: RunView[],
    private store: Store,
    private quantity: Quantity,
  ) {
    this.label = quantity === FILL ? "Buffers over time" : "Links over time";
    this.moments = moments(views);
    this.arrange();
    store.on(["visible"], () => this.arrange());
  }

  private get visible(): RunView[] {
    return this.store.state.visible.map((i) => this.views[i]!);
  }

  private arrange(): void {
    const seen = new Set<number>();
    for (const v of this.visible) for (const id of this.quantity.links(v)) seen.add(id);
    const first = this.quantity.links(this.visible[0]!);
    this.links = [...first, ...[...seen].filter((id) => !first.includes(id))];
  }

  /** Where lanes begin: the name of a link stands over those of several runs. */
  private get top(): number {
    return GAP / 2 + (this.visible.length > 1 ? NAME : 0);
  }

  get height(): number {
    return this.top + this.visible.length * LANE + GAP / 2;
  }

  get most(): number {
    return 400;
  }

  count(): number {
    return this.links.length;
  }

  name(row: number): Child[] {
    const id = this.links[row]!;
    const l = this.visible.find((v) => v.links.has(id))!.links.get(id)!;
    const several = this.visible.length > 1;
    const means = this.visible.map((v) =>
      h("span", {}, `${several ? `${v.letter} ` : ""}${format.percent(this.quantity.mean(v, id))}`),
    );
    const title = `${isolated(l.from)} → ${isolated(l.to)}`;
    return [
      h(
        "span",
        { class: several ? "with-means" : "with-mean", title },
        arrow(l.from, l.to),
        h("span", { class: "mean" }, ...means),
      ),
    ];
  }

  draw(row: number, scale: Scale): SVGElement[] {
    const id = this.links[row]!;
    return this.visible.flatMap((view, lane) => {
      const top = this.top + lane * LANE;
      const indent = this.visible.length > 1 ? 14 : 4;
      const letter = this.visible.length > 1 && s("text", { class: "lane-letter", x: 3, y: top + 11 }, view.letter);
      const unknown =
        view.links.has(id) &&
        !this.quantity.known(view, id) &&
        s("text", { class: "bar-label", x: indent, y: top + 12 }, "not known");
      const cells = this.cells(view, id, scale, top);
      const idle =
        cells.length === 0 && !unknown && view.links.has(id) && emptyLabel("idle in the time shown", top + 12, indent);
      return [...cells, letter, unknown, idle].filter((x) => x !== false);
    });
  }

  /** Boxes of equal colour. Where loads change faster than every two pixels, each box is the mean over two pixels. */
  private cells(view: RunView, id: number, scale: Scale, top: number): SVGElement[] {
    const out: SVGElement[] = [];
    let [from, last] = [0, 0];
    const flush = (to: number) => {
      if (last > 0) {
        const rect = s("rect", {
          x: from.toFixed(2),
          y: top,
          width: (to - from + 0.2).toFixed(2),
          height: LANE - 1,
          class: "cell",
        });
        rect.style.fill = heat(0.12 + (0.88 * last) / LEVELS, isDark());
        out.push(rect);
      }
    };
    for (const [x, use] of this.samples(view, id, scale)) {
      const now = level(use, LEVELS);
      if (now === last) continue;
      flush(x);
      [from, last] = [x, now];
    }
    flush(scale.width);
    return out;
  }

  private *samples(view: RunView, id: number, scale: Scale): Generator<[number, number]> {
    const values = this.quantity.overTime(view);
    const { times } = values;
    const whole = this.quantity.whole(view, id);
    const value = values.byLink.get(id);
    if (!value || whole === 0) return;
    const first = Math.max(0, lastAtMost(times, scale.from));
    const last = Math.max(first, lastAtMost(times, scale.to));
    if (last - first <= scale.width / 2) {
      for (let i = first; i <= last; i++) yield [Math.max(0, toPixel(scale, times[i]!)), (value[i] ?? 0) / whole];
      return;
    }
    for (let x = 0; x < scale.width; x += 2)
      yield [x, meanLoad(values, id, toValue(scale, x), toValue(scale, Math.min(scale.width, x + 2))) / whole];
  }

  describe(row: number, time: number, y: number): Line[] {
    const id = this.links[row];
    if (id === undefined) return [];
    const lane = Math.max(0, Math.min(this.visible.length - 1, Math.floor((y - this.top) / LANE)));
    const view = this.visible[lane]!;
    const l = view.links.get(id);
    if (!l) return [{ what: "", value: absent(view), title: true }];
    const use = this.quantity.at(view, id, time);
    const now = transfersOn(view, id)
      .filter((t) => spanAt(view, t.id, time))
      .map((t) => t.id);
    const isBinned = this.quantity === FILL || view.run.aggregated;
    const lines: Line[] = [{ what: "", ends: l, title: true }];
    if (this.visible.length > 1) lines.push({ what: "run", value: view.letter, names: [view.title] });
    lines.push(
      { what: isBinned ? "at, mean of its bin" : "at", value: format.time(time) },
      { what: this.quantity.name, value: format.percent(use) },
      { what: this.quantity.amount, value: this.quantity.text(l, use) },
      { what: "mean over the run", value: format.percent(this.quantity.mean(view, id)) },
    );
    if (now.length) lines.push({ what: "transfers", names: now });
    return lines;
  }

  select(row: number, _time: number, toggle: boolean): void {
    const id = this.links[row]!;
    this.store.set({ link: toggle && this.store.state.link === id ? null : id, transfer: null });
  }

  reveal(): number {
    return this.store.state.link === null ? -1 : this.links.indexOf(this.store.state.link);
  }

  selected(row: number): boolean {
    return this.store.state.link === this.links[row];
  }
}

/** Without `--full` only links that carried bytes are named. */
function absent(view: RunView): string {
  return view.nodes.length === 0
    ? `carried nothing in run ${view.letter}, or is not in it`
    : `not in run ${view.letter}`;
}
