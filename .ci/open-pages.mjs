// Opens pages of `weir report` in a browser: node .ci/open-pages.mjs PAGE.html…
// Fails where one complains, loads something, shows none of its results, takes more than 3 s, or is of 1 MB and more.
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { withBrowser } from "../report/web/tools/shot.mjs";

/** Seconds and bytes that a page may take. */
const LONGEST = 3;
const LARGEST = 1_000_000;

const wrong = [];
await withBrowser(async (context) => {
  for (const file of process.argv.slice(2)) {
    const [name, url] = [basename(file), pathToFileURL(resolve(file)).href];
    const html = await readFile(file, "utf8");
    const page = await context.newPage();
    const said = [];
    page.on("console", (m) => ["error", "warning"].includes(m.type()) && said.push(m.text()));
    page.on("pageerror", (e) => said.push(e.message));
    page.on("request", (r) => r.url() !== url && said.push(`loads ${r.url()}`));
    const begin = performance.now();
    await page.goto(url);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const seconds = (performance.now() - begin) / 1000;
    const data = JSON.parse(await page.locator("#weir-data").textContent());
    const text = await page.locator("#app").innerText();
    const shown = [...data.runs, ...data.searches, ...(data.sweeps ?? []), ...data.tuned, ...data.validated].map((result) => result.scenario);
    const missing = shown.filter((scenario) => !text.includes(scenario));
    if (shown.length === 0) said.push("has no results");
    if (missing.length > 0) said.push(`does not show ${missing.join(", ")}`);
    if (seconds > LONGEST) said.push(`took ${seconds.toFixed(1)} s to open`);
    if (Buffer.byteLength(html) >= LARGEST) said.push(`has ${Buffer.byteLength(html)} bytes`);
    console.log(`${name}: ${(Buffer.byteLength(html) / 1000).toFixed(0)} kB, open after ${seconds.toFixed(2)} s`);
    wrong.push(...said.map((what) => `${name}: ${what}`));
    await page.close();
  }
});
for (const what of wrong) console.error(what);
process.exitCode = wrong.length > 0 ? 1 : 0;
