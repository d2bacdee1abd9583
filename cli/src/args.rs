//! The command line.

mod calibrate;
mod compare;
mod jitter;
mod plugin;
mod report;
mod search;
mod test;
mod validate;
mod what_if;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use weir_report::TABLES;

pub(crate) use calibrate::{CalibrateArgs, FitWhat, PerLink};
pub(crate) use compare::CompareArgs;
pub(crate) use jitter::JitterArgs;
pub(crate) use plugin::{PluginAction, PluginArgs};
pub(crate) use report::ReportArgs;
pub(crate) use search::{MergeArgs, OptimizeArgs, TuneArgs, Under};
pub(crate) use test::TestArgs;
pub(crate) use validate::{Since, ValidateArgs};
pub(crate) use what_if::WhatIfArgs;

/// Simulates data transfers over hierarchical links: when each ends, which link holds it back, and why.
#[derive(Parser, Debug)]
#[command(name = "weir", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = EXITS)]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Log to stderr: -v what is done, -vv details, -vvv every arbitration (also by WEIR_LOG, RUST_LOG)
    #[arg(short, long, global = true, display_order = 900, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(flatten)]
    pub(crate) layout: LayoutArgs,
}

/// How text is laid out.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct LayoutArgs {
    /// Show all columns of tables; else those that a terminal has no room for are left out or shortened
    #[arg(long, global = true, display_order = 901)]
    pub(crate) wide: bool,
    /// Fit tables and drawings to this many columns (default: those of the terminal; a pipe or file gets whole tables)
    #[arg(long, value_name = "COLUMNS", global = true, display_order = 902, conflicts_with = "wide")]
    #[arg(value_parser = clap::value_parser!(u16).range(20..))]
    pub(crate) width: Option<u16>,
    /// Print tables and titles as Markdown, for issues and wikis; all columns, no colour
    #[arg(long, global = true, display_order = 904, conflicts_with = "width")]
    pub(crate) markdown: bool,
    /// When to use colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", global = true, display_order = 903, default_value = "auto")]
    pub(crate) color: ColorWhen,
}

/// When colour is used.
#[derive(Clone, Copy, ValueEnum, Debug)]
#[value(rename_all = "lower")]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

const EXITS: &str = "Exit codes: 0 ok, 1 a comparison or a test failed, 2 usage or scenario error, 3 deadlock or limit, \
4 plugin error, 130 interrupted.\n\nStart with `weir init`, then `weir run scenario.yaml`.";

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run scenarios and print when each transfer ends, what held it back, and why
    Run(RunArgs),
    /// Compare arbiters, scenarios or saved results side by side
    Compare(CompareArgs),
    /// Run scenarios and compare the results with the snapshots that were accepted
    Test(TestArgs),
    /// Read scenarios and report errors and probable mistakes, without running them
    Check(CheckArgs),
    /// Show why: the plans of operations over time, and the arbiter's steps in each phase
    Explain(ExplainArgs),
    /// Find the best packet size of a put for each of several transfer sizes
    Tune(TuneArgs),
    /// Find the best send orders, placement of ranks, or values of parameters
    Optimize(OptimizeArgs),
    /// Show what wider links, shorter latencies and more engines would save, each change run again
    #[command(name = "whatif")]
    WhatIf(WhatIfArgs),
    /// Join the parts of a search that was split by `optimize --shard`
    Merge(MergeArgs),
    /// Make a topology file from a dump of a machine (NCCL, hwloc, nvidia-smi, rocm-smi, lspci), or tell what a program's file holds
    Import(ImportArgs),
    /// Fit the values of a topology to measured transfers
    Calibrate(CalibrateArgs),
    /// Compare the simulated times of a scenario with measured ones
    Validate(ValidateArgs),
    /// Write runs and saved results as one HTML page: topology, transfers and links over time, and causes
    Report(ReportArgs),
    /// List, add or remove arbiters and models from shared libraries
    Plugin(PluginArgs),
    /// Print the JSON Schema of scenarios or of results
    Schema(SchemaArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write a commented scenario to start from
    Init(InitArgs),
    /// Write the manual pages, one per command, into a folder
    #[command(hide = true)]
    Man(ManArgs),
}

/// What every command that reads scenarios takes.
#[derive(clap::Args, Debug)]
pub(crate) struct ScenarioArgs {
    /// Scenario files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Arbiter to use instead of the scenario's: a name, or a map such as '{name: pcie-congestion, tau: 0.1}'; may be
    /// repeated
    #[arg(long = "arbiter", value_name = "NAME|MAP")]
    pub(crate) arbiters: Vec<String>,
    /// Simulate by rates (`fluid`), packet by packet (`packet`), or both (`fluid,packet`), instead of what the scenario says;
    /// a map such as '{packet: {buffer: 64KiB}}' sets what links do; may be repeated
    #[arg(long, value_name = "NAME|MAP")]
    pub(crate) fidelity: Vec<String>,
    /// Change a value of the scenario before it is read, such as arbiter.tau=0.1; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = crate::values::edit)]
    pub(crate) set: Vec<(String, String)>,
    /// Folder in which files named by scenarios may lie (default: the nearest folder above with a file `weir-library`)
    #[arg(long, value_name = "DIR")]
    pub(crate) library: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plugins: PluginFlags,
}

/// Which plugins are used, and where they run.
#[derive(clap::Args, Debug)]
pub(crate) struct PluginFlags {
    /// Load the arbiters and models of a shared library for this run; may be repeated
    #[arg(long = "plugin", value_name = "FILE")]
    pub(crate) plugins: Vec<PathBuf>,
    /// Do not load the plugins added by `weir plugin add`
    #[arg(long)]
    pub(crate) no_plugins: bool,
    /// Run plugins in processes of their own: a crash or a loop there is an error, not the end of the run
    #[arg(long)]
    pub(crate) isolate: bool,
}

/// `weir run`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Ctrl-C stops a run and writes the partial result, within 100 ms unless it is JSON of more than \
about 100,000 transfers. A second Ctrl-C ends at once.

Examples:
  weir run scenarios/pcie/four-transfers.yaml
  weir run four-transfers.yaml --arbiter max-min --arbiter fcfs
  weir run four-transfers.yaml --set arbiter.tau=0.1 --json | jq .makespan_s
  weir run four-transfers.yaml --jitter 1us --seeds 16
  weir run load.yaml --until 10ms --json --output part.json
  weir run flows.yaml --stream ends.csv"
)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Stop at this simulated time; the result is marked as incomplete, and the exit code is 0
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = crate::values::time, conflicts_with = "jitter")]
    pub(crate) until: Option<weir_plugin_api::SimTime>,
    /// Stop runs of packets with an error after this many hops, skipped ones apart [default: 10^10]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = crate::values::hops)]
    pub(crate) max_hops: Option<u64>,
    /// Print one JSON object per scenario and arbiter
    #[arg(long)]
    pub(crate) json: bool,
    /// Add the phases (intervals of constant rates) to the JSON
    #[arg(long, requires = "json")]
    pub(crate) phases: bool,
    /// Add what `weir report` draws to the JSON: nodes, all links, routes, phases, explanations
    #[arg(long, requires = "json")]
    pub(crate) full: bool,
    /// Draw the transfers over time, no wider than the terminal
    #[arg(long, conflicts_with_all = ["json", "stream", "output"])]
    pub(crate) plot: bool,
    /// Report the peak load of every link in large runs, too: of 20,000 transfers or more, under pcie-congestion of 1,000
    /// (slower; otherwise some peaks are unknown)
    #[arg(long)]
    pub(crate) peaks: bool,
    #[command(flatten)]
    pub(crate) jitter: JitterArgs,
    /// Write the results to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Read the transfers of traces during the simulation, and write each when it ends: to a file that ends in .csv or
    /// .jsonl, or as JSON lines to stdout (`-`). The scenario must have one arbiter and a workload of traces, sorted by
    /// start and without `after`. Memory holds only the active transfers and all routes
    #[arg(
        long,
        value_name = "OUT",
        value_parser = crate::values::stream,
        conflicts_with_all = ["output", "phases", "full", "jitter", "ExportArgs"]
    )]
    pub(crate) stream: Option<crate::values::StreamTarget>,
    /// Write the run as Chrome trace JSON, which Perfetto (ui.perfetto.dev) opens: a track per link and per engine, counters of
    /// rate and utilisation. For one scenario under one arbiter
    #[arg(long, value_name = "FILE", conflicts_with = "stream")]
    pub(crate) timeline: Option<PathBuf>,
    /// Show only these links in the timeline, with commas between: `plx0` is every link of that node, `gpu0->plx0` one of
    /// them; `*` stands for any text. Where their counters would have more than some 40,000 values, these are means of small
    /// parts of the run
    #[arg(long, value_name = "LINKS", value_delimiter = ',', requires = "timeline", value_parser = crate::values::links)]
    pub(crate) timeline_links: Vec<weir_report::LinkPattern>,
    /// Show only this many transfers in the timeline, those that lost most against being alone, and their links;
    /// counters as with --timeline-links
    #[arg(long, value_name = "COUNT", requires = "timeline", value_parser = crate::values::count)]
    pub(crate) timeline_top: Option<usize>,
    #[command(flatten)]
    pub(crate) export: ExportArgs,
}

/// Where tables go.
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// Write tables as CSV into a folder: of runs transfers.csv, links.csv, phases.csv, and operations.csv where there are
    /// some; of searches searches.csv, solutions.csv, and makespans.csv or candidates.csv where all are known; of sweeps
    /// points.csv and totals.csv
    #[arg(long, value_name = "FOLDER")]
    pub(crate) export_csv: Option<PathBuf>,
    /// Write the same tables as Parquet
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) export_parquet: Option<PathBuf>,
    /// Write only these tables, such as transfers,links: without phases a large run is faster and takes less memory
    #[arg(long, value_name = "TABLES", value_delimiter = ',', value_parser = TABLES)]
    pub(crate) export_only: Vec<String>,
}

impl ExportArgs {
    /// Whether a table is wanted, if any are.
    pub(crate) fn wants(&self, table: &str) -> bool {
        self.any() && (self.export_only.is_empty() || self.export_only.iter().any(|name| name == table))
    }

    /// Whether any are asked for.
    pub(crate) fn any(&self) -> bool {
        #[cfg(feature = "parquet")]
        let parquet = self.export_parquet.is_some();
        #[cfg(not(feature = "parquet"))]
        let parquet = false;
        self.export_csv.is_some() || parquet
    }
}

impl RunArgs {
    /// Whether files are asked for that are made of phases.
    pub(crate) fn wants_phases(&self) -> bool {
        self.plot || self.export.wants("phases")
    }
}

/// `weir check`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  weir check scenarios/pcie/*.yaml
  weir check --strict my.yaml
  weir check --nodes machine.yaml")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// List the nodes with kind, bus id and NUMA node, and the links with bandwidth and latency
    #[arg(long)]
    pub(crate) nodes: bool,
    /// Draw the tree of the topology
    #[arg(long)]
    pub(crate) plot: bool,
    /// Write the topology of one file for Graphviz (`dot -Tsvg`); `-` is standard output
    #[arg(long, value_name = "OUT")]
    pub(crate) dot: Option<PathBuf>,
    /// Print one scenario as YAML with `for`, `repeat`, `sequence` and `parallel` written out, and check nothing else
    #[arg(long, conflicts_with_all = ["strict", "nodes", "plot", "dot"])]
    pub(crate) expand: bool,
}

/// `weir explain`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Plans of offload, put, gather and other operations of models come first: a bar per engine, and what \
each task waited for.
The phases of the transfers follow. The columns are the arbiter's steps; the numbers are rates divided by the \
bandwidth of the narrowest link of the transfer's route.

Examples:
  weir explain scenarios/pcie/four-transfers.yaml
  weir explain four-transfers.yaml --set arbiter.tau=0.1 --json"
)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Stop at this simulated time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = crate::values::time)]
    pub(crate) until: Option<weir_plugin_api::SimTime>,
    /// Print one JSON object per scenario and arbiter
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the explanations to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `weir import`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Without --output the topology goes to stdout, and the findings go to stderr.
The best dump is NCCL's: run any NCCL or RCCL program with NCCL_TOPO_DUMP_FILE=topology.xml in its environment.

Examples:
  weir import topology.xml --output machine.yaml
  nvidia-smi topo -m | weir import - --as nvidia-smi > machine.yaml")]
pub(crate) struct ImportArgs {
    /// The dump, or the files of a program (GOAL, MSCCL, Chakra, SimGrid, NCCL graph); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Format of the dump (default: detected from its content)
    #[arg(long = "as", value_name = "KIND", value_parser = crate::values::dump_format())]
    pub(crate) format: Option<weir_import::Format>,
    /// Which bandwidths to write: effective (what lone copies reach, measured or by NCCL's tables) or raw (what the wires carry)
    #[arg(long, value_name = "WHICH", default_value = "effective", value_parser = crate::values::figures())]
    pub(crate) bandwidth: weir_import::Figures,
    /// Add what the dump lacks: nvswitch (NVLinks from each SXM GPU to an NVSwitch), xgmi (links of each OAM GPU to each other
    /// one) or c2c (links of each GPU of a superchip to its processor); nvswitch=MODEL such as nvswitch=h100 where the dump
    /// names no model
    #[arg(long, value_name = "WHAT")]
    pub(crate) add: Option<weir_import::Addition>,
    /// Write the topology to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `weir schema`.
#[derive(clap::Args, Debug)]
pub(crate) struct SchemaArgs {
    /// What to describe
    #[arg(value_enum, default_value = "scenario")]
    pub(crate) of: SchemaOf,
    #[command(flatten)]
    pub(crate) plugins: PluginFlags,
}

/// What has a schema.
#[derive(Clone, Copy, ValueEnum, Debug)]
pub(crate) enum SchemaOf {
    /// Scenario files
    Scenario,
    /// A line of `weir run --json`
    Results,
    /// A line of `weir optimize --json` or `weir merge --json`
    Search,
}

/// `weir completions`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:
  weir completions bash > ~/.local/share/bash-completion/completions/weir")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// `weir man`, for those who package weir.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:
  weir man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The folder, which is made if it is missing
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

/// `weir init`.
#[derive(clap::Args, Debug)]
pub(crate) struct InitArgs {
    /// The file to write (`-` is standard output); an existing file is left untouched
    #[arg(default_value = "scenario.yaml")]
    pub(crate) file: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }
}
