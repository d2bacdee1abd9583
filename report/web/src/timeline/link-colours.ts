// Which links hold transfers back, and the colours that stand for them.

import type { Ends } from "../contract.ts";
import { CATEGORIES } from "../core/colour.ts";
import { link as linkText } from "../core/format.ts";
import { delayingLinks } from "../run/delays.ts";
import type { Span } from "../run/spans.ts";
import type { RunView } from "../run/view.ts";

/** How many links get a colour of their own. */
const MOST = 6;

export interface LinkColours {
  /** Colour by link as text; links without one share a grey. */
  byLink: Map<string, string>;
  /** The links with a colour, those that cost most time first. */
  links: string[];
  others: boolean;
}

/** Ranks links by what they cost transfers, over all runs. */
export function linkColours(views: RunView[]): LinkColours {
  const ranked = delayingLinks(views).map((l) => l.key);
  const links = ranked.slice(0, MOST);
  return { links, byLink: new Map(links.map((key, i) => [key, CATEGORIES[i]!])), others: ranked.length > MOST };
}

export const FREE = "var(--free)";
export const OTHER = "var(--other)";

/** The colour of a span: that of the link that delays the transfer. */
export function colourOf(colours: LinkColours, span: Span): string {
  return span.delayed ? (colours.byLink.get(linkText(span.at as Ends)) ?? OTHER) : FREE;
}
