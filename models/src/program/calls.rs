//! Collectives of traces as the operation `collective` plans them, where a program has `collectives`.
//!
//! ```text
//! rank 0: begin ─┐    ┌── plan of the operation: ──┐    ┌─► end of rank 0
//! rank 1: begin ─┼──► │ a task is an operation of  │ ──┼─► end of rank 1
//! rank 2: begin ─┘    └── the program              ┘    └─► end of rank 2
//! ```
//!
//! **Definition.** A rank sends and adds once it has begun, and has ended once all that it sends, gets and adds is over. What
//! comes to a rank before it has begun is kept there, as in the buffers of NCCL; that these are never full is *assumed*. Messages
//! cost what `protocol` says, and no processor. **Ties.** As in the operation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use weir_plugin_api::{CallError, Plan, PlannedTask, PlannedWork, Surroundings};

use super::collective_options::Collectives;
use super::operations::{Dependency, FIRST_LANE, NO_LANE, Operation, Problem, Program, SAME_COLLECTIVES, Work};
use crate::collective::Collective;
use crate::collective::params::{CollectiveParams, Kind};
use crate::operation::{Resolved, refused};
use crate::quantities::{Bytes, MOST_BYTES, Node, Nodes};

/// A collective in the words of the operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct What {
    pub(super) kind: Kind,
    /// As nccl-tests count it.
    pub(super) size: u64,
    /// The rank that differs from the others, where there is one.
    root: Option<u32>,
}

impl What {
    /// A collective among so many ranks, of `parts` times so many bytes; `None` where nothing is to be moved.
    pub(super) fn new(kind: Kind, bytes: u64, parts: u32, root: u32) -> Result<Option<Self>, Problem> {
        let size = bytes.saturating_mul(parts.into());
        if size > MOST_BYTES {
            let kind = kind.word();
            return Err(format!("{kind} of {bytes} B from each of {parts} ranks is more than 2^53 B; correct it"));
        }
        Ok((size > 0).then_some(Self { kind, size, root: kind.is_rooted().then_some(root) }))
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} B", self.kind.word(), self.size)?;
        self.root.map_or(Ok(()), |root| write!(f, ", root {root}"))
    }
}

/// A collective that ranks do together.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Call {
    pub(super) what: What,
    /// In the order of rings and trees.
    ranks: Arc<[u32]>,
    /// By rank: the operations with which it begins and ends it.
    ends: BTreeMap<u32, [u32; 2]>,
}

impl Program {
    /// A rank takes part in a collective with operations of its own at the begin and the end.
    pub(super) fn call(
        &mut self,
        tag: u32,
        (what, ranks): (What, &Arc<[u32]>),
        rank: u32,
        ends: [u32; 2],
    ) -> Result<(), Problem> {
        self.agree(tag, rank, &what.to_string())?;
        let new = || Call { what, ranks: Arc::clone(ranks), ends: BTreeMap::new() };
        self.calls.entry(tag).or_insert_with(new).ends.insert(rank, ends);
        Ok(())
    }
}

/// Plans all collectives that were read, each rank on its device.
pub(super) fn plan(
    program: &mut Program,
    collectives: &Collectives,
    devices: &[u32],
    surroundings: &Surroundings<'_>,
) -> Result<(), CallError> {
    let (mut plans, mut lanes) = (BTreeMap::new(), FIRST_LANE);
    for call in std::mem::take(&mut program.calls).values() {
        let ends = check_all_take_part(program, call)?;
        // Traces repeat their collectives.
        let plan = match plans.get(&(call.what, Arc::clone(&call.ranks))) {
            Some(plan) => Arc::clone(plan),
            None => {
                let new = Arc::new(planned(call, collectives, devices, surroundings).map_err(|error| {
                    let place = program.place(ends[0][0]);
                    at_place(error, &place, |key| collectives.place(call.what.kind, key))
                })?);
                plans.insert((call.what, Arc::clone(&call.ranks)), Arc::clone(&new));
                new
            }
        };
        let first = program.operations.len() as u32;
        program.plans.push((first, call.what));
        let mut insertion = Insertion { program, call, devices, ends: &ends, first, lanes };
        insertion.insert(&plan).map_err(|problem| refused(format!("file: {problem}")))?;
        lanes += plan.engines().len() as u32;
    }
    Ok(())
}

/// The begin and end of each rank of a collective, in the order of its group.
fn check_all_take_part(program: &Program, call: &Call) -> Result<Vec<[u32; 2]>, CallError> {
    let of_rank = |rank: &u32| call.ends.get(rank).copied().ok_or(*rank);
    call.ranks.iter().map(of_rank).collect::<Result<_, _>>().map_err(|lacks| {
        let has = call.ends.first_key_value().map(|(rank, [begin, _])| (rank, program.place(*begin)));
        let (rank, place) = has.unwrap_or((&lacks, String::new()));
        let what = format!("rank {rank}, {place}: {}, and rank {lacks} has no such collective left", call.what);
        refused(format!("file: {what}; {SAME_COLLECTIVES}"))
    })
}

/// The plan of the operation.
fn planned(
    call: &Call,
    collectives: &Collectives,
    devices: &[u32],
    surroundings: &Surroundings<'_>,
) -> Result<Plan, CallError> {
    let What { kind, size, root } = call.what;
    let device = |rank: u32| devices[rank as usize];
    let params = CollectiveParams {
        kind,
        size: Bytes(size),
        ranks: Nodes(call.ranks.iter().map(|&rank| device(rank)).collect()),
        root: root.map(|root| Node(device(root))),
        options: collectives.of(kind),
    };
    let mut plan = Plan::new();
    Collective::of(&params, surroundings)?.plan(&mut plan);
    Ok(plan)
}

/// A refusal of the operation, with where the collective stands, at the key of the program that says so.
fn at_place(error: CallError, place: &str, key_of: impl Fn(&str) -> Option<String>) -> CallError {
    let CallError::Refused(text) = error else { return error };
    let (key, rest) = text.split_once(": ").unwrap_or(("collectives", &text));
    let key = key_of(key).unwrap_or_else(|| key.to_owned());
    refused(format!("{key}: {place}: {rest}"))
}

/// A plan that becomes operations of a program, one for each task.
struct Insertion<'p> {
    program: &'p mut Program,
    call: &'p Call,
    devices: &'p [u32],
    /// In the order of the group.
    ends: &'p [[u32; 2]],
    /// The operation of the first task.
    first: u32,
    /// The lane of the first engine.
    lanes: u32,
}

impl Insertion<'_> {
    fn insert(&mut self, plan: &Plan) -> Result<(), Problem> {
        let places: BTreeMap<u32, usize> =
            (0..).zip(self.call.ranks.iter()).map(|(place, &rank)| (self.devices[rank as usize], place)).collect();
        // Per task: the places of the ranks that have it, the one that begins it first.
        let mut of_task: Vec<[usize; 2]> = Vec::with_capacity(plan.len());
        for task in plan.iter() {
            let of = match task.work {
                PlannedWork::Carries { from, to, .. } => [from, to].map(|node| places[&node.0]),
                // The receiver adds.
                PlannedWork::Lasts(_) => [of_task[task.waits[0].task as usize][1]; 2],
                PlannedWork::Nothing => [0; 2],
            };
            of_task.push(of);
            self.task(&task, of)?;
        }
        Ok(())
    }

    fn task(&mut self, task: &PlannedTask<'_>, [from, to]: [usize; 2]) -> Result<(), Problem> {
        let [begin, end] = self.ends[from];
        let work = match task.work {
            PlannedWork::Carries { bytes, .. } => Work::Carry { to: self.call.ranks[to], bytes, lead: task.lead_ps },
            PlannedWork::Lasts(time) => Work::Compute { time },
            PlannedWork::Nothing => Work::Join,
        };
        let cpu = task.engine.map_or(NO_LANE, |engine| self.lanes + engine);
        let begins = self.program.operations[begin as usize];
        let id = self.program.add(Operation { work, cpu, ..begins })?;
        // Of a file that has numbers of nodes.
        let node = self.program.nodes.get(begin as usize).copied();
        self.program.nodes.extend(node);
        let mut wait = |of: u32, on: u32| self.program.dependencies.push(Dependency { of, on, begin: false });
        task.waits.iter().for_each(|on| wait(id, self.first + on.task));
        if work != Work::Join {
            wait(id, begin);
            wait(end, id);
            if to != from {
                wait(self.ends[to][1], id);
            }
        }
        Ok(())
    }
}
