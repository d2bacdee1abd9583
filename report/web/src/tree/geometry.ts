// Where boxes and wires of a topology are drawn. The tree grows down, or to the right where it has many leaves.

import type { Link, TopologyNode } from "../contract.ts";
import type { Layout, Place } from "./layout.ts";

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  node: TopologyNode;
  width: number;
  height: number;
}

export interface Wire {
  link: Link;
  id: number;
  /** Two ends and two control points of a cubic curve, in the direction of travel. */
  curve: [Point, Point, Point, Point];
  /** Where its number stands. */
  label: Point & { anchor: "start" | "middle" | "end"; sign: "" | "↑" | "↓" | "⇠" | "⇢" };
}

export interface Geometry {
  width: number;
  height: number;
  down: boolean;
  boxes: Box[];
  wires: Wire[];
  /** From boxes to the lines of a hub, past the numbers. */
  leaders: [Point, Point][];
}

/** Trees with more leaves than this grow to the right. */
export const MOST_LEAVES_DOWN = 10;
const CHAR = 7.3;
/** Half the distance between the two directions of a link. */
const APART = 4.5;
const INSIDE = 8;

interface Frame {
  down: boolean;
  /** Pixels per leaf, and per level. */
  leaf: number;
  level: number;
  box: { width: number; height: number };
  before: number;
  /** Room between leaves and hubs for the numbers of both: 0 without hubs. */
  hubs: number;
  /** The length of a hub's box along the row of leaves. */
  hubLength: number;
}

export function geometry(layout: Layout, links: Iterable<[number, Link]>, names: Map<number, string>): Geometry {
  const all = [...links];
  const byName = new Map([...layout.places.values()].map((p) => [p.node.name, p]));
  const known = all.filter(([, l]) => byName.has(l.from) && byName.has(l.to));
  const frame = frameOf(layout, known, byName, names);
  const boxes = [...layout.places.values()].map((p) => boxOf(p, frame));
  const wires = known.map(([id, link]) => wireOf(id, link, byName.get(link.from)!, byName.get(link.to)!, frame));
  const low = Math.max(...wires.flatMap((w) => w.curve.map((p) => (frame.down ? p.y : p.x))), 0);
  const along =
    Math.max(frame.before + layout.depth * frame.level + (frame.down ? frame.box.height : frame.box.width), low) +
    (frame.down ? 18 : 118);
  const across = Math.max(1, layout.leaves) * frame.leaf + 8;
  return {
    width: frame.down ? across : along,
    height: frame.down ? along : across,
    down: frame.down,
    boxes,
    wires,
    leaders: leadersOf(known, byName, frame),
  };
}

function frameOf(
  layout: Layout,
  links: [number, Link][],
  byName: Map<string, Place>,
  names: Map<number, string>,
): Frame {
  const down = layout.leaves <= MOST_LEAVES_DOWN;
  const longest = Math.max(4, ...[...layout.places.keys()].map((id) => [...(names.get(id) ?? "")].length));
  const width = Math.min(170, Math.max(down ? 76 : 58, longest * CHAR + 18));
  const rootArcs = links.filter(
    ([, l]) => l.direction === "lateral" && byName.get(l.from)!.depth === 0 && !byName.get(l.from)!.leaf,
  );
  const bulge = Math.max(0, ...rootArcs.map(([, l]) => height(byName.get(l.from)!, byName.get(l.to)!)));
  const box = { width, height: down ? 34 : 20 };
  const anyHub = [...layout.places.values()].some((p) => p.hub);
  const hubs = anyHub ? (down ? 22 : 214) : 0;
  const hubLength = Math.max(1, layout.leaves * 0.6) * (down ? width + 30 : 27);
  return {
    hubs,
    hubLength,
    down,
    leaf: down ? width + 30 : 27,
    level: down ? 96 : width + 100,
    box,
    before: bulge > 0 ? bulge + (down ? 30 : 62) : 6,
  };
}

function leadersOf(links: [number, Link][], byName: Map<string, Place>, f: Frame): [Point, Point][] {
  const ends = new Set<Place>();
  for (const [, l] of links) {
    const [a, b] = [byName.get(l.from)!, byName.get(l.to)!];
    if (b.hub && !a.hub) ends.add(a);
    if (a.hub && !b.hub) ends.add(b);
  }
  const half = (f.down ? f.box.height : f.box.width) / 2;
  return [...ends].map((p) => [from(p, f, 0, half), from(p, f, 0, half + f.hubs)]);
}

/** How far an arc between two places reaches out. */
function height(a: Place, b: Place): number {
  return 16 + Math.min(50, 7 * Math.abs(a.across - b.across));
}

function centre(p: Place, f: Frame): Point {
  const across = (p.across + 0.5) * f.leaf + 4;
  const along = f.before + p.depth * f.level + (p.hub ? f.hubs : 0);
  return f.down ? { x: across, y: along + f.box.height / 2 } : { x: along + f.box.width / 2, y: across };
}

function boxOf(p: Place, f: Frame): Box {
  const c = centre(p, f);
  const size = { ...f.box };
  if (p.hub) size[f.down ? "width" : "height"] = Math.max(size[f.down ? "width" : "height"], f.hubLength);
  return { node: p.node, x: c.x - size.width / 2, y: c.y - size.height / 2, ...size };
}

/** A point `across` and `along` from the middle of a box. */
function from(p: Place, f: Frame, across: number, along: number): Point {
  const c = centre(p, f);
  return f.down ? { x: c.x + across, y: c.y + along } : { x: c.x + along, y: c.y + across };
}

function wireOf(id: number, link: Link, a: Place, b: Place, f: Frame): Wire {
  if (b.node.id === a.node.parent) return treeWire(id, link, a, b, f, true);
  if (a.node.id === b.node.parent) return treeWire(id, link, b, a, f, false);
  if (b.hub && b.depth > a.depth) return treeWire(id, link, b, a, f, false);
  if (a.hub && a.depth > b.depth) return treeWire(id, link, a, b, f, true);
  return lateralWire(id, link, a, b, f);
}

function treeWire(id: number, link: Link, child: Place, parent: Place, f: Frame, up: boolean): Wire {
  const half = (f.down ? f.box.height : f.box.width) / 2;
  // Ends lie inside the boxes, which are drawn over them, so that shifted lines still touch.
  const hub = child.hub;
  const low = from(child, f, hub ? hubPort(parent, child, f) : 0, -half + INSIDE);
  const high = hub ? from(parent, f, 0, half + f.hubs) : from(parent, f, port(child, parent, f), half - INSIDE);
  const side = up === f.down ? -1 : 1;
  const normal = normalOf(low, high, side);
  const [bottom, top] = [shifted(low, normal, APART), shifted(high, normal, APART)];
  const curve = up ? straight(bottom, top) : straight(top, bottom);
  return {
    link,
    id,
    curve,
    label: hub
      ? atLeaf(parent, f, up, 1)
      : child.leaf
        ? atLeaf(child, f, up, 0)
        : beside(shifted(low, normal, APART + 4), high, low, normal, f.down ? 0.36 : 0.26),
  };
}

/** Where a child's lines meet its parent: spread over the side of the box, as the children are. */
function port(child: Place, parent: Place, f: Frame): number {
  const most = f.down ? f.box.width / 2 - 16 : f.box.height / 2 - 4;
  return Math.max(-most, Math.min(most, (child.across - parent.across) * f.leaf * 0.2));
}

/** The unit vector to the left (−1) or right (1) of the way from `a` to `b`, as seen on the screen. */
function normalOf(a: Point, b: Point, side: number): Point {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  return { x: (-(b.y - a.y) / length) * side, y: ((b.x - a.x) / length) * side };
}

function shifted(p: Point, normal: Point, by: number): Point {
  return { x: p.x + normal.x * by, y: p.y + normal.y * by };
}

function straight(a: Point, b: Point): Wire["curve"] {
  const part = (t: number) => ({ x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t });
  return [a, part(1 / 3), part(2 / 3), b];
}

/** Numbers of a leaf stand beyond its box, where no lines cross: first those of its tree, then (`second`) those of a hub. */
function atLeaf(leaf: Place, f: Frame, up: boolean, second: 0 | 1): Wire["label"] {
  const signs = second ? (["⇠", "⇢"] as const) : (["↑", "↓"] as const);
  const sign = signs[up ? 0 : 1];
  if (f.down)
    return { ...from(leaf, f, up ? -3 : 3, f.box.height / 2 + 11 + 11 * second), anchor: up ? "end" : "start", sign };
  return { ...from(leaf, f, 4, f.box.width / 2 + (up ? 6 : 58) + 104 * second), anchor: "start", sign };
}

/** Where a line meets a hub: spread over its whole length. */
function hubPort(end: Place, hub: Place, f: Frame): number {
  const most = f.hubLength / 2 - 6;
  return Math.max(-most, Math.min(most, (end.across - hub.across) * f.leaf * 0.6));
}

/** A number's place on the outer side of a line, near its lower end. */
function beside(start: Point, to: Point, low: Point, normal: Point, t: number): Wire["label"] {
  const x = start.x + (to.x - low.x) * t;
  const y = start.y + (to.y - low.y) * t;
  const anchor = Math.abs(normal.x) < 0.35 ? "middle" : normal.x > 0 ? "start" : "end";
  return { x, y: y + 3.5 + normal.y * 4, anchor, sign: "" };
}

function lateralWire(id: number, link: Link, a: Place, b: Place, f: Frame): Wire {
  const above = a.depth === 0 && !a.leaf;
  const sign = above ? -1 : 1;
  const half = ((f.down ? f.box.height : f.box.width) / 2) * sign;
  const forward = a.across < b.across;
  const out = (height(a, b) + (forward ? 14 : 0)) * sign * 1.25;
  const side = (forward ? 1 : -1) * 9;
  const start = from(a, f, side, half);
  const end = from(b, f, -side, half);
  const control: [Point, Point] = [from(a, f, side, half + out), from(b, f, -side, half + out)];
  const curve: Wire["curve"] = [start, control[0], control[1], end];
  return { link, id, curve, label: onArc(at(curve, 0.5), forward !== above, f) };
}

/** A number's place on the outer side of the outer arc, or on the inner side of the inner one. */
function onArc(mid: Point, after: boolean, f: Frame): Wire["label"] {
  if (f.down) return { x: mid.x, y: mid.y + (after ? 13 : -6), anchor: "middle", sign: "" };
  return { x: mid.x + (after ? 6 : -6), y: mid.y + 3, anchor: after ? "start" : "end", sign: "" };
}

/** The point at `t` of a cubic curve. */
export function at([a, b, c, d]: Wire["curve"], t: number): Point {
  const u = 1 - t;
  const mix = (p: number, q: number, r: number, w: number) =>
    u ** 3 * p + 3 * u * u * t * q + 3 * u * t * t * r + t ** 3 * w;
  return { x: mix(a.x, b.x, c.x, d.x), y: mix(a.y, b.y, c.y, d.y) };
}

/** The direction of travel at the middle, degrees. */
export function heading([a, b, c, d]: Wire["curve"]): number {
  return (Math.atan2(d.y + c.y - b.y - a.y, d.x + c.x - b.x - a.x) * 180) / Math.PI;
}

export function pathOf([a, b, c, d]: Wire["curve"]): string {
  const p = (q: Point) => `${q.x.toFixed(1)} ${q.y.toFixed(1)}`;
  return `M${p(a)}C${p(b)} ${p(c)} ${p(d)}`;
}
