// Pages in a real browser: one browser for a file of tests, a fresh page for each test.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { page as html } from "#tools/page.mjs";
import { FLAGS } from "#tools/shot.mjs";
import { type BrowserContext, type Locator, type Page, chromium } from "playwright-core";
import type { ReportData } from "../../src/contract.ts";

let context: BrowserContext;
let folder: string;

/** Starts a browser with an empty profile before the tests of a file, and ends it after them. */
export function browser(): void {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "weir-report-"));
    const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
    context = await chromium.launchPersistentContext(join(folder, "profile"), {
      executablePath,
      headless: true,
      args: FLAGS,
      viewport: { width: 1300, height: 900 },
    });
  });
  after(async () => {
    await context?.close();
    await rm(folder, { recursive: true, force: true });
  });
}

export interface Opened {
  page: Page;
  /** What the browser complained about, and what it tried to load. */
  complaints: string[];
  url: string;
}

export async function open(data: ReportData, name = "page"): Promise<Opened> {
  const file = join(folder, `${name}.html`);
  await writeFile(file, await html(data));
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && complaints.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => complaints.push(`thrown: ${e.message}`));
  page.on("request", (r) => r.url() !== url && complaints.push(`request: ${r.url()}`));
  const url = pathToFileURL(file).href;
  await page.goto(url);
  await frames(page);
  return { page, complaints, url };
}

/** Marks that turn the direction of text or break its line; isolates that the page sets itself are not among them. */
export const MARKS = "[\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066\\u2067]";

/** Waits until what was set has been drawn. */
export async function frames(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}

/** The data as the page holds them. */
export async function embedded(page: Page): Promise<ReportData> {
  return JSON.parse((await page.locator("#weir-data").textContent())!) as ReportData;
}

/** Puts the slider at a part of the time and tells the moment that it then shows, seconds. */
export async function slide(page: Page, part: number, end: number): Promise<number> {
  const at = Math.round(part * 10_000);
  await page.locator("#moment").evaluate((input: HTMLInputElement, value) => {
    input.value = String(value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, at);
  await frames(page);
  return (at / 10_000) * end;
}

/** Points at a moment of a row and reads the box beside the pointer, as lines. */
export async function hover(page: Page, row: Locator, part: number, down = 0.5): Promise<string[]> {
  await row.scrollIntoViewIfNeeded();
  const box = (await row.locator(".track").boundingBox())!;
  await page.mouse.move(box.x + part * box.width, box.y + down * box.height);
  await frames(page);
  if (!(await page.locator(".tip").isVisible())) return [];
  return page.locator(".tip > div").allInnerTexts();
}

/** The value of a line of the box. */
export function said(lines: string[], what: string): string | undefined {
  return lines
    .find((l) => l.startsWith(what))
    ?.slice(what.length)
    .trim();
}
