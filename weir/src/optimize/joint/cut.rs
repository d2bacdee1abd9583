//! What must cross the links around a part of the tree, wherever the ranks are placed.
//!
//! **Definition.** Of the devices below a node, k take between max(0, R − D + k) and min(k, R) of R ranks on D devices. Of all
//! sets of as many ranks, the one that sends the fewest bytes to the others sends at least so much over the links out of that
//! part, whose bandwidths add up. Into it the same holds of the ranks outside. All sets are looked at, up to [`MOST_RANKS`].
//! **Source.** The minimum bisection bound of mapping problems, by enumeration.

use weir_plugin_api::{NodeId, PS_PER_S};
use weir_sim_core::Fabric;

/// Ranks whose sets are enumerated; *assumed*, some milliseconds.
const MOST_RANKS: usize = 16;

/// The longest that the links around a part must be busy, ps, and the top of that part.
pub(super) fn bound(
    fabric: &Fabric,
    ranks: usize,
    messages: &[(u32, u32, u64)],
    devices: &[NodeId],
) -> Option<(f64, NodeId)> {
    if ranks > MOST_RANKS {
        return None;
    }
    let least = least_sent(ranks, messages);
    let of = |root: NodeId| {
        let inside = |node: NodeId| fabric.in_subtree(node, root);
        let below = devices.iter().filter(|&&device| inside(device)).count();
        let (fewest, most) = ((ranks + below).saturating_sub(devices.len()), below.min(ranks));
        let crossing = |out: bool| {
            let links = fabric.links().iter().filter(|link| inside(link.from) != inside(link.to));
            links.filter(|link| inside(link.from) == out).map(|link| link.bandwidth).sum::<f64>()
        };
        let bytes = |of: &dyn Fn(usize) -> u128| (fewest..=most).map(of).min().unwrap_or(0) as f64;
        let (out, into) = (bytes(&|k| least[k]), bytes(&|k| least[ranks - k]));
        let time = |bytes: f64, out: bool| if bytes > 0.0 { bytes * PS_PER_S as f64 / crossing(out) } else { 0.0 };
        (time(out, true).max(time(into, false)), root)
    };
    let nodes = (0..fabric.nodes().len()).map(NodeId::from_index);
    nodes.map(of).filter(|(time, _)| time.is_finite() && *time > 0.0).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Per number of ranks: the fewest bytes that a set of so many sends to the others.
fn least_sent(ranks: usize, messages: &[(u32, u32, u64)]) -> Vec<u128> {
    let mut sent = vec![vec![0_u128; ranks]; ranks];
    messages.iter().for_each(|&(from, to, bytes)| sent[from as usize][to as usize] += u128::from(bytes));
    let (mut of_set, mut least) = (vec![0_u128; 1 << ranks], vec![u128::MAX; ranks + 1]);
    least[0] = 0;
    for set in 1..1_usize << ranks {
        // The set without its first rank, and that rank.
        let (rest, new) = (set & (set - 1), set.trailing_zeros() as usize);
        let others = |inside: bool| (0..ranks).filter(move |&r| r != new && (rest >> r & 1 == 1) == inside);
        let more: u128 = others(false).map(|r| sent[new][r]).sum();
        let less: u128 = others(true).map(|r| sent[r][new]).sum();
        of_set[set] = of_set[rest] + more - less;
        let size = set.count_ones() as usize;
        least[size] = least[size].min(of_set[set]);
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of four that sends both ways: a part of one or three cuts two messages, of two neighbours two as well.
    #[test]
    fn the_fewest_bytes_out_of_a_ring() {
        let ring: Vec<(u32, u32, u64)> = (0..4).flat_map(|r| [(r, (r + 1) % 4, 5), ((r + 1) % 4, r, 5)]).collect();
        assert_eq!(least_sent(4, &ring), [0, 10, 10, 10, 0]);
        // One way around: 5 bytes leave any part.
        let one_way: Vec<(u32, u32, u64)> = (0..4).map(|r| (r, (r + 1) % 4, 5)).collect();
        assert_eq!(least_sent(4, &one_way), [0, 5, 5, 5, 0]);
    }
}
