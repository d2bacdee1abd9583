// Which links hold transfers back, and the colours that stand for them.

import type { Ends } from "../contract.ts";
import { CATEGORIES } from "../core/colour.ts";
import { link as linkText } from "../core/format.ts";
import { heldLinks } from "../run/back.ts";
import type { Span } from "../run/spans.ts";
import type { RunView } from "../run/view.ts";

/** How many links get a colour of their own. */
const MOST = 6;

export interface Held {
  /** Colour by link as text; links without one share a grey. */
  colours: Map<string, string>;
  /** The links with a colour, those that cost most time first. */
  links: string[];
  others: boolean;
}

/** Ranks links by what they cost transfers, over all runs. */
export function heldBy(views: RunView[]): Held {
  const ranked = heldLinks(views).map((l) => l.key);
  const links = ranked.slice(0, MOST);
  return { links, colours: new Map(links.map((key, i) => [key, CATEGORIES[i]!])), others: ranked.length > MOST };
}

/** A transfer is held back where others are named for its rate, or where it took longer than alone. */
export function isHeld(span: Span): boolean {
  return span.held;
}

export const FREE = "var(--free)";
export const OTHER = "var(--other)";

export function colourOf(held: Held, span: Span): string {
  return isHeld(span) ? (held.colours.get(linkText(span.at as Ends)) ?? OTHER) : FREE;
}
