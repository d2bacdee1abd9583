// What the data of a transfer alone tell of what holds it back, where no explanation of the arbiter is known.

import type { CauseKind, Ends, Run, Transfer } from "../contract.ts";

/** Times and rates that differ by less than this part are equal: ends are rounded to picoseconds. */
const ROUNDING = 1e-6;
/** And bytes that differ by less than these: what was sent until the stop is rounded down. */
const FEW_BYTES = 2;
/** Causes that are no fault of others. */
const OWN: CauseKind[] = ["own-limit", "full-rate"];

const latencies = new WeakMap<Run, Map<number, number>>();

/** The latency of each link by its id in the run, seconds. */
function latenciesOf(run: Run): Map<number, number> {
  let known = latencies.get(run);
  if (!known) latencies.set(run, (known = new Map(run.links.map((l, i) => [l.id ?? i, l.latency_s ?? 0]))));
  return known;
}

/** From its start to its end alone, seconds: its time alone less the time to issue it. */
function underWayAlone(t: Transfer): number | null {
  if (t.alone_s == null) return null;
  const issuing = t.delay && t.start_s != null && t.ready_s != null ? t.start_s - t.ready_s - t.delay.waiting_s : 0;
  return t.alone_s - issuing;
}

/** The latencies of its route, seconds. */
function latencyOf(run: Run, t: Transfer): number {
  const known = latenciesOf(run);
  return (t.route ?? []).reduce((sum, id, hop) => sum + (known.get(id) ?? 0) * (t.shares?.[hop] ?? 1), 0);
}

/** The rate that a transfer has alone, over the time that its mean rate is over: from its start to its last byte sent, in runs
 * of packets to its end. */
export function rateAloneIn(run: Run, t: Transfer): number | null {
  const underWay = underWayAlone(t);
  if (!t.alone_s || underWay === null) return null;
  const sending = run.fidelity ? underWay : underWay - latencyOf(run, t);
  return t.bytes / (sending > 0 ? sending : t.alone_s);
}

/** Causes that lie at no link. */
const AT_NO_LINK: CauseKind[] = ["own-limit", "engine-busy"];

/** The link that held it back most; none does where its own limit or its engine did. */
export function bottleneckOf(t: Transfer): Ends | null {
  return t.cause_detail && AT_NO_LINK.includes(t.cause_detail.kind) ? null : t.bottleneck;
}

/** What kept its rate down at its bottleneck, whether or not it lost more in a queue before its start. */
export function kindAtBottleneck(t: Transfer): CauseKind | null {
  return t.cause_detail ? (t.cause_detail.at_bottleneck ?? t.cause_detail.kind) : null;
}

/** Whether others have a part in what kept its rate down. */
export function byOthers(t: Transfer): boolean {
  const kind = kindAtBottleneck(t);
  return t.bottleneck !== null && !(kind && OWN.includes(kind));
}

/** Whether others hold it back while it has this rate for so many seconds; where its rate alone is not known its cause decides. */
export function slowed(run: Run, t: Transfer, rate: number, seconds: number): boolean {
  if (!byOthers(t)) return false;
  const alone = rateAloneIn(run, t);
  if (alone === null) return t.cause !== null;
  return rate < alone * (1 - ROUNDING) && (alone - rate) * seconds > FEW_BYTES;
}

/** Whether others hold it back at all: it took longer than alone or, where it has not ended, was slower than alone. */
export function isDelayed(run: Run, t: Transfer, rate: number, seconds: number): boolean {
  const alone = underWayAlone(t);
  if (t.end_s == null || t.start_s == null || alone === null) return slowed(run, t, rate, seconds);
  return byOthers(t) && t.end_s - t.start_s > alone * (1 + ROUNDING);
}
