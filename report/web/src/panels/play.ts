// The button that lets time run over what is shown.

import { button } from "../core/dom.ts";
import type { Store } from "../core/store.ts";

/** Seconds in which the time shown runs from one end to the other (*assumed*: slow enough to follow, short enough to wait for). */
const LASTS = 10;

/** Plays from the moment, or from the begin where the moment is not shown or is the last. Any other change of the moment ends it. */
export function playButton(store: Store): HTMLButtonElement {
  let at: number | null = null;
  let last = 0;
  const stop = () => {
    at = null;
    label(made, "▶", "Play");
  };
  const frame = (now: number) => {
    if (at === null) return;
    const { time, window: w } = store.state;
    if (time !== at) return stop();
    at = Math.min(w.to, time + (Math.max(0, now - last) / 1000 / LASTS) * (w.to - w.from));
    last = now;
    store.set({ time: at });
    if (at >= w.to) return stop();
    requestAnimationFrame(frame);
  };
  const start = () => {
    const { time, window: w } = store.state;
    at = time >= w.from && time < w.to ? time : w.from;
    store.set({ time: at, mean: false });
    label(made, "❚❚", "Pause");
    last = performance.now();
    requestAnimationFrame(frame);
  };
  const made = button("▶", () => (at === null ? start() : stop()), { class: "play" });
  label(made, "▶", "Play");
  return made;
}

function label(of: HTMLElement, sign: string, words: string): void {
  of.textContent = sign;
  of.title = words;
  of.setAttribute("aria-label", words);
}
