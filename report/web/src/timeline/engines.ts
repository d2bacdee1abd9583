// Engines of planned operations as rows, and above them the operations themselves.

import type { Operation, Plan } from "../contract.ts";
import { CATEGORIES } from "../core/colour.ts";
import { h, name, s, visible, type Child } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Scale } from "../core/scale.ts";
import type { Store } from "../core/store.ts";
import type { Line } from "../core/tip.ts";
import type { RunView } from "../run/view.ts";
import { near } from "./bars.ts";
import { emptyLabel, nameLabel } from "./labels.ts";
import type { RowSource } from "./rows.ts";

const LANE = 24;

interface Bar {
  name: string;
  from: number;
  to: number;
  ready: number | null;
  /** The transfer over the fabric that the task is, if it is one. */
  transfer: string | null;
  colour: string;
}

interface EngineRow {
  view: RunView;
  operation: string;
  engine: string | null;
  bars: Bar[];
  note: string;
}

export class Engines implements RowSource {
  readonly label = "Engines";
  readonly height = LANE + 4;
  readonly most = 380;
  readonly moments: number[];
  private all: EngineRow[];
  private rows: EngineRow[] = [];

  constructor(
    views: RunView[],
    private store: Store,
  ) {
    this.all = views.flatMap((v) => rowsOf(v));
    this.moments = [...new Set(this.all.flatMap((r) => r.bars.flatMap((b) => [b.from, b.to])))].sort((a, b) => a - b);
    const arrange = () => (this.rows = this.all.filter((r) => store.state.visible.includes(r.view.index)));
    store.on(["visible"], arrange);
    arrange();
  }

  /** Whether any run has rows, also one that is not shown. */
  get any(): boolean {
    return this.all.length > 0;
  }

  count(): number {
    return this.rows.length;
  }

  name(row: number): Child[] {
    const r = this.rows[row]!;
    const letter = this.store.state.visible.length > 1 ? `${r.view.letter} ` : "";
    if (r.engine === null)
      return [h("span", { class: "id" }, letter, name(r.operation)), h("span", { class: "ends" }, r.note)];
    return [
      h("span", { class: "id engine" }, letter, name(r.engine)),
      h("span", { class: "ends" }, name(r.operation), ` · ${r.note}`),
    ];
  }

  draw(row: number, scale: Scale): SVGElement[] {
    const r = this.rows[row]!;
    const bars = r.bars.flatMap((b) => {
      if (b.to < scale.from || b.from > scale.to) return [];
      const x = near(scale, b.from);
      const width = Math.max(0.8, near(scale, b.to) - x);
      const rect = s("rect", {
        class: r.engine === null ? "operation" : "task",
        x: x.toFixed(2),
        y: 5,
        width: width.toFixed(2),
        height: LANE - 6,
        rx: width > 6 ? 2 : 0,
      });
      rect.style.fill = b.colour;
      const label = nameLabel(b.name, Math.max(4, x + 4), Math.min(scale.width, x + width), 18);
      return label ? [rect, label] : [rect];
    });
    return bars.length > 0 ? bars : [emptyLabel("idle in the time shown", 18)];
  }

  private at(row: number, time: number): Bar | undefined {
    return this.rows[row]?.bars.find((b) => time >= b.from && time <= b.to);
  }

  describe(row: number, time: number): Line[] {
    const r = this.rows[row];
    if (!r) return [];
    const bar = this.at(row, time);
    const lines: Line[] = [
      { what: "", names: [r.engine ?? r.operation], title: true },
      { what: "at", value: this.store.moment(time) },
    ];
    if (!bar) return [...lines, { what: "state", value: "idle" }];
    lines.push(
      { what: r.engine === null ? "operation" : "task", names: [bar.name] },
      { what: "from", value: format.time(bar.from) },
      { what: "to", value: format.time(bar.to) },
    );
    lines.push({ what: "for", value: format.time(bar.to - bar.from) });
    if (bar.ready !== null && bar.ready < bar.from) lines.push({ what: "ready since", value: format.time(bar.ready) });
    return lines;
  }

  select(row: number, time: number): void {
    const id = this.at(row, time)?.transfer ?? null;
    if (id !== null) this.store.set({ transfer: id, link: null });
  }

  selected(row: number): boolean {
    const { transfer } = this.store.state;
    return transfer !== null && this.rows[row]!.bars.some((b) => b.transfer === transfer);
  }
}

function rowsOf(view: RunView): EngineRow[] {
  const plans = new Map((view.run.plans ?? []).map((p) => [p.id, p]));
  return view.run.operations.flatMap((o) => [...operationRow(view, o), ...planRows(view, plans.get(o.id))]);
}

function operationRow(view: RunView, o: Operation): EngineRow[] {
  if (o.start_s === null) return [];
  const to = o.end_s ?? view.end;
  const bar: Bar = { name: o.kind, from: o.start_s, to, ready: null, transfer: null, colour: "var(--other)" };
  return [
    { view, operation: o.id, engine: null, bars: [bar], note: `${visible(o.kind)}, ${format.time(to - o.start_s)}` },
  ];
}

function planRows(view: RunView, plan: Plan | undefined): EngineRow[] {
  const colours = coloursOf((plan?.engines ?? []).flatMap((e) => e.tasks.map((t) => t.task)));
  return (plan?.engines ?? []).map((e) => {
    const bars = e.tasks
      .filter((t) => t.start_s !== null)
      .map((t) => {
        const id = `${plan!.id}/${t.task}`;
        return {
          name: t.task,
          from: t.start_s!,
          to: t.end_s ?? view.end,
          ready: t.ready_s,
          transfer: view.transfers.has(id) ? id : null,
          colour: colours.get(family(t.task))!,
        };
      });
    return { view, operation: plan!.id, engine: e.engine, bars, note: `busy ${format.time(e.busy_s)}` };
  });
}

/** Tasks of one kind, such as `h0`, `h1`, share a colour. */
export function family(task: string): string {
  return task.replace(/[\d.]+$/, "") || task;
}

function coloursOf(tasks: string[]): Map<string, string> {
  const families = [...new Set(tasks.map(family))].sort();
  return new Map(families.map((f, i) => [f, CATEGORIES[i % CATEGORIES.length]!]));
}
