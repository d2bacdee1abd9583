import assert from "node:assert/strict";
import test from "node:test";
import { aggregate } from "#tools/aggregate.mjs";
import type { Cause, CauseKind, Run } from "../../src/contract.ts";
import * as format from "../../src/core/format.ts";
import { fitted, linkForms } from "../../src/core/measure.ts";
import { meanRate, membersOf } from "../../src/panels/details-group.ts";
import { busier } from "../../src/panels/summary.ts";
import { bottleneckOf } from "../../src/run/alone.ts";
import { delayingLinks, delaysOf, rateAlone, total, waited } from "../../src/run/delays.ts";
import { type RunView, viewsOf } from "../../src/run/view.ts";
import { kindOf, mainCause, reasonOf, stepText, termsOf } from "../../src/run/words.ts";
import { causeOf, fixture, madeUp } from "../fixture.ts";

const sum = (list: number[]) => list.reduce((a, b) => a + b, 0);
const near = (a: number, b: number, by: number) => assert.ok(Math.abs(a - b) <= by, `${a} and ${b}`);

test("the time that a transfer loses at links is its delay against its time alone", () => {
  for (const name of ["t2", "hol", "lateral", "gather"])
    for (const view of viewsOf(fixture(name).runs))
      for (const t of view.run.transfers) {
        const delay = t.end_s! - t.start_s! - t.alone_s!;
        const lost = sum([...delaysOf(view, t).values()].map((x) => x.lost!));
        near(lost, Math.max(0, delay), 1e-6 * t.end_s!);
      }
});

/** A made-up run of one transfer that others hold back, over two links with a latency of 50 µs each. */
function heldBack(transfer: Partial<Run["transfers"][number]>, fidelity: Run["fidelity"] = null): RunView {
  const run = madeUp(1);
  const links = run.links.map((l) => ({ ...l, latency_s: 50e-6 }));
  const at = links[run.transfers[0]!.route![0]!]!;
  const own = { route: run.transfers[0]!.route!.slice(0, 2), bottleneck: { from: at.from, to: at.to } };
  const transfers = [{ ...run.transfers[0]!, ...causeOf("shared-link"), ...own, ready_s: 0, ...transfer }];
  return viewsOf([{ ...run, fidelity, links, transfers }])[0]!;
}

const lostAtLinks = (view: RunView) => sum([...delaysOf(view, view.run.transfers[0]!).values()].map((x) => x.lost!));

test("latencies of the route are no time lost, by rates and by packets", () => {
  // Of 10 kB at 1 GB/s that another held up for 5 µs.
  const times = { bytes: 10_000, start_s: 0, end_s: 115e-6, alone_s: 110e-6 };
  const byRates = heldBack({ ...times, mean_Bps: 10_000 / 15e-6 });
  const byPackets = heldBack({ ...times, mean_Bps: 10_000 / 115e-6, sent_s: 14e-6 }, "packet");
  for (const view of [byRates, byPackets]) near(lostAtLinks(view), 5e-6, 1e-12);
});

test("a transfer that its source takes long to issue is held back though it took less than alone under way", () => {
  // Issued in 300 µs; 10 kB at 1 GB/s and 100 µs of latencies are 110 µs alone, and it took 5 µs more.
  const delay = { waiting_s: 0, blocked_s: 0, cut_s: 5e-6, own_limit_s: 0 };
  const times = { bytes: 10_000, start_s: 300e-6, end_s: 415e-6, alone_s: 410e-6 };
  near(lostAtLinks(heldBack({ ...times, delay, mean_Bps: 10_000 / 15e-6 })), 5e-6, 1e-12);
});

test("of a link whose two directions are widened, the one that carried more is named", () => {
  const [view] = viewsOf(fixture("t2").runs);
  const [first, second] = [view!.run.links[0]!, view!.run.links[1]!];
  assert.deepEqual([second.from, second.to], [first.to, first.from]);
  const wider = { from: first.from, to: first.to };
  for (const [up, down, from] of [
    [10, 0, first.from],
    [0, 10, second.from],
  ] as const) {
    const links = [{ ...first, bytes: up }, { ...second, bytes: down }, ...view!.run.links.slice(2)];
    const [changed] = viewsOf([{ ...view!.run, links }]);
    assert.equal(busier(changed!, wider).from, from);
  }
});

test("links are ranked by what they cost, as computed by hand for four transfers", () => {
  const [view] = viewsOf(fixture("t2").runs);
  const [first, second] = [36.945812807, 66.502463055 - 36.945812807];
  // Alone a, c and d have 11.6 GB/s; b crosses the root complex, where tau is 1/5.
  const expected = [
    ["k80a → plx0", first * (1 - 0.3) + second * (1 - 0.5) + second * (1 - 0.5 / 0.8), first + 2 * second, 2],
    ["plx1 → k80c", first * (1 - 0.3 / 0.8) + first * (1 - 0.7), 2 * first, 2],
    ["k80b → gpu2", first * (1 - 0.7), first, 1],
  ] as const;
  const links = delayingLinks([view!]);
  assert.deepEqual(
    links.map((l) => l.key),
    expected.map(([key]) => key),
  );
  links.forEach((l, i) => {
    const [, lost, seconds, transfers] = expected[i]!;
    near(l.all.lost! * 1000, lost, 1e-6);
    near(l.all.seconds * 1000, seconds, 1e-6);
    assert.equal(l.all.transfers, transfers);
    const { why: _, equal: __, ...delay } = l.runs[0]!;
    assert.deepEqual(l.all, delay);
  });
  assert.deepEqual(links[0]!.runs[0]!.why, ["upstream port shared", "head-of-line blocked"]);
  assert.equal(rateAlone(view!, view!.transfers.get("a")!)!.toPrecision(6), "1.16000e+10");
});

test("sums over links, and waiting for engines, per run", () => {
  const views = viewsOf(fixture("halo").runs);
  const links = delayingLinks(views);
  for (const [i, view] of views.entries()) {
    const all = total(links.map((l) => l.runs[i]!));
    const each = view.run.transfers.flatMap((t) => [...delaysOf(view, t).values()]);
    near(all.seconds, sum(each.map((x) => x.seconds)), 1e-9);
    assert.equal(all.transfers, each.length);
    const waits = view.run.transfers.map((t) => t.delay!.waiting_s);
    near(waited(views)[i]!.seconds, sum(waits), 1e-9);
    assert.equal(waited(views)[i]!.transfers, waits.filter((w) => w > 0).length);
  }
  const unknown = viewsOf(
    fixture("t2").runs.map((r) => ({ ...r, transfers: r.transfers.map((t) => ({ ...t, alone_s: null })) })),
  );
  assert.equal(delayingLinks(unknown)[0]!.all.lost, null);
});

test("a transfer that lost most in a queue names the engine and no link", () => {
  const a = viewsOf(fixture("t2").runs)[0]!.transfers.get("a")!;
  assert.equal(mainCause(a), "head-of-line blocked behind b");
  const cause_detail: Cause = { kind: "engine-busy", link: null, by: "b", engine: "gpu0/send" };
  const queued = { ...a, cause: "queued behind b", cause_detail };
  assert.equal(mainCause(queued), "queued behind b at gpu0/send");
  assert.equal(bottleneckOf(queued), null);
  assert.deepEqual(bottleneckOf(a), a.bottleneck);
  // What it lost at its link has the link's reason.
  const later = { ...queued, cause_detail: { ...cause_detail, at_bottleneck: "shared-link" as const } };
  const span = { from: 0, to: 1, rate: 1, at: a.bottleneck, step: null, because: [], delayed: true };
  assert.equal(reasonOf(viewsOf(fixture("t2").runs)[0]!, later, span), "link shared");
});

test("every cause of the fixtures has a meaning, and so have the steps that arbiters describe", () => {
  for (const name of ["t2", "halo", "hol", "lateral", "gather", "streams"]) {
    const views = viewsOf(fixture(name).runs);
    const { steps, causes } = termsOf(views);
    const kinds = new Set(views.flatMap((v) => v.run.transfers.flatMap((t) => kindOf(t) ?? [])));
    const explained = new Set(causes.map(([kind]) => kind));
    for (const kind of kinds) assert.ok(explained.has(kind), kind);
    assert.deepEqual(
      steps.map(([arbiter]) => arbiter).sort(),
      [...new Set(views.filter((v) => v.run.arbiter.legend).map((v) => v.run.arbiter.name))].sort(),
    );
  }
  const of = (kind: CauseKind) =>
    kindOf({ ...viewsOf(fixture("t2").runs)[0]!.run.transfers[0]!, cause_detail: { kind, link: null, by: "c" } });
  assert.deepEqual((["earlier-transfer", "higher-priority", "shared-link", "own-limit"] as const).map(of), [
    "waits for an earlier transfer",
    "others have a higher priority",
    "link shared",
    "its own limit",
  ]);
  const [pcie, fcfs, maxMin] = viewsOf(fixture("hol").runs);
  assert.equal(stepText(pcie!, "D (8)"), "D (8): head-of-line blocked");
  assert.equal(stepText(fcfs!, "D (8)"), "D (8)", "an arbiter without a legend has no words for steps");
  const t = maxMin!.run.transfers[0]!;
  assert.equal(reasonOf(maxMin!, t, maxMin!.spans.get(t.id)![0]!), "link shared");
});

test("a port that the root complex narrows is called so, as the result does", () => {
  const [halo] = viewsOf(fixture("halo").runs);
  const reasons = (id: string) => {
    const t = halo!.transfers.get(id)!;
    return halo!.spans.get(id)!.map((span) => reasonOf(halo!, t, span));
  };
  assert.deepEqual(reasons("h.0-4"), ["root complex, shared"]);
  assert.deepEqual(reasons("h.0-2"), ["upstream port shared"]);
});

test("names of links lose their paths before they are cut", () => {
  const forms = linkForms("core/leaf4/h1", "leaf4");
  assert.deepEqual(forms, ["core/leaf4/h1 → leaf4", "…/leaf4/h1 → leaf4", "…/h1 → leaf4"]);
  const within = (most: number) => (text: string) => text.length <= most;
  assert.equal(fitted(forms, within(30), 6), forms[0]);
  assert.equal(fitted(forms, within(14), 6), "…/h1 → leaf4");
  assert.equal(fitted(forms, within(8), 6), "…/h1 → …");
  assert.equal(fitted(forms, within(5), 6), "");
});

test("the kept transfers of a group are those that the data say", () => {
  const run = aggregate(madeUp(300), { bins: 20, most: 300 }) as unknown as Run;
  const [view] = viewsOf([run]);
  for (const g of run.aggregated!.groups) assert.equal(membersOf(view!, g.name).length, g.count);
});

test("the writer says in which group each kept transfer is, also among the others", () => {
  const run = aggregate(madeUp(300), { bins: 20, most: 50, mostGroups: 5 }) as unknown as Run;
  const [view] = viewsOf([run]);
  const { groups, group_of } = run.aggregated!;
  assert.equal(groups.length, 5);
  assert.match(groups.at(-1)!.name, /^\d+ others$/);
  assert.equal(sum(groups.map((g) => g.count)), 300);
  assert.equal(group_of.length, 50);
  const own = new Set(groups.map((g) => g.name));
  const others = run.transfers.filter((t) => !own.has(t.from));
  assert.ok(others.length > 0);
  assert.deepEqual(membersOf(view!, groups.at(-1)!.name), others);
  for (const g of groups.slice(0, -1))
    assert.deepEqual(
      membersOf(view!, g.name),
      run.transfers.filter((t) => t.from === g.name),
    );
});

test("a group of a stopped run has what was sent, until the stop where something is under way", () => {
  const full = madeUp(200, 1, 2);
  const stop = 0.5;
  const transfers = full.transfers.map((t) => {
    if (t.end_s! <= stop) return t;
    if (t.start_s! >= stop) return { ...t, start_s: null, end_s: null, mean_Bps: null, sent_bytes: 0 };
    return { ...t, end_s: null, sent_bytes: Math.floor(t.mean_Bps! * (stop - t.start_s!)) };
  });
  const late = transfers.map((t) => ({ ...t, start_s: null, end_s: null, mean_Bps: null, sent_bytes: 0 }));
  const cut = { ...full, complete: false, stopped_s: stop, makespan_s: 0 };
  const [view, nothing] = viewsOf(
    [transfers, late].map((list) => aggregate({ ...cut, transfers: list }, { bins: 50 }) as unknown as Run),
  );
  for (const g of view!.run.aggregated!.groups) {
    const mine = transfers.filter((t) => t.from === g.name);
    const bytes = sum(
      mine.map((t) => (t.start_s === null ? 0 : ((t as { sent_bytes?: number }).sent_bytes ?? t.bytes))),
    );
    assert.equal(g.bytes, bytes);
    const start = Math.min(...mine.map((t) => t.start_s ?? Infinity));
    assert.equal(meanRate(view!, g), `${format.rate(bytes / (stop - start))} in sum, from first start to the stop`);
  }
  const [g] = nothing!.run.aggregated!.groups;
  assert.deepEqual([g!.start_s, g!.end_s, g!.bytes, meanRate(nothing!, g!)], [null, null, 0, "–"]);
});
