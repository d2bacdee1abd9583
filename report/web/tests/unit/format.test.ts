import assert from "node:assert/strict";
import test from "node:test";
import * as format from "../../src/core/format.ts";
import { rateLabels, timeLabels } from "../../src/core/scale.ts";

test("times have the unit of which there is at least one, as in the terminal", () => {
  assert.equal(format.time(0.066502463055), "66.502 ms");
  assert.equal(format.time(0), "0 s");
  assert.equal(format.time(1), "1.000 s");
  assert.equal(format.time(342.156e-6), "342.156 µs");
  assert.equal(format.time(3e-12), "3 ps");
  assert.equal(format.time(100e-12), "100 ps");
  assert.equal(format.time(100.5e-12), "100.500 ps");
  assert.equal(format.time(1e-9), "1.000 ns");
  assert.equal(format.time(null), "–");
});

test("a time that rounds up to the next unit gets it", () => {
  assert.equal(format.time(0.9999996e-3), "1.000 ms");
  assert.equal(format.time(0.999e-3), "999.000 µs");
});

test("rates, sizes and packets", () => {
  assert.equal(format.rate(4511111111.06), "4.511 GB/s");
  assert.equal(format.rate(0), "0 B/s");
  assert.equal(format.bytes(300_000_000), "300 MB");
  assert.equal(format.bytes(8_388_608), "8.389 MB");
  assert.equal(format.bytes(1_500_000), "1.5 MB");
  assert.equal(format.packet(2 ** 21), "2 MiB");
  assert.equal(format.packet(10 * 2 ** 20), "10 MiB");
  assert.equal(format.packet(1000), "1 kB");
  assert.equal(format.packet(512), "512 B");
});

test("counts, parts and signs", () => {
  assert.equal(format.count(1234567), "1\u202f234\u202f567");
  assert.equal(format.count(12), "12");
  assert.equal(format.counted(1, "transfer"), "1 transfer");
  assert.equal(format.percent(0.7777), "77.8 %");
  assert.equal(format.percent(Number.NaN), "–");
  assert.equal(format.timeChange(-0.0517241), "−51.724 ms");
  assert.equal(format.timeChange(0), "± 0 s");
});

test("picoseconds are only called exact where a double holds them", () => {
  assert.equal(format.exactPs(66502463055), "66502463055 ps");
  assert.equal(format.exactPs(2 ** 60), null);
});

test("ticks of one axis share a unit and have the decimals that tell them apart", () => {
  assert.deepEqual(timeLabels([0, 0.0005, 0.001, 0.0015]), ["0 s", "0.5 ms", "1.0 ms", "1.5 ms"]);
  assert.deepEqual(timeLabels([0.02, 0.04]), ["20 ms", "40 ms"]);
  assert.deepEqual(rateLabels([0, 50e6, 100e6]), ["0 MB/s", "50 MB/s", "100 MB/s"]);
});

test("where little time is shown, moments and windows have the decimals that tell them apart", () => {
  const at = 0.0254523801234;
  assert.equal(format.moment(at, 0.066), "25.452 ms");
  assert.equal(format.moment(at, 1e-6), "25.452380 ms");
  assert.equal(format.moment(at, 1e-12), "25.452380123 ms");
  assert.equal(format.moment(0, 1e-12), "0 s");
  assert.equal(format.range(0.021019, 0.045484), "21.019 ms to 45.484 ms");
  assert.equal(format.range(0, 12e-9), "0 s to 12.000 ns");
  assert.equal(format.range(at, at + 12e-9), "25.4523801 ms + 12 ns");
  assert.equal(format.range(at, at + 1e-12), "25.452380123 ms + 1 ps");
  assert.equal(format.timeTo(null, 1), format.NONE);
});

test("a gain is told as the time saved and as how much faster it is", () => {
  // 15 s become 11 s.
  assert.equal(format.gain(15 / 11 - 1), "26.7 % less time, 36.4 % faster");
  assert.equal(format.gain(1 / 2 - 1), "100.0 % more time, 50.0 % slower");
  assert.equal(format.gain(0), "0.0 %");
  assert.equal(format.gain(null), "–");
});
