// Words on bars: the link that holds a transfer back, where there is room. They tell what colours tell.

import { isolated, s, shortened } from "../core/dom.ts";
import { link as linkText } from "../core/format.ts";
import { type Scale, toPixel } from "../core/scale.ts";
import type { Stretch } from "../run/state.ts";
import { isHeld } from "./held.ts";

const CHAR = 5.6;
const LEAST = 6;

/** `y` says where the words of a stretch stand: on a high bar, or above a low one. */
export function barLabels(life: Stretch[], scale: Scale, y: (x: Stretch) => number, indent: number): SVGElement[] {
  const out: SVGElement[] = [];
  let free = 0;
  let last = "";
  for (const x of life) {
    if (x.to <= scale.from || x.from >= scale.to) continue;
    const text = wordsOf(x);
    const x0 = Math.max(indent, toPixel(scale, x.from) + 4, free);
    const room = Math.floor((Math.min(scale.width, toPixel(scale, x.to)) - x0) / CHAR);
    if (text === "" || (x.doing !== "moving" && room < text.length) || (text === last && free > indent) || room < LEAST)
      continue;
    const short = shortened(text, room);
    out.push(s("text", { class: "bar-label", x: x0.toFixed(1), y: y(x) }, isolated(short)));
    free = x0 + short.length * CHAR + 8;
    last = text;
  }
  return out;
}

function wordsOf(x: Stretch): string {
  if (x.doing === "waiting") return "waiting";
  if (x.doing === "blocked") return "blocked";
  return x.span && isHeld(x.span) ? linkText(x.span.at) : "";
}
