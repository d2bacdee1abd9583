//! A search that was killed goes on to the same bytes.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use proptest::prelude::*;
use weir_optimize::parameters::{CheckpointError, Grid, ParameterError, Part, Search, Shard};
use weir_optimize::{DigestedLine, check_digest, with_digest};

use super::{bytes, grid, makespan, on, run, search};

fn with<'a>(grid: &'a Grid, path: &'a Path) -> Search<'a> {
    Search { checkpoint: Some(path), ..search(grid) }
}

/// The part and how many candidates were evaluated for it.
fn counted(search: Search<'_>) -> (Result<Part, ParameterError>, u64) {
    let count = AtomicU64::new(0);
    let evaluate = |values: &[(&str, &str)]| {
        count.fetch_add(1, Ordering::Relaxed);
        makespan(values)
    };
    let part = search.run(evaluate, &AtomicBool::new(false), &AtomicU64::new(0));
    (part, count.into_inner())
}

fn error(result: Result<Part, ParameterError>) -> String {
    match result {
        Err(ParameterError::Checkpoint { error, .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self) -> std::path::PathBuf {
        self.0.path().join("search.checkpoint")
    }
}

#[test]
fn a_finished_search_is_not_done_again() {
    let (folder, grid) = (Folder::new(), grid(&[5, 4]));
    let file = folder.file();
    let (first, evaluated) = counted(with(&grid, &file));
    assert_eq!(evaluated, 20);
    let (again, evaluated) = counted(with(&grid, &file));
    assert_eq!(evaluated, 0);
    assert_eq!(bytes(&again.expect("a part")), bytes(&first.expect("a part")));
}

#[test]
fn the_count_of_evaluated_candidates_begins_with_what_is_known() {
    let (folder, grid) = (Folder::new(), grid(&[10]));
    let (file, cancel, evaluated) = (folder.file(), AtomicBool::new(false), AtomicU64::new(0));
    let stop = |values: &[(&str, &str)]| {
        cancel.store(values[0].1 == "v6", Ordering::Relaxed);
        makespan(values)
    };
    let part = on(1, || with(&grid, &file).run(stop, &cancel, &evaluated)).expect("a part");
    assert_eq!((part.complete(), evaluated.load(Ordering::Relaxed)), (false, 7));
    let go_on = with(&grid, &file).run(makespan, &AtomicBool::new(true), &evaluated).expect("a part");
    assert_eq!((bytes(&go_on), evaluated.into_inner()), (bytes(&part), 7));
}

#[test]
fn checkpoints_of_other_searches_are_refused() {
    let (folder, ten) = (Folder::new(), grid(&[10]));
    let file = folder.file();
    run(with(&ten, &file)).expect("a part");
    let before = fs::read(&file).expect("a file");
    let refused = |search: Search<'_>, what: &str| {
        let message = format!("belongs to another {what}; remove it to start anew, or name another file");
        assert_eq!(error(run(search)), message);
        assert_eq!(fs::read(&file).expect("a file"), before, "a refused file stays as it is");
    };
    let shard = |index, count| Shard::new(index, count).expect("a shard");
    refused(Search { input: "other", ..with(&ten, &file) }, "scenario");
    refused(with(&grid(&[11]), &file), "list of parameters");
    refused(Search { baseline: None, ..with(&ten, &file) }, "makespan of the baseline");
    refused(Search { shard: shard(1, 2), ..with(&ten, &file) }, "division into shards");
    fs::remove_file(&file).expect("a file");
    run(Search { shard: shard(1, 2), ..with(&ten, &file) }).expect("a part");
    let message = "belongs to another shard; remove it to start anew, or name another file";
    assert_eq!(error(run(Search { shard: shard(2, 2), ..with(&ten, &file) })), message);
}

#[test]
fn checkpoints_of_other_versions_are_refused() {
    let (folder, grid) = (Folder::new(), grid(&[3]));
    let file = folder.file();
    run(with(&grid, &file)).expect("a part");
    let text = fs::read_to_string(&file).expect("a file");
    let (head, rest) = text.split_once('\n').expect("a first line");
    let DigestedLine::Intact(head) = check_digest(head) else { panic!("{head}") };
    let this = env!("CARGO_PKG_VERSION");
    let of_version = head.replace(&format!("\"version\":\"{this}\""), "\"version\":\"9.9.9\"");
    let newer = head.replace("checkpoint\":3", "checkpoint\":4");
    let older = head.replace("checkpoint\":3", "checkpoint\":1") + "\n";
    for (head, found) in [
        (with_digest(&of_version), "9.9.9 (format 2)"),
        (with_digest(&newer), "with format 4 of checkpoints"),
        (older, "with format 1 of checkpoints"),
    ] {
        fs::write(&file, head + rest).expect("a file");
        let expected = format!("was written by weir {found}, this is {this}; remove it to start anew");
        assert_eq!(error(run(with(&grid, &file))), expected);
    }
}

#[test]
fn other_files_are_refused_and_left_as_they_are() {
    let (folder, grid) = (Folder::new(), grid(&[3]));
    let file = folder.file();
    for text in ["weir: 1\nname: a scenario\n", "{}", "\n", "\u{0}\u{1}"] {
        fs::write(&file, text).expect("a file");
        let message = "is not a checkpoint of a search over parameters; name another file";
        assert_eq!(error(run(with(&grid, &file))), message);
        assert_eq!(fs::read_to_string(&file).expect("a file"), text);
    }
    let missing = folder.0.path().join("no/folder");
    let result = run(with(&grid, &missing));
    assert!(matches!(result, Err(ParameterError::Checkpoint { error: CheckpointError::Io(_), .. })), "{result:?}");
}

#[test]
fn a_changed_line_is_named() {
    let (folder, grid) = (Folder::new(), grid(&[3]));
    let file = folder.file();
    on(1, || run(with(&grid, &file))).expect("a part");
    let text = fs::read_to_string(&file).expect("a file");
    let lines: Vec<&str> = text.lines().collect();
    let changed = [lines[0], lines[1], lines[1], lines[3], ""].join("\n");
    fs::write(&file, changed).expect("a file");
    assert_eq!(error(run(with(&grid, &file))), "was changed or is damaged in line 3; remove it to start anew");
}

#[test]
fn two_searches_do_not_share_a_checkpoint() {
    let (folder, grid) = (Folder::new(), grid(&[1]));
    let file = folder.file();
    let evaluate = |_: &[(&str, &str)]| {
        assert_eq!(error(run(with(&grid, &file))), CheckpointError::InUse.to_string());
        Ok(5_u64)
    };
    on(1, || with(&grid, &file).run(evaluate, &AtomicBool::new(false), &AtomicU64::new(0))).expect("a part");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Killed at any byte, on any number of threads: what whole lines hold is not evaluated again, the rest is.
    #[test]
    fn after_any_prefix_the_search_goes_on_to_the_same_bytes(
        lengths in prop::collection::vec(1_usize..6, 1..4),
        cut in 0.0..=1.0_f64,
        threads in prop::sample::select(vec![1, 2, 8]),
        shards in 1_u64..4,
    ) {
        let (folder, grid) = (Folder::new(), grid(&lengths));
        let file = folder.file();
        let shard = Shard::new(1, shards).expect("a shard");
        let search = Search { shard, ..with(&grid, &file) };
        let whole = on(threads, || run(search)).expect("a part");
        let text = fs::read(&file).expect("a file");
        let kept = &text[..(text.len() as f64 * cut) as usize];
        fs::write(&file, kept).expect("a file");
        let known = kept.iter().filter(|&&b| b == b'\n').count().saturating_sub(1) as u64;
        let (again, evaluated) = on(threads, || counted(search));
        prop_assert_eq!(bytes(&again.expect("a part")), bytes(&whole));
        prop_assert_eq!(evaluated, grid.candidates().div_ceil(shards) - known);
        // What was added after the cut is as good as what was there before it.
        let (last, evaluated) = counted(search);
        prop_assert_eq!((bytes(&last.expect("a part")), evaluated), (bytes(&whole), 0));
    }
}

/// No bit can change: each is found, and the file is left as it is.
#[test]
fn a_changed_bit_is_refused_wherever_it_is() {
    let (folder, grid) = (Folder::new(), grid(&[3, 3]));
    let file = folder.file();
    run(with(&grid, &file)).expect("a part");
    let text = fs::read(&file).expect("a file");
    for bit in 0..8 * text.len() {
        let mut changed = text.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, &changed).expect("a file");
        let line = 1 + text[..bit / 8].iter().filter(|&&b| b == b'\n').count();
        let expected = format!("was changed or is damaged in line {line}; remove it to start anew");
        assert_eq!(error(run(with(&grid, &file))), expected, "bit {bit}");
        assert_eq!(fs::read(&file).expect("a file"), changed);
    }
}
