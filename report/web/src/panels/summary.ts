// One card per run: its makespan, and which runs are shown.

import { h, name } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { heldLinks } from "../run/back.ts";
import { type RunView, tellsHeld, wholly } from "../run/view.ts";
import { linkButton } from "./parts.ts";

export function summary(views: RunView[], store: Store): HTMLElement {
  return h("div", { class: "cards", role: "group", "aria-label": "Runs" }, ...views.map((v) => card(v, views, store)));
}

function card(view: RunView, views: RunView[], store: Store): HTMLElement {
  const { run } = view;
  const total = run.aggregated?.transfers ?? run.transfers.length;
  const facts = [total === 0 ? "no transfers" : format.counted(total, "transfer")];
  if (run.operations.length > 0) facts.push(format.counted(run.operations.length, "operation"));
  return h(
    "div",
    { class: "card", "data-run": view.index },
    h(
      "div",
      { class: "card-title" },
      views.length > 1 && h("b", { class: "letter" }, view.letter),
      name(views.length > 1 ? view.title : run.complete ? "makespan" : "not complete"),
      views.length > 1 && toggle(view, store),
    ),
    h(
      "p",
      { class: "big" },
      run.complete ? format.time(run.makespan_s) : `stopped at ${format.time(run.stopped_s ?? view.end)}`,
      view.index > 0 && againstBase(view, views[0]!),
    ),
    h(
      "p",
      { class: "small" },
      [run.complete ? format.exactPs(run.makespan_ps) : endedText(view), ...facts].filter(Boolean).join(" · "),
    ),
    total > 0 && worst(view, store),
  );
}

/** The makespan over that of the first run, where both are complete. */
function againstBase({ run }: RunView, { run: base, letter }: RunView): HTMLElement | false {
  if (!run.complete || !base.complete || base.makespan_s <= 0) return false;
  const ratio = run.makespan_s / base.makespan_s;
  const sign = ratio > 1 ? "▲" : ratio < 1 ? "▼" : "=";
  return h(
    "span",
    { class: `against ${ratio > 1 ? "slower" : "faster"}` },
    ` ${sign} ${format.ratio(ratio)} of ${letter}`,
  );
}

/** The link that costs its transfers most time, and why. */
function worst(view: RunView, store: Store): HTMLElement {
  const [link] = heldLinks([view]);
  const kept = view.run.aggregated ? " of those kept" : "";
  if (!link && !tellsHeld(view)) return h("p", { class: "small" }, "what holds transfers back is not in the data");
  if (!link) return h("p", { class: "small" }, `no transfer${kept} is held back by others`);
  const { lost, seconds, transfers } = link.all;
  const cost = lost === null ? `held back for ${format.time(seconds)}` : `${format.time(lost)} lost`;
  const how = view.explained ? "" : ` (${lower(wholly([view]))})`;
  const rest = `: ${cost} by ${format.counted(transfers, "transfer")}${kept}, ${link.why[0]}${how}`;
  return h("p", { class: "small worst" }, "most time is lost at ", linkButton([view], link.ends, store), rest);
}

const lower = (sentence: string) => sentence[0]!.toLowerCase() + sentence.slice(1, -1);

/** How many transfers of a run that was stopped have ended. */
export function endedText({ run }: RunView): string {
  const ended = run.transfers.filter((t) => t.end_s != null).length;
  const of = `${format.count(ended)} of ${format.counted(run.transfers.length, "transfer")}`;
  return `${of}${run.aggregated ? " among those kept" : ""} ${ended === 1 ? "has" : "have"} ended`;
}

function toggle(view: RunView, store: Store): HTMLElement {
  const box = h("input", { type: "checkbox", "aria-label": `Show run ${view.letter}` });
  const show = () => (box.checked = store.state.shown.includes(view.index));
  box.addEventListener("change", () => {
    const others = store.state.shown.filter((i) => i !== view.index);
    const shown = box.checked ? [...others, view.index].sort((a, b) => a - b) : others;
    if (shown.length > 0) store.set({ shown });
    else show();
    box.checked = shown.length === 0 || shown.includes(view.index);
  });
  store.on(["shown"], show);
  show();
  return h("label", { class: "toggle" }, box, "shown");
}
