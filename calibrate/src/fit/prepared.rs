//! An experiment ready to be simulated: its run, and how its measured times follow from the ends of the run's transfers.

use weir_plugin_api::LinkId;

use super::error::FitError;
use super::parameter::Setting;
use super::runs::{Planned, Run};
use crate::measurement::{Experiment, MeasuredEnd, Transfer};

/// What was measured of a run.
pub(super) struct Prepared {
    /// Its place among the runs.
    pub(super) run: usize,
    /// Its bytes over those of the run.
    pub(super) scale: f64,
    /// The way back of the first transfer, with the bytes of the reply.
    pub(super) reply: Option<(Vec<LinkId>, u64)>,
    pub(super) transfers: Vec<Transfer>,
    pub(super) ends: Vec<MeasuredEnd>,
    pub(super) messages: u32,
    pub(super) steps: f64,
    /// All links of all routes, ascending.
    pub(super) links: Vec<LinkId>,
}

impl Prepared {
    /// Plans the run of an experiment, unless an earlier one has the same.
    pub(super) fn new(planned: &mut Planned<'_>, e: &Experiment) -> Result<Self, FitError> {
        let (run, scale) = planned.run(e)?;
        let mut links = planned.runs[run].links.clone();
        let reply = match (e.reply, e.transfers.first()) {
            (Some(bytes), Some(first)) => Some((planned.way(first.to, first.from, e)?, bytes)),
            _ => None,
        };
        if let Some((way, _)) = &reply {
            links.extend_from_slice(way);
        }
        links.sort_unstable();
        links.dedup();
        Ok(Self {
            run,
            scale,
            reply,
            transfers: e.transfers.clone(),
            ends: e.rows.iter().map(|row| row.end).collect(),
            messages: e.messages,
            steps: f64::from(e.steps),
            links,
        })
    }

    /// The times that were measured, from those of the run.
    pub(super) fn over_links(&self, run: &Run, ends: &[f64], setting: &Setting) -> Vec<f64> {
        let latency = |links: &[LinkId]| links.iter().map(|l| setting.latency[l.index()]).sum::<f64>();
        let narrowest =
            |links: &[LinkId]| links.iter().map(|l| setting.bandwidth[l.index()]).fold(f64::INFINITY, f64::min);
        let reply = self.reply.as_ref();
        let reply = reply.map_or(0.0, |(links, bytes)| latency(links) + *bytes as f64 / narrowest(links));
        self.of_ends(|at| ends[at] * self.scale + self.steps * latency(run.way(at)) + reply)
    }

    /// The measured times, from the end of each transfer.
    pub(super) fn of_ends(&self, end: impl Fn(usize) -> f64) -> Vec<f64> {
        let last = || (0..self.transfers.len()).map(&end).fold(0.0, f64::max);
        self.ends
            .iter()
            .map(|measured| if let MeasuredEnd::Transfer(at) = measured { end(*at) } else { last() })
            .collect()
    }
}
