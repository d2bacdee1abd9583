//! What must hold of any bytes that weir reads: they are refused with a message, or taken whole. Never a panic, never a hang.
//!
//! Each target is a function of bytes. The fuzzer calls it (`fuzz/`), and so do the tests of this crate, on a stable toolchain,
//! with seeds that they change.

mod fits;
mod movers;
mod own_files;
mod packet_runs;
mod scenarios;
mod tables;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use weir::optimize::PartFile;
use weir_calibrate::read::{LogKind, ReadOptions, read_log_text};
use weir_report::page::Page;
use weir_report::{Column, Comparison};
use weir_scenario::{LoadOptions, Machine};

pub use fits::fits;
pub use movers::movers;
pub use own_files::{checkpoint, list};
pub use packet_runs::packets;
pub use scenarios::scenario;
pub use tables::table;

/// A kind of input.
pub struct Target {
    /// Its name, that of the fuzzer's target.
    pub name: &'static str,
    /// Panics where something does not hold.
    pub check: fn(&[u8]),
    /// Inputs to begin with: right ones, and wrong ones that are nearly right.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 11] = [
    Target { name: "scenario", check: scenario, seeds: scenarios::seeds },
    Target { name: "dump", check: dump, seeds: || corpus("dump") },
    Target { name: "log", check: log, seeds: || corpus("log") },
    Target { name: "fit", check: fits, seeds: || corpus("fit") },
    Target { name: "saved", check: saved, seeds: saved_seeds },
    Target { name: "part", check: part, seeds: || corpus("part") },
    Target { name: "checkpoint", check: checkpoint, seeds: own_files::checkpoint_seeds },
    Target { name: "list", check: list, seeds: own_files::list_seeds },
    Target { name: "table", check: table, seeds: tables::seeds },
    Target { name: "movers", check: movers, seeds: movers::seeds },
    Target { name: "packets", check: packets, seeds: packet_runs::seeds },
];

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files of a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    files(&folder).iter().map(|file| std::fs::read(file).expect("is read")).collect()
}

/// A dump of a machine: its topology file is read by weir itself, without a finding, and is the same a second time. The same with
/// NVLinks or xGMI links that are added.
pub fn dump(bytes: &[u8]) {
    let added = |text: &str| Some(text.parse().expect("a model"));
    for add in [None, added("nvswitch=h100"), added("xgmi=mi300x")] {
        dump_with(bytes, &weir_import::Options { add, ..weir_import::Options::default() });
    }
}

fn dump_with(bytes: &[u8], options: &weir_import::Options) {
    match weir_import::import(bytes, "dump", options) {
        Ok(import) => {
            let again = weir_import::import(bytes, "dump", options).expect("the same bytes");
            assert_eq!(again.yaml, import.yaml, "one dump, two topologies");
            let inline: String = import.yaml.lines().map(|line| format!("  {line}\n")).collect();
            let text = format!("weir: 1\ntopology:\n{inline}workload: [barrier: {{ id: b }}]\n");
            if let Err(error) = weir::Scenario::opener().load(weir_scenario::Input::text(text, "dump", None)) {
                panic!("{error}\nof what was imported:\n{}", import.yaml);
            }
        }
        Err(refusal) => {
            assert!(!refusal.message.is_empty() && refusal.line != Some(0), "{refusal}");
            assert!(refusal.help.is_some_and(|help| !help.is_empty()), "no remedy: {}", refusal.message);
        }
    }
}

/// A log of measurements, of the kind that it seems to be, and of every other kind.
pub fn log(bytes: &[u8]) {
    static MACHINE: LazyLock<Machine> = LazyLock::new(|| {
        let registry = weir::Registry::built_in().expect("built-in names are distinct");
        let file = root().join("scenarios/topologies/two-socket-8gpu.yaml");
        Machine::load(&file, &LoadOptions::default(), &registry).expect("a machine of the library")
    });
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for kind in std::iter::once(None).chain(LogKind::ALL.into_iter().map(Some)) {
        let options = ReadOptions { kind, ..ReadOptions::default() };
        match read_log_text("log", text, &MACHINE, &options) {
            Ok((_, log)) => {
                for experiment in &log.experiments {
                    assert!(!experiment.transfers.is_empty(), "{} measures nothing", experiment.name);
                    for row in &experiment.rows {
                        assert!(row.seconds.is_finite() && row.seconds > 0.0, "{}: {} s", experiment.name, row.seconds);
                    }
                }
            }
            Err(finding) => assert!(!finding.to_string().is_empty()),
        }
    }
}

/// A saved result: what `compare` and `report` take has no contradictions that they would stumble over.
pub fn saved(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let columns = Column::of_saved("saved", text);
    if let Ok(columns) = columns
        && !columns.is_empty()
    {
        let comparison = Comparison::new(columns);
        comparison.write(std::io::sink()).expect("a sink takes everything");
    }
    let mut page = Page::default();
    if page.add_saved("saved", text).is_ok() {
        page.write(std::io::sink()).expect("a sink takes everything");
    }
}

/// A part of a search, with a right digest: what it holds is another matter.
pub fn part(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let object = text.trim_end();
    // One of a fuzzer's changes is the digest itself.
    let _ = PartFile::read(object);
    if object.len() < 2 || !object.ends_with('}') {
        return;
    }
    let parts: Result<Vec<_>, _> =
        std::iter::once(PartFile::read(weir_optimize::with_digest(object).trim_end())).collect();
    if let Ok(parts) = parts
        && let Ok(report) = weir::optimize::merge(parts)
    {
        report.write(std::io::sink()).expect("a sink takes everything");
    }
}

/// Results of small scenarios of the library, with all that can be saved.
fn saved_seeds() -> Vec<Vec<u8>> {
    let small = ["pcie/four-transfers.yaml", "offload/eight-gpus-t2.yaml", "multilevel/gather-shared-network.yaml"];
    let json = |file: &str| {
        let scenario = weir::Scenario::open(root().join("scenarios").join(file)).expect("a scenario of the library");
        let run = scenario
            .run_with(&weir::RunOptions { explanations: true, ..weir::RunOptions::default() })
            .expect("it runs");
        let full = weir_report::Detail { phases: true, full: true };
        let mut written = Vec::new();
        run.report(|run| weir_report::write_run(run, full, &mut written)).expect("it has a report").expect("written");
        written
    };
    small.into_iter().map(json).collect()
}
