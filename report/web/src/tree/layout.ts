// Where the nodes of a forest stand: leaves in a row, each parent over the middle of its children.

import type { Link, TopologyNode } from "../contract.ts";

export interface Place {
  node: TopologyNode;
  /** Place along the row of leaves, in leaves; parents stand between. */
  across: number;
  /** Distance from the roots. */
  depth: number;
  leaf: boolean;
  /** A root without children that joins others: a network, placed beyond the leaves. */
  hub: boolean;
}

export interface Layout {
  places: Map<number, Place>;
  leaves: number;
  depth: number;
}

/** Children follow each other in file order. Trees of a forest follow each other with a gap of half a leaf. */
export function layout(
  nodes: TopologyNode[],
  links: Iterable<Link> = [],
  keep: (id: number) => boolean = () => true,
): Layout {
  const children = childrenOf(nodes);
  const hubs = hubsOf(nodes, children, links, keep);
  const places = new Map<number, Place>();
  let leaves = 0;
  let depth = 0;
  const place = (node: TopologyNode, level: number): number => {
    const below = (children.get(node.id) ?? []).filter((c) => keep(c.id));
    depth = Math.max(depth, level);
    const at = below.map((child) => place(child, level + 1));
    const across = at.length ? (at[0]! + at[at.length - 1]!) / 2 : leaves++;
    places.set(node.id, { node, across, depth: level, leaf: at.length === 0, hub: false });
    return across;
  };
  const roots = nodes.filter((n) => n.parent === null && keep(n.id) && !hubs.has(n));
  roots.forEach((root, i) => {
    if (i > 0) leaves += 0.5;
    place(root, 0);
  });
  if (hubs.size > 0) placeHubs(hubs, places, depth + 1, leaves);
  return { places, leaves, depth: hubs.size > 0 ? depth + 1 : depth };
}

/** Roots without children that are joined to two others or more, with the names of these; not where such roots join each other. */
function hubsOf(
  nodes: TopologyNode[],
  children: Map<number, TopologyNode[]>,
  links: Iterable<Link>,
  keep: (id: number) => boolean,
) {
  const alone = nodes.filter((n) => n.parent === null && !children.has(n.id) && keep(n.id));
  const joined = new Map(alone.map((n) => [n.name, new Set<string>()]));
  for (const l of links) {
    joined.get(l.from)?.add(l.to);
    joined.get(l.to)?.add(l.from);
  }
  const inMiddle = (to: Set<string>) => to.size > 1 && [...to].every((n) => (joined.get(n)?.size ?? 0) <= 1);
  return new Map(alone.map((n) => [n, joined.get(n.name)!] as const).filter(([, to]) => inMiddle(to)));
}

/** Each hub stands in the middle of those it joins, at least one leaf from the hub before. */
function placeHubs(
  hubs: Map<TopologyNode, Set<string>>,
  places: Map<number, Place>,
  depth: number,
  leaves: number,
): void {
  const byName = new Map([...places.values()].map((p) => [p.node.name, p.across]));
  const wanted = [...hubs].map(([node, to]) => {
    const at = [...to].flatMap((n) => byName.get(n) ?? []);
    return { node, across: at.length ? at.reduce((a, b) => a + b, 0) / at.length : leaves / 2 };
  });
  let free = 0;
  for (const { node, across } of wanted.sort((a, b) => a.across - b.across)) {
    const at = Math.max(free, across);
    places.set(node.id, { node, across: at, depth, leaf: true, hub: true });
    free = at + 1;
  }
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
