import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import type { Phase, Run } from "../../src/contract.ts";
import * as format from "../../src/core/format.ts";
import { fixture } from "../fixture.ts";
import { browser, embedded, frames, hover, open, said, slide } from "./open.ts";

browser();

/** The load of a link in a phase, from the JSON alone. */
function loadIn(run: Run, phase: Phase | undefined, link: number): number {
  return run.transfers.reduce((sum, t) => sum + (t.route!.includes(link) ? (phase?.rates_Bps[t.id] ?? 0) : 0), 0);
}

const phaseAt = (run: Run, time: number) => run.phases!.find((p) => p.start_s <= time && time < p.end_s);
const close = (a: number, b: number) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${a} and ${b}`);

async function uses(page: Page, run = 0): Promise<Map<number, number>> {
  const all = await page
    .locator(`.panel[data-run="${run}"] .wire`)
    .evaluateAll((wires) =>
      wires.map(
        (w) => [Number((w as HTMLElement).dataset.link), Number((w as HTMLElement).dataset.use)] as [number, number],
      ),
    );
  return new Map(all);
}

for (const name of ["t2", "halo", "hol", "gather", "streams", "lateral"])
  test(`${name} opens without complaints and loads nothing`, async () => {
    const { page, complaints } = await open(fixture(name), name);
    assert.deepEqual(complaints, []);
    assert.ok((await page.title()).endsWith("weir report"));
    assert.deepEqual(await embedded(page), fixture(name));
    assert.equal(
      await page
        .locator(".card .big")
        .first()
        .innerText()
        .then((t) => t.split(" ").slice(0, 2).join(" ")),
      format.time(fixture(name).runs[0]!.makespan_s),
    );
    await page.close();
  });

test("the slider shows the utilisation of every link at its moment", async () => {
  const { page } = await open(fixture("t2"));
  const run = (await embedded(page)).runs[0]!;
  for (const part of [0, 0.3, 0.7, 0.999]) {
    const time = await slide(page, part, run.makespan_s);
    assert.equal(await page.locator(".moment").innerText(), format.time(time));
    const shown = await uses(page);
    for (const link of run.links)
      close(shown.get(link.id!)!, loadIn(run, phaseAt(run, time), link.id!) / link.bandwidth_Bps!);
  }
  await page.close();
});

test("the mean over the run is bytes over bandwidth and makespan", async () => {
  const { page } = await open(fixture("t2"));
  const run = (await embedded(page)).runs[0]!;
  await page.getByLabel("mean over the run instead of the moment").check();
  await frames(page);
  const shown = await uses(page);
  for (const link of run.links) close(shown.get(link.id!)!, link.bytes / (link.bandwidth_Bps! * run.makespan_s));
  await page.close();
});

test("pointing at a link tells its load and who makes it", async () => {
  const { page } = await open(fixture("t2"));
  const run = (await embedded(page)).runs[0]!;
  const link = run.links.find((l) => l.from === "plx1" && l.to === "k80c")!;
  await page.locator(`.wire[data-link="${link.id}"] .hit`).hover();
  const lines = await page.locator(".tip > div").allInnerTexts();
  const load = loadIn(run, run.phases![0], link.id!);
  assert.equal(lines[0], "plx1 → k80c");
  assert.equal(said(lines, "load"), `${format.rate(load)} of ${format.rate(link.bandwidth_Bps)}`);
  assert.equal(said(lines, "transfers"), "b, d");
  await page.close();
});

test("the table of transfers has the numbers of the JSON", async () => {
  const { page } = await open(fixture("t2"));
  const run = (await embedded(page)).runs[0]!;
  await page.locator("#transfers .as-table summary").click();
  await frames(page);
  const rows = await page.locator("#transfers .as-table tbody tr").allInnerTexts();
  const expected = run.transfers.map((t) =>
    [
      t.id,
      `${t.from} → ${t.to}`,
      format.bytes(t.bytes),
      format.time(t.ready_s),
      format.time(t.start_s),
      format.time(t.end_s),
      format.rate(t.mean_Bps),
      format.ratio((t.end_s! - t.start_s!) / t.alone_s!),
      format.link(t.bottleneck),
      t.cause,
    ].join("\t"),
  );
  assert.deepEqual(rows, expected);
  await page.close();
});

test("rows are sorted and found", async () => {
  const { page } = await open(fixture("t2"));
  const ids = () => page.locator("#transfers .row .id").allInnerTexts();
  await page.getByLabel("order").selectOption("slowdown");
  await frames(page);
  assert.deepEqual(await ids(), ["a", "b", "c", "d"]);
  await page.getByLabel("order").selectOption("end");
  await frames(page);
  assert.deepEqual(await ids(), ["c", "d", "a", "b"]);
  await page.getByLabel("find").fill("gpu6");
  await frames(page);
  assert.deepEqual(await ids(), ["d"]);
  await page.close();
});

test("a click on a link lists its transfers, a click on one of them lights its route", async () => {
  const { page } = await open(fixture("t2"));
  const run = (await embedded(page)).runs[0]!;
  const link = run.links.find((l) => l.from === "k80a" && l.to === "plx0")!;
  await page.locator(`.wire[data-link="${link.id}"] .hit`).click();
  await frames(page);
  const listed = await page.locator(".details button.transfer").allInnerTexts();
  assert.deepEqual(
    listed,
    run.transfers.filter((t) => t.route!.includes(link.id!)).map((t) => t.id),
  );
  const rates = await page.locator(".details tbody tr td:nth-child(2)").allInnerTexts();
  assert.deepEqual(
    rates,
    listed.map((id) => format.rate(run.phases![0]!.rates_Bps[id]!)),
  );
  assert.deepEqual(await page.locator('#transfers .row[aria-selected="true"] .id').allInnerTexts(), listed);

  await page.locator('.details button[data-transfer="b"]').click();
  await frames(page);
  const lit = await page
    .locator(".wire.lit")
    .evaluateAll((all) => all.map((w) => Number((w as HTMLElement).dataset.link)));
  const b = run.transfers.find((t) => t.id === "b")!;
  assert.deepEqual(lit.sort(), [...b.route!].sort());
  assert.equal(await page.locator(".node.lit").count(), b.route!.length + 1);
  assert.match(await page.locator(".details dl").innerText(), new RegExp(`${b.end_ps} ps`));
  await page.close();
});

test("pointing at a bar tells rate, bottleneck, step, culprits and cause of that moment", async () => {
  const { page } = await open(fixture("t2"));
  const run = (await embedded(page)).runs[0]!;
  for (const [row, t] of run.transfers.entries())
    for (const part of [0.2, 0.8]) {
      const lines = await hover(page, page.locator(`#transfers [data-row="${row}"]`), part);
      const p = run.phases!.findIndex((x) => x.start_s <= part * run.makespan_s && part * run.makespan_s < x.end_s);
      const rate = run.phases![p]!.rates_Bps[t.id];
      assert.equal(lines[0], t.id);
      if (rate === undefined) {
        assert.match(said(lines, "state")!, /^over since/);
        continue;
      }
      const step = run.explain![p]!.transfers.find((x) => x.id === t.id)!.steps.findLast((x) => x.link)!;
      assert.equal(said(lines, "rate"), format.rate(rate));
      assert.equal(said(lines, "bottleneck"), `${step.link!.from} → ${step.link!.to}`);
      assert.ok(said(lines, "decided at step")!.startsWith(`${step.step}: `), said(lines, "decided at step"));
      assert.equal(said(lines, "because of"), step.because.join(", "));
      assert.equal(lines[1], `main cause\n${t.cause}`, "the answer comes first");
    }
  await page.close();
});

test("waiting and blocked spans are told apart", async () => {
  const { page } = await open(fixture("hol"));
  const run = fixture("hol").runs[1]!;
  const row = page.locator('#transfers [data-row="2"]');
  const c = run.transfers[2]!;
  assert.equal(run.phases![0]!.rates_Bps[c.id], 0);
  const lines = await hover(page, row, 0.1, 0.5);
  assert.equal(said(lines, "run"), "B fcfs");
  assert.equal(said(lines, "blocked"), "0 B/s");
  assert.equal((await row.locator("rect.blocked").count()) > 0, true);
  assert.equal(await row.locator("rect.waiting").count(), 0);

  const halo = await open(fixture("halo"), "halo");
  const waits = fixture("halo").runs[0]!.transfers.findIndex((t) => t.start_s! > t.ready_s!);
  const waiting = halo.page.locator(`#transfers [data-row="${waits}"]`);
  assert.ok((await waiting.locator("rect.waiting").count()) > 0);
  assert.match(said(await hover(halo.page, waiting, 0.001, 0.2), "state")!, /^waiting for the engine of/);
  await page.close();
  await halo.page.close();
});

test("wheel, buttons, dragging and keys zoom and pan all time axes", async () => {
  const { page } = await open(fixture("t2"));
  const ruler = page.locator("#transfers .ruler");
  const marks = () =>
    ruler
      .locator("text")
      .allTextContents()
      .then((t) => t.join(" "));
  await page.locator("#transfers .rows").scrollIntoViewIfNeeded();
  const track = (await page.locator('#transfers [data-row="1"] .track').boundingBox())!;
  const window = () => page.locator(".zoom-window").innerText();
  const all = await marks();
  assert.equal(await window(), "");

  await page.mouse.move(track.x + track.width / 2, track.y + 5);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  await frames(page);
  const zoomed = await marks();
  assert.notEqual(zoomed, all);
  assert.equal(
    await page
      .locator("#heat .ruler text")
      .allTextContents()
      .then((t) => t.join(" ")),
    zoomed,
  );
  // A factor of e about the middle of 66.502 ms leaves 24.465 ms.
  assert.equal(await window(), "21.019 ms to 45.484 ms");

  await page.mouse.move(track.x + 600, track.y + 5);
  await page.mouse.down();
  await page.mouse.move(track.x + 300, track.y + 5, { steps: 4 });
  await page.mouse.up();
  await frames(page);
  const [from] = (await window()).split(" ms");
  assert.ok(Math.abs(Number(from) - (21.019 + (300 / track.width) * 24.465)) < 0.05, from);
  assert.equal(await page.locator('.row[aria-selected="true"]').count(), 0, "dragging selects nothing");

  await page.locator(".zoom-all").click();
  await frames(page);
  assert.equal(await marks(), all);
  await page.locator(".zoom-in").click();
  await frames(page);
  assert.equal(await window(), "0 s to 33.251 ms");
  await page.locator("#transfers .rows").focus();
  await page.keyboard.press("0");
  await frames(page);
  assert.equal(await window(), "");
  await page.close();
});

test("the heat map tells the utilisation of a link at a moment", async () => {
  const { page } = await open(fixture("t2"));
  const run = (await embedded(page)).runs[0]!;
  for (const row of [0, 4, 8]) {
    const lines = await hover(page, page.locator(`#heat [data-row="${row}"]`), 0.75);
    const link = run.links.find((l) => `${l.from} → ${l.to}` === lines[0])!;
    const load = loadIn(run, phaseAt(run, 0.75 * run.makespan_s), link.id!);
    assert.equal(said(lines, "utilisation"), format.percent(load / link.bandwidth_Bps!));
    assert.equal(said(lines, "load"), `${format.rate(load)} of ${format.rate(link.bandwidth_Bps)}`);
  }
  await page.close();
});

test("lines tell the values under the pointer, and dragging over them zooms", async () => {
  const { page } = await open(fixture("t2"));
  const run = (await embedded(page)).runs[0]!;
  const over = page.locator("#lines .u-over");
  await over.scrollIntoViewIfNeeded();
  const box = (await over.boundingBox())!;
  await page.mouse.move(box.x + 0.25 * box.width, box.y + 50);
  await frames(page);
  const keys = await page
    .locator(".line-key")
    .evaluateAll((all) =>
      all.map(
        (k) => [Number((k as HTMLElement).dataset.link), k.querySelector(".value")!.textContent] as [number, string],
      ),
    );
  assert.ok(keys.length >= 6);
  for (const [id, text] of keys) {
    const link = run.links.find((l) => l.id === id)!;
    assert.equal(text, format.percent(loadIn(run, phaseAt(run, 0.25 * run.makespan_s), id) / link.bandwidth_Bps!));
  }
  await page.mouse.down();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + 60, { steps: 3 });
  await page.mouse.up();
  await frames(page);
  const [from, to] = (await page.locator(".zoom-window").innerText()).split(" to ").map(Number.parseFloat);
  assert.ok(Math.abs(from! - 16.63) < 0.2 && Math.abs(to! - 33.25) < 0.2, `${from} to ${to}`);
  await page.close();
});

test("two orders of a 3-D halo stand side by side on one axis, with their differences", async () => {
  const { page } = await open(fixture("halo"));
  const [a, b] = (await embedded(page)).runs as [Run, Run];
  assert.equal(await page.locator(".panel").count(), 2);
  const time = await slide(page, 0.2, a.makespan_s);
  for (const [i, run] of [a, b].entries()) {
    const shown = await uses(page, i);
    for (const link of run.links)
      close(shown.get(link.id!)!, loadIn(run, phaseAt(run, time), link.id!) / link.bandwidth_Bps!);
  }
  const differing = b.transfers.filter(
    (t) => Math.abs(t.end_s! - a.transfers.find((x) => x.id === t.id)!.end_s!) > 1e-9 * t.end_s!,
  );
  assert.equal(await page.locator("#differences tbody tr").count(), differing.length);
  const row = page.locator("#transfers .row", { hasText: "h.0-2" }).first();
  const change = b.transfers.find((t) => t.id === "h.0-2")!.end_s! - a.transfers.find((t) => t.id === "h.0-2")!.end_s!;
  assert.equal(await row.locator(".change-text").textContent(), `▲ ${format.timeChange(change)}`);
  const box = page.getByLabel("Show run A");
  await box.uncheck();
  await frames(page);
  assert.equal(await page.locator(".panel").count(), 1);
  await page.getByLabel("Show run B").click();
  await frames(page);
  assert.equal(await page.getByLabel("Show run B").isChecked(), true, "one run stays");
  await page.close();
});

test("a gather over a network: engines as rows, tasks that are transfers lead to them", async () => {
  const { page } = await open(fixture("gather"));
  const run = (await embedded(page)).runs[0]!;
  const plan = run.plans![0]!;
  const nic = plan.engines.find((e) => e.engine?.endsWith("nic"))!;
  const row = page.locator("#engines .row", { hasText: nic.engine! }).first();
  const task = nic.tasks[3]!;
  const part = (task.start_s! + task.end_s!) / 2 / run.makespan_s;
  const lines = await hover(page, row, part);
  assert.equal(said(lines, "task"), task.task);
  assert.equal(said(lines, "for"), format.time(task.end_s! - task.start_s!));
  await page.mouse.down();
  await page.mouse.up();
  await frames(page);
  assert.match(await page.locator(".details h3").innerText(), new RegExp(`${plan.id}/${task.task}`));
  assert.equal(
    await page.locator("#operations tbody tr").count(),
    run.operations.filter((o) => o.estimates.length).length,
  );
  await page.close();
});

test("a run saved without --full is not shown as idle", async () => {
  const run = fixture("t2").runs[0]!;
  const short: Run = {
    ...run,
    nodes: null,
    phases: null,
    explain: null,
    transfers: run.transfers.map((t) => ({ ...t, route: undefined })),
    links: run.links.map(({ from, to, bytes, busy_s, peak_Bps }) => ({ from, to, bytes, busy_s, peak_Bps })),
  };
  const { page, complaints } = await open({ ...fixture("t2"), runs: [run, short] });
  assert.match(await page.locator('.panel[data-run="1"]').innerText(), /hold no topology/);
  for (const value of await page.locator(".line-key .value").allInnerTexts()) assert.match(value, /B –$/);
  assert.match(await page.locator('.plot[data-run="1"]').innerText(), /Not known/);
  await page.locator('.panel[data-run="0"] .wire').first().dispatchEvent("click");
  await frames(page);
  assert.match(await page.locator(".details").innerText(), /not known|Carried nothing in run B/);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("jobs stand in a table where one is slowed, each with its time alone", async () => {
  const run = fixture("t2").runs[0]!;
  const job = { kind: "pattern", start_s: 0.001, end_s: 0.021, end_ps: 21_000_000_000, alone_s: 0.01 };
  const jobs = [
    { ...job, id: "halo", slowdown: 2 },
    { ...job, id: "<free>", alone_s: 0.02, slowdown: 1 },
  ];
  const { page, complaints } = await open({ ...fixture("t2"), runs: [{ ...run, jobs }] });
  const rows = page.locator("#jobs tbody tr");
  assert.deepEqual(await rows.nth(0).locator("td").allInnerTexts(), [
    "halo",
    "pattern",
    format.time(0.001),
    format.time(0.021),
    format.time(0.02),
    format.time(0.01),
    "2.000×",
  ]);
  assert.equal(await rows.nth(1).locator("td").first().innerText(), "<free>");
  await page.close();
  const free = await open({ ...fixture("t2"), runs: [{ ...run, jobs: jobs.slice(1) }] });
  assert.equal(await free.page.locator("#jobs").count(), 0);
  assert.deepEqual([...complaints, ...free.complaints], []);
  await free.page.close();
});

test("on paper rows keep the widths of names and tracks, and finding nothing is said", async () => {
  const { page } = await open(fixture("t2"));
  await page.locator('input[type="search"]').fill("zzz");
  await frames(page);
  assert.equal(await page.locator(".controls .none").innerText(), "no transfer matches");
  await page.locator('input[type="search"]').fill("");
  await frames(page);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 850, height: 900 });
  await frames(page);
  const row = page.locator("#transfers .row").first();
  const [names, ruler] = [
    (await row.locator(".row-name").boundingBox())!.width,
    await page.locator("#transfers .ruler line").first().getAttribute("x1"),
  ];
  assert.ok(Math.abs(names - Number(ruler)) < 1, `${names} and ${ruler}`);
  await page.close();
});
