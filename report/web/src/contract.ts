// The data of a page, as data.md describes it: what `weir … --json` prints, and additions: `packed`, `aggregated`
// and `plans` for large or planned runs, `given` for where a run comes from.

/** What a step of an arbiter means: in a few words, and in a sentence. */
export interface LegendEntry {
  step: string;
  short: string;
  meaning: string;
}

export interface Arbiter {
  name: string;
  version?: string;
  params: Record<string, unknown>;
  /** Of explained runs, where the arbiter says what its steps mean. */
  legend?: LegendEntry[];
}

export interface Ends {
  from: string;
  to: string;
}

export interface Transfer {
  id: string;
  from: string;
  to: string;
  bytes: number;
  ready_s: number | null;
  start_s: number | null;
  end_s: number | null;
  end_ps: number | null;
  mean_Bps: number | null;
  sent_bytes?: number | null;
  alone_s: number | null;
  bottleneck: Ends | null;
  cause: string | null;
  route?: number[] | null;
}

export interface Link extends Ends {
  id?: number | null;
  bytes: number;
  busy_s: number;
  peak_Bps: number | null;
  bandwidth_Bps?: number | null;
  latency_s?: number | null;
  direction?: string | null;
}

export interface Phase {
  start_s: number;
  end_s: number;
  rates_Bps: Record<string, number>;
}

export interface Step {
  step: string;
  link: Ends | null;
  rate_Bps: number;
  because: string[];
}

export interface ExplainedPhase {
  start_s: number;
  end_s: number;
  transfers: { id: string; steps: Step[] }[];
}

export interface TopologyNode {
  id: number;
  name: string;
  kind: string;
  parent: number | null;
}

export interface Operation {
  id: string;
  kind: string;
  start_s: number | null;
  end_s: number | null;
  end_ps: number | null;
  estimates: { formula: string; seconds: number }[];
  details: {
    model?: { name: string; version: string } | null;
    simulated_s?: number | null;
    difference?: { formula: string; seconds: number | null; relative: number | null; because: string[] } | null;
    [key: string]: unknown;
  };
}

/** A planned operation on its engines: the `operations` of `weir explain --json`. */
export interface Plan {
  id: string;
  engines: {
    engine: string;
    busy_s: number;
    tasks: { task: string; ready_s: number | null; start_s: number | null; end_s: number | null }[];
  }[];
}

/** Phases and explanations in tables, for runs whose full form is large. */
export interface Packed {
  times_s: number[];
  rates_Bps: number[];
  reasons: [string, number[]][];
  spans: number[][];
}

/** What stands in for transfers and phases that are too many to hand over. */
export interface Aggregated {
  transfers: number;
  kept: string;
  rates: "phases" | "means";
  from_s: number;
  to_s: number;
  bins: number;
  links: { id: number; permille: number[] }[];
  by: string;
  groups: Group[];
  /** The place in `groups` of each transfer that was kept, in their order. */
  group_of?: number[] | null;
  /** How many of all transfers have ended. */
  ended?: number | null;
  /** What all transfers suffer. */
  held?: HeldSums | null;
}

/** What transfers suffer at a link, or at several: the time lost is null where it is not known. */
export interface HeldSum {
  lost_s: number | null;
  held_s: number;
  transfers: number;
}

/** Sums over all transfers of a run, each wholly at its main bottleneck; the link that costs most is first. */
export interface HeldSums {
  links: (HeldSum & Ends & { why: string[] })[];
  /** Number and sums of the links that are not listed. */
  others: number;
  rest: HeldSum;
  /** Between ready and start. */
  waiting: { seconds: number; transfers: number };
}

export interface Group {
  /** A node, or `N others` for groups that were put together. */
  name: string;
  count: number;
  /** Sent. */
  bytes: number;
  /** Null where none of its transfers has started, or ended. */
  start_s: number | null;
  end_s: number | null;
  rate_Bps: number[];
  active: number[];
  waiting?: number[];
}

export interface Run {
  weir: number;
  version: string;
  /** Added: the file that it was saved in, or what was changed of its scenario. */
  given?: string | null;
  scenario: string;
  file: string;
  arbiter: Arbiter;
  complete: boolean;
  stopped_s?: number | null;
  fingerprint: string;
  input_sha256?: string;
  makespan_s: number;
  makespan_ps: number;
  events: number;
  transfers: Transfer[];
  links: Link[];
  phases?: Phase[] | null;
  operations: Operation[];
  nodes?: TopologyNode[] | null;
  explain?: ExplainedPhase[] | null;
  plans?: Plan[] | null;
  packed?: Packed | null;
  aggregated?: Aggregated | null;
}

export interface Search {
  version?: string;
  input_sha256?: string;
  scenario: string;
  file: string;
  arbiter: Arbiter;
  vary: string;
  method: string;
  /** Absent above 2^128. */
  candidates?: number | null;
  evaluated: number;
  complete: boolean;
  proved_optimal?: boolean;
  objective: string;
  bound?: number | null;
  baseline?: number | null;
  best?: number | null;
  bound_s?: number | null;
  baseline_s?: number | null;
  best_s?: number | null;
  best_ps?: number | null;
  median_s?: number | null;
  mean_s?: number | null;
  worst_s?: number | null;
  percentiles_s?: Record<string, number> | null;
  best_count?: number | null;
  wall_s?: number | null;
  solution?: {
    order?: Record<string, string[]>;
    placement?: string[];
    parameters?: Record<string, unknown>;
  } | null;
  rows?: { candidate: number; parameters: Record<string, unknown>; makespan_s: number | null; best: boolean }[] | null;
  /** Added: makespans of all candidates, ascending and thinned to at most 1000, or counted in bins of equal width. */
  curve_s?: number[] | null;
  histogram?: { from_s: number; to_s: number; counts: number[] } | null;
  /** Added for placements: the tree that ranks are placed on, and where they were before. */
  nodes?: TopologyNode[] | null;
  links?: Link[] | null;
  baseline_placement?: string[] | null;
}

export interface TunedSize {
  bytes: number;
  packet: number | null;
  seconds: number;
  without_packets_s: number;
  gain: number;
  bandwidth_Bps: number;
  /** Added: every packet that was tried. */
  tried?: { packet: number | null; seconds: number }[] | null;
}

export interface Tuned {
  version?: string;
  input_sha256?: string;
  scenario: string;
  file: string;
  arbiter: Arbiter;
  operations: { id: string; sizes: TunedSize[] }[];
}

export interface Validated {
  version?: string;
  input_sha256?: string;
  scenario: string;
  file: string;
  arbiter: Arbiter;
  within_15_percent: number;
  mean_error: number;
  lowest_error: number;
  highest_error: number;
  transfers: {
    id: string;
    from: string;
    to: string;
    bytes: number;
    measured_s: number;
    simulated_s: number;
    error: number;
    bottleneck?: string | null;
    cause?: string | null;
  }[];
  rows_left: string[];
  not_measured: string[];
}

/** A best order at each point of a grid of parameters; points are numbered with the first axis slowest. */
export interface Sweep {
  version?: string;
  input_sha256?: string;
  scenario: string;
  file: string;
  arbiter: Arbiter;
  vary: string;
  objective: string;
  axes: { path: string; values: string[] }[];
  searches: number;
  complete: boolean;
  proved_optimal: boolean;
  wall_s?: number | null;
  /** Sums over the first axis, one for each combination of the others, in their order. */
  totals: SweepTotal[];
  /** Those that are finished; none where they are too many to hand over. */
  points?: SweepPoint[] | null;
}

export interface SweepTotal {
  parameters: Record<string, string>;
  points: number;
  complete: boolean;
  proved_optimal: boolean;
  baseline_s: number;
  best_s: number;
  gain_percent?: number | null;
}

export interface SweepPoint {
  point: number;
  baseline_s: number;
  best_s: number;
  proved_optimal: boolean;
}

export interface ReportData {
  weir: number;
  runs: Run[];
  searches: Search[];
  sweeps?: Sweep[];
  tuned: Tuned[];
  validated: Validated[];
  aggregated: { notes: string[] } | null;
}
