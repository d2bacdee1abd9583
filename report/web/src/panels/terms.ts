// What the words mean with which the page tells why transfers are slow.

import { h, visible } from "../core/dom.ts";
import type { RunView } from "../run/view.ts";
import { type Term, termsOf } from "../run/words.ts";
import { facts } from "./parts.ts";

const GENERAL: Term[] = [
  [
    "bottleneck, held back at",
    "the link that decides its rate at a moment, or over its life (main bottleneck) where no explanation is known; coloured where others are responsible",
  ],
  ["main cause", "why, at the link where it lost most against its full rate, over its whole life"],
  ["decided at step", "the last step of the arbiter that names a link"],
  ["because of", "the transfers responsible in that step"],
  ["time lost", "how much later it is than at its rate alone"],
  ["slowdown", "its time from ready to end over its time alone"],
  [
    "waiting for an engine",
    "ready, but its source sends only so many at once (`engines`; a GPU one), or an engine of its operation is busy",
  ],
  ["blocked, rate 0", "started, and not served at the moment"],
];

export function terms(views: RunView[]): HTMLElement {
  const { steps, causes } = termsOf(views);
  const list = (title: string, of: Term[]) =>
    of.length > 0 &&
    h("div", {}, h("h4", {}, visible(title)), facts(of.map(([term, words]) => [visible(term), visible(words)])));
  return h(
    "details",
    { class: "terms" },
    h("summary", {}, "Why: the words"),
    list("Words", GENERAL),
    ...steps.map(([arbiter, terms]) => list(`Steps of ${arbiter}`, terms)),
    list("Causes here", causes),
  );
}
