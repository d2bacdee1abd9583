//! `program`: what the ranks of a parallel program do, read from a file.
//!
//! ```text
//! file ─► goal, msccl, chakra, simgrid ─► operations of ranks, dependencies ─► matching ─┬─► loggops ─► waits and times
//!                                                                                        └─► fabric ──► engines, transfers
//! ```
//!
//! **Definition.** [`loggops`] says how messages travel where `per_byte` is given, [`fabric`] how they do over the topology.
//! [`calls`] has what `collectives` leaves to the planner of the operation `collective`.
//! **Ties.** See there.
//! **Source.** LogGOPS: Hoefler, Schneider, Lumsdaine (2010), with [`goal`]'s format; LogGP below it: Alexandrov et al.,
//! *LogGP: Incorporating Long Messages into the LogP Model*, SPAA 1995.

mod calls;
mod chakra;
mod chakra_node;
mod chakra_order;
mod collective_options;
mod collectives;
mod fabric;
mod first_come;
mod goal;
mod loggops;
mod matching;
mod msccl;
mod open_order;
mod operations;
mod params;
mod process_groups;
mod protobuf;
mod queues;
mod servers;
mod simgrid;
mod simgrid_arguments;
mod simgrid_collectives;
mod survey;
mod tasks;
mod unexpected;
mod xml;

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde::Serialize;
use weir_plugin_api::{Alternative, CallError, Estimates, Plan, Relation, Surroundings};

use crate::operation::{self, Operation, Resolved, estimate, refused, seconds};
use loggops::{Ends, Run};
use operations::Work;
use params::{Format, MessageParams, ProgramParams, Sending};
pub use survey::{ProgramCounts, ProgramFile, Unmatched, program_file};

/// A program that can be planned.
pub(crate) struct Program {
    program: operations::Program,
    partner: Vec<u32>,
    ranks: Vec<u32>,
    /// Where messages are staged.
    hosts: Option<Vec<u32>>,
    /// The rate at which a device copies within its memory, B/s.
    copy: Option<f64>,
    message: MessageParams,
    sending: Sending,
    /// On the LogGOPS network: when each rank ends, and the tasks, until they are planned.
    simulated: Option<(RefCell<Plan>, Ends)>,
    /// About messages whose order is open.
    warning: Option<String>,
}

/// `details` of the results.
#[derive(Serialize)]
struct Details<'a> {
    ranks: u32,
    operations: usize,
    messages: u64,
    bytes: u64,
    compute_s: f64,
    /// On the LogGOPS network: the end of each rank's last operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank_ends_s: Option<Vec<f64>>,
    network: &'a str,
    /// Over the fabric: receives from any rank or with any tag, whose messages are fixed before the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_receives: Option<usize>,
    /// The nodes of ranks that compute: what else computes there is named beside the run.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    computes_on: BTreeSet<u32>,
    /// What the host shows of the file, at its place in the scenario.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

impl Resolved for Program {
    const NAME: &'static str = "program";
    type Params = ProgramParams;

    fn new(operation: Operation<ProgramParams>, surroundings: &Surroundings<'_>) -> Result<Self, CallError> {
        operation.params.check()?;
        let mut program = read(&operation.params)?;
        let hosts = operation.params.staged()?;
        let ProgramParams { format, ranks, copy, message, collectives, .. } = operation.params;
        let copy = copy.map(|rate| rate.0);
        let sending = message.sending(format);
        if program.operations.is_empty() {
            return Err(refused("file: no rank sends, receives or computes; give some operations"));
        }
        let network = message.loggops(sending);
        check_ranks(&program, &ranks.0, network.is_some())?;
        if let Some(collectives) = &collectives {
            calls::plan(&mut program, collectives, &ranks.0, surroundings)?;
        }
        program.check()?;
        let successors = program.successors();
        let mut partner = matching::partners(&program, &successors);
        let places = fabric::Places { ranks: &ranks.0, hosts: hosts.as_deref(), copy };
        let tasks = match &network {
            Some(_) => loggops::most_tasks(&program),
            None => fabric::tasks(&program, &partner, (&message, sending), places),
        };
        operation::check_count(tasks, "file: too many operations; give fewer")?;
        message.check(&program)?;
        let simulated = match &network {
            Some(network) => {
                let mut plan = Plan::new();
                let ends = Run::new(&program, &partner, &successors, network, &mut plan).run()?;
                Some((RefCell::new(plan), ends))
            }
            None => {
                places.check(&program)?;
                let costs = first_come::Costs { message: &message, sending, places, surroundings };
                partner = partners_over_fabric(&program, partner, &successors, costs)?;
                None
            }
        };
        let taken = if simulated.is_some() { "time" } else { "the file" };
        let warning = open_order::warning(&program, &partner, &successors, (sending.unawaited(), taken));
        Ok(Self { program, partner, ranks: ranks.0, hosts, copy, message, sending, simulated, warning })
    }

    fn plan(&self, plan: &mut Plan) {
        match &self.simulated {
            Some((tasks, _)) => *plan = tasks.take(),
            None => {
                let places = fabric::Places { ranks: &self.ranks, hosts: self.hosts.as_deref(), copy: self.copy };
                fabric::plan(&self.program, &self.partner, (&self.message, self.sending), places, plan);
            }
        }
    }

    fn estimates(&self, _: &Surroundings<'_>) -> Result<Estimates, CallError> {
        let ends = self.simulated.as_ref().map(|(_, ends)| ends);
        let list = match ends {
            Some(ends) => {
                let last = ends.iter().copied().max().unwrap_or(0);
                vec![estimate("loggops", last as f64, Relation::Equal, "")?]
            }
            None => Vec::new(),
        };
        Ok(Estimates { list, details: operation::details(&self.details(ends))? })
    }

    fn alternatives(operation: &str, _: &Surroundings<'_>, out: &mut Vec<Alternative>) -> Result<(), CallError> {
        let params = operation::parse::<Self>(operation)?.params;
        let Some(collectives) = params.collectives.as_ref().filter(|collectives| collectives.says_auto()) else {
            return Ok(());
        };
        params.check()?;
        let kinds = read(&params)?.calls.values().map(|call| call.what.kind).collect();
        collectives.alternatives(operation, &kinds, out)
    }
}

/// Reads what the ranks do.
fn read(params: &ProgramParams) -> Result<operations::Program, CallError> {
    match params.format {
        Format::Goal => goal::read(params.one_text()?),
        Format::Msccl => msccl::read(params),
        Format::Chakra => chakra::read(params),
        Format::SimgridTi => simgrid::read(params),
    }
}

impl Program {
    fn details(&self, ends: Option<&Ends>) -> Details<'_> {
        let operations = &self.program.operations;
        let sizes = operations.iter().filter_map(|operation| match operation.work {
            Work::Send { bytes, .. } | Work::Carry { bytes, .. } => Some(bytes),
            _ => None,
        });
        let wild = operations.iter().filter(|operation| operation.work.is_wild()).count();
        Details {
            ranks: self.program.ranks,
            operations: operations.len(),
            messages: sizes.clone().count() as u64,
            bytes: sizes.fold(0, u64::saturating_add),
            compute_s: seconds(self.computations().fold(0.0, |sum, (_, time)| sum + time)),
            rank_ends_s: ends.map(|ends| ends.iter().map(|&end| seconds(end as f64)).collect()),
            network: if ends.is_some() { "loggops" } else { "fabric" },
            fixed_receives: (ends.is_none() && wild > 0).then_some(wild),
            computes_on: self.computes_on(),
            warnings: self.warning.as_slice(),
        }
    }

    /// Rank and time, ps, of each computation.
    fn computations(&self) -> impl Iterator<Item = (u32, f64)> {
        self.program.operations.iter().filter_map(|operation| match operation.work {
            Work::Compute { time } => Some((operation.rank, time)),
            _ => None,
        })
    }

    /// The nodes of the ranks that compute for some time, in their order; none on the LogGOPS network without `ranks`.
    fn computes_on(&self) -> BTreeSet<u32> {
        let lasting = self.computations().filter(|&(_, time)| time > 0.0);
        lasting.filter_map(|(rank, _)| self.ranks.get(rank as usize).copied()).collect()
    }
}

/// Which messages meet over the fabric, `fixed` being those of receives that name their rank and tag. Receives from any change
/// what these take, too, so that sizes are those of the partners that come out.
fn partners_over_fabric(
    program: &operations::Program,
    fixed: Vec<u32>,
    successors: &operations::Successors,
    costs: first_come::Costs<'_>,
) -> Result<Vec<u32>, CallError> {
    if program.is_wild() {
        let found = first_come::partners(program, successors, costs)?;
        matching::check_sizes(program, &found)?;
        return Ok(found);
    }
    matching::check_sizes(program, &fixed)?;
    matching::check(program, &fixed, successors, costs.sending.unawaited())?;
    Ok(fixed)
}

/// Refuses ranks that are too few, too many, or missing.
fn check_ranks(program: &operations::Program, ranks: &[u32], may_lack: bool) -> Result<(), CallError> {
    if ranks.is_empty() && may_lack {
        return Ok(());
    }
    if ranks.len() != program.ranks as usize {
        let (given, wanted) = (ranks.len(), program.ranks);
        let ranks = if wanted == 1 { "rank".to_owned() } else { format!("ranks (0 to {})", wanted - 1) };
        return Err(refused(format!(
            "ranks: {given} devices, but the file has {wanted} {ranks}; name one device for each"
        )));
    }
    Ok(())
}
