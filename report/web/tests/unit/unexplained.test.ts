import assert from "node:assert/strict";
import test from "node:test";
import { pack } from "#tools/pack.mjs";
import type { Run, Transfer } from "../../src/contract.ts";
import { meansNote } from "../../src/panels/runs.ts";
import { delayingLinks } from "../../src/run/delays.ts";
import { lacks, spanAt, tellsDelays, viewsOf, wholly } from "../../src/run/view.ts";
import { doingAt, stretches } from "../../src/run/state.ts";
import { mainCause, reasonOf, termsOf } from "../../src/run/words.ts";
import { causeOf, fixture } from "../fixture.ts";

const near = (a: number, b: number, by: number) => assert.ok(Math.abs(a - b) <= by, `${a} and ${b}`);
const [pcie, fcfs, maxMin] = fixture("hol").runs as [Run, Run, Run];
/** One of the fixture's steps of 51.7 ms is a transfer of 600 MB at 11.6 GB/s. */
const STEP = 0.3 / 11.6;

/** As `--until` prints it: rates until then, ends that were not reached absent. */
function stopped(run: Run, at: number, sent: Record<string, number>): Run {
  const transfers = run.transfers.map((t): Transfer => {
    const sent_bytes = Math.floor(sent[t.id] ?? 0);
    return { ...t, end_s: null, end_ps: null, sent_bytes, mean_Bps: sent_bytes / at };
  });
  const { phases, explain, ...rest } = run;
  return { ...rest, transfers, complete: false, stopped_s: at, makespan_s: 0, makespan_ps: 0 };
}

test("phases without explanations: what is slower than alone is held back, at its main bottleneck", () => {
  const bare: Run = { ...fcfs, explain: null };
  for (const run of [bare, pack(bare) as unknown as Run]) {
    const [view] = viewsOf([run]);
    assert.equal(view!.explained, false);
    // b waits for a (600 MB), c for a and b, d for a, b and c: each served alone at its full rate.
    const lost = new Map(delayingLinks([view!]).map((l) => [l.key, l.all]));
    near(lost.get("k80a → plx80")!.lost!, 2 * STEP, 1e-6);
    near(lost.get("plx80 → k80c")!.lost!, 3 * STEP + 4 * STEP, 1e-6);
    assert.equal(lost.size, 2);
    assert.equal(spanAt(view!, "a", 0.01)!.delayed, false);
    assert.equal(spanAt(view!, "b", 0.06)!.delayed, false, "at its full rate");
    assert.match(wholly([view!]), /^Each transfer counts wholly at its main bottleneck/);
  }
});

test("packed without reasons, the links that decide are known, and rates tell who is held back", () => {
  const { packed, ...rest } = pack(fcfs) as unknown as Run;
  const spans = packed!.spans.map((s) => s.map((v, i) => (i % 5 === 4 ? -1 : v)));
  const [view] = viewsOf([{ ...rest, packed: { ...packed!, reasons: [], spans } }]);
  const [told] = viewsOf([fcfs]);
  assert.equal(view!.explained, true);
  for (const phase of fcfs.phases!)
    for (const id of Object.keys(phase.rates_Bps)) {
      const [seen, truth] = [view!, told!].map((v) => spanAt(v, id, (phase.start_s + phase.end_s) / 2)!);
      assert.deepEqual([seen!.delayed, seen!.at], [truth!.delayed, truth!.at]);
    }
});

test("a transfer at its own limit is not held back by others, though its rate alone were higher", () => {
  const own = fcfs.transfers.map((t) => ({ ...t, ...causeOf("own-limit") }));
  assert.deepEqual(delayingLinks(viewsOf([{ ...fcfs, explain: null, transfers: own }])), []);
  assert.deepEqual(delayingLinks(viewsOf([{ ...fcfs, explain: null, phases: null, transfers: own }])), []);
});

test("of several runs those are named that lack explanations or phases", () => {
  const plain: Run = { ...maxMin, explain: null, phases: null };
  const views = viewsOf([pcie, { ...fcfs, explain: null }, plain]);
  assert.match(wholly(views), /^In B, C each transfer counts wholly at its main bottleneck/);
  assert.equal(wholly(views.slice(0, 1)), "");
  assert.equal(meansNote(views.slice(0, 2)), null);
  assert.equal(meansNote(views), "Bars of C have the mean rates of transfers: the data hold no phases of them.");
  assert.match(meansNote(views.slice(2))!, /^Bars have the mean rates/);
});

test("transfers that did not end are held back where they were slower than alone, or stood still", () => {
  const at = 0.02;
  const [view] = viewsOf([stopped(fcfs, at, { a: 11.6e9 * at })]);
  const links = delayingLinks([view!]);
  assert.deepEqual(
    links.map((l) => [l.key, l.all.transfers]),
    [
      ["plx80 → k80c", 2],
      ["k80a → plx80", 1],
    ],
  );
  near(links[0]!.all.seconds, 2 * at, 1e-12);
  near(links[0]!.all.lost!, 2 * at, 1e-12);
  assert.deepEqual(links[0]!.runs[0]!.why, ["waits for an earlier transfer"]);
  const b = view!.transfers.get("b")!;
  assert.equal(doingAt(b, stretches(b, view!.spans.get("b"), view!.end), 0.01), "blocked");
  assert.equal(view!.spans.get("a")![0]!.delayed, false);

  // Max-min gives a 7.733 GB/s of the 11.6 GB/s that it has alone.
  const [shared] = viewsOf([stopped(maxMin, at, { a: (11.6e9 / 3) * 2 * at, b: (11.6e9 / 3) * at })]);
  near(delayingLinks([shared!]).find((l) => l.key === "k80a → plx80")!.all.lost!, at / 3, 1e-9);
});

test("a byte that is rounded down holds nothing back", () => {
  const shared = maxMin.transfers.map((t) => ({
    ...t,
    bottleneck: t.bottleneck ?? { from: "a", to: "b" },
    ...causeOf("shared-link"),
  }));
  const sent = Object.fromEntries(shared.map((t) => [t.id, 11.6e9 * 1e-6 - 1]));
  assert.deepEqual(delayingLinks(viewsOf([stopped({ ...maxMin, transfers: shared }, 1e-6, sent)])), []);
});

test("without time alone and cause it is not known what holds transfers back", () => {
  const unknown = fcfs.transfers.map((t) => ({
    ...t,
    alone_s: null,
    cause: null,
    cause_detail: null,
    bottleneck: null,
  }));
  const [blind, told] = viewsOf([{ ...fcfs, explain: null, transfers: unknown }, fcfs]);
  assert.equal(tellsDelays(blind!), false);
  assert.equal(tellsDelays(told!), true);
});

test("reasons are words, whatever the steps of an arbiter are called", () => {
  const explain = maxMin.explain!.map((p) => ({
    ...p,
    transfers: p.transfers.map((t) => ({ ...t, steps: t.steps.map((s) => ({ ...s, step: "priority 0" })) })),
  }));
  const views = viewsOf([{ ...maxMin, arbiter: { name: "strict-priority", version: "0", params: {} }, explain }, fcfs]);
  for (const view of views) {
    const delayed = view.run.transfers.flatMap((t) =>
      (view.spans.get(t.id) ?? []).filter((x) => x.delayed).map((x) => reasonOf(view, t, x)),
    );
    assert.ok(delayed.length > 0);
    const words = new Set(termsOf([view]).causes.map(([term]) => term));
    for (const why of delayed) {
      assert.ok(["link shared", "waits for an earlier transfer"].includes(why), why);
      assert.ok(words.has(why), `${why} is explained`);
    }
  }
  const [view] = views;
  const t = { ...view!.run.transfers[1]!, ...causeOf("full-rate") };
  assert.equal(reasonOf(view!, t, view!.spans.get(t.id)![0]!), "held back by others");
});

test("a transfer that never became ready says so, and one that was not kept is not said to be absent", () => {
  const t = {
    ...fcfs.transfers[0]!,
    ready_s: null,
    start_s: null,
    end_s: null,
    mean_Bps: null,
    cause: null,
    cause_detail: null,
  };
  const [view] = viewsOf([{ ...fcfs, explain: null, phases: null, transfers: [t] }]);
  assert.equal(mainCause(t), "never ready in this run");
  const aggregated = { transfers: 5, kept: "the 1 longest", groups: [], links: [], bins: 1, from_s: 0, to_s: 1 };
  const part = {
    ...fcfs,
    transfers: [t],
    aggregated: { ...aggregated, rates: "means", by: "source" },
  } as unknown as Run;
  assert.equal(lacks(viewsOf([part])[0]!), "not kept in A");
  assert.equal(lacks(view!, "run "), "not in run A");
});
