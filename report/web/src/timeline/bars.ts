// The bars of one transfer in pixels: an area whose height is the rate, and boxes for waiting and blocked time.

import { type Scale, toPixel } from "../core/scale.ts";
import { s } from "../core/dom.ts";
import type { Stretch } from "../run/state.ts";

/** A piece of an area: one colour, one height. */
export interface Piece {
  x0: number;
  x1: number;
  /** Part of the lane, 0 to 1. */
  part: number;
  colour: string;
}

/** Narrower pieces are joined; their heights are weighed by their widths, so that the area stays the same. */
const NARROW = 0.75;

/** The moving stretches inside the window, joined where they are narrower than a pixel. */
export function pieces(
  life: Stretch[],
  scale: Scale,
  part: (x: Stretch) => number,
  colour: (x: Stretch) => string,
): Piece[] {
  const out: Piece[] = [];
  for (const x of life) {
    if (x.doing !== "moving" || x.to < scale.from || x.from > scale.to) continue;
    const piece = { x0: near(scale, x.from), x1: near(scale, x.to), part: part(x), colour: colour(x) };
    const before = out.at(-1);
    if (before && touches(before, piece) && (narrow(before) || narrow(piece))) join(before, piece);
    else out.push(piece);
  }
  return out;
}

/** Pixels beyond the edges up to which something is drawn. */
const BEYOND = 4;

/** The pixel of a time, or one just outside: browsers draw nothing at places that are far away. */
export function near(scale: Scale, time: number): number {
  return Math.min(scale.width + BEYOND, Math.max(-BEYOND, toPixel(scale, time)));
}

const narrow = (p: Piece) => p.x1 - p.x0 < NARROW;
const touches = (a: Piece, b: Piece) => b.x0 - a.x1 < NARROW;

function join(into: Piece, piece: Piece): void {
  const [a, b] = [into.x1 - into.x0, piece.x1 - piece.x0];
  const width = piece.x1 - into.x0;
  if (b > a) into.colour = piece.colour;
  into.part = width > 0 ? Math.min(1, (into.part * a + piece.part * b) / width) : Math.max(into.part, piece.part);
  into.x1 = piece.x1;
}

/** No bar is drawn narrower, pixels, unless the next one begins there; such short ones have more colour. */
const SHORTEST = 2;

/** Two paths per colour: the area, and the line of the rate on top of it. */
export function areas(all: Piece[], top: number, height: number): SVGElement[] {
  const paths = new Map<string, { colour: string; short: boolean; area: string; edge: string }>();
  all.forEach((p, i) => {
    const y = top + height * (1 - p.part);
    const room = Math.min(SHORTEST, Math.max(0.6, (all[i + 1]?.x0 ?? Number.POSITIVE_INFINITY) - p.x0));
    const [x0, x1] = [p.x0.toFixed(2), Math.max(p.x1, p.x0 + room).toFixed(2)];
    const short = p.x1 - p.x0 < SHORTEST;
    const key = `${p.colour} ${short}`;
    const path = paths.get(key) ?? { colour: p.colour, short, area: "", edge: "" };
    path.area += `M${x0} ${top + height}V${y.toFixed(2)}H${x1}V${top + height}Z`;
    path.edge += `M${x0} ${(y + 0.75).toFixed(2)}H${x1}`;
    paths.set(key, path);
  });
  return [...paths.values()].flatMap(({ colour, short, area, edge }) => {
    const body = s("path", { d: area, class: short ? "moving short" : "moving" });
    const line = s("path", { d: edge, class: "moving-edge" });
    body.style.fill = colour;
    line.style.stroke = colour;
    return [body, line];
  });
}

/** Waiting, blocked and arriving stretches. */
export function boxes(life: Stretch[], scale: Scale, top: number, height: number): SVGElement[] {
  const out: SVGElement[] = [];
  for (const x of life) {
    if (x.doing === "moving" || x.to < scale.from || x.from > scale.to) continue;
    const x0 = Math.max(-2, toPixel(scale, x.from));
    const width = Math.max(0.6, Math.min(scale.width + 2, toPixel(scale, x.to)) - x0);
    const [y, tall] =
      x.doing === "blocked" ? [top + height * 0.35, height * 0.65] : [top + height * 0.62, height * 0.38];
    if (x.doing === "arriving")
      out.push(s("rect", { class: "arriving", x: x0, width, y: top + height - 2, height: 2 }));
    else out.push(s("rect", { class: x.doing, x: x0, width, y, height: tall }));
  }
  return out;
}

/** What the patterns of boxes are: one hidden drawing for the whole page. */
export function patterns(): SVGSVGElement {
  const pattern = (id: string, size: number, ...marks: SVGElement[]) =>
    s("pattern", { id, width: size, height: size, patternUnits: "userSpaceOnUse" }, ...marks);
  return s(
    "svg",
    { class: "patterns", width: 0, height: 0, "aria-hidden": "true" },
    s(
      "defs",
      {},
      pattern("waiting", 6, s("path", { d: "M-1 7L7 -1M-1 1L1 -1M5 7L7 5", class: "mark-waiting" })),
      pattern("blocked", 5, s("path", { d: "M0 0L5 5M5 0L0 5", class: "mark-blocked" })),
    ),
  );
}
