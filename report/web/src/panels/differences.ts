// The table of what differs between the shown runs and the first of them.

import type { Transfer } from "../contract.ts";
import { arrow, h, name, section } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { rove } from "../core/rove.ts";
import type { Store } from "../core/store.ts";
import { bottleneckOf } from "../run/alone.ts";
import { type Difference, differences, endCounts } from "../run/diff.ts";
import { type RunView, lacks } from "../run/view.ts";
import { mainCause } from "../run/words.ts";
import { more, table, transferButton } from "./parts.ts";

const MOST = 200;

export function differencesSection(views: RunView[], store: Store): HTMLElement {
  const body = h("div", {});
  const update = () =>
    body.replaceChildren(
      ...contents(
        store.state.visible.map((i) => views[i]!),
        store,
      ),
    );
  store.on(["visible"], update);
  update();
  return section(
    "differences",
    "Differences",
    "Ends of transfers, and how much later (▲) or earlier (▼) they are than in the first shown run; the largest differences first.",
    body,
  );
}

/** How many transfers of a run are later, earlier, equal, and not comparable. */
function endCountsLine(base: RunView, v: RunView): HTMLElement {
  const t = endCounts(base, v);
  const parts = [
    `${format.count(t.later)} later`,
    `${format.count(t.earlier)} earlier`,
    `${format.count(t.same)} equal`,
  ];
  if (t.open) parts.push(`${format.count(t.open)} did not end`);
  if (t.closed) parts.push(`${format.count(t.closed)} ended only here`);
  if (t.neither) parts.push(`${format.count(t.neither)} ended in neither`);
  if (t.only) parts.push(`${format.count(t.only)} ${lacks(base)}`);
  return h("li", {}, h("b", { class: "letter" }, v.letter), name(v.title), `: ${parts.join(", ")}`);
}

function contents(views: RunView[], store: Store): HTMLElement[] {
  const base = views[0]!;
  if (views.length < 2) return [h("p", {}, "Only one run is shown.")];
  const all = differences(views);
  const counts = views.slice(1).map((v) => endCountsLine(base, v));
  const head = [
    "transfer",
    ...views.map((v) => `end in ${v.letter}`),
    ...views.slice(1).map((v) => `${v.letter} against ${base.letter}`),
  ];
  const why = views.length === 2 ? views : views.slice(1);
  const rows = all.slice(0, MOST).map((d) => differenceRow(d, why, store));
  const words = why.map((v) => `main cause in ${v.letter}`);
  const parts = [
    h("ul", { class: "counts" }, ...counts),
    all.length > 0 &&
      h(
        "div",
        { class: "scroll wide-words", tabindex: 0, role: "region", "aria-label": "Table of differences" },
        rove(table(head, words, rows), "button"),
      ),
    more(all.length, MOST),
  ];
  return parts.filter((x) => x !== false);
}

/** `why`: the runs whose causes are told: both of two, otherwise those that are compared with the first. */
function differenceRow(d: Difference, why: RunView[], store: Store): HTMLElement {
  const ends = d.ends.map((end, i) => h("td", {}, d.open[i] ? "did not end" : format.time(end)));
  const changes = d.changes.slice(1).map((x, i) => changeCell(x, d.ends[0] ?? null, d.ends[i + 1] ?? null));
  const causes = why.map((v) => causeCell(v.transfers.get(d.id)));
  return h("tr", {}, h("td", {}, transferButton(d.id, store)), ...ends, ...changes, ...causes);
}

/** What held it back most in a run. */
function causeCell(t: Transfer | undefined): HTMLElement {
  if (!t?.bottleneck) return h("td", { class: "text" }, format.NONE);
  const at = bottleneckOf(t);
  return h("td", { class: "text" }, mainCause(t), at && " at ", at && arrow(at.from, at.to));
}

function changeCell(change: number | null, base: number | null, end: number | null): HTMLElement {
  if (change === null) return h("td", {}, format.NONE);
  if (change === 0) return h("td", {}, "=");
  const ratio = base && end !== null ? ` (${format.ratio(end / base)})` : "";
  return h(
    "td",
    { class: change > 0 ? "slower" : "faster" },
    `${change > 0 ? "▲" : "▼"} ${format.timeChange(change)}${ratio}`,
  );
}
