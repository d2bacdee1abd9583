//! A lower bound on the time of a collective by the topology.
//!
//! **Definition.** A cut is all ranks at or below a node of the tree against the others, or those of a machine. The
//! bytes that must cross it, over the bandwidth of all links that do: with a of the n ranks inside, and inwards for
//! outwards where the two differ, and P = ⌊S/n⌋ the whole bytes of a part:
//! ```text
//! all-reduce       S                    broadcast, reduce    S, towards or from the side without the root
//! all-gather       a · P outwards       scatter, gather      (ranks on the side without the root) · P
//! reduce-scatter   (n−a) · P            all-to-all           a(n−a) · P
//! send-recv-chain  S for each neighbour on the other side
//! ```
//! An all-reduce by messages between ranks also moves 2(n−1)·S in all out of the ranks, and 2(M−1)·S out of M
//! machines. The bound has neither latencies nor the protocol's efficiency. **Source.** nccl-tests,
//! doc/PERFORMANCE.md; Patarasu and Yuan, JPDC 69(2), 2009.

use serde::Serialize;
use weir_plugin_api::{Direction, FabricView, PS_PER_S};

use super::params::{Algorithm, Kind};
use super::resolve::Collective;
use crate::machine::{ancestors, machines, parents};

/// The cut that takes longest.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Bound {
    /// Time of its bytes, ps.
    pub(super) time: f64,
    /// Ranks inside; all of them where the sum over all ranks is the bound.
    pub(super) ranks: u64,
    /// Bytes that cross it.
    pub(super) bytes: f64,
    /// Of its links, B/s.
    pub(super) bandwidth: f64,
    /// The node at whose links it is; none where the sum over all ranks is the bound.
    pub(super) at: Option<Place>,
}

/// Where a cut is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(super) struct Place {
    /// All at or below this node, or its machine.
    pub(super) node: u32,
    pub(super) is_machine: bool,
    /// Whether the bytes go in, not out.
    pub(super) is_inwards: bool,
}

/// What is at or below a node.
#[derive(Clone, Copy, Default)]
struct Below {
    ranks: u64,
    has_root: bool,
    /// Neighbours in order of which the first alone is inside; and the second alone.
    next: [u64; 2],
    /// Bandwidth out and in, B/s.
    bandwidth: [f64; 2],
}

/// The bound; `None` where ranks stand outside the topology.
pub(super) fn bound(collective: &Collective, fabric: &FabricView<'_>) -> Option<Bound> {
    let (nodes, n) = (fabric.node_kind.len(), collective.ranks.len() as u64);
    if collective.ranks.iter().any(|&rank| rank as usize >= nodes) {
        return None;
    }
    let (below, machines) = (below(&collective.ranks, fabric), within(&collective.ranks, fabric));
    let of_nodes = (0..).zip(&below).map(|(node, cut)| (node, false, cut));
    // A machine by the topmost of its nodes, which stands first.
    let of_machines = (0..).zip(&machines).map(|(node, cut)| (node, true, cut));
    let sides = of_nodes.chain(of_machines).filter(|(_, _, cut)| cut.ranks > 0 && cut.ranks < n);
    let cuts = sides.flat_map(|(node, is_machine, cut)| {
        let bytes = crossing(collective, cut);
        let at = move |way: usize| Some(Place { node, is_machine, is_inwards: way == 1 });
        let bound = move |way: usize| Bound { at: at(way), ..of(cut.ranks, bytes[way], cut.bandwidth[way]) };
        (0..2).filter(move |&way| bytes[way] > 0.0).map(bound)
    });
    let own: Vec<Below> = collective.ranks.iter().map(|&rank| below[rank as usize]).collect();
    // A rank with others below it sends on their behalf, too.
    let own = own.iter().all(|own| own.ranks == 1).then(|| whole(collective, &own)).flatten();
    let all = cuts.chain(own).chain(whole(collective, &machines));
    // Of equals the first, whichever that is of links that are alike.
    let longer = |a: Bound, b: Bound| if b.time > a.time { b } else { a };
    all.filter(|bound| bound.time.is_finite()).reduce(longer)
}

fn of(ranks: u64, bytes: f64, bandwidth: f64) -> Bound {
    Bound { time: bytes / bandwidth * PS_PER_S as f64, ranks, bytes, bandwidth, at: None }
}

/// Bandwidths of all cuts with ranks on both sides, out and in, B/s.
pub(super) fn cuts(ranks: &[u32], fabric: &FabricView<'_>) -> impl Iterator<Item = f64> {
    let n = ranks.len() as u64;
    let sides = below(ranks, fabric).into_iter().chain(within(ranks, fabric));
    sides.filter(move |cut| cut.ranks > 0 && cut.ranks < n).flat_map(|cut| cut.bandwidth)
}

/// An all-reduce by messages, over all links out of the ranks, or out of the machines.
fn whole(collective: &Collective, sides: &[Below]) -> Option<Bound> {
    let by_messages = collective.kind == Kind::AllReduce
        && collective.phases.iter().flatten().all(|group| group.steps.algorithm != Algorithm::Nvls);
    let sides = sides.iter().filter(|side| side.ranks > 0);
    let (count, bandwidth) = sides.fold((0_u64, 0.0), |(count, sum), side| (count + 1, sum + side.bandwidth[0]));
    let bytes = 2.0 * count.saturating_sub(1) as f64 * collective.size as f64;
    (by_messages && count > 1).then(|| of(collective.ranks.len() as u64, bytes, bandwidth))
}

/// Bytes that must cross a cut outwards and inwards.
fn crossing(collective: &Collective, cut: &Below) -> [f64; 2] {
    let (size, n, inside) = (collective.size as f64, collective.ranks.len() as u64, cut.ranks as f64);
    // Parts are whole bytes, and those that are larger by one may all be on the side where they need not cross.
    let part = (collective.size / n.max(1)) as f64;
    let (ours, others) = (inside * part, (n as f64 - inside) * part);
    let from_root = |inwards: f64, outwards: f64| if cut.has_root { [outwards, 0.0] } else { [0.0, inwards] };
    let turned = |[outwards, inwards]: [f64; 2]| [inwards, outwards];
    match collective.kind {
        Kind::AllReduce => [size, size],
        Kind::AllGather => [ours, others],
        Kind::ReduceScatter => [others, ours],
        Kind::AllToAll => [inside * others; 2],
        Kind::Broadcast => from_root(size, size),
        Kind::Reduce => turned(from_root(size, size)),
        Kind::Scatter => from_root(ours, others),
        Kind::Gather => turned(from_root(ours, others)),
        Kind::SendRecvChain => cut.next.map(|pairs| pairs as f64 * size),
    }
}

fn below(ranks: &[u32], fabric: &FabricView<'_>) -> Vec<Below> {
    let parents = parents(fabric);
    let mut below = vec![Below::default(); parents.len()];
    for (position, &rank) in ranks.iter().enumerate() {
        for node in ancestors(&parents, rank) {
            below[node as usize].ranks += 1;
            below[node as usize].has_root |= position == 0;
        }
        let next = ranks[(position + 1) % ranks.len()];
        apart(&parents, rank, next, |node, way| below[node as usize].next[way] += 1);
    }
    for link in 0..fabric.links() {
        let (from, to, bandwidth) = (fabric.from[link], fabric.to[link], fabric.bandwidth[link]);
        match fabric.direction[link] {
            Direction::Up => below[from as usize].bandwidth[0] += bandwidth,
            Direction::Down => below[to as usize].bandwidth[1] += bandwidth,
            Direction::Lateral => {
                apart(&parents, from, to, |node, way| below[node as usize].bandwidth[way] += bandwidth)
            }
        }
    }
    below
}

/// The same of machines: all that hangs together without a network.
fn within(ranks: &[u32], fabric: &FabricView<'_>) -> Vec<Below> {
    let machine = machines(fabric);
    let of = |node: u32| machine[node as usize] as usize;
    let mut within = vec![Below::default(); machine.len()];
    for (position, &rank) in ranks.iter().enumerate() {
        let (from, to) = (of(rank), of(ranks[(position + 1) % ranks.len()]));
        within[from].ranks += 1;
        within[from].has_root |= position == 0;
        if from != to {
            within[from].next[0] += 1;
            within[to].next[1] += 1;
        }
    }
    for link in 0..fabric.links() {
        let (from, to) = (of(fabric.from[link]), of(fabric.to[link]));
        if from != to {
            within[from].bandwidth[0] += fabric.bandwidth[link];
            within[to].bandwidth[1] += fabric.bandwidth[link];
        }
    }
    within
}

/// Calls `each` for the nodes that have only `from` at or below them (0) and those that have only `to` (1).
fn apart(parents: &[Option<u32>], from: u32, to: u32, mut each: impl FnMut(u32, usize)) {
    let [above_from, above_to] = [from, to].map(|node| ancestors(parents, node).collect::<Vec<_>>());
    let shared = above_from.iter().rev().zip(above_to.iter().rev()).take_while(|(a, b)| a == b).count();
    above_from.iter().rev().skip(shared).for_each(|&node| each(node, 0));
    above_to.iter().rev().skip(shared).for_each(|&node| each(node, 1));
}
