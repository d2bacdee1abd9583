import assert from "node:assert/strict";
import test from "node:test";
import { dataOf } from "#tools/page.mjs";
import type { ReportData } from "../../src/contract.ts";
import { categoryLabels } from "../../src/charts/categories.ts";
import { nearestLine, pointLines } from "../../src/charts/sweep-pointer.ts";
import { wordsOf } from "../../src/core/tip.ts";
import { proof } from "../../src/panels/sweep.ts";
import {
  combinations,
  drawnCombinations,
  gainOf,
  gridSize,
  placeOf,
  sweepLines,
  totalGain,
  valuesOf,
} from "../../src/run/sweep.ts";
import { fixture } from "../fixture.ts";
import { grid, madeUpSweep } from "../sweeps.ts";

const real = fixture("sweep").sweeps![0]!;

test("points are counted with the first axis slowest, as in loops one inside the other", () => {
  for (const lengths of [[3], [4, 1], [3, 2, 4], [1, 5, 2, 3]]) {
    const sweep = madeUpSweep(lengths);
    const all = grid(sweep.axes);
    assert.equal(gridSize(sweep), all.length);
    assert.equal(combinations(sweep), all.length / lengths[0]!);
    all.forEach((values, point) => {
      const { at, combination } = placeOf(sweep, point);
      assert.deepEqual([sweep.axes[0]!.values[at], ...valuesOf(sweep, combination)], values);
    });
  }
});

test("lines hold the points that weir wrote, and add up to its totals", () => {
  const lines = sweepLines(real);
  assert.equal(lines.length, real.totals.length);
  for (const line of lines) {
    const total = real.totals[line.combination]!;
    assert.deepEqual(line.values, Object.values(total.parameters));
    const sum = (of: "baseline_s" | "best_s") => line.points.reduce((s, p) => s + p![of], 0);
    for (const key of ["baseline_s", "best_s"] as const) assert.ok(Math.abs(sum(key) / total[key] - 1) < 1e-12);
    assert.ok(Math.abs(100 * totalGain(real, line.combination)! - total.gain_percent!) < 1e-9);
  }
  // Without overheads and gaps the best order gains the same at every size.
  for (const p of lines[0]!.points) assert.equal((100 * gainOf(p)!).toFixed(1), "36.2");
});

test("a gain is the baseline time over that of the best, less one", () => {
  assert.equal(gainOf({ baseline_s: 3, best_s: 2 }), 0.5);
  assert.equal(gainOf({ baseline_s: 2, best_s: 2 }), 0);
  assert.equal(gainOf({ baseline_s: 0, best_s: 0 }), null);
  assert.equal(gainOf(undefined), null);
});

test("points that were cut off leave a gap, and the words say how many are known", () => {
  const sweep = madeUpSweep(
    [4, 3],
    (p) => p !== 4 && p < 10,
    (p) => p !== 0,
  );
  const known = sweepLines(sweep).map((line) => line.points.map((p) => p?.point ?? null));
  assert.deepEqual(known, [
    [0, 3, 6, 9],
    [1, null, 7, null],
    [2, 5, 8, null],
  ]);
  assert.equal(
    proof(sweep),
    "The sweep was ended: 9 of 12 points are known. Not proved to be the best at 1 point (hollow marks).",
  );
  assert.equal(proof(madeUpSweep([4, 3])), "Proved: no order is better at any point.");
  assert.equal(
    proof({ ...sweep, points: [] }),
    "The sweep was ended: 9 of 12 points are known. Not proved at all points.",
  );
  assert.deepEqual(sweepLines({ ...sweep, points: undefined }), []);
  const words = pointLines(sweep, sweepLines(sweep)[1]!, 1).map(wordsOf);
  assert.equal(words.at(-1), "no result the search was cut off");
});

test("of many combinations those with the largest gains in total are drawn, in their order", () => {
  const sweep = madeUpSweep([2, 12], (p) => p % 12 !== 7);
  const gains = sweep.totals.map((t) => t.gain_percent ?? -1);
  const drawn = drawnCombinations(sweep, 8);
  assert.equal(drawn.length, 8);
  assert.deepEqual(
    drawn,
    drawn.toSorted((a, b) => a - b),
  );
  const left = gains.filter((_, c) => !drawn.includes(c));
  assert.ok(Math.min(...drawn.map((c) => gains[c]!)) >= Math.max(...left));
  assert.ok(!drawn.includes(7));
  const equal = { ...sweep, totals: sweep.totals.map((t) => ({ ...t, points: 2, baseline_s: 2, best_s: 1 })) };
  assert.deepEqual(drawnCombinations(equal, 3), [0, 1, 2]);
});

test("a point says its values, both times, the gain and whether it is proved", () => {
  const sweep = madeUpSweep([2, 3], undefined, (p) => p !== 5);
  sweep.points![5] = { ...sweep.points![5]!, baseline_s: 1.5e-3, best_s: 1e-3 };
  assert.deepEqual(pointLines(sweep, sweepLines(sweep)[2]!, 1).map(wordsOf), [
    "combination (3)",
    "\u2068axis0\u2069 2 of 2: \u2068v0.1\u2069",
    "\u2068axis1\u2069 \u2068v1.2\u2069",
    "baseline 1.500 ms",
    "best 1.000 ms",
    "gain 33.3 % less time, 50.0 % faster",
    "best is not proved",
  ]);
});

test("the nearest line is one that has a result there", () => {
  const sweep = madeUpSweep([2, 3], (p) => p !== 1 && p < 3);
  const lines = sweepLines(sweep);
  const gain = gainOf(lines[2]!.points[0])!;
  assert.equal(
    nearestLine(lines, 0, (g) => Math.abs(g - gain)),
    2,
  );
  assert.equal(
    nearestLine(lines, 1, () => 0),
    -1,
  );
});

test("labels of categories never meet, whatever the width", () => {
  const sizes = Array.from({ length: 312 }, (_, i) => `${[254, 40, 60, 200][i % 4]}kB`);
  const models = Array.from({ length: 7 }, (_, i) => `{ name: loggp, overhead: ${i}us, over: fabric }`);
  for (const values of [sizes, models, ["a"], ["a", "b"]])
    for (const width of [220, 500, 1300]) {
      const step = width / values.length;
      const labels = categoryLabels(values, step);
      assert.equal(labels[0]!.at, 0);
      for (let i = 1; i < labels.length; i++) {
        const [a, b] = [labels[i - 1]!, labels[i]!];
        assert.ok(a.at * step + a.width / 2 < b.at * step - b.width / 2, `${a.text} ${b.text} in ${width}`);
      }
    }
  // "312: " and "254kB" are 10 characters: 10 · 6.6 + 12 = 78 pixels, 19.5 categories of 4.
  assert.equal(categoryLabels(sizes, 4)[1]!.text, "21: \u2068254kB\u2069");
  assert.deepEqual(
    categoryLabels(["1kB", "2kB", "3kB"], 100).map((l) => l.text),
    ["\u20681kB\u2069", "\u20682kB\u2069", "\u20683kB\u2069"],
  );
});

test("a line of JSON with axes is a sweep", () => {
  const data = dataOf([`${JSON.stringify(real)}\n`]) as ReportData;
  assert.deepEqual(data.sweeps, [real]);
  assert.deepEqual(data.searches, []);
});
