//! Shards merge into the whole, and only into it.

use std::sync::atomic::{AtomicBool, AtomicU64};

use proptest::prelude::*;
use weir_optimize::parameters::{Axis, Grid, MergeError, Outcome, Part, Search, Shard, merge};

use super::{bytes, grid, ran, run, search};

fn shards(grid: &Grid, count: u64) -> Vec<Part> {
    let shard = |index| Search { shard: Shard::new(index, count).expect("a shard"), ..search(grid) };
    (1..=count).map(|index| run(shard(index)).expect("a part")).collect()
}

/// A part with one text of its JSON replaced.
fn edited(part: &Part, from: &str, to: &str) -> Part {
    let text = bytes(part);
    assert_eq!(text.matches(from).count(), 1, "{text}");
    serde_json::from_str(&text.replace(from, to)).expect("a part")
}

#[track_caller]
fn refused(parts: &[Part], message: &str) {
    assert_eq!(merge(parts).expect_err("a refusal").to_string(), message);
}

#[test]
fn shards_are_written_as_on_the_command_line() {
    let shard: Shard = "2/3".parse().expect("a shard");
    assert_eq!((shard.index(), shard.count(), shard.to_string().as_str()), (2, 3, "2/3"));
    for text in ["0/3", "4/3", "1/0", "1", "/", "a/3", "-1/3", "+1/3", "1/3/5", "1/99999999999999999999", ""] {
        let error = text.parse::<Shard>().expect_err("a refusal");
        assert_eq!(
            error.to_string(),
            format!("there is no shard `{text}`; write `i/n` with i from 1 to n, as in `2/3`")
        );
    }
}

/// Candidates 0 to 6 in three shards: 0 3 6, 1 4, 2 5.
#[test]
fn candidates_are_dealt_in_turn() {
    let grid = grid(&[7]);
    let makespan = |values: &[(&str, &str)]| values[0].1[1..].parse::<u64>().map(|v| v + 1).map_err(|e| e.to_string());
    let of = |index| {
        let search = Search { shard: Shard::new(index, 3).expect("a shard"), ..search(&grid) };
        bytes(&search.run(makespan, &AtomicBool::new(false), &AtomicU64::new(0)).expect("a part"))
    };
    assert!(of(1).ends_with(r#""makespans":[1,4,7]}"#));
    assert!(of(2).ends_with(r#""makespans":[2,5]}"#));
    assert!(of(3).ends_with(r#""makespans":[3,6]}"#));
}

#[test]
fn duplicates_and_gaps_are_refused() {
    let parts = shards(&grid(&[10]), 3);
    let [a, b, c] = [&parts[0], &parts[1], &parts[2]].map(Clone::clone);
    refused(&[], "there is nothing to merge");
    refused(&[a.clone(), c.clone()], "shard 2/3 is missing; give all parts");
    refused(&[b.clone(), a.clone(), b.clone(), c], "shard 2/3 is given twice; give each part once");
    refused(&[a.clone(), a], "shard 1/3 is given twice; give each part once");
}

#[test]
fn parts_of_other_searches_are_refused() {
    let parts = shards(&grid(&[10]), 2);
    let with = |other: Part| [parts[0].clone(), other];
    refused(&with(edited(&parts[1], "digest", "other")), "shard 2/2 is of another scenario than the first part");
    refused(
        &with(edited(&parts[1], "\"p0\"", "\"q0\"")),
        "shard 2/2 is of another list of parameters than the first part",
    );
    refused(
        &with(edited(&parts[1], "\"baseline\":{\"makespan\":9}", "\"baseline\":{\"makespan\":8}")),
        "shard 2/2 is of another makespan of the baseline than the first part",
    );
    refused(
        &with(shards(&grid(&[10]), 3).remove(1)),
        "shard 2/3 is of another division into shards than the first part",
    );
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let old = edited(&parts[1], &version, "\"version\":\"0.0.1\"");
    let message =
        format!("shard 2/2 was written by weir 0.0.1 (format 2), this is {}; run it again", env!("CARGO_PKG_VERSION"));
    refused(&with(old.clone()), &message);
    refused(&[old], &message);
}

#[test]
fn an_unfinished_shard_is_refused() {
    let grid = grid(&[10]);
    let search = Search { shard: Shard::new(2, 2).expect("a shard"), ..search(&grid) };
    let part = search.run(super::makespan, &AtomicBool::new(true), &AtomicU64::new(0)).expect("a part");
    let message = "shard 2/2 is not finished: 5 of its candidates are missing; let it finish first";
    refused(&[shards(&grid, 2).remove(0), part], message);
}

#[test]
fn parts_that_were_changed_are_refused() {
    let parts = shards(&grid(&[4]), 2);
    let longer = edited(&parts[1], "\"makespans\":[", "\"makespans\":[5,");
    refused(&[parts[0].clone(), longer], "shard 2/2 was changed: it holds 3 candidates instead of 2");
    let beyond = edited(&parts[1], "\"shard\":2,", "\"shard\":3,");
    refused(&[parts[0].clone(), beyond.clone()], "shard 2/2 is missing; give all parts");
    let all = [parts[0].clone(), parts[1].clone(), beyond];
    assert!(matches!(merge(&all), Err(MergeError::Changed { .. })));
    let empty = edited(&parts[0], "[\"v0\",\"v1\",\"v2\",\"v3\"]", "[]");
    assert!(matches!(merge(&[edited(&empty, "\"shards\":2", "\"shards\":1")]), Err(MergeError::Changed { .. })));
    assert!(
        serde_json::from_str::<Part>(&bytes(&parts[0]).replace("\"shards\":2", "\"shards\":2,\"more\":1")).is_err()
    );
}

#[test]
fn a_single_shard_has_no_outcome() {
    let error = Outcome::new(shards(&grid(&[4]), 2).remove(1)).expect_err("a refusal");
    assert_eq!(error.to_string(), "shard 2/2 is a part of the candidates only; merge it with the others first");
}

proptest! {
    /// Any number of shards, also more than candidates, in any order, read back from their files.
    #[test]
    fn any_division_in_any_order_merges_into_the_whole(
        lengths in prop::collection::vec(1_usize..6, 1..4),
        order in (1_usize..60).prop_flat_map(|count| Just((0..count).collect::<Vec<_>>()).prop_shuffle()),
    ) {
        let grid = grid(&lengths);
        let parts = shards(&grid, order.len() as u64);
        let read = |&i: &usize| serde_json::from_str(&bytes(&parts[i])).expect("a part");
        let parts: Vec<Part> = order.iter().map(read).collect();
        let merged = merge(&parts).expect("a whole");
        prop_assert_eq!(bytes(&merged), bytes(&run(search(&grid)).expect("a part")));
    }

    /// Any choice of parts that is not exactly each once is refused.
    #[test]
    fn any_other_choice_of_parts_is_refused(choice in prop::collection::vec(0_usize..4, 0..6)) {
        let parts = shards(&Grid::new(vec![Axis::list("p", ["a", "b", "c", "d", "e"])]).expect("a grid"), 4);
        let mut sorted = choice.clone();
        sorted.sort_unstable();
        let chosen: Vec<Part> = choice.iter().map(|&i| parts[i].clone()).collect();
        prop_assert_eq!(merge(&chosen).is_ok(), sorted == [0, 1, 2, 3]);
    }
}

#[test]
fn the_baseline_may_be_left_out() {
    let grid = grid(&[3]);
    let part = run(Search { baseline: None, ..search(&grid) }).expect("a part");
    assert_eq!(Outcome::new(part).expect("an outcome").baseline(), None);
    let part = run(Search { baseline: ran(5), ..search(&grid) }).expect("a part");
    assert_eq!(Outcome::new(part).expect("an outcome").baseline(), Some(5));
}
