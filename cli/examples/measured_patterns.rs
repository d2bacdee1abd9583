//! Writes a scenario for each measured pattern of copies between GPUs (`scenarios/measured/pcie-switches.csv`), with what was measured.

#![allow(dead_code, reason = "the tables of docs/accuracy.md use the rest of the module")]

#[path = "../tests/it/accuracy/patterns.rs"]
mod patterns;

use std::path::PathBuf;

use clap::Parser;
use patterns::{POLICIES, Pattern};

/// Writes a scenario for each measured pattern of copies between GPUs.
#[derive(Parser)]
struct Arguments {
    /// Where to write them; made where it is missing.
    folder: PathBuf,
    /// The policy: max-min, pcie-congestion, input-fifo, or packets.
    #[arg(default_value = "input-fifo")]
    policy: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Arguments { folder, policy } = Arguments::parse();
    let is_named = |heading: &str| heading.trim_matches('`') == policy;
    let policy = POLICIES.into_iter().find(|known| is_named(known.heading));
    let policy = policy.ok_or("the policy is one of max-min, pcie-congestion, input-fifo, packets")?;
    let topologies = folder.join("topologies");
    std::fs::create_dir_all(&topologies)?;
    for entry in std::fs::read_dir(patterns::measured().join("../topologies"))? {
        let file = entry?;
        if file.file_name().to_string_lossy().starts_with("wrx90-") {
            std::fs::copy(file.path(), topologies.join(file.file_name()))?;
        }
    }
    let patterns = Pattern::all();
    for (number, pattern) in (1..).zip(&patterns) {
        let wiring = if pattern.wiring.is_empty() { String::new() } else { format!("-{}", pattern.wiring) };
        let file = format!("{}{wiring}-{number:03}.yaml", pattern.machine);
        let what = if pattern.is_mean { "the sum of single rates" } else { "all bytes over the makespan" };
        let head = format!("# {}. Measured: {} GB/s, {what}.\n", pattern.text, pattern.rate);
        std::fs::write(folder.join(file), head + &pattern.scenario(policy, "topologies"))?;
    }
    println!("{} scenarios in {}", patterns.len(), folder.display());
    Ok(())
}
