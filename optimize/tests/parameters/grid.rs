//! Grids number their candidates and refuse what makes none.

use proptest::prelude::*;
use weir_optimize::parameters::{Axis, Grid};

use super::grid;

#[track_caller]
fn refused(axes: Vec<Axis>, message: &str) {
    assert_eq!(Grid::new(axes).expect_err("a refusal").to_string(), message);
}

#[test]
fn the_first_axis_is_the_slowest() {
    let grid = Grid::new(vec![
        Axis::list("workload[0].put.packet", ["none", "2MiB"]),
        Axis::list("arbiter.tau", ["0", "0.2", "0.4"]),
    ])
    .expect("a grid");
    assert_eq!(grid.candidates(), 6);
    let values: Vec<String> =
        (0..6).map(|i| grid.values(i).iter().map(|(_, value)| *value).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(values, ["none 0", "none 0.2", "none 0.4", "2MiB 0", "2MiB 0.2", "2MiB 0.4"]);
    assert_eq!(grid.values(4), [("workload[0].put.packet", "2MiB"), ("arbiter.tau", "0.2")]);
}

#[test]
fn nothing_to_vary_is_refused() {
    refused(vec![], "`parameters` names nothing to vary; give at least one path with a list or a range");
    refused(
        vec![Axis::list("arbiter.tau", ["0"]), Axis::list("workload[0].put.packet", [""; 0])],
        "`workload[0].put.packet` has an empty list; give at least one value",
    );
}

#[test]
fn the_same_twice_is_refused() {
    let axis = |path: &str| Axis::list(path, ["0", "1"]);
    refused(vec![axis("a.b"), axis("c"), axis("a.b")], "`a.b` is varied twice; put all of its values into one list");
    refused(vec![Axis::list("a", ["0", "1", "0"])], "`a` has the value `0` twice; list each value once");
}

/// A value of the whole set after one of its keys would replace it.
#[test]
fn a_value_that_replaces_an_earlier_one_is_refused() {
    let axis = |path: &str| Axis::list(path, ["{}"]);
    refused(
        vec![axis("arbiter.tau"), axis("arbiter")],
        "`arbiter` replaces what `arbiter.tau` sets before it; list `arbiter` first",
    );
    refused(vec![axis("w[1].put"), axis("w")], "`w` replaces what `w[1].put` sets before it; list `w` first");
    assert!(Grid::new(vec![axis("arbiter"), axis("arbiter.tau"), axis("arb")]).is_ok());
}

#[test]
fn a_grid_that_is_too_large_is_refused_with_its_size() {
    let axis = |path: &str, values: u32| Axis::list(path, (0..values).map(|v| v.to_string()));
    let grid = Grid::new(vec![axis("a", 10_000), axis("b", 1_000)]).expect("a grid");
    assert_eq!(grid.candidates(), 10_000_000);
    let message = "candidates, more than the 10000000 that are tried; use fewer values";
    refused(vec![axis("a", 10_001), axis("b", 1_000)], &format!("the grid has 10001000 {message}"));
    let many = (0..40).map(|i| axis(&format!("p{i}"), 100)).collect();
    refused(many, &format!("the grid has more than 2^128 {message}"));
}

proptest! {
    /// Counting up digit by digit, the last axis first, visits the candidates in their order.
    #[test]
    fn numbers_count_like_an_odometer(lengths in prop::collection::vec(1_usize..5, 1..5)) {
        let grid = grid(&lengths);
        let mut digits = vec![0; lengths.len()];
        for candidate in 0..grid.candidates() {
            let expected: Vec<String> = digits.iter().map(|d| format!("v{d}")).collect();
            let values: Vec<&str> = grid.values(candidate).iter().map(|(_, value)| *value).collect();
            prop_assert_eq!(values, expected);
            for (digit, &length) in digits.iter_mut().zip(&lengths).rev() {
                *digit = (*digit + 1) % length;
                if *digit > 0 {
                    break;
                }
            }
        }
        prop_assert!(digits.iter().all(|&d| d == 0));
    }
}
