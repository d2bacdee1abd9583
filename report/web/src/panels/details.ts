// What is selected: the transfers of a link, the life of a transfer, or the facts of a group. One table per run.

import { arrow, h, name } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { rove } from "../core/rove.ts";
import type { Store } from "../core/store.ts";
import { linkTable } from "./details-link.ts";
import { groupFacts } from "./details-group.ts";
import { transferFacts } from "./details-transfer.ts";
import { clearButton } from "./selection.ts";
import type { RunView } from "../run/view.ts";

export class Details {
  readonly element = h("aside", { class: "details", "aria-label": "Selection" });

  constructor(
    private views: RunView[],
    private store: Store,
  ) {
    store.on(["link", "transfer", "group", "time", "visible"], () => this.update());
    this.update();
  }

  private update(): void {
    const { link, transfer, group, visible } = this.store.state;
    const views = visible.map((i) => this.views[i]!);
    const parts =
      link !== null
        ? this.ofLink(views, link)
        : transfer !== null
          ? this.ofTransfer(views, transfer)
          : group !== null
            ? this.ofGroup(group)
            : null;
    this.element.classList.toggle("filled", parts !== null);
    const focused = this.focused();
    this.element.replaceChildren(...(parts ?? [hint(this.views)]));
    for (const list of this.element.querySelectorAll<HTMLElement>("tbody, .route")) rove(list, "button");
    if (focused !== null)
      this.buttons()
        .slice(0, focused + 1)
        .at(-1)
        ?.focus();
  }

  private buttons(): HTMLElement[] {
    return [...this.element.querySelectorAll<HTMLElement>("button")];
  }

  /** The place of the button that has the focus: the numbers are written anew when the moment changes. */
  private focused(): number | null {
    const at = this.buttons().indexOf(document.activeElement as HTMLElement);
    return at < 0 ? null : at;
  }

  private head(title: HTMLElement): HTMLElement {
    return h("h3", {}, title, clearButton(this.store));
  }

  private ofLink(views: RunView[], link: number): HTMLElement[] | null {
    const first = views.find((v) => v.links.has(link))?.links.get(link);
    if (!first) return null;
    const tables = views.map((v) => titled(v, views, linkTable(v, link, this.store)));
    return [this.head(arrow(first.from, first.to)), ...tables];
  }

  private ofTransfer(views: RunView[], id: string): HTMLElement[] {
    const base = views[0]?.transfers.get(id);
    return [this.head(name(id)), ...views.map((v) => titled(v, views, transferFacts(v, id, base, this.store)))];
  }

  private ofGroup(group: { run: number; name: string }): HTMLElement[] {
    const view = this.views[group.run]!;
    return [this.head(name(group.name)), titled(view, this.views, groupFacts(view, group.name, this.store))];
  }
}

/** The part of a run, with its name where there are several. */
function titled(view: RunView, views: RunView[], parts: (HTMLElement | false)[]): HTMLElement {
  const title = views.length > 1 && h("h4", {}, h("b", { class: "letter" }, view.letter), name(view.title));
  return h("div", { class: "of-run" }, title, ...parts);
}

/** What can be selected. */
function hint(views: RunView[]): HTMLElement {
  const links = views.some((v) => v.nodes.length > 0 && v.links.size > 0);
  const groups = views.some((v) => v.run.aggregated);
  const transfers = views.some((v) => v.run.transfers.length > 0);
  const parts = [
    links && `a link to list its transfers`,
    groups && "a group to see its facts",
    transfers && `a transfer to see what held it back${links ? " and to light its route" : ""}`,
  ].filter((x) => x !== false);
  if (!transfers && !groups)
    return h("p", { class: "hint" }, `${format.NO_TRANSFERS}${links ? " Click a link to see its bandwidth." : ""}`);
  return h("p", { class: "hint" }, `Click ${parts.join(", or ")}.`);
}
