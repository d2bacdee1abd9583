// The topologies of all shown runs at one moment: links coloured by utilisation, a selected route lit.

import type { Link } from "../contract.ts";
import { h, isolated, name } from "../core/dom.ts";
import { heat } from "../core/colour.ts";
import * as format from "../core/format.ts";
import type { State, Store } from "../core/store.ts";
import { isDark, onPrint } from "../core/theme.ts";
import { hideTip, type Line, showTip } from "../core/tip.ts";
import { FILL, type Quantity, UTILISATION } from "../run/quantity.ts";
import { type RunView, onlyMean, spanAt, transfersOn } from "../run/view.ts";
import { type Drawing, type WireParts, draw } from "./drawing.ts";
import { MOST_LEAVES_DOWN } from "./geometry.ts";
import { framed } from "./framed.ts";
import { forPaper } from "./paper.ts";
import { type Part, hidesAtFirst, partOf } from "./part.ts";
import { outlined, outlinesOf, regionOf } from "./regions.ts";

export const NO_TOPOLOGY = "The data hold no topology: save results with `--full --json` to see it.";

/** Differences of utilisation below this part of the bandwidth are not marked. */
const MARKED = 0.005;
/** Pixels of a number alone, and with the mark of a difference. */
const NUMBER = 40;
const MARKED_NUMBER = 52;
/** Changes of the width below this may come from a bar for scrolling. */
const STEADY = 24;

interface Panel {
  view: RunView;
  drawing: Drawing;
  element: HTMLElement;
}

export class TopologyView {
  readonly element = h("div", { class: "panels" });
  /** What of the shown topologies is left out. */
  part: Part;
  private panels: Panel[] = [];
  private onlyUsed: boolean;
  private room = 0;
  private built: (() => void)[] = [];

  constructor(
    private views: RunView[],
    private store: Store,
  ) {
    this.onlyUsed = hidesAtFirst(views);
    this.part = partOf(views);
    this.build();
    store.on(["time", "mean", "fill", "link", "transfer"], () => this.update());
    store.on(["visible"], () => this.build());
    new ResizeObserver(() => this.resized()).observe(this.element);
    onPrint((on) => forPaper(this.element, on ? this.panels.map((p) => p.drawing) : []));
  }

  get hidesIdle(): boolean {
    return this.onlyUsed;
  }

  /** Links whose numbers have no place in the drawings. */
  get unplaced(): number {
    return Math.max(0, ...this.panels.map((p) => p.drawing.geometry.unplaced));
  }

  /** Calls `run` after each drawing. */
  onBuilt(run: () => void): void {
    this.built.push(run);
    run();
  }

  /** Leaves nodes out that take no part, or shows them again. */
  hideIdle(hide: boolean): void {
    this.onlyUsed = hide;
    this.build();
  }

  recolour(): void {
    this.update();
  }

  /** Small trees may stand better the other way round. */
  private resized(): void {
    const room = this.panels[0]?.element.clientWidth ?? 0;
    if (room === 0 || Math.abs(room - this.room) < STEADY) return;
    this.room = room;
    if (this.panels.some((p) => p.drawing.geometry.boxes.filter((b) => b.leaf).length <= MOST_LEAVES_DOWN))
      this.build();
  }

  private build(): void {
    const visible = this.store.state.visible.map((i) => this.views[i]!);
    this.part = partOf(visible);
    this.panels = visible.map((view) => this.panel(view, visible.length > 1));
    this.element.replaceChildren(...this.panels.map((p) => p.element));
    this.update();
    for (const run of this.built) run();
  }

  private panel(view: RunView, titled: boolean): Panel {
    const label = `Topology of run ${view.letter}: arrow keys go from link to link, Enter selects`;
    const drawing = draw(view.nodes, view.links, {
      label,
      part: this.onlyUsed ? this.part.names : null,
      room: this.room || undefined,
      numbered: this.part.carrying,
      numberWidth: titled ? MARKED_NUMBER : NUMBER,
      outlines: outlined(view, outlinesOf(this.views)),
    });
    const element = h(
      "figure",
      { class: "panel", "data-run": view.index },
      titled && h("figcaption", {}, h("b", { class: "letter" }, view.letter), " ", name(view.title)),
      view.nodes.length > 0 ? framed(drawing) : h("p", { class: "note" }, NO_TOPOLOGY),
    );
    for (const parts of drawing.wires.values()) this.listen(view, parts, drawing);
    drawing.wires.values().next().value?.group.setAttribute("tabindex", "0");
    return { view, drawing, element };
  }

  private listen(view: RunView, parts: WireParts, drawing: Drawing): void {
    const { group, wire } = parts;
    const select = () => this.store.set({ link: this.store.state.link === wire.id ? null : wire.id, transfer: null });
    group.addEventListener("click", select);
    group.addEventListener("pointermove", (e) => showTip(this.tell(view, wire.id), e.clientX, e.clientY));
    group.addEventListener("pointerleave", hideTip);
    group.addEventListener("blur", hideTip);
    group.addEventListener("focus", () => {
      const box = group.getBoundingClientRect();
      if (group.matches(":focus-visible"))
        showTip(this.tell(view, wire.id), box.left + box.width / 2, box.top + box.height / 2);
    });
    group.addEventListener("keydown", (e) => {
      if (e.key === "Enter" || e.key === " ") select();
      else if (e.key === "ArrowRight" || e.key === "ArrowDown") this.step(drawing, wire.id, 1);
      else if (e.key === "ArrowLeft" || e.key === "ArrowUp") this.step(drawing, wire.id, -1);
      else return;
      e.preventDefault();
    });
  }

  private tell(view: RunView, id: number): Line[] {
    const { state } = this.store;
    const l = view.links.get(id)!;
    const use = useOf(view, id, state);
    const mean = isMean(view, id, state);
    const quantity = shown(state);
    const now = mean
      ? []
      : transfersOn(view, id)
          .filter((t) => spanAt(view, t.id, state.time))
          .map((t) => t.id);
    return [
      { what: "", ends: l, title: true },
      { what: mean ? "mean over the run" : "at", value: mean ? "" : format.time(state.time) },
      { what: quantity.name, value: format.percent(use) },
      { what: quantity.amount, value: quantity.text(l, use) },
      ...(l.latency_s ? [{ what: "latency", value: format.time(l.latency_s) }] : []),
      { what: "in all", value: format.bytes(l.bytes) },
      ...regionLine(view, l),
      ...(now.length ? [{ what: "transfers", names: now }] : []),
    ];
  }

  /** One link of a drawing can be reached by Tab; arrow keys go on from there. */
  private step(drawing: Drawing, from: number, by: number): void {
    const ids = [...drawing.wires.keys()];
    const next = ids[(ids.indexOf(from) + by + ids.length) % ids.length]!;
    drawing.wires.get(from)!.group.setAttribute("tabindex", "-1");
    const group = drawing.wires.get(next)!.group;
    group.setAttribute("tabindex", "0");
    group.focus();
  }

  private update(): void {
    const { state } = this.store;
    const base = this.panels[0];
    for (const panel of this.panels) {
      const route = routeOf(panel.view, state.transfer);
      panel.drawing.root.classList.toggle("focused", route.size > 0 || state.link !== null);
      for (const [id, parts] of panel.drawing.wires) this.paint(panel, base!, id, parts, route, state);
      this.lightNodes(panel, route);
    }
  }

  private paint(
    panel: Panel,
    base: Panel,
    id: number,
    parts: WireParts,
    route: Set<number>,
    state: Readonly<State>,
  ): void {
    const known = useOf(panel.view, id, state);
    const use = known ?? 0;
    const before = panel === base || known === null ? use : (useOf(base.view, id, state) ?? use);
    const colour = use > 0 ? heat(0.12 + 0.88 * use, isDark()) : "";
    parts.line.style.stroke = colour;
    parts.head.style.fill = colour;
    parts.head.style.stroke = colour;
    const { thin } = panel.drawing.geometry;
    parts.line.style.strokeWidth = `${((1.2 + 5 * Math.min(1, use)) * thin).toFixed(2)}px`;
    parts.head.style.strokeWidth = `${((0.4 + 2 * Math.min(1, use)) * thin).toFixed(2)}px`;
    parts.group.classList.toggle("idle", use <= 0);
    parts.group.classList.toggle("lit", route.has(id));
    parts.group.classList.toggle("selected", state.link === id);
    const change = use - before;
    const mark = Math.abs(change) > MARKED ? (change > 0 ? "▲" : "▼") : "";
    const about = !state.mean && isMean(panel.view, id, state) ? "~" : "";
    number(parts, known, about, mark);
    const words = describe(panel.view, id, known, state, change, mark !== "" ? base.view.letter : null);
    parts.group.setAttribute("aria-label", words);
    parts.group.setAttribute("aria-pressed", String(state.link === id));
    parts.group.dataset.use = String(use);
  }

  private lightNodes(panel: Panel, route: Set<number>): void {
    const ends = new Set<string>();
    for (const id of route) {
      const l = panel.view.links.get(id);
      if (l) ends.add(l.from).add(l.to);
    }
    for (const [node, box] of panel.drawing.boxes) box.classList.toggle("lit", ends.has(node));
  }
}

function regionLine(view: RunView, link: Link): Line[] {
  const region = regionOf(view, link);
  return region ? [{ what: "region", value: `${region.name}, ${region.policy}` }] : [];
}

/** The number beside a link: nothing where it is idle, a dash where nothing is known. */
function number(parts: WireParts, use: number | null, about: string, mark: string): void {
  if (!parts.label) return;
  const sign = parts.wire.label?.sign ?? "";
  const part = use && use < 0.005 ? "<1" : String(Math.round((use ?? 0) * 100));
  const text = `${about}${sign}${part} %${sign ? "" : " "}${mark}`.trimEnd();
  parts.label.textContent = use === null ? "–" : use > 0 || mark ? text : "";
  parts.label.classList.toggle("differs", mark !== "");
}

function routeOf(view: RunView, transfer: string | null): Set<number> {
  return new Set(transfer === null ? [] : (view.routes.get(transfer) ?? []));
}

function useOf(view: RunView, id: number, state: Readonly<State>): number | null {
  return state.mean ? shown(state).mean(view, id) : shown(state).at(view, id, state.time);
}

/** What colours tell. */
function shown(state: Readonly<State>): Quantity {
  return state.fill ? FILL : UTILISATION;
}

/** Whether a mean over the run is shown: it was asked for, or no more is known. */
function isMean(view: RunView, id: number, state: Readonly<State>): boolean {
  return state.mean || (!state.fill && onlyMean(view, id));
}

function describe(
  view: RunView,
  id: number,
  use: number | null,
  state: Readonly<State>,
  change: number,
  base: string | null,
): string {
  const l = view.links.get(id)!;
  const when = state.mean ? "mean over the run" : `at ${format.time(state.time)}`;
  const against = base ? `; ${change > 0 ? "+" : "−"}${format.percent(Math.abs(change))} against ${base}` : "";
  return `${isolated(l.from)} → ${isolated(l.to)}: ${format.percent(use)}, ${shown(state).text(l, use)} ${when}${against}`;
}
