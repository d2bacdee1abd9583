// Which links hold transfers back, for how long, and what that costs.

import type { Ends, DelaySums, Transfer } from "../contract.ts";
import { link as linkText } from "../core/format.ts";
import { rateAloneIn } from "./alone.ts";
import type { Span } from "./spans.ts";
import type { RunView } from "./view.ts";
import { reasonOf } from "./words.ts";

/** What transfers suffer at one link, or one of them. */
export interface Delay {
  /** Time in which they are held back, seconds. */
  seconds: number;
  /** By how much later they are for it: the time that they would not have needed at their rate alone. Null where that is not known. */
  lost: number | null;
  /** How many transfers. */
  transfers: number;
}

/** What one run suffers at a link. */
export interface RunDelay extends Delay {
  /** Reasons in words, those that cost most first. */
  why: string[];
  /** How many of the reasons, from the first, cost as much as the first. */
  equal: number;
}

export interface DelayingLink {
  /** The link as text. */
  key: string;
  ends: Ends;
  /** Over all runs. */
  all: Delay;
  /** Per run. */
  runs: RunDelay[];
}

/** Costs that differ by less than this part are equal (*assumed*: the least that a reader minds). */
const EQUAL = 0.01;

const NOTHING = (): Delay => ({ seconds: 0, lost: 0, transfers: 0 });

/** The rate that a transfer has alone. */
export function rateAlone(view: RunView, t: Transfer): number | null {
  return rateAloneIn(view.run, t);
}

/** By how much later a transfer is for a span, seconds. */
export function lostIn(span: Span, alone: number): number {
  return (span.to - span.from) * Math.max(0, 1 - span.rate / alone);
}

const sum = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);

function add(to: Delay, span: Span, alone: number | null, first: boolean): void {
  to.seconds += span.to - span.from;
  to.lost = sum(to.lost, alone === null ? null : lostIn(span, alone));
  if (first) to.transfers++;
}

const ofTransfers = new WeakMap<Transfer, Map<string, Delay>>();

/** What a transfer suffers at each link, by the link as text. */
export function delaysOf(view: RunView, t: Transfer): Map<string, Delay> {
  const known = ofTransfers.get(t);
  if (known) return known;
  const out = new Map<string, Delay>();
  ofTransfers.set(t, out);
  const alone = rateAlone(view, t);
  for (const span of view.spans.get(t.id) ?? []) {
    if (!span.delayed) continue;
    const key = linkText(span.at);
    const before = out.get(key);
    const delay = before ?? NOTHING();
    add(delay, span, alone, !before);
    out.set(key, delay);
  }
  return out;
}

/** What a run suffers at each link that is known of it, by the link as text. */
type AtLinks = Map<string, RunDelay & { ends: Ends }>;

const ofRuns = new WeakMap<RunView, AtLinks>();

function atLinks(view: RunView): AtLinks {
  let known = ofRuns.get(view);
  if (!known) ofRuns.set(view, (known = view.run.aggregated?.delays ? summedUp(view) : bySpans(view)));
  return known;
}

/** As the sums over all transfers of an aggregated run say it. */
function summedUp(view: RunView): AtLinks {
  const at = (l: DelaySums & Ends & { why: string[] }): [string, RunDelay & { ends: Ends }] => {
    const ends = { from: l.from, to: l.to };
    return [linkText(ends), { ends, ...delayFrom(l), why: l.why, equal: Math.min(1, l.why.length) }];
  };
  return new Map(view.run.aggregated!.delays!.links.map(at));
}

const delayFrom = (s: DelaySums): Delay => ({ seconds: s.delayed_s, lost: s.lost_s, transfers: s.transfers });

/** Over the spans of transfers. */
function bySpans(view: RunView): AtLinks {
  const links = new Map<string, Delay & { ends: Ends; reasons: Map<string, Delay> }>();
  for (const t of view.run.transfers) {
    const alone = rateAlone(view, t);
    const seen = new Set<string>();
    for (const span of view.spans.get(t.id) ?? []) {
      if (!span.delayed) continue;
      const key = linkText(span.at);
      const link = links.get(key) ?? { ...NOTHING(), ends: span.at!, reasons: new Map<string, Delay>() };
      links.set(key, link);
      const words = reasonOf(view, t, span);
      const reason = link.reasons.get(words) ?? NOTHING();
      link.reasons.set(words, reason);
      for (const delay of [link, reason]) add(delay, span, alone, !seen.has(key));
      seen.add(key);
    }
  }
  return new Map([...links].map(([key, { reasons, ...delay }]) => [key, { ...delay, ...causesOf(reasons) }]));
}

/** Reasons by what they cost; of those that cost as much as the first, those of most time come first. */
function causesOf(reasons: Map<string, Delay>): { why: string[]; equal: number } {
  const all = [...reasons].map(([words, delay]) => ({ words, delay }));
  const weigh = weightIn(all.map((r) => r.delay));
  all.sort((a, b) => weigh(b.delay) - weigh(a.delay));
  const least = all.length > 0 ? weigh(all[0]!.delay) * (1 - EQUAL) : 0;
  const first = all.filter((r) => weigh(r.delay) >= least).sort((a, b) => b.delay.seconds - a.delay.seconds);
  return { why: [...first, ...all.slice(first.length)].map((r) => r.words), equal: first.length };
}

/** What of several is compared: the time lost where it is known of all, else the time in which transfers are held back. */
function weightIn(all: Delay[]): (delay: Delay) => number {
  return all.every((h) => h.lost !== null) ? (h) => h.lost! : (h) => h.seconds;
}

/** All links that are known to hold transfers back, the one that costs most time first. */
export function delayingLinks(views: RunView[]): DelayingLink[] {
  const known = views.map(atLinks);
  const ends = new Map(known.flatMap((links) => [...links].map(([key, l]): [string, Ends] => [key, l.ends])));
  const links = [...ends].map(([key, at]): DelayingLink => {
    const runs = known.map((of) => inRun(of.get(key)));
    return { key, ends: at, all: total(runs), runs };
  });
  return ranked(links, (l) => l.all);
}

function inRun(at: RunDelay | undefined): RunDelay {
  if (!at) return { ...NOTHING(), why: [], equal: 0 };
  return { seconds: at.seconds, lost: at.lost, transfers: at.transfers, why: at.why, equal: at.equal };
}

function ranked(links: DelayingLink[], of: (link: DelayingLink) => Delay): DelayingLink[] {
  const weigh = weightIn(links.map(of));
  return links.sort((a, b) => weigh(of(b)) - weigh(of(a)) || (a.key < b.key ? -1 : 1));
}

/** Of ranked links the first `most`, and of each run the first `each`; those that are left are the second list. */
export function foremost(links: DelayingLink[], most: number, each: number): [DelayingLink[], DelayingLink[]] {
  const chosen = new Set(links.slice(0, most));
  for (let i = 0; i < (links[0]?.runs.length ?? 0); i++) {
    const own = links.filter((l) => l.runs[i]!.transfers > 0);
    for (const link of ranked(own, (l) => l.runs[i]!).slice(0, each)) chosen.add(link);
  }
  return [links.filter((l) => chosen.has(l)), links.filter((l) => !chosen.has(l))];
}

/** The links of each run that its data only sum up. */
export function unlisted(views: RunView[]): { links: number; sums: Delay }[] {
  return views.map(({ run }) => {
    const delays = run.aggregated?.delays;
    return delays ? { links: delays.others, sums: delayFrom(delays.rest) } : { links: 0, sums: NOTHING() };
  });
}

/** The time that transfers wait for an engine of their source, per run. */
export function waited(views: RunView[]): Delay[] {
  return views.map((view) => {
    const waiting = view.run.aggregated?.delays?.waiting;
    if (waiting) return { ...waiting, lost: waiting.seconds };
    const out = NOTHING();
    for (const t of view.run.transfers) {
      const seconds = t.delay?.waiting_s ?? (t.ready_s == null ? 0 : (t.start_s ?? view.end) - t.ready_s);
      if (seconds > 0) out.transfers++;
      out.seconds += Math.max(0, seconds);
    }
    return { ...out, lost: out.seconds };
  });
}

/** Several of them together; a transfer counts at each. */
export function total(all: Delay[]): Delay {
  const out = NOTHING();
  for (const delay of all) {
    out.seconds += delay.seconds;
    out.transfers += delay.transfers;
    out.lost = sum(out.lost, delay.lost);
  }
  return out;
}

/** The number of a link on the page, or null where a run does not have it. */
export function numberOf(view: RunView, ends: Ends): number | null {
  for (const [number, l] of view.links) if (l.from === ends.from && l.to === ends.to) return number;
  return null;
}
