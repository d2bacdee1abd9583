// By what candidates of a search are compared: its name, how values are written, and those of the best and the baseline.

import type { Candidate, Search } from "../contract.ts";
import { visible } from "./dom.ts";
import * as format from "./format.ts";
import { rateLabels, timeLabels } from "./scale.ts";

export interface Objective {
  name: string;
  /** Seconds, or of a throughput bytes per second, which is the larger the better; costs of placements have no unit. */
  kind: "time" | "rate" | "cost";
  best: number | null;
  /** None where the baseline stops before its end. */
  baseline: number | null;
  text(value: number | null): string;
  labels(marks: number[]): string[];
  /** The value of a candidate. */
  of(row: Candidate): number;
}

const TIMES = ["makespan", "end", "sum", "max"];
const KINDS = {
  time: { text: format.time, labels: timeLabels },
  rate: { text: format.rate, labels: rateLabels },
  cost: { text: (v: number | null) => (v == null ? format.NONE : `${v}`), labels: (m: number[]) => m.map(String) },
};

export function objectiveOf(search: Search): Objective {
  const name = search.objective;
  const kind = TIMES.includes(name) ? "time" : name === "throughput" ? "rate" : "cost";
  const [best, baseline] = name === "makespan" ? [search.best_s, search.baseline_s] : [search.best, search.baseline];
  const of = (row: Candidate) => row.value ?? row.makespan_s;
  return { name: visible(name), kind, best: best ?? null, baseline: baseline ?? null, of, ...KINDS[kind] };
}
