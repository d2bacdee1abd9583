//! Scenarios whose names are read from a text, and whose tasks are written by hand.

use weir_plugin_api::Registry;
use weir_scenario::{Input, LoadOptions, Scenario, load};

/// Reads a scenario; results give its digest as `00`.
pub fn loaded(file: &str, text: &str) -> Scenario {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).expect("new names");
    let mut scenario = load(Input::text(text, file, None), &LoadOptions::default(), &registry).expect("is right");
    scenario.input_sha256 = "00".to_owned();
    scenario
}
