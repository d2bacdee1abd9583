// The sections of runs: they share one time axis, one moment and one selection.

import type { Run } from "../contract.ts";
import { h, section } from "../core/dom.ts";
import { Store } from "../core/store.ts";
import { onTheme } from "../core/theme.ts";
import { busiest } from "../run/loads.ts";
import { moments, viewsOf, wholeOf } from "../run/view.ts";
import { Gantt } from "../timeline/gantt.ts";
import { Rows } from "../timeline/rows.ts";
import { TopologyView } from "../tree/topology.ts";
import { Details } from "./details.ts";
import { ganttControls, ganttLegend } from "./gantt-controls.ts";
import { summary } from "./summary.ts";
import { timeBar } from "./timebar.ts";
import { topologyControls } from "./topology-controls.ts";

/** Runs that are shown side by side at first; others can be added. */
const FIRST_SHOWN = 4;

export function runSections(runs: Run[]): HTMLElement[] {
  const views = viewsOf(runs);
  const whole = wholeOf(views);
  const shown = views.slice(0, FIRST_SHOWN).map((v) => v.index);
  const store = new Store({ time: busiest(views[0]!.loads), window: whole, link: null, transfer: null, shown, mean: false }, whole);
  const topology = new TopologyView(views, store);
  onTheme(() => topology.recolour());
  const gantt = new Gantt(views, store);
  const rows = new Rows(gantt, store);
  return [
    summary(views, store),
    timeBar(store, moments(views)),
    section(
      "topology",
      "Topology",
      "Each line is a link in one direction; colour, width and number tell the part of its bandwidth that it carries.",
      topologyControls(topology, store),
      h("div", { class: "with-details" }, topology.element, new Details(views, store).element),
    ),
    section("transfers", "Transfers", ganttLegend(gantt), ganttControls(gantt, rows, store), rows.element),
  ];
}
