// Where boxes and wires of a topology are drawn. The tree grows down, or to the right where leaves are many.

import { extent } from "../core/scale.ts";
import type { Link } from "../contract.ts";
import type { Layout, Place } from "./layout.ts";
import { type Frame, PARALLEL, arcHeight, boxSize, centre, frameOf, from, half } from "./frame.ts";
import { placeNumbers } from "./numbers.ts";
import type { Box, Label, Point, Wire } from "./wire.ts";

export interface Geometry {
  width: number;
  height: number;
  down: boolean;
  /** Rows are so close that letters are smaller. */
  dense: boolean;
  /** How thick wires are, of what they are where there is room. */
  thin: number;
  boxes: Box[];
  wires: Wire[];
  /** From boxes to the lines of a hub, past the numbers. */
  leaders: [Point, Point][];
  /** Links whose numbers found no place. */
  unplaced: number;
}

export interface GeometryOptions {
  /** Whether it grows down; otherwise this follows from the number of leaves. */
  down?: boolean;
  /** The links that have numbers: those that carry bytes, unless others are given. */
  numbered?: ReadonlySet<number>;
  /** Pixels that a number needs. */
  numberWidth?: number;
}

/** Trees with more leaves than this grow to the right. */
export const MOST_LEAVES_DOWN = 10;
const INSIDE = 8;

export function geometry(
  layout: Layout,
  links: Iterable<[number, Link]>,
  names: Map<number, string>,
  options: GeometryOptions = {},
): Geometry {
  const all = [...links];
  const byName = new Map([...layout.places.values()].map((p) => [p.node.name, p]));
  const known = all.filter(([, l]) => byName.has(l.from) && byName.has(l.to));
  const numbered = options.numbered ?? new Set(known.filter(([, l]) => l.bytes > 0).map(([id]) => id));
  const down = options.down ?? layout.leaves <= MOST_LEAVES_DOWN;
  const frame = frameOf({ layout, links: known, byName, names, numbered, down });
  const boxes = [...layout.places.values()].map((p) => boxOf(p, frame));
  const arcs = new Set(
    known.filter(([, l]) => isArc(byName.get(l.from)!, byName.get(l.to)!)).flatMap(([, l]) => [l.from, l.to]),
  );
  const wires = known.map(([id, link]) => wireOf(id, link, byName.get(link.from)!, byName.get(link.to)!, frame, arcs));
  keepFirst(wires, numbered);
  const size = sizeOf(layout, wires, frame);
  const wanting = wires.filter((w) => numbered.has(w.id) && w.label === null);
  const unplaced = placeNumbers(wires, wanting, boxes, { ...size, down, number: options.numberWidth ?? 40 });
  const leaders = leadersOf(known, byName, frame);
  return { ...size, down, dense: frame.dense, thin: frame.thin, boxes, wires, leaders, unplaced };
}

/** Of parallel links the first one keeps its place for a number; links that never have one keep none. */
function keepFirst(wires: Wire[], numbered: ReadonlySet<number>): void {
  const taken = new Set<string>();
  for (const w of wires) {
    const place = w.label && `${w.label.x} ${w.label.y}`;
    if (!place) continue;
    if (!numbered.has(w.id) || taken.has(place)) w.label = null;
    else taken.add(place);
  }
}

function sizeOf(layout: Layout, wires: Wire[], f: Frame): { width: number; height: number } {
  const low = Math.max(extent(wires.flatMap((w) => w.curve.map((p) => (f.down ? p.y : p.x))))[1], 0);
  const end = f.before + f.levels[layout.depth]! + f.hubs + (f.down ? f.high : f.widths[layout.depth]!);
  const along = Math.max(end, low) + f.after;
  const across = Math.max(1, layout.leaves) * f.leaf + 8;
  return { width: f.down ? across : along, height: f.down ? along : across };
}

function leadersOf(links: [number, Link][], byName: Map<string, Place>, f: Frame): [Point, Point][] {
  const ends = new Set<Place>();
  for (const [, l] of links) {
    const [a, b] = [byName.get(l.from)!, byName.get(l.to)!];
    if (b.hub && !a.hub) ends.add(a);
    if (a.hub && !b.hub) ends.add(b);
  }
  return [...ends].map((p) => [from(p, f, 0, half(p, f)), from(p, f, 0, half(p, f) + f.hubs)]);
}

function boxOf(p: Place, f: Frame): Box {
  const c = centre(p, f);
  const size = boxSize(p, f);
  return { node: p.node, leaf: p.leaf && !p.hub, x: c.x - size.width / 2, y: c.y - size.height / 2, ...size };
}

/** Whether a link joins neither child and parent nor a hub. */
function isArc(a: Place, b: Place): boolean {
  return (
    a.node.id !== b.node.parent &&
    b.node.id !== a.node.parent &&
    !(b.hub && b.depth > a.depth) &&
    !(a.hub && a.depth > b.depth)
  );
}

function wireOf(id: number, link: Link, a: Place, b: Place, f: Frame, arcs: Set<string>): Wire {
  if (isArc(a, b)) return lateralWire(id, link, a, b, f);
  const up = b.node.id === a.node.parent || (a.node.id !== b.node.parent && a.hub);
  const [child, parent] = up ? [a, b] : [b, a];
  const curve = child.hub ? hubCurve(child, parent, f, up) : treeCurve(child, parent, f, up);
  if (child.hub) return { link, id, curve, label: atLeaf(parent, f, up, 1) };
  if (child.leaf) return { link, id, curve, label: arcs.has(child.node.name) ? null : atLeaf(child, f, up, 0) };
  return { link, id, curve, label: null, wish: f.spaced ? atChild(child, f, up) : null };
}

/** A line between a child and its parent, beside that of the other direction. Ends lie inside the boxes, which are drawn over them. */
function treeCurve(child: Place, parent: Place, f: Frame, up: boolean): Wire["curve"] {
  const low = from(child, f, 0, -half(child, f) + INSIDE);
  const high = from(parent, f, port(child, parent, f), half(parent, f) - INSIDE);
  const normal = normalOf(low, high, up === f.down ? -1 : 1);
  const top = shifted(high, normal, f.apart);
  const bottom = f.down ? shifted(low, normal, f.apart) : { x: low.x, y: low.y + (up ? -f.apart : f.apart) };
  if (f.down) return up ? straight(bottom, top) : straight(top, bottom);
  return up ? flipped(level(top, bottom)) : level(top, bottom);
}

function hubCurve(hub: Place, end: Place, f: Frame, up: boolean): Wire["curve"] {
  const low = from(hub, f, hubPort(end, hub, f), -half(hub, f) + INSIDE);
  const high = from(end, f, 0, half(end, f) + f.hubs);
  const normal = normalOf(low, high, up === f.down ? -1 : 1);
  const [bottom, top] = [shifted(low, normal, f.apart), shifted(high, normal, f.apart)];
  return up ? straight(bottom, top) : straight(top, bottom);
}

/** Where a child's lines meet its parent: spread over the side of the box, as the children are. */
function port(child: Place, parent: Place, f: Frame): number {
  const most = f.down ? f.widths[parent.depth]! / 2 - 16 : f.high / 2 - 4;
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

/** From a parent's side straight towards the child, which it meets along its row. */
function level(a: Point, b: Point): Wire["curve"] {
  const dx = b.x - a.x;
  return [a, { x: a.x + dx * 0.2, y: a.y + (b.y - a.y) * 0.2 }, { x: b.x - dx * 0.8, y: b.y }, b];
}

const flipped = ([a, b, c, d]: Wire["curve"]): Wire["curve"] => [d, c, b, a];

/** Over the line up and under the line down, where they meet the child. */
function atChild(child: Place, f: Frame, up: boolean): Label {
  const across = up ? -f.apart - 5.6 : f.apart + 13;
  return { ...from(child, f, across, -half(child, f) - 6), anchor: "end", sign: up ? "↑" : "↓" };
}

/** Beyond the box of a leaf, where no lines cross: first the numbers of its tree, then (`second`) those of a hub. */
function atLeaf(leaf: Place, f: Frame, up: boolean, second: 0 | 1): Label {
  const sign = (second ? (["⇠", "⇢"] as const) : (["↑", "↓"] as const))[up ? 0 : 1];
  const rank = second && f.leafNumbers ? 1 : 0;
  if (f.down) return { ...from(leaf, f, up ? -3 : 3, f.high / 2 + 11 + 11 * rank), anchor: up ? "end" : "start", sign };
  const along = half(leaf, f) + (up ? 6 : 58) + PARALLEL * rank;
  return { ...from(leaf, f, f.dense ? 3.3 : 4, along), anchor: "start", sign };
}

/** Where a line meets a hub: spread over its whole length. */
function hubPort(end: Place, hub: Place, f: Frame): number {
  const most = f.hubLength / 2 - 6;
  return Math.max(-most, Math.min(most, (end.across - hub.across) * f.leaf * 0.6));
}

function lateralWire(id: number, link: Link, a: Place, b: Place, f: Frame): Wire {
  const above = a.depth === 0 && !a.leaf;
  const sign = above ? -1 : 1;
  const forward = a.across < b.across;
  const out = (arcHeight(a, b) + (forward ? 14 : 0)) * sign * 1.25;
  const side = (forward ? 1 : -1) * Math.min(9, f.high / 2 - 1);
  const [halfA, halfB] = [half(a, f) * sign, half(b, f) * sign];
  const start = from(a, f, side, halfA);
  const end = from(b, f, -side, halfB);
  const control: [Point, Point] = [from(a, f, side, halfA + out), from(b, f, -side, halfB + out)];
  return { link, id, curve: [start, control[0], control[1], end], label: null };
}
