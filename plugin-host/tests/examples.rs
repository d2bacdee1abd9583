//! The plugins under `examples/plugins`, built as their READMEs say, probed, loaded and run.

mod common;

use std::ffi::OsString;
use std::process::Command;

use common::{Slots, Small, arbiter_of, cargo_build, cc, compile, program, root};
use tempfile::TempDir;
use weir_plugin_api::{ArbiterError, Binding, Cause, LinkId, RateArbiter as _};
use weir_plugin_host::{Library, LoadedArbiter, probe};

fn equal_split(folder: &TempDir) -> Library {
    let file = folder.path().join("libequal_split.so");
    let source = root().join("examples/plugins/c-equal-split/equal-split.c");
    compile(cc().args(["-Werror", "-pedantic", "-shared", "-fPIC", "-o"]).arg(&file).arg(source));
    assert_eq!(probe(&file, program()).expect("accepted")[0].name, "equal-split");
    Library::open(&file).expect("accepted")
}

fn run(library: &Library, name: &str, params: &str) -> Slots {
    let (small, mut slots) = (Small::new(), Slots::new());
    let mut arbiter = LoadedArbiter::create(&arbiter_of(library, name), &small.fabric(), params).expect("created");
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
        match LoadedArbiter::create(&plugin, &Small::new().fabric(), params).err() {
            Some(ArbiterError::Refused(text)) => assert!(text.contains("keep_free"), "{text}"),
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
    let mut arbiter = LoadedArbiter::create(&plugin, &small.fabric(), "{}").expect("created");
    assert_eq!(arbiter.explain(&small.phase(0), &mut steps), Ok(true));
    assert_eq!((steps.len(), steps[4].step.as_str(), steps[4].rate), (8, "share", 6.0));
    assert_eq!(steps[4].because, [0, 1]);

    let error = LoadedArbiter::create(&plugin, &small.fabric(), r#"{"group": 1}"#).err().expect("refused").to_string();
    assert!(error.contains("unknown field `group`"), "{error}");
}

/// What cannot catch panics is refused by the compiler; the same file with unwinding compiles.
#[test]
fn a_plugin_that_aborts_on_panic_does_not_compile() {
    let api = cargo_build(&["-p", "weir-plugin-api"], "rlib");
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("plugin.rs");
    std::fs::write(&file, MINIMAL).expect("written");
    let rustc = |panic: &str| {
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc")));
        command.args(["--edition=2024", "--crate-type=cdylib", "--emit=metadata", "-C"]).arg(format!("panic={panic}"));
        let dependencies = api.parent().expect("in a folder").join("deps");
        command.arg("-L").arg(format!("dependency={}", dependencies.display()));
        command.arg("--extern").arg(format!("weir_plugin_api={}", api.display()));
        command.arg("--out-dir").arg(folder.path()).arg(&file).output().expect("rustc starts")
    };
    let unwind = rustc("unwind");
    assert!(unwind.status.success(), "{}", String::from_utf8_lossy(&unwind.stderr));
    let abort = rustc("abort");
    let text = String::from_utf8_lossy(&abort.stderr);
    assert!(!abort.status.success() && text.contains("set panic = \"unwind\""), "{text}");
}

/// With the lint that this workspace sets, since authors may set it too.
const MINIMAL: &str = r#"
#![deny(unsafe_code)]
use weir_plugin_api::{ArbiterError, ArbiterPlugin, FabricView, Flags, Grant, PhaseView, RateArbiter};
struct Minimal;
impl RateArbiter for Minimal {
    fn allocate(&mut self, _: &PhaseView<'_>, _: &mut Grant<'_>) -> Result<(), ArbiterError> { Ok(()) }
}
impl ArbiterPlugin for Minimal {
    const NAME: &'static str = "minimal";
    const VERSION: &'static str = "1.0.0";
    const FLAGS: Flags = Flags::PURE;
    fn params_schema() -> String { "{}".to_owned() }
    fn create(_: &FabricView<'_>, _: &str) -> Result<Self, ArbiterError> { Ok(Self) }
}
weir_plugin_api::export_arbiters!(Minimal);
"#;
