//! Execution traces of Chakra (Sridharan et al., *Chakra: Advancing Performance Benchmarking and Co-design using Standardized
//! Execution Traces*, 2023): a protobuf file for each rank, schema `et_def.proto`.
//!
//! A file is a row of messages, each behind its length: one of `GlobalMetadata`, then the nodes. Of a node are read: its
//! number, type, dependencies, duration, and the attributes `comm_size`, `comm_src`, `comm_dst`, `comm_tag`, `comm_type`,
//! `comm_root`, `num_ops`, `pg_name` and `involved_dim`. `comm_size` of a collective is what a rank puts in, as ASTRA-sim has it. Collectives become messages of all ranks ([`super::collectives`]), those of NCCL's rings where there are some.

use std::collections::BTreeMap;

use weir_plugin_api::{CallError, PS_PER_S};

use super::collectives::{FIRST_TAG, Member, Steps};
use super::operations::{Dependency, Operation, Problem, Program, Work};
use super::params::ProgramParams;
use super::protobuf::{Field, Value, fields, messages};
use crate::operation::refused;
use crate::quantities::MOST_BYTES;

/// Picoseconds of a microsecond, the unit of durations.
const US: f64 = 1e6;
/// The collective without bytes.
const BARRIER: u64 = 9;
/// `NodeType` of the schema.
const KINDS: [&str; 8] =
    ["INVALID", "METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL"];
/// Streams of a rank: computations, and what messages need of a processor. One goes on while the other does.
const COMPUTE: u32 = 0;
const MESSAGES: u32 = 1;

/// Reads the traces of all ranks, rank 0 first.
pub(super) fn read(params: &ProgramParams) -> Result<Program, CallError> {
    let ranks = params.file.0.len() as u32;
    let rate = params.flop_rate.map(|rate| rate.0);
    let mut reader = Reader {
        program: Program { ranks, is_binary: true, ..Program::default() },
        rate,
        rank: 0,
        number: 0,
        collectives: 0,
    };
    for (rank, file) in (0..).zip(&params.file.0) {
        (reader.rank, reader.collectives) = (rank, 0);
        reader.trace(&file.bytes()).map_err(|problem| refused(format!("file: {}: {problem}", file.name)))?;
    }
    Ok(reader.program)
}

struct Reader {
    program: Program,
    /// Flop per second.
    rate: Option<f64>,
    rank: u32,
    /// Of the node that is read, in its file; the first is 1.
    number: u32,
    /// Collectives of this rank so far.
    collectives: u32,
}

/// A node as far as it is read.
#[derive(Default)]
struct Node {
    id: u64,
    kind: u64,
    dependencies: Vec<u64>,
    /// Microseconds.
    duration: u64,
    attributes: BTreeMap<String, u64>,
    /// Of a collective: some of the ranks alone take part.
    is_of_group: bool,
}

impl Node {
    fn read(message: &[u8]) -> Result<Self, Problem> {
        let mut node = Self::default();
        for field in fields(message) {
            match field? {
                Field { number: 1, value: Value::Number(id) } => node.id = id,
                Field { number: 3, value: Value::Number(kind) } => node.kind = kind,
                Field { number: 4 | 5, value } => node.dependencies.extend(value.numbers()?),
                Field { number: 7, value: Value::Number(duration) } => node.duration = duration,
                Field { number: 10, value: Value::Bytes(attribute) } => {
                    let Attribute { name, number, is_of_group } = Attribute::read(attribute)?;
                    node.attributes.extend(number.map(|number| (name, number)));
                    node.is_of_group |= is_of_group;
                }
                _ => {}
            }
        }
        Ok(node)
    }

    fn attribute(&self, name: &str) -> Result<u64, Problem> {
        let found = self.attributes.get(name).copied();
        found.ok_or_else(|| format!("node {} lacks the attribute `{name}`; trace it with communication sizes", self.id))
    }

    fn small(&self, name: &str) -> Result<u32, Problem> {
        let value = self.attribute(name)?;
        let fits = u32::try_from(value).ok().filter(|&value| value < FIRST_TAG);
        fits.ok_or_else(|| format!("`{name}` of node {} is {value}; give a smaller one", self.id))
    }

    fn bytes(&self) -> Result<u64, Problem> {
        let bytes = self.attribute("comm_size")?;
        let fits = Some(bytes).filter(|bytes| *bytes <= MOST_BYTES);
        fits.ok_or_else(|| format!("`comm_size` of node {} is {bytes}, more than 2^53; correct it", self.id))
    }
}

/// An attribute of a node.
struct Attribute {
    name: String,
    /// Its value, where that is a whole number.
    number: Option<u64>,
    /// It names a process group, or leaves out a dimension of the network.
    is_of_group: bool,
}

/// Names of the group of all ranks (PyTorch numbers groups from 0, that of all ranks first).
const ALL_RANKS: [&[u8]; 3] = [b"", b"0", b"default_pg"];

impl Attribute {
    fn read(attribute: &[u8]) -> Result<Self, Problem> {
        let mut read = Self { name: String::new(), number: None, is_of_group: false };
        let (mut text, mut flags): (&[u8], Vec<u64>) = (b"", Vec::new());
        for field in fields(attribute) {
            match field? {
                Field { number: 1, value: Value::Bytes(name) } => {
                    read.name = String::from_utf8_lossy(name).into_owned()
                }
                // sint32 and sint64 are zigzag.
                Field { number: 15 | 17, value: Value::Number(value) } => {
                    read.number = Some(value >> 1).filter(|_| value & 1 == 0);
                }
                Field { number: 7 | 9 | 11 | 13 | 19 | 21 | 23 | 25 | 27, value: Value::Number(value) } => {
                    read.number = Some(value);
                }
                Field { number: 28, value: Value::Bytes(list) } => {
                    for flag in fields(list) {
                        flags.extend(flag?.value.numbers()?);
                    }
                }
                Field { number: 29, value: Value::Bytes(value) } => text = value,
                _ => {}
            }
        }
        read.is_of_group = match read.name.as_str() {
            "pg_name" => !ALL_RANKS.contains(&text),
            "involved_dim" => flags.contains(&0),
            _ => false,
        };
        Ok(read)
    }
}

impl Reader {
    fn trace(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let mut ends: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
        let mut waits = Vec::new();
        // The first message is about the file.
        if bytes.is_empty() {
            return Err("its file is empty; write the trace again".to_owned());
        }
        for (number, message) in (0..).zip(messages(bytes)) {
            let message = message?;
            if number == 0 {
                continue;
            }
            self.number = number;
            let node = Node::read(message).map_err(|problem| format!("message {number}: {problem}"))?;
            self.program.count(KINDS.get(node.kind as usize).copied().unwrap_or_default());
            let parts = self.node(&node)?;
            if ends.insert(node.id, parts).is_some() {
                return Err(format!("node {} is given twice; correct the trace", node.id));
            }
            waits.push((node.id, parts.0, node.dependencies));
        }
        for (id, first, dependencies) in waits {
            for on in dependencies {
                let Some(&(_, last)) = ends.get(&on) else {
                    return Err(format!("node {id} waits for node {on}, which is not in the trace; correct it"));
                };
                self.program.dependencies.push(Dependency { of: first, on: last, begin: false });
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
                let time = match (node.duration, node.attributes.get("num_ops"), self.rate) {
                    (0, Some(&flop), Some(rate)) => flop as f64 / rate * PS_PER_S as f64,
                    (0, Some(&flop), None) if flop > 0 => {
                        return Err(format!("node {} is in flop; give `flop_rate`, the flop/s of a rank", node.id));
                    }
                    (duration, ..) => duration as f64 * US,
                };
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

    fn tag(&self, node: &Node) -> Result<u32, Problem> {
        if node.attributes.contains_key("comm_tag") { node.small("comm_tag") } else { Ok(0) }
    }

    fn add(&mut self, work: Work, cpu: u32) -> Result<u32, Problem> {
        self.program.add(Operation { rank: self.rank, work, cpu, nic: 0, line: self.number })
    }

    fn collective(&mut self, node: &Node) -> Result<(u32, u32), Problem> {
        let steps = self.steps(node)?;
        self.collectives += 1;
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

    fn steps(&self, node: &Node) -> Result<Steps, Problem> {
        if node.is_of_group {
            let help = "collectives of a part of the ranks are not read; trace them as sends and receives";
            return Err(format!("node {} is of a process group; {help}", node.id));
        }
        let kind = node.attribute("comm_type")?;
        let (ranks, bytes) = (self.program.ranks, if kind == BARRIER { 0 } else { node.bytes()? });
        let member = Member::new(self.rank, ranks, self.collectives);
        let part = bytes.div_ceil(u64::from(ranks));
        // `CollectiveCommType` of the schema.
        Ok(match kind {
            0 => member.ring(2 * (ranks - 1), part),
            1 => member.reduce(self.root(node)?, bytes),
            2 => member.ring(ranks - 1, bytes),
            3 => member.gather(self.root(node)?, bytes, |_| bytes),
            4 => member.scatter(self.root(node)?, |_| part, part),
            5 => member.broadcast(self.root(node)?, bytes),
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

    /// Rank 0 where it is not given.
    fn root(&self, node: &Node) -> Result<u32, Problem> {
        let root = if node.attributes.contains_key("comm_root") { node.small("comm_root")? } else { 0 };
        let is_rank = Some(root).filter(|&root| root < self.program.ranks);
        is_rank.ok_or_else(|| {
            format!("`comm_root` of node {} is {root}; ranks are 0 to {}", node.id, self.program.ranks - 1)
        })
    }
}
