import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import type { Run } from "../../src/contract.ts";
import { fixture, madeUp } from "../fixture.ts";
import { browser, frames, hover, open } from "./open.ts";

browser();

/** A4 landscape less margins of 12 mm, in pixels. */
const PAPER = { width: 1032, height: 703 };

async function onPaper(page: Page): Promise<void> {
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize(PAPER);
  await frames(page);
}

async function pages(page: Page): Promise<number> {
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
  return pdf.match(/\/Type \/Page\b(?!s)/g)!.length;
}

test("a small run takes four sheets, and the tree stands on the first", async () => {
  const { page } = await open(fixture("t2"));
  assert.equal(await pages(page), 4);
  await onPaper(page);
  const tree = (await page.locator("#topology").boundingBox())!;
  assert.ok(tree.y + tree.height <= PAPER.height, `${tree.y + tree.height}`);
  await page.close();
});

test("a high tree goes after all other sections on paper, and back", async () => {
  const run = madeUp(500);
  const { page } = await open({ ...fixture("t2"), runs: [run] });
  const order = () => page.locator("main > section").evaluateAll((all) => all.map((s) => s.id));
  const before = await order();
  assert.deepEqual(before.slice(0, 2), ["transfers", "topology"]);
  await onPaper(page);
  assert.equal((await order()).at(-1), "topology");
  assert.equal((await order())[0], "transfers");
  const tree = (await page.locator("#topology .topology").boundingBox())!;
  assert.ok(tree.height <= 520 && tree.height > 400, `${tree.height}`);
  await page.emulateMedia({ media: "screen" });
  await frames(page);
  assert.deepEqual(await order(), before);
  await page.close();
});

test("on paper plots and rows keep inside, rows follow each other and are not cut", async () => {
  const { page } = await open(fixture("halo"));
  const screen = await page.locator("#lines canvas").first().getAttribute("width");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await onPaper(page);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(over, 0);
  const [section, canvas] = await Promise.all(
    ["#lines", "#lines canvas"].map((s) => page.locator(s).first().boundingBox()),
  );
  assert.ok(canvas!.x + canvas!.width <= section!.x + section!.width, "the plot");
  assert.notEqual(await page.locator("#lines canvas").first().getAttribute("width"), screen);
  const rows = await page.locator("#transfers .row").evaluateAll((all) =>
    all.map((r) => {
      const { top, bottom } = r.getBoundingClientRect();
      return { top, bottom, inside: getComputedStyle(r).breakInside };
    }),
  );
  rows.forEach((r, i) => {
    assert.equal(r.inside, "avoid");
    if (i > 0) assert.ok(Math.abs(r.top - rows[i - 1]!.bottom) < 1, "one row follows the other");
  });
  assert.ok(rows.at(-1)!.bottom > 1000, "positions come from the flow of the page");
  const [cursor, body] = await Promise.all(
    ["#transfers .cursor", "#transfers .rows-body"].map((s) => page.locator(s).boundingBox()),
  );
  assert.ok(cursor!.y + cursor!.height <= body!.y + body!.height + 1, "the line of the moment ends with the rows");
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 1300, height: 900 });
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await frames(page);
  assert.equal(await page.locator("#lines canvas").first().getAttribute("width"), screen);
  await page.close();
});

test("in the heat map of two runs names stand over the lanes, and means beside theirs", async () => {
  const { page } = await open(fixture("halo"));
  for (const width of [1400, 800, 600]) {
    await page.setViewportSize({ width, height: 900 });
    await frames(page);
    for (const row of await page.locator("#heat .row").all()) {
      const box = (await row.boundingBox())!;
      const parts = await row
        .locator(".arrow, .mean > span")
        .evaluateAll((all) => all.map((e) => e.getBoundingClientRect().toJSON() as DOMRect));
      assert.equal(parts.length, 3);
      parts.forEach((p, i) => {
        assert.ok(p.top >= box.y - 0.5 && p.bottom <= box.y + box.height + 0.5, `part ${i} at ${width}`);
        if (i > 0) assert.ok(p.top >= parts[i - 1]!.bottom - 0.5, `part ${i} under the one before at ${width}`);
      });
      const cells = await row.locator(".cell").evaluateAll((all) => all.map((c) => c.getBoundingClientRect().y));
      for (const y of cells)
        assert.ok(
          parts.slice(1).some((p) => Math.abs(p.top - y) < 3),
          "a lane has its mean beside it",
        );
    }
  }
  await page.close();
});

test("a link that a run without --full does not name may have carried nothing", async () => {
  const run = fixture("t2").runs[0]!;
  const [first] = run.links.filter((l) => l.bytes > 0);
  const short: Run = {
    ...run,
    nodes: null,
    phases: null,
    explain: null,
    transfers: run.transfers.map((t) => ({ ...t, route: undefined })),
    links: run.links
      .filter((l) => l.bytes > 0 && l !== first)
      .map(({ from, to, bytes, busy_s, peak_Bps }) => ({ from, to, bytes, busy_s, peak_Bps })),
  };
  const { page } = await open({ ...fixture("t2"), runs: [run, short] });
  const row = page.locator("#heat .row", { hasText: `${first!.from} → ${first!.to}` });
  assert.deepEqual(await hover(page, row, 0.5, 0.9), ["carried nothing in run B, or is not in it"]);
  await page.close();
});

test("lines that are equal say so, and are drawn in falling widths", async () => {
  const { page } = await open(fixture("t2"));
  const run = fixture("t2").runs[0]!;
  const keys = await page.locator(".line-key").evaluateAll((all) =>
    all.map((k) => ({
      link: Number((k as HTMLElement).dataset.link),
      same: k.querySelector(".same")?.textContent ?? null,
      width: Number(k.querySelector("line")!.getAttribute("stroke-width")),
    })),
  );
  const loads = (link: number) =>
    JSON.stringify(
      run.phases!.map((p) =>
        run.transfers.reduce((sum, t) => sum + (t.route!.includes(link) ? (p.rates_Bps[t.id] ?? 0) : 0), 0),
      ),
    );
  const seen = new Map<string, string>();
  let equal = 0;
  keys.forEach(({ link, same, width }, i) => {
    const l = run.links.find((x) => x.id === link)!;
    const before = seen.get(loads(link));
    assert.equal(same, before === undefined ? null : `same as ${before}`);
    if (before === undefined) seen.set(loads(link), `${l.from} → ${l.to}`);
    else equal++;
    if (i > 0) assert.ok(width < keys[i - 1]!.width);
  });
  assert.ok(equal >= 2);
  await page.close();
});
