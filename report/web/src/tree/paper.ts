// Topologies on paper: a high one does not fit under the head of the page, which would leave the first page blank.

import type { Drawing } from "./drawing.ts";

/** Pixels of A4 landscape, less margins: across, on the first page, and on a page alone. */
const ACROSS = 990;
const FIRST = 340;
const ALONE = 510;
/** Letters are read well at this part of their size on the first page, and just so at this one. */
const GOOD = 0.6;
const LEAST = 0.5;

let place: Comment | null = null;

/** Puts the section of high drawings last, where it may take pages of its own; without drawings it goes back. */
export function forPaper(panels: HTMLElement, drawings: Drawing[]): void {
  const section = panels.closest<HTMLElement>("section");
  if (!section) return;
  const high = Math.max(0, ...drawings.map((d) => heightOf(d, drawings.length)));
  section.classList.toggle("high", high * GOOD > FIRST);
  section.classList.toggle("higher", high * LEAST > ALONE);
  if (high * GOOD > FIRST && !place) {
    place = document.createComment("topology");
    section.replaceWith(place);
    place.parentElement?.append(section);
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
