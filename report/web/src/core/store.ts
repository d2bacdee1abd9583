// What the parts of the page share: the moment, the window of time, and what is selected.

import type { Window } from "./scale.ts";

export interface State {
  /** The moment that the topology shows, seconds. */
  time: number;
  /** The part of the time axis that is shown. */
  window: Window;
  /** Number of the selected link. */
  link: number | null;
  /** Id of the selected transfer. */
  transfer: string | null;
  /** Indices of the runs that are shown. */
  shown: number[];
  /** Whether the topology shows the mean over the whole run instead of a moment. */
  mean: boolean;
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

  set(change: Partial<State>): void {
    for (const key of Object.keys(change) as Key[]) {
      if (this.state[key] === change[key]) continue;
      Object.assign(this.state, { [key]: change[key] });
      this.changed.add(key);
    }
    if (this.changed.size === 0 || this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => this.tell());
  }

  private tell(): void {
    const changed = this.changed;
    this.changed = new Set();
    this.queued = false;
    for (const { keys, run } of this.listeners) if (keys.some((k) => changed.has(k))) run(this.state);
  }
}
