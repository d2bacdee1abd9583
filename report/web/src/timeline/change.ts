// Marks of what differs from the baseline: a bracket between the two ends, with the difference beside it.

import type { Transfer } from "../contract.ts";
import { s } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { type Scale, toPixel } from "../core/scale.ts";

/** Differences below this part of the baseline's end are none. */
export const SAME = 1e-9;

/** Later (above 0) or earlier than the baseline, seconds; null where one of them has no end. */
export function changeOf(base: Transfer | undefined, t: Transfer | undefined): number | null {
  if (base?.end_s == null || t?.end_s == null) return null;
  const change = t.end_s - base.end_s;
  return Math.abs(change) <= SAME * base.end_s ? 0 : change;
}

export function changeMark(
  base: Transfer | undefined,
  t: Transfer,
  scale: Scale,
  top: number,
  height: number,
): SVGElement[] {
  const change = changeOf(base, t);
  if (!change) return [];
  const [x0, x1] = [toPixel(scale, base!.end_s!), toPixel(scale, t.end_s!)];
  const y = top + height / 2;
  const kind = change > 0 ? "slower" : "faster";
  const words = `${change > 0 ? "▲" : "▼"} ${format.timeChange(change)}`;
  const right = Math.max(x0, x1) + 5;
  const inside = right + words.length * 6 > scale.width;
  return [
    s("path", {
      class: `change ${kind}`,
      d: `M${x0.toFixed(1)} ${top}v${height}M${x0.toFixed(1)} ${y}H${x1.toFixed(1)}`,
    }),
    s(
      "text",
      {
        class: `change-text ${kind}`,
        x: inside ? scale.width - 4 : right,
        y: y + 4,
        "text-anchor": inside ? "end" : "start",
      },
      words,
    ),
  ];
}
