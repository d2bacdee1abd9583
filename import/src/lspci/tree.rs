//! The tree of `lspci -tv`, by the columns of its branches:
//!
//! ```text
//! -+-[0000:00]-+-00.0  host bridge
//!  |           \-01.1-[01]--+-00.0  a GPU
//!  |                        \-00.1  its audio
//!  \-[0000:20]---03.1-[21]----00.0  a card
//! ```

use super::by_name;
use crate::bus::BusId;
use crate::finding::Findings;
use crate::format::Format;
use crate::functions::{Function, Functions};
use crate::machine::{Kind, Machine, Root};
use crate::refusal::Refusal;

/// A bus whose devices hang on the branches of a column.
#[derive(Clone, Copy)]
struct Branch {
    column: usize,
    bus: Bus,
}

/// A bus: its number, and the bridge above it.
#[derive(Clone, Copy)]
struct Bus {
    domain: u32,
    number: u8,
    bridge: Option<usize>,
}

/// Reads a dump.
pub(super) fn read(text: &str, findings: &mut Findings) -> Result<Machine, Refusal> {
    let mut machine = Machine::default();
    machine.root(Root::default())?;
    let mut reader = Reader { functions: Functions::default(), branches: Vec::new() };
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim_end();
        if !text.is_empty() {
            reader.line(text).map_err(|problem| problem.at(line))?;
        }
    }
    findings.warning(
        "which devices are GPUs and network cards goes by their names, and nothing is told of speeds and NUMA nodes: all hang \
         on one root complex",
        format!("`sudo lspci -Dvv` tells more; best: {}", Format::Lspci.better_dump()),
    );
    reader.functions.place(&mut machine, findings)?;
    Ok(machine)
}

struct Reader {
    functions: Functions,
    /// By column; those to the right of a branch end when the branch goes on.
    branches: Vec<Branch>,
}

impl Reader {
    fn line(&mut self, text: &str) -> Result<(), Refusal> {
        let lead = text.find(|c: char| !matches!(c, ' ' | '|')).unwrap_or(0);
        self.branches.retain(|branch| branch.column <= lead);
        let rest = &text[lead..];
        let bus = self.branches.last().filter(|branch| branch.column == lead).map(|branch| branch.bus);
        match (bus, rest.as_bytes().first()) {
            (Some(bus), Some(b'+' | b'\\')) => self.devices(text, lead + 1, bus),
            (None, Some(b'+' | b'\\' | b'-')) if rest.contains('[') => self.domain(text, lead),
            _ => Err(wrong("a branch that hangs on nothing")),
        }
    }

    /// `-[0000:00]-+-…`
    fn domain(&mut self, text: &str, from: usize) -> Result<(), Refusal> {
        let open = text[from..].find('[').map_or(text.len(), |at| from + at);
        let close = text[open..].find(']').map(|at| open + at).ok_or_else(|| wrong("a `[` without `]`"))?;
        let inner = &text[open + 1..close];
        let bus = inner
            .split_once(':')
            .and_then(|(domain, rest)| Some((u32::from_str_radix(domain, 16).ok()?, number(rest)?)));
        let (domain, number) = bus.ok_or_else(|| wrong("no domain and bus in brackets"))?;
        self.below(text, close + 1, Bus { domain, number, bridge: None })
    }

    /// What follows the brackets of a bus: `-+-00.0 …` for several devices, `---00.0 …` for one, or nothing.
    fn below(&mut self, text: &str, from: usize, bus: Bus) -> Result<(), Refusal> {
        let dashes = text[from..].find(|c| c != '-').map_or(text.len(), |at| from + at);
        match text.as_bytes().get(dashes) {
            None => Ok(()),
            Some(b'+') => {
                self.branches.push(Branch { column: dashes, bus });
                self.devices(text, dashes + 1, bus)
            }
            Some(_) => self.devices(text, dashes, bus),
        }
    }

    /// `-01.1-[01]--…` or `-00.0  a name`, once for each line and each bridge in it.
    fn devices(&mut self, text: &str, from: usize, bus: Bus) -> Result<(), Refusal> {
        let (mut at, mut bus) = (from, bus);
        loop {
            at = text[at..].find(|c| c != '-').map_or(text.len(), |skip| at + skip);
            let id =
                text.get(at..at + 4).and_then(|id| BusId::read(&format!("{:x}:{:02x}:{id}", bus.domain, bus.number)));
            let Some(id) = id else { return Err(wrong("no device where one should be, such as `01.1`")) };
            let rest = &text[at + 4..];
            let Some(inner) = rest.strip_prefix("-[") else {
                let (kind, gpu) = by_name(rest);
                let label = rest.trim().chars().take(60).collect();
                let function = Function { kind, bus: Some(id), gpu, label, above: bus.bridge, ..Function::default() };
                return self.functions.add(function).map(drop);
            };
            let close = inner.find(']').ok_or_else(|| wrong("a `[` without `]`"))?;
            let number = number(&inner[..close]).ok_or_else(|| wrong("no bus in brackets"))?;
            let bridge = Function { kind: Some(Kind::Switch), bus: Some(id), above: bus.bridge, ..Function::default() };
            let bridge = self.functions.add(bridge)?;
            bus = Bus { domain: bus.domain, number, bridge: Some(bridge) };
            let end = at + 4 + 2 + close + 1;
            let dashes = text[end..].find(|c| c != '-').map_or(text.len(), |skip| end + skip);
            match text.as_bytes().get(dashes) {
                None => return Ok(()),
                Some(b'+') => {
                    self.branches.push(Branch { column: dashes, bus });
                    at = dashes + 1;
                }
                Some(_) => at = dashes,
            }
        }
    }
}

/// The first bus of `61-73`, or of `0000:61` as some versions write it.
fn number(text: &str) -> Option<u8> {
    let first = text.split('-').next()?;
    u8::from_str_radix(first.rsplit(':').next()?, 16).ok()
}

fn wrong(what: &str) -> Refusal {
    Refusal::new(format!("{what}: this line is no part of a tree"))
        .help("the tree is cut or wrapped; paste all of `lspci -tv`")
}
