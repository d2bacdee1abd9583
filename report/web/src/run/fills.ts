// How full the input buffers of links are over time, in runs of packets: the part of their room that is taken, by bins.

import type { Link, Run } from "../contract.ts";
import type { Loads } from "./loads.ts";
import type { Numbers } from "./numbering.ts";

/** The buffers that were not always empty, or null where the run does not tell. */
export function fillsOf(run: Run, numbers: Numbers): Loads | null {
  const width = run.fill_bin_s;
  if (!width) return null;
  const end = run.stopped_s ?? run.makespan_s;
  const byLink = new Map<number, Float64Array>();
  let bins = 0;
  run.links.forEach((l, i) => {
    const room = roomOf(l);
    if (!l.fill_bytes || !room) return;
    bins = Math.max(bins, l.fill_bytes.length);
    byLink.set(
      numbers.get(l.id ?? i)!,
      Float64Array.from(l.fill_bytes, (bytes) => bytes / room),
    );
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
