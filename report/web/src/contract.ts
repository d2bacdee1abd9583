// The data of a page. Made by `npm run contract` from the types in Rust that write them: do not edit.

/** The result of one run: one scenario under one arbiter. */
export interface RunResult {
  /** Version of the format of results. */
  weir: number;
  /** Always `run`. */
  kind: RunKind;
  /** Version of weir that wrote it. */
  version: string;
  /** The `name` of the scenario. */
  scenario: string;
  /** Its file as given, `-` for standard input. */
  file: string;
  /** SHA-256 over the scenario file and every file it names, in order of reading. */
  input_sha256: string;
  /** The policy that divided the bandwidth. */
  arbiter: Arbiter;
  /** `packet` where transfers went packet by packet; absent where bandwidth was divided by rates. */
  fidelity?: PacketFidelity | null;
  /** Whether every task ended; false after an interrupt or `--until`. */
  complete: boolean;
  /** Only when not complete: the simulated time reached. */
  stopped_s?: number | null;
  /** The simulated time reached in picoseconds, exact. */
  stopped_ps?: number | null;
  /** What the arbiter said of its answers, such as rates that did not come to rest, and other notes: a sentence each; absent if nothing. */
  remarks?: string[] | null;
  /** The directed links that changed by `events`; absent if none did. */
  link_changes?: LinkChange[] | null;
  /** 64-bit digest of (time, kind, ids, bytes) of all events, 16 hexadecimal digits. */
  fingerprint: string;
  /** Latest end of any task, of those that ended. */
  makespan_s: number;
  /** The same in picoseconds, exact. */
  makespan_ps: number;
  /** Only where it was asked for: how far ends move when every transfer starts a little later. */
  spread?: Spread | null;
  /** Starts and ends of transfers and tasks. */
  events: number;
  /** Links that packets crossed, each packet counted on each link, skipped ones included. */
  hops?: number | null;
  /** Those of them that were not simulated, because they repeat what was. */
  skipped_hops?: number | null;
  /** Most packets in buffers of switches, or on their way there, at one time. */
  peak_packets?: number | null;
  /** The random generator behind the workload. */
  generator?: string | null;
  /** Full results of packets: width of the bins of `fill_bytes` and `load_Bps` of links, seconds. The first begins at 0, the last one ends with the run. */
  fill_bin_s?: number | null;
  /** Only where transfers were streamed: `transfers` is empty then. */
  streamed?: Streamed | null;
  /** All transfers in expansion order. */
  transfers: Transfer[];
  /** Directed links that carried bytes, in link order; in a full result all links. */
  links: Link[];
  /** Maximal intervals in which no rate changes. */
  phases?: Phase[] | null;
  /** Operations that models planned, computations and barriers, in expansion order. */
  operations: Operation[];
  /** Items of the workload that are many tasks and no operations of models, where there are other items. */
  jobs?: Job[] | null;
  /** For 100 transfers or more; not after an interrupt. */
  percentiles?: Percentiles | null;
  /** Full results: all nodes. */
  nodes?: TopologyNode[] | null;
  /** Full results: per phase and transfer the arbiter's steps. */
  explain?: ExplainedPhase[] | null;
}

/** What the page's writer adds to a run. */
export interface RunAdditions {
  /** The file that it was saved in, or what was changed of its scenario. */
  origin?: string | null;
  /** The link that would save most if it were wider, where that is known. */
  widening?: Widening | null;
  /** The planned operations on their engines: the `operations` of `weir explain --json`. */
  plans?: Plan[] | null;
  packed?: Packed | null;
  aggregated?: Aggregated | null;
}

/** A line of `weir optimize --json` or `weir merge --json`. What a method does not know is absent. */
export interface Search {
  /** Version of the format of results. */
  weir: 1;
  /** The kind of result: `search`. */
  kind: "search";
  /** Version of weir that wrote it. */
  version: string;
  /** The `name` of the scenario. */
  scenario: string;
  /** The name of its file, without folders. */
  file: string;
  /** SHA-256 over the scenario file and every file it names, in order of reading. */
  input_sha256: string;
  /** The policy that divided the bandwidth. */
  arbiter: Arbiter2;
  /** What the candidates differ in. */
  vary: "order" | "placement" | "parameters" | ("order" | "placement" | "parameters")[];
  /** The method that found the result, also where `auto` chose it. */
  method: "exhaustive" | "branch-and-bound" | "anneal" | "bisection" | "local-search";
  /** Number of candidates, with all its digits; absent above 2^128. */
  candidates?: number | null;
  /** Candidates whose exact value is known, by simulation or by a proven symmetry. */
  evaluated: number;
  /** Candidates that stop before their end, of a search that simulates each; absent where there are none. */
  stopped?: StoppedCandidates | null;
  /** Why the baseline stops before its end; only where it does, and then it has no makespan. */
  baseline_stopped?: string | null;
  /** Whether the search came to its end; false after an interrupt or a budget. */
  complete: boolean;
  /** Whether no candidate is better by more than 1e-9, with --exact by a picosecond. */
  proved_optimal: boolean;
  /** The quantity that is minimised. */
  objective: "makespan" | "distance" | "latency" | "bandwidth" | "end" | "sum" | "max" | "throughput";
  /** No candidate is better. Of another objective than the makespan: of end, sum and max seconds, of a throughput bytes per second. */
  bound?: number | null;
  /** No candidate is below it. Seconds. */
  bound_s?: number | null;
  /** What sets the bound, where all candidates are simulated: a link, an engine, the critical path. */
  bound_by?: string | null;
  /** Why there is no bound, where the search was to have one. */
  no_bound?: string | null;
  /** The scenario without changes. Of another objective than the makespan, as `bound`. */
  baseline?: number | null;
  /** The best found. Of another objective than the makespan, as `bound`. */
  best?: number | null;
  /** The scenario without changes. Seconds. */
  baseline_s?: number | null;
  /** The scenario without changes. Picoseconds, exact. */
  baseline_ps?: number | null;
  /** The best found. Seconds. */
  best_s?: number | null;
  /** The best found. Picoseconds, exact. */
  best_ps?: number | null;
  /** Mean of the middle two of all candidates. Of another objective than the makespan. */
  median?: number | null;
  /** Mean of the middle two of all candidates. Seconds. */
  median_s?: number | null;
  /** Exact sum divided by the count. Of another objective than the makespan. */
  mean?: number | null;
  /** Exact sum divided by the count. Seconds. */
  mean_s?: number | null;
  /** The worst of all candidates. Of another objective than the makespan. */
  worst?: number | null;
  /** The worst of all candidates. Seconds. */
  worst_s?: number | null;
  /** The worst of all candidates. Picoseconds, exact. */
  worst_ps?: number | null;
  /** sorted[count · p / 100], of another objective than the makespan. */
  percentiles?: { 1: number; 5: number; 25: number; 75: number; 95: number; 99: number; } | null;
  /** sorted[count · p / 100], seconds. */
  percentiles_s?: { 1: number; 5: number; 25: number; 75: number; 95: number; 99: number; } | null;
  /** Candidates within 1e-9 of the best. */
  best_count?: number | null;
  /** Seconds the search took; absent with --no-timing and of merged parts. */
  wall_s?: number | null;
  /** Of a placement: runs after which the time of the search is paid back. */
  payback_exchanges?: number | null;
  /** The best candidate, in the names of the scenario. */
  solution: Solution;
  /** Of parameters: each candidate that was evaluated, by number. */
  rows?: Candidate[] | null;
  /** With `--full`: the makespans of all candidates, ascending; of n > 1000 those at floor(i (n − 1) / 999). */
  curve_s?: number[] | null;
  /** With `--full`: how many makespans lie in each of several bins of equal width. */
  histogram?: Histogram | null;
  /** With `--full`, of a placement: the topology, as in a full result of a run. */
  nodes?: TopologyNode[] | null;
  /** With `--full`, of a placement: its links, as in a full result of a run. */
  links?: Link[] | null;
  /** With `--full`, of a placement: the device of each rank as the scenario is. */
  baseline_placement?: string[] | null;
}

/** A line of `weir optimize --json` of a sweep, with points of type `P`. */
export interface SweepResult {
  weir: number;
  kind: ResultKind;
  version: string;
  scenario: string;
  file: string;
  input_sha256: string;
  arbiter: Arbiter2;
  vary: string;
  objective: string;
  axes: Axis[];
  searches: number;
  complete: boolean;
  proved_optimal: boolean;
  wall_s?: number | null;
  /** Sums over the first axis, one for each combination of the others, in their order. */
  totals: SweepTotal[];
  /** Those that are finished; numbered with the first axis slowest. */
  points: SweepPointJson[];
}

/** A point as it is kept: the order that was found is left out. */
export interface SweepPoint {
  point: number;
  baseline_s: number;
  best_s: number;
  proved_optimal: boolean;
}

/** The result of tuning: one scenario. */
export interface Tuned {
  weir: number;
  kind: ResultKind;
  version: string;
  /** The `name` of the scenario. */
  scenario: string;
  /** The file of the scenario, as the command line has it. */
  file: string;
  /** SHA-256 of everything read for it. */
  input_sha256: string;
  /** The arbiter under which the ways were tried. */
  arbiter: Arbiter3;
  /** Whether the rest of the scenario ran beside each put; else each was simulated alone. */
  under_load?: boolean | null;
  /** Each `put` that was tuned, with its best packets. */
  operations: TunedOperation[];
}

/** The result of a validation: one scenario under one arbiter. */
export interface Validated {
  /** Version of the format of results. */
  weir: number;
  /** Always [`ResultKind::Validation`]. */
  kind: string;
  /** The `name` of the scenario. */
  scenario: string;
  /** The file of the scenario, as the command line has it. */
  file: string;
  /** The policy of the simulated times. */
  arbiter: Arbiter3;
  /** Part of the pairs whose error is at most 15 %. */
  within_15_percent: number | null;
  /** Mean of the sizes of errors. */
  mean_error: number | null;
  /** The least of all `error`s, with its sign. */
  lowest_error: number | null;
  /** The greatest of all `error`s, with its sign. */
  highest_error: number | null;
  /** What was measured and simulated. */
  transfers: ValidatedTransfer[];
  /** Places of rows that are of no transfer. */
  rows_left: string[];
  /** Places of rows whose transfer has had one. */
  rows_again: string[];
  /** Ids of what was not measured. */
  not_measured: string[];
  /** Measured times that no arbiter explains in this topology. */
  not_explained?: NotExplained[] | null;
  /** With `--histogram`: how the errors are spread. */
  histogram?: ErrorHistogram | null;
}

/** What changes of a scenario would save under one arbiter. */
export interface WhatIf {
  weir: number;
  kind: string;
  version: string;
  /** The `name` of the scenario. */
  scenario: string;
  /** The file of the scenario, as the command line has it. */
  file: string;
  /** SHA-256 of everything read for it. */
  input_sha256: string;
  /** The arbiter of all runs. */
  arbiter: Arbiter3;
  /** Whether all changes were tried. */
  complete: boolean;
  /** When everything has ended without a change, seconds. */
  makespan_s: number;
  /** The same in picoseconds, exact. */
  makespan_ps: number;
  /** The changes, the best first. */
  changes: WhatIfChange[];
  /** With every link and memory without limit; none where there are none, or where it was not run. */
  bound: WhatIfBound | null;
  /** Names of what carries no bytes, or what nothing uses. */
  unused: string[];
  /** What could not be tried, and why. */
  left_out: LeftOut[];
}

/** The one kind of this result, for its schema. */
export type RunKind = "run";

/** The policy of a run. */
export interface Arbiter {
  /** The name by which `arbiter:` and `--arbiter` choose it. */
  name: string;
  /** Version that the policy states of itself. */
  version: string;
  /** Its parameters as the scenario gives them. */
  params: Record<string, unknown>;
  /** SHA-256 of the library it was loaded from; absent for built-in policies. */
  sha256?: string | null;
  /** Of explained runs: what the steps mean, in the order in which they are taken; absent where the policy does not say. */
  legend?: LegendEntry[] | null;
  /** The parts of the fabric that have a policy each; absent where one policy has the whole fabric. */
  regions?: Region[] | null;
  /** Of runs of packets: the port arbiters that come from libraries; absent where there is none. */
  port_arbiters?: PortArbiter[] | null;
}

/** What a step of the arbiter means. */
export interface LegendEntry {
  /** The name that `explain` gives the step. */
  step: string;
  /** In a few words that can stand for the name. */
  short: string;
  /** What the policy does in this step, as a sentence. */
  meaning: string;
}

/** A connected part of the fabric that has a policy of its own. */
export interface Region {
  /** Its name: the key, with the topmost node where several regions have that key. */
  name: string;
  /** The link kind that its policy is given for, or `default`. */
  key: string;
  /** The policy that divides its bandwidth. */
  policy: string;
  /** Version that a policy from a library states of itself; absent for built-in ones. */
  version?: string | null;
  /** SHA-256 of the library that its policy was loaded from; absent for built-in ones. */
  sha256?: string | null;
  /** Number of its directed links. */
  links: number;
  /** The node of the region that is nearest to the root. */
  top: string;
}

/** A port arbiter of a library. */
export interface PortArbiter {
  /** The name by which `port_arbiter` chooses it. */
  name: string;
  /** Version that the policy states of itself. */
  version: string;
  /** SHA-256 of its library. */
  sha256: string;
}

/** That transfers went packet by packet. */
export type PacketFidelity = "packet";

/** A directed link that changed. */
export interface LinkChange {
  /** The link. */
  link: Ends;
  /** How often what it carries changed. */
  changes: number;
  /** For how long it was down, seconds. */
  down_s: number;
  /** Full results: what it carries from when on, of the first 20,000 changes of all links. */
  steps?: LinkStep[] | null;
}

/** The two nodes of a directed link. */
export interface Ends {
  /** The node it leaves. */
  from: string;
  /** The node it enters. */
  to: string;
}

/** What a link carries from a moment on. */
export interface LinkStep {
  /** From when on. */
  at_s: number;
  /** The same in picoseconds, exact. */
  at_ps: number;
  /** Bytes per second; 0 where it is down. */
  bandwidth_Bps: number;
}

/** Further runs in which every transfer starts later by a random time: how far the makespan moves. */
export interface Spread {
  /** A transfer starts later by less than this, seconds. */
  jitter_s: number;
  /** Number of runs. */
  seeds: number;
  /** Their makespans, seconds. */
  makespan_s: EndSpread;
}

/** The end of one thing in several runs, seconds. */
export interface EndSpread {
  /** The earliest. */
  min: number;
  /** The one in the middle, or the mean of the two there. */
  median: number;
  /** The latest. */
  max: number;
}

/** How many transfers were streamed. */
export interface Streamed {
  /** Number of transfers in the scenario. */
  transfers: number;
  /** Number of transfers that have ended. */
  ended: number;
}

/** A transfer of the workload: when it was ready, started and ended, and what delayed it. */
export interface Transfer {
  /** The id of the operation in the scenario, with what its expansion adds. */
  id: string;
  /** The node that sends. */
  from: string;
  /** The node that receives. */
  to: string;
  /** Payload, bytes. */
  bytes: number;
  /** All it waited for had ended; null if that did not happen. */
  ready_s: number | null;
  /** Its source's engine took it; null if that did not happen. */
  start_s: number | null;
  /** Its last byte arrived; null if that did not happen. */
  end_s: number | null;
  /** The same in picoseconds, exact. */
  end_ps: number | null;
  /** Where `spread` is given: its end in those runs. */
  end_spread_s?: EndSpread | null;
  /** Where `spread` is given: the longest less the shortest time from ready to end in those runs, seconds. */
  time_spread_s?: number | null;
  /** Bytes over the time from its start to its last byte sent, in runs of packets to its end; of an unfinished transfer, so far. */
  mean_Bps: number | null;
  /** Only of an unfinished transfer: whole bytes sent so far. */
  sent_bytes?: number | null;
  /** Runs of packets: its packets where it starts. */
  packets?: number | null;
  /** Runs of packets: its last byte left its source; null if that did not happen. */
  sent_s?: number | null;
  /** Runs of packets: how long its source had a packet ready that did not start, by what held it, longest first. */
  held?: Held[] | null;
  /** Ready to end of the same transfer alone under the same arbiter, with the time to issue it; null where the arbiter has no steady answer, and after an interrupt. */
  alone_s: number | null;
  /** By how much longer it took than alone, in parts; null where its time alone is not known, or it has not ended. */
  delay?: Delay | null;
  /** The link that held it back for the largest part of its time. */
  bottleneck: Ends | null;
  /** Why it was held back there, in words. */
  cause: string | null;
  /** The same for programs; absent where `cause` is null. */
  cause_detail?: Cause | null;
  /** Full results: the ids of its links in order of travel. */
  route?: number[] | null;
  /** Full results, of a transfer that takes several routes at once: the part of its bytes that each link of `route` carries. */
  shares?: number[] | null;
  /** With `on_failure: reroute`, the other routes that it took, by time; absent if none. */
  reroutes?: Reroute[] | null;
}

/** What held packets of a transfer back at its source. */
export interface Held {
  /** `arbitration`, `dllp`, `head-of-line`, `credit`, `window`, `tags`, `limit` or `link-down`. */
  cause: string;
  /** The link where, for a window or a limit the first of its route; null where it is not known. */
  link: Ends | null;
  /** The transfer responsible; null where it is its own. */
  by: string | null;
  /** How long, seconds. */
  time_s: number;
}

/** By how much longer a transfer took, from ready to end, than alone and without its `limit`. The parts add up to that difference, but for the rounding of numbers. What a model lets pass before the first byte, such as the overhead of a LogGP message, belongs to the time alone. */
export interface Delay {
  /** It waited for its engine, seconds. */
  waiting_s: number;
  /** It was under way and the arbiter gave it nothing, seconds; null where a very large run does not tell it apart from `cut_s`, which has it then. */
  blocked_s: number | null;
  /** The arbiter gave it less than alone, seconds; below 0 where that was more. */
  cut_s: number;
  /** Its `limit` was below what it would have had alone, seconds. */
  own_limit_s: number;
}

/** The parts of which the words of `cause` are made. */
export interface Cause {
  /** What it is. */
  kind: CauseKind;
  /** The link at which it kept the transfer back; null where none is known. */
  link: Ends | null;
  /** The id of the transfer responsible; null where none is named. */
  by: string | null;
  /** The engine that it was queued for, `gpu0/send`; only of `engine-busy`. */
  engine?: string | null;
  /** What kept its rate down at its `bottleneck` after its start; only of `engine-busy`. */
  at_bottleneck?: CauseKind | null;
  /** The node whose links have one bandwidth together; only of `shared-bandwidth`, where that is no single link's. */
  node?: string | null;
  /** The region of the link, where parts of the fabric have policies of their own. */
  region?: string | null;
  /** The policy of that region. */
  policy?: string | null;
}

/** What kept a transfer at its rate. */
export type CauseKind = "most-loaded-link" | "full-rate" | "own-limit" | "shared-link" | "shared-bandwidth" | "upstream-port" | "downstream-port" | "lateral-link" | "root-complex-shared" | "root-complex" | "head-of-line" | "earlier-transfer" | "higher-priority" | "credit" | "window" | "tags" | "dllp" | "link-down" | "no-other-route" | "link-reduced" | "engine-busy";

/** Another route that a transfer took, as a link was down. */
export interface Reroute {
  /** From when on. */
  at_s: number;
  /** The same in picoseconds, exact. */
  at_ps: number;
  /** A link of the route before that was down then. */
  down: Ends;
  /** Whole bytes that it had sent before, in all. */
  sent_bytes: number;
  /** Its links, in order of travel; of several routes at once each link once. */
  links: Ends[];
  /** Full results: the ids of these links. */
  route?: number[] | null;
  /** Full results, of several routes at once: the part of its bytes that each link carries. */
  shares?: number[] | null;
}

/** One direction between two nodes, with what crossed it. */
export interface Link {
  /** Full results: the number by which routes name it, from 0. */
  id?: number | null;
  /** The node it leaves. */
  from: string;
  /** The node it enters. */
  to: string;
  /** Payload bytes that crossed it. */
  bytes: number;
  /** Time with a rate above 0. */
  busy_s: number;
  /** Runs of packets: those that crossed it. */
  packets?: number | null;
  /** Runs of packets: bytes that crossed it, headers included. */
  wire_bytes?: number | null;
  /** Runs of packets: most bytes in the buffer at its far end, those on their way to it included. */
  deepest_bytes?: number | null;
  /** Runs of packets: time in which it was free and nobody who asked for it had credit, seconds. */
  no_credit_s?: number | null;
  /** Runs of packets: mean time that a packet waited for it, seconds. */
  mean_wait_s?: number | null;
  /** Runs of packets: DLLPs that crossed it, which `packets` and `wire_bytes` do not count; absent if none. */
  dllps?: number | null;
  /** Full results of packets: bytes of the buffer at its far end, all channels together; absent for one that is never full. */
  buffer_bytes?: number | null;
  /** Full results of packets: in each bin of `fill_bin_s` the mean of the bytes in that buffer, those on their way to it included; absent where it was always empty. */
  fill_bytes?: number[] | null;
  /** Full results of packets: in each bin of `fill_bin_s` the payload that it carried, bytes per second; absent where it carried none. */
  load_Bps?: number[] | null;
  /** Largest sum of rates; null where it is not known (very large runs). */
  peak_Bps: number | null;
  /** Full results: bandwidth, bytes per second. */
  bandwidth_Bps?: number | null;
  /** Full results: latency, seconds. */
  latency_s?: number | null;
  /** Full results: `up`, `down` or `lateral`. */
  direction?: string | null;
  /** Full results: the name of its region; absent where one policy has the whole fabric. */
  region?: string | null;
}

/** A maximal interval in which no rate changes. */
export interface Phase {
  /** When it begins, seconds of simulated time. */
  start_s: number;
  /** When it ends, seconds of simulated time. */
  end_s: number;
  /** The rate of every active transfer by id, rate 0 included. */
  rates_Bps: Record<string, number>;
}

/** An operation of the workload that is not a plain transfer. */
export interface Operation {
  /** Its id. Its transfers over the fabric stand under `transfers` as `<id>/<task>`. */
  id: string;
  /** `compute`, `barrier`, or the key under which an operation of a model stands. */
  kind: string;
  /** Its release: all it waited for had ended; null if that did not happen. */
  start_s: number | null;
  /** Its end, of a planned operation that of its last task; null if that did not happen. */
  end_s: number | null;
  /** The same in picoseconds, exact. */
  end_ps: number | null;
  /** Where `spread` is given, of an operation that a model planned: its end in those runs. */
  end_spread_s?: EndSpread | null;
  /** Where `spread` is given: the longest less the shortest time from release to end in those runs, seconds. */
  time_spread_s?: number | null;
  /** The same operation by closed forms; the last one is that of the operation itself. */
  estimates: Estimate[];
  /** What is known beside; of an operation that a model planned also what its model adds. */
  details: Details;
}

/** The time of an operation by a closed form. */
export interface Estimate {
  /** The formula, as the model names it. */
  formula: string;
  /** The time that it gives, seconds. */
  seconds: number;
}

/** What the host adds to the details of an operation that a model planned; computations and barriers have none, and models add keys of their own. */
export interface Details {
  /** The model that planned it. */
  model?: Model | null;
  /** From its release to its end; null if it has not ended. */
  simulated_s?: number | null;
  /** The same when nothing else of the workload runs, seconds; absent where nothing else is there, or that is not known. */
  alone_s?: number | null;
  /** The simulated time over `alone_s`. */
  slowdown?: number | null;
  /** The simulated time against the last estimate. */
  difference?: Difference | null;
  /** What the scenario left open, and how it was decided. */
  choice?: Choice | null;
  /** Bytes that the model counts (its `moved`) over the simulated time, B/s by name. */
  bandwidths?: Record<string, unknown> | null;
  /** The model's lower bound on the time (its estimate `bound`) over the simulated time. */
  of_bound?: number | null;
  /** Where that bound is: what bytes leave, or enter (`out of gpu0`); absent where it is all links of all ranks. */
  bound_at?: string | null;
  [key: string]: unknown;
}

/** The model of an operation. */
export interface Model {
  /** The model, as scenarios name it. */
  name: string;
  /** Version that the model states of itself. */
  version: string;
  /** SHA-256 of the library it was loaded from; absent for built-in models. */
  sha256?: string | null;
}

/** The simulated time against a closed form. */
export interface Difference {
  /** The formula, as the model names it. */
  formula: string;
  /** Simulated less formula; null if the operation has not ended. */
  seconds: number | null;
  /** The same over the formula's time; null also where that is 0. */
  relative: number | null;
  /** Why they differ by more than 1e-9 and 1 ps per instant of its events, as far as is known. */
  because: string[];
}

/** A choice and the ways to do the operation. */
export interface Choice {
  /** The key that was left open; absent where the alternatives differ in several. */
  key?: string | null;
  /** The alternative that was taken, such as `512KiB`. */
  chosen: string | null;
  /** True where the alternatives were tried under the scenario's other traffic; absent where each was tried alone. */
  under_load?: boolean | null;
  /** Every way that was tried, with its simulated time. */
  alternatives: Alternative[];
  /** Ways that the model refuses; absent where there are none. */
  not_tried?: NotTried[] | null;
}

/** One way to do an operation. */
export interface Alternative {
  /** The value that it sets, such as `512KiB`. */
  label: string;
  /** Simulated time of the operation from release to end, alone or under load, seconds. */
  seconds: number;
}

/** A way that was not tried. */
export interface NotTried {
  /** The value that it would set. */
  label: string;
  /** Why the model refuses it. */
  reason: string;
}

/** An item of the workload beside others that is many tasks: a group, a pattern, a trace. */
export interface Job {
  /** Its id; of a group without one its place, `workload[2]`. */
  id: string;
  /** The key that it stands under: `sequence`, `parallel`, `pattern`, `trace`. */
  kind: string;
  /** When the first of its tasks is ready; null if that did not happen. */
  start_s: number | null;
  /** The end of its last task; null if that did not happen. */
  end_s: number | null;
  /** The same in picoseconds, exact. */
  end_ps: number | null;
  /** From start to end when nothing else of the workload runs, seconds; null where that is not known. */
  alone_s: number | null;
  /** From start to end over `alone_s`; null where that is not known. */
  slowdown: number | null;
}

/** Percentiles over the transfers that ended: value number ⌊count·p/100⌋ of the ascending values, from 0. */
export interface Percentiles {
  /** From ready to end, seconds, by per cent. */
  completion_s: Record<string, number>;
  /** From ready to end, over the time of the same transfer alone, by per cent. */
  slowdown: Record<string, number>;
}

/** A node of the topology. */
export interface TopologyNode {
  /** Number of the node, from 0. */
  id: number;
  /** Full name, such as `node0/gpu1`. */
  name: string;
  /** What it is, such as `gpu` or `switch`. */
  kind: string;
  /** The id of its parent; null for a root. */
  parent: number | null;
}

/** The explanation of one phase. */
export interface ExplainedPhase {
  /** When the phase begins, seconds. */
  start_s: number;
  /** When the phase ends, seconds. */
  end_s: number;
  /** Every active transfer, in expansion order. */
  transfers: ExplainedTransfer[];
}

/** The steps of one transfer in one phase. */
export interface ExplainedTransfer {
  /** The id of the transfer. */
  id: string;
  /** The arbiter's steps in order. */
  steps: Step[];
}

/** One step of the arbiter. */
export interface Step {
  /** The region in which it was taken, where parts of the fabric have policies of their own. */
  region?: string | null;
  /** Name of the step; `limited` where another region decides. */
  step: string;
  /** The link whose bandwidth decided the rate. */
  link: Ends | null;
  /** The rate of the transfer after this step, bytes per second. */
  rate_Bps: number;
  /** Ids of the transfers responsible. */
  because: string[];
}

/** What a run would save if both directions of one link, or the memory of one node, carried more. */
export interface Widening {
  /** The node farther from the root, or the first of a lateral link; the node whose memory it is. */
  from: string;
  /** The other node of the link; of a memory the same node. */
  to: string;
  /** How many times as much it carried. */
  times: number;
  /** By how much earlier everything has ended then, seconds; 0 where it ends no earlier. */
  saved_s: number;
  /** By how much earlier transfers end, seconds, added up; below 0 where they end later. */
  sum_saved_s: number;
}

/** An operation. */
export interface Plan {
  id: string;
  engines: PlanEngine[];
}

/** What an operation did on one engine. */
export interface PlanEngine {
  /** Null for tasks that need none. */
  engine: string | null;
  /** Time in which the operation's own tasks were at work. */
  busy_s: number;
  tasks: PlanTask[];
}

/** One task; null for what has not happened. */
export interface PlanTask {
  task: string;
  ready_s: number | null;
  start_s: number | null;
  end_s: number | null;
}

/** Phases of a run in tables. */
export interface Packed {
  times_s: number[];
  rates_Bps: number[];
  /** Step, and the transfers that share it. */
  reasons: ([string, number[]])[];
  /** Per transfer, five numbers a span. */
  spans: number[][];
}

/** `aggregated` of a run. */
export interface Aggregated {
  transfers: number;
  kept: string;
  /** `phases` where bins are integrals of the rates of phases, `means` where each transfer counts with its mean rate. */
  rates: string;
  from_s: number;
  to_s: number;
  bins: number;
  links: LinkBins[];
  by: string;
  groups: GroupBins[];
  /** Per transfer that is kept. */
  group_of: number[];
  /** How many transfers have ended. */
  ended: number;
  delays: Delays;
}

export interface LinkBins {
  id: number;
  permille: number[];
}

export interface GroupBins {
  name: string;
  count: number;
  /** Payload sent, bytes. */
  bytes: number;
  /** When the first one started, and the last one ended; none where none has. */
  start_s: number | null;
  end_s: number | null;
  rate_Bps: number[];
  active: number[];
  waiting: number[];
}

/** `delays` of `report/web/data.md`. */
export interface Delays {
  links: LinkDelays[];
  /** Number and sums of the links that are not listed. */
  others: number;
  rest: DelaySums;
  /** Of all transfers of the run. */
  waiting: Waiting;
}

export interface LinkDelays {
  from: string;
  to: string;
  /** End less start, less the same of the transfer alone, seconds; none where the time alone of one of them is not known. */
  lost_s: number | null;
  /** Start to last byte sent, seconds. */
  delayed_s: number;
  transfers: number;
  /** Kinds of causes, that of most time first. */
  why: string[];
}

export interface DelaySums {
  /** End less start, less the same of the transfer alone, seconds; none where the time alone of one of them is not known. */
  lost_s: number | null;
  /** Start to last byte sent, seconds. */
  delayed_s: number;
  transfers: number;
}

/** Time for which transfers were ready and their engines had no slot; where that is not known, between ready and start. */
export interface Waiting {
  seconds: number;
  transfers: number;
}

/** The arbiter of a search. */
export interface Arbiter2 {
  /** The name by which `arbiter:` and `--arbiter` choose it. */
  name: string;
  /** Version that the policy states of itself. */
  version: string;
  /** SHA-256 of the library it was loaded from. */
  sha256?: string | null;
  /** Its parameters as the scenario gives them. */
  params: Record<string, unknown>;
}

/** Candidates that stop before their end: in a deadlock, or by `on_failure: fail`. They count, and are never the best. */
export interface StoppedCandidates {
  /** How many. */
  candidates: number;
  /** The first of them, and why it stops. */
  first: string;
}

/** What was found, in the names of the scenario: of each kind of decision that varied. */
export interface Solution {
  /** Device and what it sends, in this order. */
  order?: Record<string, string[]> | null;
  /** The device of each rank. */
  placement?: string[] | null;
  /** Path and value, to be set in this order. */
  parameters?: Record<string, string> | null;
}

/** A candidate of a grid of parameters. */
export interface Candidate {
  /** Number of the candidate in the grid, from 0. */
  candidate: number;
  /** The value of each path that varies. */
  parameters: Record<string, string>;
  /** Its value by another objective than the makespan: seconds, or of a throughput bytes per second. */
  value?: number | null;
  makespan_s: number;
  makespan_ps: number;
  /** How many times as bad as the best it is by the objective. */
  ratio: number;
  /** One row is the best. */
  best: boolean;
}

/** Makespans in bins of equal width. */
export interface Histogram {
  from_s: number;
  to_s: number;
  counts: number[];
}

/** The kind of a result that is saved as JSON. */
export type ResultKind = "run" | "comparison" | "explanation" | "search" | "sweep" | "tuning" | "validation" | "calibration" | "whatif" | "plugin-list";

/** A path and its values, as [`Axis`] writes it. */
export interface Axis {
  path: string;
  values: string[];
}

/** Sums over the points of one combination. */
export interface SweepTotal {
  parameters: Record<string, string>;
  points: number;
  complete: boolean;
  proved_optimal: boolean;
  baseline_s: number;
  baseline_ps: number;
  best_s: number;
  best_ps: number;
  /** 100 · (baseline / best − 1); absent where no point is finished. */
  gain_percent?: number | null;
}

/** The search at one point. */
export interface SweepPointJson {
  point: number;
  parameters: Record<string, string>;
  method: string;
  candidates?: number | null;
  evaluated: number;
  complete: boolean;
  proved_optimal: boolean;
  bound_s?: number | null;
  baseline_s: number;
  baseline_ps: number;
  best_s: number;
  best_ps: number;
  gain_percent: number;
  solution: Solution;
}

/** The policy under which times were simulated. */
export interface Arbiter3 {
  /** The name by which `arbiter:` and `--arbiter` choose it. */
  name: string;
  /** Its parameters as the scenario gives them. */
  params: Record<string, unknown>;
}

/** One operation and its best packets. */
export interface TunedOperation {
  /** The id of the operation in the scenario. */
  id: string;
  /** The rows, by ascending size. */
  sizes: TunedSize[];
}

/** The best packet for one size. */
export interface TunedSize {
  /** The size of the whole transfer. */
  bytes: number;
  /** The packet; `None` where no packets are best. */
  packet: number | null;
  /** Its simulated time, seconds. */
  seconds: number;
  /** The same in picoseconds, exact. */
  ps: number;
  /** The time without packets, seconds. */
  without_packets_s: number | null;
  /** The bandwidth over that without packets, less 1. */
  gain: number | null;
  /** Size over time, bytes per second. */
  bandwidth_Bps: number | null;
  /** All packets that were simulated, where they are asked for. */
  tried?: Tried[] | null;
}

/** A packet that was simulated for a size. */
export interface Tried {
  /** The packet; `None` for no packets. */
  packet: number | null;
  /** Its simulated time alone, seconds. */
  seconds: number;
}

/** A transfer or operation that was measured. */
export interface ValidatedTransfer {
  /** The id of the transfer or operation in the scenario. */
  id: string;
  /** The node that sends; none of an operation, as for the next two. */
  from: string | null;
  /** The node that receives. */
  to: string | null;
  /** Payload, bytes. */
  bytes: number | null;
  /** The time that was measured, seconds. */
  measured_s: number;
  /** The time that was simulated, seconds. */
  simulated_s: number;
  /** Simulated over measured, less 1. */
  error: number;
  /** The link that held it back, as text. */
  bottleneck: string | null;
  /** Why it was held back there, in words. */
  cause: string | null;
  /** The cause as its parts; none where `cause` is none. */
  cause_detail: Cause | null;
}

/** Transfers that were faster together than what all of them cross. */
export interface NotExplained {
  /** The link, or what links share, as text. */
  over: string;
  /** The sum of their bytes over the time until the last of them had ended, bytes per second. */
  measured_Bps: number;
  /** The bandwidth there, bytes per second. */
  carries_Bps: number;
  /** Their ids in the scenario. */
  transfers: string[];
}

/** Errors in bins of equal width. */
export interface ErrorHistogram {
  /** Part of the pairs whose error is at most 5 %. */
  within_5_percent: number;
  /** Part of the pairs whose error is at most 10 %. */
  within_10_percent: number;
  /** Part of the pairs whose error is at most 15 %. */
  within_15_percent: number;
  /** The bins, from the lowest error to the highest. */
  bins: ErrorBin[];
}

/** The errors between two. */
export interface ErrorBin {
  /** The least error of the bin, simulated over measured, less 1; none for all below `to`. */
  from: number | null;
  /** The error below which it ends; none for all from `from` on. */
  to: number | null;
  /** The number of pairs. */
  count: number;
}

/** One change of a scenario, and what it saves. */
export interface WhatIfChange {
  /** What is changed: the path of a link type or memory, what devices of a kind have, or the two nodes of a link. */
  of: string;
  /** The quantity that changes. */
  what: Changed;
  /** By which factor; none for no limit, and for one engine more. */
  factor: number | null;
  /** Whether this is the smallest factor, in hundredths and up to 16, that saves as much as any, no limit among them. */
  enough: boolean;
  /** The values to set for it, as `weir run --set` takes them; none for a link that the file writes together with others. */
  set: SetValue[];
  /** The links that become wider; a change widens both directions of each. */
  links: ChangedLink[];
  /** The link, or memory, that holds back transfers on the critical path for longest then; none where none does. */
  held_at: ChangedLink | null;
  /** When everything has ended then, seconds. */
  makespan_s: number;
  /** The same in picoseconds, exact. */
  makespan_ps: number;
  /** The makespan without the change less that with it, seconds; below 0 where it ends later. */
  saved_s: number;
  /** The part of the makespan without the change that is saved, percent. */
  saved_percent: number;
  /** What the change costs, where weights are given; none for no limit, which cannot be had. */
  cost?: number | null;
  /** Seconds saved by unit of cost. */
  saved_s_per_cost?: number | null;
}

/** What of something is changed. */
export type Changed = "bandwidth" | "link" | "memory" | "latency" | "overhead" | "engines";

/** A value to set. */
export interface SetValue {
  /** Where. */
  path: string;
  /** What, as YAML. */
  value: string;
}

/** A link, or the memory of a node. */
export interface ChangedLink {
  /** One of its nodes, the one farther from the root or the first of a lateral link; of a memory its node. */
  from: string;
  /** The other; of a memory the same. */
  to: string;
}

/** What is left with every link and memory without limit. */
export interface WhatIfBound {
  /** When everything has ended, seconds. */
  makespan_s: number;
  /** The same in picoseconds, exact. */
  makespan_ps: number;
  /** The makespan without a change less this, seconds. */
  saved_s: number;
  /** The part of the makespan without a change that is saved, percent. */
  saved_percent: number;
  /** Of the critical path then: computations and other fixed times of tasks, seconds. */
  computing_s: number;
  /** Transfers with a `limit` of their own, seconds. */
  limited_s: number;
  /** All other transfers: latencies, and what the widest links still take, seconds. */
  transfers_s: number;
  /** Waiting for a `start`, an overhead, or a gap between tasks, seconds. */
  waiting_s: number;
}

/** A change that could not be tried. */
export interface LeftOut {
  /** What was to be changed. */
  of: string;
  /** Why it was not tried. */
  why: string;
}

/** Causes in words, without the transfers that they name. */
export const CAUSE_WORDS: Record<CauseKind, string> = {
  "most-loaded-link": "the most loaded link of its route",
  "full-rate": "full rate of the narrowest link",
  "own-limit": "its own limit",
  "shared-link": "link shared",
  "shared-bandwidth": "bandwidth that links share",
  "upstream-port": "upstream port shared",
  "downstream-port": "downstream port shared",
  "lateral-link": "lateral link shared",
  "root-complex-shared": "root complex, shared",
  "root-complex": "reduced capacity across the root complex",
  "head-of-line": "head-of-line blocked",
  "earlier-transfer": "waits for an earlier transfer",
  "higher-priority": "others have a higher priority",
  "credit": "no room in a buffer ahead",
  "window": "its window of packets",
  "tags": "all its tags in use",
  "dllp": "link shared with DLLPs",
  "link-down": "link down",
  "no-other-route": "link down, no other route",
  "link-reduced": "reduced bandwidth of a link",
  "engine-busy": "queued for its engine",
};

/** What causes mean under any policy. */
export const CAUSE_MEANINGS: Record<CauseKind, string> = {
  "most-loaded-link": "the arbiter did not say what decided",
  "full-rate": "no other transfer holds it back",
  "own-limit": "the `limit` in the scenario",
  "shared-link": "others use the link, too",
  "shared-bandwidth": "what its two directions, or the links of a node, carry together is used up",
  "upstream-port": "going up, more arrives at a port than it carries",
  "downstream-port": "going down, more arrives at a port than it carries",
  "lateral-link": "more arrives at a link beside the tree than it carries",
  "root-complex-shared": "crossing it lowers what the port carries, and others use the rest, too",
  "root-complex": "crossing it lowers what the port carries",
  "head-of-line": "it queues behind a transfer that is held back further on",
  "earlier-transfer": "the link serves a transfer first that came before",
  "higher-priority": "they are served first",
  "credit": "a buffer further on is full, or smaller than what is under way",
  "window": "as many of its packets are under way as `window` allows",
  "tags": "as many of its requests are unanswered as `tags` allows",
  "dllp": "by `dllp`, packets that acknowledge those of the opposite direction go first",
  "link-down": "a link of its route was down, by `events`",
  "no-other-route": "a link of its route was down, by `events`, and so was one of every other",
  "link-reduced": "a link carried less than it was built for, by `events`",
  "engine-busy": "an engine serves only so many at once",
};

/** A run as the page has it. */
export type Run = RunResult & RunAdditions;

/** A sweep as the page has it: of its points what is drawn; none where they are too many to hand over. */
export type Sweep = Omit<SweepResult, "points"> & { points?: SweepPoint[] | null };

export interface ReportData {
  weir: number;
  runs: Run[];
  searches: Search[];
  sweeps?: Sweep[];
  tuned: Tuned[];
  validated: Validated[];
  what_ifs?: WhatIf[];
  aggregated: { notes: string[] } | null;
}
