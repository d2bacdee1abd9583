// The measures of a drawn tree: how far apart its rows and levels stand, and where a place is then.

import { extent } from "../core/scale.ts";
import type { Link } from "../contract.ts";
import type { Layout, Place } from "./layout.ts";
import type { Point } from "./wire.ts";

const CHAR = 7.3;
/** A row of a tree that grows to the right, and the least that names and numbers can be read at. */
const ROW = 27;
const LEAST_ROW = 12.2;
/** A row where inner nodes follow each other row by row: the numbers of both directions stand between them. */
const NUMBERED_ROW = 44;
/** Rows get closer so that a tree to the right stays this high, while they can. */
const HIGH = 790;
/** Below this rows are so close that letters are smaller. */
const DENSE = 17;
/** Half the distance between the two directions of a link. */
const APART = 4.5;
/** Room between levels to the right, with numbers and without. */
const NUMBERS = 104;
const BARE = 56;
/** A number, and its distance from the line. */
const NUMBER_HIGH = 15.5;
/** Two columns of numbers. */
export const PARALLEL = 104;

export interface Frame {
  down: boolean;
  dense: boolean;
  thin: number;
  apart: number;
  /** Pixels per leaf. */
  leaf: number;
  /** Where each level begins. */
  levels: number[];
  /** Of the boxes of each level. */
  widths: number[];
  high: number;
  before: number;
  after: number;
  /** Room between leaves and hubs for the numbers of both: 0 without hubs. */
  hubs: number;
  /** The length of a hub's box along the row of leaves. */
  hubLength: number;
  /** Whether links between leaves and their parents have numbers. */
  leafNumbers: boolean;
  /** Whether between the lines of inner nodes there is room for the numbers of both. */
  spaced: boolean;
}

export interface FrameInput {
  layout: Layout;
  links: [number, Link][];
  byName: Map<string, Place>;
  names: Map<number, string>;
  numbered: ReadonlySet<number>;
  down: boolean;
}

export function frameOf(input: FrameInput): Frame {
  const { layout, down } = input;
  const places = [...layout.places.values()];
  const [leafNumbers, inner] = numbersOf(input);
  const near = closest(places, inner);
  const wanted = near < 1.5 ? NUMBERED_ROW : ROW;
  const row = Math.max(LEAST_ROW, Math.min(wanted, HIGH / Math.max(1, layout.leaves)));
  const dense = !down && row < DENSE;
  const widths = widthsOf(input, dense);
  const leaf = down ? widths[0]! + 30 : row;
  const thin = down ? 1 : Math.max(0.5, Math.min(1, row / 22));
  const bulge = bulgeOf(input);
  const numbers = (leafNumbers ? PARALLEL : 0) + PARALLEL + 6;
  const hubs = places.some((p) => p.hub) ? (down ? (leafNumbers ? 22 : 11) : numbers) : 0;
  return {
    down,
    dense,
    thin,
    apart: APART * thin,
    leaf,
    levels: levelsOf(down, widths, inner),
    widths,
    high: down ? 34 : Math.min(20, row * 0.88),
    before: bulge > 0 ? bulge + (down ? 30 : 62) : 6,
    after: down ? 18 : leafNumbers && hubs === 0 ? 118 : 12,
    hubs,
    hubLength: Math.max(1, layout.leaves * 0.6) * leaf,
    leafNumbers,
    spaced: !down && near * row >= 2 * (APART * thin + NUMBER_HIGH),
  };
}

/** Whether links of leaves have numbers, and at which depths links of inner nodes to their parents have. */
function numbersOf({ links, byName, numbered }: FrameInput): [boolean, Set<number>] {
  let leaf = false;
  const inner = new Set<number>();
  for (const [id, l] of links) {
    const [a, b] = [byName.get(l.from)!, byName.get(l.to)!];
    if (!numbered.has(id) || a.hub || b.hub) continue;
    const child = b.node.id === a.node.parent ? a : b;
    if (child.leaf) leaf = true;
    else inner.add(child.depth);
  }
  return [leaf, inner];
}

/** The rows between the nearest inner nodes of a level with numbers. */
function closest(places: Place[], inner: Set<number>): number {
  const last = new Map<number, number>();
  let least = Number.POSITIVE_INFINITY;
  for (const p of places.filter((x) => !x.leaf && inner.has(x.depth)).sort((a, b) => a.across - b.across)) {
    least = Math.min(least, p.across - (last.get(p.depth) ?? Number.NEGATIVE_INFINITY));
    last.set(p.depth, p.across);
  }
  return least;
}

/** How far arcs between roots reach out before the first level. */
function bulgeOf({ links, byName }: FrameInput): number {
  const ends = links
    .filter(([, l]) => l.direction === "lateral")
    .map(([, l]) => [byName.get(l.from)!, byName.get(l.to)!] as const);
  return Math.max(0, extent(ends.filter(([a]) => a.depth === 0 && !a.leaf).map(([a, b]) => arcHeight(a, b)))[1]);
}

/** Boxes are as wide as the longest name of their level, or of all where the tree grows down. */
function widthsOf({ layout, names, down }: FrameInput, dense: boolean): number[] {
  const longest = new Array<number>(layout.depth + 1).fill(4);
  for (const p of layout.places.values())
    longest[p.depth] = Math.max(longest[p.depth]!, [...(names.get(p.node.id) ?? "")].length);
  const all = extent(longest)[1];
  const char = CHAR * (dense ? 0.8 : 1);
  return longest.map((n) => Math.min(170, Math.max(down ? 76 : 58, (down ? all : n) * char + 18)));
}

function levelsOf(down: boolean, widths: number[], inner: Set<number>): number[] {
  const levels = [0];
  for (let d = 1; d < widths.length; d++)
    levels.push(levels[d - 1]! + (down ? 96 : widths[d - 1]! + (inner.has(d) ? NUMBERS : BARE)));
  return levels;
}

/** How far an arc between two places reaches out. */
export function arcHeight(a: Place, b: Place): number {
  return 16 + Math.min(50, 7 * Math.abs(a.across - b.across));
}

export function centre(p: Place, f: Frame): Point {
  const across = (p.across + 0.5) * f.leaf + 4;
  const along = f.before + f.levels[p.depth]! + (p.hub ? f.hubs : 0) + half(p, f);
  return f.down ? { x: across, y: along } : { x: along, y: across };
}

/** From the middle of a box to its end in the direction that the tree grows. */
export function half(p: Place, f: Frame): number {
  return (f.down ? f.high : f.widths[p.depth]!) / 2;
}

export function boxSize(p: Place, f: Frame): { width: number; height: number } {
  const size = { width: f.widths[p.depth]!, height: f.high };
  const along = f.down ? "width" : "height";
  if (p.hub) size[along] = Math.max(size[along], f.hubLength);
  return size;
}

/** A point `across` and `along` from the middle of a box. */
export function from(p: Place, f: Frame, across: number, along: number): Point {
  const c = centre(p, f);
  return f.down ? { x: c.x + across, y: c.y + along } : { x: c.x + along, y: c.y + across };
}
