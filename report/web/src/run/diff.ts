// What differs between runs: ends of transfers that occur in the baseline and in another run.

import { changeOf } from "../timeline/change.ts";
import type { RunView } from "./view.ts";

export interface Difference {
  id: string;
  /** End per run, seconds; null where it did not end or is not in the run. */
  ends: (number | null)[];
  /** Against the baseline, per run; null where there is nothing to compare. */
  changes: (number | null)[];
}

/** Transfers whose ends differ in some run, largest difference first. */
export function differences(views: RunView[]): Difference[] {
  const [base, ...others] = views;
  if (!base || others.length === 0) return [];
  const ids = new Set(views.flatMap((v) => [...v.transfers.keys()]));
  const out: Difference[] = [];
  for (const id of ids) {
    const first = base.transfers.get(id);
    const changes = views.map((v) => changeOf(first, v.transfers.get(id)));
    if (changes.some((c) => c !== null && c !== 0))
      out.push({ id, ends: views.map((v) => v.transfers.get(id)?.end_s ?? null), changes });
  }
  const size = (d: Difference) => Math.max(...d.changes.map((c) => Math.abs(c ?? 0)));
  return out.sort((a, b) => size(b) - size(a) || (a.id < b.id ? -1 : 1));
}

/** How many transfers are later, earlier and equal in a run, of those that both have. */
export function tally(base: RunView, other: RunView): { later: number; earlier: number; same: number; only: number } {
  const out = { later: 0, earlier: 0, same: 0, only: 0 };
  for (const [id, t] of other.transfers) {
    const first = base.transfers.get(id);
    const change = changeOf(first, t);
    if (!first) out.only++;
    else if (change === null) continue;
    else if (change > 0) out.later++;
    else if (change < 0) out.earlier++;
    else out.same++;
  }
  return out;
}
