// Colours that are told apart by colour-blind readers and in grey.

/** Colours of Okabe and Ito (2008), without black, and without yellow, which is lost on paper. */
export const CATEGORIES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];

/** Dashes beside the colours, for print in grey. */
export const DASHES: number[][] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2], [12, 4, 2, 4, 2, 4], [3, 6]];

// Cividis (Nuñez, Anderton, Renslow 2018) at nine even places: blue to yellow, lightness rises evenly.
const CIVIDIS: [number, number, number][] = [
  [0, 34, 78],
  [26, 56, 111],
  [65, 77, 107],
  [95, 98, 110],
  [124, 123, 120],
  [155, 148, 119],
  [188, 175, 111],
  [222, 203, 95],
  [254, 232, 56],
];

/** The colour of a part of one: light is much in the dark, dark is much on paper. */
export function heat(part: number, dark: boolean): string {
  const p = Math.min(1, Math.max(0, part));
  const at = (dark ? p : 1 - p) * (CIVIDIS.length - 1);
  const low = Math.min(CIVIDIS.length - 2, Math.floor(at));
  const [a, b] = [CIVIDIS[low]!, CIVIDIS[low + 1]!];
  const mix = a.map((v, i) => Math.round(v + (b[i]! - v) * (at - low)));
  return `rgb(${mix.join(",")})`;
}

/** The step of `levels` that a part of one falls into; 0 only for nothing at all. */
export function level(part: number, levels: number): number {
  return part <= 0 ? 0 : Math.max(1, Math.min(levels, Math.ceil(part * levels - 1e-9)));
}
