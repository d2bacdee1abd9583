// Which links hold transfers back, for how long, and what that costs.

import type { Ends, DelaySums, Transfer } from "../contract.ts";
import { link as linkText } from "../core/format.ts";
import { rateAloneIn } from "./alone.ts";
import type { Span } from "./spans.ts";
import type { RunView } from "./view.ts";
import { reasonOf } from "./words.ts";

/** What transfers suffer at one link, or one of them. */
export interface Held {
  /** Time in which they are held back, seconds. */
  seconds: number;
  /** By how much later they are for it: the time that they would not have needed at their rate alone. Null where that is not known. */
  lost: number | null;
  /** How many transfers. */
  transfers: number;
}

/** What one run suffers at a link. */
export interface HeldInRun extends Held {
  /** Reasons in words, those that cost most first. */
  why: string[];
  /** How many of the reasons, from the first, cost as much as the first. */
  equal: number;
}

export interface HeldLink {
  /** The link as text. */
  key: string;
  ends: Ends;
  /** Over all runs. */
  all: Held;
  /** Per run. */
  runs: HeldInRun[];
}

/** Costs that differ by less than this part are equal (*assumed*: the least that a reader minds). */
const EQUAL = 0.01;

const NOTHING = (): Held => ({ seconds: 0, lost: 0, transfers: 0 });

/** The rate that a transfer has alone. */
export function rateAlone(view: RunView, t: Transfer): number | null {
  return rateAloneIn(view.run, t);
}

/** By how much later a transfer is for a span, seconds. */
export function lostIn(span: Span, alone: number): number {
  return (span.to - span.from) * Math.max(0, 1 - span.rate / alone);
}

const sum = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);

function add(to: Held, span: Span, alone: number | null, first: boolean): void {
  to.seconds += span.to - span.from;
  to.lost = sum(to.lost, alone === null ? null : lostIn(span, alone));
  if (first) to.transfers++;
}

const ofTransfers = new WeakMap<Transfer, Map<string, Held>>();

/** What a transfer suffers at each link, by the link as text. */
export function heldOf(view: RunView, t: Transfer): Map<string, Held> {
  const known = ofTransfers.get(t);
  if (known) return known;
  const out = new Map<string, Held>();
  ofTransfers.set(t, out);
  const alone = rateAlone(view, t);
  for (const span of view.spans.get(t.id) ?? []) {
    if (!span.held) continue;
    const key = linkText(span.at);
    const before = out.get(key);
    const held = before ?? NOTHING();
    add(held, span, alone, !before);
    out.set(key, held);
  }
  return out;
}

/** What a run suffers at each link that is known of it, by the link as text. */
type AtLinks = Map<string, HeldInRun & { ends: Ends }>;

const ofRuns = new WeakMap<RunView, AtLinks>();

function atLinks(view: RunView): AtLinks {
  let known = ofRuns.get(view);
  if (!known) ofRuns.set(view, (known = view.run.aggregated?.held ? summedUp(view) : bySpans(view)));
  return known;
}

/** As the sums over all transfers of an aggregated run say it. */
function summedUp(view: RunView): AtLinks {
  const at = (l: DelaySums & Ends & { why: string[] }): [string, HeldInRun & { ends: Ends }] => {
    const ends = { from: l.from, to: l.to };
    return [linkText(ends), { ends, ...heldFrom(l), why: l.why, equal: Math.min(1, l.why.length) }];
  };
  return new Map(view.run.aggregated!.held!.links.map(at));
}

const heldFrom = (s: DelaySums): Held => ({ seconds: s.held_s, lost: s.lost_s, transfers: s.transfers });

/** Over the spans of transfers. */
function bySpans(view: RunView): AtLinks {
  const links = new Map<string, Held & { ends: Ends; reasons: Map<string, Held> }>();
  for (const t of view.run.transfers) {
    const alone = rateAlone(view, t);
    const seen = new Set<string>();
    for (const span of view.spans.get(t.id) ?? []) {
      if (!span.held) continue;
      const key = linkText(span.at);
      const link = links.get(key) ?? { ...NOTHING(), ends: span.at!, reasons: new Map<string, Held>() };
      links.set(key, link);
      const words = reasonOf(view, t, span);
      const reason = link.reasons.get(words) ?? NOTHING();
      link.reasons.set(words, reason);
      for (const held of [link, reason]) add(held, span, alone, !seen.has(key));
      seen.add(key);
    }
  }
  return new Map([...links].map(([key, { reasons, ...held }]) => [key, { ...held, ...causesOf(reasons) }]));
}

/** Reasons by what they cost; of those that cost as much as the first, those of most time come first. */
function causesOf(reasons: Map<string, Held>): { why: string[]; equal: number } {
  const all = [...reasons].map(([words, held]) => ({ words, held }));
  const weigh = weightIn(all.map((r) => r.held));
  all.sort((a, b) => weigh(b.held) - weigh(a.held));
  const least = all.length > 0 ? weigh(all[0]!.held) * (1 - EQUAL) : 0;
  const first = all.filter((r) => weigh(r.held) >= least).sort((a, b) => b.held.seconds - a.held.seconds);
  return { why: [...first, ...all.slice(first.length)].map((r) => r.words), equal: first.length };
}

/** What of several is compared: the time lost where it is known of all, else the time in which transfers are held back. */
function weightIn(all: Held[]): (held: Held) => number {
  return all.every((h) => h.lost !== null) ? (h) => h.lost! : (h) => h.seconds;
}

/** All links that are known to hold transfers back, the one that costs most time first. */
export function heldLinks(views: RunView[]): HeldLink[] {
  const known = views.map(atLinks);
  const ends = new Map(known.flatMap((links) => [...links].map(([key, l]): [string, Ends] => [key, l.ends])));
  const links = [...ends].map(([key, at]): HeldLink => {
    const runs = known.map((of) => inRun(of.get(key)));
    return { key, ends: at, all: total(runs), runs };
  });
  return ranked(links, (l) => l.all);
}

function inRun(at: HeldInRun | undefined): HeldInRun {
  if (!at) return { ...NOTHING(), why: [], equal: 0 };
  return { seconds: at.seconds, lost: at.lost, transfers: at.transfers, why: at.why, equal: at.equal };
}

function ranked(links: HeldLink[], of: (link: HeldLink) => Held): HeldLink[] {
  const weigh = weightIn(links.map(of));
  return links.sort((a, b) => weigh(of(b)) - weigh(of(a)) || (a.key < b.key ? -1 : 1));
}

/** Of ranked links the first `most`, and of each run the first `each`; those that are left are the second list. */
export function foremost(links: HeldLink[], most: number, each: number): [HeldLink[], HeldLink[]] {
  const chosen = new Set(links.slice(0, most));
  for (let i = 0; i < (links[0]?.runs.length ?? 0); i++) {
    const own = links.filter((l) => l.runs[i]!.transfers > 0);
    for (const link of ranked(own, (l) => l.runs[i]!).slice(0, each)) chosen.add(link);
  }
  return [links.filter((l) => chosen.has(l)), links.filter((l) => !chosen.has(l))];
}

/** The links of each run that its data only sum up. */
export function unlisted(views: RunView[]): { links: number; held: Held }[] {
  return views.map(({ run }) => {
    const held = run.aggregated?.held;
    return held ? { links: held.others, held: heldFrom(held.rest) } : { links: 0, held: NOTHING() };
  });
}

/** The time that transfers wait for an engine of their source, per run. */
export function waited(views: RunView[]): Held[] {
  return views.map((view) => {
    const waiting = view.run.aggregated?.held?.waiting;
    if (waiting) return { ...waiting, lost: waiting.seconds };
    const out = NOTHING();
    for (const t of view.run.transfers) {
      const seconds = t.ready_s == null ? 0 : (t.start_s ?? view.end) - t.ready_s;
      if (seconds > 0) out.transfers++;
      out.seconds += Math.max(0, seconds);
    }
    return { ...out, lost: out.seconds };
  });
}

/** Several of them together; a transfer counts at each. */
export function total(all: Held[]): Held {
  const out = NOTHING();
  for (const held of all) {
    out.seconds += held.seconds;
    out.transfers += held.transfers;
    out.lost = sum(out.lost, held.lost);
  }
  return out;
}

/** The number of a link on the page, or null where a run does not have it. */
export function numberOf(view: RunView, ends: Ends): number | null {
  for (const [number, l] of view.links) if (l.from === ends.from && l.to === ends.to) return number;
  return null;
}
