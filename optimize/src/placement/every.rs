//! The best of all placements, one by one, where there are few: with any costs.

use super::number::Number;
use super::problem::Problem;

/// The lexicographically smallest of the best placements, and how many were visited: all, unless `stop` ends the search.
pub(super) fn search<T: Number>(problem: &Problem<'_, T>, stop: &dyn Fn() -> bool) -> (Vec<usize>, u64) {
    let group_of_device = problem.group_of_device();
    let free = vec![true; problem.padded];
    let mut visit =
        Visit { problem, stop, group_of_device, free, at: vec![], best: vec![], least: T::MOST, visited: 0 };
    visit.place(T::ZERO);
    (visit.best, visit.visited)
}

struct Visit<'p, 'm, T> {
    problem: &'p Problem<'m, T>,
    stop: &'p dyn Fn() -> bool,
    group_of_device: Vec<u32>,
    free: Vec<bool>,
    /// The devices of the first ranks.
    at: Vec<usize>,
    best: Vec<usize>,
    least: T,
    visited: u64,
}

impl<T: Number> Visit<'_, '_, T> {
    /// Places the next rank on each free device in turn; those before it cost `sum`.
    fn place(&mut self, sum: T) {
        let rank = self.at.len();
        if rank == self.problem.ranks {
            self.visited += 1;
            if sum < self.least {
                self.least = sum;
                self.best.clone_from(&self.at);
            }
            return;
        }
        for device in 0..self.problem.padded {
            // The first branch holds the baseline: there is always a result.
            if rank == 0 && device > 0 && (self.stop)() {
                return;
            }
            if self.free[device] {
                self.free[device] = false;
                let more = self.cost_of(rank, device);
                self.at.push(device);
                self.place(sum + more);
                self.at.pop();
                self.free[device] = true;
            }
        }
    }

    /// The edges from a rank on a device to the ranks before it.
    fn cost_of(&self, rank: usize, device: usize) -> T {
        let costs = self.problem.costs(self.group_of_device[device] as usize);
        let before = self.problem.neighbours(rank).iter().take_while(|&&(other, _)| (other as usize) < rank);
        before.fold(T::ZERO, |sum, &(other, weight)| {
            sum + weight * costs[self.group_of_device[self.at[other as usize]] as usize]
        })
    }
}
