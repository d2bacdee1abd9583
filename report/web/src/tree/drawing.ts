// The drawing of one topology: boxes, wires, arrow heads and numbers, made once and then only recoloured.

import type { Link, TopologyNode } from "../contract.ts";
import { h, isolated, s, shortened, visible } from "../core/dom.ts";
import { type Box, type Geometry, type Wire, at, geometry, heading, pathOf } from "./geometry.ts";
import { layout, shortNames, takingPart } from "./layout.ts";

/** Drawings may be shown this much larger than they are laid out, where there is room. */
const GROW = 1.15;

export interface WireParts {
  wire: Wire;
  group: SVGGElement;
  line: SVGPathElement;
  head: SVGPathElement;
  label: SVGTextElement;
}

export interface Drawing {
  root: SVGSVGElement;
  geometry: Geometry;
  wires: Map<number, WireParts>;
  boxes: Map<string, SVGGElement>;
}

export interface DrawingOptions {
  label: string;
  /** Only nodes that are ends of links with bytes, and those above them. */
  onlyUsed?: boolean;
  /** What stands in a box instead of its kind, by name of the node. */
  badges?: Map<string, string>;
}

export function draw(nodes: TopologyNode[], links: Map<number, Link>, options: DrawingOptions): Drawing {
  const used = [...links.values()].filter((l) => l.bytes > 0).flatMap((l) => [l.from, l.to]);
  const part = options.onlyUsed ? takingPart(nodes, used) : null;
  const names = shortNames(nodes);
  const nodeNames = new Map(nodes.map((n) => [n.id, n.name]));
  const labels = new Map([...names].map(([id, text]) => [id, labelled(text, options.badges?.get(nodeNames.get(id)!))]));
  const g = geometry(
    layout(nodes, links.values(), (id) => !part || part.has(id)),
    links,
    labels,
  );
  const wires = new Map(g.wires.map((w) => [w.id, wireParts(w)]));
  const boxes = new Map(g.boxes.map((b) => [b.node.name, boxOf(b, names, g.down, options.badges)]));
  const root = s(
    "svg",
    {
      class: "topology",
      viewBox: `0 0 ${g.width} ${g.height}`,
      width: Math.round(g.width * GROW),
      height: Math.round(g.height * GROW),
      role: "group",
      "aria-label": options.label,
    },
    s("g", {}, ...g.leaders.map(([a, b]) => s("line", { class: "leader", x1: a.x, y1: a.y, x2: b.x, y2: b.y }))),
    s("g", {}, ...[...wires.values()].map((p) => p.group)),
    s("g", {}, ...boxes.values()),
    s("g", { class: "numbers", "aria-hidden": "true" }, ...[...wires.values()].map((p) => p.label)),
  );
  return { root, geometry: g, wires, boxes };
}

function wireParts(wire: Wire): WireParts {
  const d = pathOf(wire.curve);
  const mid = at(wire.curve, 0.5);
  const line = s("path", { d, class: "line" });
  const head = s("path", {
    d: "M-4.5 -4.5L5 0L-4.5 4.5Z",
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
  const label = s("text", {
    class: "number",
    x: wire.label.x.toFixed(1),
    y: wire.label.y.toFixed(1),
    "text-anchor": wire.label.anchor,
  });
  return { wire, group, line, head, label };
}

function boxOf(b: Box, names: Map<number, string>, down: boolean, badges?: Map<string, string>): SVGGElement {
  const room = b.width - 8;
  const badge = badges?.get(b.node.name);
  const text = down
    ? [
        boxText(b, 14.5, "name", fitted(names.get(b.node.id) ?? b.node.name, room, 12)),
        boxText(b, 27, badge ? "badge" : "kind", fitted(badge ?? b.node.kind, room, badge ? 10.5 : 10)),
      ]
    : [
        boxText(
          b,
          14,
          badge ? "badge" : "name",
          fitted(labelled(names.get(b.node.id)!, badge), room, badge ? 10.5 : 12),
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

const pen = () => document.createElement("canvas").getContext("2d");
let measuring: CanvasRenderingContext2D | null = null;

/** A name shortened to the pixels that it has: letters differ in width. */
function fitted(text: string, room: number, size: number): string {
  measuring ??= pen();
  if (!measuring) return shortened(text, Math.floor(room / (0.6 * size)));
  measuring.font = `600 ${size}px ${getComputedStyle(document.body).fontFamily}`;
  let [low, high] = [1, [...text].length];
  const fits = (most: number) => measuring!.measureText(shortened(text, most)).width <= room;
  if (fits(Number.POSITIVE_INFINITY)) return shortened(text, Number.POSITIVE_INFINITY);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return shortened(text, low);
}

const labelled = (text: string, badge: string | undefined) => (badge ? `${text}: ${badge}` : text);

function boxText(b: Box, down: number, kind: string, text: string): SVGTextElement {
  return s(
    "text",
    {
      class: kind,
      x: b.x + b.width / 2,
      y: b.y + down + (b.height > 40 ? b.height / 2 - 10 : 0),
      "text-anchor": "middle",
    },
    `\u2068${text}\u2069`,
  );
}

/** A box that scrolls where the drawing is wider than its place. */
export function framed(drawing: Drawing): HTMLElement {
  return h("div", { class: "drawing" }, drawing.root);
}
