import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import * as format from "../../src/core/format.ts";
import { fixture } from "../fixture.ts";
import { browser, frames, open, slide } from "./open.ts";

browser();

const end = fixture("t2").runs[0]!.makespan_s;
const moment = (page: Page) => page.locator(".moment").innerText();
const shown = (page: Page) => page.locator(".zoom-window").innerText();

async function press(page: Page, selector: string, ...keys: string[]): Promise<void> {
  await page.locator(selector).focus();
  for (const key of keys) await page.keyboard.press(key);
  await frames(page);
}

async function click(page: Page, selector: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await page.locator(selector).click();
  await frames(page);
}

test("the slider covers the window of time, with fine steps", async () => {
  const { page } = await open(fixture("t2"));
  await slide(page, 0.5, end);
  await click(page, ".zoom-in", 2);
  const [from, to] = [end * 0.375, end * 0.625];
  assert.equal(await shown(page), format.range(from, to));
  assert.equal(await page.locator("#moment").inputValue(), "5000");
  await slide(page, 0.25, end);
  assert.equal(await moment(page), format.time(from + 0.25 * (to - from)));
  await press(page, "#moment", "ArrowUp", "Shift+ArrowRight");
  assert.equal(await moment(page), format.time(from + 0.252 * (to - from)));
  await press(page, "#moment", "Shift+ArrowLeft");
  assert.equal(await moment(page), format.time(from + 0.251 * (to - from)));
  await page.close();
});

test("a moment that is not shown is said to be so, and both ways back are offered", async () => {
  const { page } = await open(fixture("t2"));
  const note = page.locator(".outside-note");
  const cursor = page.locator("#transfers .cursor");
  await slide(page, 0.5, end);
  await click(page, ".zoom-in", 2);
  assert.equal(await note.isVisible(), false);
  await click(page, '.zoom [aria-label="Show later time"]', 2);
  assert.equal(await note.locator("span").innerText(), "lies before the time shown");
  assert.equal(await cursor.isVisible(), false);
  assert.match((await page.locator("#moment").getAttribute("aria-valuetext"))!, /^33\.251 ms, lies before/);
  const window = await shown(page);
  await note.getByText("Bring here").click();
  await frames(page);
  assert.equal(await shown(page), window);
  assert.equal(await cursor.isVisible(), true);
  assert.equal(await note.isVisible(), false);

  await slide(page, 0, end);
  const before = await moment(page);
  await page.getByLabel("Show later time").click();
  await frames(page);
  await note.getByText("Go there").click();
  await frames(page);
  assert.equal(await moment(page), before);
  assert.equal(await cursor.isVisible(), true);
  await page.close();
});

test("steps to the next change take the window with them", async () => {
  const { page } = await open(fixture("t2"));
  await click(page, ".zoom-in", 4);
  assert.equal(await shown(page), "0 s to 4.156 ms");
  await press(page, "#transfers .rows", "ArrowRight");
  assert.equal(await moment(page), "36.946 ms");
  assert.equal(await page.locator("#transfers .cursor").isVisible(), true);
  const [from, to] = (await shown(page)).split(" to ").map(Number.parseFloat);
  assert.ok(from! < 36.946 && to! > 36.946, await shown(page));
  await page.close();
});

test("down to a picosecond both ends of the window are told, and labels of ticks do not overlap", async () => {
  const { page } = await open(fixture("t2"));
  await press(page, "#moment", "ArrowRight");
  const seen = new Set<string>();
  for (let i = 0; i < 40; i++) {
    await click(page, ".zoom-in", 1);
    const words = await shown(page);
    const [a, b] = words.split(" to ");
    assert.ok(words.includes(" + ") || a !== b, words);
    const boxes = await page
      .locator("#transfers .ruler text")
      .evaluateAll((all) => all.map((t) => t.getBoundingClientRect()).sort((p, q) => p.x - q.x));
    assert.ok(boxes.length >= 2, `${boxes.length} labels in ${words}`);
    boxes.slice(1).forEach((box, k) => assert.ok(box.x > boxes[k]!.x + boxes[k]!.width, `labels overlap in ${words}`));
    seen.add(words);
  }
  assert.equal(await shown(page), "36.945812807 ms + 1 ps");
  assert.ok(seen.size > 30 && seen.size < 40, `${seen.size} windows`);
  assert.equal(await moment(page), "36.945812808 ms");
  assert.equal(await page.locator("#transfers .cursor").isVisible(), true);
  await page.close();
});

test("keys are told where they are used, and Tab needs few stops", async () => {
  const { page } = await open(fixture("halo"));
  assert.match(await page.locator("#topology .note").first().innerText(), /arrow keys go from link to link/);
  assert.match(await page.locator("#transfers .keys").innerText(), /Shift \+ ← → pan · \+ − 0 zoom/);
  assert.match(
    (await page.locator("#transfers .rows").getAttribute("aria-description"))!,
    /next change .* pan .* zoom/,
  );
  assert.match((await page.locator("#moment").getAttribute("aria-description"))!, /← → next change/);
  const sections: string[] = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement!;
      return e === document.body ? null : (e.closest("section")?.id ?? "head");
    });
    if (at === null) break;
    sections.push(at);
  }
  assert.ok(sections.length < 45, `${sections.length} stops: ${sections.join(" ")}`);
  for (const id of ["topology", "delays", "transfers", "differences", "lines", "heat"])
    assert.ok(sections.includes(id), id);
  assert.equal(sections.filter((s) => s === "differences").length, 2, "the table, and one of its transfers");

  const first = page.locator("#differences button.transfer").first();
  await first.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await frames(page);
  const second = await page.locator("#differences button.transfer").nth(1).innerText();
  assert.equal(await page.locator(".details h3 bdi").innerText(), second);
  await page.close();
});

interface Drawn {
  text: string;
  left: number;
  right: number;
}

/** The words that the next drawing puts under the lines of utilisation, from left to right. */
async function drawnTimes(page: Page, act: () => Promise<void>): Promise<Drawn[]> {
  await page.evaluate(() => {
    const drawn: { text: string; left: number; right: number }[] = [];
    Object.assign(window, { drawn });
    const fill = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      const half = this.measureText(text).width / 2;
      if (!text.endsWith("%") && text !== "") drawn.push({ text, left: x - half, right: x + half });
      fill.call(this, text, x, y);
    };
  });
  await act();
  return page.evaluate(() => (window as unknown as { drawn: Drawn[] }).drawn.sort((a, b) => a.left - b.left));
}

test("times under the lines of utilisation do not overlap, and are told from a base where they would be long", async () => {
  for (const [times, based] of [
    [14, false],
    [26, true],
    [40, true],
    [2, false],
  ] as const) {
    const { page } = await open(fixture("t2"));
    await press(page, "#moment", "ArrowRight");
    await click(page, ".zoom-in", times - 1);
    const drawn = await drawnTimes(page, () => click(page, ".zoom-in", 1));
    const words = drawn.map((d) => d.text).join(" ");
    assert.ok(drawn.length >= 1 && drawn.length <= 11, words);
    drawn.slice(1).forEach((d, k) => assert.ok(d.left > drawn[k]!.right, `labels overlap: ${words}`));
    const from = await page.locator("#lines .base").textContent();
    assert.equal(from !== "", based, from!);
    assert.equal(from, based ? await page.locator("#transfers .ruler .from").textContent() : "");
    for (const { text } of drawn) assert.ok(text.startsWith("+") === based && !/\.\d* ps/.test(text), text);
    await page.close();
  }
});
