// The load of each link over time: a step function, exact where phases are given, in bins where they are not.

import type { Aggregated, Link } from "../contract.ts";
import * as format from "../core/format.ts";
import { lastAtMost } from "../core/scale.ts";
import { type Leg, along } from "./legs.ts";
import type { Numbers } from "./numbering.ts";
import type { Span, Spans } from "./spans.ts";

export interface Loads {
  /** Where loads change, ascending; load `i` holds from `times[i]` to `times[i + 1]`. */
  times: number[];
  /** Bytes per second by the number of the link. Links that carried nothing are absent. */
  byLink: Map<number, Float64Array>;
}

/** Sums the rates of the spans of all transfers over their routes; one that takes several puts a part on each link. */
export function loadsOf(spans: Spans, legs: Map<string, Leg[]>): Loads {
  const parts = [...spans].map(([id, list]) => list.flatMap((span) => partsOf(span, legs.get(id) ?? [])));
  const times = boundaries(parts);
  const index = new Map(times.map((t, i) => [t, i]));
  const byLink = new Map<number, Float64Array>();
  for (const part of parts.flat()) {
    const [first, end] = [index.get(part.from)!, index.get(part.to)!];
    part.leg?.route.forEach((link, hop) => {
      let load = byLink.get(link);
      if (!load) byLink.set(link, (load = new Float64Array(Math.max(0, times.length - 1))));
      const rate = part.rate * (part.leg!.shares?.[hop] ?? 1);
      for (let i = first; i < end; i++) load[i]! += rate;
    });
  }
  return { times, byLink };
}

/** A rate over one route. */
interface Part {
  from: number;
  to: number;
  rate: number;
  leg: Leg | null;
}

function partsOf({ from, to, rate }: Span, legs: Leg[]): Part[] {
  if (legs.length < 2) return [{ from, to, rate, leg: legs[0] ?? null }];
  return [...along(legs, from, to)].map((part) => ({ ...part, rate }));
}

function boundaries(parts: Part[][]): number[] {
  const seen = new Set<number>();
  for (const list of parts)
    for (const part of list) {
      seen.add(part.from);
      seen.add(part.to);
    }
  return [...seen].sort((a, b) => a - b);
}

/** Loads from the bins of an aggregated run, whose values are thousandths of the bandwidth. */
export function loadsOfBins(data: Aggregated, links: Map<number, Link>, numbers: Numbers): Loads {
  const width = (data.to_s - data.from_s) / data.bins;
  const times = Array.from({ length: data.bins + 1 }, (_, i) => data.from_s + i * width);
  const byLink = new Map<number, Float64Array>();
  for (const { id, permille } of data.links) {
    const number = numbers.get(id);
    const bandwidth = number === undefined ? null : links.get(number)?.bandwidth_Bps;
    if (bandwidth)
      byLink.set(
        number!,
        Float64Array.from(permille, (p) => (p / 1000) * bandwidth),
      );
  }
  return { times, byLink };
}

/** The load of a link at a moment; 0 outside. The last instant belongs to the last interval. */
export function loadAt(loads: Loads, link: number, time: number): number {
  const load = loads.byLink.get(link);
  if (!load || load.length === 0) return 0;
  const last = loads.times[loads.times.length - 1]!;
  const i = time === last ? load.length - 1 : lastAtMost(loads.times, time);
  return load[i] ?? 0;
}

/** What a link carries of what it could, such as `5.800 GB/s of 11.600 GB/s`. */
export function loadText(l: Link, use: number | null): string {
  if (use === null) return "not known";
  return `${format.rate(use * (l.bandwidth_Bps ?? 0))} of ${format.rate(l.bandwidth_Bps)}`;
}

/** The mean load of a link over [from, to]. */
export function meanLoad(loads: Loads, link: number, from: number, to: number): number {
  const load = loads.byLink.get(link);
  if (!load || !(to > from)) return 0;
  let sum = 0;
  for (let i = Math.max(0, lastAtMost(loads.times, from)); i < load.length && loads.times[i]! < to; i++) {
    const span = Math.min(to, loads.times[i + 1]!) - Math.max(from, loads.times[i]!);
    if (span > 0) sum += load[i]! * span;
  }
  return sum / (to - from);
}

/** The first moment at which links carry most together. */
export function busiest(loads: Loads): number {
  let best = -1;
  let at = loads.times[0] ?? 0;
  for (let i = 0; i + 1 < loads.times.length; i++) {
    let sum = 0;
    for (const load of loads.byLink.values()) sum += load[i]!;
    if (sum > best * (1 + 1e-9)) [best, at] = [sum, loads.times[i]!];
  }
  return at;
}
