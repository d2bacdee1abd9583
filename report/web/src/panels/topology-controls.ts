// What can be set of the topology, and what its colours mean.

import { h, name } from "../core/dom.ts";
import { heat } from "../core/colour.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { isDark, onTheme } from "../core/theme.ts";
import { FILL, UTILISATION } from "../run/quantity.ts";
import type { RunView } from "../run/view.ts";
import { OUTLINES, outlinesOf } from "../tree/regions.ts";
import type { TopologyView } from "../tree/topology.ts";

function box(label: string, checked: boolean, act: (on: boolean) => void): HTMLElement {
  const input = h("input", { type: "checkbox" });
  input.checked = checked;
  input.addEventListener("change", () => act(input.checked));
  return h("label", { class: "option" }, input, label);
}

export function topologyControls(topology: TopologyView, views: RunView[], store: Store): HTMLElement {
  const left = h("span", { class: "left-out", role: "status" });
  topology.onBuilt(() => (left.textContent = leftOut(topology)));
  return h(
    "div",
    { class: "controls" },
    box("mean over the run instead of the moment", false, (mean) => store.set({ mean })),
    views.some((v) => v.fills !== null) &&
      box("how full buffers are instead of utilisation", false, (fill) => store.set({ fill })),
    box("only nodes that take part", topology.hidesIdle, (on) => topology.hideIdle(on)),
    left,
    regionLegend(views),
    heatLegend(store),
  );
}

/** How many nodes are not drawn, and how many numbers. */
function leftOut({ hidesIdle, part, unplaced }: TopologyView): string {
  const nodes = `${format.count(part.idle)} of ${format.counted(part.all, "node")}`;
  const idle =
    part.idle === 0 ? "" : hidesIdle ? `${nodes} left out: they carried nothing` : `${nodes} carried nothing`;
  const crowded =
    unplaced > 0 ? `${format.counted(unplaced, "number")} left out for lack of room: point at a link` : "";
  return [idle, crowded].filter(Boolean).join("; ");
}

/** The outline of each kind of link, with its policy; none where one policy has the whole fabric. */
function regionLegend(views: RunView[]): HTMLElement | null {
  const outlines = outlinesOf(views);
  if (outlines.length === 0) return null;
  const sample = (text: string, i: number) =>
    h("span", { class: "sample" }, h("span", { class: `swatch outline-${i % OUTLINES}` }), name(text));
  return h(
    "span",
    { class: "legend region-legend" },
    h("span", { class: "legend-title" }, "policies"),
    ...outlines.map(sample),
  );
}

/** Blocks of the colours of what the topology shows, with their numbers. */
function heatLegend(store: Store): HTMLElement {
  const parts = [0.01, 0.25, 0.5, 0.75, 1];
  const blocks = parts.map((p) => h("span", { class: "block" }, p === 0.01 ? "1 %" : `${p * 100} %`));
  const paint = () =>
    blocks.forEach((b, i) => {
      const part = 0.12 + 0.88 * parts[i]!;
      b.style.borderBottomColor = heat(part, isDark());
    });
  onTheme(paint);
  paint();
  const title = h("span", {});
  const legend = h("span", { class: "legend heat-legend", role: "img" }, title, ...blocks);
  const tell = () => {
    const { name } = store.state.fill ? FILL : UTILISATION;
    title.textContent = name;
    legend.setAttribute("aria-label", `Colours of ${name} from 1 % to 100 %`);
  };
  store.on(["fill"], tell);
  tell();
  return legend;
}
