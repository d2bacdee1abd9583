// Marks of what differs from the baseline: an arrow from its end to the end here, and the difference in a box beside it.

import type { Transfer } from "../contract.ts";
import { s } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { textWidth } from "../core/measure.ts";
import { type Scale, toPixel } from "../core/scale.ts";

/** Differences below this part of the baseline's end are none. */
export const SAME = 1e-9;

/** Pixels of the type, and its weight, as in rows.css. */
const [SIZE, WEIGHT] = [11, 650];
const BOX = 15;
const PAD = 5;
/** Pixels by which marks may leave the window. */
const OVER = 20;

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
  const at = (time: number) => Math.min(scale.width + OVER, Math.max(-OVER, toPixel(scale, time)));
  const [x0, x1] = [at(base!.end_s!), at(t.end_s!)];
  if (Math.max(x0, x1) <= 0 || Math.min(x0, x1) >= scale.width) return [];
  const kind = change > 0 ? "slower" : "faster";
  return [...arrowOf(x0, x1, top, height, kind), ...wordsOf(change, x0, x1, scale.width, top + height / 2, kind)];
}

/** A dotted line where the baseline ends, and over the top of the lane an arrow from there to the end here. */
function arrowOf(x0: number, x1: number, top: number, height: number, kind: string): SVGElement[] {
  const y = top + 1;
  const back = x1 > x0 ? -5 : 5;
  const head = Math.abs(x1 - x0) > 8 ? `M${x1 + back} ${y - 3}L${x1} ${y}L${x1 + back} ${y + 3}` : "";
  const d = `M${x0.toFixed(1)} ${y}H${x1.toFixed(1)}${head}`;
  return [
    s("path", { class: "change-edge", d }),
    s("path", { class: `change was ${kind}`, d: `M${x0.toFixed(1)} ${top - 1}v${height + 1}` }),
    s("path", { class: `change ${kind}`, d }),
  ];
}

/** The words on a plain ground: after both ends where there is room, otherwise before the later one. */
function wordsOf(change: number, x0: number, x1: number, most: number, y: number, kind: string): SVGElement[] {
  const words = `${change > 0 ? "▲" : "▼"} ${format.timeChange(change)}`;
  const width = textWidth(words, SIZE, WEIGHT) + 2 * PAD;
  const [low, high] = [Math.min(x0, x1), Math.max(x0, x1)];
  const after = change < 0 && high - low > width + 12 ? low + 6 : high + 6;
  const x = Math.max(0, Math.min(after, most - width - 2));
  return [
    s("rect", {
      class: `change-box ${kind}`,
      x: x.toFixed(1),
      y: y - BOX / 2 + 2,
      width: width.toFixed(1),
      height: BOX,
      rx: 3,
    }),
    s("text", { class: `change-text ${kind}`, x: (x + PAD).toFixed(1), y: y + 6 }, words),
  ];
}
