// What the parts of the page share: the moment, the window of time, and what is selected.

import * as format from "./format.ts";
import { type Window, allowed, showing, zoomedAbout } from "./scale.ts";

export interface State {
  /** The moment that the topology shows, seconds. */
  time: number;
  /** The part of the time axis that is shown. */
  window: Window;
  /** Number of the selected link. */
  link: number | null;
  /** Id of the selected transfer. */
  transfer: string | null;
  /** The selected group of an aggregated run. */
  group: { run: number; name: string } | null;
  /** Indices of the runs that are shown. */
  visible: number[];
  /** Whether the topology shows the mean over the whole run instead of a moment. */
  mean: boolean;
  /** Whether the topology shows how full buffers are instead of what links carry. */
  fill: boolean;
}

export type Key = keyof State;
type Listener = (state: Readonly<State>) => void;

export class Store {
  private listeners: { keys: Key[]; run: Listener }[] = [];
  private changed = new Set<Key>();
  private queued = false;

  constructor(
    public readonly state: State,
    public readonly whole: Window,
  ) {}

  /** Calls `run` when one of `keys` has changed: at most once per frame. */
  on(keys: Key[], run: Listener): void {
    this.listeners.push({ keys, run });
  }

  /** Sets what is given. Of link, transfer and group one is selected: each replaces the others. */
  set(state: Partial<State>): void {
    const change = { ...state };
    const selects = (["link", "transfer", "group"] as const).filter((k) => change[k] != null);
    if (selects.length > 0) Object.assign(change, { link: null, transfer: null, group: null }, state);
    if (change.window) change.window = allowed(change.window, this.whole);
    for (const key of Object.keys(change) as Key[]) {
      if (this.state[key] === change[key]) continue;
      Object.assign(this.state, { [key]: change[key] });
      this.changed.add(key);
    }
    if (this.changed.size === 0 || this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => this.tell());
  }

  /** Shows another moment, and moves the window where it would lie outside. */
  goto(time: number): void {
    this.set({ time, window: showing(this.state.window, this.whole, time) });
  }

  /** Goes to the next or to the last of ascending `moments`. */
  step(moments: number[], by: 1 | -1): void {
    const { time } = this.state;
    const next = by > 0 ? moments.find((m) => m > time) : moments.findLast((m) => m < time);
    if (next !== undefined) this.goto(next);
  }

  /** Above 1: shows more time. The moment keeps its place where it is shown. */
  zoom(by: number): void {
    const { window, time } = this.state;
    this.set({ window: zoomedAbout(window, this.whole, time, by) });
  }

  /** A moment in words, with decimals for the time that is shown. */
  moment(time: number): string {
    return format.moment(time, this.state.window.to - this.state.window.from);
  }

  private tell(): void {
    const changed = this.changed;
    this.changed = new Set();
    this.queued = false;
    for (const { keys, run } of this.listeners) if (keys.some((k) => changed.has(k))) run(this.state);
  }
}
