// Takes a picture of a page: node tools/shot.mjs PAGE.html OUT.png [--width 1280] [--height 900] [--dark] [--print]
//   [--full] [--part SELECTOR] [--click SELECTOR]… [--scale 1]
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

export const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
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

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      width: { type: "string", default: "1280" }, height: { type: "string", default: "900" },
      dark: { type: "boolean" }, print: { type: "boolean" }, full: { type: "boolean" },
      part: { type: "string" }, click: { type: "string", multiple: true }, scale: { type: "string", default: "1" },
      script: { type: "string" },
    },
  });
  const [input, output] = positionals;
  const options = {
    viewport: { width: Number(values.width), height: Number(values.height) },
    deviceScaleFactor: Number(values.scale),
    colorScheme: values.dark ? "dark" : "light",
  };
  await withBrowser(async (context) => {
    const page = await context.newPage();
    page.on("console", (m) => console.log(`console: ${m.text()}`));
    page.on("pageerror", (e) => console.log(`error: ${e.stack}`));
    await page.goto(pathToFileURL(resolve(input)).href);
    for (const selector of values.click ?? []) await page.locator(selector).first().click();
    if (values.script) await page.evaluate(values.script);
    if (values.print) {
      await page.pdf({ path: output.replace(/\.png$/, ".pdf"), format: "A4", printBackground: true });
    }
    await page.waitForTimeout(200);
    if (values.part) await page.locator(values.part).first().screenshot({ path: output });
    else await page.screenshot({ path: output, fullPage: values.full ?? false });
  }, options);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
