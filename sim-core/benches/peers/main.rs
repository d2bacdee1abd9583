//! The loads of `benches/peers` on weir and, where it is installed, on SimGrid, in turns; prints one table of ratios.
//!
//! ```sh
//! cargo bench -p weir-sim-core --bench peers                     # without the loads that take minutes
//! cargo bench -p weir-sim-core --bench peers -- --large --runs 5
//! cargo bench -p weir-sim-core --bench peers -- po               # loads whose names begin so
//! cargo bench -p weir-sim-core --bench peers -- hard             # what an event costs at worst
//! ```
//!
//! CPU seconds (of the process, from the operating system) of the event loop alone on both sides: the platform, routes and
//! reading of the load are not counted. Medians over the runs; SimGrid's better mode counts. The ends of every transfer must
//! agree with SimGrid's to 1e-9 of the instant, or 20 ps + 1 ps per event so far, else the bench fails. All figures are written
//! to `target/peers/peers.csv`.

mod hard;
mod load;
mod simgrid;
mod table;

use std::path::PathBuf;

use load::{LOADS, Load, Size};
use rustix::time::{ClockId, clock_gettime};
use simgrid::SimGrid;
use table::{Row, Table};
use weir_arbiters::{MaxMin, Shares};
use weir_sim_core::api::{ArbiterPlugin, IncrementalEntry};
use weir_sim_core::{Fabric, Outcome, Routes, RunOptions, Sharing, Simulation, TaskGraph};

/// As `weir run` chooses: links may be quiet from so many transfers on, as nobody asks for peaks.
const PEAKS_BELOW: usize = 20_000;
/// A phase-by-phase run of more transfers at once would take minutes.
const PLAIN_UP_TO: usize = 3_000;

/// What the command line says.
struct Arguments {
    runs: usize,
    large: bool,
    names: Vec<String>,
}

fn arguments() -> Arguments {
    let mut all = Arguments { runs: 3, large: false, names: Vec::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--bench" | "--test" => {}
            "--large" => all.large = true,
            "--runs" => all.runs = words.next().and_then(|n| n.parse().ok()).filter(|&n| n > 0).expect("--runs N"),
            name => all.names.push(name.to_owned()),
        }
    }
    all
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// One run of weir: its CPU seconds and its result.
fn run(size: &Size, sharing: Sharing<'_>) -> (f64, Outcome) {
    run_tasks((&size.fabric, &size.routes, &size.tasks), sharing)
}

fn run_tasks((fabric, routes, tasks): (&Fabric, &Routes, &TaskGraph), sharing: Sharing<'_>) -> (f64, Outcome) {
    let mut arbiter = MaxMin::create(&fabric.view(), "{}").expect("no parameters");
    let simulation = Simulation { fabric, routes, tasks };
    let options = RunOptions { sharing, ..RunOptions::default() };
    let begin = cpu_seconds();
    let outcome = simulation.run(&mut arbiter, MaxMin::FLAGS, options).expect("it ends");
    (cpu_seconds() - begin, outcome)
}

fn measure(load: &Load, runs: usize, peer: Option<&SimGrid>, folder: &std::path::Path) -> Row {
    let size = load.build();
    let path = folder.join(load.name.replace(' ', "_"));
    let peer = peer.filter(|_| load.on_simgrid);
    if peer.is_some() {
        std::fs::write(&path, &size.text).expect("the load can be written");
    }
    let side = IncrementalEntry::of::<Shares>();
    let (mut own, mut plain, mut lazy, mut full) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut ends, mut theirs) = (None, None);
    for _ in 0..runs {
        if let Some(peer) = peer {
            for (mode, times) in [("Lazy", &mut lazy), ("Full", &mut full)] {
                let (time, ends) = peer.run(&path, mode);
                times.push(time);
                theirs = Some(ends);
            }
        }
        let (time, outcome) =
            run(&size, Sharing::Incremental { entry: &side, params: "{}", from: 0, peaks_below: PEAKS_BELOW });
        own.push(time);
        ends = Some(outcome.tasks.iter().map(|t| t.end.0).collect::<Vec<u64>>());
        if !load.at_once || load.transfers <= PLAIN_UP_TO {
            plain.push(run(&size, Sharing::ByArbiter).0);
        }
    }
    if let (Some(ours), Some(theirs)) = (&ends, &theirs) {
        simgrid::compare(load.name, &size.starts, ours, theirs);
    }
    let simgrid = [median(lazy), median(full)].into_iter().flatten().min_by(f64::total_cmp);
    Row { load: *load, hosts: size.hosts, simgrid, plain: median(plain), own: median(own).expect("at least one run") }
}

fn main() {
    let arguments = arguments();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../peers");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let peer = SimGrid::build(&folder);
    if peer.is_none() {
        println!("SimGrid is not installed (Debian: libsimgrid-dev, g++): its columns stay empty.");
    }
    let wanted = |load: &&Load| {
        let named = arguments.names.iter().any(|n| load.name.starts_with(n.as_str()));
        if arguments.names.is_empty() { arguments.large || !load.takes_minutes } else { named }
    };
    let mut table = Table::begin();
    for load in LOADS.iter().filter(wanted) {
        table.add(measure(load, arguments.runs, peer.as_ref(), &folder));
    }
    table.growth();
    table.write_csv(&folder.join("peers.csv"));
    if arguments.names.is_empty() || arguments.names.iter().any(|name| name == "hard") {
        hard::table(arguments.runs);
    }
}
