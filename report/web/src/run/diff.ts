// What differs between runs: ends of transfers that occur in the baseline and in another run.

import { changeOf } from "../timeline/change.ts";
import type { Transfer } from "../contract.ts";
import type { RunView } from "./view.ts";

export interface Difference {
  id: string;
  /** End per run, seconds; null where it did not end or is not in the run. */
  ends: (number | null)[];
  /** Against the baseline, per run; null where there is nothing to compare. */
  changes: (number | null)[];
  /** Per run, whether it is in the run and did not end. */
  open: boolean[];
}

const isOpen = (t: Transfer | undefined) => t !== undefined && t.end_s == null;

/** Transfers whose ends differ in some run: those that ended in one only come first, then the largest difference. */
export function differences(views: RunView[]): Difference[] {
  const [base, ...others] = views;
  if (!base || others.length === 0) return [];
  const ids = new Set(views.flatMap((v) => [...v.transfers.keys()]));
  const out: Difference[] = [];
  for (const id of ids) {
    const first = base.transfers.get(id);
    const changes = views.map((v) => changeOf(first, v.transfers.get(id)));
    const open = views.map((v) => isOpen(v.transfers.get(id)));
    const oneSided = first !== undefined && views.some((v, i) => v.transfers.has(id) && open[i] !== open[0]);
    if (oneSided || changes.some((c) => c !== null && c !== 0))
      out.push({ id, ends: views.map((v) => v.transfers.get(id)?.end_s ?? null), changes, open });
  }
  const size = (d: Difference) =>
    d.open.includes(true) ? Number.MAX_VALUE : Math.max(...d.changes.map((c) => Math.abs(c ?? 0)));
  return out.sort((a, b) => size(b) - size(a) || (a.id < b.id ? -1 : 1));
}

export interface EndCounts {
  later: number;
  earlier: number;
  same: number;
  /** Not in the baseline, or not kept of it. */
  only: number;
  /** Not ended, though the baseline's has. */
  open: number;
  /** Ended, though the baseline's has not. */
  closed: number;
  /** Ended in neither. */
  neither: number;
}

/** How many transfers are later, earlier and equal in a run, of those that both have, and how many did not end. */
export function endCounts(base: RunView, other: RunView): EndCounts {
  const out: EndCounts = { later: 0, earlier: 0, same: 0, only: 0, open: 0, closed: 0, neither: 0 };
  for (const [id, t] of other.transfers) {
    const first = base.transfers.get(id);
    const change = changeOf(first, t);
    if (!first) out.only++;
    else if (isOpen(first) && isOpen(t)) out.neither++;
    else if (isOpen(t)) out.open++;
    else if (isOpen(first)) out.closed++;
    else if (change === null) continue;
    else if (change > 0) out.later++;
    else if (change < 0) out.earlier++;
    else out.same++;
  }
  return out;
}
