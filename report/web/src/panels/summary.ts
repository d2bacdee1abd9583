// One card per run: its makespan, and which runs are shown.

import { clipped, h, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { type RunDelay, delayingLinks, waited } from "../run/delays.ts";
import { coverage, endedText, lossUnknown } from "../run/coverage.ts";
import { type RunView, tellsDelays } from "../run/view.ts";
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
      clipped(views.length > 1 ? view.fullTitle : run.complete ? "makespan" : "not complete"),
      views.length > 1 && toggle(view, store),
    ),
    run.origin && h("p", { class: "small origin" }, clipped(run.origin)),
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
  const [link] = delayingLinks([view]);
  if (!link) return h("p", { class: "small" }, noDelay(view));
  const delay = link.runs[0]!;
  const most = delay.lost === null ? "transfers are held back longest at " : mostLost(view, delay.lost);
  const cost = delay.lost === null ? `held back for ${format.time(delay.seconds)}` : `${format.time(delay.lost)} lost`;
  const how = coverage([view]);
  const rest = `: ${cost} by ${format.counted(delay.transfers, "transfer")}, ${causes(delay)}${how && ` (${lower(how)})`}`;
  const unknown = lossUnknown(view);
  return h("p", { class: "small worst" }, most, linkButton([view], link.ends, store), rest, unknown && `; ${unknown}`);
}

/** Where most time is lost: at the link that is named next, or before it by waiting. */
function mostLost(view: RunView, lost: number): string {
  const waits = waited([view])[0]!;
  if (waits.seconds <= lost) return "most time is lost at ";
  return `most time is lost by waiting for engines: ${format.time(waits.seconds)} by ${format.counted(waits.transfers, "transfer")}; then at `;
}

/** What there is to say where no link is known to hold a transfer back. */
function noDelay(view: RunView): string {
  if (!tellsDelays(view)) return "what holds transfers back is not in the data";
  const unknown = lossUnknown(view);
  if (unknown) return unknown;
  const [waits] = waited([view]);
  if (waits!.transfers > 0) return `time is lost only by waiting for engines: ${format.time(waits!.seconds)}`;
  const { aggregated } = view.run;
  return `no transfer${aggregated && !aggregated.delays ? " of those kept" : ""} is held back by others`;
}

/** The reason that costs most, or those that cost as much as each other. */
const causes = (delay: RunDelay) =>
  delay.why.slice(0, Math.max(1, delay.equal)).map(visible).join(" and ") || "the cause is not known";

const lower = (sentence: string) => sentence[0]!.toLowerCase() + sentence.slice(1).replace(/\.$/, "");

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
