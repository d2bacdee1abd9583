//! What is said of operations of models beside their times: choices, bounds, and what computes beside what.

use serde_json::json;
use weir_plugin_api::{LinkId, Relation, SimDuration};
use weir_report::text;
use weir_scenario::{Choice, Scenario};
use weir_sim_core::{Outcome, Stop};

use crate::planned::{SECOND, estimate, reported};
use crate::ran::Ran;

fn told(change: impl FnOnce(&mut Scenario, &mut Outcome)) -> String {
    let finished = |scenario: &mut Scenario, outcome: &mut Outcome| {
        outcome.stop = Stop::Finished;
        change(scenario, outcome);
    };
    reported(finished, text::run)
}

/// Of numbers from 1 on the largest may only be the largest that was tried; of 1 alone, of words, and of a number without the
/// one before it that is not said.
#[test]
fn the_last_number_that_was_tried_is_told() {
    let is_told = |labels: &[&str], chosen: usize| {
        let choose = |scenario: &mut Scenario, _: &mut Outcome| {
            let alternatives = labels.iter().map(|label| ((*label).into(), SimDuration(SECOND))).collect();
            let key = "streams".into();
            scenario.operations[0].choice =
                Some(Choice { key, under_load: false, alternatives, chosen, not_tried: Vec::new() });
        };
        told(choose).contains("it is the most that was tried, more may be faster")
    };
    assert!(is_told(&["1", "2", "3"], 2) && is_told(&["3", "2", "1"], 0));
    assert!(!is_told(&["1", "2", "3"], 1) && !is_told(&["1", "2", "3"], 0));
    assert!(!is_told(&["1"], 0) && !is_told(&["1", "4"], 1) && !is_told(&["one", "two"], 1));
    assert!(!is_told(&["1", "3", "4", "2"], 3) && !is_told(&["2", "3", "1"], 2));
}

/// Six other ways and six that were not tried are named, and how many more there are.
#[test]
fn of_many_ways_some_are_named() {
    let text = |count: usize| {
        let choose = |scenario: &mut Scenario, _: &mut Outcome| {
            let alternatives = (0..=count).map(|i| (format!("way{i}").into(), SimDuration(SECOND))).collect();
            let not_tried = (0..count)
                .map(|at| weir_scenario::NotTried { at, label: format!("no{at}").into(), reason: "too small".into() })
                .collect();
            scenario.operations[0].choice =
                Some(Choice { key: "way".into(), under_load: false, alternatives, chosen: 0, not_tried });
        };
        told(choose)
    };
    let six = text(6);
    assert!(
        six.contains("way6 1.000 s\n") && six.contains("no5 was not tried: too small\n") && !six.contains("more"),
        "{six}"
    );
    let eight = text(8);
    assert!(eight.contains("way6 1.000 s, 2 more\n") && eight.contains("\nx: 2 more were not tried\n"), "{eight}");
    assert!(eight.contains("no5 was") && !eight.contains("no6"), "{eight}");
}

/// 2.5e12 operations a second, and 400 a second, which has no prefix.
#[test]
fn bounds_of_offloads_are_told_with_their_prefixes() {
    let text = told(|scenario, _| {
        let full = json!({ "flops": 2.5e12, "seconds": 0.004 });
        let zero = json!({ "flops": 2.5e9, "seconds": 4.0 });
        let mapped = json!({ "flops": 400.0, "seconds": 4e-6 });
        scenario.operations[0]
            .details
            .insert("roofline".into(), json!({ "full": full, "zero": zero, "mapped": mapped }));
    });
    let expected = "x: roofline: full overlap 2.500 Tflop/s (4.000 ms), no overlap 2.500 Gflop/s (4.000 s), \
                    mapped memory 400.000 flop/s (4.000 µs)\n";
    assert!(text.contains(expected), "{text}");
}

/// x carries nothing over links; y does. Three are named.
#[test]
fn offloads_apart_from_the_topology_are_told() {
    let apart = |models: &[&str], copies: usize| {
        let text = told(|scenario, _| {
            for (operation, model) in scenario.operations.iter_mut().zip(models) {
                operation.model = (*model).into();
            }
            let x = scenario.operations[0].clone();
            scenario.operations.extend(
                (0..copies).map(|i| weir_scenario::PlannedOperation { id: format!("x{i}").into(), ..x.clone() }),
            );
        });
        let line = text.lines().find(|line| line.contains("share no link")).map(str::to_owned);
        line.map(|line| line.split(": ").next().unwrap_or_default().to_owned())
    };
    assert_eq!(apart(&["offload", "offload"], 0).as_deref(), Some("x"));
    assert_eq!(apart(&["put", "put"], 0), None);
    assert_eq!(apart(&["put", "offload"], 0), None);
    assert_eq!(apart(&["offload", "put"], 2).as_deref(), Some("x, x0, x1"));
    assert_eq!(apart(&["offload", "put"], 4).as_deref(), Some("x, x0, x1 and 2 more"));
}

/// x from 0 to 11.5 s, y from 20 s to 31 s; k0 is at work on gpu0/copy from 20 s to 21 s.
#[test]
fn programs_that_compute_beside_each_other_are_told() {
    let notes = |nodes: [&[u32]; 2], change: fn(&mut Scenario, &mut Outcome)| -> Vec<String> {
        let text = told(|scenario, outcome| {
            for (operation, nodes) in scenario.operations.iter_mut().zip(nodes) {
                operation.details.insert("computes_on".into(), json!(nodes));
            }
            change(scenario, outcome);
        });
        let lines = text.lines().filter_map(|line| line.strip_prefix("note: "));
        lines
            .filter_map(|line| line.split_once(" run at the same time and both compute on "))
            .map(|(who, rest)| format!("{who} on {}", rest.split(", where").next().unwrap_or_default()))
            .collect()
    };
    let overlap = |_: &mut Scenario, outcome: &mut Outcome| outcome.tasks[5] = crate::planned::times(11.0, 11.0, 11.0);
    assert_eq!(notes([&[1, 2], &[1, 2]], |_, _| ()), [""; 0]);
    let follows = |_: &mut Scenario, outcome: &mut Outcome| outcome.tasks[5] = crate::planned::times(11.5, 11.5, 11.5);
    assert_eq!(notes([&[1, 2], &[1, 2]], follows), [""; 0]);
    assert_eq!(notes([&[1], &[2]], overlap), [""; 0]);
    assert_eq!(notes([&[1], &[1]], overlap), ["`x` and `y` on gpu0"]);
    assert_eq!(notes([&[1, 2], &[1, 2]], overlap), ["`x` and `y` on gpu0 and 1 more device"]);
    assert_eq!(notes([&[0, 1, 2], &[0, 1, 2]], overlap), ["`x` and `y` on rc and 2 more devices"]);
    assert_eq!(notes([&[1, 999], &[2]], overlap), [""; 0]);
}

/// 5 s less than 1 ps for each instant are equal; what is at most or at least as long is no error in its direction.
#[test]
fn a_broken_promise_is_told_in_its_direction() {
    let because = |seconds: f64, relation: Relation| {
        let text = told(|scenario, _| scenario.operations[0].estimates = vec![estimate("eq", seconds, relation)]);
        let is_error = text.contains("an error of the model");
        let row = text.lines().find(|line| line.starts_with("x ")).expect("a row");
        (row.contains("equal"), is_error)
    };
    // x takes 11.5 s; tasks start and end at 0, 1, 4, 4.5, 7.5, 9.5 and 11.5 s: seven instants, so 11.5 ns decide.
    assert_eq!(because(11.5, Relation::Equal), (true, false));
    assert_eq!(because(11.5 + 1.1e-8, Relation::Equal), (true, false));
    assert_eq!(because(11.5 + 1.2e-8, Relation::Equal), (false, true));
    assert_eq!(because(12.0, Relation::AtMost), (false, false));
    assert_eq!(because(11.0, Relation::AtMost), (false, true));
    assert_eq!(because(12.0, Relation::AtLeast), (false, true));
    assert_eq!(because(11.0, Relation::AtLeast), (false, false));
    assert_eq!(because(11.0, Relation::Unstated), (false, false));
}

/// A formula of half a second has a ratio, one of 0 s has none.
#[test]
fn differences_are_parts_of_formulas_that_are_not_0() {
    let row = |seconds: f64| {
        let text =
            told(|scenario, _| scenario.operations[0].estimates = vec![estimate("eq", seconds, Relation::Unstated)]);
        text.lines().find(|line| line.starts_with("x ")).expect("a row").to_owned()
    };
    assert!(row(0.5).contains("+2200.0 %"), "{}", row(0.5));
    assert!(row(0.0).contains("eq 0 s"), "{}", row(0.0));
    assert!(!row(0.0).contains('%'), "{}", row(0.0));
}

/// y takes 11 s, and goes up from gpu0, link 0, and down to gpu1, link 3: changes of others are no excuse.
#[test]
fn links_that_changed_excuse_what_crosses_them() {
    let changed = Ran::new("events", 0).outcome.link_changes[0];
    let because = |link: Option<u32>| {
        let text = told(|scenario, outcome| {
            scenario.operations[1].estimates = vec![estimate("eq", 12.0, Relation::Equal)];
            let mut totals = changed;
            totals.link = LinkId(link.unwrap_or_default());
            outcome.link_changes = link.map(|_| totals).into_iter().collect();
        });
        let line = text.lines().find(|line| line.starts_with("y: 8.3 % below eq: ")).expect("a reason");
        line["y: 8.3 % below eq: ".len()..].split(',').next().unwrap_or_default().to_owned()
    };
    assert_eq!(because(None), "expected equal");
    assert_eq!(because(Some(1)), "expected equal");
    assert_eq!(because(Some(0)), "links changed during the run");
    assert_eq!(because(Some(3)), "links changed during the run");
}

/// k3 computes by tasks of its own, and k2 while those of k1 do on one device.
#[test]
fn an_operation_does_not_compute_beside_itself() {
    let mut ran = Ran::new("operations", 0);
    let device = |ran: &Ran, name| ran.scenario.node(name).expect("a GPU").0;
    let nodes = [("k3", device(&ran, "gpu2")), ("k2", device(&ran, "gpu3"))];
    for operation in &mut ran.scenario.operations {
        if let Some((_, node)) = nodes.iter().find(|(id, _)| *operation.id == **id) {
            operation.details.insert("computes_on".into(), json!([node]));
        }
    }
    let text = ran.report(text::run);
    let told: Vec<&str> = text.lines().filter(|line| line.contains("both compute on")).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("note: `k2` and `k1` run at the same time and both compute on gpu3, "), "{told:?}");
}

/// Ten plans are shown, and how many more there are.
#[test]
fn plans_are_cut() {
    let more = |count: usize| {
        let copies = |scenario: &mut Scenario, _: &mut Outcome| {
            let x = scenario.operations[0].clone();
            scenario.operations = (0..count)
                .map(|i| weir_scenario::PlannedOperation { id: format!("x{i}").into(), ..x.clone() })
                .collect();
        };
        let text = reported(copies, text::explain);
        text.lines().find(|line| line.contains("more operations")).map(str::to_owned)
    };
    assert_eq!(more(10), None);
    assert_eq!(more(12).as_deref(), Some("… 2 more operations: --json lists all"));
}
