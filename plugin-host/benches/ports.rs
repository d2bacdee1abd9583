//! What a choice of a port arbiter and its commit cost: called directly, as a trait object, and as a C function.

use std::hint::black_box;
use std::path::PathBuf;
use std::process::Command;

use criterion::{Criterion, criterion_group, criterion_main};
use weir_packets::arbiter::RoundRobin;
use weir_plugin_api::{
    FabricView, GrantView, Head, LinkId, PortArbiter, PortArbiterPlugin as _, PortGrant, SimTime, TransferId,
};
use weir_plugin_host::Library;

/// Requesters of the output, all of which ask.
const HEADS: u32 = 4;

/// The built-in port arbiters as a shared library.
fn library() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["rustc", "--release", "-p", "weir-packets", "--lib", "--crate-type=cdylib", "--message-format=json"]);
    let output = cargo.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    let artifacts = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let files = artifacts.flat_map(|artifact| artifact["filenames"].as_array().cloned().unwrap_or_default());
    let mut paths = files.filter_map(|file| file.as_str().map(PathBuf::from));
    let is_wanted = |path: &PathBuf| {
        path.to_string_lossy().contains("weir_packets")
            && path.extension().is_some_and(|e| e == std::env::consts::DLL_EXTENSION)
    };
    paths.find(is_wanted).expect("a shared library")
}

fn heads() -> Vec<Head> {
    let head = |slot: u32| Head {
        slot,
        channel: 0,
        bytes: 280,
        payload: 256,
        ready: SimTime(u64::from(slot)),
        visible: SimTime(u64::from(slot)),
        transfer: TransferId(slot),
        priority: 0,
        weight: 1.0,
    };
    (0..HEADS).map(head).collect()
}

/// One choice among all heads, and its commit.
#[inline]
fn grant(arbiter: &mut (impl PortArbiter + ?Sized), heads: &[Head]) -> u32 {
    let out = LinkId(3);
    let slot = arbiter.choose(&GrantView::new(out, SimTime(9), black_box(heads), HEADS)).expect("it does not fail");
    let granted = PortGrant { out, slot, bytes: 280, requesters: HEADS, heads: heads.into() };
    arbiter.commit(&granted).expect("it does not fail");
    slot
}

fn ports(c: &mut Criterion) {
    let heads = heads();
    let fabric = FabricView::default();
    let mut direct = RoundRobin::default();
    c.bench_function("port/direct", |b| b.iter(|| grant(&mut direct, &heads)));
    let mut object: Box<dyn PortArbiter> = black_box(Box::new(RoundRobin::create(&fabric, "{}").expect("made")));
    c.bench_function("port/trait-object", |b| b.iter(|| grant(&mut *object, &heads)));
    let library = Library::open(&library()).expect("a plugin");
    let entry = library.ports.iter().find(|entry| entry.name == RoundRobin::NAME).expect("listed");
    let mut loaded = (entry.make)(&fabric, "{}").expect("made");
    c.bench_function("port/c-function", |b| b.iter(|| grant(&mut *loaded, &heads)));
}

criterion_group!(benches, ports);
criterion_main!(benches);
