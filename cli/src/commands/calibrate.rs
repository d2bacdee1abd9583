//! `weir calibrate`: the values of a topology that fit measured transfers best.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use weir_calibrate::fit::Choice;
use weir_calibrate::{Collective, Experiment, Fit, FitOptions, Log, LogKind, Made, ReadOptions, Under};
use weir_plugin_api::Registry;
use weir_report::text::clean;
use weir_scenario::{ArbiterSpec, Machine};

use crate::args::ScenarioArgs;
use crate::failure::{Exit, Failure, message};
use crate::input;
use crate::output::{Output, check_target, replace};
use crate::plugins::arbiters;

/// `weir calibrate`.
#[derive(clap::Args, Debug)]
#[command(
    mut_arg("files", |files| files.action(clap::ArgAction::Set).num_args(1).value_name("TOPOLOGY")
        .help("Topology file, or a scenario with one")),
    after_help = "Logs are recognised by their content: nvbandwidth -j, p2pBandwidthLatencyTest, nccl-tests, OSU \
micro-benchmarks, and CSV with the columns from,to,bytes,seconds,group.

Examples:
  weir calibrate two-socket-8gpu.yaml --from nvbandwidth.json --from measured.csv -o calibrated.yaml
  weir calibrate t2.yaml --from pairs.csv --arbiter pcie-congestion
  weir calibrate cluster.yaml --from osu_latency.txt --pair node0,node1 --fit loggp"
)]
pub(crate) struct CalibrateArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// A log of measurements; may be repeated
    #[arg(long, required = true, value_name = "LOG", num_args = 1..)]
    from: Vec<PathBuf>,
    /// The kind of the logs, where it is not recognised
    #[arg(long = "as", value_name = "KIND")]
    kind: Option<KindArg>,
    /// The devices that a log numbers from 0, such as "gpu[0-7]" (default: all gpus in file order)
    #[arg(long, value_name = "NAMES")]
    devices: Option<String>,
    /// The two devices of a log of one pair, such as gpu0,gpu1
    #[arg(long, value_name = "A,B")]
    pair: Option<String>,
    /// Host memory in logs of copies from and to the host (default: the nearest cpu)
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Which collective a table of nccl-tests is of, where it does not say
    #[arg(long, value_name = "NAME")]
    collective: Option<CollectiveArg>,
    /// What to fit (default: bandwidth, tau under pcie-congestion, latency where sizes differ by a factor of 100)
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    fit: Vec<What>,
    /// Give links values of their own
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    per_link: When,
    /// Share of the groups that is held out of the fit, to test it
    #[arg(long, value_name = "SHARE", default_value = "0.2", value_parser = share)]
    hold_out: f64,
    /// Decides which groups are held out
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write the topology with the fitted values to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What can be fitted.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
enum What {
    /// Bandwidths of links
    Bandwidth,
    /// Latencies of links
    Latency,
    /// tau of pcie-congestion
    Tau,
    /// Latency, overhead, gap and per_byte of the model loggp, in the place of the links
    Loggp,
}

/// When links get values of their own.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
enum When {
    /// Where the data clearly ask for it
    Auto,
    /// Never: one value per link type
    No,
}

#[derive(Clone, Copy, Debug)]
struct KindArg(LogKind);

impl ValueEnum for KindArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [KindArg; 5] = {
            let [a, b, c, d, e] = LogKind::ALL;
            [KindArg(a), KindArg(b), KindArg(c), KindArg(d), KindArg(e)]
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.word()))
    }
}

#[derive(Clone, Copy, Debug)]
struct CollectiveArg(Collective);

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

/// Fits, prints, and writes the topology.
pub(crate) fn run(args: &CalibrateArgs) -> Result<Exit, Failure> {
    let file = args.scenario.files.first().ok_or_else(|| Failure::usage("name a topology file"))?;
    if input::is_stdin(file) {
        return Err(Failure::usage("`weir calibrate` reads the topology twice: name a file instead of `-`"));
    }
    if args.from.iter().any(|log| input::is_stdin(log)) {
        return Err(Failure::usage("`--from -`: logs are not read from standard input: name a file"));
    }
    let inputs: Vec<&Path> = std::iter::once(file).chain(&args.from).map(PathBuf::as_path).collect();
    if let Some(target) = &args.output {
        check_target("--output", target, &inputs)?;
    }
    let arbiters = arbiters(&args.scenario)?;
    let options = input::options(&args.scenario, &[]);
    let machine = Machine::load(file, &options, &arbiters.registry).map_err(|d| input::wrong(&d, &arbiters))?;
    let logs = read_logs(args, &machine)?;
    let experiments: Vec<Experiment> = logs.iter().flat_map(|log| log.experiments.iter().cloned()).collect();
    let spec = machine.arbiters.first().ok_or_else(|| Failure::usage("there is no arbiter"))?;
    let entry = entry(&arbiters.registry, &spec.name)?;
    let under = Under { entry, params: &spec.params };
    let fit = weir_calibrate::fit(&machine, under, &experiments, &fit_options(args));
    let fit = fit.map_err(Failure::usage)?;
    let made = Made { arbiter: &spec.name, per_link: args.per_link == When::Auto };
    let warnings = weir_calibrate::warnings(&machine, &experiments, &fit, made);
    show(args, &machine, (spec, &warnings), (&experiments, &logs), &fit)?;
    if let Some(target) = &args.output {
        let names: Vec<String> = args.from.iter().map(|p| name(p)).collect();
        let text = weir_calibrate::write_topology(file, &machine, &fit, (&options, &names));
        let text = text.map_err(|diagnostics| input::wrong(&diagnostics, &arbiters))?;
        replace(target, text.as_bytes())?;
        wrote(args, file, target, &text)?;
    }
    Ok(Exit::Ok)
}

/// Says what was written, and where a file in another folder needs a look.
fn wrote(args: &CalibrateArgs, file: &Path, target: &Path, text: &str) -> Result<(), Failure> {
    let mut output = Output::open(None)?;
    if !args.json {
        output.result(|writer| writeln!(writer, "wrote {}", clean(&target.display().to_string())))?;
    }
    if file.parent() != target.parent() && text.contains(" file:") {
        message(
            "note: a `file:` in a scenario is looked for from its own folder: check the written file with `weir check`",
        );
    }
    output.finish()
}

fn entry<'a>(registry: &'a Registry, name: &str) -> Result<&'a weir_plugin_api::ArbiterEntry, Failure> {
    registry.get(name).ok_or_else(|| Failure::usage(format!("there is no arbiter `{name}`: see `weir plugin list`")))
}

/// The file's name without its folder, so that equal fits write equal bytes wherever the logs lie.
fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn params(params: &serde_json::Map<String, serde_json::Value>) -> String {
    let each: Vec<String> = params.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) }
}

fn read_logs(args: &CalibrateArgs, machine: &Machine) -> Result<Vec<Log>, Failure> {
    let options = ReadOptions {
        kind: args.kind.map(|kind| kind.0),
        devices: args.devices.clone(),
        pair: args.pair.clone(),
        host: args.host.clone(),
        collective: args.collective.map(|collective| collective.0),
    };
    let read = |path: &PathBuf| {
        let found = weir_calibrate::read_log(path, machine, &options);
        let (_, log) = found.map_err(|error| Failure::diagnosed(Exit::Usage, *error))?;
        match (log.experiments.is_empty(), log.skipped.first()) {
            (false, _) => Ok(log),
            (true, first) => {
                let failure = Failure::usage(format!("nothing in {} can be used", path.display()));
                Err(match first {
                    Some(first) => failure.noted(format!("{}: {}: {}", first.place, first.what, first.why)),
                    None => failure,
                })
            }
        }
    };
    args.from.iter().map(read).collect()
}

fn fit_options(args: &CalibrateArgs) -> FitOptions {
    let asked = |what| args.fit.contains(&what);
    let choice = |what| match (args.fit.is_empty(), asked(what)) {
        (true, _) => Choice::Auto,
        (false, true) => Choice::Yes,
        (false, false) => Choice::No,
    };
    FitOptions {
        bandwidth: args.fit.is_empty() || asked(What::Bandwidth),
        latency: choice(What::Latency),
        tau: choice(What::Tau),
        loggp: asked(What::Loggp),
        finer: if args.per_link == When::Auto { Choice::Auto } else { Choice::No },
        hold_out: args.hold_out,
        seed: args.seed,
    }
}

fn show(
    args: &CalibrateArgs,
    machine: &Machine,
    (spec, warnings): (&ArbiterSpec, &[String]),
    of: (&[Experiment], &[Log]),
    fit: &Fit,
) -> Result<(), Failure> {
    let mut output = Output::open(None)?;
    output.result(|writer| match args.json {
        true => writeln!(writer, "{}", weir_calibrate::json(machine, (&spec.name, &spec.params), of, fit, warnings)),
        false => {
            let title = format!("under {}{}", spec.name, params(&spec.params));
            write!(writer, "{}", weir_calibrate::text(machine, &title, of, fit))
        }
    })?;
    warnings.iter().for_each(|warning| message(&format!("warning: {warning}")));
    output.finish()
}
