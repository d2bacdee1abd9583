// The routes of a transfer over time: its own, and others that it took as links were down.

import type { Transfer } from "../contract.ts";
import { lastAtMost } from "../core/scale.ts";
import type { Numbers } from "./numbering.ts";

export interface Leg {
  /** From when on, seconds; the first one counts from the begin. */
  from: number;
  /** Numbers of links, in order of travel. */
  route: number[];
  /** Of several routes at once: the part of its bytes that each link carries. */
  shares: number[] | null;
}

export function legsOf(t: Transfer, numbers: Numbers): Leg[] {
  const numbered = (ids: number[] | null | undefined) => (ids ?? []).map((id) => numbers.get(id)!);
  const own: Leg = { from: Number.NEGATIVE_INFINITY, route: numbered(t.route), shares: t.shares ?? null };
  const others = (t.reroutes ?? []).map((r) => ({
    from: r.at_s,
    route: numbered(r.route),
    shares: r.shares ?? null,
  }));
  return [own, ...others];
}

export function legAt(legs: Leg[], time: number): Leg {
  const starts = legs.map((leg) => leg.from);
  return legs[Math.max(0, lastAtMost(starts, time))]!;
}

/** Each link of any of the routes once. */
export function linksOf(legs: Leg[]): number[] {
  return [...new Set(legs.flatMap((leg) => leg.route))];
}

/** The parts of an interval, each with the route of its time. */
export function* along(legs: Leg[], from: number, to: number): Generator<{ from: number; to: number; leg: Leg }> {
  const cuts = legs.map((leg) => leg.from).filter((time) => time > from && time < to);
  const edges = [from, ...new Set(cuts), to];
  for (let i = 0; i + 1 < edges.length; i++) yield { from: edges[i]!, to: edges[i + 1]!, leg: legAt(legs, edges[i]!) };
}
