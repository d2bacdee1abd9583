// The spans of a transfer: intervals in which its rate, and what decides it, stay the same.

import type { Ends, ExplainedPhase, Packed, Run, Step, Transfer } from "../contract.ts";
import { isDelayed, slowed } from "./alone.ts";

export interface Span {
  from: number;
  to: number;
  /** Bytes per second; 0 where it is blocked. */
  rate: number;
  /** The link that decides the rate. */
  at: Ends | null;
  /** The step of the arbiter that decides. */
  step: string | null;
  /** The transfers responsible, by id. */
  because: string[];
  /** Whether others hold it back. */
  delayed: boolean;
  /** Set where the arbiter did not say what decides: told from the data of the transfer, at its main bottleneck. */
  guessed?: true;
}

/** The step that decided: the last one that names a link. */
export function deciding(steps: Step[]): Step | null {
  for (let i = steps.length - 1; i >= 0; i--) if (steps[i]!.link) return steps[i]!;
  return steps[steps.length - 1] ?? null;
}

/** Spans per transfer, by id, in the order of time. */
export type Spans = Map<string, Span[]>;

/** Whether rates over time are known; otherwise each transfer has one span at its mean rate. */
export function hasPhases(run: Run): boolean {
  return Boolean(run.packed || run.phases);
}

export function spansOf(run: Run): Spans {
  if (run.packed) return unpacked(run, run.packed);
  return run.phases ? fromPhases(run) : fromMeans(run);
}

/** Each transfer at its mean rate from its start to its last byte sent, or to where the run was stopped. */
function fromMeans(run: Run): Spans {
  const spans: Spans = new Map();
  const stop = Math.max(run.stopped_s ?? 0, run.makespan_s);
  for (const t of run.transfers) {
    const span = meanSpan(run, t, stop);
    if (span) spans.set(t.id, [span]);
  }
  return spans;
}

/** Null where it did not start, or where it stands still though nothing is known to hold it. */
function meanSpan(run: Run, t: Transfer, stop: number): Span | null {
  if (t.start_s == null) return null;
  const rate = t.mean_Bps ?? 0;
  const sent = t.sent_bytes ?? t.bytes;
  const to = rate > 0 ? Math.min(t.start_s + sent / rate, t.end_s ?? Number.POSITIVE_INFINITY) : stop;
  const delayed = isDelayed(run, t, rate, to - t.start_s);
  if (rate === 0 && (t.end_s != null || !delayed || !(to > t.start_s))) return null;
  return { from: t.start_s, to, rate, at: t.bottleneck, step: null, because: [], delayed, guessed: true };
}

/** What holds a transfer at a rate for which there is no explanation. `at`: the link that decides, where that is known. */
function unexplained(run: Run, t: Transfer | undefined, from: number, to: number, rate: number, at?: Ends): Span {
  const delayed = t !== undefined && slowed(run, t, rate, to - from);
  const span: Span = { from, to, rate, at: at ?? null, step: null, because: [], delayed };
  return at ? span : { ...span, at: delayed ? t.bottleneck : null, guessed: true };
}

function fromPhases(run: Run): Spans {
  const spans: Spans = new Map();
  const transfers = new Map(run.transfers.map((t) => [t.id, t]));
  (run.phases ?? []).forEach(({ start_s: from, end_s: to, rates_Bps }, i) => {
    const steps = explained(run.explain?.[i]);
    for (const [id, rate] of Object.entries(rates_Bps)) {
      const step = steps.get(id);
      if (!step) add(spans, id, unexplained(run, transfers.get(id), from, to, rate));
      else
        add(spans, id, {
          from,
          to,
          rate,
          at: step.link,
          step: step.step,
          because: step.because,
          delayed: namesOthers(step),
        });
    }
  });
  return spans;
}

const namesOthers = (step: Step) => step.link != null && step.because.length > 0;

function explained(phase: ExplainedPhase | undefined): Map<string, Step | null> {
  return new Map((phase?.transfers ?? []).map((t) => [t.id, deciding(t.steps)]));
}

/** Joins a span to the one before it where they touch and say the same. */
function add(spans: Spans, id: string, span: Span): void {
  const list = spans.get(id);
  if (!list) {
    spans.set(id, [span]);
    return;
  }
  const before = list[list.length - 1]!;
  if (before.to === span.from && same(before, span)) before.to = span.to;
  else list.push(span);
}

function same(a: Span, b: Span): boolean {
  return (
    a.rate === b.rate &&
    a.at?.from === b.at?.from &&
    a.at?.to === b.at?.to &&
    a.step === b.step &&
    a.delayed === b.delayed &&
    a.because.length === b.because.length &&
    a.because.every((id, i) => id === b.because[i])
  );
}

/** Numbers per span in `packed.spans`: first and last time, rate, link, reason. */
export const PACKED_WIDTH = 5;

function unpacked(run: Run, packed: Packed): Spans {
  const ends = new Map(run.links.map((l) => [l.id, { from: l.from, to: l.to }]));
  const spans: Spans = new Map();
  run.transfers.forEach((transfer, t) => {
    const flat = packed.spans[t] ?? [];
    for (let i = 0; i + PACKED_WIDTH <= flat.length; i += PACKED_WIDTH) {
      const [begin, end, fast, link, why] = flat.slice(i, i + PACKED_WIDTH) as [number, number, number, number, number];
      const [from, to, rate] = [packed.times_s[begin]!, packed.times_s[end]!, packed.rates_Bps[fast]!];
      const [at, reason] = [ends.get(link), packed.reasons[why]];
      if (!reason) add(spans, transfer.id, unexplained(run, transfer, from, to, rate, at));
      else add(spans, transfer.id, { from, to, rate, at: at ?? null, ...decided(run, t, reason, at) });
    }
  });
  return spans;
}

/** The list of a reason holds the transfer itself too, so that those who share a link share a reason. */
function decided(run: Run, t: number, [step, list]: [string, number[]], at: Ends | undefined) {
  const because = list.filter((k) => k !== t).map((k) => run.transfers[k]!.id);
  return { step, because, delayed: at !== undefined && list.length > 0 };
}
