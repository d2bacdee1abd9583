//! A search per distinct point, sums over the first axis, errors and ends.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weir_optimize::parameters::{Axis, Grid, ParameterError};
use weir_optimize::search::{Method, SearchResult, Vary};
use weir_optimize::sweep::{Sweep, Total, gain};

/// Sizes with one that comes twice, and overheads.
fn grid() -> Grid {
    let sizes = Axis::list("size", ["3", "5", "3", "9"]);
    Grid::repeating(vec![sizes, Axis::list("overhead", ["0", "2", "4"])]).unwrap()
}

/// As it is a point takes 2 · size + overhead, at best size + overhead.
fn result(values: &[(&str, &str)]) -> SearchResult<String> {
    let number = |i: usize| values[i].1.parse::<f64>().unwrap();
    let (baseline, best) = (2.0 * number(0) + number(1), number(0) + number(1));
    SearchResult {
        candidates: Some(6),
        evaluated: 2,
        proved_optimal: number(0) < 9.0,
        bound: Some(number(0)),
        ..SearchResult::new(Vary::Order, Method::BranchAndBound, baseline, best, format!("{values:?}"))
    }
}

type Answer = Result<Option<SearchResult<String>>, String>;

fn run(
    search: impl Fn(&[(&str, &str)]) -> Answer + Send + Sync,
    threads: usize,
) -> Result<Sweep<String>, ParameterError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| Sweep::run(grid(), search, &AtomicBool::new(false)))
}

#[test]
fn equal_points_share_a_search_and_count_each_time() {
    let searched = AtomicU64::new(0);
    let sweep = run(
        |values| {
            searched.fetch_add(1, Ordering::Relaxed);
            Ok(Some(result(values)))
        },
        3,
    )
    .unwrap();
    assert_eq!((searched.into_inner(), sweep.distinct(), sweep.finished()), (9, 9, 9));
    assert_eq!(
        (sweep.grid().candidates(), sweep.combinations(), sweep.complete(), sweep.proved()),
        (12, 3, true, false)
    );
    // Point 7 = 2 · 3 + 1: the second 3, overhead 2.
    assert_eq!(sweep.point(7), sweep.point(1));
    assert_eq!(sweep.point(7).map(|found| (found.baseline, found.best)), Some((8.0, 5.0)));
    assert_eq!(sweep.point(12), None);
    // 3 + 5 + 3 + 9 = 20, and four overheads.
    let total = |combination, overhead: u128| Total {
        combination,
        finished: 4,
        baseline: 40 + 4 * overhead,
        best: 20 + 4 * overhead,
        complete: true,
        proved: false,
    };
    assert_eq!(sweep.totals().collect::<Vec<_>>(), [total(0, 0), total(1, 2), total(2, 4)]);
    assert_eq!((sweep.total(0).gain(), gain(30.0, 20.0)), (1.0, 0.5));
    assert_eq!(run(|values| Ok(Some(result(values))), 1).unwrap(), sweep);
}

#[test]
fn the_csv_has_a_row_per_point() {
    let sweep = run(|values| Ok(Some(result(values))), 2).unwrap();
    let mut csv = Vec::new();
    sweep.write_csv(&mut csv).unwrap();
    let text = String::from_utf8(csv).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows.len(), 13);
    assert_eq!(
        rows[0],
        "point,size,overhead,baseline_s,baseline_ps,best_s,best_ps,bound_s,proved_optimal,gain_percent"
    );
    assert_eq!(rows[1], "0,3,0,0.000000000006,6,0.000000000003,3,0.000000000003,true,100");
    assert_eq!(rows[9], "8,3,4,0.00000000001,10,0.000000000007,7,0.000000000003,true,42.85714285714286");
}

#[test]
fn the_lowest_point_that_fails_is_named() {
    let wrong = |values: &[(&str, &str)]| match values[0].1 {
        "5" => Err("no such size".to_owned()),
        "9" => Ok(Some(SearchResult { best: 0.0, ..result(values) })),
        _ => Ok(Some(result(values))),
    };
    for threads in [1, 4] {
        let error = run(wrong, threads).unwrap_err().to_string();
        assert_eq!(error, "candidate 3 (size=5, overhead=0): no such size", "{threads}");
    }
    let error = run(|values| Ok(Some(SearchResult { best: 0.0, ..result(values) })), 1).unwrap_err().to_string();
    assert!(error.contains("it takes no time"), "{error}");
}

#[test]
fn what_is_finished_when_it_is_ended_is_kept() {
    let (cancel, begun) = (AtomicBool::new(false), AtomicU64::new(0));
    let search = |values: &[(&str, &str)]| match begun.fetch_add(1, Ordering::Relaxed) {
        0..4 => Ok(Some(result(values))),
        _ => {
            cancel.store(true, Ordering::Relaxed);
            Err("cut off".to_owned())
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let sweep = pool.install(|| Sweep::run(grid(), search, &cancel)).unwrap();
    assert_eq!((sweep.finished(), sweep.complete(), sweep.proved()), (4, false, false));
    // Points 0 to 3, and 6, 7 and 8, which are as 0, 1 and 2.
    assert_eq!(sweep.points().map(|(point, _)| point).collect::<Vec<_>>(), [0, 1, 2, 3, 6, 7, 8]);
    let total = sweep.total(1);
    assert_eq!((total.finished, total.baseline, total.best, total.complete), (2, 16, 10, false));
}

#[test]
fn a_grid_for_one_best_has_no_value_twice() {
    let error = Grid::new(vec![Axis::list("size", ["3", "3"])]).unwrap_err().to_string();
    assert!(error.contains("twice"), "{error}");
    assert!(Grid::repeating(vec![Axis::list("size", [""; 0])]).is_err());
}
