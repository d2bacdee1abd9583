// Many runs in a list that scrolls: a line each, with its makespan, and whether it is shown.

import { h, name } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import type { RunView } from "../run/view.ts";
import { table } from "./parts.ts";

export function runList(views: RunView[], store: Store): HTMLElement {
  const rows = views.map((v) => line(v, views[0]!, store));
  const head = ["run", "makespan", `of ${views[0]!.letter}`];
  const box = h("div", { class: "scroll run-list", tabindex: 0, role: "region", "aria-label": "List of runs" });
  box.append(table(head, ["shown"], rows));
  const words = () => `${format.counted(views.length, "run")}, ${format.count(store.state.visible.length)} shown`;
  const count = h("p", { class: "small", role: "status" }, words());
  store.on(["visible"], () => (count.textContent = words()));
  return h("div", { class: "runs", role: "group", "aria-label": "Runs" }, count, box);
}

function line(view: RunView, base: RunView, store: Store): HTMLElement {
  const { run } = view;
  const end = run.complete ? format.time(run.makespan_s) : `stopped at ${format.time(run.stopped_s ?? view.end)}`;
  const title = h("td", {}, h("b", { class: "letter" }, view.letter), name(view.title));
  const box = h("td", { class: "text" }, shownBox(view, store));
  return h("tr", { "data-run": view.index }, title, h("td", {}, end), ratioCell(view, base), box);
}

/** The makespan over that of the first run, where both are complete. */
function ratioCell({ run, index }: RunView, { run: base }: RunView): HTMLElement {
  if (index === 0 || !run.complete || !base.complete || base.makespan_s <= 0) return h("td", {}, format.NONE);
  const ratio = run.makespan_s / base.makespan_s;
  const [sign, kind] = ratio > 1 ? ["▲", "slower"] : ratio < 1 ? ["▼", "faster"] : ["=", null];
  return h("td", { class: kind }, `${sign} ${format.ratio(ratio)}`);
}

/** One run always stays. */
function shownBox({ index, letter }: RunView, store: Store): HTMLElement {
  const box = h("input", { type: "checkbox", "aria-label": `Show run ${letter}` });
  const update = () => (box.checked = store.state.visible.includes(index));
  box.addEventListener("change", () => {
    const others = store.state.visible.filter((i) => i !== index);
    const visible = box.checked ? [...others, index].sort((a, b) => a - b) : others;
    if (visible.length > 0) store.set({ visible });
    else box.checked = true;
  });
  store.on(["visible"], update);
  update();
  return box;
}
