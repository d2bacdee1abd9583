//! Collectives of SimGrid traces: which arguments each has, and the messages or the operation that they mean.

use super::calls::What;
use super::collectives::{Member, Steps};
use super::operations::{Problem, shown};
use super::simgrid::ACTIONS;
use super::simgrid_arguments::Arguments;
use crate::collective::params::Kind;

/// The arguments of an action.
pub(super) struct Signature {
    /// How many stand before the types of data.
    pub(super) arguments: usize,
    /// Types of data at most.
    pub(super) types: usize,
    /// The place of the root.
    pub(super) root: Option<usize>,
    /// The place of what each rank computes.
    pub(super) flops: Option<usize>,
}

impl Signature {
    /// Of `n` ranks.
    pub(super) fn of(action: &str, n: usize) -> Result<Self, Problem> {
        let (arguments, types, root, flops) = match action {
            "barrier" => (0, 0, None, None),
            "bcast" | "broadcast" => (2, 1, Some(1), None),
            "allreduce" => (2, 1, None, Some(1)),
            "reduce" => (3, 1, Some(2), Some(1)),
            "alltoall" | "allgather" => (2, 2, None, None),
            "gather" | "scatter" => (3, 2, Some(2), None),
            "alltoallv" => (2 * n + 2, 2, None, None),
            "gatherv" | "scatterv" => (n + 2, 2, Some(n + 1), None),
            "allgatherv" => (n + 1, 2, None, None),
            "reducescatter" => (n + 1, 1, None, Some(n)),
            other => return Err(unknown(other)),
        };
        Ok(Self { arguments, types, root, flops })
    }
}

fn unknown(action: &str) -> Problem {
    format!("no action is named `{}`; there are {}", shown(action), ACTIONS.join(", "))
}

/// A rank's part in a collective.
pub(super) struct Call<'a> {
    pub(super) action: &'a str,
    pub(super) rank: u32,
    /// 0 of those without a root.
    pub(super) root: u32,
    pub(super) ranks: u32,
    /// The arguments as what is sent and as what is received, each in its type of data.
    pub(super) sides: [Arguments<'a>; 2],
}

impl Call<'_> {
    /// Its messages, step by step.
    pub(super) fn steps(&self, member: Member) -> Result<Steps, Problem> {
        let Self { action, rank, root, ranks, sides: [sent, received] } = self;
        let n = *ranks as usize;
        let of = |sizes: Vec<u64>| move |rank: u32| sizes[rank as usize];
        Ok(match *action {
            "barrier" => member.all_reduce(0),
            "bcast" | "broadcast" => member.broadcast(*root, sent.bytes(0)?),
            "reduce" => member.reduce(*root, sent.bytes(0)?),
            "allreduce" => member.all_reduce(sent.bytes(0)?),
            "alltoall" | "allgather" => {
                let (sent, received) = (sent.bytes(0)?, received.bytes(1)?);
                member.exchange(|_| sent, |_| received)
            }
            "gather" => {
                let part = received.bytes(1)?;
                member.gather(*root, sent.bytes(0)?, |_| part)
            }
            "scatter" => {
                let part = sent.bytes(0)?;
                member.scatter(*root, |_| part, received.bytes(1)?)
            }
            "alltoallv" => member.exchange(of(sent.list(1, *ranks)?), of(received.list(n + 2, *ranks)?)),
            "allgatherv" => {
                let own = sent.bytes(0)?;
                member.exchange(|_| own, of(received.list(1, *ranks)?))
            }
            "gatherv" => member.gather(*root, sent.bytes(0)?, of(received.list(1, *ranks)?)),
            "scatterv" => member.scatter(*root, of(sent.list(0, *ranks)?), received.bytes(n)?),
            "reducescatter" => {
                let sizes = sent.list(0, *ranks)?;
                let own = sizes[*rank as usize];
                member.exchange(of(sizes), |_| own)
            }
            other => return Err(unknown(other)),
        })
    }

    /// The same in the words of the operation `collective`; `None` of one that stays messages, as its parts may differ or are empty.
    pub(super) fn planned(&self) -> Result<Option<What>, Problem> {
        let Self { action, rank, root, ranks, sides: [sent, received] } = self;
        let all = || sent.bytes(0);
        // A part is sent by the root, or received by it.
        let part = |from_root: bool| if (rank == root) == from_root { sent.bytes(0) } else { received.bytes(1) };
        let (kind, bytes, parts) = match *action {
            _ if *ranks == 1 => return Ok(None),
            "allreduce" => (Kind::AllReduce, all()?, 1),
            "bcast" | "broadcast" => (Kind::Broadcast, all()?, 1),
            "reduce" => (Kind::Reduce, all()?, 1),
            "alltoall" => (Kind::AllToAll, all()?, *ranks),
            "allgather" => (Kind::AllGather, all()?, *ranks),
            "gather" => (Kind::Gather, part(false)?, *ranks),
            "scatter" => (Kind::Scatter, part(true)?, *ranks),
            "reducescatter" => match &sent.list(0, *ranks)?[..] {
                [first, others @ ..] if others.iter().all(|size| size == first) => {
                    (Kind::ReduceScatter, *first, *ranks)
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        if matches!(kind, Kind::AllToAll | Kind::AllGather) && received.bytes(1)? != bytes {
            let room = received.bytes(1)?;
            return Err(format!("`{action}` sends {bytes} B to each rank and receives {room} B from each; correct it"));
        }
        What::new(kind, bytes, parts, *root)
    }
}
