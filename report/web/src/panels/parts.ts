// What panels have in common: buttons that select, tables, and lists of facts.

import type { Ends } from "../contract.ts";
import { type Child, arrow, button, h, name } from "../core/dom.ts";
import * as format from "../core/format.ts";
import type { Store } from "../core/store.ts";
import { numberOf } from "../run/delays.ts";
import type { RunView } from "../run/view.ts";

/** A transfer to go on to. */
export function transferButton(id: string, store: Store): HTMLElement {
  return button(name(id), () => store.set({ transfer: id }), { class: "transfer", "data-transfer": id });
}

/** A link to go on to, where one of the runs has it. */
export function linkButton(views: RunView[], { from, to }: Ends, store: Store): HTMLElement {
  const link = views.map((v) => numberOf(v, { from, to })).find((n) => n !== null);
  const words = arrow(from, to);
  return link === undefined ? words : button(words, () => store.set({ link }), { class: "hop" });
}

/** A table: heads of numbers, then heads of words. */
export function table(numbers: string[], words: string[], rows: Child[]): HTMLTableElement {
  const head = (text: string, className?: string) => h("th", { scope: "col", class: className }, text);
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...numbers.map((x) => head(x)), ...words.map((x) => head(x, "text")))),
    h("tbody", {}, ...rows),
  );
}

/** A row of cells: numbers, then words. */
export function row(className: string | null, numbers: Child[], ...words: Child[][]): HTMLElement {
  const cells = numbers.map((x) => h("td", {}, x));
  return h("tr", { class: className }, ...cells, ...words.map((x) => h("td", { class: "text" }, ...x)));
}

/** What things are, and their values. */
export function facts(list: [string, Child | Child[]][]): HTMLElement {
  return h("dl", {}, ...list.flatMap(([what, value]) => [h("dt", {}, what), h("dd", {}, ...[value].flat())]));
}

/** What follows a list that was cut. */
export function more(all: number, most: number): HTMLElement | false {
  return all > most && h("p", { class: "small" }, `and ${format.count(all - most)} more`);
}
