//! The command line of `weir calibrate`.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use weir_calibrate::{Collective, LogKind};

use super::ScenarioArgs;

/// `weir calibrate`.
#[derive(clap::Args, Debug)]
#[command(
    mut_arg("files", |files| files.action(clap::ArgAction::Set).num_args(1).value_name("TOPOLOGY")
        .help("Topology file, or a scenario with one")),
    after_help = "Logs are recognised by their content: nvbandwidth, p2pBandwidthLatencyTest, nccl-tests, OSU \
micro-benchmarks, bandwidthTest, rocm-bandwidth-test, TransferBench p2p, busGrind, ib_write_bw, \
and CSV with the columns from,to,bytes,seconds,group.

Examples:
  weir calibrate two-socket-8gpu.yaml --from nvbandwidth.json --from measured.csv --write calibrated.yaml
  weir calibrate t2.yaml --from pairs.csv --arbiter pcie-congestion
  weir calibrate cluster.yaml --from osu_latency.txt --pair node0,node1 --fit loggp"
)]
pub(crate) struct CalibrateArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// A log of measurements; may be repeated
    #[arg(long, required = true, value_name = "LOG", num_args = 1..)]
    pub(crate) from: Vec<PathBuf>,
    /// Format of the logs (default: detected from their content)
    #[arg(long = "as", value_name = "KIND")]
    pub(crate) kind: Option<KindArg>,
    /// The devices that a log numbers from 0, such as "gpu[0-7]" (default: all gpus in file order)
    #[arg(long, value_name = "NAMES")]
    pub(crate) devices: Option<String>,
    /// The two devices of a log of one pair, such as gpu0,gpu1
    #[arg(long, value_name = "A,B")]
    pub(crate) pair: Option<String>,
    /// Host memory in logs of copies from and to the host (default: the nearest cpu)
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// The collective that a table of nccl-tests measures, if it does not say
    #[arg(long, value_name = "NAME")]
    pub(crate) collective: Option<CollectiveArg>,
    /// What to fit: bandwidth (with what links share), latency, weight (of copies out of host memory against all
    /// others), engines (how many transfers devices send at once), loggp (the model's parameters, in the place of the
    /// links), or parameters of the arbiter such as tau (default: bandwidth, engines, what the arbiter marks, latency
    /// where sizes differ by a factor of 100)
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) fit: Vec<FitWhat>,
    /// Give links values of their own
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) per_link: PerLink,
    /// Share of the groups to hold out of the fit, as a test
    #[arg(long, value_name = "SHARE", default_value = "0.2", value_parser = share)]
    pub(crate) hold_out: f64,
    /// Seed that decides which groups are held out
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write the topology with the fitted values to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the result to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What can be fitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FitWhat {
    /// Bandwidths of links.
    Bandwidth,
    /// Latencies of links.
    Latency,
    /// The weight of copies out of host memory.
    Weight,
    /// How many transfers devices send at once.
    Engines,
    /// Latency, overhead, gap and per_byte of the model loggp, instead of links.
    Loggp,
    /// The parameter of the arbiter with this key.
    Arbiter(String),
}

impl From<String> for FitWhat {
    fn from(text: String) -> Self {
        match text.as_str() {
            "bandwidth" => Self::Bandwidth,
            "latency" => Self::Latency,
            "weight" => Self::Weight,
            "engines" => Self::Engines,
            "loggp" => Self::Loggp,
            _ => Self::Arbiter(text),
        }
    }
}

/// When links get values of their own.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum PerLink {
    /// Where the data clearly require it
    Auto,
    /// Never: one value per link type
    No,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct KindArg(pub(crate) LogKind);

impl ValueEnum for KindArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [KindArg; 9] = {
            let [a, b, c, d, e, f, g, h, i] = LogKind::ALL;
            [KindArg(a), KindArg(b), KindArg(c), KindArg(d), KindArg(e), KindArg(f), KindArg(g), KindArg(h), KindArg(i)]
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.word()))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CollectiveArg(pub(crate) Collective);

impl ValueEnum for CollectiveArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [CollectiveArg; 5] = {
            let [a, b, c, d, e] = Collective::ALL;
            [CollectiveArg(a), CollectiveArg(b), CollectiveArg(c), CollectiveArg(d), CollectiveArg(e)]
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.word()))
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err("give a share from 0 to below 1, such as 0.2".to_owned()),
    }
}
