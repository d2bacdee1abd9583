import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { fixture } from "../fixture.ts";
import { browser, frames, open } from "./open.ts";

browser();

/** Texts whose contrast with what is behind them is below 4.5 to 1 (WCAG 2.2, success criterion 1.4.3). */
function faint(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const parsed = (text: string): [number, number, number, number] => {
      const n = text.match(/[\d.]+(?:e-?\d+)?/g)!.map(Number);
      const scale = text.startsWith("color(") ? 255 : 1;
      return [n[0]! * scale, n[1]! * scale, n[2]! * scale, n[3] ?? 1];
    };
    const over = (top: number[], below: number[]) =>
      [0, 1, 2].map((i) => top[i]! * top[3]! + below[i]! * (1 - top[3]!)).concat(1);
    /** Relative luminance, as WCAG defines it. */
    const light = (c: number[]) => {
      const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
    };
    const ground = (e: Element | null): number[] => {
      if (!e) return [255, 255, 255, 1];
      const c = parsed(getComputedStyle(e).backgroundColor);
      return c[3] === 1 ? c : over(c, ground(e.parentElement));
    };
    const opacity = (e: Element | null): number =>
      e ? Number(getComputedStyle(e).opacity) * opacity(e.parentElement) : 1;
    const out: string[] = [];
    for (const e of document.querySelectorAll<HTMLElement | SVGElement>("#app *")) {
      const text = [...e.childNodes].filter((n) => n.nodeType === 3 && n.textContent!.trim()).map((n) => n.textContent);
      if (text.length === 0 || e.getClientRects().length === 0) continue;
      const style = getComputedStyle(e);
      const ink = parsed(e instanceof SVGElement ? style.fill : style.color);
      const behind = ground(e);
      const front = over([ink[0], ink[1], ink[2], ink[3] * opacity(e)], behind);
      const [a, b] = [light(front), light(behind)].sort((x, y) => y - x) as [number, number];
      const contrast = (a + 0.05) / (b + 0.05);
      if (contrast < 4.5)
        out.push(`${e.tagName} ${e.getAttribute("class")} "${text[0]!.slice(0, 30)}": ${contrast.toFixed(2)}`);
    }
    return [...new Set(out)];
  });
}

for (const name of ["t2", "halo", "hol", "results", "gather", "sweep"])
  test(`${name}: all text has a contrast of 4.5 to 1, light and dark`, async () => {
    const data = fixture(name);
    data.aggregated = { notes: ["A note."] };
    const { page } = await open(data, name);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await frames(page);
      if (data.runs.length > 0) {
        await page.locator('#transfers [data-row="1"] .row-name').click();
        await frames(page);
        assert.deepEqual(await faint(page), [], `${colorScheme}, a transfer`);
        const link = page.locator(".panel .wire").first();
        await link.dispatchEvent("click");
        await frames(page);
        await link.dispatchEvent("pointermove", { clientX: 200, clientY: 200 });
      }
      assert.deepEqual(await faint(page), [], colorScheme);
    }
    await page.close();
  });
