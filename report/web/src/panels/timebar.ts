// The bar that stays at the top: the slider over time, the moment in words, and the zoom of all time axes.

import { button, h } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { zoomed } from "../core/scale.ts";
import type { Store } from "../core/store.ts";

/** Positions of the slider over the whole time. */
const STEPS = 10_000;

export function timeBar(store: Store, moments: number[]): HTMLElement {
  const { whole } = store;
  const span = whole.to - whole.from;
  const slider = h("input", { type: "range", min: 0, max: STEPS, step: 1, id: "moment", "aria-label": "Moment shown" });
  const words = h("output", { for: "moment", class: "moment" });
  const step = stepper(store, moments);
  slider.addEventListener("input", () => {
    const at = Number(slider.value) / STEPS;
    store.set({ time: at >= 1 ? whole.to : whole.from + at * span });
  });
  slider.addEventListener("keydown", (e) => {
    if (e.key !== "ArrowRight" && e.key !== "ArrowLeft") return;
    e.preventDefault();
    step(e.key === "ArrowRight" ? 1 : -1);
  });
  showTime(store, slider, words);
  return h(
    "div",
    { class: "timebar", role: "group", "aria-label": "Time" },
    h("label", { for: "moment" }, "Moment"),
    button("◀", () => step(-1), { "aria-label": "Previous change", title: "Previous change" }),
    slider,
    button("▶", () => step(1), { "aria-label": "Next change", title: "Next change" }),
    words,
    zoomButtons(store),
  );
}

/** Goes to the next or to the last moment at which something changes. */
function stepper(store: Store, moments: number[]): (by: 1 | -1) => void {
  return (by) => {
    const { time } = store.state;
    const next = by > 0 ? moments.find((m) => m > time) : moments.findLast((m) => m < time);
    if (next !== undefined) store.set({ time: next });
  };
}

function showTime(store: Store, slider: HTMLInputElement, words: HTMLElement): void {
  const { from, to } = store.whole;
  const show = () => {
    const { time } = store.state;
    slider.value = String(Math.round(((time - from) / (to - from)) * STEPS));
    words.textContent = format.time(time);
    slider.setAttribute("aria-valuetext", format.time(time));
  };
  store.on(["time"], show);
  show();
}

function zoomButtons(store: Store): HTMLElement {
  const by = (factor: number) => () => {
    const { window: w, time } = store.state;
    const at = time >= w.from && time <= w.to ? time : (w.from + w.to) / 2;
    store.set({ window: zoomed(w, store.whole, at, factor) });
  };
  const shown = h("span", { class: "zoom-window", "aria-live": "polite" });
  const show = () => {
    const { window: w } = store.state;
    const all = w.from === store.whole.from && w.to === store.whole.to;
    shown.textContent = all ? "" : `${format.time(w.from)} to ${format.time(w.to)}`;
  };
  store.on(["window"], show);
  return h(
    "span",
    { class: "zoom", role: "group", "aria-label": "Zoom" },
    shown,
    button("−", by(2), { "aria-label": "Zoom out", title: "Zoom out (−)", class: "zoom-out" }),
    button("+", by(0.5), { "aria-label": "Zoom in", title: "Zoom in (+)", class: "zoom-in" }),
    button("All", () => store.set({ window: store.whole }), {
      "aria-label": "Show all time",
      title: "Show all time (0)",
      class: "zoom-all",
    }),
  );
}
