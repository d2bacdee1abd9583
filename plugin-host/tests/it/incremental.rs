//! Incremental sides of arbiters: their tables, their calls, their ends.

use std::sync::Arc;

use crate::common::{incremental_variant, program};
use tempfile::TempDir;
use weir_plugin_api::{
    Answer, ArbiterError, Change, ClassInfo, ClassMove, GroupMove, IncrementalArbiter, LinkId, LinkUse, NO_LEVEL,
    RootLevel, Setting, SimTime, Slice, WeightChange,
};
use weir_plugin_host::{Library, LoadedIncremental, PluginIncremental, probe};

fn opened(folder: &TempDir, defines: &[&str]) -> Result<Library, String> {
    let file = incremental_variant(folder.path(), "variant", defines);
    let probed = probe(&file, program()).map(|_| ()).map_err(|e| e.to_string());
    let opened = Library::open(&file).map_err(|e| e.to_string());
    assert_eq!(opened.as_ref().err(), probed.as_ref().err(), "the probe and the run say the same");
    opened
}

fn side(folder: &TempDir, defines: &[&str]) -> Arc<PluginIncremental> {
    Arc::new(opened(folder, defines).expect("accepted").arbiters.remove(0).incremental.expect("there is one"))
}

fn create(folder: &TempDir, defines: &[&str], params: &str) -> Result<LoadedIncremental, ArbiterError> {
    let capacities = [1000, 500];
    let setting = Setting {
        capacities: capacities.as_slice().into(),
        links: 2,
        classes: 7,
        priorities: 3,
        bits: 30,
        wants_peaks: 1,
    };
    LoadedIncremental::create(&side(folder, defines), &setting, params)
}

/// An instance that knows three classes.
fn instance(folder: &TempDir, defines: &[&str]) -> LoadedIncremental {
    let mut instance = create(folder, defines, "{}").expect("created");
    (0..3).for_each(|id| instance.add_class(id, &class(0)));
    instance
}

fn class(priority: i64) -> ClassInfo<'static> {
    ClassInfo { links: [LinkId(0), LinkId(1)].as_slice().into(), limit: NO_LEVEL, priority }
}

fn settle(
    instance: &mut LoadedIncremental,
    now: u64,
    removed: &[WeightChange],
    added: &[WeightChange],
) -> Result<Answer, ArbiterError> {
    let mut answer = Answer::default();
    let change = Change { now: SimTime(now), removed: removed.into(), added: added.into() };
    instance.settle(&change, &mut answer).map(|()| answer)
}

const TWO: WeightChange = WeightChange { class: 2, weight: 40 };

#[test]
fn changes_and_answers_cross_the_boundary_to_c() {
    let folder = TempDir::new().expect("a folder");
    let mut instance = instance(&folder, &[]);
    let answer = settle(&mut instance, 0, &[], &[TWO]).expect("settled");
    assert_eq!(answer.groups, [GroupMove { group: 0, root: 0 }]);
    assert_eq!(answer.classes, [ClassMove { class: 2, group: 0 }]);
    assert_eq!(answer.levels, [RootLevel { root: 0, link: LinkId(1), level: 40 }]);
    assert!(answer.dropped.is_empty());
    let answer = settle(&mut instance, 5, &[TWO], &[]).expect("settled");
    assert_eq!((answer.len(), answer.dropped), (1, vec![2]));

    assert_eq!((instance.above(1), instance.above(3)), (Some(1), None), "class 3 does not exist");
    assert_eq!((instance.beside(1, 1), instance.beside(0, 1), instance.beside(1, 2)), (Some(2), None, None));
    let told = LinkUse { peak: 101, is_full: 1, stalled_ps: 8 };
    assert_eq!(instance.link_use(LinkId(1), SimTime(16)), told);
}

#[test]
fn functions_that_may_be_null_leave_things_unknown() {
    let folder = TempDir::new().expect("a folder");
    let instance = instance(&folder, &["ABOVE=NULL", "BESIDE=NULL", "LINK_USE=NULL"]);
    assert_eq!((instance.above(1), instance.beside(1, 1)), (None, None));
    assert_eq!(instance.link_use(LinkId(0), SimTime(1)), LinkUse::UNKNOWN);
}

#[test]
fn errors_are_told_and_some_stop_the_instance() {
    let folder = TempDir::new().expect("a folder");
    let refused = create(&folder, &[], r#"{"a": 1}"#).err().expect("refused");
    assert_eq!(refused, ArbiterError::Refused("takes no parameters".to_owned()));

    let mut failing = instance(&folder, &[]);
    assert_eq!(settle(&mut failing, 1, &[], &[]).unwrap_err(), ArbiterError::Failed("at one I fail".to_owned()));
    let unknown = settle(&mut failing, 2, &[], &[]).unwrap_err().to_string();
    assert!(unknown.starts_with("settle of ") && unknown.contains("returned 99"), "{unknown}");
    assert_eq!(settle(&mut failing, 3, &[], &[]).unwrap_err().to_string(), unknown, "it is not called again");

    let impossible = settle(&mut instance(&folder, &[]), 4, &[], &[]).unwrap_err().to_string();
    assert!(impossible.contains("longer than memory"), "{impossible}");

    let mut asked = instance(&folder, &[]);
    assert_eq!(asked.beside(9, 0), None);
    assert_eq!(settle(&mut asked, 3, &[], &[]).unwrap_err().to_string(), "nine is no root");
    let mut told = instance(&folder, &[]);
    told.add_class(3, &class(13));
    assert_eq!(settle(&mut told, 3, &[], &[]).unwrap_err().to_string(), "thirteen is no priority");
}

#[test]
fn a_wrong_table_is_refused() {
    let cases: [(&str, &[&str]); 11] = [
        ("SIDE_MINOR=1", &["ABI 1.1", "begin with 1.2", "WEIR_ABI_MINOR_INCREMENTAL"]),
        ("SIDE_SIZE=96", &["96 bytes", "sizeof(weir_incremental_table)"]),
        ("SIDE_VIEW=32", &["32 bytes", "sizeof(weir_answer)"]),
        ("SIDE_KIND=1", &["kind 1", "kind 3"]),
        ("SIDE_FLAGS=2", &["unknown flags 0x2", "0x1"]),
        ("SIDE_NAME=\"other\"", &["incremental side of `other` 1.0.0", "list it there"]),
        ("SIDE_VERSION=\"2\"", &["incremental side of `variant` 2"]),
        ("SETTLE=NULL", &["null function `settle`", "only `above`, `beside` and `link_use`"]),
        ("ADD_CLASS=NULL", &["null function `add_class`"]),
        ("SIDES=&side", &["weir_incremental(1)", "second incremental arbiter `variant`"]),
        ("SIDES=NULL", &["lists no incremental arbiter", "weir_incremental"]),
    ];
    for (define, words) in cases {
        // An opened library stays open: each has a path of its own.
        let folder = TempDir::new().expect("a folder");
        let text = opened(&folder, &[define]).expect_err("refused");
        assert!(words.iter().all(|word| text.contains(word)), "{define}: {text}");
    }
}

/// A slice of nothing has a pointer that is not null, as C is told.
#[test]
fn empty_slices_are_not_null() {
    assert!(!Slice::<u64>::empty().is_null() && Slice::<u64>::empty().is_empty());
}
