//! What a sweep says of its points, and once more of their sums.

use weir_optimize::parameters::Grid;
use weir_optimize::sweep::gain;
use weir_plugin_api::PS_PER_S;

use super::Consistent;
use super::amounts::{above, differ, found, other};
use super::run::unequal;
use crate::page::Point;
use crate::sweep::{SweepJson, SweepTotal};

type Sweep<'a> = SweepJson<'a, Point<'a>>;

impl Consistent for Sweep<'_> {
    fn contradiction(&self) -> Option<String> {
        let axes = self.axes.iter().map(|axis| axis.clone().into_owned()).collect();
        match Grid::repeating(axes) {
            Ok(grid) => of_sweep(self, &grid),
            Err(error) => Some(format!("axes: {error}")),
        }
    }
}

fn of_sweep(sweep: &Sweep<'_>, grid: &Grid) -> Option<String> {
    of_numbers(&sweep.points, grid)
        .or_else(|| found("points", &sweep.points, |point| of_point(point, grid)))
        .or_else(|| of_totals(sweep, grid))
        .or_else(|| of_whole(sweep, grid.candidates()))
}

/// Each point is listed once, by number.
fn of_numbers(points: &[Point<'_>], grid: &Grid) -> Option<String> {
    let all = grid.candidates();
    if let Some(i) = points.iter().position(|point| point.point >= all) {
        return Some(format!("points[{i}].point: {} of {all}, which are numbered from 0", points[i].point));
    }
    let i = points.windows(2).position(|pair| pair[1].point <= pair[0].point)?;
    Some(format!("points[{}].point: {} after {}", i + 1, points[i + 1].point, points[i].point))
}

fn of_point(point: &Point<'_>, grid: &Grid) -> Option<String> {
    let Point { baseline_s, baseline_ps, best_s, best_ps, bound_s, gain_percent, .. } = point;
    let mut own: Vec<(&str, &str)> = point.parameters.0.iter().map(|(path, value)| (&*path.0, &*value.0)).collect();
    let mut values = grid.values(point.point);
    own.sort_unstable();
    values.sort_unstable();
    if own != values {
        return Some(format!("parameters: not those of point {} of the axes", point.point));
    }
    let gained = 100.0 * gain(*baseline_ps as f64, *best_ps as f64);
    let bound_s = bound_s.map(|bound| bound.0).filter(|&bound| above(bound, best_s.0));
    unequal("baseline", Some(baseline_s.0), Some(*baseline_ps))
        .or_else(|| unequal("best", Some(best_s.0), Some(*best_ps)))
        .or_else(|| bound_s.map(|bound| format!("bound_s: {bound}, but the best found is {}", best_s.0)))
        .or_else(|| other("gain_percent", Some(*gain_percent), Some(gained)))
}

/// There is a sum for each combination of the axes but the first, of all points that have it.
fn of_totals(sweep: &Sweep<'_>, grid: &Grid) -> Option<String> {
    let first = grid.axes().first().map_or(1, |axis| axis.values.len() as u64);
    let combinations = grid.candidates() / first;
    if sweep.totals.len() as u64 != combinations {
        return Some(format!("totals: {} of {combinations} combinations", sweep.totals.len()));
    }
    let mut sums = vec![Sum::default(); sweep.totals.len()];
    sweep.points.iter().for_each(|point| sums[(point.point % combinations) as usize].add(point));
    sweep.totals.iter().zip(sums).zip(0_u64..).find_map(|((total, sum), at)| {
        let fault = of_total(total, sum, first).or_else(|| of_parameters(total, grid.values(at).split_off(1)))?;
        Some(format!("totals[{at}]: {fault}"))
    })
}

/// Of the points of a combination.
#[derive(Clone, Copy, Default, PartialEq)]
struct Sum {
    points: u64,
    unproved: u64,
    baseline: u128,
    best: u128,
}

impl Sum {
    fn add(&mut self, point: &Point<'_>) {
        self.points += 1;
        self.unproved += u64::from(!point.proved_optimal);
        self.baseline += u128::from(point.baseline_ps);
        self.best += u128::from(point.best_ps);
    }
}

fn of_total(total: &SweepTotal, sum: Sum, all: u64) -> Option<String> {
    let SweepTotal { points, complete, proved_optimal, baseline_s, baseline_ps, best_s, best_ps, .. } = total;
    let is_off = |seconds: f64, ps: u128| differ(seconds, ps as f64 / PS_PER_S as f64);
    if (*points, *baseline_ps, *best_ps) != (sum.points, sum.baseline, sum.best) {
        let Sum { points: others, baseline, best, .. } = sum;
        let own = format!("points {points}, baseline_ps {baseline_ps} and best_ps {best_ps}");
        return Some(format!("{own}, but of {others} points these are {baseline} and {best}"));
    }
    if is_off(baseline_s.0, *baseline_ps) || is_off(best_s.0, *best_ps) {
        return Some("its seconds are not its picoseconds".to_owned());
    }
    let (whole, proved) = (sum.points == all, sum.points == all && sum.unproved == 0);
    if (*complete, *proved_optimal) != (whole, proved) {
        let what = format!("complete: {complete} and proved_optimal: {proved_optimal}");
        return Some(format!("{what}, but {} of {points} points of {all} are not proved", sum.unproved));
    }
    let gained = (*points > 0).then(|| 100.0 * gain(sum.baseline as f64, sum.best as f64));
    other("gain_percent", total.gain_percent, gained)
}

fn of_parameters(total: &SweepTotal, mut values: Vec<(&str, &str)>) -> Option<String> {
    let mut own: Vec<(&str, &str)> = total.parameters.iter().map(|(path, value)| (&**path, &**value)).collect();
    own.sort_unstable();
    values.sort_unstable();
    (own != values).then(|| "parameters: not those of this combination of the axes".to_owned())
}

/// A sweep is complete with all of its points, and proved where each of them is. Points of equal values are searched once.
fn of_whole(sweep: &Sweep<'_>, all: u64) -> Option<String> {
    let SweepJson { searches, complete, proved_optimal, points, .. } = sweep;
    let count = points.len();
    if *complete != (count as u64 == all) {
        return Some(format!("complete: {complete}, with {count} of {all} points"));
    }
    if *searches > count || (*searches == 0) != points.is_empty() {
        return Some(format!("searches: {searches}, of {count} points"));
    }
    let proved = *complete && points.iter().all(|point| point.proved_optimal);
    (*proved_optimal != proved).then(|| format!("proved_optimal: {proved_optimal}, but of its points that is {proved}"))
}
