// A search: what it proved, all makespans, the best solution, and a placement drawn on the tree.

import type { Search } from "../contract.ts";
import { h, name, section, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { objectiveOf } from "../core/objective.ts";
import { byValueChart, byValueOf } from "../charts/by-value.ts";
import { candidatesOf, curveChart, curveOf, histogramChart, histogramOf } from "../charts/curve.ts";
import { draw } from "../tree/drawing.ts";
import { framed } from "../tree/framed.ts";

export function searchSection(search: Search, index: number): HTMLElement {
  const byValue = byValueOf(search);
  const curve = byValue ? null : curveOf(search);
  const histogram = histogramOf(search);
  return section(
    `search-${index}`,
    `Best ${kinds(search)}: ${search.scenario}`,
    `${search.file}, ${format.arbiter(search.arbiter)}`,
    facts(search),
    byValue || curve || histogram
      ? h(
          "div",
          { class: "charts" },
          byValue && byValueChart(search, byValue),
          curve && curveChart(search, curve),
          histogram && histogramChart(search, histogram),
        )
      : h("p", { class: "note" }, "The data hold no times of candidates but the best: no curve is drawn."),
    placement(search),
    ...solution(search),
    candidates(search),
  );
}

function facts(search: Search): HTMLElement {
  const inUnits = search.objective !== "makespan" && search.best != null;
  const cards: [string, string, string][] = [
    [bestTitle(search), format.time(search.best_s), format.exactPs(search.best_ps) ?? ""],
    ["baseline", format.time(search.baseline_s), againstBaseline(search)],
    ["searched", ...searched(search)],
  ];
  const by = objectiveOf(search);
  if (inUnits)
    cards.push([by.name, by.text(by.best), `baseline ${by.text(by.baseline)}, bound ${by.text(search.bound ?? null)}`]);
  return h(
    "div",
    {},
    h(
      "div",
      { class: "cards inner" },
      ...cards.map(([title, big, small]) =>
        h(
          "div",
          { class: "card" },
          h("div", { class: "card-title" }, visible(title)),
          h("p", { class: "big" }, visible(big)),
          h("p", { class: "small" }, visible(small)),
        ),
      ),
    ),
    h("p", {}, proof(search)),
  );
}

/** What varied, in words. */
const kinds = ({ vary }: Pick<Search, "vary">) => [vary].flat().join(", ");

/** By another objective the simulated time of the best need not be the least. */
export function bestTitle({ objective, vary }: Search): string {
  return objective === "makespan" ? "best" : `simulated time of the best ${kinds({ vary })} by ${objective}`;
}

/** What the makespan of the best is against that of the baseline; by another objective it may be longer. */
export function againstBaseline(search: Search): string {
  const { baseline_s, best_s, objective, baseline_stopped } = search;
  if (baseline_stopped) return `the baseline stops: ${baseline_stopped}`;
  if (best_s == null) return "the makespan of the best is not known";
  if (!baseline_s) return "how much the best saves is not known";
  const change = best_s / baseline_s - 1;
  const other = objective !== "makespan";
  if (Math.abs(change) < 1e-12) {
    if (other) return "the makespan of the best is equal";
    return search.proved_optimal ? "nothing is better" : "nothing better was found";
  }
  if (change < 0) return `the best takes ${format.gain(baseline_s / best_s - 1)}`;
  if (other) return `best by another objective: the makespan is ${format.percent(change)} longer`;
  return `the best that was found takes ${format.percent(change)} more`;
}

/** A proof that leaves candidates out is exact, however few it has looked at. */
export function searched(search: Search): [string, string] {
  const [evaluated, all] = [format.count(search.evaluated), candidatesOf(search)];
  const left = search.candidates == null || search.evaluated < search.candidates;
  if (search.complete && search.proved_optimal && left)
    return ["exact", `exact search among ${all}; ${evaluated} had to be simulated`];
  return [evaluated, `of ${all}, ${search.method}`];
}

/** Whether there can be better ones, and by which objective. */
export function proof(search: Search): string {
  const by = search.objective === "makespan" ? "" : ` for ${visible(search.objective)}`;
  const equal = search.best_count ? ` ${format.counted(search.best_count, "candidate")} within 1e-9 of the best.` : "";
  const { candidates = 0, first = "" } = search.stopped ?? {};
  const stopped = candidates
    ? ` Not run to the end: ${format.counted(candidates, "candidate")}, such as ${visible(first)}.`
    : "";
  if (!search.complete)
    return `The search was ended before it had seen all: this is the best so far.${equal}${stopped}`;
  return (
    (search.proved_optimal ? `Proved${by}: no candidate is better.` : `Not proved to be the best${by}.`) +
    equal +
    stopped
  );
}

/** The solution by what was varied. */
const found = (search: Search) =>
  (search.solution ?? {}) as {
    order?: Record<string, string[]>;
    placement?: string[];
    parameters?: Record<string, string>;
  };

function placement(search: Search): HTMLElement | null {
  const best = found(search).placement;
  if (!best || !search.nodes?.length) return null;
  const links = new Map((search.links ?? []).map((l, i) => [l.id ?? i, l]));
  const tree = (title: string, ranks: string[]) => {
    const badges = new Map<string, string>();
    ranks.forEach((node, rank) => badges.set(node, badges.has(node) ? `${badges.get(node)}, ${rank}` : `rank ${rank}`));
    const drawing = draw(search.nodes!, links, { label: `${title}: ranks on the tree`, badges });
    for (const parts of drawing.wires.values()) {
      parts.group.setAttribute("role", "presentation");
      parts.group.classList.add("still");
    }
    return h("figure", { class: "panel" }, h("figcaption", {}, title), framed(drawing));
  };
  const before = search.baseline_placement;
  return h("div", { class: "panels" }, tree("Best placement", best), before && tree("Baseline", before));
}

/** What was found, of each kind that varied. */
function solution(search: Search): HTMLElement[] {
  const { order, placement, parameters } = found(search);
  const pairs = <V>(head: string[], of: Record<string, V> | undefined, show: (value: V) => HTMLElement) =>
    of
      ? [
          table(
            head,
            Object.entries(of).map(([k, v]) => [name(k), show(v)]),
          ),
        ]
      : [];
  const ranks = (placement ?? []).map((n, i) => h("li", { value: i }, name(n)));
  const list = h(
    "details",
    {},
    h("summary", {}, "Placement as a list"),
    h("ol", { start: 0, class: "ranks" }, ...ranks),
  );
  return [
    ...pairs(["sender", "order of sending"], order, listOf),
    ...(placement ? [list] : []),
    ...pairs(["parameter", "best value"], parameters, (v) => name(text(v))),
  ];
}

function listOf(ids: string[]): HTMLElement {
  return h(
    "span",
    {},
    ids.flatMap((id, i) => [i > 0 ? ", " : "", name(id)]),
  );
}

const text = (v: unknown) => (typeof v === "string" ? v : JSON.stringify(v));

function table(head: string[], rows: HTMLElement[][]): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": head.join(", ") },
    h(
      "table",
      { class: "left" },
      h("thead", {}, h("tr", {}, ...head.map((x) => h("th", { scope: "col", class: "text" }, x)))),
      h(
        "tbody",
        {},
        rows.map((r) =>
          h(
            "tr",
            {},
            r.map((c) => h("td", { class: "text" }, c)),
          ),
        ),
      ),
    ),
  );
}

function candidates(search: Search): HTMLElement | null {
  if (!search.rows?.length) return null;
  const keys = Object.keys(search.rows[0]!.parameters);
  const by = objectiveOf(search);
  const [own, ownTitle] = by.name === "makespan" ? [[], []] : [[by], [by.name]];
  const rows = search.rows
    .slice(0, 300)
    .map((r) => [
      ...keys.map((k) => name(text(r.parameters[k]))),
      ...own.map((by) => h("span", {}, by.text(by.of(r)))),
      h("span", {}, `${format.time(r.makespan_s)}${r.best ? " ★ best" : ""}`),
      h("span", {}, format.ratio(r.ratio)),
    ]);
  const all = h(
    "details",
    { open: search.rows.length <= 20 },
    h("summary", {}, `${format.counted(search.rows.length, "candidate")}`),
    table([...keys.map(visible), ...ownTitle, "makespan", "over best"], rows),
  );
  if (search.rows.length > 300)
    all.append(h("p", { class: "small" }, `and ${format.count(search.rows.length - 300)} more`));
  return all;
}
