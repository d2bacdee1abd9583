// Scales from values to pixels, and where their ticks stand.

import { PICOSECOND, RATE_UNITS, TIME_UNITS, timeTo } from "./format.ts";

/** A linear map of [from, to] onto [0, width]. */
export interface Scale {
  from: number;
  to: number;
  width: number;
}

export function toPixel(s: Scale, value: number): number {
  return s.to > s.from ? ((value - s.from) / (s.to - s.from)) * s.width : 0;
}

export function toValue(s: Scale, pixel: number): number {
  return s.width > 0 ? s.from + (pixel / s.width) * (s.to - s.from) : s.from;
}

/** The step of ticks: 1, 2 or 5 times a power of ten, so that there are at most `most`. */
export function niceStep(span: number, most: number): number {
  if (!(span > 0)) return 1;
  const raw = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  for (const factor of [1, 2, 5]) if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/** Ticks inside [from, to], at most `most` + 1 of them. */
export function ticks(from: number, to: number, most: number): number[] {
  return multiples(from, to, niceStep(to - from, most), most);
}

function multiples(from: number, to: number, step: number, most: number): number[] {
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  const out: number[] = [];
  for (let i = first; i <= last && out.length <= most + 1; i++) out.push(i * step + 0);
  return out;
}

/** Powers of two inside [from, to], thinned to at most `most`. */
export function powerTicks(from: number, to: number, most: number): number[] {
  const low = Math.ceil(Math.log2(from) - 1e-9);
  const high = Math.floor(Math.log2(to) + 1e-9);
  const every = Math.max(1, Math.ceil((high - low + 1) / most));
  const out: number[] = [];
  for (let i = low; i <= high; i += every) out.push(2 ** i);
  return out;
}

/** The least and the largest of any number of values; of none, 0 and 0. */
export function extent(values: readonly number[]): [number, number] {
  let [low, high] = [values[0] ?? 0, values[0] ?? 0];
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}

/** The unit that suits the largest of some ticks. */
function unitOf(values: number[], units: [number, string][]): [number, string] {
  const largest = Math.max(extent(values.map(Math.abs))[1], 0);
  return units.find(([s]) => largest >= s * (1 - 1e-9)) ?? units[units.length - 1]!;
}

/** Labels of ticks of one axis: all in the unit that suits the largest, with the decimals that the step needs. */
function labels(values: number[], units: [number, string][], step = stepOf(values)): string[] {
  const [size, name] = unitOf(values, units);
  const digits = digitsOf(step / size);
  return values.map((v) =>
    v === 0 ? `0 ${units === TIME_UNITS ? "s" : name}` : `${(v / size).toFixed(digits)} ${name}`,
  );
}

/** The distance of ticks; of a single one its value, which then has the decimals that it needs. */
function stepOf(values: number[]): number {
  return Math.abs(values.length > 1 ? values[1]! - values[0]! : (values[0] ?? 1)) || 1;
}

/** The decimals that a step of ticks needs: 1 for 2.5, 2 for 0.25, 1 for 0.2. */
function digitsOf(step: number): number {
  const least = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  for (let digits = least; digits < least + 2; digits++) {
    const scaled = step * 10 ** digits;
    if (Math.abs(scaled - Math.round(scaled)) < 1e-3) return digits;
  }
  return least;
}

/** More decimals than this are not read: such ticks are told from a round time before them. */
const MOST_DIGITS = 4;

/** Labels of times that are `step` apart. Where they would be long, each is what is to be added to `base`, such as `+380 ns`. */
export function timeMarks(values: number[], step = stepOf(values)): { base: string | null; labels: string[] } {
  const [size] = unitOf(values, TIME_UNITS);
  if (values.length === 0 || digitsOf(step / size) <= MOST_DIGITS)
    return { base: null, labels: labels(values, TIME_UNITS, step) };
  const round = TIME_UNITS.map(([unit]) => unit).findLast((unit) => unit >= 100 * step) ?? 1;
  const base = Math.floor(values[0]! / round + 1e-9) * round;
  const after = values.map((v) => v - base);
  const added = labels(after, TIME_UNITS, step).map((text) => `+${text}`);
  return { base: timeTo(base, round), labels: added };
}

/** Pixels of a label of times with the space beside it. */
const TIME_LABEL = 110;

/** Where the ticks of an axis of times stand, and their labels. */
export interface TimeAxis {
  marks: number[];
  labels: string[];
  base: string | null;
}

/** The ticks of times in a width of pixels: no more than have room, and none between two picoseconds. */
export function timeAxis({ from, to, width }: Scale): TimeAxis {
  const most = Math.max(2, Math.floor(width / TIME_LABEL));
  const step = Math.max(PICOSECOND, niceStep(to - from, most));
  const marks = multiples(from, to, step, most);
  return { marks, ...timeMarks(marks, step) };
}

export function timeLabels(values: number[]): string[] {
  return timeMarks(values).labels;
}

export function rateLabels(values: number[]): string[] {
  return labels(values, RATE_UNITS);
}

/** The window of time that is shown; zooming keeps `at` in its place and stays inside [low, high]. */
export interface Window {
  from: number;
  to: number;
}

/** The shortest window: a picosecond, in which weir counts, or what doubles tell apart at the end of a long axis. */
export function shortest(whole: Window): number {
  return Math.min(whole.to - whole.from, Math.max(PICOSECOND, whole.to * 2 ** -46));
}

/** `by` above 1 shows more time. */
export function zoomed(w: Window, whole: Window, at: number, by: number): Window {
  const span = Math.min(whole.to - whole.from, Math.max(shortest(whole), (w.to - w.from) * by));
  const part = w.to > w.from ? (at - w.from) / (w.to - w.from) : 0.5;
  return inside({ from: at - part * span, to: at + (1 - part) * span }, whole);
}

/** Zooms about a moment that is shown, otherwise about the middle. */
export function zoomedAbout(w: Window, whole: Window, moment: number, by: number): Window {
  return zoomed(w, whole, moment >= w.from && moment <= w.to ? moment : (w.from + w.to) / 2, by);
}

/** A window that is not too short to be drawn. */
export function allowed(w: Window, whole: Window): Window {
  return w.to - w.from >= shortest(whole) ? w : zoomed(w, whole, (w.from + w.to) / 2, 1);
}

/** The same window where it has the moment in it; otherwise one of the same length with the moment in the middle. */
export function showing(w: Window, whole: Window, moment: number): Window {
  return moment >= w.from && moment <= w.to ? w : panned(w, whole, moment - (w.from + w.to) / 2);
}

export function panned(w: Window, whole: Window, by: number): Window {
  return inside({ from: w.from + by, to: w.to + by }, whole);
}

function inside(w: Window, whole: Window): Window {
  const span = Math.min(w.to - w.from, whole.to - whole.from);
  const from = Math.min(Math.max(w.from, whole.from), whole.to - span);
  return { from, to: from + span };
}

/** Index of the last of the ascending `values` that is at most `value`; -1 before the first. */
export function lastAtMost(values: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (values[mid]! <= value) low = mid + 1;
    else high = mid;
  }
  return low - 1;
}
