import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { aggregate } from "#tools/aggregate.mjs";
import type { ReportData, Run } from "../../src/contract.ts";
import { causeOf, fixture, delaySums, madeUp } from "../fixture.ts";
import { browser, frames, open } from "./open.ts";

browser();

const withRuns = (...runs: Run[]): ReportData => ({ ...fixture("t2"), runs });
const worst = (page: Page, run = 0) => page.locator(`.card[data-run="${run}"]`).innerText();
const EVIL = "</script><b>before</b>\u202e.json";

test("where a run comes from is told in its card and, of one run, in the head; as text", async () => {
  const run = fixture("t2").runs[0]!;
  const one = await open(withRuns({ ...run, origin: "--until 5 ms" }), "one");
  assert.match(await one.page.locator(".from").innerText(), / · --until 5 ms$/);
  assert.match(await worst(one.page), /^makespan\s+--until 5 ms\s/);
  await one.page.close();

  const { page, complaints } = await open(withRuns(run, { ...run, origin: EVIL }, { ...run, origin: "after.json" }));
  assert.deepEqual(await page.locator(".card .origin").allInnerTexts(), [
    "</script><b>before</b>⟨U+202E⟩.json",
    "after.json",
  ]);
  assert.doesNotMatch(await page.locator(".from").innerText(), /json/);
  assert.equal(await page.locator("#app b:text-is('before')").count(), 0);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("a large run tells what holds all its transfers back, and how many have ended", async () => {
  const run = aggregate(madeUp(3000), { bins: 20, most: 20 }) as unknown as Run;
  const delays = delaySums([
    ["leaf1", 3, 5, ["link shared", "head-of-line blocked"]],
    ["leaf2", 1, 6, ["link shared"]],
  ]);
  const stopped = { ...run, complete: false, stopped_s: run.makespan_s };
  stopped.aggregated = { ...run.aggregated!, delays, ended: 2006 };
  const { page } = await open(withRuns(stopped));
  const words = await worst(page);
  assert.match(words, /2\u202f006 of 3\u202f000 transfers have ended/);
  assert.match(
    words,
    /most time is lost by waiting for engines: 9\.000 s by 3 transfers; then at leaf1 → y: 3\.000 s lost by 10 transfers, link shared \(over all 3\u202f000 /,
  );
  assert.match(await page.locator(".aggregated").innerText(), /: 2\u202f006 of 3\u202f000 transfers have ended\./);
  assert.match(await page.locator("#delays .note").innerText(), /Over all 3\u202f000 transfers; each counts wholly/);
  assert.doesNotMatch(await page.locator("#delays").innerText(), /kept/);
  const rows = await page.locator("#delays tbody tr").allInnerTexts();
  assert.deepEqual(
    rows.map((r) => r.trim().split("\t")),
    [
      ["leaf1 → y", "3.000 s", "5.000 s (10)", "link shared, head-of-line blocked"],
      ["leaf2 → y", "1.000 s", "6.000 s (10)", "link shared"],
      ["4 other links", "500.000 ms", "2.000 s"],
      ["waiting for an engine", "9.000 s", "9.000 s (3)", "an engine serves only so many at once"],
    ],
  );
  await page.close();
});

test("of an interrupted run the time lost is not known, and holding back is", async () => {
  const why = /time lost is not known \(the run was interrupted before it was computed\)/;
  for (const bare of [{}, { phases: null, explain: null }]) {
    const run = fixture("t2").runs[0]!;
    const transfers = run.transfers.map((t) => ({ ...t, alone_s: null }));
    const { page } = await open(withRuns({ ...run, ...bare, transfers, complete: false, stopped_s: run.makespan_s }));
    assert.match(await worst(page), /transfers are held back longest at .* → .*: held back for \d/);
    assert.match(await worst(page), why);
    assert.match(await page.locator("#delays .note").innerText(), why);
    const first = (await page.locator("#delays tbody tr").first().innerText()).split("\t");
    assert.equal(first[1], "–");
    assert.match(first[2]!, /ms \(\d\)$/);
    assert.doesNotMatch(await page.locator("main").innerText(), /no transfer is held back/i);
    await page.close();
  }
});

test("where time is lost only by waiting for engines the card says so", async () => {
  const run = fixture("t2").runs[0]!;
  const transfers = run.transfers.map((t, i) => ({
    ...t,
    ready_s: 0,
    start_s: i === 0 ? 0.028997 : 0,
    delay: t.delay && { ...t.delay, waiting_s: i === 0 ? 0.028997 : 0 },
    ...causeOf("own-limit"),
  }));
  const { page } = await open(withRuns({ ...run, phases: null, explain: null, transfers }));
  assert.match(await worst(page), /time is lost only by waiting for engines: 28\.997 ms/);
  assert.doesNotMatch(await worst(page), /no transfer is held back/);
  await page.close();
});

test("the first link of each card has a row in the table", async () => {
  for (const name of ["halo", "hol"]) {
    const { page } = await open(fixture(name), name);
    const heads = await page.locator(".card .worst button").allInnerTexts();
    const links = await page.locator("#delays tbody tr:not(.rest) td:first-child").allInnerTexts();
    assert.ok(heads.length > 1);
    for (const head of heads) assert.ok(links.includes(head), `${head} in ${links.join(", ")}`);
    await page.close();
  }
});

test("a very long name takes three lines, and the whole of it by a button", async () => {
  const long = `${"n".repeat(5000)} ${"word ".repeat(1000)}`;
  const run = { ...fixture("t2").runs[0]!, scenario: long };
  const order = { ...fixture("results").searches[0]!, scenario: long };
  for (const data of [withRuns(run, fixture("hol").runs[0]!), withRuns(run), { ...withRuns(), searches: [order] }]) {
    const { page } = await open(data);
    for (const selector of ["h1", ".card-title", "section h2", "figcaption", ".details"])
      for (const box of await page.locator(selector).all()) {
        const height = (await box.boundingBox())?.height ?? 0;
        assert.ok(height < 180, `${selector} is ${height} pixels high`);
      }
    const title = page.locator("h1");
    assert.equal(await title.locator("bdi").getAttribute("title"), long);
    assert.ok((await page.title()).length < 200);
    const more = title.getByRole("button");
    await more.click();
    await frames(page);
    assert.equal(await more.innerText(), "less");
    assert.ok((await title.boundingBox())!.height > 500);
    await more.click();
    await frames(page);
    assert.ok((await title.boundingBox())!.height < 160);
    await page.close();
  }
});

test("results of several kinds have their number as title, and their versions in the footer", async () => {
  const results = fixture("results");
  const order = results.searches[0]!;
  const { page } = await open({ ...fixture("t2"), searches: results.searches });
  assert.equal(await page.locator("h1").innerText(), "weir report: 4 results");
  assert.equal(await page.title(), "weir report: 4 results");
  const lines = await page.locator("footer li").allInnerTexts();
  assert.equal(lines.length, 4);
  assert.equal(lines[1], `${order.scenario}: weir ${order.version}, input ${order.input_sha256!.slice(0, 16)}`);
  await page.close();

  const { page: single } = await open({ ...withRuns(), searches: [order] }, "single");
  assert.equal(await single.locator("h1").innerText(), order.scenario);
  assert.match(await single.locator("footer").innerText(), /weir 0\.1\.0, input [0-9a-f]{16}/);
  await single.close();
});

test("searches by another objective name it, and gains are told in both measures", async () => {
  const { page } = await open(fixture("results"));
  const [order, placed] = [page.locator("#search-0"), page.locator("#search-1")];
  // 170.473 ms and 125.172 ms.
  assert.match(await order.innerText(), /the best takes 26\.6 % less time, 36\.2 % faster/);
  assert.match(await placed.innerText(), /Proved for distance: no candidate is better\./);
  assert.match(await placed.innerText(), /simulated time of the best placement by distance/);
  assert.match(await page.locator('[id^="tuned-"] tbody').innerText(), /\d % less time, \d+\.\d % faster/);
  await page.close();
});
