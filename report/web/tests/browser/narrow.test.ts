// The page on narrow screens: 400 px, and 700 px, which is also 1400 px at 200 % zoom.

import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { fixture } from "../fixture.ts";
import { browser, frames, open } from "./open.ts";

browser();

const WIDTHS = [400, 700, 1400];

async function resize(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await frames(page); // sizes are seen
  await frames(page); // and drawn for
}

/** The page itself never scrolls sideways. */
async function fits(page: Page, width: number): Promise<void> {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= width, `the page is ${wide} px wide on ${width} px`);
}

for (const name of ["halo", "hol"])
  test(`causes in the tables of ${name} have room on narrow screens, and their boxes scroll`, async () => {
    const { page } = await open(fixture(name), name);
    for (const width of WIDTHS) {
      await resize(page, width);
      await fits(page, width);
      for (const [table, most] of [
        ["#differences", 110],
        ["#delays", 110],
      ] as const) {
        const cells = await page
          .locator(`${table} td.text`)
          .evaluateAll((all) => all.map((c) => [c.getBoundingClientRect().width, c.getBoundingClientRect().height]));
        assert.ok(cells.length > 0, table);
        for (const [wide, high] of cells) {
          assert.ok(wide! >= 200, `${table}: words have ${wide} px on ${width} px`);
          assert.ok(high! <= most, `${table}: a row of ${high} px on ${width} px`);
        }
        const box = page.locator(`${table} .scroll`);
        const over = await box.evaluate((b) => b.scrollWidth - b.clientWidth);
        if (width === 400) assert.ok(over > 0, table);
        assert.match(await box.evaluate((b) => getComputedStyle(b).backgroundAttachment), /local.*scroll/, "a sign");
      }
    }
    await page.close();
  });

test("with three runs the causes of those compared are told", async () => {
  const { page } = await open(fixture("hol"), "hol");
  const heads = await page.locator("#differences th.text").allInnerTexts();
  assert.deepEqual(heads, ["main cause in B", "main cause in C"]);
  const run = fixture("hol").runs[1]!;
  const row = page.locator("#differences tbody tr").first();
  const t = run.transfers.find((x) => x.id === "c")!;
  const rows = page.locator("#differences tbody tr", { has: page.locator('[data-transfer="c"]') });
  assert.ok((await rows.locator("td.text").first().innerText()).includes(t.cause!));
  assert.equal(await row.locator("td.text").count(), 2);
  await page.close();
});

test("words of charts stay readable on narrow screens, and their boxes scroll", async () => {
  const { page } = await open(fixture("results"), "results");
  for (const width of WIDTHS) {
    await resize(page, width);
    await fits(page, width);
    const charts = page.locator(".chart-box > svg");
    assert.ok((await charts.count()) >= 4);
    for (const chart of await charts.all()) {
      const size = await chart.evaluate((c) => {
        const scale = c.getBoundingClientRect().width / (c as SVGSVGElement).viewBox.baseVal.width;
        return (
          Math.min(...[...c.querySelectorAll("text")].map((t) => Number.parseFloat(getComputedStyle(t).fontSize))) *
          scale
        );
      });
      assert.ok(size >= 9, `words of ${size} px on ${width} px`);
      const box = chart.locator("..");
      const inside = await box.evaluate((b) => b.clientWidth <= b.parentElement!.clientWidth);
      assert.ok(inside, `a box wider than its section on ${width} px`);
    }
  }
  await page.close();
});
