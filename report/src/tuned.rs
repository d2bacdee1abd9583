//! The best packet of a put for each of several sizes: a table for a person, JSON, and the CSV that
//! `packet: { table: … }` reads.
//!
//! Source: Aggarwal et al., "Performance Modeling for Multilevel Communication in SHMEM+", PGAS 2010, section 6: Table 5
//! (packet by size) and Table 6 (gain in bandwidth over no packets).

use std::io::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weir_plugin_api::SimDuration;

use crate::ResultKind;
use crate::json::write_line;
use crate::schemas::{object, time};

/// The result of tuning: one scenario.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Tuned")]
pub struct Tuning {
    weir: u32,
    kind: ResultKind,
    version: String,
    /// The `name` of the scenario.
    pub scenario: String,
    /// The file of the scenario, as the command line has it.
    pub file: String,
    /// SHA-256 of everything read for it.
    pub input_sha256: String,
    /// The arbiter under which the ways were tried.
    pub arbiter: TunedUnder,
    /// Whether the rest of the scenario ran beside each put; else each was simulated alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_load: bool,
    /// Each `put` that was tuned, with its best packets.
    pub operations: Vec<TunedOperation>,
}

/// The policy under which times were simulated.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Arbiter")]
pub struct TunedUnder {
    /// The name by which `arbiter:` and `--arbiter` choose it.
    pub name: String,
    /// Its parameters as the scenario gives them.
    #[serde(deserialize_with = "object")]
    pub params: Map<String, Value>,
}

/// One operation and its best packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TunedOperation {
    /// The id of the operation in the scenario.
    pub id: String,
    /// The rows, by ascending size.
    pub sizes: Vec<TunedSize>,
}

/// The best packet for one size.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TunedSize {
    /// The size of the whole transfer.
    pub bytes: u64,
    /// The packet; `None` where no packets are best.
    pub packet: Option<u64>,
    /// Its simulated time, seconds.
    #[serde(deserialize_with = "time")]
    pub seconds: f64,
    /// The same in picoseconds, exact.
    pub ps: u64,
    /// The time without packets, seconds.
    #[serde(deserialize_with = "time")]
    pub without_packets_s: Option<f64>,
    /// The bandwidth over that without packets, less 1.
    pub gain: Option<f64>,
    /// Size over time, bytes per second.
    #[serde(rename = "bandwidth_Bps")]
    pub bandwidth: Option<f64>,
    /// All packets that were simulated, where they are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tried: Option<Vec<Tried>>,
}

/// A packet that was simulated for a size.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Tried {
    /// The packet; `None` for no packets.
    pub packet: Option<u64>,
    /// Its simulated time alone, seconds.
    #[serde(deserialize_with = "time")]
    pub seconds: f64,
}

impl Tuning {
    /// A result without operations yet.
    #[must_use]
    pub fn new(scenario: &str, file: &str, input_sha256: &str, arbiter: TunedUnder) -> Self {
        Self {
            weir: 1,
            kind: ResultKind::Tuning,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: scenario.to_owned(),
            file: file.to_owned(),
            input_sha256: input_sha256.to_owned(),
            arbiter,
            under_load: false,
            operations: Vec::new(),
        }
    }

    /// Writes it as one JSON line.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, out: impl Write) -> std::io::Result<()> {
        write_line(self, out)
    }
}

impl TunedSize {
    /// A row of the time with the best packet, and without packets.
    #[must_use]
    pub fn new(bytes: u64, packet: Option<u64>, time: SimDuration, without: Option<SimDuration>) -> Self {
        let rate = |time: SimDuration| (time.0 > 0).then(|| bytes as f64 / time.seconds());
        Self {
            bytes,
            packet,
            seconds: time.seconds(),
            ps: time.0,
            without_packets_s: without.map(|time| time.seconds()),
            gain: without.filter(|_| time.0 > 0).map(|without| without.0 as f64 / time.0 as f64 - 1.0),
            bandwidth: rate(time),
            tried: None,
        }
    }
}

impl TunedOperation {
    /// Writes the table that `packet: { table: … }` reads: columns `bytes` and `packet`, whole bytes, an empty cell for no
    /// packets.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_csv(&self, mut out: impl Write) -> std::io::Result<()> {
        writeln!(out, "bytes,packet")?;
        for row in &self.sizes {
            let packet = row.packet.map_or_else(String::new, |packet| packet.to_string());
            writeln!(out, "{},{packet}", row.bytes)?;
        }
        Ok(())
    }
}
