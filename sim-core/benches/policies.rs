//! Every policy that has an incremental side, phase by phase and by what changes, on loads of the peer comparison.
//!
//! ```sh
//! cargo bench -p weir-sim-core --bench policies                 # ratios, then growth with the number of transfers
//! cargo bench -p weir-sim-core --bench policies -- fcfs         # policies whose names begin so
//! cargo bench -p weir-sim-core --bench policies -- --million    # 10^6 transfers among 1,024 hosts, seconds and memory
//! cargo bench -p weir-sim-core --bench policies -- '--once=po 64' fcfs    # that load once by what changes, for a profile
//! cargo bench -p weir-sim-core --bench policies -- '--once=po 64' --phases    # the same phase by phase
//! ```
//!
//! CPU seconds of the event loop, both ways in turns, the least of the runs. Targets and what is
//! reached: docs/performance.md.

#[path = "peers/load.rs"]
mod load;

use std::sync::Arc;

use load::{LOADS, Load, Size};
use rustix::time::{ClockId, clock_gettime};
use weir_sim_core::api::{ArbiterEntry, IncrementalEntry, Registry};
use weir_sim_core::{Outcome, RunOptions, Sharing, Simulation};

/// As `weir run` chooses: links may be quiet from so many transfers on, as nobody asks for peaks.
const PEAKS_BELOW: usize = 20_000;
/// Loads, and for each policy how many times faster than phase by phase its incremental side must be.
const TARGETS: [(&str, [f64; 5]); 5] = [
    ("po 8", [4.0, 200.0, 1.0, 5.0, 1.0]),
    ("po 64", [8.0, 500.0, 1.0, 20.0, 1.0]),
    ("po 1024", [10.0, 400.0, 1.0, 50.0, 1.0]),
    ("lo 1024", [1.0, 1.0, 1.0, 0.8, 1.0]),
    ("t0 64 x 3k", [10.0, 80.0, 1.0, 20.0, 1.0]),
];
/// The order of the policies in [`TARGETS`]: by name. Max-min and strict-priority have no target beside phase by phase.
const NAMES: [&str; 5] = ["equal-share", "fcfs", "max-min", "pcie-congestion", "strict-priority"];
/// The most that times may grow with the number of transfers: exponents for 8 and 64 hosts, and for 1,024.
const GROWTH: [(&str, f64, f64); 3] = [("equal-share", 1.2, 1.3), ("fcfs", 1.15, 1.1), ("pcie-congestion", 1.2, 1.3)];
const SIZES: [usize; 4] = [3_000, 10_000, 30_000, 100_000];

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn run(size: &Size, policy: &ArbiterEntry, entry: Option<&IncrementalEntry>) -> (f64, Outcome) {
    let begin = cpu_seconds();
    let outcome = simulate(size, policy, entry);
    (cpu_seconds() - begin, outcome)
}

fn simulate(size: &Size, policy: &ArbiterEntry, entry: Option<&IncrementalEntry>) -> Outcome {
    let params = "{}";
    let sharing = entry.map_or(Sharing::ByArbiter, |entry| Sharing::Incremental {
        entry,
        params,
        from: 0,
        peaks_below: PEAKS_BELOW,
    });
    let mut arbiter = (policy.make)(&size.fabric.view(), params).expect("no parameter is needed");
    let simulation = Simulation { fabric: &size.fabric, routes: &size.routes, tasks: &size.tasks };
    let options = RunOptions { sharing, ..RunOptions::default() };
    simulation.run(arbiter.as_mut(), policy.flags, options).expect("it ends")
}

fn load(name: &str) -> Load {
    *LOADS.iter().find(|load| load.name == name).expect("a load of the comparison")
}

/// The policies that have an incremental side, by name, as far as they are asked for.
fn policies(wanted: &[String]) -> Vec<Arc<ArbiterEntry>> {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).expect("distinct names");
    let named = |entry: &&Arc<ArbiterEntry>| wanted.is_empty() || wanted.iter().any(|w| entry.name.starts_with(w));
    registry.iter().filter(|entry| entry.incremental.is_some()).filter(named).cloned().collect()
}

fn ratios(policies: &[Arc<ArbiterEntry>]) {
    println!(
        "| load | policy | phase by phase, s | incremental, s | ratio | wanted | largest difference of an end, ps |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, targets) in TARGETS {
        let size = load(name).build();
        for policy in policies {
            let (mut plain, mut own, mut differ) = (f64::INFINITY, f64::INFINITY, 0);
            for _ in 0..3 {
                // A run of seconds is measured once.
                if plain == f64::INFINITY || plain < 2.0 {
                    let (time, one) = run(&size, policy, None);
                    plain = plain.min(time);
                    let (time, other) = run(&size, policy, policy.incremental.as_ref());
                    own = own.min(time);
                    let ends = one.tasks.iter().zip(&other.tasks);
                    differ = ends.map(|(a, b)| a.end.0.abs_diff(b.end.0)).max().unwrap_or(0);
                } else {
                    own = own.min(run(&size, policy, policy.incremental.as_ref()).0);
                }
            }
            let target = NAMES.iter().position(|&known| known == policy.name).map_or(1.0, |at| targets[at]);
            let (ratio, policy) = (plain / own, &policy.name);
            let met = if ratio >= target { "" } else { ", **not met**" };
            println!("| {name} | `{policy}` | {plain:.4} | {own:.4} | {ratio:.1} | {target}{met} | {differ} |");
        }
    }
}

/// Exponents of the line through the logarithms, by least squares.
fn growth(policies: &[Arc<ArbiterEntry>]) {
    println!("\n| policy | hosts | seconds at {SIZES:?} transfers | exponent | wanted |\n|---|---|---|---|---|");
    for policy in policies {
        for (hosts, name) in [(8, "po 8"), (64, "po 64"), (1024, "po 1024")] {
            let time = |&transfers: &usize| {
                let size = load(name).of(transfers).build();
                (transfers as f64, run(&size, policy, policy.incremental.as_ref()).0)
            };
            let points: Vec<(f64, f64)> = SIZES.iter().map(time).collect();
            let most = GROWTH.iter().find(|(known, ..)| *known == policy.name);
            let most =
                most.map_or(String::new(), |&(_, few, many)| format!("{}", if hosts < 1024 { few } else { many }));
            let seconds: Vec<String> = points.iter().map(|(_, time)| format!("{time:.4}")).collect();
            let (name, exponent) = (&policy.name, slope(&points));
            println!("| `{name}` | {hosts} | {} | {exponent:.2} | {most} |", seconds.join(", "));
        }
    }
}

fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
    let (xy, xx) = logs
        .iter()
        .fold((0.0, 0.0), |(xy, xx), p| (xy + (p.0 - mean.0) * (p.1 - mean.1), xx + (p.0 - mean.0) * (p.0 - mean.0)));
    xy / xx
}

/// A million transfers among 1,024 hosts; peak memory is that of the process so far.
fn million(policies: &[Arc<ArbiterEntry>]) {
    let size = load("po 1024").of(1_000_000).build();
    println!("| policy | seconds, 10^6 transfers among 1,024 hosts | peak memory, MiB |\n|---|---|---|");
    for policy in policies {
        let (time, _) = run(&size, policy, policy.incremental.as_ref());
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        println!("| `{}` | {time:.1} | {:.0} |", policy.name, peak.unwrap_or(0.0) / 1024.0);
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench" && word != "--test").collect();
    let (options, names): (Vec<String>, Vec<String>) = words.into_iter().partition(|word| word.starts_with("--"));
    let policies = policies(&names);
    if let Some(name) = options.iter().find_map(|option| option.strip_prefix("--once=")) {
        let (size, by_phases) = (load(name).build(), options.iter().any(|option| option == "--phases"));
        for policy in &policies {
            let outcome = simulate(&size, policy, policy.incremental.as_ref().filter(|_| !by_phases));
            println!("{}: {} transfers", policy.name, outcome.tasks.len());
        }
        return;
    }
    if options.iter().any(|option| option == "--million") {
        return million(&policies);
    }
    ratios(&policies);
    growth(&policies);
}
