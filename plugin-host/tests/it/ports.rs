//! Loaded port arbiters: what tables are refused, what goes wrong inside, and what the examples grant.

use std::path::Path;

use crate::common::{Small, cargo_build, cc, compile, port_of, port_variant, program, root};
use tempfile::TempDir;
use weir_packets::arbiter::{OldestFirst, RoundRobin};
use weir_plugin_api::{
    CallError, FabricView, Flags, GrantView, Head, LinkId, NO_SLOT, PortArbiter, PortGrant, Registry, SimTime,
    TransferId,
};
use weir_plugin_host::{Library, Place, PluginConfig, load_file, load_unprobed, probe, take_failures};

const OUT: LinkId = LinkId(3);
const REQUESTERS: u32 = 10;
const PLACES: [Place; 2] = [Place::Process, Place::Child];

fn head(slot: u32, bytes: u32, ready: u64) -> Head {
    let (ready, visible) = (SimTime(ready), SimTime(ready));
    let (payload, transfer) = (bytes, TransferId(slot));
    Head { slot, channel: 0, bytes, payload, ready, visible, transfer, priority: 0, weight: 1.0 }
}

fn ask(heads: &[Head]) -> GrantView<'_> {
    GrantView::new(OUT, SimTime(1000), heads, REQUESTERS)
}

fn grant(slot: u32, bytes: u32, heads: &[Head]) -> PortGrant<'_> {
    PortGrant { out: OUT, slot, bytes, requesters: REQUESTERS, heads: heads.into() }
}

/// Slots in a row of grants, all asking all the time.
fn served(arbiter: &mut dyn PortArbiter, heads: &[Head], grants: usize) -> Vec<u32> {
    let one = |_| {
        let slot = arbiter.choose(&ask(heads)).expect("it does not fail");
        let bytes = heads.iter().find(|head| head.slot == slot).expect("one that asks").bytes;
        arbiter.commit(&grant(slot, bytes, heads)).expect("it does not fail");
        slot
    };
    (0..grants).map(one).collect()
}

fn made(file: &Path, name: &str, place: Place) -> Box<dyn PortArbiter> {
    let mut registry = Registry::new();
    match place {
        Place::Process => load_unprobed(file, &mut registry),
        Place::Child => load_file(file, program(), place, &mut registry),
    }
    .expect("right");
    (registry.port(name).expect("listed").make)(&Small::new().fabric(), "{}").expect("created")
}

fn variant(defines: &[&str], place: Place) -> (TempDir, Box<dyn PortArbiter>) {
    let folder = TempDir::new().expect("a folder");
    let made = made(&port_variant(folder.path(), "variant", defines), "variant", place);
    (folder, made)
}

#[test]
fn a_right_table_is_listed_and_a_wrong_one_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let found = probe(&port_variant(folder.path(), "right", &["FLAGS=WEIR_READS_ARRIVAL"]), program()).expect("right");
    let port = &found.ports[0];
    assert_eq!(
        (port.name.as_str(), port.version.as_str(), port.description.as_str()),
        ("variant", "1.0.0", "the first one")
    );
    assert!(found.arbiters.is_empty() && found.models.is_empty());
    // Each has a name of its own: what is open stays open.
    for (at, more) in
        ["TABLE_SIZE=sizeof(weir_port_arbiter_table)+8", "STATE=NULL", "DESCRIPTION=NULL"].iter().enumerate()
    {
        let library = Library::open(&port_variant(folder.path(), &format!("more-{at}"), &[more])).expect("right");
        assert_eq!(library.ports.len(), 1, "{more}");
    }
    let cases: [(&str, &[&str]); 16] = [
        ("MAGIC=1", &["WEIR_MAGIC"]),
        ("MINOR=5", &["port arbiters begin with 1.6", "WEIR_ABI_MINOR_PORT_ARBITER"]),
        ("MINOR=7", &["newer than this weir's 1.6"]),
        ("TABLE_SIZE=96", &["96 bytes", "sizeof(weir_port_arbiter_table)"]),
        ("VIEW_SIZE=32", &["32 bytes", "sizeof(weir_grant_view)"]),
        ("KIND=WEIR_KIND_ARBITER", &["of kind 1", "port arbiters (kind 4)"]),
        ("FLAGS=1", &["unknown flags 0x1", "0x38"]),
        ("NAME=\"Variant\"", &["`name`"]),
        ("SCHEMA=\"[]\"", &["`params_schema`", "JSON object"]),
        ("DESCRIPTION=\"a\\xe9\"", &["`description`", "UTF-8"]),
        ("CREATE=NULL", &["null function `create`", "only `reset` and `state` may be null"]),
        ("DESTROY=NULL", &["null function `destroy`"]),
        ("CHOOSE=NULL", &["null function `choose`"]),
        ("COMMIT=NULL", &["null function `commit`"]),
        ("TABLES=NULL", &["`weir_port_arbiter(0)` is null", "lists no port arbiter"]),
        ("TABLES=&table", &["weir_port_arbiter(1)", "second port arbiter `variant`"]),
    ];
    for (at, (define, words)) in cases.into_iter().enumerate() {
        let file = port_variant(folder.path(), &format!("wrong-{at}"), &[define]);
        for error in [probe(&file, program()).expect_err(define), Library::open(&file).expect_err(define)] {
            let text = error.to_string();
            assert!(words.iter().all(|word| text.contains(word)) && !text.contains('\n'), "{define}: {text}");
        }
    }
}

#[test]
fn an_instance_chooses_commits_and_tells_its_state() {
    let heads = [head(2, 280, 5), head(7, 280, 3)];
    let defines = [
        "IN_CHOOSE=*slot = view->heads[view->n_heads - 1].slot + (view->out != 3) + (view->requesters != 10) + \
         (view->now_ps != 1000) + (view->struct_size != sizeof *view) + (view->heads[0].ready_ps != 5)",
        "IN_COMMIT=if (grants[0].slot != 7 || grants[0].n_heads != 2 || grants[0].heads[1].bytes != 280) \
         return weir_fail(err, \"another grant\")",
        "IN_STATE=to[0] = 40; to[1] = out; *n = 2",
    ];
    for place in PLACES {
        let (_folder, mut arbiter) = variant(&defines, place);
        assert_eq!(arbiter.choose(&ask(&heads)), Ok(7), "{place:?}");
        assert_eq!(arbiter.commit(&grant(7, 280, &heads)), Ok(()));
        let mut state = vec![1];
        assert_eq!((arbiter.state(OUT, &mut state), state), (Ok(true), vec![1, 40, 3]), "{place:?}");
    }
}

#[test]
fn a_state_that_is_not_told_means_no_skipping() {
    for (define, place) in ["STATE=NULL", "IN_STATE=*n = WEIR_NO_STATE"].iter().flat_map(|d| PLACES.map(|p| (d, p))) {
        let (_folder, arbiter) = variant(&[define], place);
        let mut state = Vec::new();
        assert_eq!((arbiter.state(OUT, &mut state), state.len()), (Ok(false), 0), "{define} in {place:?}");
    }
}

/// What each call answers where the plugin does this, in the process and in a child.
#[test]
fn what_goes_wrong_in_a_call_is_told() {
    type Asks = fn(&mut dyn PortArbiter) -> Result<(), CallError>;
    let choose: Asks = |arbiter| arbiter.choose(&ask(&[head(0, 1, 1), head(1, 1, 1)])).map(drop);
    let commit: Asks = |arbiter| {
        arbiter.commit(&grant(0, 1, &[]))?;
        // In a child a grant is told with the next question.
        arbiter.state(OUT, &mut Vec::new()).map(drop)
    };
    let state: Asks = |arbiter| arbiter.state(OUT, &mut Vec::new()).map(drop);
    let cases = [
        ("IN_CHOOSE=return weir_fail(err, \"no idea\")", choose, "no idea"),
        ("IN_CHOOSE=return 2", choose, "the plugin panicked: in choose of "),
        ("IN_CHOOSE=return 7", choose, "returned 7, which is none of 0, 1 and 2"),
        ("IN_CHOOSE=err->data = (char *)8; return 1", choose, "changed where the text of its error is to be"),
        ("IN_COMMIT=return weir_fail(err, \"not him\")", commit, "not him"),
        ("IN_COMMIT=return 2", commit, "the plugin panicked: in commit of "),
        ("IN_STATE=return weir_fail(err, \"none of yours\")", state, "none of yours"),
        ("IN_STATE=*n = cap + 1", state, "writes more than the 16384 words of a state"),
        ("IN_STATE=to[cap + 2] = 1; *n = 1", state, "writes more than the 16384 words of a state"),
    ];
    for ((define, call, words), place) in cases.into_iter().flat_map(|case| PLACES.map(|place| (case, place))) {
        let (_folder, mut arbiter) = variant(&[define], place);
        let error = call(&mut *arbiter).expect_err(define).to_string();
        assert!(error.contains(words), "{define} in {place:?}: {error}");
    }
}

/// After a panic the instance is asked no more.
#[test]
fn a_panic_in_rust_is_told_with_its_place() {
    let file = cargo_build(&["-p", "weir-plugin-host", "--example", "misbehaving"], "so");
    for place in PLACES {
        let arbiter = made(&file, "panics-in-choose", place);
        let heads = [head(0, 1, 1), head(1, 1, 1), head(2, 1, 1)];
        assert_eq!(arbiter.choose(&ask(&heads[..2])), Ok(0));
        let error = arbiter.state(OUT, &mut Vec::new()).expect_err("too long").to_string();
        assert!(error.contains("writes more than the 16384 words of a state"), "{error}");
        let arbiter = made(&file, "panics-in-choose", place);
        let panicked = arbiter.choose(&ask(&heads)).expect_err("a panic");
        let CallError::Panicked(text) = &panicked else { panic!("{panicked:?}") };
        assert!(text.starts_with("three are too many, at ") && text.contains("misbehaving.rs:"), "{text}");
        assert_eq!(arbiter.choose(&ask(&heads[..2])), Err(panicked));
    }
}

#[test]
fn a_slot_that_is_not_written_is_none() {
    for place in PLACES {
        let (_folder, arbiter) = variant(&["IN_CHOOSE=*slot = WEIR_NONE"], place);
        assert_eq!(arbiter.choose(&ask(&[head(0, 1, 1), head(1, 1, 1)])), Ok(NO_SLOT));
    }
}

/// Crashes and ends of the process are errors in a child; what the last grants do is noted when the instance goes.
#[test]
fn a_child_that_ends_is_named() {
    let heads = [head(0, 1, 1), head(1, 1, 1)];
    for (define, words) in [
        ("IN_CHOOSE=abort()", "choose of FILE ended the plugin's process (signal SIGABRT)"),
        ("IN_CHOOSE=exit(0)", "choose of FILE ended the plugin's process (exit status: 0)"),
    ] {
        let (folder, arbiter) = variant(&[define], Place::Child);
        let error = arbiter.choose(&ask(&heads)).expect_err("it ends").to_string();
        let file = folder.path().join("variant.so").canonicalize().expect("there");
        assert!(error.contains(&words.replace("FILE", &file.to_string_lossy())), "{error}");
        assert_eq!(arbiter.choose(&ask(&heads)).expect_err("asked no more").to_string(), error);
    }
    let (folder, mut arbiter) = variant(&["IN_COMMIT=abort()"], Place::Child);
    arbiter.commit(&grant(0, 1, &[])).expect("not told yet");
    drop(arbiter);
    let file = folder.path().join("variant.so").canonicalize().expect("there");
    let words = format!("commit of {} ended the plugin's process (signal SIGABRT)", file.display());
    assert!(take_failures().iter().any(|failure| failure.contains(&words)));
}

#[test]
fn a_port_arbiter_is_remembered_and_its_name_is_taken() {
    let folder = TempDir::new().expect("a folder");
    let mut config = PluginConfig::in_folder(&folder.path().join("config")).expect("empty");
    let mut builtin = Registry::new();
    weir_packets::arbiter::register(&mut builtin).expect("distinct");
    let file = port_variant(folder.path(), "one", &[]);
    let record = config.add(&file, program(), &builtin).expect("free");
    assert_eq!((record.ports[0].name.as_str(), record.names().count()), ("variant", 1));
    let clash = port_variant(folder.path(), "clash", &[]);
    let error = config.add(&clash, program(), &builtin).expect_err("taken").to_string();
    assert!(error.contains("lists a port arbiter `variant`, which is listed by "), "{error}");
    let own = port_variant(folder.path(), "own", &["NAME=\"random\""]);
    let error = config.add(&own, program(), &builtin).expect_err("taken").to_string();
    let words = "lists a port arbiter `random`, which is built into weir: rename the plugin's port arbiter";
    assert!(error.contains(words), "{error}");
    let again = PluginConfig::in_folder(&folder.path().join("config")).expect("saved");
    assert_eq!(again.records()[0].ports, config.records()[0].ports);
    assert_eq!(config.remove("variant").expect("there").ports.len(), 1);
}

/// Equal packets in turn, as round robin serves them. Of 600 B and 200 B, three small ones for each large one: counts are
/// 0 0, 600 0, 600 200, 600 400, 600 600 (the lowest first), 1200 600 and so on. Who comes late begins where the others are.
#[test]
fn the_c_example_serves_the_fewest_bytes() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("libfewest_bytes.so");
    let source = root().join("examples/plugins/c-fewest-bytes/fewest-bytes.c");
    compile(cc().args(["-Werror", "-pedantic", "-shared", "-fPIC", "-o"]).arg(&file).arg(source));
    let equal = [head(1, 280, 1), head(4, 280, 1), head(9, 280, 1)];
    let expected = served(&mut RoundRobin::default(), &equal, 30);
    for place in PLACES {
        assert_eq!(served(&mut *made(&file, "fewest-bytes", place), &equal, 30), expected, "{place:?}");
        let mut arbiter = made(&file, "fewest-bytes", place);
        let two = [head(0, 600, 1), head(1, 200, 1)];
        assert_eq!(served(&mut *arbiter, &two, 9), [0, 1, 1, 1, 0, 1, 1, 1, 0], "{place:?}");
        // Counts 1800 and 1200, v = 1200: ahead by 600 and 0.
        let mut state = Vec::new();
        assert_eq!((arbiter.state(OUT, &mut state), &*state), (Ok(true), &[600, 0][..]));
        let three = [two[0], two[1], head(2, 200, 1)];
        assert_eq!(served(&mut *arbiter, &three, 6), [1, 2, 1, 2, 1, 2], "the third has no 1200 to catch up");
    }
}

/// With equal weights the oldest first, as the built-in policy of that name; a weight of 3 makes an age of 40 more than 100.
#[test]
fn the_rust_example_serves_by_weight_and_age() {
    let file = cargo_build(&["-p", "weir-example-weighted-age"], "so");
    let library = Library::open(&file).expect("accepted");
    let entry = port_of(&library, "weighted-age");
    assert_eq!(entry.flags, Flags::READS_ARRIVAL.union(Flags::READS_WEIGHT));
    for place in PLACES {
        let mut arbiter = made(&file, "weighted-age", place);
        for ready in [[5, 3, 9], [7, 7, 1], [4, 4, 4], [900, 1, 2]] {
            let heads = [head(0, 280, ready[0]), head(3, 280, ready[1]), head(8, 280, ready[2])];
            assert_eq!(served(&mut *arbiter, &heads, 1), served(&mut OldestFirst, &heads, 1), "{ready:?} in {place:?}");
        }
        let weighted = [head(0, 280, 900), Head { weight: 3.0, ..head(1, 280, 960) }];
        assert_eq!(arbiter.choose(&ask(&weighted)), Ok(1), "{place:?}");
    }
    let Err(CallError::Refused(text)) = (entry.make)(&FabricView::default(), r#"{"since": "now"}"#).map(drop) else {
        panic!("taken")
    };
    assert!(text.contains("since") || text.contains("now"), "{text}");
}
