//! What a result is about: the scenario, the arbiter, and the outcome.

use std::borrow::Cow;

use serde_json::{Map, Value};
use weir_plugin_api::{Binding, Cause, ClassId, LegendEntry, LinkId, NodeId, SimDuration, SimTime};
use weir_scenario::{PacketPlan, Regions, Scenario};
use weir_sim_core::{
    Bottleneck, Departure, Outcome, RemarkCount, SharedBandwidth, Task, TaskId, TaskTimes, Work, shares,
};

use crate::delay::BesideAlone;
use crate::{Alone, Spread};

/// Rates that differ by less than this part are equal: shares of several routes are rounded.
const SAME_RATE: f64 = 1e-9;

/// The arbiter of a result.
#[derive(Clone, Copy, Debug)]
pub struct ArbiterInfo<'a> {
    /// Its name in scenarios; of a policy per link kind, the map as it can be written.
    pub name: &'a str,
    /// Version of the policy.
    pub version: &'a str,
    /// SHA-256 of the library it was loaded from; `None` when built in.
    pub sha256: Option<&'a str>,
    /// The parameters of the scenario or the command as they are written, without defaults.
    pub params: &'a Map<String, Value>,
    /// What its steps mean; empty where the policy does not say.
    pub legend: &'a [LegendEntry],
    /// The parts of the fabric that have a policy each; `None` where one policy has the whole fabric.
    pub regions: Option<&'a Regions>,
    /// How packets cross the fabric; `None` where bandwidth is divided by rates.
    pub packets: Option<&'a PacketPlan>,
}

impl ArbiterInfo<'_> {
    /// Name and parameters for a person: `name (key value)`.
    #[must_use]
    pub fn title(&self) -> String {
        titled(self.name, self.params)
    }

    /// The parameters for a person: `key value, other value`.
    #[must_use]
    pub(crate) fn params_text(&self) -> String {
        params_text(self.params)
    }
}

/// A name and parameters for a person: `name (key value)`. The name of a policy for each kind of link is the map, which says
/// all parameters.
#[must_use]
pub fn titled(name: &str, params: &Map<String, Value>) -> String {
    if params.is_empty() || name.starts_with('{') {
        name.to_owned()
    } else {
        format!("{name} ({})", params_text(params))
    }
}

/// Parameters for a person: `key value, other value`.
pub(crate) fn params_text(params: &Map<String, Value>) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let params: Vec<_> = params.iter().map(|(key, value)| format!("{key} {}", text(value))).collect();
    params.join(", ")
}

/// One run of a scenario under an arbiter, ready to be reported.
pub struct Run<'a> {
    /// The scenario that was run, for names and places.
    pub scenario: &'a Scenario,
    /// Under which arbiter, for the head of a result.
    pub arbiter: ArbiterInfo<'a>,
    /// What the simulation returned.
    pub outcome: &'a Outcome,
    /// Times of lone transfers under the same arbiter.
    pub alone: &'a Alone<'a>,
    /// How far ends move when transfers start later, where that was asked for.
    pub spread: Option<&'a Spread>,
}

impl Run<'_> {
    /// Whether every task has ended.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.outcome.stop == weir_sim_core::Stop::Finished
    }

    /// The digest of all events, 16 hexadecimal digits.
    pub(crate) fn fingerprint(&self) -> String {
        let packets = self.outcome.packets.as_ref();
        format!("{:016x}", packets.map_or(self.outcome.fingerprint, |packets| packets.fingerprint))
    }

    /// The ids of all transfers, in expansion order.
    pub fn transfers(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.scenario.tasks.transfers().map(|(task, _)| task)
    }

    /// The first and the last node of a transfer's route, and the links between; `None` for other tasks.
    pub(crate) fn carried(&self, task: TaskId) -> Option<Carried<'_>> {
        let Work::Carries { class, .. } = self.scenario.tasks.tasks()[task.index()].work else { return None };
        Carried::of(self.scenario, class)
    }

    /// The same with the links over which a transfer goes on at a time.
    pub(crate) fn carried_at(&self, task: TaskId, time: SimTime) -> Option<Carried<'_>> {
        let mut carried = self.carried(task)?;
        let reroutes = self.outcome.reroutes_of(task);
        let until = reroutes.partition_point(|other| other.time <= time);
        if let Some(last) = reroutes[..until].last() {
            carried.links = &last.links;
        }
        Some(carried)
    }

    /// From when until when links carry a transfer, up to where the run stopped.
    pub(crate) fn carried_span(&self, task: TaskId) -> (SimTime, SimTime) {
        let (times, now) = (self.outcome.tasks[task.index()], self.outcome.now);
        (times.start.min(now), carried_until(times, self.outcome.packets.is_some()).min(now))
    }

    /// What carried a transfer, in the order of time: its own route, and others that it took. A route that it left in the instant
    /// in which it came carried nothing.
    pub(crate) fn legs(&self, task: TaskId) -> Vec<Leg<'_>> {
        let Some(Carried { links, from, to }) = self.carried(task) else { return Vec::new() };
        let ((start, until), others) = (self.carried_span(task), self.outcome.reroutes_of(task));
        let begins = others.iter().map(|other| (&other.links[..], other.time, other.sent));
        let ends = others.iter().map(|other| (other.time, other.sent));
        let begins = std::iter::once((links, start, 0)).chain(begins);
        let ends = ends.chain([(until, self.outcome.sent_bytes[task.index()])]);
        let legs = begins.zip(ends).map(|((links, begin, before), (end, sent))| {
            let carried = Carried { links, from, to };
            Leg { carried, span: (begin, end), bytes: sent.saturating_sub(before) }
        });
        legs.filter(|leg| leg.span.0 < leg.span.1).collect()
    }

    /// All that is known of a transfer; `None` for other tasks.
    pub(crate) fn departure(&self, task: TaskId) -> Option<Departure> {
        let Task { engine, work: Work::Carries { bytes, class }, .. } = self.scenario.tasks.tasks()[task.index()]
        else {
            return None;
        };
        let (outcome, i) = (self.outcome, task.index());
        let (times, sent_bytes, bottleneck) = (outcome.tasks[i], outcome.sent_bytes[i], self.bottleneck(task)?);
        let (queued_behind, lead) = (outcome.queued_behind[i], self.scenario.tasks.service(task).lead);
        Some(Departure {
            task,
            class,
            engine,
            lead,
            bytes,
            times,
            sent_bytes,
            bottleneck,
            queued_behind,
            held: outcome.held.get(i).cloned().unwrap_or_default(),
            at: outcome.now,
        })
    }

    /// The link at which a transfer lost most, and why. One that had all of another route, which carries less than its own, lost
    /// most at the link that was down.
    pub(crate) fn bottleneck(&self, task: TaskId) -> Option<Bottleneck> {
        let own = *self.outcome.bottlenecks.get(task.index())?;
        let reroutes = self.outcome.reroutes_of(task);
        if reroutes.is_empty() || own.binding.cause() != Cause::FullRate {
            return Some(own);
        }
        let whole = self.carries(self.carried(task)?.links);
        let narrower = reroutes.iter().find(|other| self.carries(&other.links) < whole * (1.0 - SAME_RATE));
        let down = narrower.map(|other| Binding::new(other.down, Cause::LinkDown, task.0));
        Some(Bottleneck { binding: down.unwrap_or(own.binding), ..own })
    }

    /// What a transfer has alone on some links, bytes per second.
    fn carries(&self, links: &[LinkId]) -> f64 {
        let fabric = &self.scenario.fabric;
        let rates = shares(fabric, links).into_iter().map(|(link, share)| fabric.link(link).bandwidth / share);
        rates.fold(f64::INFINITY, f64::min)
    }

    /// From ready to end of a transfer that is alone; `None` where the arbiter has no steady answer.
    #[must_use]
    pub fn time_alone(&self, task: TaskId) -> Option<SimDuration> {
        BesideAlone::new(self.alone, &self.departure(task)?).since_ready()
    }

    /// The names of a link's two nodes.
    pub(crate) fn link_names(&self, link: LinkId) -> (&str, &str) {
        let link = self.scenario.fabric.link(link);
        (self.scenario.node_name(link.from), self.scenario.node_name(link.to))
    }

    /// A link for a person: `k80a → plx0`.
    #[must_use]
    pub(crate) fn link_text(&self, link: LinkId) -> String {
        let (from, to) = self.link_names(link);
        format!("{from} → {to}")
    }

    /// What links share, by the number of a region, where it is that of no region.
    pub(crate) fn shared_bandwidth(&self, region: u32) -> Option<&SharedBandwidth> {
        let number = self.arbiter.regions?.division.shared_number(region)?;
        self.scenario.fabric.shared().get(number as usize)
    }

    /// The name of a region, or of what links share: `memory of cpu0`, `a – b in both directions`. `None` where one policy
    /// has the whole fabric.
    pub(crate) fn region_name(&self, region: u32) -> Option<Cow<'_, str>> {
        let Some(shared) = self.shared_bandwidth(region) else {
            return self.arbiter.regions.map(|regions| regions.region(region as usize).0.name.as_str().into());
        };
        Some(Cow::Owned(self.shared_text(shared)))
    }

    /// The name of what links share: `memory of cpu0`, `a – b in both directions`.
    pub(crate) fn shared_text(&self, shared: &SharedBandwidth) -> String {
        match shared.node {
            Some(node) => format!("memory of {}", self.scenario.node_name(node)),
            None => {
                let (from, to) = self.link_names(shared.links[0]);
                format!("{from} – {to} in both directions")
            }
        }
    }
}

impl Run<'_> {
    /// What the arbiter remarked on its answers, what became of links that changed, and what computed beside each other: a
    /// sentence for each, without a full stop.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let several = self.arbiter.regions.is_some_and(|regions| regions.division.regions.len() > 1);
        let sentence = |RemarkCount { remark, phases, of }: &RemarkCount| {
            let region = several.then(|| self.region_name(remark.region)).flatten();
            let region = region.map_or_else(String::new, |name| format!(" of region `{name}`"));
            format!("in {phases} of {of} phases{region} {}", remark.text)
        };
        self.outcome
            .remarks
            .iter()
            .map(sentence)
            .chain(self.change_sentences())
            .chain(self.reroute_sentences())
            .chain(self.computation_sentences())
            .collect()
    }
}

/// Where a transfer goes.
pub(crate) struct Carried<'a> {
    pub(crate) links: &'a [LinkId],
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
}

impl<'a> Carried<'a> {
    pub(crate) fn of(scenario: &'a Scenario, class: ClassId) -> Option<Self> {
        let links = scenario.routes.links(scenario.tasks.classes().route(class));
        let fabric = &scenario.fabric;
        let (first, last) = (links.first()?, links.last()?);
        Some(Self { links, from: fabric.link(*first).from, to: fabric.link(*last).to })
    }

    /// Its links, each once, with the part of its bytes that each carries: 1 unless it takes several routes.
    pub(crate) fn shares(&self, scenario: &Scenario) -> Vec<(LinkId, f64)> {
        match scenario.routes.has_branches() {
            true => shares(&scenario.fabric, self.links),
            false => self.links.iter().map(|&link| (link, 1.0)).collect(),
        }
    }
}

/// What carried a transfer for a part of its time.
pub(crate) struct Leg<'a> {
    pub(crate) carried: Carried<'a>,
    /// From when until when.
    pub(crate) span: (SimTime, SimTime),
    /// Whole bytes.
    pub(crate) bytes: u64,
}

impl Leg<'_> {
    /// Its mean rate, bytes per second.
    pub(crate) fn rate(&self) -> f64 {
        self.bytes as f64 / (self.span.1 - self.span.0).seconds()
    }
}

/// Ready to end, over the time of the same transfer alone; `None` until it has ended.
pub(crate) fn slowdown(run: &Run<'_>, task: TaskId) -> Option<f64> {
    let transfer = run.departure(task)?;
    if transfer.times.end.is_never() {
        return None;
    }
    let alone = run.time_alone(task)?;
    (alone.0 > 0).then(|| (transfer.times.end - transfer.times.ready).seconds() / alone.seconds())
}

/// The mean rate of a transfer of a run, as [`mean_rate_of`].
pub(crate) fn mean_rate(run: &Run<'_>, task: TaskId) -> Option<f64> {
    mean_rate_of(&run.arbiter, &run.departure(task)?)
}

/// Until when links carry a transfer: until its last byte is sent. Packets may wait in buffers once they have left: until the end
/// where they are simulated.
fn carried_until(times: TaskTimes, has_packets: bool) -> SimTime {
    if has_packets { times.end } else { times.sent }
}

/// Bytes over the time for which links carry it; of an unfinished transfer, the bytes sent so far over the time so far.
pub(crate) fn mean_rate_of(arbiter: &ArbiterInfo<'_>, transfer: &Departure) -> Option<f64> {
    let times = transfer.times;
    if times.start.is_never() {
        return None;
    }
    let sent = carried_until(times, arbiter.packets.is_some());
    let until = if sent.is_never() { transfer.at } else { sent };
    let span = until - times.start;
    (span.0 > 0).then(|| transfer.sent_bytes as f64 / span.seconds())
}
