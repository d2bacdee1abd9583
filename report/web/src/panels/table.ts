// All transfers as a table, for those who read numbers or hear the page. It is filled when it is opened.

import type { Transfer } from "../contract.ts";
import { arrow, button, h, name, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { bottleneckOf } from "../run/alone.ts";
import { slowdown } from "../run/state.ts";
import type { RunView } from "../run/view.ts";

const MOST = 1000;
const HEAD = ["transfer", "from → to", "size", "ready", "start", "end", "mean rate", "slowdown", "held back at"];

export function transferTables(views: RunView[], store: Store): HTMLElement[] {
  return views.filter((v) => v.run.transfers.length > 0).map((v) => tableOf(v, store, views.length > 1));
}

function tableOf(view: RunView, store: Store, titled: boolean): HTMLElement {
  const { transfers } = view.run;
  const words = `The ${format.counted(transfers.length, "transfer")} as a table`;
  const box = h("details", { class: "as-table" }, h("summary", {}, titled ? `${view.letter}: ${words}` : words));
  const fill = () => {
    if (box.childElementCount > 1) return;
    const head = h(
      "tr",
      {},
      ...HEAD.map((x) => h("th", { scope: "col" }, x)),
      h("th", { scope: "col", class: "text" }, "because"),
    );
    const body = transfers.slice(0, MOST).map((t) => row(t, store));
    box.append(
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": words },
        h("table", {}, h("thead", {}, head), h("tbody", {}, ...body)),
      ),
    );
    if (transfers.length > MOST)
      box.append(h("p", { class: "small" }, `and ${format.count(transfers.length - MOST)} more`));
  };
  box.addEventListener("toggle", () => box.open && fill());
  return box;
}

function row(t: Transfer, store: Store): HTMLElement {
  const at = bottleneckOf(t);
  const select = button(name(t.id), () => store.set({ transfer: t.id, link: null }), { class: "transfer" });
  return h(
    "tr",
    {},
    h("td", {}, select),
    h("td", {}, arrow(t.from, t.to)),
    h("td", {}, format.bytes(t.bytes)),
    h("td", {}, format.time(t.ready_s)),
    h("td", {}, format.time(t.start_s)),
    h("td", {}, format.time(t.end_s)),
    h("td", {}, format.rate(t.mean_Bps)),
    h("td", {}, format.ratio(slowdown(t))),
    h("td", {}, at ? arrow(at.from, at.to) : format.NONE),
    h("td", { class: "text" }, visible(t.cause ?? format.NONE)),
  );
}
