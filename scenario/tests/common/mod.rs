//! What the tests of the format share: a registry of two arbiters, the topology T2, and shapes of findings.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod models;

use std::path::Path;

use weir_plugin_api::{
    ArbiterEntry, ArbiterPlugin, CallError, FabricView, Flags, Grant, PhaseView, RateArbiter, Registry, SimTime,
};
use weir_scenario::{Diagnostic, Input, LoadOptions, Scenario, load};
use weir_sim_core::{TaskId, Work};

macro_rules! arbiter {
    ($type:ident, $name:literal, $schema:literal) => {
        /// Gives every transfer 1 B/s; only its name and schema matter here.
        pub struct $type;

        impl RateArbiter for $type {
            fn allocate(&mut self, _: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
                grant.rates.fill(1.0);
                grant.recheck = SimTime::NEVER;
                Ok(())
            }
        }

        impl ArbiterPlugin for $type {
            const NAME: &'static str = $name;
            const VERSION: &'static str = "1";
            const FLAGS: Flags = Flags::PURE;

            fn params_schema() -> String {
                $schema.to_owned()
            }

            fn create(_: &FabricView<'_>, _: &str) -> Result<Self, CallError> {
                Ok(Self)
            }
        }
    };
}

arbiter!(MaxMin, "max-min", r#"{"type":"object","properties":{}}"#);
arbiter!(
    Pcie,
    "pcie-congestion",
    r##"{"type":"object","properties":{
        "tau":{"type":"number","minimum":0,"exclusiveMaximum":0.5},
        "hol":{"type":"boolean"},
        "rounds":{"type":["integer","null"],"minimum":1},
        "mode":{"$ref":"#/$defs/Mode"},
        "burst":{"type":"number","x-weir-quantity":"bytes"},
        "floor":{"type":"number","x-weir-quantity":"bandwidth"},
        "quantum":{"type":"number","x-weir-quantity":"time"}},
      "$defs":{"Mode":{"type":"string","enum":["fast","slow"]}}}"##
);

/// The two arbiters.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.add(ArbiterEntry::builtin::<MaxMin>()).unwrap();
    registry.add(ArbiterEntry::builtin::<Pcie>()).unwrap();
    registry.set_default_arbiter("max-min");
    registry
}

/// The topology T2, written as a topology file.
pub const T2: &str = "\
weir: 1
name: cs-storm-t2
link_types:
  pcie: { bandwidth: 11.6GB/s }
tree:
  rc:
    kind: root-complex
    children:
      plx0:
        kind: switch
        link: pcie
        children:
          k80a: { kind: switch, link: pcie, children: { \"gpu[0-1]\": { kind: gpu, link: pcie } } }
          k80b: { kind: switch, link: pcie, children: { \"gpu[2-3]\": { kind: gpu, link: pcie } } }
      plx1:
        kind: switch
        link: pcie
        children:
          k80c: { kind: switch, link: pcie, children: { \"gpu[4-5]\": { kind: gpu, link: pcie } } }
          k80d: { kind: switch, link: pcie, children: { \"gpu[6-7]\": { kind: gpu, link: pcie } } }
";

/// A scenario on T2 in place, ending with `rest`: four lines come before it.
pub fn on_t2(rest: &str) -> String {
    let link = "link: { bandwidth: 11.6GB/s }";
    let pair = |name: &str, gpus: &str| {
        format!("{name}: {{ kind: switch, {link}, children: {{ \"gpu[{gpus}]\": {{ kind: gpu, {link} }} }} }}")
    };
    let plx = |name: &str, inside: String| format!("{name}: {{ kind: switch, {link}, children: {{ {inside} }} }}");
    let left = plx("plx0", format!("{}, {}", pair("k80a", "0-1"), pair("k80b", "2-3")));
    let right = plx("plx1", format!("{}, {}", pair("k80c", "4-5"), pair("k80d", "6-7")));
    format!(
        "weir: 1\nname: test\ntopology:\n  tree: {{ rc: {{ kind: root-complex, children: {{ {left}, {right} }} }} }}\n{rest}"
    )
}

/// Reads a text without a folder.
pub fn read(text: impl Into<Vec<u8>>) -> Result<Scenario, Vec<Diagnostic>> {
    load(Input::text(text, "-", None), &LoadOptions::default(), &registry())
}

/// Reads a text that must be right.
#[track_caller]
pub fn good(text: &str) -> Scenario {
    read(text).unwrap_or_else(|found| panic!("{}", found.iter().map(|d| format!("{d}\n")).collect::<String>()))
}

/// Reads a text that must be wrong.
#[track_caller]
pub fn bad(text: impl Into<Vec<u8>>) -> Vec<Diagnostic> {
    let found = read(text).map(|s| s.name).expect_err("the scenario must be refused");
    assert!(!found.is_empty());
    found
}

/// Line, column, message and help of the first finding.
#[track_caller]
pub fn first_bad(text: impl Into<Vec<u8>>) -> (u32, u32, String, String) {
    let found = bad(text).remove(0);
    let position = found.position.clone().unwrap_or_else(|| panic!("no position: {found}"));
    assert_eq!(&*position.file, "<stdin>");
    (position.line, position.column, found.message, found.help.expect("a remedy"))
}

/// `id from->to bytes` of every transfer, in task order.
pub fn transfers(scenario: &Scenario) -> Vec<String> {
    let line = |(i, task): (usize, &weir_sim_core::Task)| {
        let Work::Carries { bytes, .. } = task.work else { return None };
        let id = TaskId(i as u32);
        let (from, to) = scenario.ends(id)?;
        let name = scenario.task_name(id);
        Some(format!("{name} {}->{} {bytes}", scenario.node_name(from), scenario.node_name(to)))
    };
    scenario.tasks.tasks().iter().enumerate().filter_map(line).collect()
}

/// Writes files into a folder.
pub fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}
