// Links that changed while the run went on: a row each, a mark at every change, shaded while it is down.

import { h, name, s, type Child } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { textWidth } from "../core/measure.ts";
import { type Scale, lastAtMost, toPixel } from "../core/scale.ts";
import type { Store } from "../core/store.ts";
import type { Line } from "../core/tip.ts";
import { type ChangedLink, changedLinks, downSpans, isCut, stepText } from "../run/changes.ts";
import type { RunView } from "../run/view.ts";
import { near } from "./bars.ts";
import { LABEL } from "./labels.ts";
import type { RowSource } from "./rows.ts";

const LANE = 24;

interface Row {
  view: RunView;
  link: ChangedLink;
  /** The number of the link on the page, of its first direction; null where the page lacks it. */
  id: number | null;
}

export class LinkChanges implements RowSource {
  readonly label = "Changes of links";
  readonly height = LANE + 4;
  readonly most = 260;
  readonly moments: number[];
  private all: Row[];
  private rows: Row[] = [];

  constructor(
    views: RunView[],
    private store: Store,
  ) {
    this.all = views.flatMap((view) => changedLinks(view.run).map((link) => ({ view, link, id: idOf(view, link) })));
    this.moments = [...new Set(this.all.flatMap((r) => r.link.steps.map((x) => x.at_s)))].sort((a, b) => a - b);
    const arrange = () => (this.rows = this.all.filter((r) => store.state.visible.includes(r.view.index)));
    store.on(["visible"], arrange);
    arrange();
  }

  /** Whether any run has rows, also one that is not shown. */
  get any(): boolean {
    return this.all.length > 0;
  }

  /** Whether the data lack changes: they hold the first ones only. */
  get isCut(): boolean {
    return this.all.some((r) => r.link.changes > r.link.steps.length);
  }

  count(): number {
    return this.rows.length;
  }

  name(row: number): Child[] {
    const { view, link } = this.rows[row]!;
    const letter = this.store.state.visible.length > 1 ? `${view.letter} ` : "";
    const times = link.changes === 1 ? "once" : `${link.changes} times`;
    const down = link.down_s > 0 ? `, down for ${format.time(link.down_s)}` : "";
    return [
      h("span", { class: "id" }, letter, name(link.from), link.both ? " – " : " → ", name(link.to)),
      h("span", { class: "ends" }, `changes ${times}${down}`),
    ];
  }

  draw(row: number, scale: Scale): SVGElement[] {
    const { view, link } = this.rows[row]!;
    return [...shades(link, view.end, scale), ...marks(link, scale)];
  }

  describe(row: number, time: number): Line[] {
    const r = this.rows[row];
    if (!r) return [];
    const { view, link, id } = r;
    const at = lastAtMost(
      link.steps.map((x) => x.at_s),
      time,
    );
    const lines: Line[] = [{ what: "", ends: link, title: true }];
    if (this.store.state.visible.length > 1) lines.push({ what: "run", value: view.letter, names: [view.title] });
    lines.push({ what: "at", value: this.store.moment(time) });
    const step = link.steps[at];
    const own = id === null ? null : view.links.get(id)?.bandwidth_Bps;
    if (at < 0 || !step) lines.push({ what: "carries", value: own ? format.rate(own) : "its own bandwidth" });
    else lines.push({ what: "carries", value: stepText(step) }, { what: "since", value: format.time(step.at_s) });
    const next = link.steps[at + 1];
    if (!next && isCut(link)) lines.push({ what: "next", value: "not in the data: too many changes" });
    if (next) lines.push({ what: "next", value: `${stepText(next)} at ${format.time(next.at_s)}` });
    return lines;
  }

  select(row: number, _time: number, toggle: boolean): void {
    const { id } = this.rows[row]!;
    if (id !== null) this.store.set({ link: toggle && this.store.state.link === id ? null : id, transfer: null });
  }

  reveal(): number {
    const { link } = this.store.state;
    return link === null ? -1 : this.rows.findIndex((r) => r.id === link);
  }

  selected(row: number): boolean {
    const { link } = this.store.state;
    return link !== null && this.rows[row]!.id === link;
  }
}

function idOf(view: RunView, link: ChangedLink): number | null {
  for (const [id, l] of view.links) if (l.from === link.from && l.to === link.to) return id;
  return null;
}

/** Boxes where the link is down. */
function shades(link: ChangedLink, end: number, scale: Scale): SVGElement[] {
  return downSpans(link, end).flatMap(([from, to]) => {
    if (to < scale.from || from > scale.to) return [];
    const x = near(scale, from);
    const width = Math.max(0.8, near(scale, to) - x);
    return [
      s("rect", { class: "blocked link-down", x: x.toFixed(2), y: 4, width: width.toFixed(2), height: LANE - 4 }),
    ];
  });
}

/** A line at each change, with what the link carries from then on where there is room. */
function marks(link: ChangedLink, scale: Scale): SVGElement[] {
  const out: SVGElement[] = [];
  let free = 0;
  for (const step of link.steps) {
    if (step.at_s < scale.from || step.at_s > scale.to) continue;
    const x = toPixel(scale, step.at_s);
    out.push(s("line", { class: "link-step", x1: x.toFixed(1), x2: x.toFixed(1), y1: 2, y2: LANE + 2 }));
    const words = stepText(step);
    const width = textWidth(words, LABEL);
    if (x + 3 < free || x + 3 + width > scale.width) continue;
    out.push(s("text", { class: "bar-label", x: (x + 3).toFixed(1), y: 17 }, words));
    free = x + 3 + width + 6;
  }
  return out;
}
