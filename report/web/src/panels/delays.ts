// Which links hold transfers back, for how long, and why: the answer in one table, the colours those of the Gantt.

import { type Child, h, s, section, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { rove } from "../core/rove.ts";
import type { Store } from "../core/store.ts";
import { type Delay, foremost, delayingLinks, type DelayingLink, total, unlisted, waited } from "../run/delays.ts";
import { coverage, lossUnknown } from "../run/coverage.ts";
import type { RunView } from "../run/view.ts";
import { type LinkColours, OTHER } from "../timeline/link-colours.ts";
import { linkButton, row, table } from "./parts.ts";

/** Links before the rest is put together, those of each run among them, and reasons that are told of one. */
const [MOST, MOST_EACH, MOST_WHY] = [6, 3, 3];

/** The section, or null where no transfer is held back. */
export function delaySection(views: RunView[], colours: LinkColours, store: Store): HTMLElement | null {
  if (colours.links.length === 0 && waited(views).every((w) => w.transfers === 0)) return null;
  const body = h("div", { class: "scroll" });
  const update = () =>
    body.replaceChildren(
      contents(
        store.state.visible.map((i) => views[i]!),
        colours,
        store,
      ),
    );
  store.on(["visible"], update);
  update();
  return section(
    "delays",
    "What holds transfers back",
    `Time lost: how much later transfers are for a link than at their rates alone, in sum. Click a link to see which. ${coverage(views)} ${unknownLosses(views)}`.trim(),
    body,
  );
}

/** In which runs the time lost is not known, and why, or nothing. */
function unknownLosses(views: RunView[]): string {
  const said = views.map((v) => [v.letter, lossUnknown(v)] as const).filter(([, why]) => why !== null);
  const all = said.length === views.length && new Set(said.map(([, why]) => why)).size === 1;
  if (all) return `The ${said[0]![1]}.`;
  return said.map(([letter, why]) => `In ${letter} the ${why}.`).join(" ");
}

function contents(views: RunView[], colours: LinkColours, store: Store): HTMLElement {
  const links = delayingLinks(views);
  const waits = waited(views);
  const head = views.flatMap((v) =>
    ["time lost", "held back (transfers)"].map((x) => x + (views.length > 1 ? `, ${v.letter}` : "")),
  );
  const [first, rest] = foremost(links, MOST, MOST_EACH);
  const rows = first.map((l) => {
    const colour = swatch("moving", colours.byLink.get(l.key) ?? OTHER);
    const link = h("span", {}, colour, linkButton(views, l.ends, store));
    return row(null, [link, ...l.runs.flatMap(cells)], [whyAt(l, views)]);
  });
  rows.push(...restRow(rest, views));
  if (waits.some((w) => w.transfers > 0)) {
    const words = h("span", {}, swatch("waiting", ""), "waiting for an engine");
    rows.push(row("waits", [words, ...waits.flatMap(cells)], ["an engine serves only so many at once"]));
  }
  return rove(table(["link", ...head], ["why"], rows), "button");
}

/** Reasons, with the runs that have them where runs differ. */
export function whyAt(link: DelayingLink, views: RunView[]): string {
  const said = views.map((v, i) => ({
    letter: v.letter,
    words: link.runs[i]!.why.slice(0, MOST_WHY).map(visible).join(", "),
  }));
  const known = said.filter((x) => x.words !== "");
  if (new Set(known.map((x) => x.words)).size < 2) return known[0]?.words ?? "";
  return known.map((x) => `${x.letter}: ${x.words}`).join("; ");
}

/** The links that have no row, in one. A transfer may be held back at several of them: transfers are not counted. */
function restRow(rest: DelayingLink[], views: RunView[]): HTMLElement[] {
  const summed = unlisted(views);
  const unnamed = summed.filter((x) => x.links > 0);
  if (rest.length === 0 && unnamed.length === 0) return [];
  const sums = views.flatMap((_, i) => times(total([...rest.map((l) => l.runs[i]!), summed[i]!.sums])));
  // Those of several runs may be the same links.
  const words =
    unnamed.length > 1 ? "other links" : format.counted(rest.length + (unnamed[0]?.links ?? 0), "other link");
  return [row("rest", [words, ...sums], [])];
}

function times(delay: Delay): [Child, string] {
  if (delay.transfers === 0) return [format.NONE, format.NONE];
  return [h("b", {}, format.time(delay.lost)), format.time(delay.seconds)];
}

function cells(delay: Delay): Child[] {
  const [lost, seconds] = times(delay);
  return [lost, delay.transfers === 0 ? seconds : `${seconds} (${format.count(delay.transfers)})`];
}

/** A sample of a colour or of a pattern. */
function swatch(kind: string, colour: string): SVGSVGElement {
  const rect = s("rect", { width: 12, height: 12, class: kind });
  rect.style.fill = colour;
  return s("svg", { width: 12, height: 12, class: "swatch", "aria-hidden": "true" }, rect);
}
