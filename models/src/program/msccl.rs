//! Algorithms of MSCCL, which NCCL and RCCL run (Cowan et al., *MSCCLang: Microsoft Collective Communication Language*, ASPLOS
//! 2023): thread blocks of GPUs, whose steps send, receive, copy and reduce chunks.
//!
//! ```text
//! <algo nchunksperloop="8" ngpus="8" …>          a chunk has the collective's size / nchunksperloop
//!   <gpu id="0" …>
//!     <tb id="0" send="1" recv="7" chan="0">     its steps run one after the other; peers, and the channel as tag
//!       <step s="0" type="s" cnt="1" depid="-1" deps="-1" … />     waits for step `deps` of thread block `depid`
//! ```
//!
//! Each end of a channel between two GPUs has one thread block, and its steps stand in their order (msccl-tools,
//! msccl/language/tb_assignment.py).

use std::collections::{BTreeMap, BTreeSet};

use weir_plugin_api::{CallError, PS_PER_S};

use super::operations::{Dependency, Operation, Program, Work, shown};
use super::params::ProgramParams;
use super::xml::{Element, Elements, IllFormed, Tag};
use crate::operation::refused;
use crate::quantities::MOST_BYTES;

/// What a step does, in this order.
const STEPS: [(&str, &[Part]); 10] = [
    ("s", &[Part::Send]),
    ("r", &[Part::Receive]),
    ("rcs", &[Part::Receive, Part::Send]),
    ("rrc", &[Part::Receive, Part::Reduce]),
    ("rrs", &[Part::Receive, Part::Reduce, Part::Send]),
    ("rrcs", &[Part::Receive, Part::Reduce, Part::Send]),
    ("cpy", &[Part::Copy]),
    ("copy", &[Part::Copy]),
    ("re", &[Part::Reduce]),
    ("nop", &[Part::Nothing]),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Send,
    Receive,
    Reduce,
    Copy,
    Nothing,
}

/// Reads an algorithm for a collective of the given size.
pub(super) fn read(params: &ProgramParams) -> Result<Program, CallError> {
    let Some(size) = params.size else {
        return Err(refused("size: this format needs the size of the collective; give it, as nccl-tests count it"));
    };
    let text = params.one_text()?;
    let mut reader = Reader::new(text, params);
    let mut elements = Elements::of(text).map_err(|wrong| reader.ill_formed(&wrong))?;
    while let Some(element) = elements.next().map_err(|wrong| reader.ill_formed(&wrong))? {
        reader.element(&element, size.0)?;
    }
    reader.finish()
}

struct Reader<'d> {
    text: &'d str,
    /// Where lines of the file end.
    newlines: Vec<usize>,
    /// The line of the step before, and whether a line has several steps.
    last_line: Option<u32>,
    shares_lines: bool,
    params: &'d ProgramParams,
    /// Bytes of a chunk.
    chunk: u64,
    /// GPUs as `ngpus` counts them, and those that have been described.
    gpus: (u64, BTreeSet<u64>),
    /// Where the algorithm begins.
    algorithm: usize,
    /// The GPU and the thread block that are being described.
    gpu: u32,
    block: Option<Block>,
    /// GPU and number of all thread blocks so far.
    blocks: BTreeSet<(u32, u64)>,
    /// GPU, direction, peer and channel → the thread block that has this end of the connection.
    channels: BTreeMap<(u32, &'static str, u32, u32), u64>,
    program: Program,
    /// The last operation of each step, by GPU, thread block and step.
    ends: BTreeMap<(u32, u64, u64), u32>,
    late: Vec<Late>,
}

/// A thread block: its place, peers and channel.
struct Block {
    rank: u32,
    id: u64,
    send: Option<u32>,
    receive: Option<u32>,
    channel: u32,
    /// The last operation of the step before, and the number of that step.
    before: Option<u32>,
    step: Option<u64>,
}

/// A step that waits for a step of another thread block.
struct Late {
    first: u32,
    on: (u32, u64, u64),
    /// Where it begins in the file.
    at: usize,
}

/// The elements of an algorithm, each within the one before.
const NESTED: [&str; 4] = ["algo", "gpu", "tb", "step"];

impl<'d> Reader<'d> {
    fn new(text: &'d str, params: &'d ProgramParams) -> Self {
        Self {
            text,
            newlines: text.match_indices('\n').map(|(at, _)| at).collect(),
            last_line: None,
            shares_lines: false,
            params,
            chunk: 0,
            gpus: (0, BTreeSet::new()),
            algorithm: 0,
            gpu: 0,
            block: None,
            blocks: BTreeSet::new(),
            channels: BTreeMap::new(),
            program: Program { cpus_are_in_order: true, ..Program::default() },
            ends: BTreeMap::new(),
            late: Vec::new(),
        }
    }

    /// Reads an element within those before it.
    fn element(&mut self, element: &Element<'_>, size: u64) -> Result<(), CallError> {
        let tag = element.tag().map_err(|wrong| self.ill_formed(&wrong))?;
        let Some(&name) = NESTED.get(element.depth) else {
            return Err(
                self.wrong(&tag, &format!("`{}` in `step` is not known; a step holds nothing", shown(tag.name)))
            );
        };
        match element.depth {
            0 if tag.name != name => {
                let root = shown(tag.name);
                Err(self.wrong(&tag, &format!("the root is `{root}`, not `algo`; name an MSCCL algorithm")))
            }
            0 => self.algorithm(&tag, size),
            depth if tag.name != name => {
                let (other, within) = (shown(tag.name), NESTED[depth - 1]);
                Err(self.wrong(&tag, &format!("`{other}` in `{within}` is not known; there is `{name}`")))
            }
            1 => self.gpu(&tag),
            2 => self.block(&tag),
            _ => self.next_step(&tag),
        }
    }

    fn algorithm(&mut self, tag: &Tag<'_>, size: u64) -> Result<(), CallError> {
        let chunks = self.number(tag, "nchunksperloop")?;
        if chunks == 0 {
            return Err(self.wrong(tag, "`nchunksperloop` is 0"));
        }
        if size == 0 {
            return Err(refused("size: give at least 1B"));
        }
        if !size.is_multiple_of(chunks) {
            let next = size.next_multiple_of(chunks);
            return Err(refused(format!(
                "size: {size} B do not divide into {chunks} chunks; give {next}B, for example"
            )));
        }
        self.chunk = size / chunks;
        (self.gpus.0, self.algorithm) = (self.number(tag, "ngpus")?, tag.at);
        Ok(())
    }

    fn gpu(&mut self, tag: &Tag<'_>) -> Result<(), CallError> {
        let (id, (count, seen)) = (self.number(tag, "id")?, &mut self.gpus);
        if id >= *count {
            let count = *count;
            return Err(self.wrong(tag, &format!("gpu {id}, and `ngpus` is {count}")));
        }
        if !seen.insert(id) {
            return Err(self.wrong(tag, &format!("the gpu {id} is given twice")));
        }
        self.gpu = id as u32;
        Ok(())
    }

    fn block(&mut self, tag: &Tag<'_>) -> Result<(), CallError> {
        let (rank, id) = (self.gpu, self.number(tag, "id")?);
        if !self.blocks.insert((rank, id)) {
            return Err(self.wrong(tag, &format!("thread block {id} of gpu {rank} is given twice")));
        }
        let (send, receive) = (self.peer(tag, "send")?, self.peer(tag, "recv")?);
        let channel = self.number(tag, "chan")? as u32;
        for (peer, does) in [(send, "sends to"), (receive, "receives from")] {
            let Some(peer) = peer else { continue };
            if let Some(other) = self.channels.insert((rank, does, peer, channel), id) {
                let both = format!("{does} gpu {peer} on channel {channel}, as thread block {other} does");
                return Err(self.wrong(tag, &format!("thread block {id} {both}; give it another channel")));
            }
        }
        self.block = Some(Block { rank, id, send, receive, channel, before: None, step: None });
        Ok(())
    }

    fn next_step(&mut self, tag: &Tag<'_>) -> Result<(), CallError> {
        let Some(mut block) = self.block.take() else { return Err(self.wrong(tag, "a step outside of thread blocks")) };
        let number = self.number(tag, "s")?;
        if let Some(before) = block.step.replace(number).filter(|before| number < *before) {
            return Err(self.wrong(tag, &format!("step {number} stands behind step {before}; write them in order")));
        }
        let (first, last) = self.step(&block, tag)?;
        block.before = Some(last);
        self.program.steps.resize(self.program.operations.len(), number as u32);
        if self.ends.insert((block.rank, block.id, number), last).is_some() {
            let (id, rank) = (block.id, block.rank);
            return Err(self.wrong(tag, &format!("step {number} of thread block {id} of gpu {rank} is given twice")));
        }
        if let Some(of) = self.peer(tag, "depid")? {
            let on = (block.rank, u64::from(of), self.number(tag, "deps")?);
            self.late.push(Late { first, on, at: tag.at });
        }
        self.block = Some(block);
        Ok(())
    }

    /// The program, once all elements are read.
    fn finish(mut self) -> Result<Program, CallError> {
        let (count, described) = (self.gpus.0, self.gpus.1.len());
        if count != described as u64 {
            let problem = format!("`ngpus` is {count}, and {described} are described");
            return Err(self.wrong_at(self.algorithm, &problem));
        }
        self.program.ranks = count as u32;
        for &Late { first, on, at } in &self.late {
            let Some(&end) = self.ends.get(&on) else {
                let (gpu, block, step) = on;
                let problem = format!("thread block {block} of gpu {gpu} has no step {step}, for which this one waits");
                return Err(self.wrong_at(at, &problem));
            };
            self.program.dependencies.push(Dependency { of: first, on: end, begin: false });
        }
        if !self.shares_lines {
            // Lines say which step it is.
            self.program.steps = Vec::new();
        }
        Ok(self.program)
    }

    /// Adds the operations of a step behind the one before; returns the first and the last of them.
    fn step(&mut self, block: &Block, step: &Tag<'_>) -> Result<(u32, u32), CallError> {
        let kind = step.attribute("type").unwrap_or_default();
        let Some((_, parts)) = STEPS.iter().find(|(name, _)| *name == kind) else {
            let known = STEPS.map(|(name, _)| name).join(", ");
            return Err(self.wrong(step, &format!("no step has the type `{}`; there are {known}", shown(kind))));
        };
        let bytes = self.number(step, "cnt")?.checked_mul(self.chunk).filter(|bytes| *bytes <= MOST_BYTES);
        let Some(bytes) = bytes else { return Err(self.wrong(step, "its chunks have more than 2^53 bytes")) };
        self.program.count(kind);
        let (first, mut last) = (self.program.operations.len() as u32, block.before);
        let line = self.line(step.at);
        self.shares_lines |= self.last_line.replace(line) == Some(line);
        for part in *parts {
            let work = self.work(block, step, *part, bytes)?;
            let operation = Operation { rank: block.rank, work, cpu: block.id as u32, nic: 0, line };
            let id = self.program.add(operation).map_err(|problem| self.wrong(step, &problem))?;
            self.program.dependencies.extend(last.map(|on| Dependency { of: id, on, begin: false }));
            last = Some(id);
        }
        Ok((first, last.unwrap_or(first)))
    }

    fn work(&self, block: &Block, step: &Tag<'_>, part: Part, bytes: u64) -> Result<Work, CallError> {
        let lacks = |what: &str| self.wrong(step, &format!("its thread block has no peer to {what}"));
        let at =
            |rate: Option<f64>| Work::Compute { time: rate.map_or(0.0, |rate| bytes as f64 / rate * PS_PER_S as f64) };
        let tag = block.channel;
        match part {
            Part::Send => {
                let to = block.send.ok_or_else(|| lacks("send to"))?;
                Ok(Work::Send { to, bytes, tag })
            }
            Part::Receive => {
                let from = block.receive.ok_or_else(|| lacks("receive from"))?;
                Ok(Work::Receive { from, bytes, tag })
            }
            Part::Reduce => Ok(at(self.params.reduce.map(|rate| rate.0))),
            Part::Copy => Ok(at(self.params.copy.map(|rate| rate.0))),
            Part::Nothing => Ok(Work::Join),
        }
    }

    fn number(&self, tag: &Tag<'_>, key: &str) -> Result<u64, CallError> {
        let text = tag.attribute(key).unwrap_or_default();
        let fits = |value: &u64| *value < u64::from(u32::MAX);
        text.parse().ok().filter(fits).ok_or_else(|| {
            let (element, text) = (tag.name, shown(text));
            self.wrong(tag, &format!("`{key}` of `{element}` is `{text}`, not a whole number below 2^32"))
        })
    }

    /// A number, or none for −1.
    fn peer(&self, tag: &Tag<'_>, key: &str) -> Result<Option<u32>, CallError> {
        if tag.attribute(key) == Some("-1") {
            return Ok(None);
        }
        self.number(tag, key).map(|value| Some(value as u32))
    }

    /// The line in which a place of the file is.
    fn line(&self, at: usize) -> u32 {
        self.newlines.partition_point(|&end| end < at) as u32 + 1
    }

    fn ill_formed(&self, IllFormed { at, problem }: &IllFormed) -> CallError {
        let (line, column) = self.place(*at);
        refused(format!("file: it is no XML: line {line}, column {column}: {problem}; check it"))
    }

    fn wrong(&self, tag: &Tag<'_>, problem: &str) -> CallError {
        self.wrong_at(tag.at, problem)
    }

    /// A refusal with line and column: a whole algorithm may be one line.
    fn wrong_at(&self, at: usize, problem: &str) -> CallError {
        let (line, column) = self.place(at);
        let remedy = if problem.contains("; ") { "" } else { "; correct it" };
        refused(format!("file: line {line}, column {column}: {problem}{remedy}"))
    }

    /// Line and column of a place.
    fn place(&self, at: usize) -> (u32, usize) {
        let line = self.line(at);
        let start = line.checked_sub(2).and_then(|before| self.newlines.get(before as usize)).map_or(0, |end| end + 1);
        (line, self.text.get(start..at).unwrap_or_default().chars().count() + 1)
    }
}
