// Sentences on what the data of runs tell of what holds transfers back.

import type { Run } from "../contract.ts";
import * as format from "../core/format.ts";
import { byOthers } from "./alone.ts";
import { type RunView, wholly } from "./view.ts";

/** Says over which transfers the sums are that stand for a run: all of them, those kept, or nothing. */
export function coverage(views: RunView[]): string {
  const several = views.length > 1;
  const said = views.map((v) => {
    if (!v.run.aggregated) return "";
    const over = v.run.aggregated.delays ? overAll(v.run) : "of the transfers that were kept";
    return several ? `In ${v.letter} ${over}.` : `${over[0]!.toUpperCase()}${over.slice(1)}.`;
  });
  return [...said, wholly(views.filter((v) => !v.run.aggregated?.delays))].filter(Boolean).join(" ");
}

/** What sums are over that an aggregated run hands over. */
export function overAll(run: Run): string {
  const all = format.counted(run.aggregated!.transfers, "transfer");
  return `over all ${all}; each counts wholly at its main bottleneck`;
}

/** Why the time lost of a run is not known, or null where it is. */
export function lossUnknown({ run }: RunView): string | null {
  const summed = run.aggregated?.delays;
  const unknown = summed
    ? [...summed.links, summed.rest].some((l) => l.lost_s === null)
    : run.transfers.some((t) => t.start_s != null && t.alone_s == null && byOthers(t));
  if (!unknown) return null;
  return `time lost is not known${run.complete ? "" : " (the run was interrupted before it was computed)"}`;
}

/** How many transfers of a run that was stopped have ended, or nothing where only that of a part is known. */
export function endedText({ run }: { run: Run }): string {
  const { transfers, aggregated } = run;
  const known = aggregated ? aggregated.ended : transfers.filter((t) => t.end_s != null).length;
  if (known == null) return "";
  const all = format.counted(aggregated?.transfers ?? transfers.length, "transfer");
  return `${format.count(known)} of ${all} ${known === 1 ? "has" : "have"} ended`;
}
