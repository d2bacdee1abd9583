//! Any text as a scenario.

use std::sync::LazyLock;

use weir::{RunOptions, Scenario};

/// Largest load that is run: bounds the events of one input.
const MOST_TASKS: usize = 200;
/// Largest fabric that is run.
const MOST_LINKS: usize = 2000;
/// The simulated time that is run, ps: a second of transfers is enough to meet every rule.
const UNTIL: u64 = 1_000_000_000_000;

/// A scenario is refused with a message, or runs under each of its arbiters; both ways to move bytes, phase by phase and by
/// what changes, take every transfer to its end, and the audit finds nothing.
pub fn scenario(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Scenario::opener().load(weir_scenario::Input::text(text, "fuzz.yaml", None)) {
        Ok(scenario) => run(&scenario),
        Err(error) => assert!(!error.to_string().is_empty(), "refused without a word"),
    }
}

fn run(scenario: &Scenario) {
    let contents = scenario.contents();
    if contents.tasks.tasks().len() > MOST_TASKS || contents.fabric.links().len() > MOST_LINKS {
        return;
    }
    // Warnings must not panic, either.
    let _ = scenario.check();
    let until = Some(weir_plugin_api::SimTime(UNTIL));
    for spec in scenario.arbiters() {
        let plain = scenario.run_under(spec, &RunOptions { until, ..RunOptions::default() });
        let phases = scenario.run_under(spec, &RunOptions { until, explanations: true, ..RunOptions::default() });
        match (plain, phases) {
            (Ok(plain), Ok(phases)) => {
                assert_eq!(plain.complete(), phases.complete(), "under {}", spec.name);
                let json = plain.to_json().expect("a result can be written");
                // What weir writes, it reads: numbers are numbers, times do not contradict each other.
                let read = weir_report::Column::of_saved("own", &json);
                assert!(read.is_ok(), "under {}: {}\n{json}", spec.name, read.expect_err("refused"));
            }
            (Err(one), Err(other)) => assert_eq!(one.to_string().is_empty(), other.to_string().is_empty()),
            // A deadlock or a wrong answer must not depend on what is recorded.
            (one, other) => panic!("under {}: {:?} without phases, {:?} with", spec.name, one.err(), other.err()),
        }
    }
}

/// The smaller scenarios of the library whose topology is in the same file, or is put there.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    static SEEDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
        let folder = super::root().join("scenarios");
        let folders = super::files(&folder).into_iter().filter(|path| path.is_dir());
        let files = folders.flat_map(|folder| super::files(&folder));
        let yaml = files.filter(|path| path.extension().is_some_and(|ending| ending == "yaml"));
        yaml.filter_map(|path| with_topology(&path)).filter(|text| text.len() < 6000).map(String::into_bytes).collect()
    });
    SEEDS.clone()
}

/// The text of a scenario, with the topology that it names in its place.
fn with_topology(path: &std::path::Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let Some(line) = text.lines().find(|line| line.starts_with("topology: ") && line.ends_with(".yaml")) else {
        return text.contains("\nworkload").then_some(text);
    };
    let named = path.parent()?.join(line.trim_start_matches("topology: "));
    let topology = std::fs::read_to_string(named).ok()?;
    let inline: String = topology.lines().map(|line| format!("  {line}\n")).collect();
    Some(text.replacen(line, &format!("topology:\n{}", inline.trim_end()), 1))
}
