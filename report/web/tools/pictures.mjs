// Takes the pictures of docs/ from the fixtures: node tools/pictures.mjs
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { page as html } from "./page.mjs";
import { withBrowser } from "./shot.mjs";

const web = join(dirname(fileURLToPath(import.meta.url)), "..");
const docs = join(web, "../../docs");
const folder = await mkdtemp(join(tmpdir(), "weir-pictures-"));

async function point(page, selector, part, down = 0.5) {
  const box = await page.locator(selector).first().locator(".track").boundingBox();
  await page.mouse.move(box.x + part * box.width, box.y + down * box.height);
}

const press = (page, selector) =>
  page.evaluate((s) => document.querySelector(s).dispatchEvent(new MouseEvent("click", { bubbles: true })), selector);

/** From the top of the first section to the bottom of the last one. */
const pictures = [
  {
    name: "report-four-transfers",
    fixture: "t2",
    width: 1160,
    dark: false,
    sections: ["#transfers", "#topology"],
    async act(page) {
      await press(page, '.wire[data-link="2"]');
      await page.waitForTimeout(100);
      await press(page, '.details button[data-transfer="a"]');
      await point(page, '#transfers [data-row="0"]', 0.7);
    },
  },
  {
    name: "report-two-orders",
    fixture: "halo",
    width: 1160,
    dark: false,
    sections: [".cards", "#topology"],
    async act(page) {
      await page.locator("#moment").evaluate((input) => {
        input.value = "3600";
        input.dispatchEvent(new Event("input"));
      });
    },
  },
  {
    name: "report-gather",
    fixture: "gather",
    width: 1160,
    dark: true,
    sections: ["#lines", "#heat"],
    async act(page) {
      await point(page, '#heat [data-row="2"]', 0.42);
    },
  },
];

await withBrowser(async (context) => {
  for (const { name, fixture, width, dark, sections, act } of pictures) {
    const file = join(folder, `${name}.html`);
    await writeFile(
      file,
      await html(JSON.parse(await readFile(join(web, "tests/fixtures", `${fixture}.json`), "utf8"))),
    );
    const page = await context.newPage();
    await page.setViewportSize({ width, height: 4500 });
    await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
    await page.goto(pathToFileURL(file).href);
    await page.waitForTimeout(200);
    await act(page);
    await page.waitForTimeout(200);
    const out = join(docs, `${name}.png`);
    const boxes = await Promise.all(sections.map((s) => page.locator(s).boundingBox()));
    const [top, bottom] = [boxes[0].y - 12, boxes[1].y + boxes[1].height + 28];
    await page.screenshot({ path: out, clip: { x: 16, y: top, width: width - 32, height: bottom - top } });
    spawnSync("pngquant", ["--force", "--ext", ".png", "--quality", "80-100", out]); // smaller, where it is installed
    console.log(`${name}.png: ${((await stat(out)).size / 1000).toFixed(0)} kB`);
    await page.close();
  }
});
await rm(folder, { recursive: true, force: true });
