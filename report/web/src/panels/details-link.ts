// The facts of a selected link in one run, and the transfers on it: those of the moment first, then those it holds back longest.

import type { Transfer } from "../contract.ts";
import { h, name } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { type Delay, delaysOf } from "../run/delays.ts";
import { type RunView, hasRoutes, spanAt, tellsDelays, transfersOn, utilisation, wholly } from "../run/view.ts";
import { regionOf } from "../tree/regions.ts";
import { more, row, table, transferButton } from "./parts.ts";

/** Rows of a table before the rest is only counted. */
const MOST = 100;

export function linkTable(view: RunView, link: number, store: Store): (HTMLElement | false)[] {
  const l = view.links.get(link);
  // Without `--full` only links that carried bytes are named.
  if (!l && view.nodes.length === 0) return [h("p", {}, `Carried nothing in run ${view.letter}, or is not in it.`)];
  if (!l) return [h("p", {}, `Not in run ${view.letter}.`)];
  const { time } = store.state;
  const key = format.link(l);
  const region = regionOf(view, l);
  const all = transfersOn(view, link);
  const delays = new Map(all.map((t) => [t, delaysOf(view, t).get(key)]));
  const now = new Set(all.filter((t) => spanAt(view, t.id, time)));
  const rank = (t: Transfer) => (now.has(t) ? 1e9 : 0) + (delays.get(t)?.seconds ?? 0);
  const sorted = [...all].sort((a, b) => rank(b) - rank(a)).slice(0, MOST);
  const use = `${format.percent(utilisation(view, link, time))} of ${format.rate(l.bandwidth_Bps)} at ${store.moment(time)}`;
  return [
    h("p", {}, `${use}; ${format.bytes(l.bytes)} in all, busy for ${format.time(l.busy_s)}`),
    region !== null && h("p", { class: "small" }, "In region ", name(region.name), ", under ", name(region.policy)),
    h("p", { class: "small" }, countText(view, all.length, now.size)),
    all.length > 0 && h("p", {}, delayText(view, [...delays.values()])),
    all.length > 0 &&
      table(
        ["transfer", "rate now", "held back here", "end"],
        [],
        sorted.map((t) => transferRow(view, t, delays.get(t), store)),
      ),
    more(all.length, MOST),
  ];
}

function countText(view: RunView, all: number, now: number): string {
  if (all === 0 && view.run.transfers.length === 0 && !view.run.aggregated) return format.NO_TRANSFERS;
  if (!hasRoutes(view)) return "Its transfers are not known: this run was saved without `--full`.";
  return `${format.counted(all, "transfer")}${view.run.aggregated ? " among those kept" : ""}, ${now} of them now`;
}

/** What the link costs all its transfers. */
function delayText(view: RunView, all: (Delay | undefined)[]): string {
  const delays = all.filter((x) => x !== undefined);
  if (delays.length === 0 && !tellsDelays(view)) return "Whether it holds them back is not in the data.";
  if (delays.length === 0) return ["It holds none of them back.", wholly([view])].join(" ").trim();
  const seconds = delays.reduce((sum, x) => sum + x.seconds, 0);
  const words = `It holds ${format.count(delays.length)} of them back, for ${format.time(seconds)} in sum.`;
  return [words, wholly([view])].join(" ").trim();
}

function transferRow(view: RunView, t: Transfer, delay: Delay | undefined, store: Store): HTMLElement {
  const span = spanAt(view, t.id, store.state.time);
  return row(span ? "now" : "later", [
    transferButton(t.id, store),
    span ? `${format.rate(span.rate)}${view.exact ? "" : " mean"}` : format.NONE,
    format.time(delay?.seconds),
    format.time(t.end_s),
  ]);
}
