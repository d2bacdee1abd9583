// Words on bars: the link that holds a transfer back, where there is room. They tell what colours tell.

import { isolated, s } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { fitted, linkForms, textWidth } from "../core/measure.ts";
import { type Scale, toPixel } from "../core/scale.ts";
import type { Stretch } from "../run/state.ts";

/** Pixels of the type, as in rows.css. */
export const LABEL = 10;
/** Characters of a cut name that still tell something. */
const LEAST = 6;
/** Room for the line around letters. */
const EDGE = 2;

/** `y` says where the words of a stretch stand: on a high bar, or above a low one. */
export function barLabels(life: Stretch[], scale: Scale, y: (x: Stretch) => number, indent: number): SVGElement[] {
  const out: SVGElement[] = [];
  let free = 0;
  let last = "";
  for (const x of life) {
    if (x.to <= scale.from || x.from >= scale.to) continue;
    const forms = formsOf(x);
    const x0 = Math.max(indent, toPixel(scale, x.from) + 4, free);
    const room = Math.min(scale.width, toPixel(scale, x.to)) - x0 - EDGE;
    if (forms.length === 0 || room <= 0 || (forms[0] === last && free > indent)) continue;
    const text = fitted(forms, (form) => textWidth(form, LABEL) <= room, x.doing === "moving" ? LEAST : Infinity);
    if (text === "") continue;
    out.push(s("text", { class: "bar-label", x: x0.toFixed(1), y: y(x) }, isolated(text)));
    free = x0 + textWidth(text, LABEL) + 8;
    last = forms[0]!;
  }
  return out;
}

/** What is to be said of a stretch, the longest form first. */
function formsOf(x: Stretch): string[] {
  if (x.doing === "waiting") return ["waiting"];
  if (x.doing === "blocked") return ["blocked"];
  return x.span?.at && x.span.delayed ? linkForms(x.span.at.from, x.span.at.to) : [];
}

/** The words of a bar of its own name, cut to its room. */
export function nameLabel(name: string, left: number, right: number, y: number): SVGElement | null {
  const text = fitted([name], (form) => textWidth(form, LABEL) <= right - left - EDGE, 2);
  return text === "" ? null : s("text", { class: "bar-label", x: left, y }, isolated(text));
}

/** What a row says that has nothing to draw. */
export function emptyLabel(words: string, y: number, x = 4): SVGElement {
  return s("text", { class: "elsewhere", x, y }, words);
}

/** Where the bars of a transfer are that has none in the time shown; nothing of one that has. */
export function elsewhereLabel(life: Stretch[], scale: Scale, y: number, indent: number): SVGElement[] {
  if (life.some((x) => x.to >= scale.from && x.from <= scale.to)) return [];
  const [first, last] = [life[0], life.at(-1)];
  if (!first || !last) return [emptyLabel("never ready in this run", y, indent)];
  if (last.to < scale.from) return [emptyLabel(`◂ until ${format.time(last.to)}`, y, indent)];
  const from = emptyLabel(`from ${format.time(first.from)} ▸`, y, scale.width - 4);
  from.setAttribute("text-anchor", "end");
  return [from];
}
