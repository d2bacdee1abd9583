// What a transfer does at a moment, and the stretches of its life.

import type { Transfer } from "../contract.ts";
import { lastAtMost } from "../core/scale.ts";
import type { Span } from "./spans.ts";

export type Doing = "not ready" | "waiting" | "moving" | "blocked" | "arriving" | "over";

export interface Stretch {
  doing: "waiting" | "moving" | "blocked" | "arriving";
  from: number;
  to: number;
  /** Only where it moves or is blocked. */
  span: Span | null;
}

/** The life of a transfer from ready to end. `until` ends what the run did not finish. */
export function stretches(t: Transfer, spans: Span[] | undefined, until: number): Stretch[] {
  if (t.ready_s == null) return [];
  const out: Stretch[] = [];
  const start = t.start_s ?? until;
  if (start > t.ready_s) out.push({ doing: "waiting", from: t.ready_s, to: start, span: null });
  const sending = spans ?? [];
  for (const span of sending)
    out.push({ doing: span.rate > 0 ? "moving" : "blocked", from: span.from, to: span.to, span });
  const sent = sending.at(-1)?.to ?? start;
  if (t.end_s != null && t.end_s > sent) out.push({ doing: "arriving", from: sent, to: t.end_s, span: null });
  return out;
}

export function stretchAt(life: Stretch[], time: number): Stretch | null {
  const at =
    life[
      lastAtMost(
        life.map((x) => x.from),
        time,
      )
    ];
  return at && (time < at.to || (time === at.to && at === life.at(-1))) ? at : null;
}

export function doingAt(t: Transfer, life: Stretch[], time: number): Doing {
  const at = stretchAt(life, time);
  if (at) return at.doing;
  return t.ready_s == null || time < t.ready_s ? "not ready" : "over";
}

/** Its time from ready to end over that of the same transfer alone. */
export function slowdown(t: Transfer): number | null {
  if (!t.alone_s || t.ready_s == null || t.end_s == null) return null;
  return (t.end_s - t.ready_s) / t.alone_s;
}
