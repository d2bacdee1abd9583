//! Shared by the tests: compilers, and a fabric small enough to reckon with.
#![allow(dead_code, reason = "each test uses its part")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use weir_plugin_api::{
    ArbiterEntry, Binding, ClassId, Direction, FabricColumns, FabricView, LinkId, LinkKind, ModelEntry, NodeId,
    NodeKind, PhaseColumns, PhaseView, PortEntry, RouteId, RouteInfo, RouteLookup, SimTime, TransferId,
};
use weir_plugin_host::Library;

pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_weir-plugin-probe"))
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the workspace").to_owned()
}

fn run(command: &mut Command, remedy: &str) -> Output {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?} does not start ({e}); {remedy}"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed; {remedy}\n{error}");
    output
}

/// The C compiler, with the flags that plugin authors are told to use.
pub fn cc() -> Command {
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc")));
    command.args(["-std=c99", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-O2", "-ffp-contract=off", "-I"]);
    command.arg(root().join("plugin-api/include"));
    command
}

/// Runs a C compiler.
pub fn compile(command: &mut Command) {
    run(command, "these tests need a C compiler: install one, or name it in CC");
}

/// Compiles a source into a shared library.
pub fn compile_library(source: &Path, defines: &[&str], library: &Path) {
    let defines = defines.iter().map(|define| format!("-D{define}"));
    compile(cc().args(["-shared", "-fPIC"]).args(defines).arg("-o").arg(library).arg(source));
}

/// Compiles `tests/plugins/variant.c`, an arbiter, with macros.
pub fn variant(folder: &Path, name: &str, defines: &[&str]) -> PathBuf {
    test_plugin("variant.c", folder, name, defines)
}

/// Compiles `tests/plugins/model-variant.c` with macros.
pub fn model_variant(folder: &Path, name: &str, defines: &[&str]) -> PathBuf {
    test_plugin("model-variant.c", folder, name, defines)
}

/// Compiles `tests/plugins/port-variant.c` with macros.
pub fn port_variant(folder: &Path, name: &str, defines: &[&str]) -> PathBuf {
    test_plugin("port-variant.c", folder, name, defines)
}

fn test_plugin(source: &str, folder: &Path, name: &str, defines: &[&str]) -> PathBuf {
    let library = folder.join(format!("{name}.so"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plugins").join(source);
    compile_library(&source, defines, &library);
    library
}

/// Builds a target with cargo, in the profile of this test, and returns the file of it with an extension. (The folder in
/// which `cargo test` leaves a library is nobody's promise; what `cargo build` reports is.)
pub fn cargo_build(target: &[&str], extension: &str) -> PathBuf {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.arg("build").args(target).arg("--message-format=json").current_dir(root());
    // Those of a sanitizer are for the host: procedural macros, which plugins have below them, cannot be built with them.
    command.env_remove("RUSTFLAGS");
    let exe = std::env::current_exe().expect("a test has a program");
    if exe.components().any(|part| part.as_os_str() == "release") {
        command.arg("--release");
    }
    let output = run(&mut command, "these tests build plugins with cargo");
    let artifacts = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let files = artifacts.lines().rev().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let files = files.flat_map(|artifact| artifact["filenames"].as_array().cloned().unwrap_or_default());
    let mut files = files.filter_map(|file| file.as_str().map(PathBuf::from));
    files
        .find(|file| file.extension().is_some_and(|e| e == extension))
        .unwrap_or_else(|| panic!("{command:?} built no .{extension}:\n{artifacts}"))
}

/// The Rust plugin of the tests.
pub fn misbehaving() -> Library {
    let file = cargo_build(&["-p", "weir-plugin-host", "--example", "misbehaving"], "so");
    Library::open(&file).expect("its tables are right")
}

pub fn arbiter_of(library: &Library, name: &str) -> Arc<ArbiterEntry> {
    let arbiter = library.arbiters.iter().find(|a| a.name == name);
    Arc::clone(arbiter.unwrap_or_else(|| panic!("no {name} in {library:?}")))
}

pub fn port_of(library: &Library, name: &str) -> Arc<PortEntry> {
    let port = library.ports.iter().find(|p| p.name == name);
    Arc::clone(port.unwrap_or_else(|| panic!("no {name} in {library:?}")))
}

pub fn model_of(library: &Library, name: &str) -> Arc<ModelEntry> {
    let model = library.models.iter().find(|m| m.name == name);
    Arc::clone(model.unwrap_or_else(|| panic!("no {name} in {library:?}")))
}

/// Routes of the fabric below: of the narrower of the two links, with 3 ps of latency.
pub struct SmallRoutes;

impl RouteLookup for SmallRoutes {
    fn route(&self, from: NodeId, to: NodeId) -> Option<RouteInfo> {
        let bandwidth = |gpu: NodeId| [8.0_f64, 12.0, 24.0].get(gpu.index().checked_sub(1)?).copied();
        let narrower = bandwidth(from)?.min(bandwidth(to)?);
        (from != to).then_some(RouteInfo { bandwidth: narrower, latency_ps: 3.0, links: 2 })
    }
}

/// A switch (node 0) with three GPUs (nodes 1 to 3); GPU `g` has link `2g - 2` up and `2g - 1` down. Bandwidths of the
/// three pairs: 8, 12 and 24.
///
/// Transfers: 0 and 1 go from GPU 1 to GPU 2, 2 from GPU 3 to GPU 2, 3 from GPU 3 to GPU 1 with a limit of 2.
pub struct Small {
    fabric: FabricColumns,
    pub transfers: PhaseColumns,
}

impl Small {
    pub fn new() -> Self {
        let fabric = FabricColumns {
            bandwidth: vec![8.0, 8.0, 12.0, 12.0, 24.0, 24.0],
            from: vec![1, 0, 2, 0, 3, 0],
            to: vec![0, 1, 0, 2, 0, 3],
            direction: [Direction::Up, Direction::Down].repeat(3),
            depth: vec![1; 6],
            kind: vec![LinkKind::PCIE; 6],
            node_kind: vec![NodeKind::Switch, NodeKind::Gpu, NodeKind::Gpu, NodeKind::Gpu],
        };
        let transfers = PhaseColumns {
            id: [0, 1, 2, 3].map(TransferId).to_vec(),
            class: [0, 0, 1, 2].map(ClassId).to_vec(),
            arrival: vec![0; 4],
            route: [0, 1, 2].map(RouteId).to_vec(),
            limit: vec![f64::INFINITY, f64::INFINITY, 2.0],
            weight: vec![1.0; 3],
            priority: vec![0; 3],
            offsets: vec![0, 2, 4, 6],
            links: [0, 3, 4, 3, 4, 1].map(LinkId).to_vec(),
        };
        Self { fabric, transfers }
    }

    /// The same with the first transfers alone.
    pub fn of_first(mut self, count: usize) -> Self {
        self.transfers.id.truncate(count);
        self.transfers.class.truncate(count);
        self.transfers.arrival.truncate(count);
        self
    }

    pub fn fabric(&self) -> FabricView<'_> {
        self.fabric.view()
    }

    pub fn phase(&self, now: u64) -> PhaseView<'_> {
        self.transfers.view(SimTime(now))
    }
}

/// Slots as the simulation hands them out.
pub struct Slots {
    pub rates: Vec<f64>,
    pub bindings: Vec<Binding>,
}

impl Slots {
    pub fn new() -> Self {
        Self { rates: vec![f64::NAN; 4], bindings: vec![Binding::NONE; 4] }
    }

    pub fn grant(&mut self) -> weir_plugin_api::Grant<'_> {
        weir_plugin_api::Grant { rates: &mut self.rates, bindings: &mut self.bindings, recheck: SimTime::NEVER }
    }
}
