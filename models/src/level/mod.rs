//! One level of a multilevel transfer: how long L bytes take.
//!
//! ```text
//! table | curve | affine | loggp ──► T(L), a fixed time
//! fabric ──────────────────────────► the links of the topology; T(L) = L / narrowest bandwidth + the route's latency
//! ```
//!
//! **Source.** T(L) of Aggarwal, Yoon, George, Lam, Stitt, *Performance Modeling for Multilevel Communication in
//! SHMEM+*, PGAS 2010, section 5.1: the text leaves open by which model a level's time is found (section 3).

mod loggp;
mod samples;

pub(crate) use loggp::{LogGp, after_first};

use schemars::JsonSchema;
use serde::Deserialize;
use weir_plugin_api::{CallError, PlannedWork, RouteInfo};

use crate::operation::{Ends, per_byte, refused};
use crate::quantities::{Curve, PerByte, Sample, Time};
use samples::Samples;

/// A level as written: exactly one of `table`, `curve`, `affine`, `loggp`, `fabric`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LevelParams {
    /// Measured pairs [size, time], by ascending size. Other sizes are refused unless `interpolate` or `extrapolate`
    /// says more.
    #[serde(default)]
    #[schemars(with = "Vec<Sample>")]
    table: Option<Vec<Sample>>,
    /// A file of such pairs, with the columns `bytes` and `seconds`.
    #[serde(default)]
    #[schemars(with = "Curve")]
    curve: Option<Curve>,
    /// Between two sizes of the table or curve: refused, or on the line between them. Default: none for a table,
    /// linear for a curve.
    #[serde(default)]
    #[schemars(with = "Rule")]
    interpolate: Option<Rule>,
    /// Outside the sizes of the table or curve: refused, or on the line through the two nearest. Default: none.
    #[serde(default)]
    #[schemars(with = "Rule")]
    extrapolate: Option<Rule>,
    /// latency + size · per_byte.
    #[serde(default)]
    #[schemars(with = "Affine")]
    affine: Option<Affine>,
    /// o + (size − 1) · G + L + o, and g between two messages.
    #[serde(default)]
    #[schemars(with = "LogGp")]
    loggp: Option<LogGp>,
    /// `true`: the bytes travel the topology and share its links with everything else.
    #[serde(default)]
    fabric: bool,
}

/// What is done about sizes without a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Rule {
    // They are refused.
    None,
    // A straight line.
    Linear,
}

/// latency + size · per_byte.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Affine {
    /// Time of a message without bytes.
    #[serde(default)]
    latency: Time,
    per_byte: PerByte,
}

/// A level ready for use.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Level {
    Measured(Samples),
    Affine(Affine),
    LogGp(LogGp),
    Fabric,
}

impl LevelParams {
    /// The level under `key` (`read`, `network`, `write`).
    pub(crate) fn level(&self, key: &str) -> Result<Level, CallError> {
        let fabric = self.fabric.then_some(Level::Fabric);
        let kinds = [
            self.samples(&format!("{key}.table"), self.table.as_deref(), Rule::None)?,
            self.samples(&format!("{key}.curve"), self.curve.as_ref().map(|c| &c.0[..]), Rule::Linear)?,
            self.affine.map(Level::Affine),
            self.loggp.map(Level::LogGp),
            fabric,
        ];
        let mut said = kinds.into_iter().flatten();
        let (Some(level), None) = (said.next(), said.next()) else {
            return Err(refused(format!(
                "{key}: give exactly one of `table`, `curve`, `affine`, `loggp`, `fabric: true`"
            )));
        };
        let rules = self.interpolate.or(self.extrapolate);
        if rules.is_some() && !matches!(level, Level::Measured(_)) {
            return Err(refused(format!(
                "{key}: `interpolate` and `extrapolate` belong to a `table` or `curve`; remove them"
            )));
        }
        Ok(level)
    }

    fn samples(&self, key: &str, rows: Option<&[Sample]>, between: Rule) -> Result<Option<Level>, CallError> {
        let linear = |rule: Option<Rule>, default| rule.unwrap_or(default) == Rule::Linear;
        let (inside, outside) = (linear(self.interpolate, between), linear(self.extrapolate, Rule::None));
        rows.map(|rows| Samples::new(key.to_owned(), rows, inside, outside).map(Level::Measured)).transpose()
    }
}

impl Level {
    /// T(L) in ps; over the fabric by its route.
    pub(crate) fn time(&self, bytes: u64, route: Option<&RouteInfo>) -> Result<f64, CallError> {
        Ok(match self {
            Self::Measured(samples) => samples.time(bytes)?,
            Self::Affine(affine) => affine.latency.0 + bytes as f64 * affine.per_byte.0,
            Self::LogGp(loggp) => loggp.time(bytes),
            Self::Fabric => route.map_or(0.0, |route| bytes as f64 * per_byte(route) + route.latency_ps),
        })
    }

    /// What a task of this level does; `time` is T(bytes).
    pub(crate) fn work(&self, bytes: u64, time: f64, ends: Ends) -> PlannedWork {
        match self {
            Self::Fabric if bytes > 0 => carries(ends, bytes),
            _ => PlannedWork::Lasts(time),
        }
    }

    /// Least time between two messages of one sender, ps.
    pub(crate) fn gap(&self) -> f64 {
        if let Self::LogGp(loggp) = self { loggp.gap.0 } else { 0.0 }
    }

    /// Whether the bytes travel the topology.
    pub(crate) fn is_fabric(&self) -> bool {
        matches!(self, Self::Fabric)
    }
}

/// Bytes on their way over the fabric, as fast as the arbiter lets them.
pub(crate) fn carries(ends: Ends, bytes: u64) -> PlannedWork {
    PlannedWork::Carries { from: ends.from, to: ends.to, bytes, limit: f64::INFINITY }
}
