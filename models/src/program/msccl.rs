//! Algorithms of MSCCL, which NCCL and RCCL run (Cowan et al., *MSCCLang: Microsoft Collective Communication Language*, ASPLOS
//! 2023): thread blocks of GPUs, whose steps send, receive, copy and reduce chunks.
//!
//! ```text
//! <algo nchunksperloop="8" ngpus="8" …>          a chunk has the collective's size / nchunksperloop
//!   <gpu id="0" …>
//!     <tb id="0" send="1" recv="7" chan="0">     its steps run one after the other; peers, and the channel as tag
//!       <step s="0" type="s" cnt="1" depid="-1" deps="-1" … />     waits for step `deps` of thread block `depid`
//! ```

use std::collections::BTreeMap;

use roxmltree::{Document, Node};
use weir_plugin_api::{CallError, PS_PER_S};

use super::operations::{Dependency, Operation, Program, Work};
use super::params::ProgramParams;
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
    let document = Document::parse(params.one_text()?)
        .map_err(|error| refused(format!("file: it is no XML: {error}; check it")))?;
    let algorithm = document.root_element();
    if !algorithm.has_tag_name("algo") {
        let name = algorithm.tag_name().name();
        return Err(refused(format!("file: its root is `{name}`, not `algo`; name an MSCCL algorithm")));
    }
    let mut reader = Reader::new(document.input_text(), params);
    let chunks = reader.number(algorithm, "nchunksperloop")?;
    if chunks == 0 {
        return Err(refused("file: `nchunksperloop` is 0; correct it"));
    }
    if size.0 == 0 {
        return Err(refused("size: give at least 1B"));
    }
    if !size.0.is_multiple_of(chunks) {
        let (next, bytes) = (size.0.next_multiple_of(chunks), size.0);
        return Err(refused(format!("size: {bytes} B do not divide into {chunks} chunks; give {next}B, for example")));
    }
    reader.chunk = size.0 / chunks;
    reader.gpus(algorithm)?;
    if !reader.shares_lines {
        // Lines say which step it is.
        reader.program.steps = Vec::new();
    }
    Ok(reader.program)
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
    program: Program,
    /// The last operation of each step, by GPU, thread block and step.
    ends: BTreeMap<(u32, u64, u64), u32>,
}

/// A thread block: its place, peers and channel.
struct Block {
    rank: u32,
    id: u64,
    send: Option<u32>,
    receive: Option<u32>,
    channel: u32,
}

/// A step that waits for a step of another thread block.
struct Late {
    first: u32,
    on: (u32, u64, u64),
    /// Where it begins in the file.
    at: usize,
}

impl<'d> Reader<'d> {
    fn new(text: &'d str, params: &'d ProgramParams) -> Self {
        Self {
            text,
            newlines: text.match_indices('\n').map(|(at, _)| at).collect(),
            last_line: None,
            shares_lines: false,
            params,
            chunk: 0,
            program: Program::default(),
            ends: BTreeMap::new(),
        }
    }

    fn gpus(&mut self, algorithm: Node<'_, '_>) -> Result<(), CallError> {
        let gpus: Vec<Node<'_, '_>> = self.elements(algorithm, "gpu")?;
        let count = self.number(algorithm, "ngpus")?;
        if count != gpus.len() as u64 {
            return Err(refused(format!("file: `ngpus` is {count}, and {} are described; correct it", gpus.len())));
        }
        self.program.ranks = count as u32;
        let mut late = Vec::new();
        let mut seen = vec![false; gpus.len()];
        for gpu in gpus {
            let id = self.number(gpu, "id")?;
            match seen.get_mut(id as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(self.wrong(gpu, &format!("the gpu {id} is given twice, or there are not so many"))),
            }
            for block in self.elements(gpu, "tb")? {
                self.block(id as u32, block, &mut late)?;
            }
        }
        for Late { first, on, at } in late {
            let Some(&end) = self.ends.get(&on) else {
                let (gpu, block, step) = on;
                let problem = format!("thread block {block} of gpu {gpu} has no step {step}, for which this one waits");
                return Err(self.wrong_at(at, &problem));
            };
            self.program.dependencies.push(Dependency { of: first, on: end, begin: false });
        }
        Ok(())
    }

    fn block(&mut self, rank: u32, node: Node<'_, '_>, late: &mut Vec<Late>) -> Result<(), CallError> {
        let block = Block {
            rank,
            id: self.number(node, "id")?,
            send: self.peer(node, "send")?,
            receive: self.peer(node, "recv")?,
            channel: self.number(node, "chan")? as u32,
        };
        let mut before = None;
        for step in self.elements(node, "step")? {
            let number = self.number(step, "s")?;
            let (first, last) = self.step(&block, step, before)?;
            before = Some(last);
            self.program.steps.resize(self.program.operations.len(), number as u32);
            if self.ends.insert((rank, block.id, number), last).is_some() {
                let problem = format!("step {number} of thread block {} of gpu {rank} is given twice", block.id);
                return Err(self.wrong(step, &problem));
            }
            if let Some(of) = self.peer(step, "depid")? {
                let on = (rank, u64::from(of), self.number(step, "deps")?);
                late.push(Late { first, on, at: step.range().start });
            }
        }
        Ok(())
    }

    /// Adds the operations of a step behind the one before; returns the first and the last of them.
    fn step(&mut self, block: &Block, step: Node<'_, '_>, before: Option<u32>) -> Result<(u32, u32), CallError> {
        let kind = step.attribute("type").unwrap_or_default();
        let Some((_, parts)) = STEPS.iter().find(|(name, _)| *name == kind) else {
            let known = STEPS.map(|(name, _)| name).join(", ");
            return Err(self.wrong(step, &format!("no step has the type `{kind}`; there are {known}")));
        };
        let bytes = self.number(step, "cnt")?.checked_mul(self.chunk).filter(|bytes| *bytes <= MOST_BYTES);
        let Some(bytes) = bytes else { return Err(self.wrong(step, "its chunks have more than 2^53 bytes")) };
        self.program.count(kind);
        let (first, mut last) = (self.program.operations.len() as u32, before);
        let line = self.line(step.range().start);
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

    fn work(&self, block: &Block, step: Node<'_, '_>, part: Part, bytes: u64) -> Result<Work, CallError> {
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

    /// The elements within another, all of one name.
    fn elements<'a, 'i>(&self, node: Node<'a, 'i>, name: &str) -> Result<Vec<Node<'a, 'i>>, CallError> {
        let all: Vec<_> = node.children().filter(Node::is_element).collect();
        match all.iter().find(|child| !child.has_tag_name(name)) {
            Some(other) => {
                let [other_name, within] = [other, &node].map(|node| node.tag_name().name().to_owned());
                Err(self.wrong(*other, &format!("`{other_name}` in `{within}` is not known; there is `{name}`")))
            }
            None => Ok(all),
        }
    }

    fn number(&self, node: Node<'_, '_>, key: &str) -> Result<u64, CallError> {
        let text = node.attribute(key).unwrap_or_default();
        let fits = |value: &u64| *value < u64::from(u32::MAX);
        text.parse().ok().filter(fits).ok_or_else(|| {
            let element = node.tag_name().name();
            self.wrong(node, &format!("`{key}` of `{element}` is `{text}`, not a whole number below 2^32"))
        })
    }

    /// A number, or none for −1.
    fn peer(&self, node: Node<'_, '_>, key: &str) -> Result<Option<u32>, CallError> {
        if node.attribute(key) == Some("-1") {
            return Ok(None);
        }
        self.number(node, key).map(|value| Some(value as u32))
    }

    /// The line in which a place of the file is.
    fn line(&self, at: usize) -> u32 {
        self.newlines.partition_point(|&end| end < at) as u32 + 1
    }

    fn wrong(&self, node: Node<'_, '_>, problem: &str) -> CallError {
        self.wrong_at(node.range().start, problem)
    }

    /// A refusal with line and column: a whole algorithm may be one line.
    fn wrong_at(&self, at: usize, problem: &str) -> CallError {
        let line = self.line(at);
        let start = line.checked_sub(2).and_then(|before| self.newlines.get(before as usize)).map_or(0, |end| end + 1);
        let column = self.text.get(start..at).unwrap_or_default().chars().count() + 1;
        let remedy = if problem.contains("; ") { "" } else { "; correct it" };
        refused(format!("file: line {line}, column {column}: {problem}{remedy}"))
    }
}
