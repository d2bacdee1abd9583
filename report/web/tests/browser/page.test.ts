import assert from "node:assert/strict";
import test from "node:test";
import { aggregate } from "#tools/aggregate.mjs";
import { pack } from "#tools/pack.mjs";
import { page as writePage } from "#tools/page.mjs";
import type { ReportData, Run } from "../../src/contract.ts";
import { visible } from "../../src/core/dom.ts";
import * as format from "../../src/core/format.ts";
import { fixture, madeUp } from "../fixture.ts";
import { MARKS, browser, embedded, frames, hover, open, said } from "./open.ts";

browser();

const withRuns = (...runs: Run[]): ReportData => ({
  weir: 1,
  runs,
  searches: [],
  tuned: [],
  validated: [],
  aggregated: null,
});

test("hostile names are shown as text and never run", async () => {
  const { page, complaints } = await open(fixture("hostile"));
  const run = fixture("hostile").runs[0]!;
  assert.deepEqual(complaints, []);
  assert.equal(await page.evaluate(() => "hacked" in window), false);
  assert.equal(await page.locator("img, #app script, #app b:has-text('root'), iframe").count(), 0);
  assert.equal(await page.locator("h1 bdi").innerText(), visible(run.scenario));
  for (const [row, t] of run.transfers.entries()) {
    assert.equal(await page.locator(`#transfers [data-row="${row}"] .id`).innerText(), visible(t.id));
    const lines = await hover(page, page.locator(`#transfers [data-row="${row}"]`), 0.1);
    assert.equal(lines[0], visible(t.id));
    await page.locator(`#transfers [data-row="${row}"] .row-name`).click();
    await frames(page);
    assert.equal(await page.locator(".details h3 bdi").innerText(), visible(t.id));
  }
  const isolated = await page
    .locator(".row-name bdi")
    .first()
    .evaluate((e) => getComputedStyle(e).unicodeBidi);
  assert.equal(isolated, "isolate");
  assert.equal(await page.evaluate(() => "hacked" in window), false);
  await page.close();
});

test("hostile names everywhere in results of all kinds", async () => {
  const evil = "</script><img src=x onerror='window.hacked=1'>\n\u202E\"";
  const text = JSON.stringify(fixture("results"))
    .replaceAll('"gpu0"', JSON.stringify(evil))
    .replaceAll('"p"', JSON.stringify(evil))
    .replaceAll('"c0"', JSON.stringify(evil))
    .replaceAll("cpu0 → rc0", JSON.stringify(evil).slice(1, -1));
  const data = JSON.parse(text) as ReportData;
  data.searches[0]!.scenario = evil;
  data.aggregated = { notes: [evil] };
  const { page, complaints } = await open(data);
  assert.deepEqual(complaints, []);
  assert.equal(await page.evaluate(() => "hacked" in window), false);
  assert.equal(await page.locator("img").count(), 0);
  assert.doesNotMatch((await page.locator("#app").textContent())!, new RegExp(MARKS));
  await page.close();
});

test("the curve of a search marks baseline and best, placements stand on the tree", async () => {
  const { page, complaints } = await open(fixture("results"));
  assert.deepEqual(complaints, []);
  const [order, placement, parameters] = (await embedded(page)).searches;
  const words = await page.locator("#search-0 .level-text").allTextContents();
  assert.deepEqual(words, [`baseline: ${format.time(order!.baseline_s)}`, `best: ${format.time(order!.best_s)}`]);
  assert.match(await page.locator("#search-0").innerText(), /Proved: no candidate is better/);
  const ranks = (placement!.solution as { placement: string[] }).placement;
  const boxes = page.locator("#search-1 .panel").first().locator(".node.placed");
  assert.equal(await boxes.count(), ranks.length);
  for (const [rank, node] of ranks.entries()) {
    const title = await boxes.locator("title", { hasText: `\u2068${node}\u2069` }).textContent();
    assert.match(title!, new RegExp(`rank ${rank}$`));
  }
  assert.equal(await page.locator("#search-2 tbody tr", { hasText: "★ best" }).count(), 1);
  const chart = page.locator('#search-2 svg.chart[aria-label^="Makespan over"]');
  assert.equal(await chart.locator("[role='img']").count(), parameters!.candidates);
  await page.close();
});

test("tune tells bandwidth against size, validate predicted against measured", async () => {
  const { page } = await open(fixture("results"));
  const { tuned, validated } = await embedded(page);
  const sizes = tuned[0]!.operations[0]!.sizes;
  assert.equal(await page.locator("#tuned-0-0 .marker[role='img']").count(), 2 * sizes.length);
  const last = page.locator("#tuned-0-0 .marker[role='img']").last();
  await last.hover();
  const lines = await page.locator(".tip > div").allInnerTexts();
  assert.equal(said(lines, "bandwidth"), format.rate(sizes.at(-1)!.bandwidth_Bps));
  assert.equal(said(lines, "size"), format.packet(sizes.at(-1)!.bytes));
  const labels = await page
    .locator("#validated-0 .marker[role='img']")
    .evaluateAll((all) => all.map((m) => m.getAttribute("aria-label")!));
  for (const t of validated[0]!.transfers) {
    const label = labels.find((l) => new RegExp(`\u2068${t.id}\u2069`).test(l))!;
    assert.ok(
      label.includes(`measured ${format.time(t.measured_s)}`) &&
        label.includes(`simulated ${format.time(t.simulated_s)}`),
      label,
    );
  }
  await page.close();
});

test("everything can be reached and used with the keyboard", async () => {
  const { page } = await open(fixture("t2"));
  const reached: string[] = [];
  for (let i = 0; i < 45; i++) {
    await page.keyboard.press("Tab");
    await frames(page);
    const at = await page.evaluate(() => {
      const e = document.activeElement!;
      const style = getComputedStyle(e);
      return {
        what: `${e.tagName.toLowerCase()}.${e.getAttribute("class") ?? ""}`,
        name: e.getAttribute("aria-label") || e.textContent || (e as HTMLInputElement).labels?.[0]?.textContent,
        seen: e.matches(":focus-visible"),
        outline: style.outlineStyle,
      };
    });
    if (at.what.startsWith("body")) break;
    assert.ok(at.name, `${at.what} has no name`);
    assert.ok(at.seen && (at.outline !== "none" || at.what === "g.wire"), `${at.what}: focus is not seen`);
    reached.push(at.what);
  }
  for (const what of ["button.theme", "input.", "g.wire", "div.rows", "button.zoom-in", "button.line-key"])
    assert.ok(
      reached.some((r) => r.startsWith(what)),
      `${what} in ${reached.join(" ")}`,
    );

  await page.locator("#moment").focus();
  await page.keyboard.press("ArrowRight");
  await frames(page);
  assert.equal(await page.locator(".moment").innerText(), "36.946 ms");
  await page.locator(".wire[tabindex='0']").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await frames(page);
  assert.match(await page.locator(".details h3").innerText(), /k80a → plx0/);
  await page.locator("#transfers .rows").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowLeft");
  await frames(page);
  assert.match(
    await page.locator(".voice").innerText(),
    /^\u2068b\u2069; main cause downstream port shared with d; at 0 s; rate 3.480 GB\/s; bottleneck \u2068plx1\u2069 → \u2068k80c\u2069/,
  );
  await page.keyboard.press("Enter");
  await frames(page);
  assert.equal(await page.locator(".details h3 bdi").innerText(), "b");
  await page.close();
});

test("every control and picture has a name", async () => {
  for (const name of ["halo", "results"]) {
    const { page } = await open(fixture(name), name);
    const nameless = await page.evaluate(() => {
      const named = (e: Element) =>
        e.getAttribute("aria-label") ||
        e.textContent?.trim() ||
        (e as HTMLInputElement).labels?.[0]?.textContent ||
        e.getAttribute("aria-hidden");
      return [
        ...document.querySelectorAll(
          "button, input, select, svg[role], [role='img'], [role='group'], [role='listbox'], [role='region']",
        ),
      ]
        .filter((e) => !named(e))
        .map((e) => e.outerHTML.slice(0, 120));
    });
    assert.deepEqual(nameless, []);
    await page.close();
  }
});

test("light and dark follow the system until the reader chooses; print is light and shows all rows", async () => {
  const { page } = await open(fixture("halo"));
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "dark" });
  await frames(page);
  assert.equal(await theme(), "dark");
  const dark = await paper();
  await page.locator(".theme").click();
  await frames(page);
  assert.equal(await theme(), "light");
  assert.notEqual(await paper(), dark);
  await page.locator(".theme").click();
  await frames(page);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await theme(), "light");
  assert.equal(await page.locator("#transfers .row").count(), fixture("halo").runs[0]!.transfers.length);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await theme(), "dark");
  await page.close();
});

test("10^3 transfers take less than 1 MB", async () => {
  const html: string = await writePage(withRuns(madeUp(1000)));
  assert.ok(Buffer.byteLength(html) < 1e6, `${Buffer.byteLength(html)} bytes`);
});

test("an aggregated page of 10^5 transfers opens quickly and says that it is aggregated", async (t) => {
  const data = withRuns(aggregate(madeUp(100_000)) as unknown as Run);
  const begun = performance.now();
  const { page, complaints } = await open(data, "large");
  const ms = performance.now() - begun;
  t.diagnostic(`opened and drawn after ${ms.toFixed(0)} ms`);
  assert.deepEqual(complaints, []);
  assert.ok(ms < 3_000, `${ms} ms`);
  assert.match(await page.locator(".aggregated").innerText(), /^Aggregated: 100\u202f000 transfers/);
  const { groups, bins, to_s } = data.runs[0]!.aggregated!;
  const lines = await hover(page, page.locator('#groups [data-row="2"]'), 0.5);
  assert.equal(
    said(lines, "sum of rates"),
    format.rate(groups[2]!.rate_Bps[Math.floor((bins * 0.5 * data.runs[0]!.makespan_s) / to_s)]),
  );
  assert.equal(
    said(lines, "in all"),
    `${format.counted(groups[2]!.count, "transfer")}, ${format.bytes(groups[2]!.bytes)}`,
  );
  assert.match(await page.locator("#transfers h2").innerText(), /the 1000 longest/);
  await page.close();
});

test("packed runs show the same as full ones", async () => {
  const [full, packed] = [
    fixture("lateral"),
    { ...fixture("lateral"), runs: fixture("lateral").runs.map((r) => pack(r) as unknown as Run) },
  ];
  const texts: string[] = [];
  for (const data of [full, packed]) {
    const { page } = await open(data);
    await page.locator('#transfers [data-row="5"] .row-name').click();
    await frames(page);
    texts.push(await page.locator("main").innerText());
    await page.close();
  }
  assert.equal(texts[0], texts[1]);
});

test("data that are no report say so", async () => {
  const { page } = await open({ weir: 2 } as unknown as ReportData);
  assert.match(await page.locator(".failed").innerText(), /format 2; this page reads format 1/);
  await page.close();
});

test("saved results without topology and phases are shown with what they have", async () => {
  const run = fixture("t2").runs[0]!;
  const { nodes, phases, explain, ...rest } = run;
  const bare = {
    ...rest,
    links: rest.links
      .filter((l) => l.bytes > 0)
      .map(({ from, to, bytes, busy_s, peak_Bps }) => ({ from, to, bytes, busy_s, peak_Bps })),
    transfers: rest.transfers.map(({ route, ...t }) => t),
  };
  const { page, complaints } = await open(withRuns(bare as Run));
  assert.deepEqual(complaints, []);
  assert.match(await page.locator("#topology").innerText(), /--full/);
  const lines = await hover(page, page.locator('#transfers [data-row="0"]'), 0.5);
  assert.equal(said(lines, "mean rate"), format.rate(run.transfers[0]!.mean_Bps));
  await page.close();
});

test("a search without candidates, percentiles, histogram and curve is shown with what it has", async () => {
  const [order] = fixture("results").searches;
  const { candidates, percentiles_s, curve_s, histogram, median_s, mean_s, worst_s, rows, ...rest } = order!;
  const { page, complaints } = await open({ ...fixture("results"), searches: [rest] });
  assert.deepEqual(complaints, []);
  const text = await page.locator("#search-0").innerText();
  assert.match(text, /more than 2\^128 candidates/);
  assert.match(text, /no curve is drawn/);
  assert.doesNotMatch(text, /NaN|undefined/);
  await page.close();
});

test("each chart is one stop of Tab, and arrow keys go from mark to mark", async () => {
  const counts = { from_s: 1, to_s: 2, counts: [1, 5, 3, 2] };
  const data = fixture("results");
  data.searches[0]!.histogram = counts;
  const { page } = await open(data);
  const stops = await page
    .locator("svg.chart")
    .evaluateAll((all) => all.map((c) => c.querySelectorAll('[tabindex="0"]').length));
  assert.ok(stops.length >= 4);
  assert.deepEqual(new Set(stops), new Set([1]));
  const chart = page.locator('svg.chart[aria-label^="Histogram"]').first();
  assert.match((await chart.getAttribute("aria-label"))!, /arrow keys go from bar to bar$/);
  await chart.locator('[tabindex="0"]').focus();
  const at = () => page.evaluate(() => document.activeElement!.getAttribute("aria-label"));
  const seen = [await at()];
  for (const key of ["ArrowRight", "ArrowDown", "End", "ArrowRight", "ArrowLeft", "Home"]) {
    await page.keyboard.press(key);
    await frames(page);
    seen.push(await at());
  }
  assert.deepEqual(
    seen.map((s) => Number(s!.match(/candidates (\d+)$/)![1])),
    [1, 5, 3, 2, 2, 3, 1],
  );
  assert.equal(await page.locator(".chart-box", { has: chart }).locator(".chart-hint").isVisible(), true);
  assert.equal(await chart.locator('[tabindex="0"]').count(), 1);
  await page.keyboard.press("Tab");
  assert.equal(await chart.evaluate((c) => c.contains(document.activeElement)), false);
  await page.close();
});
