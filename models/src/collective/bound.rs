//! A lower bound on the time of a collective by the topology.
//!
//! **Definition.** The bytes that must cross a cut ([`super::cuts`]), over the bandwidth of all links that do: with a of the n
//! ranks inside, and inwards for outwards where the two differ, and P = ⌊S/n⌋ the whole bytes of a part:
//! ```text
//! all-reduce       S                    broadcast, reduce    S, towards or from the side without the root
//! all-gather       a · P outwards       scatter, gather      (ranks on the side without the root) · P
//! reduce-scatter   (n−a) · P            all-to-all           a(n−a) · P
//! send-recv-chain  S for each neighbour on the other side
//! ```
//! An all-reduce by messages between ranks also moves 2(n−1)·S in all out of the ranks, and 2(M−1)·S out of M
//! machines. Where both directions of links share a bandwidth, what must go out and what must go in cross it together: each
//! byte takes its part of one direction at least. Through a memory goes the sum of what must leave the sides into which ranks
//! fall without it, or enter them, or those 2(M−1)·S of M sides. The bound has neither latencies nor the protocol's efficiency.
//! **Source.** nccl-tests, doc/PERFORMANCE.md; Patarasu and Yuan, JPDC 69(2), 2009.

use serde::Serialize;
use weir_plugin_api::{PS_PER_S, Surroundings};

use super::cuts::{Cuts, Memory, Side};
use super::params::{Algorithm, Kind};
use super::resolve::Collective;

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
    /// What it is that links share, where that is narrower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shared: Option<Shared>,
}

/// What links share.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Shared {
    /// The bytes go in and out.
    BothWays,
    /// They go through the node.
    Memory,
}

/// The bound; `None` where ranks stand outside the topology.
pub(super) fn bound(collective: &Collective, surroundings: &Surroundings<'_>) -> Option<Bound> {
    let nodes = surroundings.fabric.node_kind.len();
    if collective.ranks.iter().any(|&rank| rank as usize >= nodes) {
        return None;
    }
    let cuts = Cuts::new(&collective.ranks, surroundings);
    let sides = cuts.sides().flat_map(|(node, is_machine, side)| {
        let place = Place { node, is_machine, is_inwards: false, shared: None };
        let ([out, into], [up, down]) = (crossing(collective, side), side.bandwidth);
        [
            (out, Some(up), place),
            (into, Some(down), Place { is_inwards: true, ..place }),
            (out + into, side.both_ways(), Place { shared: Some(Shared::BothWays), ..place }),
        ]
        .map(|(bytes, bandwidth, at)| Some(Bound { at: Some(at), ..of(side.ranks, bytes, bandwidth?) }))
    });
    let own: Vec<Side> = collective.ranks.iter().map(|&rank| cuts.below[rank as usize]).collect();
    // A rank with others below it sends on their behalf, too.
    let own = own.iter().all(|own| own.ranks == 1).then(|| whole(collective, &own)).flatten();
    let memories = cuts.memories.iter().map(|memory| through(collective, memory));
    let all = sides.flatten().chain(own).chain(whole(collective, &cuts.machines)).chain(memories);
    // Of equals the first, whichever that is of links that are alike.
    let longer = |a: Bound, b: Bound| if b.time > a.time { b } else { a };
    all.filter(|bound| bound.bytes > 0.0 && bound.time.is_finite()).reduce(longer)
}

fn of(ranks: u64, bytes: f64, bandwidth: f64) -> Bound {
    Bound { time: bytes / bandwidth * PS_PER_S as f64, ranks, bytes, bandwidth, at: None }
}

/// An all-reduce by messages, over all links out of the ranks, or out of the machines.
fn whole(collective: &Collective, sides: &[Side]) -> Option<Bound> {
    let sides = sides.iter().filter(|side| side.ranks > 0);
    let (count, bandwidth) = sides.fold((0, 0.0), |(count, sum), side| (count + 1, sum + side.bandwidth[0]));
    Some(of(collective.ranks.len() as u64, between(collective, count)?, bandwidth))
}

/// Bytes of an all-reduce by messages between so many sides.
fn between(collective: &Collective, sides: u64) -> Option<f64> {
    let by_messages = collective.kind == Kind::AllReduce
        && collective.phases.iter().flatten().all(|group| group.steps.algorithm != Algorithm::Nvls);
    (by_messages && sides > 1).then(|| 2.0 * (sides - 1) as f64 * collective.size as f64)
}

/// What goes through a memory. A message from one side to another takes its bytes of it once, whether it starts, ends or passes
/// there. What must leave a side leaves it in messages that start on that side, so no message counts for two sides, and the sum
/// over the sides is no more than all bytes through it; the same holds of what must enter.
fn through(collective: &Collective, memory: &Memory) -> Bound {
    let crossing = memory.sides.iter().map(|side| crossing(collective, side));
    let [out, into] = crossing.fold([0.0; 2], |sum, [out, into]| [sum[0] + out, sum[1] + into]);
    let bytes = between(collective, memory.sides.len() as u64).unwrap_or(0.0).max(out).max(into);
    let at = Place { node: memory.node, is_machine: false, is_inwards: false, shared: Some(Shared::Memory) };
    Bound { at: Some(at), ..of(collective.ranks.len() as u64, bytes, memory.bandwidth) }
}

/// Bytes that must cross a cut outwards and inwards.
fn crossing(collective: &Collective, cut: &Side) -> [f64; 2] {
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
