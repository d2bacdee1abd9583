import assert from "node:assert/strict";
import test from "node:test";
import { aggregate } from "#tools/aggregate.mjs";
import { pack } from "#tools/pack.mjs";
import type { ReportData, Run, Search } from "../../src/contract.ts";
import { fixture, madeUp } from "../fixture.ts";
import { MARKS, browser, frames, hover, open } from "./open.ts";

browser();

/** Every string of the data, and keys that are names, with a mark before it. */
function marked(value: unknown, named = false): unknown {
  if (typeof value === "string") return `\u202E${value}`;
  if (Array.isArray(value)) return value.map((v) => marked(v));
  if (typeof value !== "object" || value === null) return value;
  const names = ["rates_Bps", "order", "parameters", "params"];
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [
      named ? `\u202E${k}` : k,
      k === "direction" || k === "rates" ? v : marked(v, names.includes(k)),
    ]),
  );
}

test("marks in names, causes, kinds, steps and notes never act, in the page and in the box beside the pointer", async () => {
  const withoutSteps = { ...fixture("streams").runs[0]!, operations: [] };
  const packed = pack(fixture("hol").runs[2]!) as unknown as Run;
  const large = aggregate(madeUp(200), { bins: 20, most: 20 }) as unknown as Run;
  const runs = [fixture("t2").runs[0]!, large, ...fixture("gather").runs, withoutSteps, packed];
  const sweeps = fixture("sweep").sweeps!;
  const plain = { ...fixture("results"), runs, sweeps, aggregated: { notes: ["a note"] } };
  const { page, complaints } = await open(marked(plain) as ReportData, "marked");
  assert.deepEqual(complaints, []);
  const raw = () =>
    page.evaluate((marks) => {
      const found: string[] = [];
      const pattern = new RegExp(marks);
      const walk = document.createTreeWalker(document.getElementById("app")!, NodeFilter.SHOW_TEXT);
      for (let n = walk.nextNode(); n; n = walk.nextNode())
        if (pattern.test(n.nodeValue!)) found.push(`${n.parentElement!.outerHTML.slice(0, 200)}`);
      for (const e of document.querySelectorAll("[aria-label], [title]"))
        for (const a of ["aria-label", "title"])
          if (pattern.test(e.getAttribute(a) ?? "")) found.push(`${a} of ${e.tagName}`);
      return found;
    }, MARKS);
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
  await frames(page);
  await page.locator("#transfers .row-name").first().click();
  await frames(page);
  assert.deepEqual(await raw(), []);
  assert.ok((await page.locator("main").innerText()).includes("⟨U+202E⟩"));
  for (const row of [
    "#transfers [data-row='0']",
    "#engines [data-row='0']",
    "#engines [data-row='1']",
    "#groups [data-row='0']",
  ]) {
    const lines = await hover(page, page.locator(row), 0.02, 0.2);
    assert.ok(lines.length > 0, row);
    assert.deepEqual(await raw(), [], row);
  }
  for (const chart of await page.locator('svg.chart [tabindex="0"]').all()) {
    await chart.focus();
    await frames(page);
    assert.deepEqual(await raw(), []);
  }
  await page.close();
});

test("a search of 200 000 candidates is drawn, whether in a curve or in rows", async () => {
  const curve_s = Array.from({ length: 200_000 }, (_, i) => 1e-3 + i * 1e-9);
  const rows = curve_s.map((makespan_s, candidate) => ({
    candidate,
    parameters: {},
    makespan_s,
    best: candidate === 0,
  }));
  const [order] = fixture("results").searches;
  const search = { ...order!, candidates: 200_000, baseline_s: 1.1e-3, best_s: 1e-3, histogram: null };
  const searches = [
    { ...search, curve_s, rows: null },
    { ...search, curve_s: null, rows },
  ];
  const { page, complaints } = await open({ ...fixture("results"), searches: searches as Search[] }, "candidates");
  assert.deepEqual(complaints, []);
  for (const k of [0, 1]) {
    assert.equal(await page.locator(`#search-${k} svg.chart`).count(), 2);
    const marks = page.locator(`#search-${k} .marker[aria-label*="better candidates"]`);
    assert.match((await marks.first().getAttribute("aria-label"))!, /better candidates 50\.0 %/);
  }
  await page.close();
});

test("a table of 200 000 rows does not stop the page", async () => {
  const [first] = fixture("results").validated;
  const transfers = Array.from({ length: 200_000 }, (_, i) => first!.transfers[i % first!.transfers.length]!);
  const { page, complaints } = await open({ ...fixture("results"), validated: [{ ...first!, transfers }] }, "table");
  assert.deepEqual(complaints, []);
  assert.equal(await page.locator("#validated-0 tbody tr").count(), 1000);
  assert.match(await page.locator("#validated-0").innerText(), /and 199.000 more/);
  await page.close();
});
