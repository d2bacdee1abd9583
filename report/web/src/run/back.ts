// Which links hold transfers back, for how long, and what that costs.

import type { Ends, Transfer } from "../contract.ts";
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

export interface HeldLink {
  /** The link as text. */
  key: string;
  ends: Ends;
  /** Over all runs. */
  all: Held;
  /** Per run. */
  runs: Held[];
  /** Reasons in words, those of most time first. */
  why: string[];
}

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

/** All links that hold transfers back, the one that costs most time first. */
export function heldLinks(views: RunView[]): HeldLink[] {
  const links = new Map<string, HeldLink & { reasons: Map<string, number> }>();
  for (const view of views)
    for (const t of view.run.transfers) {
      const alone = rateAlone(view, t);
      const seen = new Set<string>();
      for (const span of view.spans.get(t.id) ?? []) {
        if (!span.held) continue;
        const key = linkText(span.at);
        const link = links.get(key) ?? { ...empty(key, span.at!, views.length), reasons: new Map<string, number>() };
        links.set(key, link);
        for (const held of [link.all, link.runs[views.indexOf(view)]!]) add(held, span, alone, !seen.has(key));
        const reason = reasonOf(view, t, span);
        link.reasons.set(reason, (link.reasons.get(reason) ?? 0) + span.to - span.from);
        seen.add(key);
      }
    }
  for (const link of links.values()) link.why = [...link.reasons].sort((a, b) => b[1] - a[1]).map(([words]) => words);
  return [...links.values()].sort((a, b) => weight(b.all) - weight(a.all) || (a.key < b.key ? -1 : 1));
}

function empty(key: string, ends: Ends, runs: number): HeldLink {
  return { key, ends, all: NOTHING(), runs: Array.from({ length: runs }, NOTHING), why: [] };
}

const weight = (held: Held) => held.lost ?? held.seconds;

/** The time that transfers wait for an engine of their source, per run. */
export function waited(views: RunView[]): Held[] {
  return views.map((view) => {
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
