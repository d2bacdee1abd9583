//! What a person must know about an import: what is doubtful, assumed, left out.

mod links;

use std::collections::BTreeMap;
use std::fmt;

use crate::format::Format;
use crate::machine::{Counts, Machine};

/// Bus ids that one finding names.
const NAMED: usize = 8;
/// Findings of one level that are kept; of more only the number is told.
const KEPT: usize = 50;

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// The topology is probably wrong there, or lacks something.
    Warning,
    /// The dump does not say it, and something had to be put in its place.
    Assumed,
    /// Worth knowing.
    Note,
}

impl Level {
    /// The word before a finding.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Assumed => "assumed",
            Self::Note => "note",
        }
    }
}

/// One finding.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// What it is; names the bus ids.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.level.word(), self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "\nhelp: {help}"))
    }
}

/// Findings while a dump is read.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    kept: Vec<Finding>,
    /// Per level: how many there were.
    counts: BTreeMap<Level, usize>,
    /// What was left out, with bus ids.
    left_out: BTreeMap<String, Ids>,
}

/// Some bus ids.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    named: Vec<String>,
    count: usize,
}

impl Ids {
    pub(crate) fn add(&mut self, id: &str) {
        self.count += 1;
        if self.named.len() < NAMED && !id.is_empty() {
            self.named.push(id.to_owned());
        }
    }
}

impl fmt::Display for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named.join(", "))?;
        match self.count - self.named.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl Findings {
    pub(crate) fn warning(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.add(Level::Warning, message.into(), Some(help.into()));
    }

    pub(crate) fn assumed(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.add(Level::Assumed, message.into(), Some(help.into()));
    }

    pub(crate) fn note(&mut self, message: impl Into<String>) {
        self.add(Level::Note, message.into(), None);
    }

    /// A device that is not written.
    pub(crate) fn left_out(&mut self, what: &str, id: &str) {
        if self.left_out.len() < KEPT || self.left_out.contains_key(what) {
            self.left_out.entry(what.to_owned()).or_default().add(id);
        }
    }

    fn add(&mut self, level: Level, message: String, help: Option<String>) {
        let count = self.counts.entry(level).or_default();
        *count += 1;
        if *count <= KEPT {
            // Control characters of the dump must not reach a terminal.
            let clean = |text: String| text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
            self.kept.push(Finding { level, message: clean(message), help: help.map(clean) });
        }
    }

    /// What holds of the whole machine.
    pub(crate) fn of_machine(&mut self, machine: &Machine, counts: &Counts, format: Format) {
        for (what, ids) in std::mem::take(&mut self.left_out) {
            let named = if ids.named.is_empty() { format!("{}", ids.count) } else { ids.to_string() };
            self.note(format!("left out, {what}: {named}"));
        }
        if counts.gpus == 0 {
            self.warning("no GPU in the dump", format.better_dump());
        }
        let memory = "change `link_types.memory` where you know better";
        self.assumed("memory of each NUMA node: 204.8 GB/s, 8 channels of DDR4-3200", memory);
        let pairs = machine.laterals.values().any(|wire| matches!(wire, crate::machine::Wire::Socket(_)));
        if pairs {
            self.assumed(
                "all NUMA nodes are joined pair by pair, as NCCL does, with its bandwidths; they are not measured",
                "change `link_types.socket` where you know better",
            );
        }
    }

    /// All findings, the gravest first.
    pub(crate) fn list(self) -> Vec<Finding> {
        let mut list = self.kept;
        list.sort_by_key(|finding| finding.level);
        for (level, count) in self.counts {
            if count > KEPT {
                let message = format!("{} more of this kind are not shown", count - KEPT);
                list.push(Finding { level, message, help: None });
            }
        }
        list.sort_by_key(|finding| finding.level);
        list
    }
}
