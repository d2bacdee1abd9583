//! The command line of `weir validate`.

use std::path::PathBuf;

use super::ScenarioArgs;

/// `weir validate`.
#[derive(clap::Args, Debug)]
#[command(
    mut_arg("files", |files| files.action(clap::ArgAction::Set).num_args(1).help("Scenario file")),
    after_help = "The CSV has the columns seconds, and id or from,to,bytes. Rows without an id are matched by from, \
to and bytes: the k-th such row belongs to the k-th such transfer.

Examples:
  weir validate scenarios/measured/h2d-eight-gpus.yaml --measured scenarios/measured/h2d-eight-gpus.csv
  weir validate halo.yaml --measured halo.csv --since start --csv errors.csv"
)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Measured times
    #[arg(long, value_name = "CSV")]
    pub(crate) measured: PathBuf,
    /// Use only the rows of this group
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Option<String>,
    /// When measured times begin
    #[arg(long, value_name = "WHEN", default_value = "ready")]
    pub(crate) since: Since,
    /// Print how the errors are spread: the shares within ±5, 10 and 15 %, and a histogram
    #[arg(long)]
    pub(crate) histogram: bool,
    /// Write the histogram as an SVG picture, a panel for each arbiter
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Print one JSON object per arbiter
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the errors to a CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the result to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// From when measured seconds count.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, Debug)]
pub(crate) enum Since {
    /// When everything that a transfer waits for has ended, except earlier transfers of its source
    Ready,
    /// When its source begins to send it
    Start,
    /// At the beginning of the run
    Zero,
}
