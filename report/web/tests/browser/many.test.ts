// Pages of many runs, and of many transfers.

import assert from "node:assert/strict";
import test from "node:test";
import type { Run } from "../../src/contract.ts";
import * as format from "../../src/core/format.ts";
import { causeOf, fixture, madeUp } from "../fixture.ts";
import { browser, frames, open } from "./open.ts";

browser();

/** A made-up run in which the last transfers are held back, the very last one longest. */
function heldBack(count: number): Run {
  const run = madeUp(count);
  const { from, to } = run.links[0]!;
  run.transfers = run.transfers.map((t, i) => {
    const alone_s = (t.end_s! - t.start_s!) * (1 - (i < count / 2 ? 0 : i / count / 2));
    return { ...t, alone_s, bottleneck: { from, to }, ...causeOf("shared-link") };
  });
  return run;
}

test("more than 60 transfers begin with those that lose most, and short bars can be seen", async () => {
  const run = heldBack(1000);
  const { page, complaints } = await open({ ...fixture("t2"), runs: [run] }, "many");
  assert.deepEqual(complaints, []);
  assert.equal(await page.getByLabel("order").inputValue(), "delayed");
  const lost = new Map(run.transfers.map((t) => [t.id, t.end_s! - t.start_s! - t.alone_s!]));
  const seen = (await page.locator("#transfers .row .id").allInnerTexts()).slice(0, 5);
  const most = [...lost].sort((a, b) => b[1] - a[1]).slice(0, 5);
  assert.deepEqual(
    seen,
    most.map(([id]) => id),
  );
  await page.setViewportSize({ width: 400, height: 900 });
  await frames(page);
  await frames(page);
  await page.getByLabel("order").selectOption("scenario");
  await frames(page);
  const bars = await page
    .locator("#transfers .row path.moving")
    .evaluateAll((all) =>
      all.map((b) => [(b as SVGGraphicsElement).getBBox().width, Number(getComputedStyle(b).fillOpacity)] as const),
    );
  assert.ok(
    bars.some(([width]) => width < 2.01),
    "a short bar",
  );
  for (const [width, tint] of bars) {
    assert.ok(width >= 1.99, `${width} px`);
    if (width < 2.01) assert.ok(tint >= 0.8, `${tint}`);
  }
  await page.close();
});

test("few transfers stay in the order of the scenario", async () => {
  const { page } = await open({ ...fixture("t2"), runs: [heldBack(20)] }, "few");
  assert.equal(await page.getByLabel("order").inputValue(), "scenario");
  await page.close();
});

test("50 runs are a list that scrolls, and only those that are shown have tables", async () => {
  const [first] = fixture("t2").runs;
  const runs = Array.from({ length: 50 }, (_, i): Run => {
    return { ...first!, scenario: `case ${i}`, makespan_s: first!.makespan_s * (1 + i / 100) };
  });
  const { page, complaints } = await open({ ...fixture("t2"), runs }, "fifty");
  assert.deepEqual(complaints, []);
  assert.equal(await page.locator(".card[data-run]").count(), 0);
  const list = page.locator(".run-list");
  assert.ok((await list.boundingBox())!.height <= 260);
  const rows = list.locator("tbody tr");
  assert.equal(await rows.count(), 50);
  const last = rows.nth(49);
  assert.match(await last.innerText(), /^AX\s*case 49/);
  assert.ok((await last.innerText()).includes(format.time(runs[49]!.makespan_s)));
  assert.ok((await last.innerText()).includes("▲ 1.490×"));
  const tables = page.locator("#transfers .as-table");
  const shown = () => tables.evaluateAll((all) => all.filter((t) => !(t as HTMLElement).hidden).length);
  assert.equal(await shown(), 4);
  await page.getByLabel("Show run AX").check();
  await frames(page);
  assert.equal(await shown(), 5);
  assert.equal(await page.locator(".runs [role='status']").innerText(), "50 runs, 5 shown");
  assert.ok(await tables.nth(49).isVisible());
  for (const letter of ["A", "B", "C", "D"]) await page.getByLabel(`Show run ${letter}`, { exact: true }).uncheck();
  await frames(page);
  await page.getByLabel("Show run AX").click();
  await frames(page);
  assert.equal(await page.getByLabel("Show run AX").isChecked(), true, "one run stays");
  await page.close();
});
