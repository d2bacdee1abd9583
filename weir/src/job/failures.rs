//! The words for what goes wrong in a run: refusals, wrong answers, deadlocks.

use weir_plugin_api::{ArbiterError, LinkId};
use weir_report::instant;
use weir_scenario::Diagnostic;
use weir_sim_core::{AdmissionError, AnswerError, SimError, TaskId};

use super::Job;
use crate::{Error, ErrorKind};

/// Waiting transfers named in an error.
const NAMED: usize = 10;

impl Job<'_> {
    /// A refusal is the scenario's fault, anything else the arbiter's.
    pub(super) fn refused(&self, AdmissionError { task, error }: &AdmissionError) -> Error {
        let (name, file) = (&self.spec.name, &self.scenario.file);
        if !matches!(error, ArbiterError::Refused(_)) {
            return Error::new(ErrorKind::Plugin, format!("{file}: arbiter `{name}`: {error}"));
        }
        let (what, position) = match *task {
            Some(task) => {
                let transfer = self.scenario.task_name(task);
                (format!("arbiter `{name}` refuses transfer `{transfer}`: {error}"), self.scenario.position(task))
            }
            None => (format!("arbiter `{name}` refuses this scenario: {error}"), self.spec.position.clone()),
        };
        let what = if position.is_none() { format!("{file}: {what}") } else { what };
        Error::diagnosed(&Diagnostic { position, ..Diagnostic::error(what) })
    }

    pub(super) fn stopped(&self, error: &SimError) -> Error {
        let at = format!("{}: under arbiter `{}`", self.scenario.file, self.spec.name);
        match error {
            SimError::Arbiter(error) => Error::new(ErrorKind::Plugin, format!("{at}, {}", self.wrong_answer(error))),
            SimError::Deadlock { time, waiting, queued } if waiting.is_empty() => Error::new(
                ErrorKind::Stopped,
                format!(
                    "{at}, deadlock at {} ({time}): the first in the queue of each engine waits for a task that is \
                     queued behind another; order the operations that share engines with `after`; waiting for an \
                     engine: {}",
                    instant(*time),
                    self.names(queued)
                ),
            ),
            SimError::Deadlock { time, waiting, .. } => Error::new(
                ErrorKind::Stopped,
                format!(
                    "{at}, deadlock at {} ({time}): every active transfer has rate 0 and nothing else is pending; \
                     waiting: {}",
                    instant(*time),
                    self.names(waiting)
                ),
            ),
            SimError::BeyondHorizon { time, tasks } => Error::new(
                ErrorKind::Stopped,
                format!(
                    "{at}, after {} ({time}) the next event lies beyond the horizon of 100 days; still going on: {}; \
                     check sizes and bandwidths",
                    instant(*time),
                    self.names(tasks)
                ),
            ),
            SimError::Stuck { time, active } => Error::new(
                ErrorKind::Stopped,
                format!(
                    "{at}, at {} ({time}) rates were asked for more than 1000000 times without the clock moving; \
                     active: {}",
                    instant(*time),
                    self.names(active)
                ),
            ),
            SimError::Halted => Error::new(ErrorKind::Stopped, format!("{at}, {error}")),
        }
    }

    fn wrong_answer(&self, error: &AnswerError) -> String {
        let name = |task: &TaskId| self.scenario.task_name(*task).into_owned();
        let asks = "; the arbiter is wrong, report it to its author";
        match error {
            AnswerError::Failed { time, error } => format!("at {} ({time}) it failed: {error}", instant(*time)),
            AnswerError::NotARate { time, task, rate } => format!(
                "at {} ({time}) transfer `{}` was given the rate {rate} B/s: rates must be finite and at least 0{asks}",
                instant(*time),
                name(task)
            ),
            AnswerError::OverLimit { time, task, rate, limit } => format!(
                "at {} ({time}) transfer `{}` was given {rate} B/s, above its limit of {limit} B/s{asks}",
                instant(*time),
                name(task)
            ),
            AnswerError::OverCapacity { time, link, task, load, bandwidth } => format!(
                "at {} ({time}) link {} was given {load} B/s, above its bandwidth of {bandwidth} B/s, with transfer \
                 `{}` on it{asks}",
                instant(*time),
                self.link(*link),
                name(task)
            ),
        }
    }

    fn link(&self, link: LinkId) -> String {
        let link = self.scenario.fabric.link(link);
        format!("{} → {}", self.scenario.node_name(link.from), self.scenario.node_name(link.to))
    }

    fn names(&self, tasks: &[TaskId]) -> String {
        let names: Vec<_> = tasks.iter().take(NAMED).map(|&t| self.scenario.task_name(t)).collect();
        let more = if tasks.len() > NAMED { format!(" and {} more", tasks.len() - NAMED) } else { String::new() };
        format!("{}{more} ({} in all)", names.join(", "), tasks.len())
    }
}
