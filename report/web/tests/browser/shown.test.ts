// The first screen, time that runs, addresses of what is shown, rows that are never blank, and pictures as files.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { aggregate } from "#tools/aggregate.mjs";
import type { Page } from "playwright-core";
import type { Run } from "../../src/contract.ts";
import * as format from "../../src/core/format.ts";
import { fixture, madeUp } from "../fixture.ts";
import { browser, frames, open, slide } from "./open.ts";

browser();

const end = fixture("t2").runs[0]!.makespan_s;
const moment = (page: Page) => page.locator(".moment").innerText();
const address = (page: Page) => page.evaluate(() => location.hash);

test("the timeline is within the first screen, and the topology begins there", async () => {
  for (const name of ["t2", "hol", "gather"]) {
    const { page } = await open(fixture(name));
    const screen = page.viewportSize()!.height;
    const rows = (await page.locator("#transfers .rows").boundingBox())!;
    const seen = Math.min(rows.height, screen - rows.y);
    assert.ok(seen > 100, `${name}: ${seen} pixels of the timeline`);
    await page.close();
  }
  const { page } = await open(fixture("t2"));
  const topology = (await page.locator("#topology").boundingBox())!;
  assert.ok(topology.y < page.viewportSize()!.height);
  await page.close();
});

test("▶ plays over the time shown until a hand moves the moment", async () => {
  const { page } = await open(fixture("t2"));
  const play = page.getByRole("button", { name: "Play" });
  await play.click();
  await page.waitForFunction(() => Number((document.querySelector("#moment") as HTMLInputElement).value) > 100);
  await page.getByRole("button", { name: "Pause" }).click();
  await frames(page);
  const stopped = await moment(page);
  await page.waitForTimeout(100);
  assert.equal(await moment(page), stopped);
  await play.click();
  await frames(page);
  await slide(page, 0.5, end);
  await frames(page);
  assert.equal(await moment(page), format.time(end / 2));
  assert.equal(await play.count(), 1);
  await slide(page, 0.999, end);
  await play.click();
  await page.waitForFunction(() => (document.querySelector("#moment") as HTMLInputElement).value === "10000");
  await page.getByRole("button", { name: "Play" }).waitFor();
  assert.equal(await moment(page), format.time(end));
  await page.close();
});

test("the address follows what is shown, and shows it again", async () => {
  const { page, url, complaints } = await open(fixture("t2"));
  assert.equal(await address(page), "");
  await slide(page, 0.25, end);
  await page.locator('#transfers [data-row="1"] .row-name').click();
  await page.waitForFunction(() => location.hash.includes("transfer="));
  const hash = await address(page);
  const [time, details] = [await moment(page), await page.locator(".details").innerText()];
  await page.goto("about:blank");
  await page.goto(`${url}${hash}`);
  await frames(page);
  assert.equal(await moment(page), time);
  assert.equal(await page.locator(".details").innerText(), details);
  const { from, to } = fixture("t2").runs[0]!.links[0]!;
  await page.evaluate((text) => (location.hash = text), `#link=${from},${to}`);
  await frames(page);
  await frames(page);
  assert.equal(await moment(page), format.time(0));
  assert.match(await page.locator(".details h3").first().innerText(), new RegExp(`${from}.*${to}`));
  await page.locator(".details .close").click();
  await page.waitForFunction(() => location.hash === "");
  const note = page.locator(".note[role=status]", { hasText: "is not on this page" });
  assert.equal(await note.isVisible(), false);
  await page.evaluate(() => (location.hash = "#link=nowhere,x"));
  await note.waitFor();
  assert.match(await note.innerText(), /link=nowhere,x\.$/);
  assert.deepEqual(
    complaints.filter((c) => !c.startsWith("request")),
    [],
  );
  await page.close();
});

/** Rows in which nothing at all is drawn or said. */
const blank = (page: Page, part: string) =>
  page.locator(`${part} .row .track`).evaluateAll(
    (all) =>
      all.filter((track) => {
        const { left, right } = track.getBoundingClientRect();
        const marks = track.querySelectorAll("text, rect, path:not(.moving-edge)");
        return ![...marks].some((m) => {
          const b = m.getBoundingClientRect();
          return b.width > 0 && b.right > left && b.left < right;
        });
      }).length,
  );

test("zooming a page of 100,000 transfers never leaves rows blank", async () => {
  const run = aggregate(madeUp(100_000), { bins: 400, most: 60 }) as unknown as Run;
  const { page, complaints } = await open({ ...fixture("t2"), runs: [run] }, "large");
  // The whole run, about a bin, a hundredth of one, and less than an event takes.
  for (const at of [0.03, 0.4, 0.97])
    for (const length of [run.makespan_s, 2e-3, 2e-5, 2e-8]) {
      const from = Math.min(at * run.makespan_s, run.makespan_s - length);
      const ps = (time: number) => `${Math.round(time * 1e12)}ps`;
      await page.evaluate((hash) => (location.hash = hash), `#from=${ps(from)}&to=${ps(from + length)}`);
      await frames(page);
      await frames(page);
      for (const part of ["#groups", "#transfers", "#heat"])
        assert.equal(await blank(page, part), 0, `${part}: ${length} s from ${from}`);
    }
  assert.deepEqual(complaints, []);
  await page.close();
});

test("a transfer that is not in the time shown says when it is", async () => {
  const { page } = await open(fixture("t2"));
  await slide(page, 0.99, end);
  for (let i = 0; i < 5; i++) await page.locator(".zoom-in").click();
  await frames(page);
  const ended = fixture("t2").runs[0]!.transfers.filter((t) => t.end_s! < end * 0.95);
  assert.ok(ended.length > 0);
  const words = await page.locator("#transfers .elsewhere").allTextContents();
  assert.deepEqual(
    words,
    ended.map((t) => `◂ until ${format.time(t.end_s)}`),
  );
  await page.locator(".zoom-all").click();
  await frames(page);
  assert.equal(await page.locator("#transfers .elsewhere").count(), 0);
  await page.close();
});

test("each picture can be saved as SVG and as PNG", async () => {
  const { page, complaints } = await open(fixture("hol"), "pictures");
  const saved = async (part: string, kind: "SVG" | "PNG") => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(`${part} .save button`, { hasText: kind }).first().click(),
    ]);
    return [download.suggestedFilename(), await readFile((await download.path())!)] as const;
  };
  for (const part of ["#topology", "#transfers", "#lines", "#heat"]) {
    const [name, svg] = await saved(part, "SVG");
    assert.match(name, new RegExp(`^[a-z0-9-]+-${part.slice(1)}\\.svg$`));
    const text = svg.toString("utf8");
    const facts = await page.evaluate((source) => {
      const document = new DOMParser().parseFromString(source, "image/svg+xml");
      return [document.querySelector("parsererror") === null, document.documentElement.textContent] as const;
    }, text);
    assert.ok(facts[0], `${part}: ${text.slice(0, 200)}`);
    assert.doesNotMatch(text, /var\(|class=|color-mix|<script|foreignObject/);
    assert.match(
      facts[1],
      { "#topology": /gpu0/, "#transfers": /20 ms/, "#lines": /100.0 %/, "#heat": /20 ms/ }[part]!,
    );
    const [, png] = await saved(part, "PNG");
    assert.equal(png.subarray(1, 4).toString("latin1"), "PNG");
    // The width in pixels, from the header: twice that of the SVG.
    assert.equal(png.readUInt32BE(16), 2 * Number(/ width="(\d+)"/.exec(text)![1]));
  }
  assert.deepEqual(
    complaints.filter((c) => !/^request: (blob|data):/.test(c)),
    [],
  );
  await page.close();
});
