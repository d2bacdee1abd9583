// The spans of a transfer: intervals in which its rate, and what decides it, stay the same.

import type { Ends, ExplainedPhase, Packed, Run, Step } from "../contract.ts";

/** Above what ratio to its time alone a transfer was held back: ends are rounded to picoseconds. */
const SLOWER = 1 + 1e-6;

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
  held: boolean;
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

/** A transfer that took longer than alone was held back, at its bottleneck. */
function fromMeans(run: Run): Spans {
  const spans: Spans = new Map();
  for (const t of run.transfers) {
    if (t.start_s == null || !t.mean_Bps) continue;
    const to = Math.min(t.start_s + (t.sent_bytes ?? t.bytes) / t.mean_Bps, t.end_s ?? Number.POSITIVE_INFINITY);
    const slower = t.alone_s != null && t.end_s != null && t.end_s - t.start_s > t.alone_s * SLOWER;
    spans.set(t.id, [
      {
        from: t.start_s,
        to,
        rate: t.mean_Bps,
        at: t.bottleneck,
        step: null,
        because: [],
        held: slower && t.bottleneck !== null,
      },
    ]);
  }
  return spans;
}

function fromPhases(run: Run): Spans {
  const spans: Spans = new Map();
  (run.phases ?? []).forEach((phase, i) => {
    const steps = explained(run.explain?.[i]);
    for (const [id, rate] of Object.entries(phase.rates_Bps)) {
      const step = steps.get(id) ?? null;
      add(spans, id, {
        from: phase.start_s,
        to: phase.end_s,
        rate,
        at: step?.link ?? null,
        step: step?.step ?? null,
        because: step?.because ?? [],
        held: step?.link != null && step.because.length > 0,
      });
    }
  });
  return spans;
}

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
      const [from, to, rate, link, why] = flat.slice(i, i + PACKED_WIDTH) as [number, number, number, number, number];
      const reason = packed.reasons[why];
      add(spans, transfer.id, {
        from: packed.times_s[from]!,
        to: packed.times_s[to]!,
        rate: packed.rates_Bps[rate]!,
        at: ends.get(link) ?? null,
        step: reason?.[0] ?? null,
        // The list holds the transfer itself too, so that those who share a link share a reason.
        because: (reason?.[1] ?? []).filter((k) => k !== t).map((k) => run.transfers[k]!.id),
        held: ends.has(link) && (reason?.[1] ?? []).length > 0,
      });
    }
  });
  return spans;
}
