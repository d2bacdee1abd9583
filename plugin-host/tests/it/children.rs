//! What a library in a child answers is what it answers in the process, to the last bit.

use std::path::{Path, PathBuf};

use crate::common::{Slots, Small, cargo_build, compile_library, model_variant, port_variant, program, root, variant};
use tempfile::TempDir;
use weir_plugin_api::{
    Binding, CallError, Estimates, GrantView, Head, LinkId, Model, NodeId, Plan, PortArbiter, PortGrant, RateArbiter,
    Registry, RouteInfo, RouteLookup, RouteTable, SimTime, Surroundings, TransferId,
};
use weir_plugin_host::{Place, load_file, load_unprobed};

const PLACES: [Place; 2] = [Place::Process, Place::Child];

fn loaded(file: &Path, place: Place) -> Registry {
    let mut registry = Registry::new();
    match place {
        Place::Process => load_unprobed(file, &mut registry),
        Place::Child => load_file(file, program(), place, &mut registry),
    }
    .unwrap_or_else(|error| panic!("{error}"));
    registry
}

/// What is said in both places, which is the same.
fn alike<T: PartialEq + std::fmt::Debug>(file: &Path, say: impl Fn(&Registry) -> T) -> T {
    let [here, there] = PLACES.map(|place| say(&loaded(file, place)));
    assert_eq!(here, there, "{}", file.display());
    here
}

/// All that an arbiter answers: of a route, of phases at several times and of fewer transfers, of its steps and of what a link
/// carries, also after it has forgotten.
fn answers(arbiter: &mut dyn RateArbiter) -> Vec<String> {
    let mut all = Vec::new();
    let offsets = [0, 2];
    let routes = RouteTable { offsets: offsets[..].into(), links: [LinkId(0), LinkId(3)][..].into() };
    for round in 0..2 {
        all.push(format!("{:?} {:?}", arbiter.admit(&[LinkId(0), LinkId(3)]), arbiter.admit(&[LinkId(1); 3])));
        for (now, count) in [(0, 4), (1, 4), (2, 2), (3, 3), (3, 4)] {
            let small = Small::new().of_first(count);
            let mut slots = Slots { rates: vec![f64::NAN; count], bindings: vec![Binding::NONE; count] };
            let mut grant = slots.grant();
            let answer = arbiter.allocate(&small.phase(now), &mut grant);
            let recheck = grant.recheck;
            let mut steps = Vec::new();
            let explained = arbiter.explain(&small.phase(now), &mut steps);
            all.push(format!("{now}: {answer:?} {:?} {:?} {recheck:?}", slots.rates, slots.bindings));
            all.push(format!("{explained:?} {steps:?} {:?}", arbiter.capacity(LinkId(3), &routes)));
        }
        if round == 0 {
            arbiter.reset();
        }
    }
    all
}

fn arbiter(registry: &Registry) -> Box<dyn RateArbiter> {
    let entry = registry.iter().next().expect("one");
    (entry.make)(&Small::new().fabric(), "{}").expect("created")
}

/// The names of libraries in messages are those of the files, which are the same.
#[test]
fn arbiters_answer_the_same() {
    let folder = TempDir::new().expect("a folder");
    let equal_split = folder.path().join("libequal_split.so");
    compile_library(&root().join("examples/plugins/c-equal-split/equal-split.c"), &[], &equal_split);
    for file in [equal_split, cargo_build(&["-p", "weir-example-group-fair"], "so")] {
        let all = alike(&file, |registry| answers(&mut *arbiter(registry)));
        assert!(all.iter().all(|line| !line.contains("NaN") && !line.contains("Err")), "{all:#?}");
    }
    for (name, defines) in [
        ("plain", &[][..]),
        ("silent", &["EXPLAIN=NULL"]),
        ("bounded", &["CAPACITY=*most = 0.5"]),
        ("boundless", &["CAPACITY="]),
        ("wrong", &["CAPACITY=*most = 0.0"]),
    ] {
        let file = variant(folder.path(), name, defines);
        let all = alike(&file, |registry| answers(&mut *arbiter(registry)));
        let is_told = |words: &str| all.iter().any(|line| line.contains(words));
        assert!(is_told("links from 1 to 1 are too many") && is_told("cannot reset"), "{all:#?}");
        assert_eq!(is_told("Ok(Some(0.5))"), name == "bounded", "{all:#?}");
        assert_eq!(is_told("a bound is above 0"), name == "wrong", "{all:#?}");
    }
}

/// An answer has a rate and a binding for each transfer, or it is none.
#[test]
fn slots_of_another_number_are_refused() {
    let folder = TempDir::new().expect("a folder");
    let file = variant(folder.path(), "slots", &[]);
    for place in PLACES {
        for (rates, bindings, fine) in [(4, 4, true), (3, 4, false), (4, 3, false), (3, 3, false)] {
            let mut slots = Slots { rates: vec![f64::NAN; rates], bindings: vec![Binding::NONE; bindings] };
            let answer = arbiter(&loaded(&file, place)).allocate(&Small::new().phase(0), &mut slots.grant());
            assert_eq!(answer.is_ok(), fine, "{place:?}, {rates} rates and {bindings} bindings: {answer:?}");
        }
    }
}

/// 3000 grants are told in parts, and the state is as long as it may be.
#[test]
fn port_arbiters_answer_the_same() {
    let folder = TempDir::new().expect("a folder");
    let (ready, out) = (SimTime(5), LinkId(3));
    let head = |slot| Head {
        slot,
        channel: 0,
        bytes: 100 + 20 * slot,
        payload: 64,
        ready,
        visible: ready,
        transfer: TransferId(slot),
        priority: 0,
        weight: 1.0,
    };
    let heads = [head(1), head(4), head(5)];
    let served = |port: &mut dyn PortArbiter| {
        let mut slots = Vec::new();
        for at in 0..3000 {
            let now = GrantView::new(out, SimTime(at), &heads, 10);
            slots.push(if at % 1100 == 0 { port.choose(&now) } else { Ok(heads[at as usize % 3].slot) });
            let slot = *slots[at as usize].as_ref().expect("it does not fail");
            let bytes = 100 + 20 * slot;
            port.commit(&PortGrant { out, slot, bytes, requesters: 10, heads: heads[..].into() }).expect("committed");
        }
        let mut words = Vec::new();
        let told = port.state(out, &mut words);
        (slots, told, words)
    };
    let fewest = folder.path().join("libfewest_bytes.so");
    compile_library(&root().join("examples/plugins/c-fewest-bytes/fewest-bytes.c"), &[], &fewest);
    let long = port_variant(
        folder.path(),
        "long",
        &["IN_STATE=size_t i; for (i = 0; i < 16384; i++) { to[i] = i; } *n = 16384"],
    );
    let longer = port_variant(folder.path(), "longer", &["IN_STATE=*n = 16385"]);
    let files = [fewest, cargo_build(&["-p", "weir-example-weighted-age"], "so"), long.clone(), longer.clone()];
    for file in files {
        let (_, told, words) = alike(&file, |registry| {
            let entry = registry.ports().next().expect("one");
            served(&mut *(entry.make)(&Small::new().fabric(), "{}").expect("created"))
        });
        match file {
            file if file == long => assert_eq!((told, words.len()), (Ok(true), 16384)),
            file if file == longer => assert!(told.is_err_and(|error| error.to_string().contains("16384 words"))),
            _ => {}
        }
    }
}

/// Has a route between any two numbers, as no host has.
struct Everywhere;

impl RouteLookup for Everywhere {
    fn route(&self, from: NodeId, to: NodeId) -> Option<RouteInfo> {
        (from != to).then_some(RouteInfo { bandwidth: 8.0, latency_ps: 3.0, links: 2 })
    }
}

/// Plans, estimates and alternatives. No route is found between nodes that the fabric does not have.
#[test]
fn models_answer_the_same() {
    let folder = TempDir::new().expect("a folder");
    let of = |model: &mut dyn Model, operation: &str| {
        let small = Small::new();
        let fabric = small.fabric();
        let around = Surroundings { fabric: &fabric, routes: &Everywhere };
        let (mut plan, mut estimates, mut others) = (Plan::new(), Estimates::default(), Vec::new());
        // What was emitted before an error is no plan.
        let planned = model.plan(operation, &around, &mut plan).map(|()| plan);
        let estimated = model.estimate(operation, &around, &mut estimates);
        let chosen = model.alternatives(operation, &around, &mut others);
        format!("{planned:?}\n{estimated:?} {estimates:?}\n{chosen:?} {others:?}")
    };
    let ring = r#"{"params": {"devices": [1, 2, 3], "size": 64}}"#;
    let files: [(PathBuf, &[&str]); 2] = [
        (model_variant(folder.path(), "variant", &[]), &["right", "routes", "queue", "work", "unknown"]),
        (cargo_build(&["-p", "weir-example-ring-all-reduce"], "so"), &[ring, "{}"]),
    ];
    for (file, operations) in files {
        for operation in operations {
            let said = alike(&file, |registry| {
                let entry = registry.models().next().expect("one");
                let mut model: Box<dyn Model> =
                    (entry.make)().map_err(|error: CallError| error.to_string()).expect("created");
                of(&mut *model, operation)
            });
            assert_eq!(said.matches("class: 1").count(), if *operation == "routes" { 2 } else { 0 }, "{said}");
            assert_eq!(said.contains("Ok(Plan"), ["right", "routes", ring].contains(operation), "{said}");
        }
    }
}

/// Two instances at once are in two children; a third one takes the child of one that has gone. A file that has changed since it was
/// listed is not asked.
#[test]
fn each_instance_has_a_child_of_its_own() {
    let folder = TempDir::new().expect("a folder");
    let file = variant(folder.path(), "several", &[]);
    let registry = loaded(&file, Place::Child);
    let of = |arbiter: &mut dyn RateArbiter| {
        let mut slots = Slots::new();
        arbiter.allocate(&Small::new().phase(0), &mut slots.grant()).map(|()| slots.rates)
    };
    let mut two = [arbiter(&registry), arbiter(&registry)];
    for one in &mut two {
        assert_eq!(of(&mut **one), Ok(vec![1.0, 2.0, 3.0, 4.0]));
    }
    drop(two);
    let mut changed = std::fs::read(&file).expect("a library");
    changed.push(0);
    std::fs::write(folder.path().join("changed"), changed).expect("a file");
    std::fs::rename(folder.path().join("changed"), &file).expect("in its place");
    let mut kept = [arbiter(&registry), arbiter(&registry)];
    assert_eq!(of(&mut *kept[1]), Ok(vec![1.0, 2.0, 3.0, 4.0]));
    let entry = registry.get("variant").expect("listed");
    let error = (entry.make)(&Small::new().fabric(), "{}").err().expect("another file").to_string();
    assert!(error.contains("has changed"), "{error}");
}
