// What can be set of the Gantt, and what its colours and patterns mean.

import { h, isolated, name, s, shortened } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import type { Gantt, HeightMode, Order } from "../timeline/gantt.ts";
import { FREE, OTHER } from "../timeline/link-colours.ts";
import { KEYS, type TimelineRows } from "../timeline/rows.ts";

/** Characters of a key of the legend; the whole name is its title. */
const MOST_KEY = 60;

const ORDERS: [Order, string][] = [
  ["scenario", "as in the scenario"],
  ["start", "by start"],
  ["end", "by end"],
  ["slowdown", "most slowed down first"],
  ["delayed", "most time lost to others first"],
  ["change", "largest difference first"],
];

function choice<T extends string>(label: string, options: [T, string][], now: T, act: (value: T) => void): HTMLElement {
  const select = h("select", {}, ...options.map(([value, words]) => h("option", { value }, words)));
  select.value = now;
  select.addEventListener("change", () => act(select.value as T));
  return h("label", { class: "option" }, label, select);
}

export function ganttControls(gantt: Gantt, rows: TimelineRows, store: Store): HTMLElement {
  const several = store.state.visible.length > 1;
  const arrange = (order: Order, find: string) => {
    gantt.arrange(order, find);
    rows.render();
  };
  const heights: [HeightMode, string][] = [
    ["common", `rate, full height ${format.rate(gantt.largest)}`],
    ["own", "rate over the narrowest link of its route"],
  ];
  const orders = ORDERS.filter(([o]) => several || o !== "change");
  return h(
    "div",
    { class: "controls" },
    choice("order", orders, gantt.state.order, (order) => arrange(order, gantt.state.find)),
    choice("height", heights, gantt.mode, (mode) => {
      gantt.mode = mode;
      rows.render();
    }),
    ...filters(gantt, arrange, store),
    h("span", { class: "keys" }, "Mouse: drag pans · Ctrl + wheel zooms. Keys: ", KEYS),
  );
}

/** Which transfers have rows; says so where none has. */
function filters(gantt: Gantt, arrange: (order: Order, find: string) => void, store: Store): HTMLElement[] {
  const find = h("input", { type: "search", placeholder: "name, source or destination" });
  const only = h("input", { type: "checkbox" });
  const none = h("span", { role: "status", class: "none" });
  const update = () => {
    gantt.onlyShown = only.checked;
    arrange(gantt.state.order, find.value);
    none.textContent = gantt.count() === 0 ? "no transfer matches" : "";
  };
  find.addEventListener("input", update);
  only.addEventListener("change", update);
  store.on(["window"], () => only.checked && update());
  return [
    h("label", { class: "option" }, "find", find),
    h("label", { class: "option" }, only, "only those of the time shown"),
    none,
  ];
}

/** A sample of a bar: a colour, or a pattern. */
function sample(label: string | HTMLElement, kind: { fill?: string; className?: string }): HTMLElement {
  const rect = s("rect", { width: 18, height: 12, class: kind.className ?? "moving" });
  if (kind.fill) rect.style.fill = kind.fill;
  return h("span", { class: "sample" }, s("svg", { width: 18, height: 12, "aria-hidden": "true" }, rect), label);
}

export function ganttLegend(gantt: Gantt): HTMLElement {
  const { colours } = gantt;
  return h(
    "span",
    { class: "legend" },
    sample("not held back by others", { fill: FREE }),
    colours.links.length > 0 && h("span", { class: "legend-title" }, "held back at:"),
    ...colours.links.map((l) =>
      sample(name(shortened(l, MOST_KEY), { title: isolated(l) }), { fill: colours.byLink.get(l)! }),
    ),
    colours.others && sample("other links", { fill: OTHER }),
    sample("waiting for an engine", { className: "waiting" }),
    sample("blocked, rate 0", { className: "blocked" }),
    gantt.several &&
      h(
        "span",
        {},
        h("b", { class: "slower" }, "→▲"),
        " later, ",
        h("b", { class: "faster" }, "←▼"),
        " earlier than in the first run",
      ),
  );
}
