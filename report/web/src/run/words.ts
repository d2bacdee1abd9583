// Causes in words, and the steps of arbiters in those of their legends.

import { CAUSE_MEANINGS, CAUSE_WORDS, type CauseKind, type Transfer } from "../contract.ts";
import { visible } from "../core/dom.ts";
import { byOthers, kindAtBottleneck } from "./alone.ts";
import type { Span } from "./spans.ts";
import type { RunView } from "./view.ts";

/** A term, and what it means. */
export type Term = [string, string];

/** Where others hold a transfer back, and nothing says how. */
const BY_OTHERS = "held back by others";

/** Causes in words, without the transfers that they name, and what they mean. */
const CAUSES: Term[] = [
  ...Object.entries(CAUSE_MEANINGS).map(([kind, meaning]): Term => [CAUSE_WORDS[kind as CauseKind], meaning]),
  [BY_OTHERS, "the data do not say how"],
];

/** A step in the few words of the arbiter's legend. */
function shortOf(view: RunView, step: string): string | undefined {
  return view.run.arbiter.legend?.find((entry) => entry.step === step)?.short;
}

/** A step with its meaning in short, such as `D (8): head-of-line blocked`; the name of an arbiter's one step says enough. */
export function stepText(view: RunView, step: string): string {
  const words = step === view.run.arbiter.name ? undefined : shortOf(view, step);
  return visible(words ? `${step}: ${words}` : step);
}

/** The main cause of a transfer in words, without the transfer that it names. */
export function kindOf(t: Transfer): string | null {
  return t.cause_detail ? CAUSE_WORDS[t.cause_detail.kind] : null;
}

/** What made a transfer late. */
export function mainCause(t: Transfer): string {
  if (t.ready_s == null && t.start_s == null) return "never ready in this run";
  const engine = t.cause_detail?.engine;
  return visible((t.cause ?? "not known") + (engine ? ` at ${engine}` : ""));
}

/** Causes that tell more of the main bottleneck than the words of a step: what lowered the port. */
const LOWERED: CauseKind[] = ["root-complex", "root-complex-shared"];

/** Why a transfer is held back in a span, without names. Steps without words here have those of its cause. */
export function reasonOf(view: RunView, t: Transfer, span: Span): string {
  const known = span.step === null ? undefined : (lowered(t, span) ?? shortOf(view, span.step));
  const kind = kindAtBottleneck(t);
  return visible(known ?? (kind && byOthers(t) ? CAUSE_WORDS[kind] : null) ?? BY_OTHERS);
}

/** The main cause of a transfer, where its main bottleneck decides in a span and is a port that the root complex lowers. */
function lowered(t: Transfer, span: Span): string | null {
  const here = span.at && t.bottleneck && span.at.from === t.bottleneck.from && span.at.to === t.bottleneck.to;
  const kind = kindAtBottleneck(t);
  return here && kind && LOWERED.includes(kind) ? CAUSE_WORDS[kind] : null;
}

/** What the words of the page mean that are not the same for all runs: the steps of each arbiter, and causes that occur. */
export function termsOf(views: RunView[]): { steps: [arbiter: string, terms: Term[]][]; causes: Term[] } {
  const seen = new Set<string>();
  for (const v of views)
    for (const t of v.run.transfers) {
      const kind = kindOf(t);
      if (kind) seen.add(kind);
      for (const span of v.spans.get(t.id) ?? []) if (span.delayed) seen.add(reasonOf(v, t, span));
    }
  const causes = CAUSES.filter(([words]) => seen.has(words));
  const steps = new Map<string, Term[]>();
  for (const { arbiter } of views.map((v) => v.run))
    if (arbiter.legend)
      steps.set(
        arbiter.name,
        arbiter.legend.map((entry): Term => [`${entry.step}: ${entry.short}`, entry.meaning]),
      );
  return { steps: [...steps], causes };
}
