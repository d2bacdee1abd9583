// The facts of a selected group of an aggregated run, and those of its transfers that were kept, slowest first.

import type { GroupBins, Transfer } from "../contract.ts";
import { h, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { slowdown } from "../run/state.ts";
import type { RunView } from "../run/view.ts";
import { mainCause } from "../run/words.ts";
import { facts, more, row, table, transferButton } from "./parts.ts";

const MOST = 20;

export function groupFacts(view: RunView, group: string, store: Store): (HTMLElement | false)[] {
  const g = view.run.aggregated!.groups.find((x) => x.name === group)!;
  const list: [string, string][] = [
    ["transfers", format.count(g.count)],
    ["sent", format.bytes(g.bytes)],
    ["first start", format.time(g.start_s)],
    ["last end", format.time(g.end_s)],
    ["mean rate", meanRate(view, g)],
  ];
  return [facts(list), ...slowest(view, membersOf(view, group), store)];
}

/** Its bytes over the time from its first start to its last end, or to the stop where something of it was still under way. */
export function meanRate({ run, end }: RunView, g: GroupBins): string {
  const open = !run.complete && (g.end_s === null || ((g.active.at(-1) ?? 0) > 0 && g.end_s < end));
  const to = open ? end : g.end_s;
  if (g.start_s === null || to === null || to <= g.start_s) return format.NONE;
  return `${format.rate(g.bytes / (to - g.start_s))} in sum, from first start to ${open ? "the stop" : "last end"}`;
}

/** The kept transfers of a group, as the data say or, where they do not, by their sources. */
export function membersOf(view: RunView, group: string): Transfer[] {
  const { groups, group_of } = view.run.aggregated!;
  if (group_of) return view.run.transfers.filter((_, i) => groups[group_of[i]!]?.name === group);
  const groupOf = bySource(view);
  return view.run.transfers.filter((t) => groupOf(t) === group);
}

/** The group of a transfer: its source, the nearest node above it that is one, or the others together. */
function bySource(view: RunView): (t: Transfer) => string | undefined {
  const { by, groups } = view.run.aggregated!;
  const known = new Set(groups.map((g) => g.name));
  const others = groups.find((g) => /^(\d+ )?others$/.test(g.name))?.name;
  const ids = new Map(view.nodes.map((n) => [n.id, n]));
  const above = new Map(view.nodes.map((n) => [n.name, n.parent === null ? undefined : ids.get(n.parent)?.name]));
  return (t) => {
    let node: string | undefined = t.from;
    while (node !== undefined && !known.has(node)) node = by === "source" ? undefined : above.get(node);
    return node ?? others;
  };
}

function slowest(view: RunView, members: Transfer[], store: Store): (HTMLElement | false)[] {
  if (members.length === 0) return [h("p", { class: "small" }, "None of its transfers is among those kept.")];
  const sorted = [...members].sort((a, b) => (slowdown(b) ?? 0) - (slowdown(a) ?? 0)).slice(0, MOST);
  const rows = sorted.map((t) =>
    row(null, [transferButton(t.id, store), format.ratio(slowdown(t)), format.time(t.end_s)], [mainCause(view, t)]),
  );
  const kept = visible(view.run.aggregated!.kept);
  return [
    h("h4", {}, `Slowest of its ${format.count(members.length)} among ${kept}`),
    table(["transfer", "slowdown", "end"], ["main cause"], rows),
    more(members.length, MOST),
  ];
}
