//! The command line of `weir test`.

use std::path::PathBuf;

use super::PluginFlags;

/// `weir test`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "The snapshot of DIR/a.yaml is DIR/snapshots/a.yaml.txt, a text to review and to keep under version \
control. Times and reasons are compared. Where only the input or the events changed, the test passes with a note. \
YAML files that are no scenarios are skipped.

Examples:
  weir test scenarios --accept
  weir test scenarios
  weir test scenarios --filter pcie --tolerance 0.1%
  weir test scenarios --junit out.xml"
)]
pub(crate) struct TestArgs {
    /// Folders, in which all .yaml and .yml files are looked at, and scenario files
    #[arg(required = true, value_name = "FOLDER|FILE")]
    pub(crate) paths: Vec<PathBuf>,
    /// Write the results as the snapshots to compare with from now on; of whole folders, remove snapshots whose scenario is gone
    #[arg(long)]
    pub(crate) accept: bool,
    /// Let times differ by this part of the end of the same transfer, such as 0.1%; reasons must be the same
    #[arg(long, value_name = "PERCENT", default_value = "0%", hide_default_value = true, value_parser = crate::values::percent)]
    pub(crate) tolerance: f64,
    /// Test only files whose path contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Arbiter to run each scenario under, by rates, beside its own: a name, or a map such as '{name: pcie-congestion, tau: 0.1}';
    /// may be repeated
    #[arg(long = "arbiter", value_name = "NAME|MAP")]
    pub(crate) arbiters: Vec<String>,
    /// Folder in which files named by scenarios may lie (default: the nearest folder above with a file `weir-library`)
    #[arg(long, value_name = "DIR")]
    pub(crate) library: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plugins: PluginFlags,
    /// Write what passed and failed as JUnit XML, which CI servers show
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Threads to run with (default: one per core)
    #[arg(long, value_name = "N", value_parser = crate::values::threads)]
    pub(crate) threads: Option<usize>,
}
