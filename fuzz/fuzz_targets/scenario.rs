//! Any text as a scenario: it is refused with a message, or runs to an end under each of its arbiters. Never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_plugin_api::Registry;
use weir_scenario::{Input, LoadOptions, Scenario, load};
use weir_sim_core::{RunOptions, Simulation, Work};

/// Largest load that is run: bounds the events of one input.
const MOST_TASKS: usize = 200;
/// Largest fabric that is run.
const MOST_LINKS: usize = 2000;

fuzz_target!(|text: &[u8]| {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).expect("distinct names");
    match load(Input::text(text, "fuzz.yaml", None), &LoadOptions::default(), &registry) {
        Ok(scenario) => run(&scenario, &registry),
        Err(findings) => {
            assert!(!findings.is_empty(), "refused without a word");
            findings.iter().for_each(|f| drop(f.to_string()));
        }
    }
});

fn run(scenario: &Scenario, registry: &Registry) {
    let tasks = scenario.tasks.tasks();
    if tasks.len() > MOST_TASKS || scenario.fabric.links().len() > MOST_LINKS {
        return;
    }
    for spec in &scenario.arbiters {
        let entry = registry.get(&spec.name).expect("checked by the reader");
        let params = serde_json::Value::Object(spec.params.clone()).to_string();
        let Ok(mut arbiter) = (entry.make)(&scenario.fabric.view(), &params) else { continue };
        let classes = scenario.tasks.classes();
        let admitted = tasks.iter().all(|task| match task.work {
            Work::Carries { class, .. } => arbiter.admit(scenario.routes.links(classes.route(class))).is_ok(),
            _ => true,
        });
        if admitted {
            let simulation =
                Simulation { fabric: &scenario.fabric, routes: &scenario.routes, tasks: &scenario.tasks };
            let _ = simulation.run(arbiter.as_mut(), entry.flags, RunOptions { explain: true, ..RunOptions::default() });
        }
    }
}
