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

/** The kept transfers of a group. */
export function membersOf({ run }: RunView, group: string): Transfer[] {
  const { groups, group_of } = run.aggregated!;
  return run.transfers.filter((_, i) => groups[group_of[i]!]?.name === group);
}

function slowest(view: RunView, members: Transfer[], store: Store): (HTMLElement | false)[] {
  if (members.length === 0) return [h("p", { class: "small" }, "None of its transfers is among those kept.")];
  const sorted = [...members].sort((a, b) => (slowdown(b) ?? 0) - (slowdown(a) ?? 0)).slice(0, MOST);
  const rows = sorted.map((t) =>
    row(null, [transferButton(t.id, store), format.ratio(slowdown(t)), format.time(t.end_s)], [mainCause(t)]),
  );
  const kept = visible(view.run.aggregated!.kept);
  return [
    h("h4", {}, `Slowest of its ${format.count(members.length)} among ${kept}`),
    table(["transfer", "slowdown", "end"], ["main cause"], rows),
    more(members.length, MOST),
  ];
}
