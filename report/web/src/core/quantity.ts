// Values of parameters as quantities: the units of docs/scenario-format.md, section Quantities.

export interface Quantity {
  value: number;
  /** Quantities of one dimension may stand on one axis. */
  dimension: string;
}

const TIMES: Record<string, number> = { ps: 1e-12, ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1 };
const DECIMAL: Record<string, number> = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
const BINARY: Record<string, number> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

/** A number with a unit, without one, or in percent; null for any other text. */
export function quantity(text: string): Quantity | null {
  const [, digits, unit] = /^\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(\S*)\s*$/.exec(text) ?? [];
  if (digits === undefined || unit === undefined) return null;
  const size = sizeOf(unit);
  return size && { value: Number(digits) * size.value, dimension: size.dimension };
}

/** What one of a unit is. */
function sizeOf(unit: string): Quantity | null {
  if (unit === "" || unit === "%") return { value: 1, dimension: unit };
  if (TIMES[unit] !== undefined) return { value: TIMES[unit], dimension: "time" };
  const [, prefix, of, per] = /^(|[kMGT]|[KMGT]i)(B|b|bit)(|\/s|ps)$/.exec(unit) ?? [];
  const factor = prefix === undefined ? undefined : (DECIMAL[prefix] ?? BINARY[prefix]);
  if (factor === undefined) return null;
  return { value: of === "B" ? factor : factor / 8, dimension: per === "" ? "bytes" : "rate" };
}

/** The values of texts that are quantities of one dimension, not all equal; null for others. */
export function quantities(texts: string[]): number[] | null {
  const all = texts.map(quantity);
  const first = all[0];
  if (!first || all.some((one) => one?.dimension !== first.dimension)) return null;
  const values = all.map((one) => one!.value);
  return values.some((value) => value !== values[0]) ? values : null;
}
