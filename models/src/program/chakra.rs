//! Execution traces of Chakra (Sridharan et al., *Chakra: Advancing Performance Benchmarking and Co-design using Standardized
//! Execution Traces*, 2023): a protobuf file for each rank, schema `et_def.proto`.
//!
//! A file is a row of messages, each behind its length: one of `GlobalMetadata`, which may be left out, then the nodes, read in
//! the order of [`super::chakra_order`]. Of a node are read: its number, type, dependencies, duration, and the attributes
//! `comm_size`, `comm_src`, `comm_dst`, `comm_tag`, `comm_type`, `comm_root`, `num_ops`, `tensor_size`, `pg_name` and
//! `involved_dim`. `comm_size` of a collective is what a rank puts in, as ASTRA-sim has it. Collectives become messages of the
//! ranks of their group ([`super::collectives`]), those of NCCL's rings where there are some.

use std::collections::BTreeMap;

use weir_plugin_api::{CallError, PS_PER_S};

use super::calls::What;
use super::chakra_node::{ALL_RANKS, Node};
use super::chakra_order::{Head, in_order};
use super::collectives::{Member, Steps};
use super::operations::{Dependency, Operation, Problem, Program, Work, shown};
use super::params::ProgramParams;
use super::process_groups::{GROUP_BITS, Group, groups};
use crate::collective::params::Kind;
use crate::operation::refused;

/// Picoseconds of a microsecond, the unit of durations.
const US: f64 = 1e6;
/// The type of computations.
const COMP: u64 = 4;
/// The collective without bytes.
const BARRIER: u64 = 9;
/// `NodeType` of the schema.
const KINDS: [&str; 8] =
    ["INVALID", "METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL"];
/// `CollectiveCommType` of the schema.
const COLLECTIVE_KINDS: [&str; 10] = [
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
];
/// Streams of a rank: computations, and what messages need of a processor. One goes on while the other does.
const COMPUTE: u32 = 0;
const MESSAGES: u32 = 1;

/// Reads the traces of all ranks, rank 0 first.
pub(super) fn read(params: &ProgramParams) -> Result<Program, CallError> {
    read_for(params, false)
}

/// The same; to be counted alone, traces may be of some of the ranks, and of groups that are not given.
pub(super) fn read_for(params: &ProgramParams, counts: bool) -> Result<Program, CallError> {
    let ranks = params.file.0.len() as u32;
    let mut reader = Reader {
        program: Program { file_of: (0..ranks).collect(), ..Program::of(ranks, &params.file) },
        flop_rate: params.flop_rate.map(|rate| rate.0),
        copy_rate: params.copy.map(|rate| rate.0),
        rank: 0,
        node: 0,
        number: 0,
        groups: groups(&params.groups, ranks)?,
        plans: params.collectives.is_some(),
        counts,
    };
    for (rank, file) in (0..).zip(&params.file.0) {
        reader.rank = rank;
        reader.groups.iter_mut().for_each(|group| group.collectives = 0);
        reader.trace(&file.bytes()).map_err(|problem| refused(format!("file: {}: {problem}", file.name)))?;
    }
    Ok(reader.program)
}

struct Reader {
    program: Program,
    /// Flop, and bytes of memory, per second of a rank.
    flop_rate: Option<f64>,
    copy_rate: Option<f64>,
    rank: u32,
    /// Of the node that is read.
    node: u64,
    /// The place of its message in its file.
    number: u32,
    /// All ranks first.
    groups: Vec<Group>,
    /// Whether collectives are planned, not messages.
    plans: bool,
    /// Whether what is read is only counted.
    counts: bool,
}

impl Reader {
    fn trace(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        if bytes.is_empty() {
            return Err("its file is empty; write the trace again".to_owned());
        }
        let heads = in_order(bytes)?;
        let mut ends: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
        for head in &heads {
            let Head { number, id, .. } = *head;
            let node = Node::read(head).map_err(|problem| format!("message {number}: {problem}"))?;
            (self.node, self.number) = (id, number);
            self.program.count(KINDS.get(node.kind as usize).copied().unwrap_or_default());
            let parts = self.node(&node)?;
            if ends.insert(id, parts).is_some() {
                return Err(format!("node {id} is given twice; correct the trace"));
            }
        }
        for Head { id, dependencies, .. } in &heads {
            for on in dependencies {
                let (Some(&(of, _)), Some(&(_, on))) = (ends.get(id), ends.get(on)) else {
                    return Err(format!("node {id} waits for node {on}, which is not in the trace; correct it"));
                };
                self.program.dependencies.push(Dependency { of, on, begin: false });
            }
        }
        Ok(())
    }

    /// Adds the operations of a node; returns the first and the last of them.
    fn node(&mut self, node: &Node) -> Result<(u32, u32), Problem> {
        let one = |id: u32| (id, id);
        match node.kind {
            // Metadata.
            1 => self.add(Work::Join, COMPUTE).map(one),
            // Memory and computations.
            2..=4 => {
                let time = if node.duration > 0 { node.duration as f64 * US } else { self.work(node)? };
                self.add(Work::Compute { time }, COMPUTE).map(one)
            }
            5 => {
                let (to, tag) = (node.small("comm_dst")?, self.tag(node)?);
                self.add(Work::Send { to, bytes: node.bytes()?, tag }, MESSAGES).map(one)
            }
            6 => {
                let (from, tag) = (node.small("comm_src")?, self.tag(node)?);
                self.add(Work::Receive { from, bytes: node.bytes()?, tag }, MESSAGES).map(one)
            }
            7 => self.collective(node),
            kind => Err(format!("node {} has the type {kind}, which is not known; types are 1 to 7", node.id)),
        }
    }

    /// How long a node takes that has no duration, ps: its flop, or the bytes that it moves, by the rate of a rank.
    fn work(&self, node: &Node) -> Result<f64, Problem> {
        let amount = |name| node.attributes.get(name).copied().unwrap_or(0);
        let lasts = |amount: u64, rate: f64| amount as f64 / rate * PS_PER_S as f64;
        let (flop, bytes) = (amount("num_ops"), if node.kind == COMP { 0 } else { amount("tensor_size") });
        match (flop, bytes, self.flop_rate, self.copy_rate) {
            (0, 0, ..) => Ok(0.0),
            (0, bytes, _, Some(rate)) => Ok(lasts(bytes, rate)),
            (0, bytes, _, None) => Err(format!(
                "node {} moves {bytes} B of memory and has no duration; give `copy`, the rate of a rank's memory",
                node.id
            )),
            (flop, _, Some(rate), _) => Ok(lasts(flop, rate)),
            (_, _, None, _) => Err(format!("node {} is in flop; give `flop_rate`, the flop/s of a rank", node.id)),
        }
    }

    fn tag(&self, node: &Node) -> Result<u32, Problem> {
        if node.attributes.contains_key("comm_tag") { node.small("comm_tag") } else { Ok(0) }
    }

    fn add(&mut self, work: Work, cpu: u32) -> Result<u32, Problem> {
        let id = self.program.add(Operation { rank: self.rank, work, cpu, nic: 0, line: self.number })?;
        self.program.nodes.push(self.node);
        Ok(id)
    }

    fn collective(&mut self, node: &Node) -> Result<(u32, u32), Problem> {
        let group = self.group(node)?;
        let (member, kind) = (self.member(node, group)?, node.attribute("comm_type")?);
        let planned = if self.plans { self.planned(node, kind, group)? } else { None };
        self.groups[group].collectives += 1;
        match planned {
            Some(what) => self.call(member.tag, what, group),
            None => self.messages(node, member, kind, group),
        }
    }

    /// A collective that is planned once all ranks are read.
    fn call(&mut self, tag: u32, what: What, group: usize) -> Result<(u32, u32), Problem> {
        let (begin, end) = (self.add(Work::Join, MESSAGES)?, self.add(Work::Join, MESSAGES)?);
        self.program.dependencies.push(Dependency { of: end, on: begin, begin: false });
        self.program.call(tag, (what, &self.groups[group].ranks), self.rank, [begin, end])?;
        Ok((begin, end))
    }

    fn messages(&mut self, node: &Node, member: Member, kind: u64, group: usize) -> Result<(u32, u32), Problem> {
        let steps = self.steps(node, member, kind, group)?;
        let first = self.add(Work::Join, MESSAGES)?;
        let mut before = first;
        for step in steps {
            let mut open = Vec::with_capacity(step.len());
            for work in step {
                let id = self.add(work, MESSAGES)?;
                self.program.dependencies.push(Dependency { of: id, on: before, begin: false });
                open.push(id);
            }
            before = self.add(Work::Join, MESSAGES)?;
            let all = open.into_iter().map(|on| Dependency { of: before, on, begin: false });
            self.program.dependencies.extend(all);
        }
        Ok((first, before))
    }

    /// A collective in the words of the operation; `None` where it stays messages, as nothing is to be moved.
    fn planned(&self, node: &Node, kind: u64, group: usize) -> Result<Option<What>, Problem> {
        let group = &self.groups[group];
        let ranks = group.ranks.len() as u32;
        // `comm_size` is what a rank puts in.
        let (kind, parts) = match kind {
            0 => (Kind::AllReduce, 1),
            1 => (Kind::Reduce, 1),
            2 => (Kind::AllGather, ranks),
            3 => (Kind::Gather, ranks),
            4 => (Kind::Scatter, 1),
            5 => (Kind::Broadcast, 1),
            6 => (Kind::AllToAll, 1),
            7 | 8 => (Kind::ReduceScatter, 1),
            _ => return Ok(None),
        };
        if ranks == 1 {
            return Ok(None);
        }
        let root = if kind.is_rooted() { self.root(node, group)? } else { 0 };
        let what = What::new(kind, node.bytes()?, parts, group.ranks[root as usize]);
        what.map_err(|problem| format!("node {}: {problem}", node.id))
    }

    /// The group of a collective: one that is given, before that of all ranks.
    fn group(&self, node: &Node) -> Result<usize, Problem> {
        if node.is_of_dimensions {
            let help = "collectives along some dimensions of a network are not read; trace them with process groups";
            return Err(format!("node {} leaves out a dimension; {help}", node.id));
        }
        let name = node.group.as_deref().unwrap_or_default();
        let given = self.groups.iter().position(|group| group.name == name);
        let Some(group) = given.or((self.counts || ALL_RANKS.contains(&name)).then_some(0)) else {
            let (id, name) = (node.id, shown(name));
            let help = format!("give its ranks, as in `groups: [{{ name: \"{name}\", ranks: [0, 1] }}]`");
            return Err(format!("node {id} is of the process group `{name}`; {help}"));
        };
        Ok(group)
    }

    /// This rank in the next collective of a group.
    fn member(&self, node: &Node, number: usize) -> Result<Member, Problem> {
        let group = &self.groups[number];
        let Some(place) = group.ranks.iter().position(|&rank| rank == self.rank) else {
            let (id, name, rank) = (node.id, shown(&group.name), self.rank);
            return Err(format!(
                "node {id} is of the process group `{name}`, which has no rank {rank}; correct `groups`"
            ));
        };
        if group.collectives >= 1 << GROUP_BITS {
            return Err(format!(
                "rank {} has more than {} collectives of one group; cut the trace",
                self.rank,
                1 << GROUP_BITS
            ));
        }
        // Groups that share ranks keep their messages apart by tags.
        let count = group.collectives.wrapping_add((number as u32) << GROUP_BITS);
        Ok(Member::new(place as u32, group.ranks.len() as u32, count))
    }

    fn steps(&mut self, node: &Node, member: Member, kind: u64, group: usize) -> Result<Steps, Problem> {
        let group = &self.groups[group];
        let (ranks, bytes) = (group.ranks.len() as u32, if kind == BARRIER { 0 } else { node.bytes()? });
        let part = bytes.div_ceil(u64::from(ranks));
        let which = COLLECTIVE_KINDS.get(kind as usize).copied().unwrap_or_default();
        if !self.counts {
            self.program.agree(member.tag, self.rank, which)?;
        }
        let mut steps = self.steps_of(node, member, (kind, ranks), (bytes, part), group)?;
        for work in steps.iter_mut().flatten() {
            match work {
                Work::Send { to: other, .. } | Work::Receive { from: other, .. } => {
                    *other = group.ranks[*other as usize]
                }
                Work::Compute { .. } | Work::Carry { .. } | Work::Join => {}
            }
        }
        Ok(steps)
    }

    /// The messages of a member by places in its group.
    fn steps_of(
        &self,
        node: &Node,
        member: Member,
        (kind, ranks): (u64, u32),
        (bytes, part): (u64, u64),
        group: &Group,
    ) -> Result<Steps, Problem> {
        if ranks == 1 {
            return Ok(Steps::new());
        }
        // `CollectiveCommType` of the schema.
        Ok(match kind {
            0 => member.ring(2 * (ranks - 1), part),
            1 => member.reduce(self.root(node, group)?, bytes),
            2 => member.ring(ranks - 1, bytes),
            3 => member.gather(self.root(node, group)?, bytes, |_| bytes),
            4 => member.scatter(self.root(node, group)?, |_| part, part),
            5 => member.broadcast(self.root(node, group)?, bytes),
            6 => member.exchange(|_| part, |_| part),
            7 | 8 => member.ring(ranks - 1, part),
            BARRIER => member.all_reduce(0),
            kind => {
                return Err(format!(
                    "node {} has the collective {kind}, which is not known; there are 0 to 9",
                    node.id
                ));
            }
        })
    }

    /// The place of the root in the group; the first one where it is not given.
    fn root(&self, node: &Node, group: &Group) -> Result<u32, Problem> {
        if self.counts || !node.attributes.contains_key("comm_root") {
            return Ok(0);
        }
        let root = node.small("comm_root")?;
        let place = group.ranks.iter().position(|&rank| rank == root);
        place.map(|place| place as u32).ok_or_else(|| {
            format!("`comm_root` of node {} is {root}, which is no rank of its group; correct the trace", node.id)
        })
    }
}
