//! The tree of `lspci -tv`, by the columns of its branches:
//!
//! ```text
//! -+-[0000:00]-+-00.0  host bridge
//!  |           \-01.1-[01]--+-00.0  a GPU
//!  |                        \-00.1  its audio
//!  \-[0000:20]---03.1-[21]----00.0  a card
//! ```

use super::name::{self, ASIDE, DeviceName, label};
use crate::bus::BusId;
use crate::finding::{Findings, Ids, Level};
use crate::format::Format;
use crate::functions::{Function, Functions};
use crate::machine::{DeviceKind, Machine, Root};
use crate::refusal::Refusal;

/// A column of branches: from its `+` down to its `\\`.
#[derive(Clone, Copy)]
struct Branch {
    column: usize,
    /// The bus whose devices hang on it; `None` for the first column, on which root complexes hang.
    bus: Option<Bus>,
    /// Whether its last branch has come.
    ended: bool,
}

/// A bus: its number, and the bridge above it.
#[derive(Clone, Copy)]
struct Bus {
    domain: u32,
    number: u8,
    bridge: Option<usize>,
}

pub(super) fn read(text: &str, findings: &mut Findings) -> Result<Machine, Refusal> {
    let mut machine = Machine::default();
    machine.root(Root::default())?;
    let mut reader = Reader::default();
    let mut last = 1;
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim_end();
        if !text.is_empty() {
            reader.line(text).map_err(|problem| problem.at(line))?;
            last = line;
        }
    }
    reader.end_from(0).map_err(|problem| problem.at(last))?;
    if reader.leaves > 0 && reader.names == 0 {
        let refusal = Refusal::new("the tree has no names (`lspci -t`, `-tn`), and only names show what a device is");
        return Err(refusal.at(1).help("run `lspci -tv`, or better `sudo lspci -Dvvnn`"));
    }
    findings.warning(
        "`lspci -tv` has only names: GPUs and network cards are recognised by them, speeds and NUMA nodes are missing, and all \
         hang on one root complex",
        format!("`sudo lspci -Dvvnn` shows more; best: {}", Format::Lspci.better_dump(false)),
    );
    if !reader.unclear.is_empty() {
        let help =
            "add those that are GPUs or network cards to the written file; `sudo lspci -Dvvnn` shows what they are";
        let message = "left out, devices whose names show neither a GPU nor a network card: {}";
        findings.of_ids(Level::Note, message, &reader.unclear, Some(help.to_owned()));
    }
    reader.functions.place(&mut machine, findings)?;
    Ok(machine)
}

#[derive(Default)]
struct Reader {
    functions: Functions,
    /// Functions that are no bridges, and how many of them have a name.
    leaves: usize,
    names: usize,
    /// Functions whose names say nothing.
    unclear: Ids,
    /// By column; those to the right of a branch end when the branch goes on.
    branches: Vec<Branch>,
}

impl Reader {
    fn line(&mut self, text: &str) -> Result<(), Refusal> {
        let lead = text.find(|c: char| !matches!(c, ' ' | '|')).unwrap_or(0);
        self.end_from(lead + 1)?;
        let first = text.as_bytes().get(lead);
        let Some(branch) = self.branches.last_mut().filter(|branch| branch.column == lead && !branch.ended) else {
            return match (self.branches.is_empty(), first) {
                (true, Some(b'-')) => self.first(text, lead),
                _ => Err(wrong("a branch that hangs on nothing").column(lead as u32 + 1)),
            };
        };
        branch.ended = first == Some(&b'\\');
        match (branch.bus, first) {
            (Some(bus), Some(b'+' | b'\\')) => self.devices(text, lead + 1, bus),
            (None, Some(b'+' | b'\\')) => self.domain(text, lead),
            _ => Err(wrong("no branch where one should be").column(lead as u32 + 1)),
        }
    }

    /// Ends the branches from a column on: each must have had its last one.
    fn end_from(&mut self, column: usize) -> Result<(), Refusal> {
        while let Some(branch) = self.branches.pop_if(|branch| branch.column >= column) {
            if !branch.ended {
                let what = format!("the branches of column {} end without `\\-`", branch.column + 1);
                return Err(Refusal::new(what).help(CUT));
            }
        }
        Ok(())
    }

    /// The first line, or the only one of a root complex: `-+-[0000:00]-…`, `-[0000:00]-…`.
    fn first(&mut self, text: &str, lead: usize) -> Result<(), Refusal> {
        if text[lead..].starts_with("-+-[") {
            self.branches.push(Branch { column: lead + 1, bus: None, ended: false });
        }
        self.domain(text, lead)
    }

    /// `-[0000:00]-+-…`
    fn domain(&mut self, text: &str, from: usize) -> Result<(), Refusal> {
        let open = text[from..].find('[').map_or(text.len(), |at| from + at);
        let close = text[open..].find(']').map(|at| open + at).ok_or_else(|| wrong("a root complex without `[…]`"))?;
        let inner = &text[open + 1..close];
        let bus = inner
            .split_once(':')
            .and_then(|(domain, rest)| Some((u32::from_str_radix(domain, 16).ok()?, number(rest)?)));
        let (domain, number) = bus.ok_or_else(|| wrong("no domain and bus in brackets").column(chars(text, open)))?;
        self.below(text, close + 1, Bus { domain, number, bridge: None })
    }

    /// What follows the brackets of a bus: `-+-00.0 …` for several devices, `---00.0 …` for one, or nothing.
    fn below(&mut self, text: &str, from: usize, bus: Bus) -> Result<(), Refusal> {
        let dashes = text[from..].find(|c| c != '-').map_or(text.len(), |at| from + at);
        match text.as_bytes().get(dashes) {
            None => Ok(()),
            Some(b'+') => {
                self.branches.push(Branch { column: dashes, bus: Some(bus), ended: false });
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
            let Some(id) = id else {
                return Err(wrong("no device where one should be, such as `01.1`").column(chars(text, at)));
            };
            let rest = &text[at + 4..];
            let Some(inner) = rest.strip_prefix("-[") else { return self.device(rest, id, bus) };
            let (behind, close) = self.bridge(inner, id, bus).map_err(|problem| problem.column(chars(text, at)))?;
            bus = behind;
            let end = at + 4 + 2 + close + 1;
            let dashes = text[end..].find(|c| c != '-').map_or(text.len(), |skip| end + skip);
            match text.as_bytes().get(dashes) {
                None => return Ok(()),
                Some(b'+') => {
                    self.branches.push(Branch { column: dashes, bus: Some(bus), ended: false });
                    at = dashes + 1;
                }
                Some(_) => at = dashes,
            }
        }
    }

    /// What is no bridge: the rest of its line is its name.
    fn device(&mut self, text: &str, id: BusId, bus: Bus) -> Result<(), Refusal> {
        let (named, label) = (DeviceName::of(text), label(text));
        let kind = name::kind(text, &named);
        self.leaves += 1;
        self.names += usize::from(label.contains(|c: char| c.is_alphabetic() && !c.is_ascii_hexdigit()));
        // On the bus of a root complex sit functions of the processor.
        let of_processor =
            bus.bridge.is_none() && ["Intel Corporation", "[AMD]"].iter().any(|maker| text.contains(maker));
        let of_processor = of_processor || named.is_of_processor;
        if kind.is_none() && !of_processor && !ASIDE.iter().any(|word| text.contains(word)) {
            self.unclear.add(&id.to_string());
        }
        let DeviceName { vendor, gpu, module, is_card, maker, is_virtual, is_of_processor, .. } = named;
        let above = bus.bridge;
        let function = Function {
            kind,
            bus: Some(id),
            vendor,
            gpu,
            module,
            is_card,
            maker,
            is_virtual,
            is_of_processor,
            label,
            above,
            ..Function::default()
        };
        self.functions.add(function).map(drop)
    }

    /// A bridge: the bus behind it, and where its brackets close.
    fn bridge(&mut self, inner: &str, id: BusId, bus: Bus) -> Result<(Bus, usize), Refusal> {
        let close = inner.find(']').ok_or_else(|| wrong("a `[` without `]`"))?;
        let number = number(&inner[..close]).ok_or_else(|| wrong("no bus in brackets"))?;
        let bridge =
            Function { kind: Some(DeviceKind::Switch), bus: Some(id), above: bus.bridge, ..Function::default() };
        let bridge = self.functions.add(bridge)?;
        Ok((Bus { domain: bus.domain, number, bridge: Some(bridge) }, close))
    }
}

/// The first bus of `61-73`, or of `0000:61` as some versions write it.
fn number(text: &str) -> Option<u8> {
    let first = text.split('-').next()?;
    u8::from_str_radix(first.rsplit(':').next()?, 16).ok()
}

const CUT: &str = "the tree is cut or wrapped; paste all of `lspci -tv`";

fn wrong(what: &str) -> Refusal {
    Refusal::new(format!("{what}: this line is no part of a tree")).help(CUT)
}

/// The column of a place in a line, from 1.
fn chars(text: &str, at: usize) -> u32 {
    1 + text.get(..at).unwrap_or(text).chars().count() as u32
}
