// Which links hold transfers back, for how long, and why: the answer in one table, the colours those of the Gantt.

import { type Child, h, s, section } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { rove } from "../core/rove.ts";
import type { Store } from "../core/store.ts";
import { type Held as Back, heldLinks, total, waited } from "../run/back.ts";
import { type RunView, wholly } from "../run/view.ts";
import { type Held, OTHER } from "../timeline/held.ts";
import { linkButton, row, table } from "./parts.ts";

/** Links before the rest is put together; reasons that are told of one. */
const [MOST, MOST_WHY] = [6, 3];

/** The section, or null where no transfer is held back. */
export function heldSection(views: RunView[], held: Held, store: Store): HTMLElement | null {
  if (held.links.length === 0 && waited(views).every((w) => w.transfers === 0)) return null;
  const body = h("div", { class: "scroll" });
  const update = () =>
    body.replaceChildren(
      contents(
        store.state.shown.map((i) => views[i]!),
        held,
        store,
      ),
    );
  store.on(["shown"], update);
  update();
  const kept = views.some((v) => v.run.aggregated) ? " Of the transfers that were kept." : "";
  return section(
    "held",
    "What holds transfers back",
    `Time lost: how much later transfers are for a link than at their rates alone, in sum. Click a link to see which.${kept} ${wholly(views)}`.trim(),
    body,
  );
}

function contents(views: RunView[], held: Held, store: Store): HTMLElement {
  const links = heldLinks(views);
  const waits = waited(views);
  const head = views.flatMap((v) =>
    ["time lost", "held back (transfers)"].map((x) => x + (views.length > 1 ? `, ${v.letter}` : "")),
  );
  const rest = links.slice(MOST);
  const rows = links.slice(0, MOST).map((l) => {
    const colour = swatch("moving", held.colours.get(l.key) ?? OTHER);
    const link = h("span", {}, colour, linkButton(views, l.ends, store));
    return row(null, [link, ...l.runs.flatMap(cells)], [l.why.slice(0, MOST_WHY).join(", ")]);
  });
  if (rest.length > 0) {
    // A transfer may be held back at several of them: transfers are not counted.
    const sums = views.flatMap((_, i) => times(total(rest.map((l) => l.runs[i]!))));
    rows.push(row("rest", [format.counted(rest.length, "other link"), ...sums], []));
  }
  if (waits.some((w) => w.transfers > 0)) {
    const words = h("span", {}, swatch("waiting", ""), "waiting for an engine");
    rows.push(row("waits", [words, ...waits.flatMap(cells)], ["an engine serves only so many at once"]));
  }
  return rove(table(["link", ...head], ["why"], rows), "button");
}

function times(held: Back): [Child, string] {
  if (held.transfers === 0) return [format.NONE, format.NONE];
  return [h("b", {}, format.time(held.lost)), format.time(held.seconds)];
}

function cells(held: Back): Child[] {
  const [lost, seconds] = times(held);
  return [lost, held.transfers === 0 ? seconds : `${seconds} (${format.count(held.transfers)})`];
}

/** A sample of a colour or of a pattern. */
function swatch(kind: string, colour: string): SVGSVGElement {
  const rect = s("rect", { width: 12, height: 12, class: kind });
  rect.style.fill = colour;
  return s("svg", { width: 12, height: 12, class: "swatch", "aria-hidden": "true" }, rect);
}
