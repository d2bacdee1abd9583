//! Instances of loaded arbiters: what goes wrong inside stays inside, and is told.

use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use crate::common::{Slots, Small, arbiter_of, misbehaving, program, variant};
use tempfile::TempDir;
use tracing::field::{Field, Visit};
use weir_plugin_api::{ArbiterEntry, CallError, LinkId, RateArbiter, Registry, RouteTable, SimTime, TransferId};
use weir_plugin_host::{Library, Place, cancel, load_file};

fn create(plugin: &ArbiterEntry) -> Result<Box<dyn RateArbiter>, CallError> {
    (plugin.make)(&Small::new().fabric(), r#"{"tau": 0.2}"#)
}

/// Allocates at a time; the answer and the rates.
fn allocate(arbiter: &mut dyn RateArbiter, now: u64) -> (Result<(), CallError>, Vec<f64>, SimTime) {
    let (small, mut slots) = (Small::new(), Slots::new());
    let mut grant = slots.grant();
    let result = arbiter.allocate(&small.phase(now), &mut grant);
    let recheck = grant.recheck;
    (result, slots.rates, recheck)
}

fn variant_arbiter(defines: &[&str]) -> (TempDir, Arc<ArbiterEntry>) {
    let folder = TempDir::new().expect("a folder");
    let library = Library::open(&variant(folder.path(), "variant", defines)).expect("right");
    let arbiter = arbiter_of(&library, "variant");
    (folder, arbiter)
}

#[test]
fn an_error_of_create_is_a_refusal_in_one_line() {
    let library = misbehaving();
    let error = create(&arbiter_of(&library, "refuses")).err().expect("refused");
    assert_eq!(error, CallError::Refused("tau must be in [0, 1]".to_owned()));
}

#[test]
fn what_a_link_can_carry_is_asked_and_checked() {
    let ask = |define: &str| {
        let (_folder, plugin) = variant_arbiter(&[define]);
        let offsets = [0, 2];
        let routes = RouteTable { offsets: offsets[..].into(), links: [LinkId(0), LinkId(3)][..].into() };
        create(&plugin).expect("created").capacity(LinkId(3), &routes)
    };
    assert_eq!(ask("CAPACITY=*most = link + (double)routes->links.data[1]"), Ok(Some(6.0)));
    assert_eq!(ask("CAPACITY="), Ok(None), "what is left infinite promises nothing");
    assert_eq!(ask("FLAGS=0"), Ok(None), "an old table has no such function");
    for wrong in ["0.0", "-1.0", "0.0 / 0.0"] {
        let error = ask(&format!("CAPACITY=*most = {wrong}")).expect_err("no capacity").to_string();
        assert!(error.contains("capacity of") && error.contains("above 0"), "{error}");
    }
    assert_eq!(ask("CAPACITY=return weir_fail(err, \"no idea\")"), Err(CallError::Failed("no idea".to_owned())));
}

#[test]
fn a_panic_in_create_is_told() {
    let library = misbehaving();
    match create(&arbiter_of(&library, "panics-in-create")).err().expect("panicked") {
        CallError::Panicked(text) => {
            assert!(
                text.starts_with(r#"no instance for {"tau": 0.2}, at "#) && text.contains("misbehaving.rs:"),
                "{text}"
            );
        }
        other => panic!("{other:?}"),
    }
}

/// The plugin counts its dropped instances, and admits a route only while there were fewer than the route has links.
#[test]
fn after_a_panic_an_instance_is_only_destroyed_and_once() {
    let library = misbehaving();
    let plugin = arbiter_of(&library, "panics-in-allocate");
    let mut first = create(&plugin).expect("created");
    let (result, rates, recheck) = allocate(&mut *first, 3);
    assert_eq!((result, rates, recheck), (Ok(()), vec![1.0; 4], SimTime(8)));

    let (result, rates, recheck) = allocate(&mut *first, 0);
    let Err(CallError::Panicked(text)) = &result else { panic!("{result:?}") };
    assert!(text.starts_with("call 2 at the start of time, at ") && text.contains(" (in allocate of /"), "{text}");
    assert!(rates.iter().all(|rate| rate.is_nan()), "nothing was written");
    assert_eq!(recheck, SimTime::NEVER);

    assert_eq!(allocate(&mut *first, 3).0, result, "the same error, without a call");
    assert_eq!(first.admit(&[LinkId(0)]), result);
    first.reset();
    assert_eq!(allocate(&mut *first, 3).0, result);
    drop(first);

    let mut second = create(&plugin).expect("the library still works");
    assert_eq!(second.admit(&[LinkId(0)]), Err(CallError::Refused("1 dropped".to_owned())));
    assert_eq!(second.admit(&[LinkId(0), LinkId(3)]), Ok(()));
    assert_eq!(allocate(&mut *second, 1).1, vec![1.0; 4]);

    let panicked = second.explain(&Small::new().phase(1), &mut Vec::new());
    let Err(CallError::Panicked(text)) = panicked else { panic!("{panicked:?}") };
    assert!(text.starts_with("a panic without text, at ") && text.contains(" (in explain of /"), "{text}");
    assert!(allocate(&mut *second, 1).0.is_err());
}

#[test]
fn an_instance_moves_between_threads() {
    let plugin = arbiter_of(&misbehaving(), "invents");
    let mut arbiter = create(&plugin).expect("created");
    let result = std::thread::spawn(move || allocate(&mut *arbiter, 0).0).join().expect("no panic here");
    assert!(matches!(result, Err(CallError::Failed(_))), "{result:?}");
}

#[test]
fn bindings_and_steps_must_name_what_exists() {
    let plugin = arbiter_of(&misbehaving(), "invents");
    let mut arbiter = create(&plugin).expect("created");
    for (now, words) in [(0, "to link 0 and transfer 99, which do not exist"), (1, "to link 99 and transfer")] {
        let error = allocate(&mut *arbiter, now).0.expect_err("refused").to_string();
        assert!(error.contains(words) && error.contains("binds transfer 0 of 4"), "{error}");
    }
    let error = arbiter.explain(&Small::new().phase(0), &mut Vec::new()).expect_err("refused").to_string();
    assert!(error.contains("step for transfer 99"), "{error}");
}

/// A rate that JSON cannot hold, or that no transfer can have.
#[test]
fn a_step_must_have_a_rate() {
    let folder = TempDir::new().expect("a folder");
    for (name, rate, told) in [("nan", "0.0 / 0.0", "NaN"), ("endless", "1.0 / 0.0", "inf"), ("negative", "-1.0", "-1")]
    {
        let file = variant(folder.path(), name, &[&format!("STEP_RATE={rate}")]);
        for place in [Place::Process, Place::Child] {
            let mut registry = Registry::new();
            load_file(&file, program(), place, &mut registry).expect("right");
            let mut arbiter = create(registry.get("variant").expect("listed")).expect("created");
            let mut steps = Vec::new();
            let error = arbiter.explain(&Small::new().phase(1), &mut steps).expect_err("no rate").to_string();
            let words = format!("emits a step for transfer 0 with {told} B/s; a rate is finite and at least 0");
            let start = format!("explain of {}", file.display());
            assert!(error.contains(&start) && error.contains(&words) && steps.is_empty(), "{name}, {place:?}: {error}");
        }
    }
}

#[test]
fn an_instance_that_cannot_reset_is_not_used_again() {
    let mut arbiter = create(&arbiter_of(&misbehaving(), "invents")).expect("created");
    arbiter.reset();
    let error = allocate(&mut *arbiter, 0).0.expect_err("stopped").to_string();
    assert!(error.contains("cannot forget, at ") && error.contains(" (in reset of /"), "{error}");
    let (_folder, plugin) = variant_arbiter(&[]);
    let mut arbiter = create(&plugin).expect("created");
    arbiter.reset();
    assert_eq!(allocate(&mut *arbiter, 0).0, Err(CallError::Failed("cannot reset".to_owned())));
}

#[test]
fn codes_rates_recheck_and_routes_cross_the_boundary_to_c() {
    let (_folder, plugin) = variant_arbiter(&[]);
    let mut arbiter = create(&plugin).expect("created");
    assert_eq!(allocate(&mut *arbiter, 0), (Ok(()), vec![1.0, 2.0, 3.0, 4.0], SimTime::NEVER));
    assert_eq!(allocate(&mut *arbiter, 5).2, SimTime(12));
    assert_eq!(arbiter.admit(&[LinkId(4), LinkId(3)]), Ok(()));
    let refused = arbiter.admit(&[LinkId(4), LinkId(0), LinkId(5)]);
    assert_eq!(refused, Err(CallError::Refused("3 links from 4 to 5 are too many".to_owned())));
}

#[test]
fn an_unknown_code_stops_the_instance_and_an_error_does_not() {
    let (_folder, plugin) = variant_arbiter(&[]);
    let mut arbiter = create(&plugin).expect("created");
    let mut answer = |code: u32| {
        let (mut small, mut slots) = (Small::new(), Slots::new());
        small.transfers.id[0] = TransferId(code);
        arbiter.allocate(&small.phase(0), &mut slots.grant()).map_err(|e| e.to_string())
    };
    let error = answer(1).expect_err("an error");
    assert!(error.contains("failed without giving a reason") && error.contains("allocate of /"), "{error}");
    assert_eq!(answer(0), Ok(()));
    let error = answer(7).expect_err("an unknown code");
    assert!(error.contains("returned 7, which is none of 0, 1 and 2"), "{error}");
    assert_eq!(answer(0), Err(error));
}

#[test]
fn an_explanation_may_be_missing_in_two_ways() {
    let (_folder, plugin) = variant_arbiter(&[]);
    let mut arbiter = create(&plugin).expect("created");
    let small = Small::new();
    let mut steps = Vec::new();
    assert_eq!(arbiter.explain(&small.phase(0), &mut steps), Ok(false), "nothing emitted");
    assert_eq!(arbiter.explain(&small.phase(1), &mut steps), Ok(true));
    assert_eq!((steps.len(), steps[0].step.as_str(), steps[0].link), (1, "first", LinkId::NONE));
    let (_folder, plugin) = variant_arbiter(&["EXPLAIN=NULL"]);
    assert_eq!(create(&plugin).expect("created").explain(&small.phase(1), &mut steps), Ok(false));
}

/// Keeps the messages of events.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Visit for Lines {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{field}={value:?}"));
    }
}

impl tracing::Subscriber for Lines {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let level = event.metadata().level().to_string();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(level);
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn a_plugin_logs_under_its_name_until_it_is_destroyed() {
    let (_folder, plugin) = variant_arbiter(&[]);
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || drop(create(&plugin).expect("created")));
    let lines = lines.0.lock().unwrap_or_else(PoisonError::into_inner);
    let expected =
        ["WARN", "message={\"tau\": 0.2}", "plugin=\"variant\"", "INFO", "message=destroyed", "plugin=\"variant\""];
    assert_eq!(lines.as_slice(), expected);
}

/// A call with a null pointer says nothing: without a host, and without a text.
#[test]
fn a_log_of_nothing_is_left_out() {
    let nothing = "IN_CREATE=host->log(NULL, 1, \"lost\", 4); host->log(host, 1, NULL, 4); host->log(NULL, 1, NULL, 4)";
    let (_folder, plugin) = variant_arbiter(&[nothing]);
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || drop(create(&plugin).expect("created")));
    assert!(!lines.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&"ERROR".to_owned()));
}

/// In a process of its own, since being cancelled concerns all plugins of one.
#[test]
fn a_plugin_sees_that_the_run_is_interrupted() {
    const CHILD: &str = "WEIR_TEST_CANCELLED";
    if std::env::var_os(CHILD).is_some() {
        let (_folder, plugin) = variant_arbiter(&[]);
        let mut arbiter = create(&plugin).expect("created");
        assert_eq!(arbiter.admit(&[LinkId(0)]), Ok(()));
        cancel();
        assert_eq!(arbiter.admit(&[LinkId(0)]), Err(CallError::Refused("interrupted".to_owned())));
        return;
    }
    run_alone("a_plugin_sees_that_the_run_is_interrupted", |child| child.env(CHILD, "1"));
}

/// Runs one test of this module in a process of its own; what it printed on standard error.
fn run_alone(test: &str, set: impl FnOnce(&mut Command) -> &mut Command) -> String {
    let mut child = Command::new(std::env::current_exe().expect("a test has a program"));
    set(child.args(["--exact", &format!("instances::{test}"), "--nocapture"]));
    let output = child.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The host tells a caught panic in one line, so the plugin prints nothing unless a backtrace is asked for.
#[test]
fn a_caught_panic_prints_nothing_of_its_own() {
    let quiet = run_alone("a_panic_in_create_is_told", |child| child.env_remove("RUST_BACKTRACE"));
    assert!(!quiet.contains("panicked at"), "{quiet}");
    let loud = run_alone("a_panic_in_create_is_told", |child| child.env("RUST_BACKTRACE", "1"));
    assert!(loud.contains("panicked at") && loud.contains("no instance for"), "{loud}");
}
