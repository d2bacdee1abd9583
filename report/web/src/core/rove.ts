// Many buttons as one stop of Tab: the arrow keys go from one to the next.

const KEYS: Record<string, (at: number, count: number) => number> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** Makes the buttons inside that `selector` names one stop of Tab. */
export function rove<T extends HTMLElement>(inside: T, selector: string): T {
  const all = [...inside.querySelectorAll<HTMLElement>(selector)];
  all.forEach((button, i) => (button.tabIndex = i === 0 ? 0 : -1));
  inside.addEventListener("keydown", (e) => {
    const at = all.indexOf(e.target as HTMLElement);
    const to = KEYS[e.key]?.(at, all.length);
    if (at < 0 || to === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    const next = all[Math.max(0, Math.min(all.length - 1, to))]!;
    all[at]!.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  return inside;
}
