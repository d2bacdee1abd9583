// What is selected, in one line under the bar that stays at the top, while the panel with its details is out of sight.

import { type Child, arrow, button, h, name } from "../core/dom.ts";
import type { Store } from "../core/store.ts";
import { bottleneckOf } from "../run/alone.ts";
import type { RunView } from "../run/view.ts";
import { mainCause } from "../run/words.ts";

export function selectionNote(views: RunView[], details: HTMLElement, store: Store): HTMLElement {
  let seen = true;
  const words = h("span");
  const note = h(
    "div",
    { class: "selection-note", role: "status" },
    words,
    button("Details", () => details.scrollIntoView({ block: "center" })),
    clearButton(store),
  );
  const update = () => {
    const parts = partsOf(views, store);
    note.hidden = seen || parts.length === 0;
    words.replaceChildren(...parts.filter((x) => x instanceof Node || typeof x === "string"));
  };
  store.on(["link", "transfer", "group", "visible"], update);
  new IntersectionObserver((all) => {
    seen = all.at(-1)!.isIntersecting;
    update();
  }).observe(details);
  update();
  return note;
}

export function clearButton(store: Store): HTMLElement {
  return button("×", () => store.set({ link: null, transfer: null, group: null }), {
    "aria-label": "Clear the selection",
    class: "close",
  });
}

/** What it is, and of a transfer the answer in short. */
function partsOf(views: RunView[], { state }: Store): Child[] {
  const seen = state.visible.map((i) => views[i]!);
  if (state.group) return [h("b", {}, name(state.group.name))];
  if (state.transfer !== null)
    return [h("b", {}, name(state.transfer)), ...seen.flatMap((v) => answer(v, state.transfer!))];
  const l = seen.find((v) => v.links.has(state.link ?? -1))?.links.get(state.link!);
  return l ? [h("b", {}, arrow(l.from, l.to))] : [];

  function answer(view: RunView, id: string): Child[] {
    const t = view.transfers.get(id);
    if (!t?.bottleneck) return [];
    const letter = seen.length > 1 && h("b", { class: "letter" }, view.letter);
    const at = bottleneckOf(t);
    return [" · ", letter, mainCause(t), at && ", at ", at && arrow(at.from, at.to)];
  }
}
