// Boxes and wires of a drawn topology, and the curves of wires.

import type { Link, TopologyNode } from "../contract.ts";

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  node: TopologyNode;
  width: number;
  height: number;
  leaf: boolean;
}

export interface Label extends Point {
  anchor: "start" | "middle" | "end";
  sign: "" | "↑" | "↓" | "⇠" | "⇢";
}

export interface Wire {
  link: Link;
  id: number;
  /** Two ends and two control points of a cubic curve, in the direction of travel. */
  curve: [Point, Point, Point, Point];
  /** Where its number stands; null where it never has one, or where there is no room for it. */
  label: Label | null;
  /** Where it would stand best, if nothing is there. */
  wish?: Label | null;
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
