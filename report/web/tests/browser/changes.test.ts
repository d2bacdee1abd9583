// Links that change while a run goes on.

import assert from "node:assert/strict";
import test from "node:test";
import type { LinkStep, Run } from "../../src/contract.ts";
import { fixture, madeUp } from "../fixture.ts";
import { browser, embedded, frames, hover, open, said } from "./open.ts";

browser();

const MS = 1e9;
const step = (at_ms: number, bandwidth_Bps: number): LinkStep => ({
  at_s: at_ms * 1e-3,
  at_ps: at_ms * MS,
  bandwidth_Bps,
});

/** One link is down from 200 to 500 ms, and both its directions; another is slower from 100 ms on, in one direction. */
function changed(): Run {
  const run = madeUp(40);
  const [a, b, c] = [run.links[0]!, run.links[1]!, run.links[2]!];
  const down = { changes: 2, down_s: 0.3, steps: [step(200, 0), step(500, a.bandwidth_Bps!)] };
  return {
    ...run,
    link_changes: [
      { link: { from: a.from, to: a.to }, ...down },
      { link: { from: b.from, to: b.to }, ...down },
      { link: { from: c.from, to: c.to }, changes: 1, down_s: 0, steps: [step(100, 5e8)] },
    ],
  };
}

test("each change has a mark with what the link carries then, and time down is shaded", async () => {
  const run = changed();
  const { page, complaints } = await open({ ...fixture("t2"), runs: [run] }, "changes");
  assert.deepEqual(complaints, []);
  const rows = page.locator("#changes .row");
  // Both directions of the first link have one row.
  assert.equal(await rows.count(), 2);
  assert.match(await rows.nth(0).locator(".id").innerText(), / – /);
  assert.equal(await rows.nth(0).locator(".ends").innerText(), "changes 2 times, down for 300.000 ms");
  assert.match(await rows.nth(1).locator(".id").innerText(), / → /);
  assert.deepEqual(
    [await rows.nth(0).locator(".link-step").count(), await rows.nth(1).locator(".link-step").count()],
    [2, 1],
  );
  assert.deepEqual(await rows.nth(0).locator("text").allTextContents(), ["down", "5.000 GB/s"]);
  assert.deepEqual(await rows.nth(1).locator("text").allTextContents(), ["500.000 MB/s"]);

  // The shade covers 200 to 500 ms of the time shown.
  const track = (await rows.nth(0).locator(".track").boundingBox())!;
  const shade = (await rows.nth(0).locator(".link-down").boundingBox())!;
  const end = Math.max(run.makespan_s, ...run.transfers.map((t) => t.end_s!));
  assert.ok(Math.abs(shade.x - track.x - (0.2 / end) * track.width) < 1.5, `${shade.x - track.x}`);
  assert.ok(Math.abs(shade.width - (0.3 / end) * track.width) < 2, `${shade.width}`);
  assert.equal(await rows.nth(1).locator(".link-down").count(), 0);

  const before = await hover(page, rows.nth(0), 0.1 / end);
  assert.equal(said(before, "carries"), "5.000 GB/s");
  const during = await hover(page, rows.nth(0), 0.3 / end);
  assert.equal(said(during, "carries"), "down");
  assert.equal(said(during, "since"), "200.000 ms");
  assert.equal(said(during, "next"), "5.000 GB/s at 500.000 ms");

  // A row selects its link for the whole page.
  await rows.nth(0).locator(".row-name").click();
  await frames(page);
  assert.equal(await rows.nth(0).getAttribute("aria-selected"), "true");
  assert.equal((await embedded(page)).runs[0]!.link_changes!.length, 3);
  await page.close();
});

test("a page of links that do not change has no such section", async () => {
  const { page } = await open(fixture("t2"), "unchanged");
  assert.equal(await page.locator("#changes").count(), 0);
  await page.close();
});
