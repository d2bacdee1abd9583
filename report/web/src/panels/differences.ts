// The table of what differs between the shown runs and the first of them.

import { h, name, section, button } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { type Difference, differences, tally } from "../run/diff.ts";
import type { RunView } from "../run/view.ts";

const MOST = 200;

export function differencesSection(views: RunView[], store: Store): HTMLElement {
  const body = h("div", {});
  const update = () =>
    body.replaceChildren(
      ...contents(
        store.state.shown.map((i) => views[i]!),
        store,
      ),
    );
  store.on(["shown"], update);
  update();
  return section(
    "differences",
    "Differences",
    "Ends of transfers, and how much later (▲) or earlier (▼) they are than in the first shown run.",
    body,
  );
}

function contents(views: RunView[], store: Store): HTMLElement[] {
  const base = views[0]!;
  if (views.length < 2) return [h("p", {}, "Only one run is shown.")];
  const all = differences(views);
  const counts = views.slice(1).map((v) => {
    const t = tally(base, v);
    const parts = [
      `${format.count(t.later)} later`,
      `${format.count(t.earlier)} earlier`,
      `${format.count(t.same)} equal`,
    ];
    if (t.open) parts.push(`${format.count(t.open)} did not end`);
    if (t.closed) parts.push(`${format.count(t.closed)} ended only here`);
    if (t.neither) parts.push(`${format.count(t.neither)} ended in neither`);
    if (t.only) parts.push(`${format.count(t.only)} not in ${base.letter}`);
    return h("li", {}, h("b", { class: "letter" }, v.letter), name(v.title), `: ${parts.join(", ")}`);
  });
  const head = [
    "transfer",
    ...views.map((v) => `end in ${v.letter}`),
    ...views.slice(1).map((v) => `${v.letter} against ${base.letter}`),
  ];
  const parts: (HTMLElement | false)[] = [
    h("ul", { class: "tallies" }, ...counts),
    all.length > 0 &&
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of differences" },
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, ...head.map((x) => h("th", { scope: "col" }, x)))),
          h("tbody", {}, ...all.slice(0, MOST).map((d) => row(d, store))),
        ),
      ),
    all.length > MOST && h("p", { class: "small" }, `and ${format.count(all.length - MOST)} more`),
  ];
  return parts.filter((x) => x !== false);
}

function row(d: Difference, store: Store): HTMLElement {
  const select = button(name(d.id), () => store.set({ transfer: d.id, link: null }), { class: "transfer" });
  return h(
    "tr",
    {},
    h("td", {}, select),
    ...d.ends.map((end, i) => h("td", {}, d.open[i] ? "did not end" : format.time(end))),
    ...d.changes.slice(1).map((change, i) => changeCell(change, d.ends[0] ?? null, d.ends[i + 1] ?? null)),
  );
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
