//! Why measurements give no fit.

use std::path::Path;

use weir::{LoadOptions, Registry, measured_logs, unfitted};
use weir_calibrate::ReadOptions;
use weir_calibrate::fit::FitError;
use weir_scenario::{ArbiterParameter, Machine};

use crate::joint::file;

fn machine(registry: &Registry) -> Machine {
    let topology = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/topologies/two-socket-8gpu.yaml");
    Machine::load(&topology, &LoadOptions::default(), registry).expect("a topology of the library")
}

/// Rows without a time cannot be used: the first is named, and how many more there are, if any.
#[test]
fn the_reason_of_most_rows_is_named() {
    let machine = machine(&Registry::built_in().expect("the built-in ones"));
    let of = |rows: usize| {
        let path =
            file(&format!("nan-{rows}.csv"), &format!("from,to,bytes,seconds\n{}", "gpu0,gpu1,1,nan\n".repeat(rows)));
        measured_logs(&[path], &machine, &ReadOptions::default()).expect_err("no time").to_string()
    };
    assert!(of(1).contains("`seconds` is `nan`") && !of(1).contains("more"), "{}", of(1));
    assert!(of(3).contains(":2:") && of(3).contains("`nan` (and 2 more for this reason)"), "{}", of(3));
}

/// A parameter that the arbiter has elsewhere is named with where it stands, and no other.
#[test]
fn where_a_parameter_stands_is_named() {
    let registry = Registry::built_in().expect("the built-in ones");
    let of = |key: &str| {
        let at = |policy: &str, key: &str| ArbiterParameter { policy: Some(policy.to_owned()), key: key.to_owned() };
        let marked = vec![at("pcie", "tau"), at("qpi", "beta")];
        let error = FitError::NotMarked { key: key.to_owned(), arbiter: "both".to_owned(), marked };
        unfitted(&error, &machine(&registry), &registry).to_string()
    };
    assert!(of("tau").contains("use --fit pcie.tau") && !of("tau").contains("beta"), "{}", of("tau"));
    assert!(of("none").contains("fit bandwidth, latency"), "{}", of("none"));
}
