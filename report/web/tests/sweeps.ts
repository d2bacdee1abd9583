// Made-up sweeps for tests, with totals that are the sums of their points.

import type { ReportData, Sweep, SweepPoint } from "../src/contract.ts";
import { numbers } from "./fixture.ts";

/** Every combination of values of the axes, in loops one inside the other: the last axis changes fastest. */
export function grid(axes: Sweep["axes"]): string[][] {
  let all: string[][] = [[]];
  for (const axis of axes) all = all.flatMap((values) => axis.values.map((v) => [...values, v]));
  return all;
}

/** A sweep over axes of these lengths; `kept` says which points have ended, `proved` which of them are proved. */
export function madeUpSweep(
  lengths: number[],
  kept: (point: number) => boolean = () => true,
  proved: (point: number) => boolean = () => true,
): Sweep {
  const next = numbers(5);
  const axes = lengths.map((n, a) => ({ path: `axis${a}`, values: Array.from({ length: n }, (_, i) => `v${a}.${i}`) }));
  const points: SweepPoint[] = [];
  grid(axes).forEach((_, point) => {
    const best_s = 1e-4 * (1 + next());
    if (kept(point)) points.push({ point, baseline_s: best_s * (1 + next()), best_s, proved_optimal: proved(point) });
  });
  const combinations = grid(axes.slice(1));
  const totals = combinations.map((values, c): Sweep["totals"][number] => {
    const mine = points.filter((p) => p.point % combinations.length === c);
    const sum = (of: (p: SweepPoint) => number) => mine.reduce((total, p) => total + of(p), 0);
    const [baseline_s, best_s, complete] = [sum((p) => p.baseline_s), sum((p) => p.best_s), mine.length === lengths[0]];
    return {
      parameters: Object.fromEntries(values.map((v, a) => [axes[a + 1]!.path, v])),
      points: mine.length,
      complete,
      proved_optimal: complete && mine.every((p) => p.proved_optimal),
      baseline_s,
      baseline_ps: Math.round(baseline_s * 1e12),
      best_s,
      best_ps: Math.round(best_s * 1e12),
      gain_percent: mine.length > 0 ? 100 * (baseline_s / best_s - 1) : null,
    };
  });
  return {
    weir: 1,
    kind: "sweep",
    version: "0",
    input_sha256: "0",
    scenario: "made up",
    file: "made-up.yaml",
    arbiter: { name: "max-min", version: "0", params: {} },
    vary: "order",
    objective: "makespan",
    axes,
    searches: points.length,
    complete: totals.every((t) => t.complete),
    proved_optimal: totals.every((t) => t.proved_optimal),
    totals,
    points,
  };
}

export const withSweeps = (...sweeps: Sweep[]): ReportData => ({
  weir: 1,
  runs: [],
  searches: [],
  sweeps,
  tuned: [],
  validated: [],
  aggregated: null,
});
