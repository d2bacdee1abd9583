//! Readers of logs: which kind a log is, and what it measured.

mod csv;
mod json;
mod mapping;
mod nccl;
mod number;
mod nvbandwidth;
mod osu;
mod p2p;

use std::path::Path;

use weir_plugin_api::{NodeId, NodeKind};
use weir_scenario::{Diagnostic, Excerpt, Machine, Position};

pub use csv::{MeasuredRow, MeasuredTable, measured_rows};

use crate::measurement::{Log, Skipped};

/// Bytes of a log at most; *assumed*, a hundred times what these programs write.
const MOST_BYTES: u64 = 64 << 20;
/// Candidates that an error names at most.
const MOST_NAMED: usize = 8;

/// Measured times of a log at most; *assumed*.
pub(crate) const MOST_ROWS: usize = 100_000;

/// The kinds of logs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogKind {
    /// `from,to,bytes,seconds,group`.
    Csv,
    /// JSON of `nvbandwidth -j`.
    Nvbandwidth,
    /// Text of the CUDA sample `p2pBandwidthLatencyTest`.
    P2p,
    /// A table of nccl-tests.
    Nccl,
    /// A table of an OSU micro-benchmark.
    Osu,
}

impl LogKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Csv, Self::Nvbandwidth, Self::P2p, Self::Nccl, Self::Osu];

    /// The name for `--as`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Nvbandwidth => "nvbandwidth",
            Self::P2p => "p2p",
            Self::Nccl => "nccl-tests",
            Self::Osu => "osu",
        }
    }

    /// The kind of a text by what stands in it.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let head: String = text.lines().take(2000).map(|line| untagged(line).0.to_owned() + "\n").collect();
        let begin = head.trim_start();
        if begin.starts_with('{') {
            return head.contains("nvbandwidth").then_some(Self::Nvbandwidth);
        }
        if head.contains("Peer-to-Peer") || head.contains("Bandwidth Matrix (GB/s)") {
            return Some(Self::P2p);
        }
        if head.lines().any(|l| l.trim_start().starts_with('#') && l.contains("algbw") && l.contains("busbw")) {
            return Some(Self::Nccl);
        }
        if head.lines().any(|l| l.trim_start().starts_with("# OSU ") || l.trim_start().starts_with("# Size ")) {
            return Some(Self::Osu);
        }
        let header = head.lines().find(|l| !l.trim().is_empty() && !l.starts_with('#'))?;
        let columns: Vec<&str> = header.split(',').map(|c| c.trim().trim_matches(['"', '\u{feff}'])).collect();
        ["from", "to", "bytes", "seconds"].iter().all(|need| columns.contains(need)).then_some(Self::Csv)
    }
}

/// Collectives of nccl-tests that weir can simulate as a ring or as pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collective {
    /// `all_reduce_perf`.
    AllReduce,
    /// `all_gather_perf`.
    AllGather,
    /// `reduce_scatter_perf`.
    ReduceScatter,
    /// `alltoall_perf`.
    AllToAll,
    /// `sendrecv_perf`.
    SendRecv,
}

impl Collective {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::AllReduce, Self::AllGather, Self::ReduceScatter, Self::AllToAll, Self::SendRecv];

    /// The name for `--collective`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllToAll => "all-to-all",
            Self::SendRecv => "send-recv",
        }
    }
}

/// What the command line says about logs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// The kind, where it is not to be recognised.
    pub kind: Option<LogKind>,
    /// The device of each number in a log: `gpu[0-7]`; all gpus in file order where it is not given.
    pub devices: Option<String>,
    /// The two devices of a log of a pair: `gpu0,gpu1`.
    pub pair: Option<String>,
    /// Host memory; the nearest cpu of each device where it is not given.
    pub host: Option<String>,
    /// Which collective a table of nccl-tests is of.
    pub collective: Option<Collective>,
}

/// A text with its name, and what the numbers in it mean.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    pub(crate) machine: &'a Machine,
    pub(crate) options: &'a ReadOptions,
    pub(crate) devices: Vec<NodeId>,
    pub(crate) host: Option<NodeId>,
}

impl Source<'_> {
    /// A place by line and column, from 1.
    pub(crate) fn place(&self, line: u32, column: u32) -> Position {
        Position { file: self.file.into(), line, column }
    }

    /// An error at a place, with the line and a remedy.
    pub(crate) fn error(&self, (line, column, width): (u32, u32, u32), message: String, help: &str) -> Box<Diagnostic> {
        let shown = self.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or("");
        Box::new(Diagnostic {
            position: Some(self.place(line, column)),
            excerpt: Some(Excerpt::new(shown, column, width)),
            ..Diagnostic::error(message).with_help(help)
        })
    }

    /// A field of a line, as its place.
    pub(crate) fn place_of(&self, (line, text): (u32, &str), field: &str) -> Position {
        let byte = (field.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let before = text.get(..byte).unwrap_or("");
        self.place(line, before.chars().count() as u32 + 1)
    }

    /// An error at a field of a line.
    pub(crate) fn wrong(&self, line: (u32, &str), field: &str, (message, help): number::Wrong) -> Box<Diagnostic> {
        let place = self.place_of(line, field);
        self.error((place.line, place.column, field.chars().count() as u32), message, help)
    }

    /// Notes a part of the log that is not used.
    pub(crate) fn skip(&self, log: &mut Log, place: Position, what: impl Into<String>, why: impl Into<String>) {
        log.skipped.push(Skipped { place, what: what.into(), why: why.into() });
    }

    /// The device of a number in the log.
    pub(crate) fn device(&self, number: usize) -> Option<NodeId> {
        self.devices.get(number).copied()
    }

    /// The host memory of a device: what `--host` says, else the cpu with the fewest links to it, among equals the
    /// first.
    pub(crate) fn host_of(&self, device: NodeId) -> Option<NodeId> {
        self.host.or_else(|| nearest_cpu(self.machine, device))
    }
}

fn nearest_cpu(machine: &Machine, device: NodeId) -> Option<NodeId> {
    let fabric = &machine.fabric;
    let mut routes = weir_sim_core::Routes::new();
    let nodes = fabric.nodes().iter().enumerate();
    let cpus = nodes.filter(|(_, node)| matches!(node.kind, NodeKind::Cpu | NodeKind::Host));
    let far = cpus.filter_map(|(at, _)| {
        let cpu = NodeId::from_index(at);
        let route = routes.between(fabric, cpu, device)?;
        Some((routes.links(route).len(), cpu))
    });
    far.min().map(|(_, cpu)| cpu)
}

/// Reads a log file.
///
/// # Errors
/// What is wrong with it: file, line, column and remedy.
pub fn read_log(path: &Path, machine: &Machine, options: &ReadOptions) -> Result<(LogKind, Log), Box<Diagnostic>> {
    let text = read_text(path)?;
    read_log_text(&path.display().to_string(), &text, machine, options)
}

/// The text of a file, bounded.
///
/// # Errors
/// The file cannot be read, is too large, or is no text.
pub fn read_text(path: &Path) -> Result<String, Box<Diagnostic>> {
    use std::io::Read as _;
    let name = path.display();
    let failed = |message: String, help: &str| Box::new(Diagnostic::error(message).with_help(help));
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| failed(format!("`{name}` cannot be read: {error}"), "name a log file"))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(failed(format!("`{name}` has more than {} MiB", MOST_BYTES >> 20), "give fewer rows"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        failed(format!("`{name}` is no text: byte {at} is not UTF-8"), "save the log as UTF-8 text")
    })
}

/// [`read_log`] of a text.
///
/// # Errors
/// As [`read_log`].
pub fn read_log_text(
    file: &str,
    text: &str,
    machine: &Machine,
    options: &ReadOptions,
) -> Result<(LogKind, Log), Box<Diagnostic>> {
    let named = |option: &str, (message, help): (String, String)| {
        Box::new(Diagnostic::error(format!("{option}: {message}")).with_help(help))
    };
    let devices = match &options.devices {
        Some(names) => {
            let devices = machine.devices(names).map_err(|problem| named("--devices", problem))?;
            once_each(machine, &devices).map_err(|problem| named("--devices", problem))?;
            devices
        }
        None => gpus(machine),
    };
    let host = options.host.as_ref().map(|name| machine.device(name)).transpose();
    let host = host.map_err(|problem| named("--host", problem))?;
    if let Some(host) = host {
        is_host(machine, host).map_err(|problem| named("--host", problem))?;
    }
    let source = Source { file, text, machine, options, devices, host };
    let kind = options.kind.or_else(|| LogKind::of(text)).ok_or_else(|| unknown(&source))?;
    let log = match kind {
        LogKind::Csv => csv::read(&source),
        LogKind::Nvbandwidth => nvbandwidth::read(&source),
        LogKind::P2p => p2p::read(&source),
        LogKind::Nccl => nccl::read(&source),
        LogKind::Osu => osu::read(&source),
    }?;
    Ok((kind, log))
}

/// Refuses devices that are named twice: each is one number of the log.
fn once_each(machine: &Machine, devices: &[NodeId]) -> Result<(), (String, String)> {
    let mut seen = std::collections::BTreeMap::new();
    for (number, device) in devices.iter().enumerate() {
        if let Some(before) = seen.insert(device, number) {
            let name = machine.node_name(*device);
            let message = format!("`{name}` is named twice, as number {before} and as number {number} of the log");
            return Err((message, "name each device once, in the order in which the log numbers them".to_owned()));
        }
    }
    Ok(())
}

/// Refuses a device that has no host memory.
fn is_host(machine: &Machine, node: NodeId) -> Result<(), (String, String)> {
    let host = |kind| matches!(kind, NodeKind::Cpu | NodeKind::Host);
    if host(machine.fabric.node(node).kind) {
        return Ok(());
    }
    let nodes = machine.fabric.nodes().iter().enumerate().filter(|(_, n)| host(n.kind));
    let names: Vec<&str> = nodes.map(|(at, _)| machine.node_name(NodeId::from_index(at))).take(MOST_NAMED).collect();
    let help = match names[..] {
        [] => "this topology has no cpu: add one with its memory".to_owned(),
        _ => format!("name one of {}", names.join(", ")),
    };
    Err((format!("`{}` is no host memory", machine.node_name(node)), help))
}

/// The GPUs as tools number them: by the numbers of their names where all are one word and different numbers (`gpu0`,
/// `gpu1`, …), as a tree lists them by NUMA node; else in the order of the file.
fn gpus(machine: &Machine) -> Vec<NodeId> {
    let nodes = machine.fabric.nodes().iter().enumerate();
    let mut all: Vec<NodeId> =
        nodes.filter(|(_, node)| node.kind == NodeKind::Gpu).map(|(at, _)| NodeId::from_index(at)).collect();
    let numbered = |&node: &NodeId| {
        let name = machine.node_name(node);
        let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
        Some((word, name[word.len()..].parse::<u64>().ok()?))
    };
    let names: Option<Vec<(&str, u64)>> = all.iter().map(numbered).collect();
    let of_one_word = |names: &Vec<(&str, u64)>| {
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        distinct.len() == names.len() && names.iter().all(|name| name.0 == names[0].0)
    };
    if names.is_some_and(|names| of_one_word(&names)) {
        all.sort_by_key(|node| numbered(node).map(|name| name.1));
    }
    all
}

/// A line without what `mpirun --tag-output` puts before it (`[1,0]<stdout>:`), and the bytes of that.
pub(crate) fn untagged(line: &str) -> (&str, usize) {
    let trimmed = line.trim_start();
    let tag = trimmed.starts_with('[').then(|| trimmed.split_once("<stdout>:")).flatten();
    let rest = tag.map_or(line, |(_, rest)| rest);
    (rest, line.len() - rest.len())
}

fn unknown(source: &Source<'_>) -> Box<Diagnostic> {
    let words: Vec<_> = LogKind::ALL.iter().map(|kind| kind.word()).collect();
    let help = format!(
        "weir reads nvbandwidth -j, p2pBandwidthLatencyTest, nccl-tests, OSU micro-benchmarks, and CSV with the columns \
         from,to,bytes,seconds,group; name the kind by --as ({})",
        words.join(", ")
    );
    source.error((1, 1, 1), "the kind of this log is not recognised".to_owned(), &help)
}

/// The two devices of `--pair`.
pub(crate) fn pair(source: &Source<'_>) -> Result<Option<(NodeId, NodeId)>, Box<Diagnostic>> {
    let Some(names) = &source.options.pair else { return Ok(None) };
    let failed =
        |message: String, help: String| Box::new(Diagnostic::error(format!("--pair: {message}")).with_help(help));
    let devices = source.machine.devices(names).map_err(|(message, help)| failed(message, help))?;
    match devices[..] {
        [a, b] if a != b => Ok(Some((a, b))),
        _ => Err(failed(format!("`{names}` are not two devices"), "write `--pair gpu0,gpu1`".to_owned())),
    }
}
