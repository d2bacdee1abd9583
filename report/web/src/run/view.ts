// A run as the page needs it: what `weir run` printed, and what follows from it.

import type { Link, Run, TopologyNode, Transfer } from "../contract.ts";
import { LONG, shortened } from "../core/dom.ts";
import { arbiter as arbiterText } from "../core/format.ts";
import { lastAtMost, type Window } from "../core/scale.ts";
import { fillsOf, packetLoadsOf } from "./fills.ts";
import { type Loads, loadAt, loadsOf, loadsOfBins } from "./loads.ts";
import { type Leg, legsOf, linksOf } from "./legs.ts";
import { type Numbers, numbersOf } from "./numbering.ts";
import { type Span, type Spans, hasPhases, spansOf } from "./spans.ts";

export interface RunView {
  index: number;
  /** A, B, C … in the order of the data. */
  letter: string;
  /** What tells it from the other runs. */
  title: string;
  /** The same where long titles are not cut. */
  fullTitle: string;
  run: Run;
  nodes: TopologyNode[];
  /** Links by their number on the page. */
  links: Map<number, Link>;
  /** The routes of transfers over time. */
  legs: Map<string, Leg[]>;
  /** The links that transfers travel, by their numbers; of several routes each link once. */
  routes: Map<string, number[]>;
  transfers: Map<string, Transfer>;
  spans: Spans;
  /** Whether spans have the rates of phases; otherwise they have means. */
  exact: boolean;
  /** Whether the arbiter said what decides in each span; otherwise transfers count wholly at their main bottlenecks. */
  explained: boolean;
  loads: Loads;
  /** How full buffers are over time, as parts of their room; null where the data do not tell. */
  fills: Loads | null;
  /** The last moment of the run, seconds. */
  end: number;
}

export function viewsOf(runs: Run[]): RunView[] {
  const titles = titlesOf(runs);
  const numbers = numbersOf(runs);
  return runs.map((run, index) => viewOf(run, index, titles[index]!, numbers[index]!));
}

export function letter(index: number): string {
  return index < 26 ? String.fromCharCode(65 + index) : `${letter(Math.floor(index / 26) - 1)}${letter(index % 26)}`;
}

function viewOf(run: Run, index: number, title: string, numbers: Numbers): RunView {
  const spans = spansOf(run);
  const legs = new Map(run.transfers.map((t) => [t.id, legsOf(t, numbers)]));
  const routes = new Map([...legs].map(([id, list]) => [id, linksOf(list)]));
  const byId = new Map(run.transfers.map((t) => [t.id, t]));
  const links = new Map(run.links.map((l, i) => [numbers.get(l.id ?? i)!, l]));
  const loads = run.aggregated
    ? loadsOfBins(run.aggregated, links, numbers)
    : run.fidelity === "packet"
      ? packetLoadsOf(run, numbers)
      : loadsOf(spans, legs);
  return {
    index,
    letter: letter(index),
    title: shortened(title, LONG),
    fullTitle: title,
    run,
    nodes: run.nodes ?? [],
    links,
    legs,
    routes,
    transfers: byId,
    spans,
    exact: hasPhases(run),
    explained: ![...spans.values()].some((list) => list.some((span) => span.guessed)),
    loads,
    fills: fillsOf(run, numbers),
    end: endOf(run, loads),
  };
}

function endOf(run: Run, loads: Loads): number {
  let end = Math.max(run.makespan_s, run.stopped_s ?? 0, loads.times.at(-1) ?? 0);
  for (const o of run.operations) end = Math.max(end, o.end_s ?? 0);
  return end;
}

/** What differs between runs: the arbiter, its parameters, the file, or the scenario's name. */
function titlesOf(runs: Run[]): string[] {
  const several = (of: (r: Run) => string) => new Set(runs.map(of)).size > 1;
  const parts: ((r: Run) => string)[] = [];
  if (several((r) => r.scenario)) parts.push((r) => r.scenario);
  else if (several((r) => r.file)) parts.push((r) => r.file.split("/").at(-1)!);
  if (parts.length === 0 || several((r) => arbiterText(r.arbiter))) parts.push((r) => arbiterText(r.arbiter));
  return runs.map((r) => parts.map((of) => of(r)).join(", "));
}

/** The time axis that all runs share. */
export function wholeOf(views: RunView[]): Window {
  return { from: 0, to: Math.max(1e-12, ...views.map((v) => v.end)) };
}

/** Whether a link carried bytes, but nothing is known of when: it was left out of an aggregated run. */
export function onlyMean(view: RunView, link: number): boolean {
  return view.links.get(link)!.bytes > 0 && !view.loads.byLink.has(link);
}

/** Whether the load of a link over time is known: it is 0 where a link carried nothing. */
export function knownOverTime(view: RunView, link: number): boolean {
  const l = view.links.get(link);
  return l !== undefined && (l.bytes === 0 || (Boolean(l.bandwidth_Bps) && view.loads.byLink.has(link)));
}

/** The part of its bandwidth that a link carries at a moment; its mean over the run where no more is known, null where nothing is. */
export function utilisation(view: RunView, link: number, time: number): number | null {
  const l = view.links.get(link);
  if (!l || l.bytes === 0 || !l.bandwidth_Bps || onlyMean(view, link)) return meanUtilisation(view, link);
  return loadAt(view.loads, link, time) / l.bandwidth_Bps;
}

/** Bytes over what the link could have carried until the end of the run, or until it was stopped; null where the bandwidth is not known. */
export function meanUtilisation(view: RunView, link: number): number | null {
  const l = view.links.get(link);
  const seconds = Math.max(view.run.makespan_s, view.run.stopped_s ?? 0);
  if (!l) return null;
  if (l.bytes === 0 || seconds <= 0) return 0;
  return l.bandwidth_Bps ? Math.min(1, l.bytes / (l.bandwidth_Bps * seconds)) : null;
}

/** The span of a transfer at a moment. */
export function spanAt(view: RunView, id: string, time: number): Span | null {
  const list = view.spans.get(id);
  if (!list) return null;
  const span =
    list[
      lastAtMost(
        list.map((x) => x.from),
        time,
      )
    ];
  return span && (time < span.to || (time === span.to && span === list.at(-1))) ? span : null;
}

/** Links by how much they carried, busiest first; links that carried nothing are left out. */
export function busiestLinks(view: RunView): number[] {
  const ids = [...view.links.keys()].filter((id) => view.links.get(id)!.bytes > 0);
  const mean = new Map(ids.map((id) => [id, meanUtilisation(view, id) ?? 0]));
  return ids.sort((a, b) => mean.get(b)! - mean.get(a)! || a - b);
}

/** How a transfer is told of that the data of a run do not hold: an aggregated one may have had it. */
export function lacks({ run, letter }: RunView, before: "" | "run " = ""): string {
  const all = (run.aggregated?.transfers ?? 0) <= run.transfers.length;
  return `not ${all ? "" : "kept "}in ${before}${letter}`;
}

/** Whether the data tell of every transfer that started if others held it back. */
export function tellsDelays({ run, explained }: RunView): boolean {
  return explained || run.transfers.every((t) => t.start_s == null || t.alone_s != null || t.cause !== null);
}

/** Says of which runs it is not known what decides rates at each moment, or nothing. */
export function wholly(views: RunView[]): string {
  const some = views.filter((v) => !v.explained);
  if (some.length === 0) return "";
  const runs = some.length < views.length ? `In ${some.map((v) => v.letter).join(", ")} each` : "Each";
  return `${runs} transfer counts wholly at its main bottleneck: no explanations of rates are in the data.`;
}

/** Whether the routes of transfers are known: results without `--full` have none. */
export function hasRoutes(view: RunView): boolean {
  return view.run.transfers.some((t) => t.route);
}

/** Transfers whose route has the link, in the order of the run. */
export function transfersOn(view: RunView, link: number): Transfer[] {
  return view.run.transfers.filter((t) => view.routes.get(t.id)!.includes(link));
}

/** All moments at which something changes, ascending. */
export function moments(views: RunView[]): number[] {
  const seen = new Set<number>([0]);
  for (const v of views) {
    for (const t of v.loads.times) seen.add(t);
    for (const t of v.run.transfers) for (const x of [t.ready_s, t.start_s, t.end_s]) if (x != null) seen.add(x);
    seen.add(v.end);
  }
  return [...seen].sort((a, b) => a - b);
}
