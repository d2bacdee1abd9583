// Which links hold transfers back, and the colours that stand for them.

import type { Ends } from "../contract.ts";
import { CATEGORIES } from "../core/colour.ts";
import { link as linkText } from "../core/format.ts";
import type { Span } from "../run/spans.ts";
import type { RunView } from "../run/view.ts";

/** How many links get a colour of their own. */
const MOST = 6;

export interface Held {
  /** Colour by link as text; links without one share a grey. */
  colours: Map<string, string>;
  /** The links with a colour, most time first. */
  links: string[];
  others: boolean;
}

/** Ranks links by the time for which they hold transfers back, over all runs. */
export function heldBy(views: RunView[]): Held {
  const time = new Map<string, number>();
  for (const view of views)
    for (const t of view.run.transfers)
      for (const span of view.spans.get(t.id) ?? [])
        if (isHeld(span)) {
          const key = linkText(span.at);
          time.set(key, (time.get(key) ?? 0) + span.to - span.from);
        }
  const ranked = [...time].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([key]) => key);
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
