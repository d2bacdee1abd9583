//! The command lines of searches: `weir tune`, `weir optimize`, `weir merge`.

use std::path::PathBuf;

use super::{ExportArgs, ScenarioArgs};

/// `weir tune`.
#[derive(clap::Args, Debug)]
#[command(
    mut_arg("files", |files| files.action(clap::ArgAction::Set).num_args(1).help("Scenario file")),
    after_help = "For every size the put is simulated, alone unless --under says otherwise: without packets, and with each packet size that it lists \
(`packets: [512KiB, 2MiB]`). The fastest wins.
A scenario reads the table written by --csv with `packet: { table: FILE }`.

Examples:
  weir tune scenarios/multilevel/tuning-made-up.yaml --sizes 1KiB..32MiB
  weir tune put.yaml --sizes 1MiB,3MiB,16MiB --operation p --csv tuned.csv"
)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Sizes to tune for: a range that doubles, such as 1KiB..32MiB, or a list such as 1KiB,4KiB,1MiB
    #[arg(long, value_name = "SIZES", value_parser = crate::values::sizes)]
    pub(crate) sizes: crate::values::Sizes,
    /// The put to tune (default: every put that lists `packets`)
    #[arg(long, value_name = "ID")]
    pub(crate) operation: Option<String>,
    /// What the put is simulated with
    #[arg(long, value_name = "WHAT", default_value = "alone")]
    pub(crate) under: Under,
    /// Write the best packet sizes of one put to a CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the result to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Add what `weir report` draws to the JSON: the time with every packet size
    #[arg(long, requires = "json")]
    pub(crate) full: bool,
}

/// What a put is tuned with.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, Debug)]
pub(crate) enum Under {
    /// Nothing else
    Alone,
    /// Everything else in the scenario: a run for each size and packet
    Load,
}

/// `weir optimize`.
#[derive(clap::Args, Debug)]
#[command(
    mut_arg("files", |files| files.action(clap::ArgAction::Set).num_args(1).help("Scenario file")),
    after_help = "The scenario says under `optimize:` what to vary, and how. The options below override it.
Ctrl-C ends a search with the best result so far.

Examples:
  weir optimize scenarios/pcie/halo-2d-file-order.yaml --vary order
  weir optimize scenarios/mapping/helios-stencil.yaml --vary placement --objective distance
  weir optimize halo.yaml --vary order --write best.yaml && weir run best.yaml
  weir optimize halo.yaml --vary order,placement --budget 60s
  weir optimize grid.yaml --shard 2/8 --output part-2.json"
)]
pub(crate) struct OptimizeArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// What to vary: order (of sending), placement (of ranks), parameters (those the scenario lists); of several, such as
    /// order,placement, all together
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = crate::values::vary())]
    pub(crate) vary: Vec<weir_optimize::search::Vary>,
    /// How to search
    #[arg(long, value_name = "METHOD", value_parser = crate::values::method())]
    pub(crate) method: Option<weir_optimize::search::Method>,
    /// What to minimise, or the throughput to maximise; distance, latency and bandwidth are costs of a placement. The
    /// scenario may name items instead: `objective: { end: [a, b] }`
    #[arg(long, value_name = "OBJECTIVE", value_parser = crate::values::objective())]
    pub(crate) objective: Option<weir_optimize::search::Objective>,
    /// Prove the best order to the picosecond instead of within 1e-9
    #[arg(long)]
    pub(crate) exact: bool,
    /// End the search after this time, such as 60s, with the best result so far
    #[arg(long, value_name = "TIME", value_parser = crate::values::budget)]
    pub(crate) budget: Option<std::time::Duration>,
    /// Simulate at most so many candidates, where each is simulated
    #[arg(long, value_name = "N", value_parser = crate::values::candidates)]
    pub(crate) candidates: Option<u64>,
    /// Seed of the random numbers of local search, annealing and bisection
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Search part I of N of an exhaustive search or a grid; `weir merge` joins the parts
    #[arg(long, value_name = "I/N", value_parser = crate::values::shard, conflicts_with_all = ["write", "csv", "budget", "ExportArgs"])]
    pub(crate) shard: Option<weir_optimize::parameters::Shard>,
    /// Save progress to a file, and resume from it after the search was stopped or killed
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Write the scenario with the best solution to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// Write all candidates of a grid of parameters, or all points of a sweep, to a CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) export: ExportArgs,
    /// Leave out the time of the search, so that equal searches print equal bytes
    #[arg(long)]
    pub(crate) no_timing: bool,
    /// Threads to search with (default: one per core)
    #[arg(long, value_name = "N", value_parser = crate::values::threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object per arbiter
    #[arg(long)]
    pub(crate) json: bool,
    /// Add what `weir report` draws to the JSON: the makespans of all candidates as a curve and in bins; for placements
    /// the topology
    #[arg(long, requires = "json", conflicts_with = "shard")]
    pub(crate) full: bool,
    /// Write the result, or the part of a sharded search, to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `weir merge`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Parts may be given in any order; the result is that of the search without --shard, byte for byte.

Example:
  weir merge part-*.json --json"
)]
pub(crate) struct MergeArgs {
    /// All parts of one search, written by `weir optimize --shard I/N --output PART`
    #[arg(required = true, value_name = "PART")]
    pub(crate) parts: Vec<PathBuf>,
    /// Print one JSON object per arbiter
    #[arg(long)]
    pub(crate) json: bool,
    /// Add what `weir report` draws to the JSON: the makespans of all candidates as a curve and in bins
    #[arg(long, requires = "json")]
    pub(crate) full: bool,
    /// Write all candidates of a grid of parameters to a CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) export: ExportArgs,
    /// Write the result to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
