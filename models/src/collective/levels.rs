//! Collectives within machines and across them.
//!
//! ```text
//! M machines of L ranks: machine phases have M groups of L, network phases L groups of M (rank l of every machine)
//!
//! all-reduce      machine: reduce-scatter S ─► network: all-reduce S/L ─► machine: all-gather S
//! all-gather      network: all-gather S/L ─► machine: all-gather S
//! reduce-scatter  machine: reduce-scatter S ─► network: reduce-scatter S/L
//! broadcast       network, from the root to the first rank of each machine: S ─► machine: S; reduce backwards
//! scatter         network, the same ranks: S ─► machine: scatter S/M; gather backwards
//! all-to-all      machine, what goes to rank l of any machine: S ─► network: S
//! ```
//!
//! **Source.** Levels as NCCL and MPI libraries have them; R. Rabenseifner, *Optimization of Collective Reduction
//! Operations*, ICCS 2004, for the three phases of an all-reduce.

use std::collections::BTreeMap;

use weir_plugin_api::{CallError, Surroundings};

use super::params::{Algorithm, Kind, Level};
use super::resolve::{Group, Phase};
use super::steps::Steps;
use crate::machine;
use crate::operation::refused;

/// The positions of the ranks of each machine, in order of the machines' first ranks.
type Machines = Vec<Vec<u32>>;

/// The phases of a collective over levels.
pub(super) fn phases(
    levels: &[Level],
    steps: Steps,
    ranks: &[u32],
    surroundings: &Surroundings<'_>,
) -> Result<Vec<Phase>, CallError> {
    if levels != [Level::Machine, Level::Network] {
        return Err(refused("levels: only `[machine, network]` is known; write that, or leave it out"));
    }
    let machines = machines(ranks, surroundings)?;
    let (m, l) = (machines.len() as u64, machines[0].len() as u64);
    let size = |level, kind: Kind| match (kind, level) {
        (Kind::Scatter | Kind::Gather, Level::Machine) => steps.size.div_ceil(m),
        (Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter, Level::Network) => steps.size.div_ceil(l),
        _ => steps.size,
    };
    let phase = |&(level, kind): &(Level, Kind)| {
        let of_group = |ranks: Vec<u32>| {
            let n = ranks.len() as u64;
            let algorithm = of_level(steps.algorithm, kind, level, n);
            Group { steps: Steps { kind, algorithm, n, size: size(level, kind) }, ranks, orders: Vec::new() }
        };
        let across = |place: usize| machines.iter().map(|machine| machine[place]).collect();
        match level {
            Level::Machine => machines.iter().cloned().map(of_group).collect(),
            Level::Network if kind.is_rooted() => vec![of_group(across(0))],
            Level::Network => (0..l as usize).map(across).map(of_group).collect(),
        }
    };
    Ok(parts(steps.kind)?.iter().map(phase).collect())
}

/// The collectives that make up one over levels, in order.
fn parts(kind: Kind) -> Result<&'static [(Level, Kind)], CallError> {
    use Level::{Machine, Network};
    Ok(match kind {
        Kind::AllReduce => &[(Machine, Kind::ReduceScatter), (Network, Kind::AllReduce), (Machine, Kind::AllGather)],
        Kind::AllGather => &[(Network, Kind::AllGather), (Machine, Kind::AllGather)],
        Kind::ReduceScatter => &[(Machine, Kind::ReduceScatter), (Network, Kind::ReduceScatter)],
        Kind::Broadcast => &[(Network, Kind::Broadcast), (Machine, Kind::Broadcast)],
        Kind::Reduce => &[(Machine, Kind::Reduce), (Network, Kind::Reduce)],
        Kind::Scatter => &[(Network, Kind::Scatter), (Machine, Kind::Scatter)],
        Kind::Gather => &[(Machine, Kind::Gather), (Network, Kind::Gather)],
        Kind::AllToAll => &[(Machine, Kind::AllToAll), (Network, Kind::AllToAll)],
        Kind::SendRecvChain => return Err(refused("levels: a send-recv-chain has none; leave it out")),
    })
}

/// The algorithm that was asked for, where it does this part; else the usual one. A switch adds within a machine only.
fn of_level(asked: Algorithm, kind: Kind, level: Level, n: u64) -> Algorithm {
    let fits = asked.fits(kind, n) && !(asked == Algorithm::Nvls && level == Level::Network);
    if fits { asked } else { Algorithm::usual(kind) }
}

fn machines(ranks: &[u32], surroundings: &Surroundings<'_>) -> Result<Machines, CallError> {
    let of_node = machine::machines(surroundings.fabric);
    let of_rank = ranks.iter().map(|&rank| of_node.get(rank as usize));
    let mut place = BTreeMap::new();
    let mut machines = Machines::new();
    for (position, machine) in (0..).zip(of_rank) {
        let at = *place.entry(machine).or_insert(machines.len());
        if at == machines.len() {
            machines.push(Vec::new());
        }
        machines[at].push(position);
    }
    let sizes = machines.iter().map(Vec::len);
    if machines.len() < 2 {
        return Err(refused("levels: all ranks are in one machine; leave it out"));
    }
    match (sizes.clone().min(), sizes.max()) {
        (Some(1), Some(1)) => Err(refused("levels: every machine has one rank; leave it out")),
        (Some(least), Some(most)) if least < most => {
            Err(refused(format!("levels: one machine has {least} of the ranks, another {most}; name as many of each")))
        }
        _ => Ok(machines),
    }
}
