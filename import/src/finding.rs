//! What a person must know about an import: what is doubtful, assumed, left out.

use std::collections::BTreeMap;
use std::fmt;

use crate::machine::{Counts, Machine, Wire};
use crate::printable::printable;

/// Bus ids that one finding names on a terminal; the written file has all.
const NAMED: usize = 8;
/// Findings of one level that are kept; of further ones only the number is reported.
const KEPT: usize = 50;

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// The topology is probably wrong there, or lacks something.
    Warning,
    /// The dump does not say it, and something had to be put in its place.
    Assumed,
    /// Worth knowing, but nothing to correct.
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

/// Something of a dump that a person should know: an assumption, a doubt, or what was left out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// What it is; names the first bus ids.
    pub message: String,
    /// The same with all bus ids, where there are more.
    pub whole: Option<String>,
    /// What to do about it; `None` where nothing is to be done.
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

/// Bus ids that one finding is about.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    named: Vec<String>,
    count: usize,
}

impl Ids {
    pub(crate) fn add(&mut self, id: &str) {
        self.count += 1;
        if !id.is_empty() {
            self.named.push(id.to_owned());
        }
    }

    /// The first so many of them, and how many more there are.
    fn first(&self, most: usize) -> String {
        let named = self.named.get(..most).unwrap_or(&self.named);
        match (self.count - named.len(), named.is_empty()) {
            (0, _) => named.join(", "),
            (more, true) => more.to_string(),
            (more, false) => format!("{} and {more} more", named.join(", ")),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<S: AsRef<str>> FromIterator<S> for Ids {
    fn from_iter<I: IntoIterator<Item = S>>(all: I) -> Self {
        let mut ids = Self::default();
        all.into_iter().for_each(|id| ids.add(id.as_ref()));
        ids
    }
}

impl Findings {
    pub(crate) fn warning(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.add(Level::Warning, message.into(), None, Some(help.into()));
    }

    /// A finding about some bus ids, which are put in the place of `{}`.
    pub(crate) fn of_ids(&mut self, level: Level, message: &str, ids: &Ids, help: Option<String>) {
        let with = |named: String| message.replacen("{}", &named, 1);
        let whole = (ids.named.len() > NAMED).then(|| with(ids.first(ids.named.len())));
        self.add(level, with(ids.first(NAMED)), whole, help);
    }

    pub(crate) fn assumed(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.add(Level::Assumed, message.into(), None, Some(help.into()));
    }

    pub(crate) fn note(&mut self, message: impl Into<String>) {
        self.add(Level::Note, message.into(), None, None);
    }

    /// A device that is not written.
    pub(crate) fn left_out(&mut self, what: &str, id: &str) {
        if self.left_out.len() < KEPT || self.left_out.contains_key(what) {
            self.left_out.entry(what.to_owned()).or_default().add(id);
        }
    }

    fn add(&mut self, level: Level, message: String, whole: Option<String>, help: Option<String>) {
        let count = self.counts.entry(level).or_default();
        *count += 1;
        if *count <= KEPT {
            // What the dump says may hold characters that change what a terminal shows.
            let clean = |text: String| printable(&text, '?');
            let (message, whole, help) = (clean(message), whole.map(clean), help.map(clean));
            self.kept.push(Finding { level, message, whole, help });
        }
    }

    /// What holds of the whole machine.
    pub(crate) fn of_machine(&mut self, machine: &Machine, counts: &Counts, better_dump: &str) {
        for (what, ids) in std::mem::take(&mut self.left_out) {
            self.of_ids(Level::Note, &format!("left out, {}: {{}}", what.replace("{}", "")), &ids, None);
        }
        if counts.gpus == 0 {
            self.warning("no GPU in the dump", better_dump);
        }
        let memory = "change `link_types.memory` where you know better";
        self.assumed("memory of each NUMA node: 204.8 GB/s, 8 channels of DDR4-3200", memory);
        let has = |fits: fn(&Wire) -> bool| machine.laterals.values().any(fits);
        if has(|wire| matches!(wire, Wire::Package(_))) {
            self.assumed(
                "NUMA nodes of one package are joined by `package`, with the bandwidth of `socket`, because NCCL does not distinguish \
                 the two; they are probably faster",
                "change `link_types.package` where you know better",
            );
        }
        if has(|wire| matches!(wire, Wire::Socket(_))) {
            self.assumed(
                "all NUMA nodes are joined pair by pair, as NCCL does; the bandwidth is that of lone copies on other machines, or NCCL's",
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
                list.push(Finding { level, message, whole: None, help: None });
            }
        }
        list.sort_by_key(|finding| finding.level);
        list
    }
}
