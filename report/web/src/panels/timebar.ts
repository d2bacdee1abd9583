// The bar that stays at the top: the slider over the window of time, the moment in words, and the zoom of all time axes.

import { button, h } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { panned } from "../core/scale.ts";
import type { Store } from "../core/store.ts";
import { playButton } from "./play.ts";

/** Positions of the slider over the window. */
const STEPS = 10_000;
/** Part of the window by which fine steps go. */
const FINE = 1 / 1000;
const KEYS = "← → next change · Shift + ← → or ↑ ↓ a thousandth of the time shown";

/** `selection` tells below the slider what is selected. */
export function timeBar(store: Store, moments: number[], selection: HTMLElement): HTMLElement {
  const slider = sliderOf(store, moments);
  const words = h("output", { for: "moment", class: "moment" });
  const outside = outsideNote(store);
  const show = () => (words.textContent = store.moment(store.state.time));
  store.on(["time", "window"], show);
  show();
  return h(
    "div",
    { class: "timebar", role: "group", "aria-label": "Time" },
    h("label", { for: "moment" }, "Moment"),
    playButton(store),
    button("|◀", () => store.step(moments, -1), { "aria-label": "Previous change", title: "Previous change" }),
    slider,
    button("▶|", () => store.step(moments, 1), { "aria-label": "Next change", title: "Next change" }),
    words,
    outside,
    zoomButtons(store),
    selection,
  );
}

function sliderOf(store: Store, moments: number[]): HTMLInputElement {
  const slider = h("input", {
    type: "range",
    min: 0,
    max: STEPS,
    step: 1,
    id: "moment",
    "aria-label": "Moment shown",
    "aria-description": KEYS,
    title: KEYS,
  });
  slider.addEventListener("input", () => {
    const { from, to } = store.state.window;
    const at = Number(slider.value) / STEPS;
    store.set({ time: at >= 1 ? to : from + at * (to - from) });
  });
  slider.addEventListener("keydown", (e) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[e.key] as 1 | -1 | undefined;
    if (!by || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    if (e.shiftKey || e.key === "ArrowUp" || e.key === "ArrowDown") fineStep(store, by);
    else store.step(moments, by);
  });
  const show = () => place(slider, store);
  store.on(["time", "window"], show);
  show();
  return slider;
}

function fineStep(store: Store, by: number): void {
  const { time, window: w } = store.state;
  const next = time + by * FINE * (w.to - w.from);
  store.goto(Math.min(store.whole.to, Math.max(store.whole.from, next)));
}

/** The slider covers the window; a moment outside stands at its end. */
function place(slider: HTMLInputElement, store: Store): void {
  const { time, window: w } = store.state;
  const part = (time - w.from) / (w.to - w.from);
  slider.value = String(Math.round(Math.min(1, Math.max(0, part)) * STEPS));
  const where = whereIs(store);
  slider.classList.toggle("outside", where !== "");
  slider.setAttribute("aria-valuetext", `${store.moment(time)}${where && `, ${where}`}`);
}

/** Says where a moment is that is not shown. */
function whereIs(store: Store): string {
  const { time, window: w } = store.state;
  return time < w.from ? "lies before the time shown" : time > w.to ? "lies after the time shown" : "";
}

/** Says that the moment is not in the window, and offers both ways to bring them together. */
function outsideNote(store: Store): HTMLElement {
  const words = h("span", { role: "status" });
  const middle = () => (store.state.window.from + store.state.window.to) / 2;
  const go = button("Go there", () => store.goto(store.state.time), { title: "Show the time around the moment" });
  const bring = button("Bring here", () => store.set({ time: middle() }), {
    title: "Set the moment to the middle of the time shown",
  });
  const note = h("span", { class: "outside-note" }, words, go, bring);
  const show = () => {
    words.textContent = whereIs(store);
    note.classList.toggle("none", words.textContent === "");
  };
  store.on(["time", "window"], show);
  show();
  return note;
}

function zoomButtons(store: Store): HTMLElement {
  const range = h("span", { class: "zoom-window", "aria-live": "polite" });
  const pan = (by: number) => () => {
    const { window: w } = store.state;
    store.set({ window: panned(w, store.whole, by * (w.to - w.from)) });
  };
  const earlier = button("‹", pan(-0.5), { "aria-label": "Show earlier time", title: "Earlier (Shift + ←)" });
  const later = button("›", pan(0.5), { "aria-label": "Show later time", title: "Later (Shift + →)" });
  const show = () => {
    const { window: w } = store.state;
    const all = w.from === store.whole.from && w.to === store.whole.to;
    range.textContent = all ? "" : format.range(w.from, w.to);
    earlier.hidden = later.hidden = all;
  };
  store.on(["window"], show);
  show();
  return h(
    "span",
    { class: "zoom", role: "group", "aria-label": "Zoom" },
    earlier,
    range,
    later,
    button("−", () => store.zoom(2), { "aria-label": "Zoom out", title: "Zoom out (−)", class: "zoom-out" }),
    button("+", () => store.zoom(0.5), { "aria-label": "Zoom in", title: "Zoom in (+)", class: "zoom-in" }),
    button("All", () => store.set({ window: store.whole }), {
      "aria-label": "Show all time",
      title: "Show all time (0)",
      class: "zoom-all",
    }),
  );
}
