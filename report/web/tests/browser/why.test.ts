import assert from "node:assert/strict";
import test from "node:test";
import { aggregate } from "#tools/aggregate.mjs";
import type { ReportData, Run } from "../../src/contract.ts";
import * as format from "../../src/core/format.ts";
import { fixture, madeUp } from "../fixture.ts";
import { browser, frames, hover, open, said } from "./open.ts";

browser();

const t2 = () => fixture("t2");
const withRun = (run: Run): ReportData => ({ ...t2(), runs: [run] });

test("marks of changes are readable: words on a plain ground, and no line through them", async () => {
  for (const width of [1300, 700]) {
    const { page } = await open(fixture("halo"));
    await page.setViewportSize({ width, height: 900 });
    await frames(page);
    const marks = await page.locator("#transfers .track").evaluateAll((tracks) =>
      tracks.flatMap((track) => {
        const words = track.querySelector(".change-text") as SVGGraphicsElement | null;
        if (!words) return [];
        const of = (e: Element) => e.getBoundingClientRect();
        const box = track.querySelector(".change-box")!;
        const [text, ground, line] = [of(words), of(box), of(track.querySelector(".change:not(.was)")!)];
        return [
          {
            inside: text.x >= ground.x && text.right <= ground.right && ground.right <= of(track).right,
            crossed: line.bottom > text.y + 2 && line.right > text.x && line.x < text.right,
            covered:
              [...track.children].indexOf(box) > [...track.children].indexOf(track.querySelector(".change.was")!),
            plain: getComputedStyle(box).fillOpacity === "1" && getComputedStyle(box).fill !== "none",
          },
        ];
      }),
    );
    assert.ok(marks.length >= 5);
    for (const mark of marks) assert.deepEqual(mark, { inside: true, crossed: false, covered: true, plain: true });
    await page.close();
  }
});

test("words on bars end where their bars end, however wide their letters are", async () => {
  const wide = JSON.parse(JSON.stringify(t2()).replaceAll('"k80c"', `"${"W".repeat(60)}"`)) as ReportData;
  for (const width of [1300, 700]) {
    const { page } = await open(wide);
    await page.setViewportSize({ width, height: 900 });
    await frames(page);
    const row = page.locator('#transfers [data-row="3"]');
    const [words, bar] = await row.evaluate((e) =>
      [".bar-label", ".moving"].map((s) => e.querySelector(s)!.getBoundingClientRect().right),
    );
    assert.ok(words! <= bar!, `${words} and ${bar}`);
    assert.match((await row.locator(".bar-label").textContent())!, /^\u2068plx1 → W+…\u2069$/);
    await page.close();
  }
  const { page } = await open(fixture("gather"));
  const names = await page.locator("#engines .row .bar-label").allTextContents();
  assert.ok(names.length > 0);
  await page.close();
});

test("what holds transfers back is told in the head and in one table, and leads to its transfers", async () => {
  const { page } = await open(t2());
  assert.match(
    await page.locator(".card .worst").innerText(),
    /^most time is lost at k80a → plx0: 51\.724 ms lost by 2 transfers, upstream port shared and head-of-line blocked$/,
  );
  const rows = await page.locator("#delays tbody tr").allInnerTexts();
  assert.deepEqual(rows[0]!.split("\t"), [
    "k80a → plx0",
    "51.724 ms",
    "96.059 ms (2)",
    "upstream port shared, head-of-line blocked",
  ]);
  assert.equal(rows.length, 3);
  await page.locator("#delays button", { hasText: "k80a → plx0" }).click();
  await frames(page);
  assert.match(await page.locator(".details").innerText(), /It holds 2 of them back, for 96\.059 ms in sum\./);
  const delayed = await page.locator(".details tbody tr td:nth-child(3)").allInnerTexts();
  assert.deepEqual(delayed, ["66.502 ms", "29.557 ms"]);
  await page.getByLabel("order").selectOption("delayed");
  await frames(page);
  assert.deepEqual((await page.locator("#transfers .row .id").allInnerTexts()).slice(0, 2), ["a", "b"]);
  await page.close();

  const halo = await open(fixture("halo"), "halo");
  const waits = halo.page.locator("#delays tr.waits td");
  const [, b] = fixture("halo").runs as [Run, Run];
  const sum = b.transfers.reduce((s, t) => s + t.start_s! - t.ready_s!, 0);
  assert.equal(await waits.nth(3).innerText(), format.time(sum));
  const causes = await halo.page.locator("#differences tbody tr").first().locator("td.text").allInnerTexts();
  assert.equal(causes.length, 2);
  for (const cause of causes) assert.match(cause, / at .* → /);
  await halo.page.close();
});

test("details begin with the main cause, and culprits and links lead on", async () => {
  const { page } = await open(t2());
  await page.locator('#transfers [data-row="0"] .row-name').click();
  await frames(page);
  const details = page.locator(".details");
  const cause = details.locator(".main-cause");
  assert.equal(await cause.locator("b").innerText(), "head-of-line blocked behind b");
  assert.ok(Number(await cause.locator("b").evaluate((e) => getComputedStyle(e).fontWeight)) >= 600);
  assert.match(await details.locator(".now").innerText(), /step D \(8\): head-of-line blocked\), because of b$/);
  assert.deepEqual(await details.locator(".spent li").allInnerTexts(), [
    "held back at k80a → plx0: 66.502 ms, 100.0 %; 40.640 ms lost",
  ]);
  await details.locator(".now button.transfer").click();
  await frames(page);
  assert.equal(await details.locator("h3 bdi").innerText(), "b");
  assert.equal(await page.locator('#transfers .row[aria-selected="true"] .id').innerText(), "b");

  // Where the details are out of sight, the bar at the top tells the answer.
  const note = page.locator(".selection-note");
  await page.locator("#heat").scrollIntoViewIfNeeded();
  await page.locator("footer").scrollIntoViewIfNeeded();
  await note.waitFor({ state: "visible" });
  assert.match(await note.innerText(), /^b · downstream port shared with d, at plx1 → k80c/);
  await note.getByText("Details").click();
  await note.waitFor({ state: "hidden" });
  await page.close();
});

test("a selected link shows the transfer that it costs most; rows can be those of the time shown", async () => {
  const { page } = await open(fixture("gather"));
  const run = fixture("gather").runs[0]!;
  await page.locator("#delays button").first().click();
  await frames(page);
  const listed = await page.locator("#transfers .row .id").allInnerTexts();
  const first = await page.locator(".details tbody tr:nth-child(1) .transfer").innerText();
  assert.ok(listed.includes(first), `${first} in ${listed.join(" ")}`);

  const [from, to] = [run.makespan_s * 0.75, run.makespan_s];
  for (const what of ["Zoom in", "Zoom in", "Show later time", "Show later time"]) await page.getByLabel(what).click();
  for (let i = 0; i < 8; i++) await page.getByLabel("Show later time").click();
  await frames(page);
  assert.equal(await page.locator(".zoom-window").innerText(), format.range(from, to));
  await page.getByLabel("only those of the time shown").check();
  await frames(page);
  const inside = run.transfers.filter((t) => t.ready_s! <= to && t.end_s! >= from);
  assert.ok(inside.length < run.transfers.length);
  const rows = page.locator("#transfers .row").first();
  assert.equal(await rows.getAttribute("aria-setsize"), String(inside.length));
  await page.locator(".zoom-all").click();
  await frames(page);
  assert.equal(await rows.getAttribute("aria-setsize"), String(run.transfers.length));
  await page.close();
});

test("waiting names the engine that a task of an operation waits for", async () => {
  const { page } = await open(fixture("gather"));
  const run = fixture("gather").runs[0]!;
  await page.getByLabel("find").fill("alone/m5.0");
  await frames(page);
  const t = run.transfers.find((x) => x.id === "alone/m5.0")!;
  const part = (t.ready_s! + t.start_s!) / 2 / run.makespan_s;
  const lines = await hover(page, page.locator('#transfers [data-row="0"]'), part);
  const engine = run.plans!.find((p) => p.id === "alone")!.engines.find((e) => e.tasks.some((x) => x.task === "m5.0"))!;
  assert.equal(said(lines, "state"), `waiting for engine ${engine.engine}`);
  assert.equal(said(lines, "main cause"), `${t.cause} at ${engine.engine}`);
  assert.match(t.cause!, /^queued behind /);
  await page.close();
});

test("the words of the tooltip are explained beside the Gantt", async () => {
  const { page } = await open(t2());
  const terms = page.locator("#transfers .terms");
  await terms.locator("summary").click();
  const words = await terms.locator("dt").allInnerTexts();
  const lines = await hover(page, page.locator('#transfers [data-row="0"]'), 0.2);
  assert.equal(lines[1], "main cause\nhead-of-line blocked behind b");
  for (const word of ["bottleneck", "main cause", "decided at step", "because of"]) {
    assert.ok(said(lines, word), word);
    assert.ok(
      words.some((w) => w.includes(word)),
      word,
    );
  }
  assert.ok(words.includes(said(lines, "decided at step")!));
  await page.close();
  const { page: other } = await open(fixture("gather"));
  await other.locator("#transfers .terms summary").click();
  assert.doesNotMatch(await other.locator("#transfers .terms").innerText(), /pcie/);
  await other.close();
});

test("what there is nothing of is said, and nothing is offered that does nothing", async () => {
  const run = t2().runs[0]!;
  const still = { ...run, transfers: [], phases: [], explain: [], makespan_s: 0, makespan_ps: 0 };
  const links = run.links.map((l) => ({ ...l, bytes: 0, busy_s: 0, peak_Bps: 0 }));
  const empty = await open(withRun({ ...still, links }), "empty");
  assert.deepEqual(empty.complaints, []);
  assert.match(await empty.page.locator("#transfers").innerText(), /No transfers in this run\./);
  assert.match(await empty.page.locator(".card").innerText(), /no transfers/);
  assert.match(await empty.page.locator(".details").innerText(), /^No transfers in this run\. Click a link/);
  assert.equal(await empty.page.locator(".timebar, #delays").count(), 0);
  await empty.page.locator(".wire").first().dispatchEvent("click");
  await frames(empty.page);
  assert.match(await empty.page.locator(".details").innerText(), /No transfers in this run/);
  await empty.page.close();

  const { nodes, phases, explain, ...rest } = run;
  const plain = await open(withRun({ ...rest, transfers: rest.transfers.map(({ route, ...t }) => t) } as Run), "plain");
  assert.equal(await plain.page.locator(".details").innerText(), "Click a transfer to see what held it back.");
  await plain.page.close();
});

test("a group of an aggregated run tells its facts, and its slowest transfers lead on", async () => {
  const run = aggregate(madeUp(3000), { most: 200 }) as unknown as Run;
  const { page, complaints } = await open(withRun(run));
  const group = run.aggregated!.groups[2]!;
  await page.locator('#groups [data-row="2"] .row-name').click();
  await frames(page);
  assert.equal(await page.locator('#groups [data-row="2"]').getAttribute("aria-selected"), "true");
  const details = page.locator(".details");
  assert.equal(await details.locator("h3 bdi").innerText(), group.name);
  const facts = await details.locator("dd").allInnerTexts();
  assert.deepEqual(facts.slice(0, 4), [
    format.count(group.count),
    format.bytes(group.bytes),
    format.time(group.start_s),
    format.time(group.end_s),
  ]);
  assert.ok(facts[4]!.startsWith(format.rate(group.bytes / (group.end_s! - group.start_s!))));
  const kept = run.transfers.filter((t) => t.from === group.name);
  assert.equal(await details.locator("tbody tr").count(), Math.min(20, kept.length));
  await details.locator("button.transfer").first().click();
  await frames(page);
  const id = await details.locator("h3 bdi").innerText();
  assert.ok(
    kept.some((t) => t.id === id),
    id,
  );
  assert.equal(await page.locator('#groups [aria-selected="true"]').count(), 0);
  await page.locator('#groups [data-row="2"] .row-name').click();
  await page.locator('#groups [data-row="2"] .row-name').click();
  await frames(page);
  assert.equal(await page.locator('#groups [aria-selected="true"]').count(), 0);
  assert.deepEqual(complaints, []);
  await page.close();
});
