// The Gantt of transfers: a row per transfer, a lane per run.

import type { Transfer } from "../contract.ts";
import { arrow, name, s, h, type Child } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { type Scale, extent } from "../core/scale.ts";
import type { Store } from "../core/store.ts";
import type { Line } from "../core/tip.ts";
import { type Stretch, doingAt, slowdown, stretchAt, stretches } from "../run/state.ts";
import { type RunView, lacks, moments } from "../run/view.ts";
import { delaysOf } from "../run/delays.ts";
import { mainCause, stepText } from "../run/words.ts";
import { areas, boxes, pieces } from "./bars.ts";
import { type LinkColours, colourOf, linkColours } from "./link-colours.ts";
import { barLabels, elsewhereLabel } from "./labels.ts";
import { changeMark } from "./change.ts";
import type { RowSource } from "./rows.ts";

export type HeightMode = "common" | "own";
export type Order = "scenario" | "start" | "end" | "slowdown" | "delayed" | "change";

const LANE = 24;
const GAP = 6;
/** More transfers than this are sorted by start at first, and still more by the time that they lose to others. */
const [MANY, TOO_MANY] = [40, 60];

export class Gantt implements RowSource {
  readonly label = "Transfers";
  readonly moments: number[];
  readonly colours: LinkColours;
  /** The largest rate of any transfer: the full height on the common scale. */
  readonly largest: number;
  mode: HeightMode = "common";
  /** Whether transfers that are not there in the time shown are left out. */
  onlyShown = false;
  private ids: string[] = [];
  private order: Order = "scenario";
  private find = "";
  private lives = new Map<string, Stretch[]>();

  constructor(
    private views: RunView[],
    private store: Store,
  ) {
    this.moments = moments(views);
    this.colours = linkColours(views);
    let largest = 0;
    for (const v of views) {
      for (const list of v.spans.values()) for (const span of list) largest = Math.max(largest, span.rate);
    }
    this.largest = largest;
    store.on(["visible"], () => this.arrange(this.order, this.find));
    store.on(["link"], () => this.order === "delayed" && this.arrange(this.order, this.find));
    this.arrange(this.firstOrder(), "");
  }

  /** Rows that cannot be seen at once begin with those that matter most. */
  private firstOrder(): Order {
    const rows = this.views[0]!.run.transfers.length;
    if (rows > TOO_MANY && this.colours.links.length > 0) return "delayed";
    return rows > MANY ? "start" : "scenario";
  }

  /** The runs that are shown, the baseline first. */
  get visible(): RunView[] {
    return this.store.state.visible.map((i) => this.views[i]!);
  }

  /** Whether there are runs to compare. */
  get several(): boolean {
    return this.views.length > 1;
  }

  get height(): number {
    return this.visible.length * LANE + GAP;
  }

  /** The topology below begins within the first screen. */
  get most(): number {
    return 320;
  }

  count(): number {
    return this.ids.length;
  }

  /** Sorts the rows, and keeps those whose id or ends contain `find`. */
  arrange(order: Order, find: string): void {
    this.order = order;
    this.find = find.toLowerCase();
    const ids = new Set<string>();
    for (const v of this.visible) for (const t of v.run.transfers) if (this.matches(t)) ids.add(t.id);
    const keys = new Map([...ids].map((id) => [id, this.sortKey(id)]));
    this.ids = [...ids].sort((a, b) => keys.get(a)! - keys.get(b)!);
  }

  get state(): { order: Order; find: string } {
    return { order: this.order, find: this.find };
  }

  private matches(t: Transfer): boolean {
    const { from, to } = this.store.state.window;
    if (this.onlyShown && (t.ready_s == null || t.ready_s > to || (t.end_s ?? to) < from)) return false;
    return this.find === "" || [t.id, t.from, t.to].some((x) => x.toLowerCase().includes(this.find));
  }

  private sortKey(id: string): number {
    if (this.order === "scenario") return 0;
    const [first, ...rest] = this.visible.map((v) => v.transfers.get(id)).filter((t): t is Transfer => t !== undefined);
    if (!first) return Number.POSITIVE_INFINITY;
    if (this.order === "start") return first.start_s ?? Number.POSITIVE_INFINITY;
    if (this.order === "end") return first.end_s ?? Number.POSITIVE_INFINITY;
    if (this.order === "slowdown") return -(slowdown(first) ?? 0);
    if (this.order === "delayed") return -this.lost(first);
    return -Math.max(0, ...rest.map((t) => Math.abs((t.end_s ?? 0) - (first.end_s ?? 0))));
  }

  /** The time that a transfer loses at the selected link, or at all links. */
  private lost(t: Transfer): number {
    const view = this.visible.find((v) => v.transfers.get(t.id) === t)!;
    const link = view.links.get(this.store.state.link ?? -1);
    let sum = 0;
    for (const [key, delay] of delaysOf(view, t))
      if (!link || key === format.link(link)) sum += delay.lost ?? delay.seconds;
    return sum;
  }

  name(row: number): Child[] {
    const id = this.ids[row]!;
    const t = this.first(id);
    return [name(id, { class: "id" }), t && h("span", { class: "ends" }, arrow(t.from, t.to))];
  }

  private first(id: string): Transfer | undefined {
    for (const v of this.visible) {
      const t = v.transfers.get(id);
      if (t) return t;
    }
    return undefined;
  }

  private life(view: RunView, id: string): Stretch[] {
    const key = `${view.index} ${id}`;
    let life = this.lives.get(key);
    const t = view.transfers.get(id);
    if (!life && t) this.lives.set(key, (life = stretches(t, view.spans.get(id), view.end)));
    return life ?? [];
  }

  /** The rate that fills a lane. */
  private full(view: RunView, t: Transfer): number {
    if (this.mode === "common") return this.largest;
    const route = (view.routes.get(t.id) ?? []).map(
      (id, hop) => (view.links.get(id)?.bandwidth_Bps ?? Number.POSITIVE_INFINITY) / (t.shares?.[hop] ?? 1),
    );
    const narrowest = route.length > 0 ? extent(route)[0] : Number.POSITIVE_INFINITY;
    return Number.isFinite(narrowest) ? narrowest : this.largest;
  }

  draw(row: number, scale: Scale): SVGElement[] {
    const id = this.ids[row]!;
    const out: SVGElement[] = [];
    this.visible.forEach((view, lane) => {
      const t = view.transfers.get(id);
      if (!t) return;
      const top = GAP / 2 + lane * LANE + 2;
      out.push(...this.lane(view, t, scale, top, LANE - 4));
      if (lane > 0) out.push(...changeMark(this.visible[0]!.transfers.get(id), t, scale, top, LANE - 4));
      if (this.visible.length > 1) out.push(s("text", { class: "lane-letter", x: 3, y: top + 9 }, view.letter));
    });
    return out;
  }

  private lane(view: RunView, t: Transfer, scale: Scale, top: number, height: number): SVGElement[] {
    const life = this.life(view, t.id);
    const full = this.full(view, t);
    const colour = (x: Stretch) => colourOf(this.colours, x.span!);
    const part = (x: Stretch) => Math.max(0.04, Math.min(1, x.span!.rate / full));
    const labelY = (x: Stretch) => top + height - (x.doing === "moving" ? labelRise(height * part(x)) : 2);
    const base = s("line", { class: "base", x1: 0, x2: scale.width, y1: top + height, y2: top + height });
    return [
      base,
      ...boxes(life, scale, top, height),
      ...areas(pieces(life, scale, part, colour), top, height),
      ...barLabels(life, scale, labelY, this.visible.length > 1 ? 14 : 4),
      ...elsewhereLabel(life, scale, top + height - 6, this.visible.length > 1 ? 14 : 4),
    ];
  }

  describe(row: number, time: number, y: number): Line[] {
    const id = this.ids[row];
    if (id === undefined) return [];
    const lane = Math.max(0, Math.min(this.visible.length - 1, Math.floor((y - GAP / 2) / LANE)));
    const view = this.visible[lane]!;
    const t = view.transfers.get(id);
    if (!t) return [{ what: "", value: lacks(view, "run "), title: true }];
    const lines: Line[] = [{ what: "", names: [id], title: true }];
    if (t.cause || t.ready_s == null) lines.push({ what: "main cause", value: mainCause(t), strong: true });
    if (this.visible.length > 1) lines.push({ what: "run", value: view.letter, names: [view.title] });
    lines.push({ what: "at", value: this.store.moment(time) }, ...this.doing(view, t, time));
    return lines;
  }

  private doing(view: RunView, t: Transfer, time: number): Line[] {
    const life = this.life(view, t.id);
    const doing = doingAt(t, life, time);
    if (doing === "not ready" && t.ready_s == null) return [{ what: "state", value: "never ready in this run" }];
    if (doing === "not ready") return [{ what: "state", value: `not ready until ${format.time(t.ready_s)}` }];
    if (doing === "over" && t.end_s == null) return [{ what: "state", value: "not ended in this run" }];
    if (doing === "over") return [{ what: "state", value: `over since ${format.time(t.end_s)}` }];
    if (doing === "arriving")
      return [{ what: "state", value: `all sent, the last byte arrives at ${format.time(t.end_s)}` }];
    if (doing === "waiting") return [this.waiting(view, t), { what: "ready since", value: format.time(t.ready_s) }];
    const span = stretchAt(life, time)!.span!;
    const lines: Line[] = [{ what: doing === "blocked" ? "blocked" : "rate", value: format.rate(span.rate) }];
    if (!view.exact) lines[0]!.what = "mean rate";
    if (span.at) lines.push({ what: span.guessed ? "main bottleneck" : "bottleneck", ends: span.at });
    if (span.step) lines.push({ what: "decided at step", value: stepText(view, span.step) });
    if (span.because.length) lines.push({ what: "because of", names: span.because });
    return lines;
  }

  /** Tasks of planned operations wait for engines of their own, others for their source. */
  private waiting(view: RunView, t: Transfer): Line {
    const engines = (view.run.plans ?? []).flatMap((p) =>
      p.engines.filter((e) => e.tasks.some((x) => `${p.id}/${x.task}` === t.id)).flatMap((e) => e.engine ?? []),
    );
    if (engines.length > 0) return { what: "state", value: "waiting for engine", names: engines };
    return { what: "state", value: "waiting for the engine of", names: [t.from] };
  }

  select(row: number, _time: number, toggle: boolean): void {
    const id = this.ids[row]!;
    this.store.set({ transfer: toggle && this.store.state.transfer === id ? null : id, link: null });
  }

  /** The row of the transfer that the selected link costs most. */
  private mostDelayed(): number {
    const lost = (id: string) =>
      Math.max(...this.visible.map((v) => (v.transfers.has(id) ? this.lost(v.transfers.get(id)!) : 0)));
    const rows = this.ids.map((_, row) => row).filter((row) => this.selected(row));
    return rows.reduce((best, row) => (best < 0 || lost(this.ids[row]!) > lost(this.ids[best]!) ? row : best), -1);
  }

  reveal(): number {
    const { transfer, link } = this.store.state;
    if (transfer !== null) return this.ids.indexOf(transfer);
    return link === null ? -1 : this.mostDelayed();
  }

  selected(row: number): boolean {
    const { transfer, link } = this.store.state;
    const id = this.ids[row]!;
    if (transfer !== null) return transfer === id;
    return link !== null && this.visible.some((v) => v.routes.get(id)?.includes(link));
  }
}

/** How far above the base words stand: inside a bar that is high enough for them, above one that is not. */
function labelRise(bar: number): number {
  return bar >= 11 ? (bar - 7.5) / 2 : bar + 2;
}
