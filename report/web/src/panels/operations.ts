// The table of planned operations: simulated time against the closed form, and why they differ.

import type { Operation } from "../contract.ts";
import { h, name, section, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { RunView } from "../run/view.ts";
import { more, row, table } from "./parts.ts";

const MOST = 200;

/** The section, or null where no run has an operation with a closed form. */
export function operationsSection(views: RunView[]): HTMLElement | null {
  const rows = views.flatMap((v) =>
    v.run.operations.filter((o) => o.estimates.length > 0).map((o) => operationRow(v, o, views.length > 1)),
  );
  if (rows.length === 0) return null;
  const head = ["operation", "kind", "released", "end", "time", "by formula", "difference"];
  return section(
    "operations",
    "Operations against their formulas",
    "The closed form takes an operation alone; the simulation has everything else on the same engines and links.",
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of operations" },
      table(head, ["because"], rows.slice(0, MOST)),
    ),
    more(rows.length, MOST),
  );
}

function operationRow(view: RunView, o: Operation, titled: boolean): HTMLElement {
  const d = o.details.difference;
  const estimate = o.estimates.at(-1)!;
  const took = o.start_s !== null && o.end_s !== null ? o.end_s - o.start_s : null;
  const because = (d?.because ?? []).map(visible).join("; ") || format.NONE;
  const numbers = [
    h("span", {}, titled && h("b", { class: "letter" }, view.letter), name(o.id)),
    visible(o.kind),
    format.time(o.start_s),
    format.time(o.end_s),
    format.time(took),
    `${visible(estimate.formula)}: ${format.time(estimate.seconds)}`,
    differenceText(d?.seconds ?? null, d?.relative ?? null, o.end_s, tasksOf(view, o.id)),
  ];
  return row(null, numbers, [because]);
}

/** How many tasks an operation was planned as; 0 where that is not known. */
function tasksOf(view: RunView, id: string): number {
  const engines = view.run.plans?.find((p) => p.id === id)?.engines ?? [];
  return engines.reduce((sum, e) => sum + e.tasks.length, 0);
}

/** Whether two times differ by no more than rounding: each event is rounded to a picosecond. */
export function equalTimes(difference: number, end: number | null, tasks: number): boolean {
  return Math.abs(difference) <= Math.max(1e-9 * (end ?? 0), 1e-12 * (tasks || 100));
}

function differenceText(seconds: number | null, relative: number | null, end: number | null, tasks: number): string {
  if (seconds === null) return format.NONE;
  if (equalTimes(seconds, end, tasks)) return "equal";
  const part = relative === null ? "" : ` (${relative > 0 ? "+" : "−"}${format.percent(Math.abs(relative))})`;
  return `${format.timeChange(seconds)}${part}`;
}
