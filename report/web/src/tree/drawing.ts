// The drawing of one topology: boxes, wires, arrow heads and numbers, made once and then only recoloured.

import type { Link, TopologyNode } from "../contract.ts";
import { isolated, s, shortened, visible } from "../core/dom.ts";
import { fitted, textWidth } from "../core/measure.ts";
import { type Geometry, MOST_LEAVES_DOWN, geometry } from "./geometry.ts";
import { type Box, type Wire, at, heading, pathOf } from "./wire.ts";
import { layout, shortNames } from "./layout.ts";
import { OUTLINES } from "./regions.ts";

/** Drawings may be shown this much larger than they are laid out, where there is room. */
const GROW = 1.15;
/** And this much smaller, before they scroll. */
const LEAST = 0.75;
/** At this part of their size names are read easily. */
const EASY = 0.85;

/** Pixels across the outline of a link. */
const OUTLINE = 16;
/** Wider drawings are not read well beside a column of details. */
const BROAD = 880;

export interface WireParts {
  wire: Wire;
  group: SVGGElement;
  line: SVGPathElement;
  head: SVGPathElement;
  /** Absent where the link never has a number, or where there is no room for it. */
  label: SVGTextElement | null;
}

export interface Drawing {
  root: SVGSVGElement;
  geometry: Geometry;
  wires: Map<number, WireParts>;
  boxes: Map<string, SVGGElement>;
}

export interface DrawingOptions {
  label: string;
  /** Only these nodes. */
  part?: ReadonlySet<string> | null;
  /** Pixels that are there in the width: small trees turn to where they are read best. */
  room?: number;
  /** What stands in a box instead of its kind, by name of the node. */
  badges?: Map<string, string>;
  numbered?: ReadonlySet<number>;
  numberWidth?: number;
  /** Links that have an outline, with the place of its colour. */
  outlines?: ReadonlyMap<number, number>;
}

export function draw(nodes: TopologyNode[], links: Map<number, Link>, options: DrawingOptions): Drawing {
  const names = shortNames(nodes);
  const nodeNames = new Map(nodes.map((n) => [n.id, n.name]));
  const labels = new Map([...names].map(([id, text]) => [id, labelled(text, options.badges?.get(nodeNames.get(id)!))]));
  const places = layout(nodes, links.values(), (id) => !options.part || options.part.has(nodeNames.get(id)!));
  const g = turned((down) => geometry(places, links, labels, { ...options, down }), places.leaves, options.room);
  const wires = new Map(g.wires.map((w) => [w.id, wireParts(w, g.thin)]));
  const boxes = new Map(g.boxes.map((b) => [b.node.name, boxOf(b, names, g, options.badges)]));
  const root = s(
    "svg",
    {
      class: `topology${g.dense ? " dense" : ""}${g.width > BROAD ? " broad" : ""}`,
      viewBox: `0 0 ${g.width} ${g.height}`,
      width: Math.round(g.width * GROW),
      height: Math.round(g.height * GROW),
      role: "group",
      "aria-label": options.label,
    },
    s("g", {}, ...g.leaders.map(([a, b]) => s("line", { class: "leader", x1: a.x, y1: a.y, x2: b.x, y2: b.y }))),
    s("g", { "aria-hidden": "true" }, ...outlinesOf(g, options.outlines)),
    s("g", {}, ...[...wires.values()].map((p) => p.group)),
    s("g", {}, ...boxes.values()),
    s("g", { class: "numbers", "aria-hidden": "true" }, ...[...wires.values()].map((p) => p.label)),
  );
  root.style.minWidth = `${Math.round(g.width * LEAST)}px`;
  return { root, geometry: g, wires, boxes };
}

/** Down or to the right: what is larger in the room that there is, and down where both are alike. */
function turned(make: (down: boolean) => Geometry, leaves: number, room = Number.POSITIVE_INFINITY): Geometry {
  if (leaves > MOST_LEAVES_DOWN) return make(false);
  const down = make(true);
  if (room >= down.width * EASY) return down;
  const right = make(false);
  return right.width < down.width ? right : down;
}

/** A band behind each link of a region: those of neighbours run into one. */
function outlinesOf(g: Geometry, places?: ReadonlyMap<number, number>): SVGPathElement[] {
  const outlined = g.wires.filter((w) => places?.has(w.id));
  return outlined.map((w) => {
    const path = s("path", { d: pathOf(w.curve), class: `outline outline-${places!.get(w.id)! % OUTLINES}` });
    path.style.strokeWidth = `${(OUTLINE * g.thin).toFixed(1)}px`;
    return path;
  });
}

function wireParts(wire: Wire, thin: number): WireParts {
  const d = pathOf(wire.curve);
  const mid = at(wire.curve, 0.5);
  const line = s("path", { d, class: "line" });
  const head = s("path", {
    d: thin < 0.8 ? "M-2.5 -2.5L3 0L-2.5 2.5Z" : "M-4.5 -4.5L5 0L-4.5 4.5Z",
    class: "head",
    transform: `translate(${mid.x.toFixed(1)} ${mid.y.toFixed(1)}) rotate(${heading(wire.curve).toFixed(1)})`,
  });
  const group = s(
    "g",
    { class: "wire", "data-link": wire.id, role: "button", tabindex: -1 },
    s("path", { d, class: "halo" }),
    line,
    head,
    s("path", { d, class: "hit" }),
  );
  const place = wire.label;
  const label =
    place &&
    s("text", {
      class: "number",
      "data-of": wire.id,
      x: place.x.toFixed(1),
      y: place.y.toFixed(1),
      "text-anchor": place.anchor,
    });
  return { wire, group, line, head, label };
}

function boxOf(b: Box, names: Map<number, string>, g: Geometry, badges?: Map<string, string>): SVGGElement {
  const room = b.width - 8;
  const badge = badges?.get(b.node.name);
  const size = g.dense ? 9.5 : 12;
  const text = g.down
    ? [
        boxText(b, 14.5, "name", cut(names.get(b.node.id) ?? b.node.name, room, 12)),
        boxText(b, 27, badge ? "badge" : "kind", cut(badge ?? b.node.kind, room, badge ? 10.5 : 10)),
      ]
    : [
        boxText(
          b,
          b.height / 2 + size / 3,
          badge ? "badge" : "name",
          cut(labelled(names.get(b.node.id)!, badge), room, badge ? Math.min(10.5, size) : size),
        ),
      ];
  return s(
    "g",
    { class: `node${badge ? " placed" : ""}`, "data-node": b.node.id },
    s("title", {}, `${isolated(b.node.name)} (${visible(b.node.kind)})${badge ? `: ${badge}` : ""}`),
    s("rect", { x: b.x, y: b.y, width: b.width, height: b.height, rx: 5 }),
    ...text,
  );
}

/** A name shortened to the pixels that it has, to one letter at least. */
function cut(text: string, room: number, size: number): string {
  return fitted([text], (form) => textWidth(form, size, 600) <= room, 1) || shortened(text, 1);
}

const labelled = (text: string, badge: string | undefined) => (badge ? `${text}: ${badge}` : text);

function boxText(b: Box, down: number, kind: string, text: string): SVGTextElement {
  return s(
    "text",
    {
      class: kind,
      x: b.x + b.width / 2,
      y: b.y + down,
      "text-anchor": "middle",
    },
    isolated(text),
  );
}
