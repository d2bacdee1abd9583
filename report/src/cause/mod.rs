//! Why a transfer took as long as it did: typed for programs, and as a sentence for a person.

mod kind;

pub use kind::CauseKind;

use std::borrow::Cow;
use std::fmt::{Display, Formatter, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_plugin_api::{Cause, Direction, LinkId, NodeId};
use weir_scenario::{Regions, Scenario};
use weir_sim_core::{Bottleneck, Departure, EngineId, TaskId};

use crate::Run;
use crate::delay::BesideAlone;
use crate::link::Ends;
use crate::served::engine_name;

/// The parts of which the words of `cause` are made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Cause")]
pub struct TransferCause<'a> {
    /// What it is.
    pub kind: CauseKind,
    /// The link at which it kept the transfer back; null where none is known.
    #[serde(borrow)]
    pub(crate) link: Option<Ends<'a>>,
    /// The id of the transfer responsible; null where none is named.
    by: Option<Cow<'a, str>>,
    /// The engine that it was queued for, `gpu0/send`; only of `engine-busy`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) engine: Option<Cow<'a, str>>,
    /// What kept its rate down at its `bottleneck` after its start; only of `engine-busy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at_bottleneck: Option<CauseKind>,
    /// The node whose links have one bandwidth together; only of `shared-bandwidth`, where that is no single link's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<Cow<'a, str>>,
    /// The region of the link, where parts of the fabric have policies of their own.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    region: Option<Cow<'a, str>>,
    /// The policy of that region.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    policy: Option<Cow<'a, str>>,
}

impl Display for TransferCause<'_> {
    fn fmt(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
        let region = self.region.as_deref().zip(self.policy.as_deref());
        let by = self.by.as_deref().map(|by| move |to: &mut Formatter<'_>| to.write_str(by));
        write_words(self.kind, self.node.as_deref(), by, region, to)
    }
}

/// A cause as a sentence; `by` writes the transfer responsible.
fn write_words<W: Write>(
    kind: CauseKind,
    node: Option<&str>,
    by: Option<impl FnOnce(&mut W) -> std::fmt::Result>,
    region: Option<(&str, &str)>,
    to: &mut W,
) -> std::fmt::Result {
    match (node, by) {
        (None, by) => kind.write_sentence(by, to)?,
        (Some(node), Some(by)) => {
            write!(to, "memory of {node} shared with ")?;
            by(to)?;
        }
        (Some(node), None) => write!(to, "memory of {node} shared with others")?,
    }
    match region {
        Some((region, policy)) => write!(to, " ({region}: {policy})"),
        None => Ok(()),
    }
}

impl<'a> TransferCause<'a> {
    /// The id of the transfer responsible, where one is named.
    pub(crate) fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    /// What kept the rate down at the `bottleneck`, whether or not more was lost in a queue before the start.
    pub(crate) fn at_bottleneck(&self) -> CauseKind {
        self.at_bottleneck.unwrap_or(self.kind)
    }

    /// Of a transfer of a run; `None` for one that never had a rate.
    #[must_use]
    pub fn of(run: &Run<'a>, task: TaskId) -> Option<Self> {
        let transfer = run.departure(task)?;
        Self::of_departure(run.scenario, run.arbiter.regions, &BesideAlone::new(run.alone, &transfer))
    }

    /// Of a transfer: its engine where it lost most of its time queued for that, else its bottleneck.
    pub(crate) fn of_departure(
        scenario: &'a Scenario,
        regions: Option<&'a Regions>,
        transfer: &BesideAlone<'_>,
    ) -> Option<Self> {
        CauseNumbers::of(scenario, regions, transfer).map(|cause| cause.named(scenario, regions))
    }
}

/// What [`TransferCause`] says with names, by the numbers of these.
#[derive(Clone, Copy)]
pub(crate) struct CauseNumbers {
    kind: CauseKind,
    link: Option<LinkId>,
    /// The transfer responsible.
    pub(crate) by: Option<TaskId>,
    engine: Option<EngineId>,
    at_bottleneck: Option<CauseKind>,
    node: Option<NodeId>,
    region: Option<usize>,
}

impl CauseNumbers {
    /// As [`TransferCause::of_departure`].
    pub(crate) fn of(scenario: &Scenario, regions: Option<&Regions>, beside: &BesideAlone<'_>) -> Option<Self> {
        let transfer = beside.transfer;
        let mut at_bottleneck = Self::at(scenario, regions, transfer.task, &transfer.bottleneck);
        if let Some(cause) = &mut at_bottleneck
            && cause.kind == CauseKind::FullRate
            && scenario.changes.is_empty()
            && beside.was_cut()
        {
            cause.kind = CauseKind::SharedLink;
        }
        if beside.is_mostly_waiting() {
            Some(Self::queued(transfer, at_bottleneck.map(|cause| cause.kind)))
        } else {
            at_bottleneck
        }
    }

    fn queued(transfer: &Departure, at_bottleneck: Option<CauseKind>) -> Self {
        let behind = transfer.queued_behind;
        Self {
            kind: CauseKind::EngineBusy,
            link: None,
            by: (behind != TaskId::NONE).then_some(behind),
            engine: Some(transfer.engine),
            at_bottleneck,
            node: None,
            region: None,
        }
    }

    fn at(scenario: &Scenario, regions: Option<&Regions>, task: TaskId, bottleneck: &Bottleneck) -> Option<Self> {
        let (cause, link) = (bottleneck.binding.cause(), link_of(bottleneck));
        if cause == Cause::Unknown && link.is_none() {
            return None;
        }
        let (by, itself) = (bottleneck.binding.by, bottleneck.binding.by == task.0);
        let by = (by != u32::MAX && !itself).then_some(TaskId(by));
        let lateral = link.is_some_and(|link| scenario.fabric.link(link).direction == Direction::Lateral);
        let shared = bottleneck.binding.shared().and_then(|number| scenario.fabric.shared().get(number as usize));
        let kind = match shared {
            Some(_) => CauseKind::SharedBandwidth,
            // It has waited there: one that goes another way at once does not.
            None if cause == Cause::LinkDown && !itself && scenario.changes.on_failure.reroutes() => {
                CauseKind::NoOtherRoute
            }
            None => CauseKind::new(cause, lateral, by.is_some()),
        };
        // No policy of a region decides what is shared.
        let regions = regions.filter(|_| shared.is_none());
        let region = regions.zip(link).map(|(regions, link)| regions.division.region_of(link));
        Some(Self {
            kind,
            link,
            by,
            engine: None,
            at_bottleneck: None,
            node: shared.and_then(|shared| shared.node),
            region,
        })
    }

    /// The region of the link, by its number, where parts of the fabric have policies of their own.
    pub(crate) fn region(&self) -> Option<usize> {
        self.region
    }

    fn region_and_policy<'a>(&self, regions: Option<&'a Regions>) -> Option<(&'a str, &'a str)> {
        let (info, policy) = regions.zip(self.region).map(|(regions, region)| regions.region(region))?;
        Some((&info.name, policy))
    }

    fn named<'a>(&self, scenario: &'a Scenario, regions: Option<&'a Regions>) -> TransferCause<'a> {
        let region = self.region_and_policy(regions);
        let (region, policy) = region.map(|(region, policy)| (region.into(), policy.into())).unzip();
        TransferCause {
            kind: self.kind,
            link: self.link.map(|link| Ends::of(scenario, link)),
            by: self.by.map(|by| scenario.task_name(by)),
            engine: self.engine.map(|engine| engine_name(scenario, engine).into()),
            at_bottleneck: self.at_bottleneck,
            node: self.node.map(|node| scenario.node_name(node).into()),
            region,
            policy,
        }
    }

    /// The sentence that [`TransferCause`] shows.
    pub(crate) fn write(
        &self,
        scenario: &Scenario,
        regions: Option<&Regions>,
        to: &mut impl Write,
    ) -> std::fmt::Result {
        let by = self.by.map(|by| move |to: &mut _| scenario.write_task_name(by, to));
        let node = self.node.map(|node| scenario.node_name(node));
        write_words(self.kind, node, by, self.region_and_policy(regions), to)
    }
}

/// Where a transfer lost most: the engine that it was queued for, or the link at which it was held back; `None` where its
/// own limit did, or nothing is known.
#[must_use]
pub fn place_text(run: &Run<'_>, task: TaskId) -> Option<String> {
    match TransferCause::of(run, task)? {
        TransferCause { engine: Some(engine), .. } => Some(engine.into_owned()),
        TransferCause { node: Some(node), .. } => Some(format!("memory of {node}")),
        _ => bottleneck_link(run, task).map(|link| run.link_text(link)),
    }
}

/// The link that held a transfer back for the largest part of its time, where one is known; none does where its own limit did.
#[must_use]
pub fn bottleneck_link(run: &Run<'_>, task: TaskId) -> Option<LinkId> {
    let bottleneck = &run.bottleneck(task)?;
    link_of(bottleneck).filter(|_| bottleneck.binding.cause() != Cause::OwnLimit)
}

/// The link that decided a transfer's rate for the largest part of its time, also where its own limit did.
pub(crate) fn link_of(bottleneck: &Bottleneck) -> Option<LinkId> {
    (!bottleneck.binding.link.is_none()).then_some(bottleneck.binding.link)
}

/// Why: `head-of-line blocked behind b`. `None` for a task that never had a rate.
#[must_use]
pub fn cause_text(run: &Run<'_>, task: TaskId) -> Option<String> {
    TransferCause::of(run, task).map(|cause| cause.to_string())
}
