//! The command line of `weir compare`.

use std::path::PathBuf;

use super::{JitterArgs, ScenarioArgs};

/// `weir compare`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Without --arbiter a scenario runs under its own arbiters, then under every other built-in one that \
accepts it.
The first column is the baseline. Files saved by `weir run --json` are columns too; scenarios after them run under their \
own arbiters alone.

Examples:
  weir compare scenarios/pcie/four-transfers.yaml
  weir compare halo.yaml --arbiter pcie-congestion --arbiter max-min
  weir compare halo.yaml --with 'link_types.upi.bandwidth=41.6GB/s' --with 'arbiter=max-min'
  weir compare halo.yaml --jitter 1us --seeds 16
  weir compare before.json after.json --fail-if differs:2%"
)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Add columns with these changes beside those of the baseline, such as 'link_types.upi.bandwidth=41.6GB/s';
    /// several changes of one column have commas between; may be repeated. Only the scenario's own arbiters run then, or
    /// those of --arbiter
    #[arg(long, value_name = "PATH=VALUE,…", value_parser = crate::values::with)]
    pub(crate) with: Vec<crate::values::With>,
    /// Exit with 1 when the makespan of a column is this much above its baseline (slower:2%), below it (faster:2%), or
    /// either (differs:2%). That is the first column; with several files or --with, the first one's column of the same
    /// arbiter. Not for a difference within the spread of either (see --jitter); may be repeated
    #[arg(long, value_name = "CHANGE:PERCENT", value_parser = crate::values::fail_if)]
    pub(crate) fail_if: Vec<crate::values::FailIf>,
    #[command(flatten)]
    pub(crate) jitter: JitterArgs,
    /// Stop runs of packets with an error after this many hops, skipped ones apart [default: 10^10]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_hops: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Add what `weir report` draws to the results in the JSON: nodes, all links, routes, phases, explanations
    #[arg(long, requires = "json")]
    pub(crate) full: bool,
    /// Write the comparison to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
