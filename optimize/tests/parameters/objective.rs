//! Searches by another objective than the makespan.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};

use proptest::prelude::*;
use weir_optimize::parameters::{Grid, Outcome, ParameterError, Part, Ran, Search, Shard, Tried, merge};
use weir_optimize::search::Objective;

use super::{bytes, grid, makespan, search};

/// A value per byte that has nothing to do with the makespan, with ties.
fn value(values: &[(&str, &str)]) -> f64 {
    let digits: u64 = values.iter().flat_map(|(_, value)| value[1..].parse::<u64>()).sum();
    (digits % 4 + 1) as f64 / 3.0
}

fn by(grid: &Grid, objective: Objective) -> Search<'_> {
    let baseline = super::ran(9).map(|ran| Ran { value: Some(0.1), ..ran });
    Search { objective, baseline, ..search(grid) }
}

fn run(search: Search<'_>) -> Result<Part, ParameterError> {
    let evaluate = |values: &[(&str, &str)]| {
        let own = if search.objective.is_time() { (value(values) * 3e3).round() } else { value(values) };
        makespan(values).map(|makespan| Tried::Ran { makespan, value: Some(own) })
    };
    search.run(evaluate, &AtomicBool::new(false), &AtomicU64::new(0))
}

/// Of a throughput the value is ps per byte: 1/3 ps per byte are 3 TB/s. The other candidate takes twice as long per byte.
#[test]
fn rows_have_the_value_and_the_makespan() {
    let grid = grid(&[2]);
    let of = |objective| {
        let mut csv = Vec::new();
        let outcome = Outcome::new(run(by(&grid, objective)).expect("a part")).expect("an outcome");
        outcome.table().write_csv(&mut csv).expect("memory");
        (String::from_utf8(csv).expect("UTF-8"), outcome.distribution().map(|all| all.pairs().to_vec()))
    };
    let times: Vec<u64> = (0..2).map(|at| makespan(&grid.values(at)).expect("a makespan")).collect();
    let row = |at: usize, value: &str, ratio: u32, best: bool| {
        format!("{at},v{at},{value},{},{},{ratio},{best}\n", times[at] as f64 / 1e12, times[at])
    };
    let header = "candidate,p0,value,makespan_s,makespan_ps,ratio,best\n";
    let (csv, distribution) = of(Objective::Throughput);
    assert_eq!(csv, [header, &row(0, "3000000000000", 1, true), &row(1, "1500000000000", 2, false)].concat());
    assert_eq!(distribution, None);
    let (csv, distribution) = of(Objective::End);
    assert_eq!(csv, [header, &row(0, "0.000000001", 1, true), &row(1, "0.000000002", 2, false)].concat());
    assert_eq!(distribution, Some(vec![(1000, 1), (2000, 1)]));
}

#[test]
fn a_part_without_its_values_is_refused() {
    let part = run(by(&grid(&[2]), Objective::Sum)).expect("a part");
    for (from, to) in [
        ("\"values\":[1000.0,2000.0]", "\"values\":[1000.0]"),
        ("\"values\":[1000.0,2000.0]", "\"values\":[1000.0,null]"),
        ("\"values\":[1000.0,2000.0]", "\"values\":[1000.0,-2000.0]"),
        ("\"values\":[1000.0,2000.0]", "\"values\":[1000.0,0.0]"),
        (",\"values\":[1000.0,2000.0]", ""),
        ("\"objective\":\"sum\"", "\"objective\":\"makespan\""),
        (",\"value\":0.1", ""),
    ] {
        let text = bytes(&part);
        assert_eq!(text.matches(from).count(), 1, "{text}");
        let part: Part = serde_json::from_str(&text.replace(from, to)).expect("a part");
        let error = Outcome::new(part).expect_err("a refusal").to_string();
        assert_eq!(error, "shard 1/1 was changed: its values are not those of its candidates", "{to}");
    }
}

#[test]
fn searches_by_other_objectives_do_not_merge() {
    let grid = grid(&[4]);
    let shard = |index, objective| {
        run(Search { shard: Shard::new(index, 2).expect("a shard"), ..by(&grid, objective) }).expect("a part")
    };
    let error = merge(&[shard(1, Objective::Sum), shard(2, Objective::Max)]).expect_err("a refusal");
    assert_eq!(error.to_string(), "shard 2/2 is of another objective than the first part");
}

proptest! {
    /// Shards and a checkpoint that was cut give the whole, whose best and ranks are those of a plain loop.
    #[test]
    fn the_whole_is_that_of_a_plain_loop(
        lengths in prop::collection::vec(1_usize..6, 1..4),
        shards in 1_u64..9,
        cut in 0.0..1.0_f64,
    ) {
        let grid = grid(&lengths);
        let whole = run(by(&grid, Objective::Throughput)).expect("a part");
        let shard = |index| Search { shard: Shard::new(index, shards).expect("a shard"), ..by(&grid, Objective::Throughput) };
        let parts: Vec<Part> = (1..=shards).map(|index| run(shard(index)).expect("a part")).collect();
        prop_assert_eq!(bytes(&merge(&parts).expect("a whole")), bytes(&whole));

        let file = std::env::temp_dir().join(format!("weir-values-{}", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let kept = |file: &Path| run(Search { checkpoint: Some(file), ..by(&grid, Objective::Throughput) });
        prop_assert_eq!(bytes(&kept(&file).expect("a part")), bytes(&whole));
        let text = std::fs::read(&file).expect("it is there");
        std::fs::write(&file, &text[..(text.len() as f64 * cut) as usize]).expect("written");
        prop_assert_eq!(bytes(&kept(&file).expect("a part")), bytes(&whole));
        std::fs::remove_file(&file).expect("removed");

        let outcome = Outcome::new(whole).expect("an outcome");
        let mut all: Vec<(f64, u64)> = (0..grid.candidates()).map(|at| (value(&grid.values(at)), at)).collect();
        all.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        prop_assert_eq!(outcome.best(), Some(all[0].1));
        let ranked: Vec<(f64, u64)> =
            outcome.table().ranked(7).iter().map(|row| (row.ratio * all[0].0, row.candidate)).collect();
        for (own, plain) in ranked.iter().zip(&all) {
            prop_assert_eq!(own.1, plain.1);
            prop_assert!((own.0 - plain.0).abs() < 1e-12);
        }
    }
}
