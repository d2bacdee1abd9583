import assert from "node:assert/strict";
import test from "node:test";
import {
  lastAtMost,
  niceStep,
  panned,
  powerTicks,
  ticks,
  timeLabels,
  toPixel,
  toValue,
  zoomed,
} from "../../src/core/scale.ts";
import { numbers } from "../fixture.ts";

test("ticks are multiples of 1, 2 or 5 inside the axis", () => {
  assert.equal(niceStep(10, 5), 2);
  assert.equal(niceStep(0.066, 10), 0.01);
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(powerTicks(1024, 32768, 10), [1024, 2048, 4096, 8192, 16384, 32768]);
});

test("any axis has some ticks, all inside, never too many", () => {
  const next = numbers(1);
  for (let i = 0; i < 500; i++) {
    const from = (next() - 0.5) * 10 ** Math.floor(next() * 12 - 6);
    const to = from + next() * 10 ** Math.floor(next() * 12 - 9) + 1e-12;
    const all = ticks(from, to, 8);
    assert.ok(all.length <= 10, `${all.length} ticks on ${from}…${to}`);
    const slack = (to - from) * 1e-6;
    for (const t of all) assert.ok(t >= from - slack && t <= to + slack);
  }
});

test("pixels and values are inverse", () => {
  const s = { from: 2, to: 6, width: 400 };
  assert.equal(toPixel(s, 3), 100);
  assert.equal(toValue(s, 100), 3);
});

test("zooming keeps what is under the pointer, and no window leaves the whole", () => {
  const whole = { from: 0, to: 10 };
  const w = zoomed(whole, whole, 4, 0.5);
  assert.deepEqual(w, { from: 2, to: 7 });
  const next = numbers(2);
  let at = whole;
  for (let i = 0; i < 2000; i++) {
    at = next() < 0.5 ? zoomed(at, whole, next() * 10, 0.2 + 2 * next()) : panned(at, whole, (next() - 0.5) * 20);
    assert.ok(at.from >= -1e-9 && at.to <= 10 + 1e-9 && at.to > at.from, JSON.stringify(at));
  }
  assert.deepEqual(zoomed(w, whole, 4, 100), whole);
});

test("binary search agrees with looking at all", () => {
  const next = numbers(3);
  for (let i = 0; i < 200; i++) {
    const values = Array.from({ length: Math.floor(next() * 20) }, () => Math.floor(next() * 10)).sort((a, b) => a - b);
    const value = Math.floor(next() * 12) - 1;
    assert.equal(
      lastAtMost(values, value),
      values.findLastIndex((v) => v <= value),
    );
  }
});

test("labels of ticks have the decimals of their step", () => {
  const of = (step: number) => timeLabels([0, 1, 2, 3, 4].map((i) => i * step));
  assert.deepEqual(of(2.5e-3), ["0 s", "2.5 ms", "5.0 ms", "7.5 ms", "10.0 ms"]);
  assert.deepEqual(of(0.25e-6), ["0 s", "0.25 µs", "0.50 µs", "0.75 µs", "1.00 µs"]);
  assert.deepEqual(of(2e-3), ["0 s", "2 ms", "4 ms", "6 ms", "8 ms"]);
});
