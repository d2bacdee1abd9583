// What changes would save: bars beside the topology, and a table.

import type { Ends, WhatIf, WhatIfChange } from "../contract.ts";
import { button, h, name, section, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { numberOf } from "../run/delays.ts";
import type { RunView } from "../run/view.ts";
import { dataTable } from "./measured.ts";
import { more } from "./parts.ts";

/** Rows of a table, and bars, before the rest is only counted. */
const [MOST_ROWS, MOST_BARS] = [200, 12];
/** Settings of one change that a row lists. */
const MOST_SET = 2;

/** What is changed, with the change of it that saves most: the smallest factor that does, where that is known. */
interface Bar {
  of: string;
  best: WhatIfChange;
  links: Ends[];
}

/** Per thing that is changed the best change, the best thing first; what saves nothing is left out. */
export function barsOf(data: WhatIf): Bar[] {
  const best = new Map<string, WhatIfChange>();
  for (const change of data.changes) {
    const before = best.get(change.of);
    const better = !before || (!before.enough && (change.enough || change.makespan_ps < before.makespan_ps));
    if (better) best.set(change.of, change);
  }
  const bars = [...best].map(([of, change]) => ({ of, best: change, links: change.links }));
  return bars.filter((b) => b.best.saved_s > 0).sort((a, b) => b.best.saved_s - a.best.saved_s);
}

/** Bars of what widening links would save, for the results of the runs that are shown; a click selects a link. */
export function whatIfBars(all: WhatIf[], views: RunView[], store: Store): HTMLElement | null {
  const of = all.filter((data) => views.some((v) => isOf(data, v)));
  if (of.length === 0) return null;
  return h(
    "div",
    { class: "what-if-bars", role: "group", "aria-label": "What wider links would save" },
    ...of.map((data) => barList(data, views, store)),
  );
}

function isOf(data: WhatIf, { run }: RunView): boolean {
  // Of the same input and policy, and with the same values: their makespans are equal.
  const same = data.input_sha256 === run.input_sha256 && data.makespan_ps === run.makespan_ps;
  return same && data.arbiter.name === run.arbiter.name;
}

function barList(data: WhatIf, views: RunView[], store: Store): HTMLElement {
  const bars = barsOf(data);
  const none =
    bars.length === 0 && h("p", { class: "small" }, "No change of a link, latency or engine saves anything.");
  return h(
    "div",
    {},
    h("h3", {}, `Would save most, of ${format.time(data.makespan_s)}`),
    none,
    ...bars.slice(0, MOST_BARS).map((bar) => barRow(bar, views, store)),
    more(bars.length, MOST_BARS),
  );
}

function barRow({ of, best, links }: Bar, views: RunView[], store: Store): HTMLElement {
  const found = links.map((ends) => views.map((v) => numberOf(v, ends)).find((n) => n !== null));
  const link = found.find((n) => n !== undefined);
  const label = link === undefined ? name(of) : button(name(of), () => store.set({ link }), { class: "hop" });
  const filled = h("div", { class: "filled" });
  // By the object model: the page allows no styles in attributes.
  filled.style.width = `${Math.min(100, best.saved_percent).toFixed(2)}%`;
  return h(
    "div",
    { class: "what-if-bar" },
    h("div", {}, label, h("span", { class: "small" }, ` ${changeWords(best)}`)),
    h("div", { class: "track" }, filled),
    h("div", { class: "small" }, `${format.time(best.saved_s)}, ${best.saved_percent.toFixed(2)} % saved`),
  );
}

/** A change in words, without its object. */
export function changeWords(change: WhatIfChange): string {
  if (change.what === "latency" || change.what === "overhead") return "halved";
  if (change.what === "engines") return "one more";
  if (change.factor === null) return "no limit";
  return `× ${change.factor}${change.enough ? ", no more needed" : ""}`;
}

export function whatIfSection(data: WhatIf, index: number): HTMLElement {
  const priced = data.changes.some((c) => c.saved_s_per_cost != null);
  const rows = data.changes.slice(0, MOST_ROWS).map((c) => cellsOf(c, priced));
  const head = [
    "change",
    "makespan",
    "saved",
    "of it",
    ...(priced ? ["cost", "saved per cost"] : []),
    "then held at",
    "set",
  ];
  return section(
    `what-if-${index}`,
    `What if: ${data.scenario}`,
    `${data.file}, ${format.arbiter(data.arbiter)}. Every row is a run of its own, against ${format.time(data.makespan_s)}.`,
    dataTable(head, rows),
    more(data.changes.length, MOST_ROWS),
    ...notes(data).map((text) => h("p", { class: "small" }, visible(text))),
  );
}

function cellsOf(c: WhatIfChange, priced: boolean): (string | HTMLElement)[] {
  const held =
    c.held_at &&
    (c.held_at.from === c.held_at.to ? `memory of ${c.held_at.from}` : `${c.held_at.from} ↔ ${c.held_at.to}`);
  const cost = [c.cost == null ? format.NONE : String(c.cost), signedTime(c.saved_s_per_cost)];
  return [
    h("span", {}, name(c.of), ` ${changeWords(c)}`),
    format.time(c.makespan_s),
    signedTime(c.saved_s),
    `${c.saved_percent < 0 ? "−" : ""}${Math.abs(c.saved_percent).toFixed(2)} %`,
    ...(priced ? cost : []),
    visible(held || format.NONE),
    visible(settings(c)),
  ];
}

/** What to set, if it is short. */
function settings({ set }: WhatIfChange): string {
  if (set.length > MOST_SET) return `${format.counted(set.length, "value")}: the JSON lists them`;
  return set.map(({ path, value }) => `${path}=${value}`).join(", ") || format.NONE;
}

function signedTime(seconds: number | null | undefined): string {
  if (seconds == null) return format.NONE;
  return seconds < 0 ? `−${format.time(-seconds)}` : format.time(seconds);
}

/** What stands below the table: the bound, what carries nothing, and what was left out. */
function notes(data: WhatIf): string[] {
  const { bound } = data;
  const all = bound && `With no limit on any link and memory: ${format.time(bound.makespan_s)}.`;
  const unused = data.unused.length > 0 && `Carries nothing: ${data.unused.join(", ")}.`;
  const left = data.left_out.map((x) => `Left out: ${x.of}: ${x.why}.`);
  const cut = !data.complete && "Not complete: some changes were not tried.";
  return [all, unused, ...left, cut].filter((x): x is string => typeof x === "string");
}
