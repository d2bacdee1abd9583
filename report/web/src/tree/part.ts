// Which nodes of the shown topologies take part: the same ones in all of them, so that drawings can be compared.

import type { RunView } from "../run/view.ts";
import { takingPart } from "./layout.ts";

export interface Part {
  /** Nodes that are ends of links with bytes in any shown run, and those above them. */
  names: Set<string>;
  /** Links that carried bytes in any shown run, by their number on the page. */
  carrying: Set<number>;
  all: number;
  /** How many nodes take no part. */
  idle: number;
}

/** Trees with more leaves have rows that are closer than they are read best: nodes that take no part are then left out at first. */
const MANY_LEAVES = 28;

export function partOf(views: RunView[]): Part {
  const used = new Set<string>();
  const carrying = new Set<number>();
  for (const v of views)
    for (const [id, l] of v.links)
      if (l.bytes > 0) {
        used.add(l.from).add(l.to);
        carrying.add(id);
      }
  const names = new Set<string>();
  const all = new Set<string>();
  for (const { nodes } of views) {
    const part = takingPart(nodes, used);
    for (const n of nodes) {
      all.add(n.name);
      if (part.has(n.id)) names.add(n.name);
    }
  }
  return { names, carrying, all: all.size, idle: all.size - names.size };
}

/** Whether nodes that take no part are left out until the reader wants them. */
export function hidesAtFirst(views: RunView[]): boolean {
  const { names, idle } = partOf(views);
  return names.size > 0 && idle > 0 && views.some((v) => leaves(v) > MANY_LEAVES);
}

function leaves({ nodes }: RunView): number {
  const parents = new Set(nodes.map((n) => n.parent));
  return nodes.filter((n) => !parents.has(n.id)).length;
}
