//! The options of `weir report`.

use std::path::PathBuf;

use super::ScenarioArgs;

/// `weir report`.
#[derive(clap::Args, Debug)]
#[command(
    mut_arg("files", |files| files.help("Scenario files, or files saved by `run`, `optimize`, `tune`, `whatif` or \
`validate` with --json; `-` is standard input")),
    after_help = "Scenarios run under their arbiters. All results share one time axis, and the first is the baseline.
The page shows the most for results saved with --full --json. It needs no network.

Examples:
  weir report scenarios/pcie/four-transfers.yaml
  weir report four-transfers.yaml --arbiter pcie-congestion --arbiter max-min --output page.html
  weir run before.yaml --full --json --output before.json && weir report before.json after.yaml
  weir report four-transfers.yaml --svg pictures
  weir optimize halo.yaml --full --json | weir report -"
)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Stop runs at this simulated time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = crate::values::time)]
    pub(crate) until: Option<weir_plugin_api::SimTime>,
    /// The page to write (default: report.html)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write pictures into this folder as SVG: of each run its topology, its timeline, and its links over time; of each search
    /// the makespans of all candidates; the page, too, where --output names it
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<PathBuf>,
    /// Open the page in the browser of this desktop
    #[arg(long)]
    pub(crate) open: bool,
    /// Write the page again whenever one of its files has changed, until Ctrl-C; reload it to see the new one
    #[arg(long)]
    pub(crate) watch: bool,
}
