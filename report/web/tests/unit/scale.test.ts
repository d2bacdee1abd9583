import assert from "node:assert/strict";
import test from "node:test";
import {
  allowed,
  lastAtMost,
  niceStep,
  panned,
  powerTicks,
  shortest,
  showing,
  ticks,
  timeAxis,
  timeLabels,
  timeMarks,
  toPixel,
  toValue,
  zoomed,
  zoomedAbout,
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

test("the shortest window is a picosecond, or what doubles can tell apart", () => {
  const whole = { from: 0, to: 0.066 };
  assert.equal(shortest(whole), 1e-12);
  assert.equal(shortest({ from: 0, to: 1e-13 }), 1e-13);
  const year = { from: 0, to: 3e7 };
  assert.ok(shortest(year) >= 64 * (3e7 * Number.EPSILON));
  let w = whole;
  for (let i = 0; i < 100; i++) w = zoomed(w, whole, 0.0254523801, 0.5);
  assert.ok(Math.abs(w.to - w.from - 1e-12) < 1e-16, `${w.to - w.from}`);
  assert.ok(w.from <= 0.0254523801 && w.to >= 0.0254523801);
  const given = allowed({ from: 0.01, to: 0.01 + 1e-15 }, whole);
  assert.ok(Math.abs(given.to - given.from - 1e-12) < 1e-16);
  assert.equal(allowed(whole, whole), whole);
});

test("a window follows a moment that leaves it, and zooms about one that is in it", () => {
  const whole = { from: 0, to: 10 };
  const w = { from: 2, to: 4 };
  assert.equal(showing(w, whole, 3), w);
  assert.deepEqual(showing(w, whole, 7), { from: 6, to: 8 });
  assert.deepEqual(showing(w, whole, 10), { from: 8, to: 10 });
  assert.deepEqual(zoomedAbout(w, whole, 2, 0.5), { from: 2, to: 3 });
  assert.deepEqual(zoomedAbout(w, whole, 9, 0.5), { from: 2.5, to: 3.5 });
});

test("labels of any window are short and differ, down to a picosecond", () => {
  const next = numbers(9);
  for (let i = 0; i < 400; i++) {
    const from = next() * 10 ** -Math.floor(next() * 6);
    const to = from + 10 ** -(12 * next());
    const { base, labels } = timeMarks(ticks(from, to, 9));
    assert.equal(new Set(labels).size, labels.length, labels.join(" "));
    for (const label of labels) assert.ok(label.length <= 13, `${label} of ${from} to ${to}`);
    assert.equal(
      base !== null,
      labels.some((l) => l.startsWith("+")),
    );
  }
  assert.deepEqual(timeMarks([0.02545238, 0.0254523802, 0.0254523804]), {
    base: "25.452 ms",
    labels: ["+380.0 ns", "+380.2 ns", "+380.4 ns"],
  });
  assert.deepEqual(timeMarks([0.0252]), { base: null, labels: ["25.2 ms"] });
});

test("no window has ticks between two picoseconds, and labels have room", () => {
  const next = numbers(12);
  for (let i = 0; i < 600; i++) {
    const from = next() * 10 ** -Math.floor(next() * 6);
    const to = from + 10 ** -(12 * next());
    const { marks, labels, base } = timeAxis({ from, to, width: 700 });
    assert.ok(marks.length >= 1 && marks.length <= 7, `${marks.length} ticks in ${to - from} s`);
    assert.equal(new Set(labels).size, labels.length, labels.join(" "));
    for (const [k, m] of marks.slice(1).entries()) assert.ok(m - marks[k]! > 0.99e-12);
    for (const l of labels) assert.ok(l.length <= 13, `${l} after ${base}`);
    for (const l of labels) assert.ok(!/\.\d* ps/.test(l), l);
  }
  const at = 0.036945812807;
  assert.deepEqual(timeAxis({ from: at, to: at + 1e-12, width: 700 }).base, "36.945812 ms");
  assert.deepEqual(timeAxis({ from: at, to: at + 1e-12, width: 700 }).labels, ["+807 ps", "+808 ps"]);
});
