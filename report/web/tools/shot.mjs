// Takes a picture of a page: node tools/shot.mjs PAGE.html OUT.png [--width 1280] [--height 900] [--dark]
//   [--full] [--part SELECTOR] [--click SELECTOR]…
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A browser of its own, with an empty profile; `run` is given a context. */
export async function withBrowser(run, options = {}) {
  const profile = await mkdtemp(join(tmpdir(), "weir-report-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: FLAGS,
    ...options,
  });
  try {
    return await run(context);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
}

const OPTIONS = {
  width: { type: "string", default: "1280" },
  height: { type: "string", default: "900" },
  dark: { type: "boolean" },
  full: { type: "boolean" },
  part: { type: "string" },
  click: { type: "string", multiple: true },
};

async function shoot(context, input, output, { click, part, full }) {
  const page = await context.newPage();
  page.on("console", (m) => console.log(`console: ${m.text()}`));
  page.on("pageerror", (e) => console.log(`error: ${e.stack}`));
  await page.goto(pathToFileURL(resolve(input)).href);
  for (const selector of click ?? []) await page.locator(selector).first().click();
  await page.waitForTimeout(200);
  if (part) await page.locator(part).first().screenshot({ path: output });
  else await page.screenshot({ path: output, fullPage: full ?? false });
}

async function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
  const viewport = { width: Number(values.width), height: Number(values.height) };
  const options = { viewport, colorScheme: values.dark ? "dark" : "light" };
  await withBrowser((context) => shoot(context, positionals[0], positionals[1], values), options);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
