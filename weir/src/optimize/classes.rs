//! Where annealing begins: in large grids, ranks of equal parities send in the same order of directions.

use weir_optimize::order::{ClassOrders, OrderProblem};
use weir_plugin_api::NodeId;
use weir_scenario::Scenario;

/// Ranks from which on classes help; measured: with 16 they reach the bound in a second, random orders in a minute or not.
const LARGE: usize = 16;

/// Classes for a workload whose ranks send along the axes of a grid; none for others.
pub(super) fn classes(scenario: &Scenario, problem: &OrderProblem<'_>) -> Vec<ClassOrders> {
    let Some(ranks) = scenario.ranks.as_deref().filter(|ranks| ranks.len() >= LARGE) else { return Vec::new() };
    let messages = scenario.rank_traffic().messages;
    let strides = strides(messages.iter().map(|&(from, to, _)| from.abs_diff(to) as usize), ranks.len());
    let Some(strides) = strides else { return Vec::new() };
    let mut places: Vec<(NodeId, usize)> = ranks.iter().enumerate().map(|(rank, &device)| (device, rank)).collect();
    places.sort_unstable();
    let coordinates = |node: NodeId| {
        let at = places.binary_search_by_key(&node, |&(device, _)| device).ok()?;
        let ends = strides.iter().skip(1).copied().chain([ranks.len()]);
        Some(strides.iter().zip(ends).map(|(&stride, end)| (places[at].1 % end / stride) as i64).collect())
    };
    let made = masks(strides.len()).into_iter().map(|masks| ClassOrders::by_parity(problem, coordinates, &masks));
    made.flatten().collect()
}

/// The strides of the axes, shortest first, of which ranks differ that send to each other; none where these are not those
/// of a grid. The way round a ring of a torus is no axis of its own.
fn strides(differences: impl Iterator<Item = usize>, ranks: usize) -> Option<Vec<usize>> {
    let mut known: Vec<usize> = differences.collect();
    known.sort_unstable();
    known.dedup();
    let mut strides: Vec<usize> = Vec::new();
    for &difference in &known {
        let turns = |&stride: &usize| {
            let whole = difference + stride;
            difference > stride && (whole == ranks || known.binary_search(&whole).is_ok())
        };
        if !strides.iter().any(turns) {
            strides.push(difference);
        }
    }
    let chain = strides.windows(2).all(|pair| pair[1].is_multiple_of(pair[0]));
    let fits = strides.first() == Some(&1) && chain && strides.last().is_some_and(|last| ranks.is_multiple_of(*last));
    fits.then_some(strides)
}

/// Parities that make classes, the most promising first: (x + y) mod 2 and z mod 2 was best of those measured in three
/// dimensions; the others follow the same thought.
fn masks(axes: usize) -> Vec<Vec<u32>> {
    match axes {
        1 => vec![vec![1]],
        2 => vec![vec![0b01, 0b10], vec![0b11]],
        3 => vec![vec![0b011, 0b100], vec![0b110, 0b001], vec![0b101, 0b010]],
        4 => vec![vec![0b0011, 0b1100], vec![0b0101, 0b1010], vec![0b1001, 0b0110]],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_seen_in_the_ranks_that_send() {
        let of = |differences: &[usize], ranks| strides(differences.iter().copied(), ranks);
        assert_eq!(of(&[16, 4, 1, 1], 64), Some(vec![1, 4, 16]));
        assert_eq!(of(&[1, 3, 4, 12], 16), Some(vec![1, 4]), "a torus of 4 x 4");
        assert_eq!(of(&[1, 2, 4, 8, 16], 32), Some(vec![1, 2, 4, 8, 16]), "a hypercube");
        assert_eq!(of(&[1, 4, 8], 16), Some(vec![1, 4, 8]), "4 x 2 x 2");
        assert_eq!(of(&[2, 4], 16), None);
        assert_eq!(of(&[1, 3, 7], 16), None);
        assert_eq!(of(&[], 16), None);
    }
}
