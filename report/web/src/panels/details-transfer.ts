// The life of a selected transfer in one run: what held it back most, where its time went, and its route.

import type { Ends, Transfer } from "../contract.ts";
import { type Child, arrow, h, name } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { bottleneckOf } from "../run/alone.ts";
import { lostIn, rateAlone } from "../run/delays.ts";
import type { Leg } from "../run/legs.ts";
import { doingAt, slowdown, stretches } from "../run/state.ts";
import { type RunView, lacks, spanAt, utilisation, wholly } from "../run/view.ts";
import { mainCause, stepText } from "../run/words.ts";
import { changeOf } from "../timeline/change.ts";
import { facts, linkButton, transferButton } from "./parts.ts";

/** Parts of its time that are listed, and culprits that are named. */
const [MOST_PARTS, MOST_NAMED] = [6, 8];

export function transferFacts(view: RunView, id: string, base: Transfer | undefined, store: Store): HTMLElement[] {
  const t = view.transfers.get(id);
  if (!t) return [h("p", {}, `${capital(lacks(view, "run "))}.`)];
  return [
    causeOf(view, t, store),
    facts([
      ["from, to", arrow(t.from, t.to)],
      ["size", format.bytes(t.bytes)],
      ["ready, start", `${format.time(t.ready_s)}, ${format.time(t.start_s)}`],
      ["end", endOf(t, base)],
      ["mean rate", format.rate(t.mean_Bps)],
      ["alone", `${format.time(t.alone_s)}; slowdown ${format.ratio(slowdown(t))}`],
    ]),
    now(view, t, store),
    spent(view, t, store),
    route(view, t, store),
  ];
}

const capital = (words: string) => words[0]!.toUpperCase() + words.slice(1);

/** What held it back most: the answer comes first. */
function causeOf(view: RunView, t: Transfer, store: Store): HTMLElement {
  const at = bottleneckOf(t);
  return h(
    "p",
    { class: "main-cause" },
    h("span", {}, "main cause"),
    h("b", {}, mainCause(t)),
    at && "at ",
    at && linkButton([view], at, store),
  );
}

function endOf(t: Transfer, base: Transfer | undefined): string {
  const exact = format.exactPs(t.end_ps);
  const change = base === t ? null : changeOf(base, t);
  return `${format.time(t.end_s)}${exact ? ` (${exact})` : ""}${change ? `, ${format.timeChange(change)}` : ""}`;
}

function now(view: RunView, t: Transfer, store: Store): HTMLElement {
  const { time } = store.state;
  const span = spanAt(view, t.id, time);
  const words = h("p", { class: "now" }, `At ${store.moment(time)}: `);
  if (!span) words.append(doingAt(t, stretches(t, view.spans.get(t.id), view.end), time));
  else words.append(format.rate(span.rate));
  if (span?.at && !span.guessed) words.append(", decided at ", linkButton([view], span.at, store));
  if (span?.guessed && span.delayed) words.append(", held back; main bottleneck ", linkButton([view], span.at!, store));
  if (span?.at && span.step) words.append(` (step ${stepText(view, span.step)})`);
  const because = span?.because ?? [];
  because.slice(0, MOST_NAMED).forEach((id, i) => {
    words.append(i > 0 ? ", " : ", because of ", view.transfers.has(id) ? transferButton(id, store) : name(id));
  });
  if (because.length > MOST_NAMED) words.append(` and ${because.length - MOST_NAMED} more`);
  return words;
}

interface Part {
  words: string;
  at: Ends | null;
  seconds: number;
  lost: number | null;
}

const DOING = {
  moving: "not held back",
  waiting: "waiting for an engine",
  blocked: "blocked",
  arriving: "last byte on its way",
};

/** The life of a transfer by what it did and what held it back, longest first. */
function partsOf(view: RunView, t: Transfer): Part[] {
  const parts = new Map<string, Part>();
  const alone = rateAlone(view, t);
  for (const x of stretches(t, view.spans.get(t.id), view.end)) {
    const at = x.span?.delayed ? x.span.at : null;
    const words = at ? (x.doing === "moving" ? "held back at " : "blocked at ") : DOING[x.doing];
    const key = words + format.link(at);
    const part = parts.get(key) ?? { words, at, seconds: 0, lost: alone === null ? null : 0 };
    part.seconds += x.to - x.from;
    if (x.span && alone !== null) part.lost! += lostIn(x.span, alone);
    parts.set(key, part);
  }
  return [...parts.values()].sort((a, b) => b.seconds - a.seconds);
}

function spent(view: RunView, t: Transfer, store: Store): HTMLElement {
  const parts = partsOf(view, t);
  const whole = parts.reduce((sum, p) => sum + p.seconds, 0);
  const item = (words: Child, at: Ends | null, seconds: number, lost: number | null) =>
    h(
      "li",
      {},
      words,
      at && linkButton([view], at, store),
      `: ${format.time(seconds)}, ${format.percent(seconds / whole)}`,
      at && lost !== null && `; ${format.time(lost)} lost`,
    );
  const items = parts.slice(0, MOST_PARTS).map((p) => item(p.words, p.at, p.seconds, p.lost));
  const rest = parts.slice(MOST_PARTS).reduce((sum, p) => sum + p.seconds, 0);
  if (rest > 0) items.push(item("at other links", null, rest, null));
  const how = parts.some((p) => p.at) && wholly([view]);
  return h(
    "div",
    { class: "spent" },
    items.length > 0 && h("h4", {}, "Where its time went"),
    h("ul", {}, ...items),
    how && h("p", { class: "small" }, how),
  );
}

/** Its route, and below it each other one that it took. */
function route(view: RunView, t: Transfer, store: Store): HTMLElement {
  const legs = view.legs.get(t.id) ?? [];
  const known = legs.some((leg) => leg.route.length > 0) || t.route;
  if (!known) return h("div", {}, h("h4", {}, "Route"), h("p", {}, "not known"));
  const parts = legs.flatMap((leg, i) => {
    const other = t.reroutes?.[i - 1];
    const title = other
      ? [`Route from ${format.time(other.at_s)} on, as `, linkButton([view], other.down, store), " was down"]
      : ["Route"];
    return [h("h4", {}, ...title), h("ol", { class: "route" }, ...hops(view, leg, store))];
  });
  return h("div", {}, ...parts);
}

function hops(view: RunView, leg: Leg, store: Store): HTMLElement[] {
  return leg.route.map((id, hop) => {
    const l = view.links.get(id);
    const share = leg.shares ? `, carries ${format.percent(leg.shares[hop] ?? 1)} of the bytes` : "";
    const use = ` ${format.percent(utilisation(view, id, store.state.time))} of ${format.rate(l?.bandwidth_Bps)}${share}`;
    return h("li", {}, l ? linkButton([view], l, store) : String(id), use);
  });
}
