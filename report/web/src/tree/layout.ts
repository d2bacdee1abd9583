// Where the nodes of a forest stand: leaves in a row, each parent over the middle of its children.

import type { TopologyNode } from "../contract.ts";

export interface Place {
  node: TopologyNode;
  /** Place along the row of leaves, in leaves; parents stand between. */
  across: number;
  /** Distance from the roots. */
  depth: number;
  leaf: boolean;
}

export interface Layout {
  places: Map<number, Place>;
  leaves: number;
  depth: number;
}

/** Children follow each other in file order. Trees of a forest follow each other with a gap of half a leaf. */
export function layout(nodes: TopologyNode[], keep: (id: number) => boolean = () => true): Layout {
  const children = childrenOf(nodes);
  const places = new Map<number, Place>();
  let leaves = 0;
  let depth = 0;
  const place = (node: TopologyNode, level: number): number => {
    const below = (children.get(node.id) ?? []).filter((c) => keep(c.id));
    depth = Math.max(depth, level);
    const at = below.map((child) => place(child, level + 1));
    const across = at.length ? (at[0]! + at[at.length - 1]!) / 2 : leaves++;
    places.set(node.id, { node, across, depth: level, leaf: at.length === 0 });
    return across;
  };
  const roots = nodes.filter((n) => n.parent === null && keep(n.id));
  roots.forEach((root, i) => {
    if (i > 0) leaves += 0.5;
    place(root, 0);
  });
  return { places, leaves, depth };
}

function childrenOf(nodes: TopologyNode[]): Map<number, TopologyNode[]> {
  const children = new Map<number, TopologyNode[]>();
  for (const node of nodes) {
    if (node.parent === null) continue;
    const list = children.get(node.parent);
    if (list) list.push(node);
    else children.set(node.parent, [node]);
  }
  return children;
}

/** The nodes that take part: ends of links that carried bytes, and all above them. */
export function takingPart(nodes: TopologyNode[], used: Iterable<string>): Set<number> {
  const byName = new Map(nodes.map((n) => [n.name, n]));
  const byId = new Map(nodes.map((n) => [n.id, n]));
  const part = new Set<number>();
  for (const name of used) {
    let node = byName.get(name);
    while (node && !part.has(node.id)) {
      part.add(node.id);
      node = node.parent === null ? undefined : byId.get(node.parent);
    }
  }
  return part;
}

/** The last part of a name such as `core/leaf0/h1`, where no other child of the same parent ends alike. */
export function shortNames(nodes: TopologyNode[]): Map<number, string> {
  const tail = (n: TopologyNode) => n.name.split("/").at(-1) || n.name;
  const seen = new Map<string, number>();
  const key = (n: TopologyNode) => `${n.parent} ${tail(n)}`;
  for (const n of nodes) seen.set(key(n), (seen.get(key(n)) ?? 0) + 1);
  return new Map(nodes.map((n) => [n.id, seen.get(key(n)) === 1 ? tail(n) : n.name]));
}
