import assert from "node:assert/strict";
import test from "node:test";
import { aggregate } from "#tools/aggregate.mjs";
import { pack } from "#tools/pack.mjs";
import type { Run } from "../../src/contract.ts";
import { loadAt, meanLoad } from "../../src/run/loads.ts";
import { deciding } from "../../src/run/spans.ts";
import { stretches } from "../../src/run/state.ts";
import {
  busiestLinks,
  hasRoutes,
  knownOverTime,
  meanUtilisation,
  onlyMean,
  spanAt,
  transfersOn,
  utilisation,
  viewsOf,
} from "../../src/run/view.ts";
import { endedText } from "../../src/run/coverage.ts";
import { differences, endCounts } from "../../src/run/diff.ts";
import { fixture, madeUp, numbers } from "../fixture.ts";

const full = ["t2", "halo", "hol", "lateral", "hostile"].flatMap((f) => fixture(f).runs);
const near = (a: number, b: number, by = 1e-9) =>
  assert.ok(Math.abs(a - b) <= by * Math.max(1, Math.abs(a), Math.abs(b)), `${a} and ${b}`);

/** A moment inside a phase. */
const inside = (p: { start_s: number; end_s: number }) => (p.start_s + p.end_s) / 2;

test("spans say what phases and explanations say, also when packed", () => {
  for (const run of full)
    for (const view of viewsOf([run, pack(run) as unknown as Run]))
      run.phases!.forEach((phase, p) => {
        const steps = new Map(run.explain![p]!.transfers.map((t) => [t.id, deciding(t.steps)]));
        for (const [id, rate] of Object.entries(phase.rates_Bps)) {
          const span = spanAt(view, id, inside(phase))!;
          assert.equal(span.rate, rate);
          assert.deepEqual(span.at, steps.get(id)?.link ?? null);
          assert.deepEqual([...span.because].sort(), [...(steps.get(id)?.because ?? [])].sort());
        }
        for (const t of run.transfers)
          if (!(t.id in phase.rates_Bps)) assert.equal(spanAt(view, t.id, inside(phase)), null);
      });
});

test("packing makes phases and explanations much smaller", () => {
  const size = (...values: unknown[]) => JSON.stringify(values).length;
  for (const run of full.filter((r) => r.transfers.length > 20))
    assert.ok(
      size(pack(run).packed) < 0.2 * size(run.phases, run.explain),
      `${size(pack(run).packed)} of ${size(run.phases, run.explain)}`,
    );
});

test("the load of a link is the sum over its transfers, looked up one by one", () => {
  const next = numbers(5);
  for (const run of full) {
    const view = viewsOf([run])[0]!;
    for (let i = 0; i < 60; i++) {
      const time = next() * run.makespan_s;
      const phase = run.phases!.find((p) => p.start_s <= time && time < p.end_s);
      for (const link of run.links) {
        const sum = run.transfers.reduce(
          (all, t) => all + (t.route!.includes(link.id!) ? (phase?.rates_Bps[t.id] ?? 0) : 0),
          0,
        );
        near(loadAt(view.loads, link.id!, time), sum);
        near(utilisation(view, link.id!, time)!, sum / link.bandwidth_Bps!);
      }
    }
  }
});

test("loads integrate to the bytes of the result, and never exceed its peaks", () => {
  for (const run of full.concat(fixture("gather").runs)) {
    const view = viewsOf([run])[0]!;
    for (const link of run.links) {
      near(meanLoad(view.loads, link.id!, 0, run.makespan_s) * run.makespan_s, link.bytes, 1e-6);
      const peak = Math.max(0, ...(view.loads.byLink.get(link.id!) ?? []));
      near(peak, link.peak_Bps!, 1e-9);
    }
  }
});

test("means and the order of links", () => {
  const view = viewsOf(fixture("t2").runs)[0]!;
  const first = view.links.get(busiestLinks(view)[0]!)!;
  assert.deepEqual([first.from, first.to], ["k80a", "plx0"]);
  near(meanUtilisation(view, first.id!)!, 600e6 / (11.6e9 * 0.066502463055));
  assert.deepEqual(
    transfersOn(view, first.id!).map((t) => t.id),
    ["a", "b"],
  );
});

test("the life of a transfer goes from ready to end without gaps, and moves its bytes", () => {
  for (const run of full.concat(fixture("gather").runs)) {
    const view = viewsOf([run])[0]!;
    for (const t of run.transfers) {
      const life = stretches(t, view.spans.get(t.id), view.end);
      assert.equal(life[0]!.from, t.ready_s);
      assert.equal(life.at(-1)!.to, t.end_s);
      life.slice(1).forEach((x, i) => assert.equal(x.from, life[i]!.to));
      near(
        life.reduce((sum, x) => sum + (x.span ? x.span.rate * (x.to - x.from) : 0), 0),
        t.bytes,
        1e-6,
      );
    }
  }
});

test("waiting, moving and blocked are told apart", () => {
  const [, fcfs] = fixture("hol").runs;
  const view = viewsOf([fcfs!])[0]!;
  const kinds = (id: string) => stretches(view.transfers.get(id)!, view.spans.get(id), view.end).map((x) => x.doing);
  assert.deepEqual(kinds("a"), ["moving"]);
  assert.deepEqual(kinds("c"), ["blocked", "moving"]);
  const halo = viewsOf([fixture("halo").runs[0]!])[0]!;
  const waits = halo.run.transfers.filter((t) => t.start_s! > t.ready_s!);
  assert.ok(waits.length > 0);
  for (const t of waits) assert.equal(stretches(t, halo.spans.get(t.id), halo.end)[0]!.doing, "waiting");
});

test("runs without phases move at their mean rates, and only slowed ones are held back", () => {
  const run = { ...fixture("t2").runs[0]!, phases: null, explain: null };
  const view = viewsOf([run])[0]!;
  assert.equal(view.exact, false);
  const a = view.spans.get("a")![0]!;
  assert.deepEqual([a.rate, a.delayed, a.at], [run.transfers[0]!.mean_Bps, true, { from: "k80a", to: "plx0" }]);
});

test("differences are against the first run, largest first", () => {
  const views = viewsOf(fixture("hol").runs);
  const all = differences(views);
  assert.deepEqual(
    all.map((d) => d.id),
    ["a", "d", "c"].sort((x, y) => size(y) - size(x) || (x < y ? -1 : 1)),
  );
  function size(id: string): number {
    return Math.max(...views.map((v) => Math.abs(v.transfers.get(id)!.end_s! - views[0]!.transfers.get(id)!.end_s!)));
  }
  assert.deepEqual(endCounts(views[0]!, views[1]!), {
    later: 2,
    earlier: 1,
    same: 1,
    only: 0,
    open: 0,
    closed: 0,
    neither: 0,
  });
  assert.deepEqual(endCounts(views[0]!, views[0]!), {
    later: 0,
    earlier: 0,
    same: 4,
    only: 0,
    open: 0,
    closed: 0,
    neither: 0,
  });
});

test("titles tell runs apart by what differs", () => {
  assert.deepEqual(
    viewsOf(fixture("hol").runs).map((v) => v.title),
    ["pcie-congestion", "fcfs", "max-min"],
  );
  assert.deepEqual(
    viewsOf(fixture("halo").runs).map((v) => `${v.letter} ${v.title}`),
    ["A 3-D halo on T2, file order", "B 3-D halo on T2, fastest order"],
  );
});

test("a link left out of the bins has its mean", () => {
  const run = aggregate(madeUp(500), { bins: 20 }) as unknown as Run;
  const [first] = run.aggregated!.links.splice(0, 1);
  const view = viewsOf([run])[0]!;
  assert.equal(onlyMean(view, first!.id), true);
  assert.equal(utilisation(view, first!.id, 0.5), meanUtilisation(view, first!.id));
});

test("aggregated bins keep the bytes", () => {
  const run = madeUp(3000);
  const small = aggregate(run, { bins: 100, most: 50 }) as unknown as Run;
  const a = small.aggregated!;
  const width = (a.to_s - a.from_s) / a.bins;
  const sum = (list: number[]) => list.reduce((x, y) => x + y, 0);
  near(sum(a.groups.map((g) => sum(g.rate_Bps) * width)), sum(run.transfers.map((t) => t.bytes)), 1e-3);
  assert.equal(sum(a.groups.map((g) => g.count)), 3000);
  assert.equal(small.transfers.length, 50);
  const view = viewsOf([small])[0]!;
  for (const l of run.links.filter((x) => x.bytes > 1e6))
    near(meanLoad(view.loads, l.id!, 0, run.makespan_s) * run.makespan_s, l.bytes, 0.02);
});

test("links of different topologies are the same where their ends are", () => {
  const [t2] = fixture("t2").runs as [Run];
  const [t1] = fixture("hol").runs as [Run];
  const [a, b] = viewsOf([t2, t1]) as [ReturnType<typeof viewsOf>[0], ReturnType<typeof viewsOf>[0]];
  for (const [number, link] of a.links) assert.equal(number, link.id);
  const key = (l: { from: string; to: string }) => `${l.from} ${l.to}`;
  const first = new Map([...a.links].map(([n, l]) => [key(l), n]));
  for (const [number, link] of b.links) {
    if (first.has(key(link))) assert.equal(number, first.get(key(link)));
    else assert.ok(!a.links.has(number));
  }
  assert.equal(b.links.size, t1.links.length);
  for (const l of t1.links) {
    const number = [...b.links].find(([, x]) => x === l)![0];
    near(meanLoad(b.loads, number, 0, t1.makespan_s) * t1.makespan_s, l.bytes, 1e-6);
  }
});

/** The run as `--json` without `--full` saves it. */
function short(run: Run): Run {
  return {
    ...run,
    nodes: null,
    phases: null,
    explain: null,
    transfers: run.transfers.map((t) => ({ ...t, route: undefined })),
    links: run.links.map(({ from, to, bytes, busy_s, peak_Bps }) => ({ from, to, bytes, busy_s, peak_Bps })),
  };
}

test("what a run without --full does not tell is not known, and not 0", () => {
  const run = fixture("t2").runs[0]!;
  const [a, b] = viewsOf([run, short(run)]) as [ReturnType<typeof viewsOf>[0], ReturnType<typeof viewsOf>[0]];
  for (const [id, l] of a.links) {
    assert.equal(knownOverTime(a, id), true);
    assert.equal(knownOverTime(b, id), l.bytes === 0);
    assert.equal(utilisation(b, id, 0.01), l.bytes === 0 ? 0 : null);
    assert.equal(meanUtilisation(b, id), l.bytes === 0 ? 0 : null);
  }
  assert.equal(hasRoutes(b), false);
});

test("transfers that did not end are counted, not passed over", () => {
  const run = fixture("t2").runs[0]!;
  const cut = run.makespan_s / 2;
  const stopped: Run = {
    ...run,
    complete: false,
    stopped_s: cut,
    transfers: run.transfers.map((t, i) => (i < 2 ? { ...t, end_s: null, end_ps: null } : t)),
  };
  const [a, b] = viewsOf([run, stopped]);
  const n = run.transfers.length;
  assert.equal(endedText(b!), `${n - 2} of ${n} transfers have ended`);
  const one = {
    ...stopped,
    transfers: stopped.transfers.map((t, i) => (i > 0 ? { ...t, end_s: null } : { ...t, end_s: cut })),
  };
  assert.equal(endedText(viewsOf([one])[0]!), `1 of ${n} transfers has ended`);
  assert.deepEqual(endCounts(a!, b!), { later: 0, earlier: 0, same: n - 2, only: 0, open: 2, closed: 0, neither: 0 });
  assert.equal(endCounts(b!, a!).closed, 2);
  assert.deepEqual(
    differences([a!, b!]).map((d) => d.open),
    [
      [false, true],
      [false, true],
    ],
  );
});
