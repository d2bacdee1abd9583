import assert from "node:assert/strict";
import test from "node:test";
import { aggregate } from "#tools/aggregate.mjs";
import type { Aggregated, CauseKind, Delays, Run } from "../../src/contract.ts";
import { whyAt } from "../../src/panels/delays.ts";
import { bestTitle, proof } from "../../src/panels/search.ts";
import { foremost, delayingLinks, unlisted, waited } from "../../src/run/delays.ts";
import { coverage, endedText, lossUnknown } from "../../src/run/coverage.ts";
import { viewsOf } from "../../src/run/view.ts";
import { causeOf, fixture, delaySums, madeUp } from "../fixture.ts";

const [pcie, fcfs, maxMin] = fixture("hol").runs as [Run, Run, Run];

/** A run that keeps 20 of 500 transfers, with sums over all. */
function summed(delays: Delays, ended = 400): Run {
  const run = aggregate(madeUp(500), { bins: 20, most: 20 }) as unknown as Run;
  return { ...run, aggregated: { ...run.aggregated!, delays, ended } };
}

/** As a run that Ctrl-C ended before the times alone were computed. */
const interrupted = (run: Run): Run => ({
  ...run,
  complete: false,
  stopped_s: run.makespan_s,
  transfers: run.transfers.map((t) => ({ ...t, alone_s: null })),
});

test("sums over all transfers stand for those that were kept", () => {
  const delays = delaySums([
    ["a", 3, 5, ["link shared", "head-of-line blocked"]],
    ["b", 1, 6, ["link shared"]],
  ]);
  const [view] = viewsOf([summed(delays)]);
  const links = delayingLinks([view!]);
  assert.deepEqual(
    links.map((l) => [l.key, l.runs[0]!.lost, l.runs[0]!.seconds, l.runs[0]!.why[0]]),
    [
      ["a → y", 3, 5, "link shared"],
      ["b → y", 1, 6, "link shared"],
    ],
  );
  assert.deepEqual(unlisted([view!]), [{ links: 4, sums: { seconds: 2, lost: 0.5, transfers: 7 } }]);
  assert.deepEqual(waited([view!]), [{ seconds: 9, transfers: 3, lost: 9 }]);
  assert.equal(coverage([view!]), "Over all 500 transfers; each counts wholly at its main bottleneck.");
  assert.equal(lossUnknown(view!), null);
});

test("how many have ended is said of all transfers, never of those kept", () => {
  const stopped = { ...summed(delaySums([])), complete: false };
  assert.equal(endedText({ run: stopped }), "400 of 500 transfers have ended");
  delete (stopped.aggregated as Partial<Aggregated>).ended;
  assert.equal(endedText({ run: stopped }), "");
});

test("where the time lost is not known, links are ranked by the time of holding back", () => {
  const delays = delaySums([
    ["a", 3, 5, ["link shared"]],
    ["b", null, 6, ["link shared"]],
  ]);
  const [view] = viewsOf([summed(delays)]);
  assert.deepEqual(
    delayingLinks([view!]).map((l) => l.key),
    ["b → y", "a → y"],
  );
  assert.equal(lossUnknown(view!), "time lost is not known");
});

test("an interrupted run counts transfers by their causes, with phases and without", () => {
  const causes: CauseKind[] = ["root-complex", "most-loaded-link", "shared-link"];
  const transfers = fcfs.transfers.map((t, i) => ({
    ...t,
    ...causeOf(causes[i] ?? "full-rate"),
    bottleneck: fcfs.transfers[1]!.bottleneck,
  }));
  const bare: Run = { ...fcfs, explain: null, transfers };
  for (const run of [bare, { ...bare, phases: null }]) {
    const [view] = viewsOf([interrupted(run)]);
    const [link, ...none] = delayingLinks([view!]);
    assert.equal(none.length, 0);
    assert.equal(link!.all.lost, null);
    assert.equal(link!.all.transfers, 3);
    assert.ok(link!.all.seconds > 0);
    assert.equal(lossUnknown(view!), "time lost is not known (the run was interrupted before it was computed)");
  }
  assert.equal(lossUnknown(viewsOf([fcfs])[0]!), null);
});

test("the first link of each run is among the links before the rest", () => {
  const names = [..."abcdefgh"];
  const big = delaySums(names.map((n, i) => [n, 100 - i, 100, ["link shared"]]));
  const small = delaySums([
    ["z", 2, 2, ["its port"]],
    ["a", 1, 1, ["its port"]],
  ]);
  const views = viewsOf([summed(big), summed(small)]);
  const [first, rest] = foremost(delayingLinks(views), 6, 3);
  assert.deepEqual(
    first.map((l) => l.ends.from),
    ["a", "b", "c", "d", "e", "f", "z"],
  );
  assert.deepEqual(
    rest.map((l) => l.ends.from),
    ["g", "h"],
  );
});

test("reasons say which run has which where runs differ", () => {
  const views = viewsOf([
    summed(delaySums([["a", 2, 2, ["link shared"]]])),
    summed(delaySums([["a", 1, 1, ["others have a higher priority"]]])),
    summed(delaySums([["b", 1, 1, ["link shared"]]])),
  ]);
  const [a, b] = delayingLinks(views);
  assert.equal(whyAt(a!, views), "A: link shared; B: others have a higher priority");
  assert.equal(whyAt(b!, views), "link shared");
});

test("reasons that cost as much as the first are told with it", () => {
  const at = (run: Run) => delayingLinks(viewsOf([run]))[0]!.runs[0]!;
  const t2 = at(fixture("t2").runs[0]!);
  // 36.946 ms · 0.7 of a, and 29.557 ms · (0.5 + 0.375) of a and b: 25.862 ms each.
  assert.deepEqual([t2.why, t2.equal], [["upstream port shared", "head-of-line blocked"], 2]);
  assert.equal(at(maxMin).equal, 1);
  assert.equal(at(pcie).equal, 1);
});

test("a proof names the objective where that is not the time", () => {
  const [order, placed] = fixture("results").searches;
  assert.match(proof(order!), /^Proved: no candidate is better\./);
  assert.equal(proof(placed!), "Proved for distance: no candidate is better.");
  assert.equal(proof({ ...placed!, proved_optimal: false }), "Not proved to be the best for distance.");
  assert.equal(bestTitle(order!), "best");
  assert.equal(bestTitle(placed!), "simulated time of the best placement by distance");
});
