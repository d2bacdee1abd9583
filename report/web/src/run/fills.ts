// What packets say of links over time, by bins: how full input buffers are as parts of their room, and what links carry.

import type { Link, Run } from "../contract.ts";
import type { Loads } from "./loads.ts";
import type { Numbers } from "./numbering.ts";

/** The buffers that were not always empty, or null where the run does not tell. */
export function fillsOf(run: Run, numbers: Numbers): Loads | null {
  return binned(run, numbers, (l) => {
    const room = roomOf(l);
    return room ? l.fill_bytes?.map((bytes) => bytes / room) : null;
  });
}

/** What links carried. Where the answers of reads have a smaller header than `bandwidth` counts with, a link carries a little more than that. */
export function packetLoadsOf(run: Run, numbers: Numbers): Loads {
  const of = (l: Link) => l.load_Bps?.map((load) => Math.min(load, l.bandwidth_Bps ?? load));
  return binned(run, numbers, of) ?? { times: [], byLink: new Map() };
}

function binned(run: Run, numbers: Numbers, of: (l: Link) => number[] | null | undefined): Loads | null {
  const width = run.fill_bin_s;
  if (!width) return null;
  const end = run.stopped_s ?? run.makespan_s;
  const byLink = new Map<number, Float64Array>();
  let bins = 0;
  run.links.forEach((l, i) => {
    const values = of(l);
    if (!values) return;
    bins = Math.max(bins, values.length);
    byLink.set(numbers.get(l.id ?? i)!, Float64Array.from(values));
  });
  const times = Array.from({ length: bins + 1 }, (_, i) => Math.min(end, i * width));
  return { times, byLink };
}

/** Bytes of a buffer; of one that is never full, the most that was in it. */
export function roomOf(l: Link): number | null {
  if (l.buffer_bytes) return l.buffer_bytes;
  // The deepest is of one channel, the fill of all.
  return Math.max(l.deepest_bytes ?? 0, ...(l.fill_bytes ?? [])) || null;
}
