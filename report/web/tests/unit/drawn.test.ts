import assert from "node:assert/strict";
import test from "node:test";
import { aggregate } from "#tools/aggregate.mjs";
import { embed, page } from "#tools/page.mjs";
import { createHash } from "node:crypto";
import type { Search } from "../../src/contract.ts";
import type { Run } from "../../src/contract.ts";
import { heat, level } from "../../src/core/colour.ts";
import { shortened, visible } from "../../src/core/dom.ts";
import { extent } from "../../src/core/scale.ts";
import { aggregatedNote } from "../../src/panels/header.ts";
import { betterThan, curveOf, histogramOf, shareBelow } from "../../src/charts/curve.ts";
import { type Place, freePlace, placesFor, together } from "../../src/charts/scatter.ts";
import { linesOf } from "../../src/charts/tune.ts";
import { pieces } from "../../src/timeline/bars.ts";
import { againstBaseline, searched } from "../../src/panels/search.ts";
import { byValueOf } from "../../src/charts/by-value.ts";
import { objectiveOf } from "../../src/core/objective.ts";
import { placedLabels } from "../../src/charts/categories.ts";
import { equalTimes } from "../../src/panels/operations.ts";
import { family } from "../../src/timeline/engines.ts";
import { fixture, madeUp, numbers } from "../fixture.ts";

test("bars narrower than a pixel are joined, and their area stays", () => {
  const next = numbers(11);
  const life = [];
  let at = 0;
  for (let i = 0; i < 5000; i++) {
    const to = at + next() ** 3 * 0.01;
    life.push({
      doing: "moving" as const,
      from: at,
      to,
      span: { from: at, to, rate: next(), at: null, step: null, because: [], delayed: false },
    });
    at = to;
  }
  const scale = { from: 0, to: at, width: 800 };
  const drawn = pieces(
    life,
    scale,
    (x) => x.span!.rate,
    () => "red",
  );
  assert.ok(drawn.length < 2 * scale.width, `${drawn.length} pieces`);
  const area = drawn.reduce((sum, p) => sum + (p.x1 - p.x0) * p.part, 0);
  const exact = life.reduce((sum, x) => sum + ((x.to - x.from) / at) * scale.width * x.span.rate, 0);
  assert.ok(Math.abs(area - exact) < 1e-6 * exact, `${area} and ${exact}`);
});

test("colours of utilisation rise in lightness with use in the dark, and fall on paper", () => {
  const light = (colour: string) => {
    const [r, g, b] = colour.match(/\d+/g)!.map(Number) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (let i = 1; i <= 20; i++) {
    assert.ok(light(heat(i / 20, true)) > light(heat((i - 1) / 20, true)));
    assert.ok(light(heat(i / 20, false)) < light(heat((i - 1) / 20, false)));
  }
  assert.deepEqual([level(0, 32), level(1e-9, 32), level(1, 32), level(0.5, 32)], [0, 1, 32, 16]);
});

test("marks that turn, hide or break text are shown as what they are", () => {
  assert.equal(visible("a\nb\u202Ec\u2028"), "a⏎b⟨U+202E⟩c⟨U+2028⟩");
  assert.equal(visible("שלום <b>"), "שלום <b>");
  assert.equal(shortened("abcdef", 4), "abc…");
});

test("data cannot end the script that holds them, and come back the same", () => {
  const value = { "</script>": "<!-- & \u2028\u2029 {{script}} \ud83d\ude00" };
  const text = embed(value);
  assert.ok(!/[<>&\u2028\u2029]/.test(text));
  assert.deepEqual(JSON.parse(text), value);
});

test("the policy of a page has the hashes of what stands in it", async () => {
  const html: string = await page(fixture("hostile"));
  assert.equal(html.match(/<script/g)!.length - (html.match(/<script>window/g)?.length ?? 0), 2);
  for (const [part, name] of [
    [html.match(/<style>([^]*?)<\/style>/)![1]!, "style"],
    [html.match(/<script>([^]*?)<\/script>/)![1]!, "script"],
  ]) {
    const hash = createHash("sha256").update(part!).digest("base64");
    assert.ok(html.includes(`${name}-src 'sha256-${hash}'`), name);
  }
  assert.ok(html.includes("Permission is hereby granted"), "the licence of uPlot");
  assert.ok(
    !/https?:\/\/(?!www\.w3\.org)[a-z0-9.-]+/.test(html.replace(/github\.com\/leeoniya\/uPlot/g, "")),
    "no addresses",
  );
});

test("the curve of a search goes through its percentiles, or through all candidates", () => {
  const [order, , parameters] = fixture("results").searches;
  const curve = curveOf(order!)!;
  assert.deepEqual(curve.points[0], [0, order!.best_s]);
  assert.deepEqual(curve.points.at(-1), [1, order!.worst_s]);
  assert.equal(shareBelow(curve, order!.median_s!), 0.5);
  assert.equal(shareBelow(curve, order!.best_s!), 0);
  assert.equal(curveOf(parameters!)!.points.length, 4);
  const all = { ...order!, candidates: 100, curve_s: Array.from({ length: 100 }, (_, i) => i) };
  assert.equal(
    histogramOf(all)!.counts.reduce((a, b) => a + b),
    100,
  );
  assert.equal(histogramOf(order!), null);
});

test("tuned packets: one line each where all were given, otherwise none and the best", () => {
  const { sizes } = fixture("results").tuned[0]!.operations[0]!;
  assert.deepEqual(
    linesOf(sizes).map((l) => l.name),
    ["no packets", "best"],
  );
  const tried = sizes.map((s) => ({
    ...s,
    tried: [
      { packet: null, seconds: s.without_packets_s! },
      { packet: 2 ** 20, seconds: s.seconds },
    ],
  }));
  assert.deepEqual(
    linesOf(tried).map((l) => l.name),
    ["no packets", "packets of 1 MiB", "best"],
  );
});

test("small things", () => {
  assert.deepEqual(["h0", "m1.0", "12", "merge"].map(family), ["h", "m", "12", "merge"]);
  assert.deepEqual(
    together([1, 2, 3, 4], (n) => String(n % 2)),
    [
      [1, 3],
      [2, 4],
    ],
  );
});

test("a search over one value is drawn over that value, in the order of the file", () => {
  const [order, , parameters] = fixture("results").searches;
  const row = (candidate: number, value: string, makespan_s: number) => ({
    candidate,
    parameters: { "workload[0].put.packet": value },
    makespan_s,
    makespan_ps: makespan_s * 1e12,
    ratio: 1,
    best: candidate === 2,
  });
  const rows = [row(2, "2MiB", 1), row(0, "none", 3), row(1, "512KiB", 2)];
  const drawn = byValueOf({ ...parameters!, candidates: 3, rows })!;
  assert.equal(drawn.path, "workload[0].put.packet");
  assert.deepEqual(
    drawn.rows.map((r) => r.makespan_s),
    [3, 2, 1],
  );
  assert.equal(byValueOf({ ...parameters!, candidates: 4, rows }), null, "some candidates are not in the data");
  const stopped = { candidates: 1, first: "a link is down" };
  assert.equal(byValueOf({ ...parameters!, candidates: 4, stopped, rows })?.rows.length, 3, "the fourth does not end");
  const seeds = rows.map((r) => ({ ...r, parameters: { "events[0].failures.seed": String(r.candidate) } }));
  assert.equal(byValueOf({ ...parameters!, candidates: 3, rows: seeds }), null, "seeds are no quantity");
  const many = Array.from({ length: 1000 }, (_, i) => row(i, `${i + 1}KiB`, i));
  assert.equal(byValueOf({ ...parameters!, candidates: 1000, rows: many })?.rows.length, 1000);
  assert.equal(byValueOf(order!), null);
});

test("by another objective values are drawn, and no curve of a throughput", () => {
  const [, , parameters] = fixture("results").searches;
  const rows = [5e9, 8e9].map((value, candidate) => ({
    candidate,
    parameters: { x: `${candidate + 1}MB` },
    value,
    makespan_s: candidate + 1,
    makespan_ps: (candidate + 1) * 1e12,
    ratio: 8e9 / value,
    best: candidate === 1,
  }));
  const search = { ...parameters!, candidates: 2, rows, baseline: 6e9, best: 8e9 };
  const rate = objectiveOf({ ...search, objective: "throughput" });
  assert.deepEqual(
    [rate.kind, rate.best, rate.text(rate.baseline), rows.map(rate.of)],
    ["rate", 8e9, "6.000 GB/s", [5e9, 8e9]],
  );
  assert.equal(curveOf({ ...search, objective: "throughput" }), null);
  const end = objectiveOf({ ...search, objective: "end" });
  assert.deepEqual([end.name, end.kind, end.best], ["end", "time", 8e9]);
  assert.deepEqual(
    curveOf({ ...search, objective: "end" })!.points.map(([, v]) => v),
    [5e9, 8e9],
  );
  const makespan = objectiveOf({ ...parameters!, objective: "makespan" });
  assert.equal(makespan.best, parameters!.best_s);
  assert.equal(objectiveOf({ ...search, objective: "distance", best: 12 }).text(12), "12");
});

test("quantities are drawn by their size, ascending", () => {
  const [, , parameters] = fixture("results").searches;
  const drawn = (values: string[]) => {
    const rows = values.map((value, candidate) => ({
      candidate,
      parameters: { x: value },
      makespan_s: candidate,
      makespan_ps: candidate * 1e12,
      ratio: 1,
      best: candidate === 0,
    }));
    const { scale, places, rows: sorted } = byValueOf({ ...parameters!, candidates: rows.length, rows })!;
    return { scale, places, order: sorted.map((row) => row.candidate) };
  };
  assert.deepEqual(drawn(["20GB/s", "2GB/s", "80Gb/s", "10.5GB/s"]), {
    scale: "linear",
    places: [2e9, 1e10, 1.05e10, 2e10],
    order: [1, 2, 3, 0],
  });
  assert.deepEqual(drawn(["1MiB", "1kB", "32KiB"]), {
    scale: "logarithmic",
    places: [1e3, 32768, 1048576],
    order: [1, 2, 0],
  });
  assert.deepEqual(drawn(["0", "1", "100"]).scale, "linear");
  for (const list of [
    ["1MB", "none", "1kB"],
    ["1MB", "1ms"],
    ["1MB", "1000kB"],
  ])
    assert.deepEqual(drawn(list).places, [...list.keys()], list.join());
});

test("labels of values at their places do not touch", () => {
  const labels = placedLabels(["1kB", "2kB", "4kB", "1MB"], [0, 10, 60, 300]);
  assert.deepEqual(
    labels.map((label) => label.at),
    [0, 2, 3],
  );
});

test("a proved search that left candidates out is an exact one", () => {
  const search = { ...fixture("results").searches[0]!, evaluated: 2, candidates: 20922, complete: true };
  assert.match(searched({ ...search, proved_optimal: true })[1], /^exact search among 20.922 candidates; 2 had/);
  assert.match(searched({ ...search, proved_optimal: false })[1], /^of 20.922 candidates, /);
});

test("differences that come from rounding to picoseconds are none", () => {
  assert.equal(equalTimes(1.586e-12, 0.01, 8), true);
  assert.equal(equalTimes(9e-12, 0.001, 8), false);
  assert.equal(equalTimes(-5e-11, null, 0), true);
  assert.equal(equalTimes(1e-6, 1, 100), false);
});

test("a search above 2^128 names no number of candidates, and may lack curves", () => {
  const search = { ...fixture("results").searches[0]!, candidates: undefined, complete: true, proved_optimal: true };
  assert.match(searched({ ...search, evaluated: 2 })[1], /^exact search among more than 2\^128 candidates; 2 had/);
  assert.equal(searched({ ...search, proved_optimal: false })[1], `of more than 2^128 candidates, ${search.method}`);
  assert.match(curveOf(search)!.source, /percentiles of more than 2\^128 candidates$/);
  const curve = { ...search, curve_s: [1, 2, 3, 4, 5, 6, 7, 8] };
  assert.equal(curveOf(curve)!.source, "8 of all candidates, evenly spaced in the sorted order");
  assert.equal(histogramOf(curve), null);
  assert.equal(curveOf({ ...search, percentiles_s: null, rows: null }), null);
  assert.match(curveOf({ ...search, candidates: 2 ** 127 })!.source, /of about 1\.70e\+38 candidates$/);
});

test("better candidates are those strictly below, of all", () => {
  const search = { ...fixture("results").searches[0]!, rows: null };
  const share = (curve_s: number[] | null, baseline: number, more: object = {}) => {
    const given = { ...search, curve_s, candidates: curve_s?.length, ...more };
    return betterThan(given, curveOf(given)!, baseline);
  };
  assert.equal(share([1, 2], 2), "50.0 %");
  assert.equal(share([1, 2, 3, 4], 3), "50.0 %");
  assert.equal(share([1, 1, 3, 3], 3), "50.0 %");
  assert.equal(share([1, 2, 3, 4], 1), "0.0 %");
  assert.equal(share([1, 2, 3, 4], 3, { candidates: 4000 }), "about 50.0 %");
  assert.equal(share([1, 2, 3, 4], 3, { candidates: undefined }), "about 50.0 %");
  const two = {
    candidates: 2,
    best_s: 1,
    worst_s: 2,
    median_s: null,
    percentiles_s: {} as unknown as Search["percentiles_s"],
  };
  assert.equal(share(null, 2, two), "about 50.0 %");
  const rows = [4, 2, 3, 1].map((makespan_s, candidate) => ({
    candidate,
    parameters: {},
    makespan_s,
    makespan_ps: makespan_s * 1e12,
    ratio: makespan_s,
    best: false,
  }));
  assert.equal(share(null, 3, { rows, candidates: 4 }), "50.0 %");
  assert.equal(share(null, 3, { rows, candidates: 40 }), "2 of the 4 in the data");
  assert.match(curveOf({ ...search, rows, curve_s: null, candidates: 40 })!.source, /^4 of the 40 candidates, those/);
});

test("the makespan of the best may be less, more, equal or unknown", () => {
  const search: Search = {
    ...fixture("results").searches[0]!,
    objective: "makespan",
    baseline_s: 1,
    proved_optimal: true,
  };
  assert.equal(againstBaseline({ ...search, best_s: 0.9 }), "the best takes 10.0 % less time, 11.1 % faster");
  assert.equal(againstBaseline({ ...search, best_s: 1 }), "nothing is better");
  assert.equal(againstBaseline({ ...search, best_s: 1, proved_optimal: false }), "nothing better was found");
  assert.equal(againstBaseline({ ...search, best_s: 1.5 }), "the best that was found takes 50.0 % more");
  const hops: Search = { ...search, objective: "distance" };
  assert.equal(againstBaseline({ ...hops, best_s: 10 }), "best by another objective: the makespan is 900.0 % longer");
  assert.equal(againstBaseline({ ...hops, best_s: 1 }), "the makespan of the best is equal");
  assert.match(againstBaseline({ ...search, baseline_s: null, best_s: 1 }), /not known/);
  assert.match(againstBaseline({ ...search, best_s: null }), /not known/);
});

test("200 000 candidates have a curve, a histogram and ticks", () => {
  const curve_s = Array.from({ length: 200_000 }, (_, i) => 1 + i / 1e6);
  const search = {
    ...fixture("results").searches[0]!,
    candidates: curve_s.length,
    curve_s,
    histogram: null,
    rows: null,
  };
  const bars = histogramOf(search)!;
  assert.deepEqual([bars.from_s, bars.to_s], [1, curve_s.at(-1)]);
  assert.equal(
    bars.counts.reduce((a, b) => a + b),
    curve_s.length,
  );
  assert.deepEqual(extent(curve_s), [1, curve_s.at(-1)]);
  assert.deepEqual(
    [extent([]), extent([-3]), extent([2, -1])],
    [
      [0, 0],
      [-3, -3],
      [-1, 2],
    ],
  );
});

test("what is aggregated for its room is not said to be too many transfers", () => {
  const run = aggregate(madeUp(50), { bins: 10 }) as unknown as Run;
  assert.match(
    aggregatedNote(run),
    /^Aggregated: the data of 50 transfers and what was planned for them are too large/,
  );
  run.aggregated!.transfers = 2001;
  assert.match(aggregatedNote(run), /^Aggregated: 2\u202f001 transfers are too many to draw one by one/);
});

test("counts beside marks never overlap; what has no room is left out", () => {
  const taken: Place[] = [];
  const put = [0, 0, 3, 3, 8, 8].map((x, i) => {
    const place = freePlace(placesFor(100 + x, 100 + (i % 2), 14), taken);
    if (place) taken.push(place);
    return place;
  });
  assert.deepEqual(
    [put[0], put[1]],
    [
      [109, 100, 14],
      [77, 101, 14],
    ],
  );
  taken.forEach(([x, y, w], i) =>
    taken.slice(i + 1).forEach(([a, b, v]) => assert.ok(x + w <= a || a + v <= x || Math.abs(y - b) >= 13)),
  );
  assert.equal(
    freePlace(placesFor(0, 0, 14), [
      [-100, 0, 300],
      [-100, 14, 300],
      [-100, -14, 300],
    ]),
    undefined,
  );
});
