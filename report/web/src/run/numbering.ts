// One number for a link in all runs: runs of different topologies are compared by the ends of links, not by their ids.

import type { Link, Run } from "../contract.ts";

/** From the id of a link in its run to its number on the page. */
export type Numbers = Map<number, number>;

/** Links of the first run keep their ids. Of several links between the same two nodes, the k-th are the same. */
export function numbersOf(runs: Run[]): Numbers[] {
  const known = new Map<string, number>();
  let free = 0;
  return runs.map((run, r) => {
    const numbers: Numbers = new Map();
    for (const [key, id] of keysOf(run.links)) {
      const number = known.get(key) ?? (r === 0 ? id : free);
      known.set(key, number);
      numbers.set(id, number);
      free = Math.max(free, number + 1);
    }
    return numbers;
  });
}

function keysOf(links: Link[]): [string, number][] {
  const seen = new Map<string, number>();
  return links.map((l, i) => {
    const ends = JSON.stringify([l.from, l.to]);
    const nth = seen.get(ends) ?? 0;
    seen.set(ends, nth + 1);
    return [`${nth} ${ends}`, l.id ?? i];
  });
}
