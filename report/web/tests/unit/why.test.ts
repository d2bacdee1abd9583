import assert from "node:assert/strict";
import test from "node:test";
import { aggregate } from "#tools/aggregate.mjs";
import type { Run } from "../../src/contract.ts";
import { fitted, linkForms } from "../../src/core/measure.ts";
import { membersOf } from "../../src/panels/details-group.ts";
import { heldLinks, heldOf, rateAlone, total, waited } from "../../src/run/back.ts";
import { viewsOf } from "../../src/run/view.ts";
import { kindOf, mainCause, reasonOf, stepText, termsOf } from "../../src/run/words.ts";
import { fixture, madeUp } from "../fixture.ts";

const sum = (list: number[]) => list.reduce((a, b) => a + b, 0);
const near = (a: number, b: number, by: number) => assert.ok(Math.abs(a - b) <= by, `${a} and ${b}`);

test("the time that a transfer loses at links is its delay against its time alone", () => {
  for (const name of ["t2", "hol", "lateral", "gather"])
    for (const view of viewsOf(fixture(name).runs))
      for (const t of view.run.transfers) {
        const delay = t.end_s! - t.start_s! - t.alone_s!;
        const lost = sum([...heldOf(view, t).values()].map((x) => x.lost!));
        near(lost, Math.max(0, delay), 1e-6 * t.end_s!);
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
  const links = heldLinks([view!]);
  assert.deepEqual(
    links.map((l) => l.key),
    expected.map(([key]) => key),
  );
  links.forEach((l, i) => {
    const [, lost, seconds, transfers] = expected[i]!;
    near(l.all.lost! * 1000, lost, 1e-6);
    near(l.all.seconds * 1000, seconds, 1e-6);
    assert.equal(l.all.transfers, transfers);
    assert.deepEqual(l.all, l.runs[0]);
  });
  assert.deepEqual(links[0]!.why, ["upstream port shared", "head-of-line blocked"]);
  assert.equal(rateAlone(view!, view!.transfers.get("a")!)!.toPrecision(6), "1.16000e+10");
});

test("sums over links, and waiting for engines, per run", () => {
  const views = viewsOf(fixture("halo").runs);
  const links = heldLinks(views);
  for (const [i, view] of views.entries()) {
    const all = total(links.map((l) => l.runs[i]!));
    const each = view.run.transfers.flatMap((t) => [...heldOf(view, t).values()]);
    near(all.seconds, sum(each.map((x) => x.seconds)), 1e-9);
    assert.equal(all.transfers, each.length);
    const waits = view.run.transfers.map((t) => t.start_s! - t.ready_s!);
    near(waited(views)[i]!.seconds, sum(waits), 1e-9);
    assert.equal(waited(views)[i]!.transfers, waits.filter((w) => w > 0).length);
  }
  const unknown = viewsOf(
    fixture("t2").runs.map((r) => ({ ...r, transfers: r.transfers.map((t) => ({ ...t, alone_s: null })) })),
  );
  assert.equal(heldLinks(unknown)[0]!.all.lost, null);
});

test("a transfer that waited longer than it lost says so first", () => {
  const views = viewsOf(fixture("halo").runs);
  const b = views[1]!;
  const long = b.run.transfers.find((t) => t.start_s! - t.ready_s! > t.end_s! - t.start_s!)!;
  assert.match(mainCause(b, long), /^waited \d+\.\d{3} ms for an engine; /);
  const a = viewsOf(fixture("t2").runs)[0]!;
  assert.equal(mainCause(a, a.transfers.get("a")!), "head-of-line blocked behind b");
});

test("every cause of the fixtures has a meaning, and each step of the PCIe policy", () => {
  for (const name of ["t2", "halo", "hol", "lateral", "gather", "streams"]) {
    const views = viewsOf(fixture(name).runs);
    const { steps, causes } = termsOf(views);
    const kinds = new Set(views.flatMap((v) => v.run.transfers.filter((t) => t.cause).map((t) => kindOf(t.cause!))));
    assert.deepEqual(new Set(causes.map(([kind]) => kind)), kinds);
    assert.equal(
      steps.length > 0,
      views.some((v) => v.run.arbiter.name === "pcie-congestion"),
    );
  }
  const kinds = ["waits for x with y", "c has a higher priority", "link shared with a behind b", "its own limit"].map(
    kindOf,
  );
  assert.deepEqual(kinds, [
    "waits for an earlier transfer",
    "others have a higher priority",
    "link shared",
    "its own limit",
  ]);
  const [pcie, fcfs, maxMin] = viewsOf(fixture("hol").runs);
  assert.equal(stepText(pcie!, "D (8)"), "D (8): head-of-line blocked");
  assert.equal(stepText(fcfs!, "D (8)"), "D (8)", "steps of others are not those of PCIe");
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

test("the kept transfers of a group are those from its node, or from below it", () => {
  const run = aggregate(madeUp(300), { bins: 20, most: 300 }) as unknown as Run;
  const [view] = viewsOf([run]);
  for (const g of run.aggregated!.groups) assert.equal(membersOf(view!, g.name).length, g.count);
  run.aggregated!.by = "the node above their source";
  const above = membersOf(view!, "leaf3");
  assert.deepEqual(
    above.map((t) => t.id),
    run.transfers.filter((t) => t.from.startsWith("leaf3/")).map((t) => t.id),
  );
  assert.ok(above.length > 0);
  assert.deepEqual(membersOf(view!, "12 others"), []);
});
