// The sections of runs: they share one time axis, one moment and one selection.

import { Lines } from "../charts/lines.ts";
import type { Run, WhatIf } from "../contract.ts";
import { h, section } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { Store } from "../core/store.ts";
import { onTheme } from "../core/theme.ts";
import { followAddress } from "../run/address.ts";
import { busiest } from "../run/loads.ts";
import { FILL, UTILISATION } from "../run/quantity.ts";
import { type RunView, moments, viewsOf, wholeOf } from "../run/view.ts";
import { Engines } from "../timeline/engines.ts";
import { Gantt } from "../timeline/gantt.ts";
import { Groups } from "../timeline/groups.ts";
import { HeatMap } from "../timeline/heat.ts";
import { LinkChanges } from "../timeline/link-changes.ts";
import { type RowSource, TimelineRows } from "../timeline/rows.ts";
import { NO_TOPOLOGY, TopologyView } from "../tree/topology.ts";
import { Details } from "./details.ts";
import { differencesSection } from "./differences.ts";
import { ganttControls, ganttLegend } from "./gantt-controls.ts";
import { jobsSection } from "./jobs.ts";
import { operationsSection } from "./operations.ts";
import { delaySection } from "./delays.ts";
import { terms } from "./terms.ts";
import { runList } from "./run-list.ts";
import { selectionNote } from "./selection.ts";
import { summary } from "./summary.ts";
import { transferTables } from "./table.ts";
import { timeBar } from "./timebar.ts";
import { topologyControls } from "./topology-controls.ts";
import { whatIfBars } from "./what-if.ts";

/** Runs that are shown side by side at first; others can be added. */
const FIRST_SHOWN = 4;
/** More runs than this have lines of a list in place of cards. */
const MOST_CARDS = 8;

const LINKS =
  "Each line is a link in one direction. Colour, width and number tell the part of its bandwidth that it carries";
/** What they tell in runs of packets where that is chosen. */
const OR_BUFFERS = ", or of the buffer at its far end that is taken";
/** How the topology is used with the keyboard. */
const LINK_KEYS = "Keys: Tab to the links, arrow keys go from link to link, Enter selects.";

export function runSections(runs: Run[], whatIfs: WhatIf[]): HTMLElement[] {
  const views = viewsOf(runs);
  const whole = wholeOf(views);
  const visible = views.slice(0, FIRST_SHOWN).map((v) => v.index);
  const store = new Store(
    {
      time: busiest(views[0]!.loads),
      window: whole,
      link: null,
      transfer: null,
      group: null,
      visible,
      mean: false,
      fill: false,
    },
    whole,
  );
  const gantt = new Gantt(views, store);
  const details = new Details(views, store).element;
  const sections = [
    views.length > MOST_CARDS ? runList(views, store) : summary(views, store),
    views.some((v) => v.end > 0) ? timeBar(store, moments(views), selectionNote(views, details, store)) : null,
    groupsSection(views, store),
    transfersSection(views, gantt, store),
    changesSection(views, store),
    topologySection(views, details, whatIfBars(whatIfs, views, store), store),
    delaySection(views, gantt.colours, store),
    enginesSection(views, store),
    jobsSection(views),
    operationsSection(views),
    views.length > 1 ? differencesSection(views, store) : null,
    ...linkSections(views, store),
  ];
  return [followAddress(views, store), ...sections].filter((s): s is HTMLElement => s !== null);
}

function rowsOf(source: RowSource, store: Store): HTMLElement {
  const rows = new TimelineRows(source, store);
  onTheme(() => rows.render());
  return rows.element;
}

function topologySection(views: RunView[], details: HTMLElement, bars: HTMLElement | null, store: Store): HTMLElement {
  if (!views.some((v) => v.nodes.length > 0)) {
    details.classList.add("alone");
    return section("topology", "Selection", NO_TOPOLOGY, details, bars);
  }
  const topology = new TopologyView(views, store);
  onTheme(() => topology.recolour());
  return section(
    "topology",
    "Topology",
    h(
      "span",
      {},
      `${LINKS}${views.some((v) => v.fills !== null) ? OR_BUFFERS : ""}. `,
      h("span", { class: "keys" }, LINK_KEYS),
    ),
    topologyControls(topology, views, store),
    h(
      "div",
      { class: `with-details${views.length > 1 ? " wide" : ""}` },
      topology.element,
      bars ? h("div", { class: "beside" }, bars, details) : details,
    ),
  );
}

function transfersSection(views: RunView[], gantt: Gantt, store: Store): HTMLElement | null {
  const none = views.every((v) => v.run.transfers.length === 0);
  if (none && views.some((v) => v.run.aggregated)) return null;
  if (none) return section("transfers", "Transfers", null, h("p", {}, format.NO_TRANSFERS));
  const rows = new TimelineRows(gantt, store);
  onTheme(() => rows.render());
  const title = views.some((v) => v.run.aggregated)
    ? `Transfers (${views.find((v) => v.run.aggregated)!.run.aggregated!.kept})`
    : "Transfers";
  return section(
    "transfers",
    title,
    meansNote(views),
    ganttLegend(gantt),
    ganttControls(gantt, rows, store),
    rows.element,
    terms(views),
    ...shownTables(views, store),
  );
}

/** The tables of transfers of the runs that are shown. */
function shownTables(views: RunView[], store: Store): HTMLElement[] {
  const tables = transferTables(views, store);
  const runs = views.filter((v) => v.run.transfers.length > 0);
  const update = () => tables.forEach((t, i) => (t.hidden = !store.state.visible.includes(runs[i]!.index)));
  store.on(["visible"], update);
  update();
  return tables;
}

/** Says in which runs bars have mean rates, or nothing. */
export function meansNote(views: RunView[]): string | null {
  const means = views.filter((v) => !v.exact);
  if (means.length === 0) return null;
  const runs = means.length < views.length ? ` of ${means.map((v) => v.letter).join(", ")}` : "";
  return `Bars${runs} have the mean rates of transfers: the data hold no phases of them.`;
}

function groupsSection(views: RunView[], store: Store): HTMLElement | null {
  const groups = new Groups(views, store);
  if (!groups.any) return null;
  const by = views.find((v) => v.run.aggregated)!.run.aggregated!.by;
  const note = `Aggregated: transfers are grouped by ${by}. The area is the sum of their rates, full height ${format.rate(groups.full)}; hatched is how many wait.`;
  return section("groups", "Transfers in groups", note, rowsOf(groups, store));
}

function changesSection(views: RunView[], store: Store): HTMLElement | null {
  const changes = new LinkChanges(views, store);
  if (!changes.any) return null;
  const cut = changes.isCut ? " The data hold the first 20,000 changes of each run." : "";
  const note = `A line at each change, with what the link carries from then on; hatched while it is down.${cut}`;
  return section("changes", "Links that changed", note, rowsOf(changes, store));
}

function enginesSection(views: RunView[], store: Store): HTMLElement | null {
  const engines = new Engines(views, store);
  if (!engines.any) return null;
  const planned = views.some((v) => v.run.plans?.length);
  return section(
    "engines",
    planned ? "Operations and engines" : "Operations",
    planned ? "Under each planned operation a row per engine; tasks of one kind share a colour." : null,
    rowsOf(engines, store),
  );
}

function linkSections(views: RunView[], store: Store): HTMLElement[] {
  if (!views.some((v) => v.loads.byLink.size > 0)) return [];
  const sections = [
    section(
      "lines",
      "Link utilisation over time",
      "The busiest links, and the selected one. Drag to zoom, click to set the moment.",
      new Lines(views, store).element,
    ),
    section(
      "heat",
      "All links over time",
      "Links that carried bytes, the busiest first, with their means over the run.",
      rowsOf(new HeatMap(views, store, UTILISATION), store),
    ),
  ];
  if (!views.some((v) => v.fills !== null && v.fills.byLink.size > 0)) return sections;
  const note =
    "The input buffers at the far ends of links, the fullest first: colour tells the part of their room that packets take, as a mean over each bin.";
  return [...sections, section("fills", "Buffers over time", note, rowsOf(new HeatMap(views, store, FILL), store))];
}
