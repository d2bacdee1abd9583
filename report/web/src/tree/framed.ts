// The box of a drawing: it scrolls where the drawing is larger than its place, and says so.

import { h } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Drawing } from "./drawing.ts";

/** Pixels by which something must stick out before it is said. */
const SLACK = 4;

/** A drawing that fits stands as it is. One that does not scrolls, also by keys, fades at its open edges, and tells how much is in view. */
export function framed(drawing: Drawing): HTMLElement {
  const box = h("div", { class: "drawing" }, drawing.root);
  const note = h("p", { class: "scroll-note", hidden: true });
  const frame = h("div", { class: "frame" }, box, note);
  const look = () => show(drawing, box, note);
  box.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(box);
  return frame;
}

function show(drawing: Drawing, box: HTMLElement, note: HTMLElement): void {
  const over = box.scrollHeight - box.clientHeight > SLACK || box.scrollWidth - box.clientWidth > SLACK;
  box.classList.toggle("more-above", box.scrollTop > SLACK);
  box.classList.toggle("more-below", box.scrollHeight - box.clientHeight - box.scrollTop > SLACK);
  box.classList.toggle("more-left", box.scrollLeft > SLACK);
  box.classList.toggle("more-right", box.scrollWidth - box.clientWidth - box.scrollLeft > SLACK);
  note.hidden = !over;
  for (const [key, value] of Object.entries({ tabindex: "0", role: "region", "aria-label": "Topology, scrolls" }))
    if (over) box.setAttribute(key, value);
    else box.removeAttribute(key);
  if (!over) return;
  const [seen, all] = leavesInView(drawing, box);
  note.textContent = `${format.count(seen)} of ${format.count(all)} leaves in view: scroll, or press Tab and arrow keys`;
}

/** How many leaves lie wholly inside the box, and how many there are. */
function leavesInView({ geometry, root }: Drawing, box: HTMLElement): [number, number] {
  const scale = root.getBoundingClientRect().width / geometry.width || 1;
  const left = root.getBoundingClientRect().left - box.getBoundingClientRect().left;
  const inside = (at: number, size: number, room: number) => at >= -SLACK && at + size <= room + SLACK;
  const leaves = geometry.boxes.filter((b) => b.leaf);
  const seen = leaves.filter(
    (b) =>
      inside(b.x * scale + left, b.width * scale, box.clientWidth) &&
      inside(b.y * scale - box.scrollTop, b.height * scale, box.clientHeight),
  );
  return [seen.length, leaves.length];
}
