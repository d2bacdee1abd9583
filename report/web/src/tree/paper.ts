// Topologies on paper: one that fits stands on the first page. A high one would leave that page blank, and stands last.

import type { Drawing } from "./drawing.ts";

/** Pixels of A4 landscape, less margins: across, on the first page, and on a page alone. */
const ACROSS = 990;
const FIRST = 340;
const ALONE = 510;
/** Letters are read well at this part of their size on the first page, and just so at this one. */
const GOOD = 0.6;
const LEAST = 0.5;

let place: Comment | null = null;

/** Puts the section of drawings first or, of high ones, last, where it may take pages of its own; without drawings it goes back. */
export function forPaper(panels: HTMLElement, drawings: Drawing[]): void {
  const section = panels.closest<HTMLElement>("section");
  if (!section) return;
  const high = Math.max(0, ...drawings.map((d) => heightOf(d, drawings.length)));
  const isHigh = high * GOOD > FIRST;
  section.classList.toggle("high", isHigh);
  section.classList.toggle("higher", high * LEAST > ALONE);
  if (drawings.length > 0 && !place) {
    place = document.createComment("topology");
    section.replaceWith(place);
    if (isHigh) place.parentElement!.append(section);
    else (place.parentElement!.querySelector(":scope > section") ?? place).before(section);
  } else if (drawings.length === 0 && place) {
    place.replaceWith(section);
    place = null;
  }
}

/** How high a drawing is where it takes its part of the width. */
function heightOf({ geometry }: Drawing, count: number): number {
  const across = count > 1 ? ACROSS / 2 : ACROSS;
  return geometry.height * Math.min(1.15, across / geometry.width);
}
