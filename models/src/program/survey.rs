//! What a file of a program holds, for `weir import`: its format, and counts.

use std::collections::{BTreeMap, VecDeque};

use weir_plugin_api::CallError;

use super::operations::{ANY, Program, Work};
use super::params::{Format, ProgramParams};
use super::xml::Elements;
use super::{chakra, goal, matching, msccl, protobuf, simgrid};
use crate::collective::graph;
use crate::quantities::{Bandwidth, Bytes, FileContent, Files, Positive};

/// What a program in files, or the rings in a graph file, amount to.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProgramFile {
    /// A program.
    Program(ProgramCounts),
    /// An NCCL graph file with a ring.
    Graph {
        /// GPUs of a ring.
        gpus: usize,
        /// Rings, one for each channel.
        channels: usize,
        /// Graphs that are not read: `graph 1 (balanced tree)`.
        others: Vec<String>,
    },
}

/// Counts of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ProgramCounts {
    /// As `format:` has it.
    pub format: &'static str,
    /// Ranks; of traces of Chakra the files that are given.
    pub ranks: u32,
    /// Operations by the word that the file has for them, the most frequent first.
    pub operations: Vec<(String, u64)>,
    /// Messages, those of collectives included.
    pub messages: u64,
    /// Bytes of all messages; of MSCCL chunks, [`chunks`](Self::chunks) of which are the collective's size.
    pub bytes: u64,
    /// Chunks of an MSCCL algorithm's size.
    pub chunks: Option<u64>,
    /// Messages without their other end; `None` where traces of some ranks are missing.
    pub unmatched: Option<Unmatched>,
}

/// Sends without a receive, and receives without a send.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Unmatched {
    /// Sends that no receive takes.
    pub sends: u64,
    /// Receives for which there is no send.
    pub receives: u64,
    /// The first of them in the file, and where it stands.
    pub first: Option<String>,
}

impl Unmatched {
    /// Those of a program. A receive from any rank, or with any tag, takes one message that fits and that no other receive of
    /// its rank takes.
    fn of(program: &Program) -> Self {
        let partner = matching::partners(program, &program.successors());
        let mut wild = Wild::of(program);
        let (mut unmatched, mut first) = (Self::default(), None);
        for (number, operation) in
            (0..).zip(&program.operations).filter(|(number, _)| partner[*number as usize] == matching::NONE)
        {
            match operation.work {
                Work::Send { to, tag, .. } if wild.take(to, operation.rank, tag, program.is_of_collective(tag)) => {
                    continue;
                }
                Work::Send { .. } => unmatched.sends += 1,
                Work::Receive { .. } if !operation.work.is_wild() => unmatched.receives += 1,
                _ => continue,
            }
            first.get_or_insert(number);
        }
        unmatched.receives += wild.left().count() as u64;
        unmatched.first = first.into_iter().chain(wild.left()).min().map(|number| program.text(number));
        unmatched
    }
}

/// The receives from any rank, or with any tag, that are left, by rank, source and tag.
struct Wild(BTreeMap<(u32, u32, u32), VecDeque<u32>>);

impl Wild {
    fn of(program: &Program) -> Self {
        let mut wild: BTreeMap<_, VecDeque<u32>> = BTreeMap::new();
        for (number, operation) in (0..).zip(&program.operations) {
            if let Work::Receive { from, tag, .. } = operation.work
                && operation.work.is_wild()
            {
                wild.entry((operation.rank, from, tag)).or_default().push_back(number);
            }
        }
        Self(wild)
    }

    /// Takes a receive of a message from one rank to another: first one with its tag, which takes the fewest others, last one
    /// that takes any. Where a rank has receives with a tag and receives from a rank, a run may match more.
    fn take(&mut self, to: u32, from: u32, tag: u32, is_of_collective: bool) -> bool {
        let keys = [(to, ANY, tag), (to, from, ANY), (to, ANY, ANY)];
        let keys = if is_of_collective { &keys[..1] } else { &keys[..] };
        keys.iter().any(|key| self.0.get_mut(key).and_then(VecDeque::pop_front).is_some())
    }

    /// Those that no message is left for.
    fn left(&self) -> impl Iterator<Item = u32> {
        self.0.values().flatten().copied()
    }
}

/// Files with their names: a program, or a graph. `None` where their content is neither.
///
/// # Errors
/// What is wrong with a program, with line or message.
pub fn program_file(files: &[(&str, &[u8])]) -> Option<Result<ProgramFile, String>> {
    let (name, first) = files.first()?;
    let text = std::str::from_utf8(first).ok();
    // A byte order mark.
    let text = text.map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
    let format = match text.map(str::trim_start) {
        Some(text) if text.starts_with('<') => return xml(text, files),
        Some(text) if is_goal(text) => Format::Goal,
        Some(text) if is_simgrid(text) => Format::SimgridTi,
        _ if name.ends_with(".et") || (text.is_none() && protobuf::is_delimited(first)) => Format::Chakra,
        _ => return None,
    };
    Some(counts(format, files, None).map(ProgramFile::Program))
}

/// Whether the first word that is no comment begins a GOAL file.
fn is_goal(text: &str) -> bool {
    let mut in_comment = false;
    let codes = text.lines().map(|line| goal::without_comments(line, &mut in_comment));
    codes
        .map(|code| code.trim().to_owned())
        .find(|code| !code.is_empty())
        .is_some_and(|code| code.starts_with("num_ranks"))
}

/// Whether the first line is an action of a rank.
fn is_simgrid(text: &str) -> bool {
    simgrid::actions(text).next().is_some_and(|(_, line)| {
        let action = line.split_whitespace().nth(1).unwrap_or_default().to_lowercase();
        simgrid::rank(line).is_ok() && simgrid::ACTIONS.contains(&action.as_str())
    })
}

/// By the outermost element; topologies of NCCL are XML, too.
fn xml(text: &str, files: &[(&str, &[u8])]) -> Option<Result<ProgramFile, String>> {
    let root = Elements::of(text).and_then(|mut elements| elements.next());
    let name = match &root {
        Ok(root) => root.as_ref()?.name(),
        // What is wrong with it is said when it is read.
        Err(_) if text.starts_with("<algo ") => "algo",
        Err(_) if text.starts_with("<graphs ") => "graphs",
        Err(_) => return None,
    };
    match name {
        "algo" => {
            let tag = root.as_ref().ok().and_then(Option::as_ref).and_then(|root| root.tag().ok());
            let chunks = tag.and_then(|tag| tag.attribute("nchunksperloop")?.parse().ok());
            // What is no number, and what is no XML, is told of when it is read.
            Some(counts(Format::Msccl, files, Some(chunks.unwrap_or(1))).map(ProgramFile::Program))
        }
        "graphs" => Some(match files {
            [_] => graph::read(text).map(|graph::Graphs { channels, others }| ProgramFile::Graph {
                gpus: channels[0].len(),
                channels: channels.len(),
                others,
            }),
            _ => Err(format!("{} files, and a graph is one; give it alone", files.len())),
        }),
        _ => None,
    }
}

/// Reads files of a format; a chunk of MSCCL has one byte here.
fn counts(format: Format, files: &[(&str, &[u8])], chunks: Option<u64>) -> Result<ProgramCounts, String> {
    let files = files.iter().map(|(name, bytes)| FileContent::new(name, bytes)).collect();
    // Times are not counted: any rate will do that makes none too long.
    let flop_rate = matches!(format, Format::Chakra | Format::SimgridTi).then_some(Positive(1e300));
    let copy = (format == Format::Chakra).then_some(Bandwidth(1e300));
    let params = ProgramParams { size: chunks.map(Bytes), flop_rate, copy, ..ProgramParams::of(Files(files), format) };
    let read = match format {
        Format::Goal => params.one_text().and_then(goal::read),
        Format::Msccl => msccl::read(&params),
        Format::Chakra => chakra::read_for(&params, true),
        Format::SimgridTi => simgrid::read(&params),
    };
    // Of Chakra there may be some of the ranks.
    let lacks_ranks = |program: &Program| format == Format::Chakra && program.names_more_ranks();
    let read = read.and_then(|program| {
        if !lacks_ranks(&program) {
            program.check()?;
        }
        Ok(program)
    });
    let program = read.map_err(|error| match error {
        CallError::Refused(text) => text.strip_prefix("file: ").unwrap_or(&text).to_owned(),
        other => other.to_string(),
    })?;
    let unmatched = (!lacks_ranks(&program)).then(|| Unmatched::of(&program));
    let Program { ranks, operations, counted, .. } = program;
    let sizes = operations.iter().filter_map(|operation| match operation.work {
        Work::Send { bytes, .. } => Some(bytes),
        _ => None,
    });
    let (messages, bytes) = (sizes.clone().count() as u64, sizes.fold(0, u64::saturating_add));
    let mut operations: Vec<(String, u64)> = counted.into_iter().map(|(word, count)| (word.into(), count)).collect();
    operations.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(ProgramCounts { format: format.word(), ranks, operations, messages, bytes, chunks, unmatched })
}
