import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import type { ReportData, Run } from "../../src/contract.ts";
import { fixture, madeUp } from "../fixture.ts";
import { browser, frames, open } from "./open.ts";

browser();

const only = (run: Run): ReportData => ({
  weir: 1,
  runs: [run],
  searches: [],
  tuned: [],
  validated: [],
  aggregated: null,
});

/** Numbers that cut each other or a box, and those that stand away from their line. */
function faults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const out: string[] = [];
    for (const svg of document.querySelectorAll<SVGSVGElement>(".panel .topology")) {
      const texts = [...svg.querySelectorAll<SVGTextElement>(".number")].filter((t) => t.textContent);
      const boxes = [...svg.querySelectorAll<SVGRectElement>(".node rect")].map((r) => r.getBBox());
      // The widest that they can be.
      for (const t of texts) t.textContent = t.textContent!.replace(/\d+ %/, "100 %");
      // Letters have less height than their box.
      const inked = texts.map((t) => {
        const b = t.getBBox();
        return { x: b.x, y: b.y + 2, width: b.width, height: b.height - 4 };
      });
      const cut = (a: DOMRect | (typeof inked)[0], b: DOMRect | (typeof inked)[0]) =>
        a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
      inked.forEach((a, i) => {
        const id = (texts[i] as SVGElement).dataset.of!;
        const said = `link ${id}, ${texts[i]!.textContent}`;
        if (boxes.some((b) => cut(a, b))) out.push(`${said} in a box`);
        if (inked.slice(i + 1).some((b) => cut(a, b))) out.push(`${said} over a number`);
        const line = svg.querySelector<SVGPathElement>(`.wire[data-link="${id}"] .line`)!;
        const length = line.getTotalLength();
        const near = Math.min(
          ...Array.from({ length: 101 }, (_, k) => {
            const p = line.getPointAtLength((length * k) / 100);
            const dx = Math.max(a.x - p.x, 0, p.x - a.x - a.width);
            return Math.hypot(dx, Math.max(a.y - p.y, 0, p.y - a.y - a.height));
          }),
        );
        // Numbers of leaves stand beyond their boxes: on the row of the leaf, or right below it.
        const leaf = boxes.some(
          (b) =>
            Math.abs(b.y + b.height / 2 - a.y - a.height / 2) < 4 ||
            (Math.abs(b.x + b.width / 2 - a.x - a.width / 2) < 40 && Math.abs(a.y - b.y - b.height) < 14),
        );
        if (near > 14 && !leaf) out.push(`${said} is ${near.toFixed(0)} from its line`);
      });
    }
    return out;
  });
}

for (const [name, data] of [
  ["t2", fixture("t2")],
  ["halo", fixture("halo")],
  ["gather", fixture("gather")],
  ["lateral", fixture("lateral")],
  ["64-hosts", only(madeUp(500))],
] as [string, ReportData][])
  test(`${name}: no number of a link cuts another or a box`, async () => {
    const { page } = await open(data, name);
    for (const width of [1400, 700]) {
      await page.setViewportSize({ width, height: 900 });
      await frames(page);
      await page.getByLabel("mean over the run instead").check();
      await frames(page);
      assert.ok((await page.locator(".panel .number").filter({ hasText: "%" }).count()) >= 8);
      assert.deepEqual(await faults(page), []);
      assert.doesNotMatch(await page.locator(".left-out").innerText(), /lack of room/);
    }
    await page.close();
  });

test("64 leaves fit, 256 scroll with a sign and with keys", async () => {
  const small = await open(only(madeUp(500)), "small");
  assert.equal(await small.page.locator(".scroll-note").isVisible(), false);
  assert.equal(await small.page.locator(".drawing").getAttribute("tabindex"), null);
  await small.page.close();

  const { page, complaints } = await open(only(madeUp(4000, 16, 16)), "wide");
  const note = page.locator(".scroll-note");
  const box = page.locator(".drawing");
  const seen = async () => Number((await note.innerText()).match(/^(\d+) of 256 leaves in view: scroll/)![1]);
  assert.ok((await seen()) > 40 && (await seen()) < 100);
  assert.match((await box.getAttribute("class"))!, /more-below/);
  assert.doesNotMatch((await box.getAttribute("class"))!, /more-above/);
  assert.equal(await box.getAttribute("role"), "region");
  await box.focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => !document.querySelector(".drawing")!.classList.contains("more-below"));
  assert.match((await box.getAttribute("class"))!, /more-above/);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("nodes that carried nothing are left out where leaves are many, and counted", async () => {
  const { page } = await open(only(madeUp(12, 8, 8)), "idle");
  const text = await page.locator(".left-out").innerText();
  const [, out, all] = text.match(/^(\d+) of (\d+) nodes left out: they carried nothing$/)!;
  assert.equal(await page.locator(".node").count(), Number(all) - Number(out));
  await page.getByLabel("only nodes that take part").uncheck();
  await frames(page);
  assert.equal(await page.locator(".node").count(), Number(all));
  assert.match(await page.locator(".left-out").innerText(), /^\d+ of \d+ nodes carried nothing$/);
  await page.close();

  const few = await open(fixture("t2"));
  assert.equal(await few.page.getByLabel("only nodes that take part").isChecked(), false);
  await few.page.close();
});

test("a small tree turns where the room is narrow", async () => {
  const { page } = await open(fixture("t2"));
  const wide = async () => {
    const box = (await page.locator(".topology").boundingBox())!;
    const letters = (await page.locator(".node .name").first().boundingBox())!.height;
    return [box.width, letters] as const;
  };
  await page.setViewportSize({ width: 1400, height: 900 });
  await frames(page);
  assert.equal(await page.locator(".node .kind").count(), 15);
  await page.setViewportSize({ width: 600, height: 900 });
  await frames(page);
  assert.equal(await page.locator(".node .kind").count(), 0, "to the right there is no second line");
  assert.ok((await wide())[1] > 8);
  assert.equal(await page.locator(".scroll-note").isVisible(), false);
  await page.close();
});

test("links lie on the outline of their region, and the legend names the policies", async () => {
  const { page, complaints } = await open(only(fixture("regions").runs[0]!), "regions");
  const [outlines, wires] = await Promise.all([page.locator(".outline").count(), page.locator(".wire").count()]);
  assert.ok(wires > 0 && outlines === wires, `${outlines} outlines of ${wires} links`);
  const legend = await page.locator(".region-legend").innerText();
  assert.match(legend.replace(/\s+/g, " "), /default: pcie-congestion.*network: max-min/);
  assert.deepEqual(complaints, []);
  await page.close();
});
