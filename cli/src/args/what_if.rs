//! The command line of `weir whatif`.

use std::path::PathBuf;

use super::ScenarioArgs;

/// `weir whatif`.
#[derive(clap::Args, Debug)]
#[command(
    mut_arg("files", |files| files.action(clap::ArgAction::Set).num_args(1).help("Scenario file")),
    after_help = "Each link type and memory gets 1.1 times and twice its bandwidth and no limit, each latency and overhead \
is halved, and each kind of device gets one engine more. Every change is a run of its own; the last column is what \
`weir run --set` and `weir compare --with` take for it.
\"no more needed\" marks the smallest factor that saves as much as any.

Examples:
  weir whatif scenarios/pcie/remote-buffers.yaml
  weir whatif server.yaml --links --cost link_types.upi=3,link_types.pcie=1
  weir whatif server.yaml --json | weir report server.yaml -"
)]
pub(crate) struct WhatIfArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Widen each single link that carries bytes, too
    #[arg(long)]
    pub(crate) links: bool,
    /// Rank by time saved per cost: what twice the bandwidth of a link type costs, such as link_types.upi=3, or half a
    /// latency, or one engine more; others cost 1. Several have commas between
    #[arg(long, value_name = "NAME=WEIGHT,…", value_delimiter = ',', value_parser = crate::values::cost)]
    pub(crate) cost: Vec<(String, f64)>,
    /// Write the changes to a CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Threads to run with (default: one per core)
    #[arg(long, value_name = "N", value_parser = crate::values::threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object per arbiter
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the result to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
