// Where the numbers of links stand: beside their line, clear of boxes and of each other.

import { type Box, type Label, type Point, type Wire, at } from "./wire.ts";

interface Rect extends Point {
  width: number;
  height: number;
}

/** Pixels of a line of small letters, and how far their middle is above their foot. */
const HIGH = 11;
const RISE = 3.6;
/** From the middle of a line to a number beside it. */
const GAP = 4.2;
/** The same beside the middle of an arc, where its arrow head is. */
const HEAD_GAP = 9;
/** Places along a line that are tried, from its lower end. */
const STEPS = Array.from({ length: 23 }, (_, i) => 0.1 + i * 0.035);
const CELL = 48;

/** What stands where, found by squares of the plane. */
class Ground<T extends Point> {
  private cells = new Map<number, T[]>();

  private *squares(r: Rect): Generator<number> {
    for (let x = Math.floor(r.x / CELL); x <= Math.floor((r.x + r.width) / CELL); x++)
      for (let y = Math.floor(r.y / CELL); y <= Math.floor((r.y + r.height) / CELL); y++) yield x * 100_003 + y;
  }

  add(item: T, r: Rect): void {
    for (const key of this.squares(r)) {
      const list = this.cells.get(key);
      if (list) list.push(item);
      else this.cells.set(key, [item]);
    }
  }

  *near(r: Rect): Generator<T> {
    for (const key of this.squares(r)) yield* this.cells.get(key) ?? [];
  }
}

interface Room {
  width: number;
  height: number;
  /** Pixels that a number needs. */
  number: number;
  /** Whether the tree grows down: to the right, lines have most room where they meet the child. */
  down: boolean;
}

interface Found {
  label: Label;
  rect: Rect;
  cost: number;
}

/** Gives the `wanting` wires their labels, and tells for how many there was no room. */
export function placeNumbers(wires: Wire[], wanting: Wire[], boxes: Box[], room: Room): number {
  if (wanting.length === 0) return 0;
  const solid = new Ground<Rect>();
  const lines = new Ground<Point>();
  for (const b of boxes) solid.add(b, b);
  for (const w of wires) {
    if (w.label) solid.add(rectOf(w.label, room.number), rectOf(w.label, room.number));
    for (const p of samples(w.curve)) lines.add(p, { ...p, width: 0, height: 0 });
  }
  const ground = { solid, lines };
  const put = (w: Wire, found: Found | null) => {
    w.label = found?.label ?? null;
    if (found) solid.add(found.rect, found.rect);
  };
  for (const w of wanting) if (w.wish) put(w, wished(w.wish, ground, room));
  for (const w of wanting) if (!w.label) put(w, bestOf(w, ground, room));
  return wanting.filter((w) => !w.label).length;
}

interface Standing {
  solid: Ground<Rect>;
  lines: Ground<Point>;
}

/** A place where at most the end of a line is touched. */
function wished(label: Label, ground: Standing, room: Room): Found | null {
  const rect = rectOf(label, room.number);
  if (isTaken(rect, ground.solid, room)) return null;
  const cost = crossed(rect, ground.lines);
  return cost > 1 ? null : { label, rect, cost };
}

function isTaken(r: Rect, solid: Ground<Rect>, room: Room): boolean {
  if (r.x < 0 || r.y < 0 || r.x + r.width > room.width || r.y + r.height > room.height) return true;
  for (const other of solid.near(r)) if (overlap(r, other)) return true;
  return false;
}

/** How many points of lines lie under a number. */
function crossed(r: Rect, lines: Ground<Point>): number {
  const seen = new Set<Point>();
  for (const p of lines.near(r)) if (overlap(r, { ...p, width: 0.1, height: 0.1 })) seen.add(p);
  return seen.size;
}

function rectOf(l: Label, width: number): Rect {
  const x = l.anchor === "start" ? l.x : l.anchor === "end" ? l.x - width : l.x - width / 2;
  return { x, y: l.y - RISE - HIGH / 2, width, height: HIGH };
}

/** Points of a line, about six pixels apart. */
function samples(curve: Wire["curve"]): Point[] {
  const count = Math.max(
    4,
    Math.min(200, Math.round(Math.hypot(curve[3].x - curve[0].x, curve[3].y - curve[0].y) / 6)),
  );
  return Array.from({ length: count + 1 }, (_, i) => at(curve, i / count));
}

const overlap = (a: Rect, b: Rect) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

function bestOf(wire: Wire, ground: Standing, room: Room): Found | null {
  let best: Found | null = null;
  for (const found of candidates(wire, room)) {
    if ((best && found.cost >= best.cost) || isTaken(found.rect, ground.solid, room)) continue;
    found.cost += 3 * crossed(found.rect, ground.lines);
    if (!best || found.cost < best.cost) best = found;
  }
  return best;
}

/** Beside the line, at its left or right, or over it: at the lower end of a link of a tree first. */
function* candidates(wire: Wire, room: Room): Generator<Found> {
  const { link, curve } = wire;
  const up = link.direction !== "down";
  const arc = link.direction === "lateral";
  const wanted = arc ? 0.5 : room.down ? 0.28 : 0.17;
  for (const step of STEPS) {
    const t = up ? step : 1 - step;
    const p = at(curve, t);
    const q = at(curve, Math.min(1, t + 0.01));
    const length = Math.hypot(q.x - p.x, q.y - p.y) || 1;
    const left = { x: (q.y - p.y) / length, y: -(q.x - p.x) / length };
    for (const [side, cost] of SIDES) {
      const normal = { x: left.x * side, y: left.y * side };
      const found = place(p, normal, room.number, side, cost + Math.abs(step - wanted) * 12, arc);
      found.label.sign = arc ? "" : up ? "↑" : "↓";
      yield found;
    }
  }
}

/** Left and right of a line, and over it, with what each costs. */
const SIDES: [number, number][] = [
  [1, 0],
  [-1, 0],
  [0, 5],
];

function place(p: Point, normal: Point, width: number, side: number, cost: number, arc: boolean): Found {
  const gap = arc ? HEAD_GAP : GAP;
  const away = side === 0 ? 0 : gap + (Math.abs(normal.x) * width) / 2 + (Math.abs(normal.y) * HIGH) / 2;
  const middle = { x: p.x + normal.x * away, y: p.y + normal.y * away };
  const anchor = Math.abs(normal.x) < 0.35 ? "middle" : normal.x > 0 ? "start" : "end";
  const x = middle.x + (anchor === "start" ? -width / 2 : anchor === "end" ? width / 2 : 0);
  const label: Label = { x, y: middle.y + RISE, anchor, sign: "" };
  return { label, rect: rectOf(label, width), cost };
}
