// Widths of words in pixels, and names cut to the room that there is.

import { isolated, shortened, visible } from "./dom.ts";

let pen: CanvasRenderingContext2D | null = null;
const known = new Map<string, number>();
/** Words that are remembered; more are measured anew. */
const MOST = 20_000;

/** The width of a text in the font of the page, in pixels. */
export function textWidth(text: string, size: number, weight = 400): number {
  const key = `${weight} ${size} ${text}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  pen ??= document.createElement("canvas").getContext("2d")!;
  pen.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  const width = pen.measureText(isolated(text)).width;
  if (known.size >= MOST) known.clear();
  known.set(key, width);
  return width;
}

/** Whether a text takes at most `room` pixels. */
export type Fits = (text: string) => boolean;

/** The first of some forms of a text that fits; otherwise as much of the last as fits, or "" for less than `least` characters. */
export function fitted(forms: string[], fits: Fits, least: number): string {
  const whole = forms.find(fits);
  if (whole !== undefined) return whole;
  const last = forms.at(-1)!;
  let [low, high] = [0, [...visible(last)].length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (fits(shortened(last, middle))) low = middle;
    else high = middle - 1;
  }
  return low >= least ? shortened(last, low).replace(/…+$/, "…") : "";
}

/** A link in words, then with less and less of the paths of its ends: `core/leaf4/h1 → leaf4`, `…/h1 → leaf4`. */
export function linkForms(from: string, to: string): string[] {
  const parts = Math.max(from.split("/").length, to.split("/").length);
  const forms = [`${from} → ${to}`];
  for (let keep = parts - 1; keep > 0; keep--) forms.push(`${tail(from, keep)} → ${tail(to, keep)}`);
  return forms;
}

function tail(name: string, keep: number): string {
  const parts = name.split("/");
  return parts.length <= keep ? name : `…/${parts.slice(-keep).join("/")}`;
}
