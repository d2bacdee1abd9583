import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import type { ReportData, Sweep } from "../../src/contract.ts";
import { visible } from "../../src/core/dom.ts";
import * as format from "../../src/core/format.ts";
import { fixture } from "../fixture.ts";
import { madeUpSweep, withSweeps } from "../sweeps.ts";
import { browser, embedded, frames, open, said } from "./open.ts";

browser();

const CHART = "#sweep-0 .sweep-chart";

/** The place of a point on the screen: the middle of its category, on the tread of its line. */
async function spot(page: Page, sweep: Sweep, at: number, line: number): Promise<[number, number]> {
  const paths = page.locator(`${CHART} svg > [data-line="${line}"]`);
  const d = (await paths.getAttribute("d"))!;
  const [x, y] = middleOf(d, at);
  const box = (await page.locator(`${CHART} svg`).boundingBox())!;
  const width = Number(await page.locator(`${CHART} svg`).getAttribute("width"));
  assert.equal(
    sweep.points!.length,
    sweep.axes.reduce((n, a) => n * a.values.length, 1),
    "a point is missing",
  );
  return [box.x + (x * box.width) / width, box.y + (y * box.width) / width];
}

/** The middle of the n-th tread of a path without gaps: `M x y H x V y H x …`. */
function middleOf(d: string, n: number): [number, number] {
  const start = /^M([\d.]+) ([\d.]+)/.exec(d)!;
  const heights = [start[2]!, ...[...d.matchAll(/V([\d.]+)/g)].map((m) => m[1]!)];
  const ends = [start[1]!, ...[...d.matchAll(/H([\d.]+)/g)].map((m) => m[1]!)];
  return [(Number(ends[n]) + Number(ends[n + 1])) / 2, Number(heights[n])];
}

/** Checks that the box beside the pointer tells a point of the data. */
function same(lines: string[], sweep: Sweep, at: number, combination: number): void {
  const all = sweep.totals.length;
  const point = sweep.points!.find((p) => p.point === at * all + combination)!;
  assert.equal(lines[0], `combination (${combination + 1})`);
  const [first, ...others] = sweep.axes;
  const text = lines.map((l) => l.replace(/[\u2066-\u2069]/g, "").replace(/\s+/g, " "));
  assert.equal(said(text, first!.path), `${at + 1} of ${first!.values.length}: ${first!.values[at]}`);
  for (const { path } of others) assert.equal(said(text, path), sweep.totals[combination]!.parameters[path]);
  assert.equal(said(text, "baseline"), format.time(point.baseline_s));
  assert.equal(said(text, "best"), format.time(point.best_s));
  assert.equal(said(text, "gain"), format.gain(point.baseline_s / point.best_s - 1));
  assert.equal(said(text, "best is"), point.proved_optimal ? "proved" : "not proved");
}

const tip = (page: Page) => page.locator(".tip > div").allInnerTexts();

test("pointing at a line tells the numbers of its point, and the table the totals", async () => {
  const { page, complaints } = await open(fixture("sweep"));
  assert.deepEqual(complaints, []);
  const sweep = (await embedded(page)).sweeps![0]!;
  await page.locator(CHART).scrollIntoViewIfNeeded();
  for (const [line] of sweep.totals.entries())
    for (const at of [0, 4, 6]) {
      await page.mouse.move(...(await spot(page, sweep, at, line)));
      await frames(page);
      same(await tip(page), sweep, at, line);
    }
  await page.mouse.move(2, 2);
  await frames(page);
  assert.equal(await page.locator(".tip").isVisible(), false);
  const rows = await page
    .locator("#sweep-0 tbody tr")
    .evaluateAll((all) => all.map((r) => (r as HTMLElement).innerText.split("\t")));
  assert.deepEqual(
    rows,
    sweep.totals.map((t, c) => [
      `(${c + 1}) ${Object.values(t.parameters).join(", ")}`,
      "8",
      format.time(t.baseline_s),
      format.time(t.best_s),
      format.gain(t.gain_percent! / 100),
      "yes",
    ]),
  );
  assert.equal(await page.locator("#sweep-0 .chart-keys li").count(), 4);
  assert.match(await page.locator("#sweep-0").innerText(), /Proved: no order is better at any point/);
  assert.equal(await page.title(), `${sweep.scenario} – weir report`);
  await page.close();
});

test("arrow keys go along a line and between lines, with one stop of the tab key", async () => {
  const { page } = await open(fixture("sweep"));
  const sweep = (await embedded(page)).sweeps![0]!;
  assert.equal(await page.locator(`${CHART}, ${CHART} [tabindex]`).count(), 1);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await frames(page);
  assert.equal(await page.evaluate(() => document.activeElement!.className), "sweep-chart");
  same(await tip(page), sweep, 0, 0);
  for (const [key, at, line] of [
    ["ArrowRight", 1, 0],
    ["ArrowDown", 1, 1],
    ["End", 7, 1],
    ["ArrowRight", 7, 1],
    ["ArrowDown", 7, 2],
    ["ArrowLeft", 6, 2],
    ["PageUp", 0, 2],
    ["ArrowUp", 0, 1],
  ] as const) {
    await page.keyboard.press(key);
    await frames(page);
    same(await tip(page), sweep, at, line);
    assert.match(await page.locator(".voice").innerText(), new RegExp(`^combination \\(${line + 1}\\); `));
  }
  await page.keyboard.press("Escape");
  await frames(page);
  assert.equal(await page.locator(".tip").isVisible(), false);
  assert.equal(await page.locator(`${CHART} .sweep-at > *`).count(), 0);
  await page.close();
});

test("hostile names of axes and values stay text", async () => {
  const evil = "</script><script>window.hacked=1</script>\u202E<b>";
  const text = JSON.stringify(fixture("sweep"))
    .replaceAll("workload[0].pattern.model.gap", JSON.stringify(evil).slice(1, -1))
    .replaceAll('"10us"', JSON.stringify(evil))
    .replaceAll('"80kB"', JSON.stringify(evil));
  const data = JSON.parse(text) as ReportData;
  Object.assign(data.sweeps![0]!, { scenario: evil, file: evil, vary: evil, proved_optimal: true });
  const { page, complaints } = await open(data);
  assert.deepEqual(complaints, []);
  assert.equal(await page.locator("#app script, #app section b").count(), 0);
  assert.equal(await page.locator("#sweep-0 h2").innerText(), `Best ${visible(evil)} at each point: ${visible(evil)}`);
  assert.ok((await page.locator("#sweep-0 .chart-keys").innerText()).includes(visible(evil)));
  await page.locator(CHART).focus();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  await frames(page);
  assert.ok((await tip(page)).some((l) => l.includes(visible(evil))));
  assert.equal(await page.locator(".tip b b, .tip script").count(), 0);
  const raw = await page.locator("#app").evaluate((e) => /\u202e/.test(e.outerHTML));
  assert.equal(raw, false);
  assert.equal(await page.evaluate(() => "hacked" in window), false);
  await page.close();
});

test("a sweep without points shows its totals and says so", async () => {
  const sweep = madeUpSweep([6, 3], (p) => p % 3 !== 2);
  const { page, complaints } = await open(withSweeps({ ...sweep, points: [] }));
  assert.deepEqual(complaints, []);
  assert.equal(await page.locator(CHART).count(), 0);
  const words = await page.locator("#sweep-0").innerText();
  assert.match(words, /12 of 18 points are known/);
  assert.match(words, /Single points are not in the data/);
  const last = (await page.locator("#sweep-0 tbody tr").last().innerText()).split("\t");
  assert.deepEqual(last, ["(3) v1.2", "0 of 6", "–", "–", "–", "not finished"]);
  await page.close();
});

test("points that are not proved are hollow, those cut off leave a gap", async () => {
  const sweep = madeUpSweep(
    [6, 2],
    (p) => p !== 4,
    (p) => p !== 3 && p !== 8,
  );
  const { page, complaints } = await open(withSweeps(sweep, madeUpSweep([3])));
  assert.deepEqual(complaints, []);
  assert.equal(await page.locator(`${CHART} .unproved`).count(), 2);
  assert.equal(await page.locator(`${CHART} .marker`).count(), 11);
  const d = (await page.locator(`${CHART} [data-line="0"]`).getAttribute("d"))!;
  assert.equal([...d.matchAll(/M/g)].length, 2);
  await page.locator(CHART).focus();
  for (const key of ["Home", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  await frames(page);
  assert.equal((await tip(page)).at(-1)!.replace(/\s+/g, " "), "no result the search was cut off");
  assert.equal(await page.locator("#sweep-1 .sweep-keys").count(), 0);
  assert.match(await page.locator("#sweep-1 tbody").innerText(), /^total\t3\t/);
  await page.close();
});

test("312 values and five combinations: labels apart, every point within reach", async () => {
  const sweep = madeUpSweep([312, 5]);
  sweep.axes[0]!.values = sweep.axes[0]!.values.map((_, i) => `${[254, 40, 60, 200][i % 4]}kB`);
  const { page, complaints } = await open(withSweeps(sweep));
  assert.deepEqual(complaints, []);
  for (const width of [1400, 900, 600]) {
    await page.setViewportSize({ width, height: 900 });
    await frames(page);
    const boxes = await page
      .locator(`${CHART} .category`)
      .evaluateAll((all) => all.map((e) => e.getBoundingClientRect()));
    assert.ok(boxes.length >= 3, `${boxes.length} labels`);
    for (let i = 1; i < boxes.length; i++) assert.ok(boxes[i - 1]!.right < boxes[i]!.left, `labels ${i} in ${width}`);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    for (const [at, line] of [
      [0, 4],
      [155, 2],
      [311, 0],
    ] as const) {
      await page.mouse.move(...(await spot(page, sweep, at, line)));
      await frames(page);
      same(await tip(page), sweep, at, line);
    }
  }
  await page.close();
});

test("of more than eight combinations those that gain most are drawn", async () => {
  const { page, complaints } = await open(withSweeps(madeUpSweep([5, 4, 3])));
  assert.deepEqual(complaints, []);
  assert.equal(await page.locator(`${CHART} [data-line]`).count(), 8);
  assert.equal(await page.locator("#sweep-0 .chart-keys li").count(), 8);
  assert.equal(await page.locator("#sweep-0 tbody tr").count(), 12);
  const looks = await page
    .locator("#sweep-0 .chart-keys line")
    .evaluateAll((all) => all.map((l) => [l.getAttribute("stroke-dasharray"), (l as SVGElement).style.stroke]));
  for (const k of [0, 1]) assert.equal(new Set(looks.map((l) => l[k])).size, 8);
  assert.match(
    await page.locator("#sweep-0").innerText(),
    /Of 12 combinations the 8 with the largest gains in total are drawn/,
  );
  await page.close();
});
