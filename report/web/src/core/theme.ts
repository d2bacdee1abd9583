// Light or dark: as the system says, until the reader chooses. Print is always light.

import { button } from "./dom.ts";

let chosen: "light" | "dark" | null = null;
let printing = false;
const listeners: (() => void)[] = [];
const printers: ((on: boolean) => void)[] = [];

let dark: boolean | null = null;

/** Asked for every link of a picture, so the answer is kept until something changes. */
export function isDark(): boolean {
  dark ??= !printing && (chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  return dark;
}

/** Calls `run` whenever colours must be computed anew. */
export function onTheme(run: () => void): void {
  listeners.push(run);
}

/** Calls `run` before the page is laid out for paper, and after. */
export function onPrint(run: (on: boolean) => void): void {
  printers.push(run);
}

function print(on: boolean): void {
  if (on === printing) return;
  printing = on;
  apply();
  for (const run of printers) run(on);
}

function apply(): void {
  dark = null;
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const run of listeners) run();
}

/** The button that turns light to dark and back. */
export function themeButton(): HTMLButtonElement {
  const made = button(
    "◐",
    () => {
      chosen = isDark() ? "light" : "dark";
      apply();
    },
    { class: "theme", "aria-label": "Light or dark", title: "Light or dark" },
  );
  return made;
}

export function watchTheme(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  // Some browsers tell only this way, as do tools that show how paper would look.
  matchMedia("print").addEventListener("change", (e) => print(e.matches));
  apply();
}
