// Which policy each link has, where parts of the fabric have policies of their own.

import type { Link, Region } from "../contract.ts";
import type { RunView } from "../run/view.ts";

/** Colours of outlines; regions beyond them begin again with the first. */
export const OUTLINES = 6;

/** The region of a link; null where one policy has the whole fabric. */
export function regionOf(view: RunView, link: Link): Region | null {
  return (link.region && view.run.arbiter.regions?.find((r) => r.name === link.region)) || null;
}

/** Key and policy: what regions of one kind have in common. */
export const policyText = ({ key, policy }: Region) => `${key}: ${policy}`;

/** The kinds of regions of some runs, each once; their places give the colours of outlines. */
export function outlinesOf(views: RunView[]): string[] {
  return [...new Set(views.flatMap((v) => v.run.arbiter.regions ?? []).map(policyText))];
}

/** Per link the place of its outline. */
export function outlined(view: RunView, outlines: string[]): Map<number, number> {
  const places = new Map((view.run.arbiter.regions ?? []).map((r) => [r.name, outlines.indexOf(policyText(r))]));
  const found = new Map<number, number>();
  for (const [id, link] of view.links) {
    const place = places.get(link.region ?? "");
    if (place !== undefined) found.set(id, place);
  }
  return found;
}
