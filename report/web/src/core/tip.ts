// The box beside the pointer, and the same words for those who hear the page.

import { arrow, h, isolated, name, visible } from "./dom.ts";

/** A line of words: what it is, and its value. `names` are shown as names, isolated and separated by commas. */
export interface Line {
  what: string;
  value?: string;
  names?: string[];
  /** Two names with an arrow between them. */
  ends?: { from: string; to: string };
  /** Set in a larger type. */
  title?: boolean;
  /** The answer: set apart below the title. */
  strong?: boolean;
}

const MOST_NAMES = 6;
let tip: HTMLElement;
let voice: HTMLElement;

export function mountTip(parent: HTMLElement): void {
  tip = h("div", { class: "tip", role: "tooltip", hidden: true });
  voice = h("div", { class: "voice", "aria-live": "polite" });
  parent.append(tip, voice);
}

function element(line: Line): HTMLElement {
  const value: (string | Node)[] = line.value !== undefined ? [visible(line.value)] : [];
  (line.names ?? []).slice(0, MOST_NAMES).forEach((n, i) => value.push(i > 0 ? ", " : line.value ? " " : "", name(n)));
  const more = (line.names?.length ?? 0) - MOST_NAMES;
  if (more > 0) value.push(` and ${more} more`);
  if (line.ends) value.push(arrow(line.ends.from, line.ends.to));
  if (line.title) return h("div", { class: "tip-title" }, ...value);
  return h(
    "div",
    { class: line.strong ? "tip-line tip-strong" : "tip-line" },
    h("span", {}, line.what),
    h("b", {}, ...value),
  );
}

export function showTip(lines: Line[], x: number, y: number): void {
  if (lines.length === 0) return hideTip();
  tip.replaceChildren(...lines.map(element));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth ? x - 16 - box.width : x + 16;
  const top = y + 16 + box.height > innerHeight ? y - 16 - box.height : y + 16;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

export function hideTip(): void {
  tip.hidden = true;
}

export function speak(lines: Line[]): void {
  voice.textContent = lines.map(wordsOf).join("; ");
}

/** A line as plain text. */
export function wordsOf(line: Line): string {
  const ends = line.ends ? `${isolated(line.ends.from)} → ${isolated(line.ends.to)}` : "";
  const names = (line.names ?? []).map(isolated).join(", ");
  return [line.title ? "" : line.what, visible(line.value ?? ""), names, ends].filter(Boolean).join(" ");
}
