// What a colour of a link can tell: the part of its bandwidth that it carries, or of its buffer that is taken.

import type { Link } from "../contract.ts";
import * as format from "../core/format.ts";
import { roomOf } from "./fills.ts";
import { type Loads, loadAt, loadText, meanLoad } from "./loads.ts";
import { type RunView, busiestLinks, knownOverTime, meanUtilisation, onlyMean, utilisation } from "./view.ts";

export interface Quantity {
  /** Its name beside numbers and colours. */
  name: string;
  /** The name of its amount. */
  amount: string;
  /** Values over time, and the value that is a whole. */
  overTime(view: RunView): Loads;
  whole(view: RunView, link: number): number;
  /** The part of the whole at a moment, and as a mean over the run; null where it is not known. */
  at(view: RunView, link: number, time: number): number | null;
  mean(view: RunView, link: number): number | null;
  /** Whether it is known over time. */
  known(view: RunView, link: number): boolean;
  /** Links with values over time, the largest mean first. */
  links(view: RunView): number[];
  /** An amount of the whole, such as `5.800 GB/s of 11.600 GB/s`. */
  text(l: Link, part: number | null): string;
}

export const UTILISATION: Quantity = {
  name: "utilisation",
  amount: "load",
  overTime: (view) => view.loads,
  whole: (view, link) => view.links.get(link)?.bandwidth_Bps ?? 0,
  at: utilisation,
  mean: meanUtilisation,
  known: knownOverTime,
  links: (view) => busiestLinks(view).filter((id) => !onlyMean(view, id)),
  text: loadText,
};

const NO_FILLS: Loads = { times: [], byLink: new Map() };

/** A buffer without values was always empty, unless its size was left out with them. */
const isEmpty = ({ fills, links }: RunView, link: number) => fills !== null && links.get(link)?.buffer_bytes != null;

export const FILL: Quantity = {
  name: "buffer taken",
  amount: "in the buffer",
  overTime: (view) => view.fills ?? NO_FILLS,
  whole: () => 1,
  at: (view, link, time) => (FILL.known(view, link) ? loadAt(FILL.overTime(view), link, time) : null),
  mean: (view, link) => (FILL.known(view, link) ? meanLoad(FILL.overTime(view), link, 0, view.end) : null),
  known: (view, link) => FILL.overTime(view).byLink.has(link) || isEmpty(view, link),
  links: (view) => {
    const means = [...FILL.overTime(view).byLink.keys()].map((id) => [id, FILL.mean(view, id) ?? 0] as const);
    return means.sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([id]) => id);
  },
  text: (l, part) => {
    const room = roomOf(l);
    if (part === null || room === null) return "not known";
    return `${format.bytes(Math.round(part * room))} of ${format.bytes(room)}`;
  },
};
