//! Machines, experiments and simulated measurements of the tests.

#![allow(dead_code, reason = "each test uses a part")]

use std::path::{Path, PathBuf};

use weir_calibrate::fit::Simulator;
use weir_calibrate::fit::parameter::Setting;
use weir_calibrate::{Experiment, Fit, FitReport, Made, MeasuredEnd, MeasuredTime, Transfer, text, warnings};
use weir_plugin_api::{LinkId, Registry};
use weir_scenario::{ArbiterParameter, ArbiterSpec, ArbiterValues, LoadOptions, Machine, Position};

pub fn registry() -> Registry {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).expect("built-in names are distinct");
    registry
}

pub fn library(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios").join(file)
}

/// A machine of the library with changed values.
pub fn machine(file: &str, set: &[(&str, &str)]) -> Machine {
    let set = set.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    Machine::load(&library(file), &options, &registry()).expect("a machine of the library")
}

/// A machine of a text.
pub fn machine_of(text: &str) -> Machine {
    machine_in(&registry(), text)
}

/// A machine of a text, whose policies are those of a registry.
pub fn machine_in(registry: &Registry, text: &str) -> Machine {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("machine.yaml");
    std::fs::write(&file, text).expect("a file");
    Machine::load(&file, &LoadOptions::default(), registry).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// Transfers at once, each of whose ends is measured; times are filled in later.
pub fn group(machine: &Machine, name: &str, transfers: &[(&str, &str, u64)]) -> Experiment {
    let place = Position { file: name.into(), line: 1, column: 1 };
    let device = |name| machine.device(name).expect("a device");
    Experiment {
        transfers: transfers.iter().map(|&(a, b, bytes)| Transfer { from: device(a), to: device(b), bytes }).collect(),
        rows: (0..transfers.len())
            .map(|i| MeasuredTime { place: place.clone(), seconds: 1.0, end: MeasuredEnd::Transfer(i) })
            .collect(),
        ..Experiment::plain(name)
    }
}

/// Fills measured times in: simulated ones, in whole picoseconds, times `noise` of each row.
pub fn measure(
    machine: &Machine,
    (arbiter, tau): (&str, Option<f64>),
    experiments: &mut [Experiment],
    noise: impl FnMut() -> f64,
) {
    measure_under(machine, &built_in(arbiter).with(&values(None, tau)), experiments, noise);
}

/// A built-in arbiter with its defaults.
pub fn built_in(name: &str) -> ArbiterSpec {
    ArbiterSpec::plain(registry().get(name).expect("a built-in arbiter"))
}

/// A value of `tau`, of a policy in a map of arbiters or of the only one.
pub fn values(policy: Option<&str>, tau: Option<f64>) -> ArbiterValues {
    let parameter = ArbiterParameter { policy: policy.map(str::to_owned), key: "tau".to_owned() };
    tau.map(|tau| (parameter, tau)).into_iter().collect()
}

/// As [`measure`], under any arbiter.
pub fn measure_under(
    machine: &Machine,
    arbiter: &ArbiterSpec,
    experiments: &mut [Experiment],
    mut noise: impl FnMut() -> f64,
) {
    let simulator = Simulator::new(machine, arbiter, &*experiments).expect("all can be simulated");
    let setting = Setting::of(machine);
    let seconds = simulator.seconds(&setting, |_| true).expect("all can be simulated");
    for (experiment, seconds) in experiments.iter_mut().zip(seconds) {
        for (row, seconds) in experiment.rows.iter_mut().zip(seconds) {
            row.seconds = (seconds * 1e12).round() * 1e-12 * noise();
        }
    }
}

/// The bandwidth of the first link of a named type.
pub fn bandwidth_of(machine: &Machine, setting: &Setting, name: &str) -> f64 {
    let at = machine.types.iter().position(|t| t.name == name).expect("a type");
    let links = (0..machine.fabric.links().len()).map(LinkId::from_index);
    let first = links.into_iter().find(|&l| machine.type_of(l) == Some(at)).expect("a link");
    setting.bandwidth[first.index()]
}

/// Where what was accepted lies.
pub fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/calibrate"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// All that is printed of a fit, and said of it.
pub fn printed(machine: &Machine, experiments: &[Experiment], fit: &Fit) -> String {
    let made = Made { arbiter: &fit.arbiter.name, arbiters: &[], per_link: false };
    let warnings = warnings(machine, experiments, fit, made);
    text(&FitReport { machine, experiments, logs: &[], fit, warnings: &warnings }) + &warnings.join("\n")
}

/// All that is printed of a fit is what was accepted under this name in `snapshots/calibrate`. Accept a change with
/// `INSTA_UPDATE=always`, and say why in the commit.
pub fn accepted(name: &str, machine: &Machine, experiments: &[Experiment], fit: &Fit) {
    let mut settings = settings();
    // The file has another name elsewhere, and errors of rows without noise are what is left of rounding.
    settings.add_filter(r"\A\S+, under", "machine.yaml, under");
    settings.add_filter(r"± \d\S*e-\d+", "± 0");
    settings.bind(|| insta::assert_snapshot!(name.replace(' ', "-"), printed(machine, experiments, fit)));
}
