//! The words for what goes wrong in a run: refusals, wrong answers, deadlocks.

use std::collections::BTreeSet;

use weir_plugin_api::{CallError, LinkId, NO_SLOT, SimDuration, SimTime};
use weir_report::instant;
use weir_scenario::{Diagnostic, Scenario};
use weir_sim_core::{
    AdmissionError, AnswerError, AuditError, MOST_CHANGES, MOST_PHASES, MOST_ROUNDS, OnFailure, PacketError, SimError,
    TaskId,
};

use super::PreparedRun;
use crate::{Error, ErrorKind};

/// Waiting transfers named in an error.
const NAMED: usize = 10;

impl PreparedRun<'_> {
    /// A refusal is the scenario's fault, anything else the arbiter's.
    pub(super) fn refused(&self, AdmissionError { task, error }: &AdmissionError) -> Error {
        let (name, file) = (&self.spec.name, &self.scenario.file);
        if !matches!(error, CallError::Refused(_)) {
            return Error::new(ErrorKind::Plugin, format!("{file}: arbiter `{name}`: {error}"));
        }
        let finding = match *task {
            Some(task) => {
                let transfer = self.scenario.task_name(task);
                let what = format!("arbiter `{name}` refuses transfer `{transfer}`: {error}");
                let finding = Diagnostic { help: self.scenario.remedy(self.spec), ..Diagnostic::error(what) };
                self.scenario.about(task, finding)
            }
            None => {
                let what = format!("arbiter `{name}` refuses this scenario: {error}");
                Diagnostic { position: self.spec.position.clone(), ..Diagnostic::error(what) }
            }
        };
        match finding.position {
            None => Diagnostic { message: format!("{file}: {}", finding.message), ..finding },
            Some(_) => finding,
        }
        .into()
    }

    pub(super) fn stopped(&self, error: &SimError) -> Error {
        let (what, kind) = match error {
            SimError::Arbiter(AnswerError::Failed { time, error: CallError::Refused(why) }) => {
                (format!("at {} ({time}) {why}", instant(*time)), ErrorKind::Stopped)
            }
            SimError::Arbiter(error) => (self.wrong_answer(error), ErrorKind::Plugin),
            SimError::Deadlock { time, waiting, queued } => (self.deadlock(*time, waiting, queued), ErrorKind::Stopped),
            SimError::LinkDown { time, link, task } => (self.link_down(*time, *link, *task), ErrorKind::Stopped),
            SimError::DetourRefused { time, task, error } => {
                (self.detour_refused(*time, *task, error), ErrorKind::Stopped)
            }
            SimError::TooManyChanges { time, link } => (self.too_many_changes(*time, *link), ErrorKind::Stopped),
            SimError::StaysDown { time, link, waiting } => (self.stays_down(*time, *link, waiting), ErrorKind::Stopped),
            SimError::BeyondHorizon { time, tasks } => (self.beyond_horizon(*time, tasks), ErrorKind::Stopped),
            SimError::TooManyPhases { time } => (too_many_phases(*time), ErrorKind::Stopped),
            SimError::Stuck { time, passed, active } => (self.stuck(*time, *passed, active), ErrorKind::Plugin),
            SimError::Audit(error) => (self.impossible(error), ErrorKind::Plugin),
            SimError::Packets { time, error } => self.packets_stopped(*time, error),
            SimError::Halted => (error.to_string(), ErrorKind::Stopped),
        };
        let under = match self.spec.packets {
            Some(_) => "packet by packet".to_owned(),
            None => format!("under arbiter `{}`", self.spec.name),
        };
        Error::new(kind, format!("{}: {under}, {what}", self.scenario.file))
    }

    fn packets_stopped(&self, time: SimTime, error: &PacketError) -> (String, ErrorKind) {
        let at = format!("at {} ({time})", instant(time));
        match error {
            PacketError::Deadlock { cycle } if cycle.is_empty() => {
                (format!("deadlock {at}: packets wait, and no port serves them"), ErrorKind::Stopped)
            }
            PacketError::Deadlock { cycle } => {
                let links: Vec<_> = cycle.iter().chain(cycle.first()).map(|&link| self.link(LinkId(link))).collect();
                let what = format!("deadlock {at}: full buffers wait for each other: {}", links.join(" waits for "));
                (format!("{what}; give one of the transfers another `channel`, or other links"), ErrorKind::Stopped)
            }
            PacketError::Slot { link, slot: NO_SLOT } => {
                let of = self.port_arbiter_of(*link);
                let what = format!("{of} serves nobody, though packets ask for the link: it starves them all");
                (format!("deadlock {at}: {what}; use another port arbiter there"), ErrorKind::Stopped)
            }
            PacketError::InBuffers { most } => {
                let help =
                    "only buffers without a size hold as many: give a `buffer` in place of `unlimited`, or send less";
                (format!("{at} more than {most} packets are in buffers at once; {help}"), ErrorKind::Stopped)
            }
            PacketError::Hops { most } => {
                let help =
                    "send less, give `payload` larger packets, or raise --max-hops of `weir run` or `weir compare`";
                (
                    format!("{at} packets have crossed {most} links, the most that a run simulates; {help}"),
                    ErrorKind::Stopped,
                )
            }
            PacketError::Slot { .. }
            | PacketError::Impure { .. }
            | PacketError::State { .. }
            | PacketError::Arbiter { .. } => (format!("{at} {}", self.port_failed(error)), ErrorKind::Plugin),
            PacketError::Refused { arbiter, error: CallError::Refused(text) } => {
                (format!("port arbiter `{arbiter}` refuses this scenario: {text}"), ErrorKind::Input)
            }
            PacketError::Refused { arbiter, error } => {
                (format!("port arbiter `{arbiter}` failed: {error}"), ErrorKind::Plugin)
            }
            PacketError::Engines { transfer } => {
                let name = self.scenario.task_name(TaskId(*transfer));
                (
                    format!("{at} transfer `{name}` found no engine; this is a defect of weir, report it"),
                    ErrorKind::Plugin,
                )
            }
            PacketError::Network(error) => (error.to_string(), ErrorKind::Input),
        }
    }

    fn port_arbiter_of(&self, link: u32) -> String {
        let name = self.spec.packets.as_ref().map_or("", |plan| plan.port_arbiter(LinkId(link)));
        format!("port arbiter `{name}` of link {}", self.link(LinkId(link)))
    }

    /// What a port arbiter did wrong; nothing for other errors.
    fn port_failed(&self, error: &PacketError) -> String {
        let of = |link: u32| self.port_arbiter_of(link);
        let asks = "the port arbiter is wrong, report it to its author";
        match error {
            PacketError::Slot { link, slot } => {
                format!("{} chose requester {slot}, which does not ask; {asks}", of(*link))
            }
            PacketError::Impure { link, slot, again } => format!(
                "{} chose requester {slot}, and for the same question again requester {again}, though no grant was \
                 between; {asks}",
                of(*link)
            ),
            PacketError::State { links } => match self.loaded_ports_of(links) {
                // Those of weir tell all of their states.
                names if names.is_empty() => "packets left a period; this is a defect of weir, report it".to_owned(),
                names => format!(
                    "port arbiter {names}: grants went otherwise than before, though its `state` was the same: it leaves \
                     out what choices depend on; {asks}"
                ),
            },
            PacketError::Arbiter { link, error } => format!("{} failed: {error}", of(*link)),
            _ => String::new(),
        }
    }

    /// The port arbiters of these links that come from libraries.
    fn loaded_ports_of(&self, links: &[u32]) -> String {
        let plan = self.spec.packets.as_ref();
        let of_links: BTreeSet<&str> =
            links.iter().filter_map(|&link| Some(plan?.port_arbiter(LinkId(link)))).collect();
        let loaded = plan.iter().flat_map(|plan| plan.loaded_ports()).map(|entry| &*entry.name);
        let named: Vec<String> =
            loaded.filter(|name| of_links.contains(name)).map(|name| format!("`{name}`")).collect();
        named.join(" or ")
    }

    fn deadlock(&self, time: SimTime, waiting: &[TaskId], queued: &[TaskId]) -> String {
        let at = format!("deadlock at {} ({time})", instant(time));
        match waiting.is_empty() {
            true => format!(
                "{at}: the first in the queue of each engine waits for a task that is queued behind another; order \
                 the operations that share engines with `after`; waiting for an engine: {}",
                self.names(queued)
            ),
            false => format!(
                "{at}: every active transfer has rate 0 and nothing else is pending; waiting: {}",
                self.names(waiting)
            ),
        }
    }

    fn link_down(&self, time: SimTime, link: LinkId, task: TaskId) -> String {
        format!(
            "at {} ({time}) link {} is down under transfer `{}`, and `on_failure` is `fail`; with `wait` it goes on \
             once the link is up",
            instant(time),
            self.link(link),
            self.scenario.task_name(task)
        )
    }

    fn detour_refused(&self, time: SimTime, task: TaskId, error: &CallError) -> String {
        format!(
            "at {} ({time}) transfer `{}` takes another route, as a link is down, and the arbiter refuses that: {error}; use \
             `on_failure: wait`, or another arbiter",
            instant(time),
            self.scenario.task_name(task)
        )
    }

    fn too_many_changes(&self, time: SimTime, link: LinkId) -> String {
        let again = match self.scenario.changes.on_failure {
            OnFailure::Restart | OnFailure::RerouteRestart => {
                ", or `on_failure: wait`: a transfer may begin again and again, and never end"
            }
            OnFailure::Wait | OnFailure::Reroute | OnFailure::Fail => "",
        };
        format!(
            "at {} ({time}) links have changed more than {MOST_CHANGES} times, {} again; give `events` longer \
             times{again}",
            instant(time),
            self.link(link)
        )
    }

    fn stays_down(&self, time: SimTime, link: LinkId, waiting: &[TaskId]) -> String {
        let around = if self.scenario.changes.on_failure.reroutes() { ", no other route leads around it" } else { "" };
        format!(
            "deadlock at {} ({time}): link {} is down and never comes up again{around}, and nothing else is pending; waiting for \
             a link: {}; give an event with `bandwidth: up`, or `for`",
            instant(time),
            self.link(link),
            self.names(waiting)
        )
    }

    fn beyond_horizon(&self, time: SimTime, tasks: &[TaskId]) -> String {
        format!(
            "after {} ({time}) the next event lies beyond the horizon of 100 days; still going on: {}; check sizes, \
             bandwidths and latencies",
            instant(time),
            self.names(tasks)
        )
    }

    fn stuck(&self, time: SimTime, passed: SimDuration, active: &[TaskId]) -> String {
        format!(
            "at {} ({time}) no transfer started or ended in the last {MOST_ROUNDS} answers, over {} ps: the arbiter wants \
             to be asked again too soon, report it to its author; active: {}",
            instant(time),
            passed.0,
            self.names(active)
        )
    }

    fn wrong_answer(&self, error: &AnswerError) -> String {
        let time = error.time();
        format!("at {} ({time}) {}", instant(time), answer_words(self.scenario, error))
    }

    fn impossible(&self, error: &AuditError) -> String {
        let what = match error {
            AuditError::TooFast { task, bytes, took, least } => format!(
                "transfer `{}` of {bytes} bytes took {} ps; at the full rate of its route it needs {} ps",
                self.scenario.task_name(*task),
                took.0,
                least.0
            ),
            AuditError::TooMuch { link, bytes, busy, bandwidth } => format!(
                "{bytes} bytes crossed link {} in {} ps, above its bandwidth of {bandwidth} B/s",
                self.link(*link),
                busy.0
            ),
            AuditError::TooHigh { link, peak, bandwidth } => {
                format!("link {} was loaded with {peak} B/s, above its bandwidth of {bandwidth} B/s", self.link(*link))
            }
            AuditError::Lost { link, bytes, sent } => {
                format!("{bytes} bytes crossed link {}, but transfers sent {sent} bytes over it", self.link(*link))
            }
        };
        format!("the result is impossible: {what}; the arbiter or weir is wrong, report it")
    }

    fn link(&self, link: LinkId) -> String {
        link_text(self.scenario, link)
    }

    fn names(&self, tasks: &[TaskId]) -> String {
        let names: Vec<_> = tasks.iter().take(NAMED).map(|&t| self.scenario.task_name(t)).collect();
        let more = if tasks.len() > NAMED { format!(" and {} more", tasks.len() - NAMED) } else { String::new() };
        format!("{}{more} ({} in all)", names.join(", "), tasks.len())
    }
}

fn link_text(scenario: &Scenario, link: LinkId) -> String {
    let link = scenario.fabric.link(link);
    format!("{} → {}", scenario.node_name(link.from), scenario.node_name(link.to))
}

/// What is wrong with an arbiter's answer, without the time.
pub(crate) fn answer_words(scenario: &Scenario, error: &AnswerError) -> String {
    let name = |task: &TaskId| scenario.task_name(*task);
    let what = match error {
        AnswerError::Failed { error, .. } => return format!("it failed: {error}"),
        AnswerError::NotARate { task, rate, .. } => {
            format!(
                "transfer `{}` was given the rate {rate:?} B/s: rates must be finite, and 0 or at least 2.3e-308",
                name(task)
            )
        }
        AnswerError::Impure { task, rate, again, .. } => format!(
            "transfer `{}` was given {rate} B/s, and for the same transfers again {again} B/s, though the arbiter claims \
             to be pure",
            name(task)
        ),
        AnswerError::OverLimit { task, rate, limit, .. } => {
            format!("transfer `{}` was given {rate} B/s, above its limit of {limit} B/s", name(task))
        }
        AnswerError::OverCapacity { link, task, load, bandwidth, .. } => format!(
            "link {} was given {load} B/s, above its bandwidth of {bandwidth} B/s, with transfer `{}` on it",
            link_text(scenario, *link),
            name(task)
        ),
    };
    format!("{what}; the arbiter is wrong, report it to its author")
}

/// Phases list each active transfer, so many transfers at once make them large.
fn too_many_phases(time: SimTime) -> String {
    let help = "leave out timelines, phases and full results, or end the run earlier (`until`)";
    format!(
        "at {} ({time}) the phases with their rates and steps take more than {} GB of memory; {help}",
        instant(time),
        MOST_PHASES as f64 / 1e9
    )
}
