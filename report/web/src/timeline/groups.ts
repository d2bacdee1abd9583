// Groups of the transfers of an aggregated run: a row per group, its rate and how many wait, in bins.

import type { Aggregated, GroupBins } from "../contract.ts";
import { CATEGORIES } from "../core/colour.ts";
import { h, name, s, type Child } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Scale } from "../core/scale.ts";
import type { Store } from "../core/store.ts";
import type { Line } from "../core/tip.ts";
import type { RunView } from "../run/view.ts";
import { near } from "./bars.ts";
import { emptyLabel } from "./labels.ts";
import type { RowSource } from "./rows.ts";

const LANE = 30;

interface GroupRow {
  view: RunView;
  data: Aggregated;
  group: GroupBins;
}

export class Groups implements RowSource {
  readonly label = "Groups of transfers";
  readonly height = LANE + 4;
  readonly most = 430;
  readonly moments: number[];
  private all: GroupRow[];
  private rows: GroupRow[] = [];
  private largest: number;
  private mostWaiting: number;

  constructor(
    views: RunView[],
    private store: Store,
  ) {
    this.all = views.flatMap((view) => {
      const data = view.run.aggregated;
      return data ? data.groups.map((group) => ({ view, data, group })) : [];
    });
    this.largest = maximum(this.all.map((r) => r.group.rate_Bps));
    this.mostWaiting = maximum(this.all.map((r) => r.group.waiting ?? []));
    const data = this.all[0]?.data;
    this.moments = data ? Array.from({ length: data.bins + 1 }, (_, i) => edge(data, i)) : [];
    const arrange = () => (this.rows = this.all.filter((r) => store.state.visible.includes(r.view.index)));
    store.on(["visible"], arrange);
    arrange();
  }

  /** The rate of the full height of a row. */
  get full(): number {
    return this.largest;
  }

  /** Whether any run has rows, also one that is not shown. */
  get any(): boolean {
    return this.all.length > 0;
  }

  count(): number {
    return this.rows.length;
  }

  name(row: number): Child[] {
    const { group, view } = this.rows[row]!;
    const letter = this.store.state.visible.length > 1 ? `${view.letter} ` : "";
    return [
      h("span", { class: "id" }, letter, name(group.name)),
      h("span", { class: "ends" }, `${format.counted(group.count, "transfer")}, ${format.bytes(group.bytes)}`),
    ];
  }

  draw(row: number, scale: Scale): SVGElement[] {
    const { group, data } = this.rows[row]!;
    const path = (kind: string, values: number[], full: number) => {
      const d = area(values, data, scale, full, 3, LANE - 2);
      return d === "" ? [] : [s("path", { class: kind, d })];
    };
    const rates = path("moving", group.rate_Bps, this.largest);
    for (const p of rates) p.style.fill = CATEGORIES[0]!;
    const out = [...path("waiting", group.waiting ?? [], this.mostWaiting), ...rates];
    return out.length > 0 ? out : [emptyLabel("nothing moves in the time shown", LANE / 2 + 5)];
  }

  describe(row: number, time: number): Line[] {
    const r = this.rows[row];
    if (!r) return [];
    const { group, data } = r;
    const width = (data.to_s - data.from_s) / data.bins;
    const bin = Math.min(data.bins - 1, Math.max(0, Math.floor((time - data.from_s) / width)));
    const lines: Line[] = [
      { what: "", names: [group.name], title: true },
      { what: "mean over", value: `${format.time(edge(data, bin))} to ${format.time(edge(data, bin + 1))}` },
      { what: "sum of rates", value: format.rate(group.rate_Bps[bin] ?? 0) },
      { what: "transfers at once", value: (group.active[bin] ?? 0).toFixed(1) },
    ];
    if (group.waiting) lines.push({ what: "waiting", value: (group.waiting[bin] ?? 0).toFixed(1) });
    lines.push({ what: "in all", value: `${format.counted(group.count, "transfer")}, ${format.bytes(group.bytes)}` });
    lines.push({ what: "first start, last end", value: `${format.time(group.start_s)}, ${format.time(group.end_s)}` });
    return lines;
  }

  select(row: number, _time: number, toggle: boolean): void {
    const { view, group } = this.rows[row]!;
    this.store.set({ group: toggle && this.selected(row) ? null : { run: view.index, name: group.name } });
  }

  selected(row: number): boolean {
    const now = this.store.state.group;
    const { view, group } = this.rows[row]!;
    return now !== null && now.run === view.index && now.name === group.name;
  }
}

function edge(data: Aggregated, bin: number): number {
  return data.from_s + ((data.to_s - data.from_s) * bin) / data.bins;
}

function maximum(lists: number[][]): number {
  return lists.reduce((most, list) => list.reduce((a, b) => Math.max(a, b), most), 0);
}

/** A stepped area over the bins inside the window. */
function area(values: number[], data: Aggregated, scale: Scale, full: number, top: number, height: number): string {
  const bottom = top + height;
  let d = "";
  values.forEach((v, i) => {
    const [from, to] = [edge(data, i), edge(data, i + 1)];
    if (v <= 0 || to < scale.from || from > scale.to) return;
    const [x0, x1] = [near(scale, from).toFixed(2), near(scale, to).toFixed(2)];
    d += `M${x0} ${bottom}V${(bottom - (height * v) / full).toFixed(2)}H${x1}V${bottom}Z`;
  });
  return d;
}
