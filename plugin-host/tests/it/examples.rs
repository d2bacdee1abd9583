//! The plugins under `examples/plugins`, built as their READMEs say, probed, loaded and run.

use std::ffi::OsString;
use std::process::Command;

use crate::common::{Slots, Small, SmallRoutes, arbiter_of, cargo_build, cc, compile, model_of, program, root};
use tempfile::TempDir;
use weir_plugin_api::{
    Binding, CallError, Cause, Estimates, LinkId, Model, Plan, PlannedTask, PlannedWork, Relation, Surroundings,
};
use weir_plugin_host::{Library, probe};

fn equal_split(folder: &TempDir) -> Library {
    let file = folder.path().join("libequal_split.so");
    let source = root().join("examples/plugins/c-equal-split/equal-split.c");
    compile(cc().args(["-Werror", "-pedantic", "-shared", "-fPIC", "-o"]).arg(&file).arg(source));
    assert_eq!(probe(&file, program()).expect("accepted").arbiters[0].name, "equal-split");
    Library::open(&file).expect("accepted")
}

fn run(library: &Library, name: &str, params: &str) -> Slots {
    let (small, mut slots) = (Small::new(), Slots::new());
    let mut arbiter = (arbiter_of(library, name).make)(&small.fabric(), params).expect("created");
    arbiter.admit(&[LinkId(0), LinkId(3)]).expect("admitted");
    arbiter.allocate(&small.phase(0), &mut slots.grant()).expect("allocated");
    let first = slots.rates.clone();
    arbiter.allocate(&small.phase(1), &mut slots.grant()).expect("allocated");
    assert_eq!(slots.rates, first, "pure");
    slots
}

/// GPU 2's link down (12) is shared by three transfers: 4 each; GPU 1's link up (8) by two: 4 each, and stands first in
/// their route; GPU 3's (24) by two. The last transfer is held by its limit of 2.
#[test]
fn the_c_example_splits_each_link_equally() {
    let folder = TempDir::new().expect("a folder");
    let library = equal_split(&folder);
    let slots = run(&library, "equal-split", "{}");
    assert_eq!(slots.rates, [4.0, 4.0, 4.0, 2.0]);
    let shared = |link| Binding::new(LinkId(link), Cause::SharedLink, u32::MAX);
    let limited = Binding::new(LinkId::NONE, Cause::OwnLimit, u32::MAX);
    assert_eq!(slots.bindings, [shared(0), shared(0), shared(3), limited]);
    // A quarter stays free: 6 / 2, 9 / 3.
    assert_eq!(run(&library, "equal-split", r#"{"keep_free": 0.25}"#).rates, [3.0, 3.0, 3.0, 2.0]);
}

#[test]
fn the_c_example_refuses_wrong_parameters() {
    let folder = TempDir::new().expect("a folder");
    let plugin = arbiter_of(&equal_split(&folder), "equal-split");
    let long = format!(r#"{{"keep_free": 0.1{}}}"#, " ".repeat(300));
    for params in [r#"{"keep_free": 1}"#, r#"{"keep_free": -0.1}"#, r#"{"keep_free": "x"}"#, r#"{"other": 1}"#, &long] {
        match (plugin.make)(&Small::new().fabric(), params).err() {
            Some(CallError::Refused(text)) => assert!(text.contains("keep_free"), "{text}"),
            other => panic!("{params}: {other:?}"),
        }
    }
}

/// By source: GPU 2's link down (12) is used by two sources: 6 for GPU 3's one transfer, 3 for each of GPU 1's two.
/// By destination, the link is GPU 2's alone: 12 / 3 = 4; GPU 3's link up (24) has two groups: 12 each.
#[test]
fn the_rust_example_shares_by_group() {
    let library = Library::open(&cargo_build(&["-p", "weir-example-group-fair"], "so")).expect("accepted");
    assert_eq!(run(&library, "group-fair", "{}").rates, [3.0, 3.0, 6.0, 2.0]);
    let slots = run(&library, "group-fair", r#"{"group_by": "destination"}"#);
    assert_eq!(slots.rates, [4.0, 4.0, 4.0, 2.0]);
    assert_eq!(slots.bindings[2], Binding::new(LinkId(3), Cause::SharedLink, 0));

    let (small, mut steps) = (Small::new(), Vec::new());
    let plugin = arbiter_of(&library, "group-fair");
    let mut arbiter = (plugin.make)(&small.fabric(), "{}").expect("created");
    assert_eq!(arbiter.explain(&small.phase(0), &mut steps), Ok(true));
    assert_eq!((steps.len(), steps[4].step.as_str(), steps[4].rate), (8, "share", 6.0));
    assert_eq!(steps[4].because, [0, 1]);

    let error = (plugin.make)(&small.fabric(), r#"{"group": 1}"#).err().expect("refused").to_string();
    assert!(error.contains("unknown field `group`"), "{error}");
}

/// 64 bytes among GPUs 1, 2 and 3, whose narrowest route has 8 B/s: four steps of at most 22 bytes, and 3 ps of latency.
#[test]
fn the_rust_model_plans_a_ring() {
    let library = Library::open(&cargo_build(&["-p", "weir-example-ring-all-reduce"], "so")).expect("accepted");
    let mut model = (model_of(&library, "ring-all-reduce").make)().expect("created");
    let (plan, estimates) = plan_and_estimate(&mut *model, r#"{"params": {"devices": [1, 2, 3], "size": 64}}"#);
    assert_eq!((plan.len(), plan.engines().len(), plan.get(11).name), (12, 3, "send[2][3]"));
    let seconds = estimates.list[0].seconds;
    assert!((seconds - 4.0 * (22.0 / 8.0 + 3e-12)).abs() < 1e-12, "{seconds}");
    assert_eq!(estimates.list[0].relation, Relation::Unstated, "the routes differ");
    assert_eq!(estimates.details, r#"{"steps": 4, "largest_chunk_bytes": 22}"#);

    let mut refused = |params: &str| {
        let operation = format!(r#"{{"params": {params}}}"#);
        let small = Small::new();
        let around = Surroundings { fabric: &small.fabric(), routes: &SmallRoutes };
        model.plan(&operation, &around, &mut Plan::new()).expect_err("refused")
    };
    let lacking = refused(r#"{"devices": [1, 2, 4], "size": 64}"#);
    let CallError::Refused(text) = lacking else { panic!("{lacking:?}") };
    assert!(text.starts_with("devices: there is no route"), "{text}");
}

fn plan_and_estimate(model: &mut dyn Model, operation: &str) -> (Plan, Estimates) {
    let (small, mut plan, mut estimates) = (Small::new(), Plan::new(), Estimates::default());
    let around = Surroundings { fabric: &small.fabric(), routes: &SmallRoutes };
    model.plan(operation, &around, &mut plan).expect("planned");
    model.estimate(operation, &around, &mut estimates).expect("estimated");
    (plan, estimates)
}

#[test]
fn the_c_model_plans_a_delay() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("libdelay.so");
    let source = root().join("examples/plugins/c-delay/delay.c");
    compile(cc().args(["-Werror", "-pedantic", "-shared", "-fPIC", "-o"]).arg(&file).arg(source));
    let probed = probe(&file, program()).expect("accepted");
    assert_eq!((probed.arbiters.len(), probed.models[0].operations.as_slice()), (0, &["delay".to_owned()][..]));
    let mut model = (model_of(&Library::open(&file).expect("accepted"), "delay").make)().expect("created");

    // An id that reads like the key, too.
    for id in ["d", "time", r#"\"time\": 4"#] {
        let operation = format!(r#"{{"operation":"delay","id":"{id}","params":{{"time": 3000000}}}}"#);
        let (plan, estimates) = plan_and_estimate(&mut *model, &operation);
        let expected = PlannedTask::new("delay", &[], PlannedWork::Lasts(3e6));
        assert_eq!((plan.engines().len(), plan.iter().collect::<Vec<_>>()), (0, vec![expected]), "{operation}");
        let estimate = &estimates.list[0];
        assert_eq!((estimate.formula.as_str(), estimate.seconds, estimate.relation), ("delay", 3e-6, Relation::Equal));
    }
    let small = Small::new();
    let around = Surroundings { fabric: &small.fabric(), routes: &SmallRoutes };
    for operation in ["{}", r#"{"time": "x"}"#, r#"{"time": -1}"#] {
        let refused = CallError::Refused("time: give a time such as 3us".to_owned());
        assert_eq!(model.plan(operation, &around, &mut Plan::new()), Err(refused), "{operation}");
    }
}

/// As in a build that hides all that a header does not export.
#[test]
fn what_the_header_declares_is_exported_where_all_else_is_hidden() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("hidden.so");
    for example in ["equal-split", "fewest-bytes", "delay"] {
        let source = root().join(format!("examples/plugins/c-{example}/{example}.c"));
        compile(cc().args(["-fvisibility=hidden", "-shared", "-fPIC", "-o"]).arg(&file).arg(source));
        let probed = probe(&file, program()).expect("accepted");
        let (arbiters, ports) = (probed.arbiters.iter().map(|a| &a.name), probed.ports.iter().map(|p| &p.name));
        let names: Vec<_> = arbiters.chain(ports).chain(probed.models.iter().map(|m| &m.name)).collect();
        assert_eq!(names, [example]);
    }
}

/// A library in C++ has its functions under the names of C; this one lists nothing, which is told of a function that is found.
#[test]
fn what_the_header_declares_is_found_in_a_library_in_cpp() {
    let folder = TempDir::new().expect("a folder");
    let (source, file) = (folder.path().join("plugin.cpp"), folder.path().join("plugin.so"));
    for kind in ["arbiter", "port_arbiter", "model"] {
        let lists = format!("const weir_{kind}_table *weir_{kind}(uint32_t) {{ return nullptr; }}\n");
        std::fs::write(&source, format!("#include \"weir_plugin.h\"\n{lists}")).expect("written");
        let mut command = Command::new("c++");
        command.args(["-std=c++11", "-fvisibility=hidden", "-shared", "-fPIC", "-I"]);
        compile(command.arg(root().join("plugin-api/include")).arg("-o").arg(&file).arg(&source));
        let error = probe(&file, program()).expect_err("it lists nothing").to_string();
        assert!(error.contains(&format!("`weir_{kind}(0)` is null")), "{error}");
    }
}

/// What cannot catch panics is refused by the compiler; the same file with unwinding compiles.
#[test]
fn a_plugin_that_aborts_on_panic_does_not_compile() {
    let api = cargo_build(&["-p", "weir-plugin-api"], "rlib");
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("plugin.rs");
    let rustc = |export: &str, panic: &str| {
        std::fs::write(&file, MINIMAL.replace("EXPORT", export)).expect("written");
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc")));
        command.args(["--edition=2024", "--crate-type=cdylib", "--emit=metadata", "-C"]).arg(format!("panic={panic}"));
        let dependencies = api.parent().expect("in a folder").join("deps");
        command.arg("-L").arg(format!("dependency={}", dependencies.display()));
        command.arg("--extern").arg(format!("weir_plugin_api={}", api.display()));
        command.arg("--out-dir").arg(folder.path()).arg(&file).output().expect("rustc starts")
    };
    for export in ["export_arbiters", "export_port_arbiters", "export_models"] {
        let export = &format!("weir_plugin_api::{export}");
        let unwind = rustc(export, "unwind");
        assert!(unwind.status.success(), "{}", String::from_utf8_lossy(&unwind.stderr));
        let abort = rustc(export, "abort");
        let text = String::from_utf8_lossy(&abort.stderr);
        assert!(!abort.status.success() && text.contains("set panic = \"unwind\""), "{text}");
    }
}

/// With the lint that this workspace sets, since authors may set it too.
const MINIMAL: &str = r##"
#![deny(unsafe_code)]
use weir_plugin_api::{ArbiterPlugin, CallError, FabricView, Flags, Grant, PhaseView, RateArbiter};
use weir_plugin_api::{GrantView, LinkId, PortArbiter, PortArbiterPlugin, PortGrant};
use weir_plugin_api::{Model, ModelPlugin, Plan, Surroundings};
struct Minimal;
impl PortArbiter for Minimal {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> { Ok(ask.heads[0].slot) }
    fn commit(&mut self, _: &PortGrant<'_>) -> Result<(), CallError> { Ok(()) }
    fn state(&self, _: LinkId, _: &mut Vec<u64>) -> Result<bool, CallError> { Ok(true) }
}
impl PortArbiterPlugin for Minimal {
    const NAME: &'static str = "minimal";
    const VERSION: &'static str = "1.0.0";
    const DESCRIPTION: &'static str = "the first one";
    const FLAGS: Flags = Flags(0);
    fn params_schema() -> String { "{}".to_owned() }
    fn create(_: &FabricView<'_>, _: &str) -> Result<Self, CallError> { Ok(Self) }
}
impl RateArbiter for Minimal {
    fn allocate(&mut self, _: &PhaseView<'_>, _: &mut Grant<'_>) -> Result<(), CallError> { Ok(()) }
}
impl ArbiterPlugin for Minimal {
    const NAME: &'static str = "minimal";
    const VERSION: &'static str = "1.0.0";
    const FLAGS: Flags = Flags::PURE;
    fn params_schema() -> String { "{}".to_owned() }
    fn create(_: &FabricView<'_>, _: &str) -> Result<Self, CallError> { Ok(Self) }
}
impl Model for Minimal {
    fn plan(&mut self, _: &str, _: &Surroundings<'_>, _: &mut Plan) -> Result<(), CallError> { Ok(()) }
}
impl ModelPlugin for Minimal {
    const NAME: &'static str = "minimal";
    const VERSION: &'static str = "1.0.0";
    const OPERATIONS: &'static [&'static str] = &["minimal"];
    fn schema() -> String { r"{}".to_owned() }
    fn create() -> Result<Self, CallError> { Ok(Self) }
}
EXPORT!(Minimal);
"##;
