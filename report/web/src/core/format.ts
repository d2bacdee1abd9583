// Numbers with units, in the form that the terminal prints them.

/** How absent values are shown. */
export const NONE = "–";

/** What a run without transfers says of itself. */
export const NO_TRANSFERS = "No transfers in this run.";

/** The step of weir's clock, seconds: no time is told more finely, and whole ones have no decimals. */
export const PICOSECOND = 1e-12;

export const TIME_UNITS: [number, string][] = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
  [PICOSECOND, "ps"],
];
export const RATE_UNITS: [number, string][] = [
  [1e12, "TB/s"],
  [1e9, "GB/s"],
  [1e6, "MB/s"],
  [1e3, "kB/s"],
  [1, "B/s"],
];
const SIZE_UNITS: [number, string][] = [
  [1e12, "TB"],
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
  [1, "B"],
];
const BINARY_UNITS: [number, string][] = [
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
  [1, "B"],
];

/** The largest unit of which `value` is at least one, after rounding to `digits`. */
function unitFor(value: number, units: [number, string][], digits: number): [number, string] {
  const size = Math.abs(value);
  const half = 0.5 * 10 ** -digits;
  for (const unit of units) if (size / unit[0] >= 1 - half) return unit;
  return units[units.length - 1]!;
}

function inUnits(value: number, units: [number, string][], digits: number): string {
  if (value === 0) return `0 ${units === TIME_UNITS ? "s" : units[units.length - 1]![1]}`;
  const [size, name] = unitFor(value, units, digits);
  const whole = size === PICOSECOND && Math.abs(value / size - Math.round(value / size)) < 0.5 * 10 ** -digits;
  return `${(value / size).toFixed(whole ? 0 : digits)} ${name}`;
}

/** Seconds, such as `66.502 ms`. */
export function time(seconds: number | null | undefined): string {
  return seconds == null ? NONE : inUnits(seconds, TIME_UNITS, 3);
}

/** Seconds with the decimals that tell times apart that are `resolution` from each other: from three on, to the picosecond. */
export function timeTo(seconds: number | null | undefined, resolution: number): string {
  if (seconds == null || !(resolution > 0)) return time(seconds);
  const [size] = unitFor(seconds, TIME_UNITS, 3);
  const needed = Math.ceil(Math.log10(size / Math.max(PICOSECOND, resolution)) - 1e-9);
  return inUnits(seconds, TIME_UNITS, Math.max(3, needed));
}

/** A moment among others of which `span` seconds are shown: where little time is shown, it has more decimals. */
export function moment(seconds: number, span: number): string {
  return timeTo(seconds, span / 1000);
}

/** Two times, such as `21.019 ms to 45.484 ms`, or `25.4523801 ms + 12 ns` where these would read the same. */
export function range(from: number, to: number): string {
  if (to - from >= 0.01 * unitFor(to, TIME_UNITS, 3)[0]) return `${time(from)} to ${time(to)}`;
  return `${timeTo(from, (to - from) / 100)} + ${trimmed(to - from, TIME_UNITS)}`;
}

/** A difference of times with its sign, such as `+1.200 ms`. */
export function timeChange(seconds: number): string {
  if (seconds === 0) return "± 0 s";
  return `${seconds > 0 ? "+" : "−"}${time(Math.abs(seconds))}`;
}

/** Bytes per second, such as `11.600 GB/s`. */
export function rate(bytesPerSecond: number | null | undefined): string {
  return bytesPerSecond == null ? NONE : inUnits(bytesPerSecond, RATE_UNITS, 3);
}

/** Bytes in powers of ten, such as `300 MB` or `8.389 MB`. */
export function bytes(count: number | null | undefined): string {
  return count == null ? NONE : trimmed(count, SIZE_UNITS);
}

/** Bytes in powers of two where they come out even, such as `2 MiB`; otherwise in powers of ten. */
export function packet(count: number): string {
  const [size] = unitFor(count, BINARY_UNITS, 3);
  return size > 1 && count % size === 0 ? trimmed(count, BINARY_UNITS) : bytes(count);
}

function trimmed(count: number, units: [number, string][]): string {
  const text = inUnits(count, units, 3);
  return text.replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");
}

/** A part of one, such as `77.8 %`. */
export function percent(part: number | null | undefined): string {
  return part == null || !Number.isFinite(part) ? NONE : `${(part * 100).toFixed(1)} %`;
}

/** What a gain of baseline / best − 1 is: `26.6 % less time, 36.2 % faster`, or more time and slower. */
export function gain(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return NONE;
  if (percent(value) === percent(0) || percent(value) === percent(-0)) return percent(0);
  const less = 1 - 1 / (1 + value);
  if (value > 0) return `${percent(less)} less time, ${percent(value)} faster`;
  return `${percent(-less)} more time, ${percent(-value)} slower`;
}

/** A ratio, such as `1.333×`. */
export function ratio(value: number | null | undefined): string {
  return value == null || !Number.isFinite(value) ? NONE : `${value.toFixed(3)}×`;
}

/** A count with thin spaces between thousands. */
export function count(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** `n thing` or `n things`. */
export function counted(value: number, thing: string): string {
  return `${count(value)} ${thing}${value === 1 ? "" : "s"}`;
}

/** Picoseconds that were exact, or null where a double cannot hold them. */
export function exactPs(ps: number | null | undefined): string | null {
  return ps == null || !Number.isSafeInteger(ps) ? null : `${ps} ps`;
}

/** An arbiter with the parameters given, such as `name (key value)`. */
export function arbiter(a: { name: string; params: Record<string, unknown> }): string {
  const params = Object.entries(a.params ?? {}).map(
    ([k, v]) => `${k} ${typeof v === "object" ? JSON.stringify(v) : v}`,
  );
  // The name of a policy for each kind of link is the map, which says all parameters.
  return params.length && !a.name.startsWith("{") ? `${a.name} (${params.join(", ")})` : a.name;
}

/** A directed link by its ends. */
export function link(ends: { from: string; to: string } | null | undefined): string {
  return ends ? `${ends.from} → ${ends.to}` : NONE;
}
