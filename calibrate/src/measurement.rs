//! What a log says: transfers that ran at once, and how long they took.
//!
//! ```text
//! Log ──► Experiment (transfers of one group, from one start) ──► MeasuredTime (a measured time of it)
//!    └──► Skipped (what cannot be used, and why)
//! ```

use weir_plugin_api::NodeId;
use weir_scenario::Position;

/// A transfer of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The node that sends.
    pub from: NodeId,
    /// The node that receives.
    pub to: NodeId,
    /// Payload, 1 to 2^53.
    pub bytes: u64,
}

/// What a measured time is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeasuredEnd {
    /// From the common start to the end of this transfer of the experiment.
    Transfer(usize),
    /// From the common start to the end of the last transfer.
    Last,
}

/// One time that a log gives.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasuredTime {
    /// Where it stands in its log.
    pub place: Position,
    /// Seconds, finite and above 0.
    pub seconds: f64,
    /// What it is the time of.
    pub end: MeasuredEnd,
}

/// Transfers that started at once, with nothing else on the machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// The group's name, or what the log calls it.
    pub name: String,
    /// What ran, in the order in which each source sends.
    pub transfers: Vec<Transfer>,
    /// What was measured of it.
    pub rows: Vec<MeasuredTime>,
    /// Each transfer is this many messages of its size, one after the other, ≥ 1.
    pub messages: u32,
    /// How often the latency of the route is paid: the steps of a collective; 0 where messages in flight hide it.
    pub steps: u32,
    /// The time holds a message of this size back from the first transfer's destination, too.
    pub reply: Option<u64>,
    /// Kernels move the bytes, as in collectives: no copy engine has a queue of them.
    pub kernels: bool,
}

impl Experiment {
    /// One that is nothing but its transfers.
    #[must_use]
    pub fn plain(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            transfers: Vec::new(),
            rows: Vec::new(),
            messages: 1,
            steps: 1,
            reply: None,
            kernels: false,
        }
    }

    /// The same with one more transfer whose end was measured.
    #[must_use]
    pub fn with(mut self, transfer: Transfer, seconds: f64, place: Position) -> Self {
        self.rows.push(MeasuredTime { place, seconds, end: MeasuredEnd::Transfer(self.transfers.len()) });
        self.beside(transfer)
    }

    /// The same with one more transfer that was not measured.
    #[must_use]
    pub fn beside(mut self, transfer: Transfer) -> Self {
        self.transfers.push(transfer);
        self
    }
}

/// A part of a log that is not used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// Its first line in the log.
    pub place: Position,
    /// The part in a few words, such as the name of its table.
    pub what: String,
    /// Why it is not used, and what would make it of use.
    pub why: String,
}

/// What was read from one log.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Log {
    /// What can be simulated.
    pub experiments: Vec<Experiment>,
    /// Parts that no simulation can be held against.
    pub skipped: Vec<Skipped>,
    /// How the log was understood, where it does not say.
    pub notes: Vec<String>,
}
