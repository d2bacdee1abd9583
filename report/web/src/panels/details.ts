// What is selected: the transfers of a link, or the life of a transfer. One table per run.

import type { Transfer } from "../contract.ts";
import { arrow, button, h, name, visible } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { doingAt, slowdown, stretches } from "../run/state.ts";
import { type RunView, hasRoutes, spanAt, transfersOn, utilisation } from "../run/view.ts";
import { changeOf } from "../timeline/change.ts";

/** Rows of a table before the rest is only counted. */
const MOST = 100;

export class Details {
  readonly element = h("aside", { class: "details", "aria-label": "Selection" });

  constructor(
    private views: RunView[],
    private store: Store,
  ) {
    store.on(["link", "transfer", "time", "shown"], () => this.update());
    this.update();
  }

  private update(): void {
    const { link, transfer, shown } = this.store.state;
    const views = shown.map((i) => this.views[i]!);
    const parts =
      link !== null ? this.ofLink(views, link) : transfer !== null ? this.ofTransfer(views, transfer) : [hint()];
    this.element.classList.toggle("filled", link !== null || transfer !== null);
    this.element.replaceChildren(...parts);
  }

  private head(title: HTMLElement): HTMLElement {
    const close = button("×", () => this.store.set({ link: null, transfer: null }), {
      "aria-label": "Clear the selection",
      class: "close",
    });
    return h("h3", {}, title, close);
  }

  private ofLink(views: RunView[], link: number): HTMLElement[] {
    const first = views.find((v) => v.links.has(link))?.links.get(link);
    if (!first) return [hint()];
    const tables = views.map((v) => this.linkTable(v, link, views.length > 1));
    return [this.head(arrow(first.from, first.to)), ...tables];
  }

  private linkTable(view: RunView, link: number, titled: boolean): HTMLElement {
    const l = view.links.get(link);
    // Without `--full` only links that carried bytes are named.
    if (!l && view.nodes.length === 0) return h("p", {}, `Carried nothing in run ${view.letter}, or is not in it.`);
    if (!l) return h("p", {}, `Not in run ${view.letter}.`);
    const { time } = this.store.state;
    const use = utilisation(view, link, time);
    const all = transfersOn(view, link);
    const now = all.filter((t) => spanAt(view, t.id, time));
    const sorted = [...now, ...all.filter((t) => !now.includes(t))];
    return h(
      "div",
      { class: "of-run" },
      titled && h("h4", {}, `${view.letter} `, name(view.title)),
      h(
        "p",
        {},
        `${format.percent(use)} of ${format.rate(l.bandwidth_Bps)} at ${format.time(time)}; ${format.bytes(l.bytes)} in all, busy for ${format.time(l.busy_s)}`,
      ),
      h(
        "p",
        { class: "small" },
        !hasRoutes(view)
          ? "Its transfers are not known: this run was saved without `--full`."
          : `${format.counted(all.length, "transfer")}${view.run.aggregated ? " among those kept" : ""}, ${now.length} of them now`,
      ),
      h(
        "table",
        { hidden: sorted.length === 0 },
        h(
          "thead",
          {},
          h("tr", {}, ...["transfer", "rate now", "size", "end"].map((x) => h("th", { scope: "col" }, x))),
        ),
        h("tbody", {}, ...sorted.slice(0, MOST).map((t) => this.linkRow(view, t))),
      ),
      sorted.length > MOST && h("p", { class: "small" }, `and ${format.count(sorted.length - MOST)} more`),
    );
  }

  private linkRow(view: RunView, t: Transfer): HTMLElement {
    const span = spanAt(view, t.id, this.store.state.time);
    const select = button(name(t.id), () => this.store.set({ transfer: t.id, link: null }), {
      class: "transfer",
      "data-transfer": t.id,
    });
    return h(
      "tr",
      { class: span ? "now" : "later" },
      h("td", {}, select),
      h("td", {}, span ? `${format.rate(span.rate)}${view.exact ? "" : " mean"}` : format.NONE),
      h("td", {}, format.bytes(t.bytes)),
      h("td", {}, format.time(t.end_s)),
    );
  }

  private ofTransfer(views: RunView[], id: string): HTMLElement[] {
    const base = views[0]?.transfers.get(id);
    return [this.head(name(id)), ...views.map((v) => this.transferTable(v, id, base, views.length > 1))];
  }

  private transferTable(view: RunView, id: string, base: Transfer | undefined, titled: boolean): HTMLElement {
    const t = view.transfers.get(id);
    if (!t) return h("p", {}, `Not in run ${view.letter}.`);
    const facts: [string, (string | Node)[]][] = [
      ["from, to", [arrow(t.from, t.to)]],
      ["size", [format.bytes(t.bytes)]],
      ["ready, start", [`${format.time(t.ready_s)}, ${format.time(t.start_s)}`]],
      ["end", this.endOf(t, base)],
      ["mean rate", [format.rate(t.mean_Bps)]],
      ["alone", [`${format.time(t.alone_s)}; slowdown ${format.ratio(slowdown(t))}`]],
      ["held back at", t.bottleneck ? [arrow(t.bottleneck.from, t.bottleneck.to)] : [format.NONE]],
      ["cause", [visible(t.cause ?? format.NONE)]],
    ];
    return h(
      "div",
      { class: "of-run" },
      titled && h("h4", {}, `${view.letter} `, name(view.title)),
      h("dl", {}, ...facts.flatMap(([k, v]) => [h("dt", {}, k), h("dd", {}, ...v)])),
      this.now(view, t),
      this.route(view, t),
    );
  }

  private endOf(t: Transfer, base: Transfer | undefined): string[] {
    const exact = format.exactPs(t.end_ps);
    const change = base === t ? null : changeOf(base, t);
    return [format.time(t.end_s), exact ? ` (${exact})` : "", change ? `, ${format.timeChange(change)}` : ""];
  }

  private now(view: RunView, t: Transfer): HTMLElement {
    const { time } = this.store.state;
    const span = spanAt(view, t.id, time);
    const doing = doingAt(t, stretches(t, view.spans.get(t.id), view.end), time);
    const words = h("p", { class: "now" }, `At ${format.time(time)}: `);
    if (!span) words.append(doing);
    else {
      words.append(format.rate(span.rate));
      if (span.at)
        words.append(
          ", decided at ",
          arrow(span.at.from, span.at.to),
          span.step ? ` (step ${visible(span.step)})` : "",
        );
      if (span.because.length) words.append(", because of ");
      span.because.slice(0, 8).forEach((c, i) => words.append(i > 0 ? ", " : "", name(c)));
      if (span.because.length > 8) words.append(` and ${span.because.length - 8} more`);
    }
    return words;
  }

  private route(view: RunView, t: Transfer): HTMLElement {
    const items = (view.routes.get(t.id) ?? []).map((id) => {
      const l = view.links.get(id);
      const use = utilisation(view, id, this.store.state.time);
      const go = button(l ? arrow(l.from, l.to) : String(id), () => this.store.set({ link: id, transfer: null }), {
        class: "hop",
      });
      return h("li", {}, go, ` ${format.percent(use)} of ${format.rate(l?.bandwidth_Bps)}`);
    });
    if (items.length === 0 && !t.route) return h("div", {}, h("h4", {}, "Route"), h("p", {}, "not known"));
    return h("div", {}, h("h4", {}, "Route"), h("ol", { class: "route" }, ...items));
  }
}

function hint(): HTMLElement {
  return h("p", { class: "hint" }, "Click a link to list its transfers, or a transfer to light its route.");
}
