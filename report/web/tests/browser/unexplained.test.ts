import assert from "node:assert/strict";
import test from "node:test";
import { aggregate } from "#tools/aggregate.mjs";
import type { ReportData, Run } from "../../src/contract.ts";
import { causeOf, fixture, madeUp } from "../fixture.ts";
import { browser, frames, hover, open, said } from "./open.ts";

browser();

const [pcie, fcfs] = fixture("hol").runs as [Run, Run];
const withRuns = (...runs: Run[]): ReportData => ({ ...fixture("hol"), runs });
const WHOLLY = /each transfer counts wholly at its main bottleneck/i;

test("a run with phases and no explanations tells what holds back, and from what it knows that", async () => {
  const { page, complaints } = await open(withRuns({ ...fcfs, explain: null }));
  assert.match(
    await page.locator(".card .worst").innerText(),
    /^most time is lost at plx80 → k80c: .* lost by 2 transfers/,
  );
  assert.match(await page.locator(".card .worst").innerText(), WHOLLY);
  assert.match(await page.locator("#delays .note").innerText(), WHOLLY);
  const lines = await hover(page, page.locator('#transfers [data-row="1"]'), 0.1);
  assert.equal(said(lines, "main bottleneck"), "k80a → plx80");
  await page.locator('#transfers [data-row="1"] .row-name').click();
  await frames(page);
  assert.match(await page.locator(".details .spent").innerText(), WHOLLY);
  assert.doesNotMatch(await page.locator(".details .now").innerText(), /decided at/);
  assert.deepEqual(complaints, []);
  await page.close();

  const told = await open(withRuns(pcie), "told");
  assert.doesNotMatch(await told.page.locator("main").innerText(), WHOLLY);
  await told.page.close();
});

test("a stopped run: what stood still was blocked, and what never was ready says so", async () => {
  const at = 0.02;
  const transfers = fcfs.transfers.map((t, i) => ({
    ...t,
    ...(i === 3 ? { ready_s: null, start_s: null, cause: null, cause_detail: null, bottleneck: null } : {}),
    end_s: null,
    end_ps: null,
    sent_bytes: i === 0 ? 232e6 : 0,
    mean_Bps: i === 0 ? 11.6e9 : i === 3 ? null : 0,
  }));
  const { phases, explain, ...rest } = fcfs;
  const { page } = await open(
    withRuns({ ...rest, transfers, complete: false, stopped_s: at, makespan_s: 0, makespan_ps: 0 }),
  );
  assert.match(await page.locator(".card").innerText(), /0 of 4 transfers have ended/);
  assert.match(
    await page.locator(".card .worst").innerText(),
    /20\.000 ms lost by 1 transfer, waits for an earlier transfer/,
  );
  const blocked = await hover(page, page.locator('#transfers [data-row="1"]'), 0.5);
  assert.equal(said(blocked, "main bottleneck"), "k80a → plx80");
  const never = await hover(page, page.locator('#transfers [data-row="3"]'), 0.5);
  assert.equal(said(never, "main cause"), "never ready in this run");
  assert.equal(said(never, "state"), "never ready in this run");
  await page.close();
});

test("transfers that only hidden runs have get no rows", async () => {
  const other = { ...pcie, transfers: [...pcie.transfers, { ...pcie.transfers[0]!, id: "only here" }] };
  const { page } = await open(withRuns(fcfs, other));
  const rows = page.locator("#transfers .row .id");
  assert.ok((await rows.allInnerTexts()).includes("only here"));
  const lines = await hover(page, page.locator('#transfers [data-row="4"]'), 0.1, 0.2);
  assert.equal(lines[0], "not in run A");
  await page.getByLabel("Show run B").uncheck();
  await frames(page);
  assert.deepEqual(await rows.allInnerTexts(), ["a", "b", "c", "d"]);
  await page.close();
});

test("links beyond the first are put together in a row that is empty where others are", async () => {
  const streams = fixture("lateral").runs[0]!;
  const free = {
    ...streams,
    explain: null,
    transfers: streams.transfers.map((t) => ({ ...t, ...causeOf("own-limit") })),
  };
  const { page } = await open(withRuns(streams, free));
  const rest = await page.locator("#delays tr.rest td").allInnerTexts();
  assert.match(rest[0]!, /other links?$/);
  assert.notEqual(rest[1], "–");
  assert.deepEqual(rest.slice(3, 5), ["–", "–"]);
  await page.close();
});

test("a group of a stopped run has dashes for what has not come", async () => {
  const run = aggregate(madeUp(200), { bins: 20, most: 20 }) as unknown as Run;
  Object.assign(run.aggregated!.groups[0]!, { start_s: null, end_s: null, bytes: 0 });
  const { page, complaints } = await open(withRuns({ ...run, complete: false, stopped_s: run.makespan_s }));
  const lines = await hover(page, page.locator('#groups [data-row="0"]'), 0.5);
  assert.equal(said(lines, "first start, last end"), "–, –");
  await page.locator('#groups [data-row="0"] .row-name').click();
  await frames(page);
  assert.deepEqual((await page.locator(".details dd").allInnerTexts()).slice(2, 5), ["–", "–", "–"]);
  assert.deepEqual(complaints, []);
  await page.close();
});
