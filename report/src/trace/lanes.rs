//! Threads for slices that overlap: each goes to the first thread that is free.

use weir_plugin_api::SimTime;

/// A thread per span, from 0, so that spans of one thread do not overlap; in the order of the spans.
pub(super) fn assign(spans: impl Iterator<Item = (SimTime, SimTime)>) -> Vec<u32> {
    let spans: Vec<_> = spans.collect();
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|&i| spans[i]);
    let (mut lanes, mut free_at) = (vec![0; spans.len()], Vec::<SimTime>::new());
    for i in order {
        let (from, to) = spans[i];
        let lane = free_at.iter().position(|&free| free <= from).unwrap_or_else(|| {
            free_at.push(SimTime::ZERO);
            free_at.len() - 1
        });
        free_at[lane] = to;
        lanes[i] = lane as u32;
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_one_lane_do_not_overlap() {
        let spans = [(0, 5), (0, 2), (2, 3), (1, 9), (3, 3), (5, 6)].map(|(a, b)| (SimTime(a), SimTime(b)));
        assert_eq!(assign(spans.into_iter()), [1, 0, 0, 2, 0, 0]);
        assert!(assign(std::iter::empty()).is_empty());
    }
}
