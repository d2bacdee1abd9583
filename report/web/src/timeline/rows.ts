// Rows over a common time axis: scrolled, zoomed and panned together, only the visible ones are drawn.

import { type Child, h, s } from "../core/dom.ts";
import * as format from "../core/format.ts";
import { type Scale, type Window, panned, timeAxis, toPixel, toValue, zoomed } from "../core/scale.ts";
import type { Store } from "../core/store.ts";
import { hideTip, type Line, showTip, speak } from "../core/tip.ts";

/** What rows show: the source of labels, drawings and words. */
export interface RowSource {
  label: string;
  count(): number;
  /** Pixels per row. */
  height: number;
  /** At most so many pixels before rows scroll. */
  most: number;
  name(row: number): Child[];
  draw(row: number, scale: Scale): SVGElement[];
  /** What is to say of a row at a moment; `y` tells lanes of a row apart. */
  describe(row: number, time: number, y: number): Line[];
  /** `toggle`: what is selected already is cleared. */
  select(row: number, time: number, toggle: boolean): void;
  /** The row of what is selected elsewhere, which is then scrolled to. */
  reveal?(): number;
  selected(row: number): boolean;
  /** Moments between which the arrow keys move. */
  moments: number[];
}

/** How rows are used with the keyboard, to be read and to be heard. */
export const KEYS = "↑ ↓ rows · ← → next change · Shift + ← → pan · + − 0 zoom · Enter selects";

const RULER = 22;
const MOST_PRINTED = 80;
/** Pixels of rows on A4 landscape, less margins and the frame of a section. */
const PAPER = 980;

export class TimelineRows {
  readonly element: HTMLElement;
  private ruler = s("svg", { class: "ruler", height: RULER, "aria-hidden": "true" });
  private body = h("div", { class: "rows-body" });
  private inner = h("div", { class: "rows-inner" });
  private cursor = h("div", { class: "cursor", "aria-hidden": "true" });
  private active = 0;
  private drag: { x: number; window: Window; moved: boolean } | null = null;
  private printing = false;
  private scrolls = false;
  private measured: { names: number; track: number } | null = null;

  constructor(
    private source: RowSource,
    private store: Store,
  ) {
    this.body.append(this.inner, this.cursor);
    this.element = h(
      "div",
      { class: "rows", tabindex: 0, role: "listbox", "aria-label": source.label, "aria-description": KEYS },
      this.ruler,
      this.body,
    );
    this.body.addEventListener("scroll", () => this.render(), { passive: true });
    new ResizeObserver(() => {
      this.measured = null;
      this.render();
    }).observe(this.element);
    this.listen();
    store.on(["window", "transfer", "link", "group", "visible"], () => this.render());
    store.on(["time"], () => this.moveCursor());
    store.on(["transfer", "link"], () => this.reveal());
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  /** Paper may be narrower than the screen, and is not laid out yet: names and tracks get widths that stay. */
  private print(on: boolean): void {
    this.printing = on;
    this.measured = null;
    this.element.style.removeProperty("--name-width");
    if (on) this.element.style.setProperty("--name-width", `${this.measure().names}px`);
    this.render();
  }

  /** Draws all visible rows anew. */
  render(): void {
    const { source } = this;
    const count = source.count();
    this.fit(count * source.height);
    this.body.style.maxHeight = this.printing ? "none" : `${source.most}px`;
    this.inner.style.height = `${this.printing ? Math.min(count, MOST_PRINTED) * source.height + 22 : count * source.height}px`;
    const first = this.printing ? 0 : Math.max(0, Math.floor(this.body.scrollTop / source.height) - 1);
    const last = this.printing
      ? Math.min(count, MOST_PRINTED)
      : Math.min(count, first + Math.ceil(source.most / source.height) + 3);
    const scale = this.scale();
    const rows: HTMLElement[] = [];
    for (let row = first; row < last; row++) rows.push(this.row(row, scale));
    if (last < count && this.printing) rows.push(this.more(last, count));
    this.inner.replaceChildren(...rows);
    this.drawRuler(scale);
    this.moveCursor();
    this.point();
  }

  /** Paper does not scroll: what is left out is counted. */
  private more(printed: number, count: number): HTMLElement {
    const element = h("div", { class: "row more" }, `and ${format.count(count - printed)} more rows`);
    element.style.top = `${printed * this.source.height}px`;
    return element;
  }

  /** A bar for scrolling takes from the width: where it comes or goes, widths are measured again. */
  private fit(height: number): void {
    const scrolls = height > this.source.most;
    if (scrolls !== this.scrolls) this.measured = null;
    this.scrolls = scrolls;
  }

  private row(row: number, scale: Scale): HTMLElement {
    const { source } = this;
    const track = s("svg", { class: "track", width: scale.width, height: source.height }, ...source.draw(row, scale));
    const element = h(
      "div",
      {
        class: "row",
        id: this.id(row),
        role: "option",
        "aria-selected": String(source.selected(row)),
        "aria-setsize": source.count(),
        "aria-posinset": row + 1,
        "data-row": row,
      },
      h("div", { class: "row-name" }, ...source.name(row)),
      track,
    );
    element.style.top = `${row * source.height}px`;
    element.style.height = `${source.height}px`;
    return element;
  }

  private id(row: number): string {
    return `${this.source.label.replace(/\W+/g, "-").toLowerCase()}-${row}`;
  }

  /** The widths of names, from the style sheet, and of tracks: measured once per size, since that makes the browser lay out. */
  private measure(): { names: number; track: number } {
    if (this.measured) return this.measured;
    const names = Number.parseFloat(getComputedStyle(this.element).getPropertyValue("--name-width")) || 0;
    const width = this.printing ? Math.min(PAPER, this.body.clientWidth) : this.body.clientWidth;
    const sizes = { names, track: Math.max(50, width - names) };
    if (width > 0) this.measured = sizes;
    return sizes;
  }

  private scale(): Scale {
    const { from, to } = this.store.state.window;
    return { from, to, width: this.measure().track };
  }

  private drawRuler(scale: Scale): void {
    const { marks, base, labels } = timeAxis(scale);
    const left = this.measure().names;
    this.ruler.setAttribute("width", String(left + scale.width));
    this.ruler.replaceChildren(
      ...(base ? [s("text", { class: "from", x: 10, y: RULER - 8 }, `${base} …`)] : []),
      ...marks.flatMap((t, i) => {
        const x = left + toPixel(scale, t);
        const anchor = x > left + scale.width - 40 ? "end" : i === 0 && x < left + 20 ? "start" : "middle";
        return [
          s("line", { x1: x, x2: x, y1: RULER - 5, y2: RULER }),
          s("text", { x, y: RULER - 8, "text-anchor": anchor }, labels[i]!),
        ];
      }),
    );
  }

  private moveCursor(): void {
    const scale = this.scale();
    const x = toPixel(scale, this.store.state.time);
    this.cursor.hidden = x < -0.5 || x > scale.width + 0.5;
    this.cursor.style.left = `${this.measure().names + x}px`;
    this.cursor.style.height = `${this.source.count() * this.source.height}px`;
  }

  private listen(): void {
    this.body.addEventListener("pointermove", (e) => this.pointerMove(e));
    this.body.addEventListener("pointerleave", hideTip);
    this.body.addEventListener("pointerdown", (e) => {
      if (e.button === 0) this.drag = { x: e.clientX, window: this.store.state.window, moved: false };
    });
    addEventListener("pointerup", () => setTimeout(() => (this.drag = null)));
    this.body.addEventListener("click", (e) => this.click(e));
    this.element.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    this.element.addEventListener("keydown", (e) => this.key(e));
    this.element.addEventListener("focus", () => this.point());
    this.element.addEventListener("blur", hideTip);
  }

  private place(e: { clientX: number; clientY: number }): { row: number; time: number; y: number; x: number } {
    const box = this.inner.getBoundingClientRect();
    const scale = this.scale();
    const x = e.clientX - box.left - this.measure().names;
    const down = e.clientY - box.top;
    const row = Math.floor(down / this.source.height);
    return { row, x, time: toValue(scale, Math.min(scale.width, Math.max(0, x))), y: down - row * this.source.height };
  }

  private pointerMove(e: PointerEvent): void {
    if (this.drag && Math.abs(e.clientX - this.drag.x) > 4) {
      this.drag.moved = true;
      const scale = this.scale();
      const by = ((this.drag.x - e.clientX) / scale.width) * (scale.to - scale.from);
      this.store.set({ window: panned(this.drag.window, this.store.whole, by) });
      hideTip();
      return;
    }
    const at = this.place(e);
    if (at.row < 0 || at.row >= this.source.count() || at.x < 0) return hideTip();
    showTip(this.source.describe(at.row, at.time, at.y), e.clientX, e.clientY);
  }

  private click(e: MouseEvent): void {
    if (this.drag?.moved) return;
    const at = this.place(e);
    if (at.row < 0 || at.row >= this.source.count()) return;
    this.active = at.row;
    if (at.x >= 0) this.store.set({ time: at.time });
    this.source.select(at.row, at.time, at.x < 0);
    this.point();
  }

  private wheel(e: WheelEvent): void {
    const scale = this.scale();
    if (e.ctrlKey || e.metaKey || this.ruler.contains(e.target as Node)) {
      const x = e.clientX - this.inner.getBoundingClientRect().left - this.measure().names;
      const by = Math.exp(Math.max(-1, Math.min(1, e.deltaY / 200)));
      this.store.set({ window: zoomed(this.store.state.window, this.store.whole, toValue(scale, x), by) });
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      const by = ((e.deltaX || e.deltaY) / scale.width) * (scale.to - scale.from);
      this.store.set({ window: panned(this.store.state.window, this.store.whole, by) });
    } else return;
    e.preventDefault();
  }

  private key(e: KeyboardEvent): void {
    const { state, whole } = this.store;
    const count = this.source.count();
    const span = state.window.to - state.window.from;
    const pan = (by: number) => this.store.set({ window: panned(state.window, whole, by) });
    const go = (row: number) => this.goto(Math.max(0, Math.min(count - 1, row)));
    const acts: Record<string, () => void> = {
      ArrowDown: () => go(this.active + 1),
      ArrowUp: () => go(this.active - 1),
      PageDown: () => go(this.active + 10),
      PageUp: () => go(this.active - 10),
      Home: () => go(0),
      End: () => go(count - 1),
      ArrowRight: () => (e.shiftKey ? pan(span / 5) : this.stepTime(1)),
      ArrowLeft: () => (e.shiftKey ? pan(-span / 5) : this.stepTime(-1)),
      "+": () => this.store.zoom(0.5),
      "=": () => this.store.zoom(0.5),
      "-": () => this.store.zoom(2),
      "0": () => this.store.set({ window: whole }),
      Enter: () => this.source.select(this.active, state.time, true),
      " ": () => this.source.select(this.active, state.time, true),
    };
    const act = acts[e.key];
    if (!act || count === 0 || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    act();
  }

  private goto(row: number): void {
    this.active = row;
    const { height, most } = this.source;
    const top = row * height;
    if (top < this.body.scrollTop) this.body.scrollTop = top;
    if (top + height > this.body.scrollTop + most) this.body.scrollTop = top + height - most;
    this.render();
    this.say();
  }

  /** Scrolls to a selected row that cannot be seen. */
  private reveal(): void {
    const row = this.source.reveal?.() ?? -1;
    if (row < 0) return;
    const { height, most } = this.source;
    const [top, seen] = [row * height, this.body.scrollTop];
    if (top < seen || top + height > seen + most) this.body.scrollTop = top - Math.min(top, (most - height) / 2);
  }

  private stepTime(by: 1 | -1): void {
    this.store.step(this.source.moments, by);
    requestAnimationFrame(() => this.say());
  }

  /** Marks the row that keys act on. */
  private point(): void {
    for (const row of this.inner.querySelectorAll(".row.active")) row.classList.remove("active");
    const row = this.inner.querySelector(`[data-row="${this.active}"]`);
    row?.classList.add("active");
    if (row) this.element.setAttribute("aria-activedescendant", row.id);
  }

  /** Tells what stands under the cursor, to be read and to be heard. */
  private say(): void {
    const { time } = this.store.state;
    const lines = this.source.describe(this.active, time, 0);
    const box = this.inner.getBoundingClientRect();
    const scale = this.scale();
    const x = Math.min(scale.width, Math.max(0, toPixel(scale, time)));
    showTip(lines, box.left + this.measure().names + x, box.top + (this.active + 1) * this.source.height);
    speak(lines);
  }
}
