// What links carried from when on, where they changed while the run went on.

import type { LinkChange, LinkStep, Run } from "../contract.ts";
import * as format from "../core/format.ts";

/** A link that changed, or both directions of one that changed together. */
export interface ChangedLink {
  from: string;
  to: string;
  /** Whether the other direction did the same. */
  both: boolean;
  steps: LinkStep[];
  /** How often it changed: more often than there are steps where the data hold the first ones only. */
  changes: number;
  down_s: number;
}

/** The links that changed, in the order of the data; none where the data hold no times. */
export function changedLinks(run: Run): ChangedLink[] {
  const all = (run.link_changes ?? []).filter((c) => (c.steps ?? []).length > 0);
  const byEnds = new Map(all.map((c) => [format.link(c.link), c]));
  const done = new Set<LinkChange>();
  return all.flatMap((c) => {
    if (done.has(c)) return [];
    const other = byEnds.get(format.link({ from: c.link.to, to: c.link.from }));
    const both = other !== undefined && other !== c && sameSteps(c.steps!, other.steps!);
    if (both) done.add(other);
    return [{ ...c.link, both, steps: c.steps!, changes: c.changes, down_s: c.down_s }];
  });
}

function sameSteps(a: LinkStep[], b: LinkStep[]): boolean {
  return a.length === b.length && a.every((x, i) => x.at_ps === b[i]!.at_ps && x.bandwidth_Bps === b[i]!.bandwidth_Bps);
}

/** Whether it changed again after the last step that the data hold. */
export function isCut(link: ChangedLink): boolean {
  return link.changes > link.steps.length;
}

/** The spans in which a link is down, until the end of the run; of a log that is cut, not what comes after its last step. */
export function downSpans(link: ChangedLink, end: number): [number, number][] {
  return link.steps.flatMap((step, i): [number, number][] => {
    const until = link.steps[i + 1]?.at_s ?? (isCut(link) ? undefined : end);
    return step.bandwidth_Bps === 0 && until !== undefined ? [[step.at_s, until]] : [];
  });
}

/** What a link carries from a step on, in words. */
export function stepText(step: LinkStep): string {
  return step.bandwidth_Bps === 0 ? "down" : format.rate(step.bandwidth_Bps);
}
