// What is shown as the fragment of the page's address, so that a moment, a link or a transfer can be sent to others:
// `#t=37.2ms&link=plx1,k80c`. Also `transfer=`, `from=` and `to=` (the time shown), `runs=A,B` and `mean=1`.

import { h } from "../core/dom.ts";
import { TIME_UNITS } from "../core/format.ts";
import type { State, Store } from "../core/store.ts";
import { type RunView, letter } from "./view.ts";

/** Milliseconds without a change after which the address follows: browsers allow only so many changes. */
const CALM = 250;

/** What an address may say, and the part of the state that it becomes. */
const PARTS: Record<string, keyof State> = {
  t: "time",
  from: "window",
  to: "window",
  link: "link",
  transfer: "transfer",
  runs: "visible",
  mean: "mean",
};

/** Shows what the address says, now and when it is edited, and keeps the address up to date; a note of what it cannot show. */
export function followAddress(views: RunView[], store: Store): HTMLElement {
  const first: State = { ...store.state };
  const note = h("p", { class: "note", role: "status" });
  const show = () => {
    const unknown = unknownOf(location.hash, views, store);
    note.textContent = `The address named what is not on this page: ${unknown.join(", ")}.`;
    note.hidden = unknown.length === 0;
    if (isState(location.hash)) store.set({ ...first, ...stateOf(location.hash, views, store) });
  };
  let waiting: ReturnType<typeof setTimeout> | undefined;
  store.on(["time", "window", "link", "transfer", "visible", "mean"], () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => write(addressOf(store.state, first, views)), CALM);
  });
  addEventListener("hashchange", show);
  show();
  return note;
}

/** Other fragments are the names of sections. */
const isState = (hash: string) => hash.includes("=");

function write(address: string): void {
  if (address === "" && !isState(location.hash)) return;
  try {
    history.replaceState(null, "", address || location.pathname + location.search);
  } catch {
    // A page inside another one may have no address of its own.
  }
}

/** The fragment for what differs from the page as it opens; "" for nothing. */
export function addressOf(state: State, first: State, views: RunView[]): string {
  const parts: string[] = [];
  if (state.time !== first.time) parts.push(`t=${timeText(state.time)}`);
  if (state.window.from !== first.window.from || state.window.to !== first.window.to)
    parts.push(`from=${timeText(state.window.from)}`, `to=${timeText(state.window.to)}`);
  if (state.link !== null) parts.push(`link=${linkText(state.link, views)}`);
  if (state.transfer !== null) parts.push(`transfer=${encodeURIComponent(state.transfer)}`);
  if (state.visible.join() !== first.visible.join()) parts.push(`runs=${state.visible.map(letter).join(",")}`);
  if (state.mean) parts.push("mean=1");
  return parts.length > 0 ? `#${parts.join("&")}` : "";
}

/** What a fragment says; what it names that is not on this page is left out. */
export function stateOf(hash: string, views: RunView[], { whole }: Pick<Store, "whole">): Partial<State> {
  const given = new Map(hash.replace(/^#/, "").split("&").map(pair));
  const out: Partial<State> = {};
  const inside = (time: number | null) => time !== null && time >= whole.from && time <= whole.to;
  const [time, from, to] = ["t", "from", "to"].map((key) => timeOf(given.get(key) ?? ""));
  if (inside(time!)) out.time = time!;
  if (inside(from!) && inside(to!) && from! < to!) out.window = { from: from!, to: to! };
  const link = linkOf(given.get("link") ?? "", views);
  const transfer = decoded(given.get("transfer") ?? "");
  if (link !== null) out.link = link;
  else if (transfer && views.some((v) => v.transfers.has(transfer))) out.transfer = transfer;
  const runs = (given.get("runs") ?? "").split(",");
  const visible = views.filter((v) => runs.includes(v.letter)).map((v) => v.index);
  if (visible.length > 0) out.visible = visible;
  if (given.get("mean") === "1") out.mean = true;
  return out;
}

/** The parts of a fragment that name nothing on this page, as they are written. */
export function unknownOf(hash: string, views: RunView[], whole: Pick<Store, "whole">): string[] {
  if (!isState(hash)) return [];
  const known = stateOf(hash, views, whole);
  const isKnown = ([key, value]: [string, string]) => {
    const part = Object.hasOwn(PARTS, key) ? PARTS[key]! : null;
    if (part === "visible") return known.visible?.length === value.split(",").length;
    return part !== null && part in known;
  };
  const parts = hash.replace(/^#/, "").split("&");
  return parts.filter((part) => part !== "" && !isKnown(pair(part))).map((part) => decoded(part) ?? part);
}

function pair(text: string): [string, string] {
  const at = text.indexOf("=");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Whole picoseconds in the unit that suits them: `37.2ms`. */
function timeText(seconds: number): string {
  if (seconds === 0) return "0s";
  const [size, unit] = TIME_UNITS.find(([s]) => seconds >= s) ?? TIME_UNITS.at(-1)!;
  const digits = Math.round(Math.log10(size / 1e-12));
  const number = (seconds / size).toFixed(digits);
  return `${digits > 0 ? number.replace(/\.?0+$/, "") : number}${unit === "µs" ? "us" : unit}`;
}

function timeOf(text: string): number | null {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(s|ms|us|ns|ps)$/.exec(text) ?? [];
  const size = TIME_UNITS.find(([, name]) => name === (unit === "us" ? "µs" : unit))?.[0];
  return size === undefined ? null : Number(number) * size;
}

/** Its ends and, of several links between them, which one. */
function linkText(link: number, views: RunView[]): string {
  const l = views.find((v) => v.links.has(link))!.links.get(link)!;
  const nth = between(l.from, l.to, views).indexOf(link);
  return [l.from, l.to].map(encodeURIComponent).join(",") + (nth > 0 ? `,${nth}` : "");
}

function linkOf(text: string, views: RunView[]): number | null {
  const [from, to, nth] = text.split(",").map(decoded);
  return from && to ? (between(from, to, views)[Number(nth ?? 0)] ?? null) : null;
}

/** The numbers of all links from one node to another, ascending. */
function between(from: string, to: string, views: RunView[]): number[] {
  const found = new Set<number>();
  for (const v of views) for (const [id, l] of v.links) if (l.from === from && l.to === to) found.add(id);
  return [...found].sort((a, b) => a - b);
}
