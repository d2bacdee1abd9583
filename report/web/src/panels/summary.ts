// One card per run: its makespan, and which runs are shown.

import type { Ends, Widening } from "../contract.ts";
import { clipped, h, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { type Delay, type DelayingLink, type RunDelay, delayingLinks, total, waited } from "../run/delays.ts";
import { coverage, endedText, lossUnknown } from "../run/coverage.ts";
import { type RunView, tellsDelays } from "../run/view.ts";
import { linkButton } from "./parts.ts";

export function summary(views: RunView[], store: Store): HTMLElement {
  return h("div", { class: "cards", role: "group", "aria-label": "Runs" }, ...views.map((v) => card(v, views, store)));
}

function card(view: RunView, views: RunView[], store: Store): HTMLElement {
  const { run } = view;
  const count = run.aggregated?.transfers ?? run.transfers.length;
  const facts = [count === 0 ? "no transfers" : format.counted(count, "transfer")];
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
    count > 0 && worst(view, store),
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

/** What to widen, where runs with wider links were tried; else the link that costs its transfers most time, and why. */
function worst(view: RunView, store: Store): HTMLElement {
  const wider = view.run.widening;
  const links = delayingLinks([view]);
  if (wider && wider.saved_s > 0) return worthWidening(view, wider, links, store);
  const [link] = links;
  if (!link) return h("p", { class: "small" }, noDelay(view));
  const delay = link.runs[0]!;
  const most = delay.lost === null ? "transfers are held back longest at " : mostLost(view, delay.lost);
  const cost = delay.lost === null ? `held back for ${format.time(delay.seconds)}` : `${format.time(delay.lost)} lost`;
  const how = coverage([view]);
  const stays = wider && `; twice the bandwidth of any one link tried does not shorten the run`;
  const rest = `: ${cost} by ${format.counted(delay.transfers, "transfer")}, ${causes(delay)}${how && ` (${lower(how)})`}`;
  const unknown = lossUnknown(view);
  return h(
    "p",
    { class: "small worst" },
    most,
    linkButton([view], link.ends, store),
    rest,
    stays,
    unknown && `; ${unknown}`,
  );
}

/** The link or memory that would save most if it were wider, and why transfers are held back there. */
function worthWidening(view: RunView, wider: Widening, links: DelayingLink[], store: Store): HTMLElement {
  const held = links.find((l) => sameLink(l.ends, wider));
  const delay = held?.runs[0];
  const why = delay ? ` (${causes(delay)})` : "";
  const share = format.percent(wider.saved_s / (view.run.makespan_s || 1));
  const gain = `: ${wider.times} times its bandwidth would save ${format.time(wider.saved_s)} of the makespan, ${share}`;
  const waits = waited([view])[0]!;
  const mostWait = waits.seconds > (total(links.map((l) => l.runs[0]!)).lost ?? 0);
  const before = mostWait ? `${waitText(waits)}; then ` : "";
  const link =
    wider.from === wider.to
      ? `the memory of ${visible(wider.from)}`
      : linkButton([view], held?.ends ?? busier(view, wider), store);
  return h("p", { class: "small worst" }, `${before}most is held back by `, link, why, gain);
}

const sameLink = (a: Ends, b: Ends) => (a.from === b.from && a.to === b.to) || (a.from === b.to && a.to === b.from);

/** The direction of a link that carried more bytes. */
export function busier(view: RunView, ends: Ends): Ends {
  const directions = view.run.links.filter((l) => sameLink(l, ends));
  const most = Math.max(...directions.map((l) => l.bytes));
  return directions.find((l) => l.bytes === most) ?? ends;
}

/** Where most time is lost: at the link that is named next, or before it by waiting. */
function mostLost(view: RunView, lost: number): string {
  const waits = waited([view])[0]!;
  if (waits.seconds <= lost) return "most time is lost at ";
  return `${waitText(waits)}; then at `;
}

const waitText = (waits: Delay) =>
  `most time is lost by waiting for engines: ${format.time(waits.seconds)} by ${format.counted(waits.transfers, "transfer")}`;

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
  const show = () => (box.checked = store.state.visible.includes(view.index));
  box.addEventListener("change", () => {
    const others = store.state.visible.filter((i) => i !== view.index);
    const visible = box.checked ? [...others, view.index].sort((a, b) => a - b) : others;
    if (visible.length > 0) store.set({ visible });
    else show();
    box.checked = visible.length === 0 || visible.includes(view.index);
  });
  store.on(["visible"], show);
  show();
  return h("label", { class: "toggle" }, box, "shown");
}
