// The facts of a selected group of an aggregated run, and those of its transfers that were kept, slowest first.

import type { Transfer } from "../contract.ts";
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
  const seconds = g.end_s - g.start_s;
  const list: [string, string][] = [
    ["transfers", format.count(g.count)],
    ["size", format.bytes(g.bytes)],
    ["first start", format.time(g.start_s)],
    ["last end", format.time(g.end_s)],
    ["mean rate", seconds > 0 ? `${format.rate(g.bytes / seconds)} in sum, from start to end` : format.NONE],
  ];
  return [facts(list), ...slowest(view, membersOf(view, group), store)];
}

/** The kept transfers of a group: those from its node, or from below it where groups are of nodes above sources. */
export function membersOf(view: RunView, group: string): Transfer[] {
  if (view.run.aggregated?.by === "source") return view.run.transfers.filter((t) => t.from === group);
  const ids = new Map(view.nodes.map((n) => [n.id, n]));
  const names = new Map(view.nodes.map((n) => [n.name, n]));
  return view.run.transfers.filter((t) => {
    let node = names.get(t.from);
    while (node && node.name !== group) node = node.parent === null ? undefined : ids.get(node.parent);
    return node !== undefined;
  });
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
