//! What a search finds, and its table.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use proptest::prelude::*;
use weir_optimize::Distribution;
use weir_optimize::parameters::{Axis, Grid, Outcome, ParameterError, Part, Search, Shard, Tried, merge};

use super::{best, bytes, grid, makespan, on, run, search};

/// The scenario of these: packet × tau with the makespans 30, 20, 50, 20 (in units of 10^9 ps), baseline 9 ps.
fn small() -> Grid {
    Grid::new(vec![Axis::list("put.packet", ["none", "a, \"b\""]), Axis::list("arbiter.tau", ["0", "0.15"])])
        .expect("a grid")
}

fn small_makespan(values: &[(&str, &str)]) -> Result<u64, String> {
    Ok(match (values[0].1, values[1].1) {
        ("none", "0") => 30_000_000_000,
        ("none", _) => 20_000_000_000,
        (_, "0") => 50_000_000_000,
        _ => 20_000_000_000,
    })
}

fn small_outcome() -> Outcome {
    let part = search(&small()).run(small_makespan, &AtomicBool::new(false), &AtomicU64::new(0));
    Outcome::new(part.expect("a part")).expect("an outcome")
}

#[test]
fn among_equals_the_lowest_number_is_best() {
    let outcome = small_outcome();
    assert_eq!(best(&outcome), Some((20_000_000_000, 1)));
    assert_eq!(outcome.solution(), Some(vec![("put.packet", "none"), ("arbiter.tau", "0.15")]));
    assert!(outcome.complete());
}

/// Sorted: 20, 20, 30, 50 · 10^9. Median 25, mean 120 / 4 = 30; position 4 · 25 / 100 = 1 and 4 · 75 / 100 = 3.
#[test]
fn statistics_are_over_all_candidates() {
    let outcome = small_outcome();
    let distribution = outcome.distribution().expect("times");
    assert_eq!((outcome.evaluated(), outcome.baseline(), distribution.worst()), (4, Some(9), Some(50_000_000_000)));
    assert_eq!((distribution.median(), distribution.mean()), (Some(25e9), Some(30e9)));
    assert_eq!(
        (distribution.percentile(25), distribution.percentile(75)),
        (Some(20_000_000_000), Some(50_000_000_000))
    );
    assert_eq!(distribution.best_count(), 2);
}

#[test]
fn the_table_as_csv() {
    let mut csv = Vec::new();
    small_outcome().table().write_csv(&mut csv).expect("memory");
    let expected = "candidate,put.packet,arbiter.tau,makespan_s,makespan_ps,ratio,best\n\
                    0,none,0,0.03,30000000000,1.5,false\n\
                    1,none,0.15,0.02,20000000000,1,true\n\
                    2,\"a, \"\"b\"\"\",0,0.05,50000000000,2.5,false\n\
                    3,\"a, \"\"b\"\"\",0.15,0.02,20000000000,1,false\n";
    assert_eq!(String::from_utf8(csv).expect("UTF-8"), expected);
}

#[test]
fn a_candidate_that_fails_is_named_the_lowest_on_any_number_of_threads() {
    let grid = grid(&[10, 10]);
    let evaluate = |values: &[(&str, &str)]| match (values[0].1, values[1].1) {
        ("v3", "v7") | ("v3" | "v5" | "v9", "v8") => Err("no".to_owned()),
        _ => makespan(values),
    };
    for threads in [1, 2, 8] {
        let result = on(threads, || search(&grid).run(evaluate, &AtomicBool::new(false), &AtomicU64::new(0)));
        assert_eq!(result.expect_err("a refusal").to_string(), "candidate 37 (p0=v3, p1=v7): no");
    }
}

#[test]
fn a_candidate_without_time_is_refused() {
    let result = search(&small()).run(|_| Ok(0_u64), &AtomicBool::new(false), &AtomicU64::new(0));
    let Err(ParameterError::Candidate { candidate: 0, reason, .. }) = result else { panic!("{result:?}") };
    assert_eq!(reason, "it takes no time, so there is nothing to compare");
}

/// A search that is interrupted by its fourth candidate: on one thread it knows the three before.
#[test]
fn an_interrupted_search_holds_what_is_known() {
    let (cancel, evaluated) = (AtomicBool::new(false), AtomicU64::new(0));
    let evaluate = |values: &[(&str, &str)]| {
        cancel.store(values[0].1 == "v3", Ordering::Relaxed);
        if cancel.load(Ordering::Relaxed) { Err("interrupted".to_owned()) } else { makespan(values) }
    };
    let grid = grid(&[10]);
    let part = on(1, || search(&grid).run(evaluate, &cancel, &evaluated)).expect("a part");
    let outcome = Outcome::new(part).expect("an outcome");
    assert!(!outcome.complete());
    assert_eq!((outcome.evaluated(), evaluated.into_inner(), outcome.table().rows().count()), (3, 3, 3));
    let least = (0..3).map(|i| (makespan(&grid.values(i)).expect("a makespan"), i)).min();
    assert_eq!(best(&outcome), least);
}

#[test]
fn a_search_that_is_interrupted_at_once_has_no_best() {
    let part = search(&small()).run(makespan, &AtomicBool::new(true), &AtomicU64::new(0)).expect("a part");
    let outcome = Outcome::new(part).expect("an outcome");
    assert_eq!((best(&outcome), outcome.solution()), (None, None));
    assert_eq!(outcome.distribution().and_then(Distribution::worst), None);
    assert_eq!(outcome.table().ranked(5), vec![]);
}

#[test]
fn every_candidate_is_evaluated_once() {
    let seen = Mutex::new(Vec::new());
    let evaluate = |values: &[(&str, &str)]| {
        seen.lock().expect("a lock").push(format!("{values:?}"));
        Ok(1_u64)
    };
    let grid = grid(&[7, 11]);
    on(8, || search(&grid).run(evaluate, &AtomicBool::new(false), &AtomicU64::new(0))).expect("a part");
    let mut seen = seen.into_inner().expect("a lock");
    let mut all: Vec<String> = (0..77).map(|i| format!("{:?}", grid.values(i))).collect();
    seen.sort();
    all.sort();
    assert_eq!(seen, all);
}

proptest! {
    #[test]
    fn the_same_on_1_2_and_8_threads(lengths in prop::collection::vec(1_usize..6, 1..4)) {
        let grid = grid(&lengths);
        let parts = [1, 2, 8].map(|threads| bytes(&on(threads, || run(search(&grid))).expect("a part")));
        prop_assert_eq!(&parts[0], &parts[1]);
        prop_assert_eq!(&parts[0], &parts[2]);
    }

    /// Best, ranks and rows against a plain loop over all candidates.
    #[test]
    fn the_outcome_is_that_of_a_plain_loop(lengths in prop::collection::vec(1_usize..6, 1..4), most in 0_usize..40) {
        let grid = grid(&lengths);
        let part: Part = run(search(&grid)).expect("a part");
        let outcome = Outcome::new(part).expect("an outcome");
        let mut all: Vec<(u64, u64)> =
            (0..grid.candidates()).map(|i| (makespan(&grid.values(i)).expect("a makespan"), i)).collect();
        let table = outcome.table();
        let rows: Vec<(u64, u64)> = table.rows().map(|row| (row.makespan, row.candidate)).collect();
        prop_assert_eq!(&rows, &all);
        all.sort_unstable();
        prop_assert_eq!(best(&outcome), all.first().copied());
        let marked: Vec<u64> = table.rows().filter(|row| row.best).map(|row| row.candidate).collect();
        prop_assert_eq!(marked, vec![all[0].1]);
        let ranked: Vec<(u64, u64)> = table.ranked(most).iter().map(|row| (row.makespan, row.candidate)).collect();
        all.truncate(most);
        prop_assert_eq!(ranked, all);
    }
}

/// Candidates that stop count, are never the best, and come back from a checkpoint and from parts.
#[test]
fn candidates_that_stop_are_counted_and_named() {
    let grid = &Grid::new(vec![Axis::list("x", ["1", "2", "3", "4"].map(str::to_owned).to_vec())]).expect("a grid");
    let evaluate = |values: &[(&str, &str)]| {
        let value: u64 = values[0].1.parse().expect("a number");
        Ok(if value.is_multiple_of(2) { Tried::from(10 - value) } else { Tried::Stopped(format!("\"{value}\"\nend")) })
    };
    let folder = std::env::temp_dir().join(format!("weir-stopped-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("checkpoint");
    let whole = |checkpoint| {
        let search = Search { checkpoint, ..search(grid) };
        search.run(evaluate, &AtomicBool::new(false), &AtomicU64::new(0)).expect("a part")
    };
    let part = whole(None);
    assert_eq!((part.complete(), bytes(&whole(Some(&file)))), (true, bytes(&part)));
    // Nothing is left to evaluate.
    let again = Search { checkpoint: Some(&file), ..search(grid) };
    let again = again.run(|_| Err::<u64, _>("evaluated again".to_owned()), &AtomicBool::new(false), &AtomicU64::new(0));
    assert_eq!(bytes(&again.expect("a part")), bytes(&part));
    std::fs::remove_dir_all(&folder).expect("removed");
    let shards = [1, 2, 3].map(|index| {
        let search = Search { shard: Shard::new(index, 3).expect("a shard"), ..search(grid) };
        search.run(evaluate, &AtomicBool::new(false), &AtomicU64::new(0)).expect("a part")
    });
    assert_eq!(bytes(&merge(&shards).expect("a whole")), bytes(&part));
    let outcome = Outcome::new(part).expect("an outcome");
    assert_eq!((outcome.complete(), outcome.evaluated(), best(&outcome)), (true, 2, Some((6, 3))));
    assert_eq!(outcome.stopped().collect::<Vec<_>>(), [(0, "\"1\"\nend"), (2, "\"3\"\nend")]);
}
