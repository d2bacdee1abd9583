//! What a run would save if something of its topology were better: every change was simulated, and the best comes first.

use std::io::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_optimize::text::csv_field;
use weir_plugin_api::{PS_PER_S, SimTime};

use crate::ResultKind;
use crate::json::write_line;
use crate::schemas::time;
use crate::tuned::TunedUnder;

/// What changes of a scenario would save under one arbiter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "WhatIf")]
pub struct WhatIf {
    weir: u32,
    #[schemars(with = "String")]
    kind: ResultKind,
    version: String,
    /// The `name` of the scenario.
    pub scenario: String,
    /// The file of the scenario, as the command line has it.
    pub file: String,
    /// SHA-256 of everything read for it.
    pub input_sha256: String,
    /// The arbiter of all runs.
    pub arbiter: TunedUnder,
    /// Whether all changes were tried.
    pub complete: bool,
    /// When everything has ended without a change, seconds.
    #[serde(deserialize_with = "time")]
    pub makespan_s: f64,
    /// The same in picoseconds, exact.
    pub makespan_ps: u64,
    /// The changes, the best first.
    pub changes: Vec<Change>,
    /// With every link and memory without limit; none where there are none, or where it was not run.
    pub bound: Option<WhatIfBound>,
    /// Names of what carries no bytes, or what nothing uses.
    pub unused: Vec<String>,
    /// What could not be tried, and why.
    pub left_out: Vec<LeftOut>,
}

/// One change of a scenario, and what it saves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "WhatIfChange")]
pub struct Change {
    /// What is changed: the path of a link type or memory, what devices of a kind have, or the two nodes of a link.
    pub of: String,
    /// The quantity that changes.
    pub what: Changed,
    /// By which factor; none for no limit, and for one engine more.
    pub factor: Option<f64>,
    /// Whether this is the smallest factor, in hundredths and up to 16, that saves as much as any, no limit among them.
    pub enough: bool,
    /// The values to set for it, as `weir run --set` takes them; none for a link that the file writes together with others.
    pub set: Vec<SetValue>,
    /// The links that become wider; a change widens both directions of each.
    pub links: Vec<ChangedLink>,
    /// The link, or memory, that holds back transfers on the critical path for longest then; none where none does.
    pub held_at: Option<ChangedLink>,
    /// When everything has ended then, seconds.
    #[serde(deserialize_with = "time")]
    pub makespan_s: f64,
    /// The same in picoseconds, exact.
    pub makespan_ps: u64,
    /// The makespan without the change less that with it, seconds; below 0 where it ends later.
    pub saved_s: f64,
    /// The part of the makespan without the change that is saved, percent.
    pub saved_percent: f64,
    /// What the change costs, where weights are given; none for no limit, which cannot be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Seconds saved by unit of cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_s_per_cost: Option<f64>,
}

/// What of something is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Changed {
    /// The bandwidth of all links of a type.
    Bandwidth,
    /// The bandwidth of both directions of one link.
    Link,
    /// The bandwidth of a memory.
    Memory,
    /// The latency of all links of a type.
    Latency,
    /// The time that a device needs to issue a transfer.
    Overhead,
    /// The number of an engine of each device.
    Engines,
}

/// A value to set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SetValue {
    /// Where.
    pub path: String,
    /// What, as YAML.
    pub value: String,
}

/// A link, or the memory of a node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ChangedLink {
    /// One of its nodes, the one farther from the root or the first of a lateral link; of a memory its node.
    pub from: String,
    /// The other; of a memory the same.
    pub to: String,
}

/// What is left with every link and memory without limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WhatIfBound {
    /// When everything has ended, seconds.
    #[serde(deserialize_with = "time")]
    pub makespan_s: f64,
    /// The same in picoseconds, exact.
    pub makespan_ps: u64,
    /// The makespan without a change less this, seconds.
    pub saved_s: f64,
    /// The part of the makespan without a change that is saved, percent.
    pub saved_percent: f64,
    /// Of the critical path then: computations and other fixed times of tasks, seconds.
    pub computing_s: f64,
    /// Transfers with a `limit` of their own, seconds.
    pub limited_s: f64,
    /// All other transfers: latencies, and what the widest links still take, seconds.
    pub transfers_s: f64,
    /// Waiting for a `start`, an overhead, or a gap between tasks, seconds.
    pub waiting_s: f64,
}

/// A change that could not be tried.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LeftOut {
    /// What was to be changed.
    pub of: String,
    /// Why it was not tried.
    pub why: String,
}

impl WhatIf {
    /// A result without changes yet.
    #[must_use]
    pub fn new(scenario: &str, file: &str, input_sha256: &str, arbiter: TunedUnder, makespan: SimTime) -> Self {
        Self {
            weir: 1,
            kind: ResultKind::WhatIf,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: scenario.to_owned(),
            file: file.to_owned(),
            input_sha256: input_sha256.to_owned(),
            arbiter,
            complete: true,
            makespan_s: makespan.seconds(),
            makespan_ps: makespan.0,
            changes: Vec::new(),
            bound: None,
            unused: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Writes it as one JSON line.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, out: impl Write) -> std::io::Result<()> {
        write_line(self, out)
    }

    /// Writes a line for each change: what, factor, times, what to set.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_csv(&self, mut out: impl Write) -> std::io::Result<()> {
        writeln!(out, "of,what,factor,enough,makespan_ps,makespan_s,saved_s,saved_percent,cost,set")?;
        for change in &self.changes {
            writeln!(out, "{}", change.cells().map(|cell| csv_field(&cell).into_owned()).join(","))?;
        }
        Ok(())
    }
}

impl Change {
    /// What it is in words: `link_types.upi × 2`.
    #[must_use]
    pub fn title(&self) -> String {
        match (self.what, self.factor) {
            (Changed::Latency | Changed::Overhead, _) => format!("{} halved", self.of),
            (Changed::Engines, _) => format!("{}, one more", self.of),
            (_, Some(factor)) => format!("{} × {factor}", self.of),
            (_, None) => format!("{}, no limit", self.of),
        }
    }

    /// What to set, as `weir compare --with` takes it; empty where there is nothing to set.
    #[must_use]
    pub fn setting(&self) -> String {
        let each: Vec<String> = self.set.iter().map(|set| format!("{}={}", set.path, set.value)).collect();
        each.join(",")
    }

    fn cells(&self) -> [String; 10] {
        let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        [
            self.of.clone(),
            self.what.word().to_owned(),
            number(self.factor),
            self.enough.to_string(),
            self.makespan_ps.to_string(),
            self.makespan_s.to_string(),
            self.saved_s.to_string(),
            self.saved_percent.to_string(),
            number(self.cost),
            self.setting(),
        ]
    }
}

impl ChangedLink {
    /// Its nodes, or whose memory it is.
    #[must_use]
    pub fn title(&self) -> String {
        if self.from == self.to { format!("memory of {}", self.from) } else { format!("{} ↔ {}", self.from, self.to) }
    }
}

impl Changed {
    /// The word that results have for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bandwidth => "bandwidth",
            Self::Link => "link",
            Self::Memory => "memory",
            Self::Latency => "latency",
            Self::Overhead => "overhead",
            Self::Engines => "engines",
        }
    }
}

/// Makespans that differ by less than this part are equal: ends are rounded to picoseconds.
pub const SAME_MAKESPAN: f64 = 1e-9;

/// What one makespan saves of another: seconds, and percent of the latter.
#[must_use]
pub fn saved(of: SimTime, makespan: SimTime) -> (f64, f64) {
    let ps = i128::from(of.0) - i128::from(makespan.0);
    let percent = if of.0 == 0 { 0.0 } else { ps as f64 / of.0 as f64 * 100.0 };
    (ps as f64 / PS_PER_S as f64, percent)
}
