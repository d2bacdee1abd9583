// What follows from a sweep: where a point stands in the grid, gains, and which combinations are drawn.

import type { Sweep, SweepPoint } from "../contract.ts";
import { NONE } from "../core/format.ts";

/** Lines that can be told apart. */
export const MOST_LINES = 8;

/** A combination of values of the axes but the first, and what is known along the first axis. */
export interface SweepLine {
  /** Its number among the combinations, from 0. */
  combination: number;
  values: string[];
  /** One per value of the first axis; undefined where the search was cut off. */
  points: (SweepPoint | undefined)[];
}

/** Number of combinations of the axes but the first. */
export function combinations(sweep: Sweep): number {
  return sweep.axes.slice(1).reduce((product, axis) => product * axis.values.length, 1);
}

/** Number of points of the grid. */
export function gridSize(sweep: Sweep): number {
  return (sweep.axes[0]?.values.length ?? 0) * combinations(sweep);
}

/** Index on the first axis and combination of the others: the first axis is the slowest. */
export function placeOf(sweep: Sweep, point: number): { at: number; combination: number } {
  const others = combinations(sweep);
  return { at: Math.floor(point / others), combination: point % others };
}

/** Values of the axes but the first. */
export function valuesOf(sweep: Sweep, combination: number): string[] {
  return sweep.axes.slice(1).map(({ path }) => sweep.totals[combination]?.parameters[path] ?? NONE);
}

/**
 * How much longer the scenario takes as it is than with the best: a part of one, or null where that is no number.
 * Martinasso et al., SC16, section VIII, tell their gains as this ratio.
 */
export function gainOf(times: { baseline_s: number; best_s: number } | undefined): number | null {
  return times && times.best_s > 0 ? times.baseline_s / times.best_s - 1 : null;
}

/** The gain in total of a combination. */
export function totalGain(sweep: Sweep, combination: number): number | null {
  const total = sweep.totals[combination];
  return total && total.points > 0 ? gainOf(total) : null;
}

/** The combinations with the largest gains in total, at most `most`, in their order. */
export function drawnCombinations(sweep: Sweep, most = MOST_LINES): number[] {
  const gain = (c: number) => totalGain(sweep, c) ?? -Infinity;
  const all = Array.from({ length: combinations(sweep) }, (_, c) => c);
  if (all.length <= most) return all;
  // Equal gains (or none, twice) stay in their order, as sorting is stable.
  all.sort((a, b) => (gain(a) === gain(b) ? 0 : gain(b) - gain(a)));
  return all.slice(0, most).sort((a, b) => a - b);
}

/** A line per combination that is drawn; none where the data have no points. */
export function sweepLines(sweep: Sweep): SweepLine[] {
  const points = sweep.points ?? [];
  if (points.length === 0) return [];
  const length = sweep.axes[0]!.values.length;
  const lines = drawnCombinations(sweep).map((combination): SweepLine => {
    return { combination, values: valuesOf(sweep, combination), points: new Array(length).fill(undefined) };
  });
  const of = new Map(lines.map((line) => [line.combination, line]));
  for (const point of points) {
    const { at, combination } = placeOf(sweep, point.point);
    const line = of.get(combination);
    if (line && at < length) line.points[at] = point;
  }
  return lines;
}

/** Number of points that are known: of those in the data, or as the totals count them. */
export function knownPoints(sweep: Sweep): number {
  return sweep.points?.length || sweep.totals.reduce((sum, t) => sum + t.points, 0);
}
