//! Why a transfer took as long as it did, as a sentence for a person.

use weir_plugin_api::{Cause, Direction, LinkId};
use weir_sim_core::{Bottleneck, TaskId};

use crate::{Run, Subject};

/// The link that held a transfer back for the largest part of its time, where one is known.
#[must_use]
pub fn bottleneck_link(run: &Run<'_>, task: TaskId) -> Option<LinkId> {
    link_of(run.outcome.bottlenecks.get(task.index())?)
}

/// As [`bottleneck_link`].
pub(crate) fn link_of(held: &Bottleneck) -> Option<LinkId> {
    (!held.binding.link.is_none()).then_some(held.binding.link)
}

/// Why: `head-of-line blocked behind b`. `None` for a task that never had a rate.
#[must_use]
pub fn cause_text(run: &Run<'_>, task: TaskId) -> Option<String> {
    cause_of(run.subject, task, run.outcome.bottlenecks.get(task.index())?)
}

/// As [`cause_text`].
pub(crate) fn cause_of(subject: &dyn Subject, task: TaskId, held: &Bottleneck) -> Option<String> {
    let cause = held.binding.cause();
    if cause == Cause::Unknown && held.binding.link.is_none() {
        return None;
    }
    let by = (held.binding.by != u32::MAX && held.binding.by != task.0).then_some(TaskId(held.binding.by));
    let other = by.map(|by| subject.task_name(by));
    let links = subject.fabric().links();
    let lateral = links.get(held.binding.link.index()).is_some_and(|link| link.direction == Direction::Lateral);
    Some(sentence(cause, lateral, other.as_deref()))
}

/// `lateral`: the link at which it was held lies outside the tree, where nothing is up or down.
pub(crate) fn sentence(cause: Cause, lateral: bool, other: Option<&str>) -> String {
    let named = |before: &str, otherwise: &str| match other {
        Some(other) => format!("{before} {other}"),
        None => otherwise.to_owned(),
    };
    match cause {
        Cause::Unknown => "the most loaded link of its route".to_owned(),
        Cause::FullRate => "full rate of the narrowest link".to_owned(),
        Cause::OwnLimit => "its own limit".to_owned(),
        Cause::SharedLink => named("link shared with", "link shared with others"),
        Cause::Upstream | Cause::Downstream if lateral => {
            named("lateral link shared with", "lateral link shared with others")
        }
        Cause::Upstream => named("upstream port shared with", "upstream port shared with others"),
        Cause::Downstream => named("downstream port shared with", "downstream port shared with others"),
        Cause::RootComplex => named("root complex, shared with", "reduced capacity across the root complex"),
        Cause::HeadOfLine => named("head-of-line blocked behind", "head-of-line blocked"),
        Cause::Waiting => named("waits for", "waits for an earlier transfer"),
        Cause::Priority => match other {
            Some(other) => format!("{other} has a higher priority"),
            None => "others have a higher priority".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_its_own_sentence_with_and_without_a_name() {
        for other in [Some("b"), None] {
            let all: std::collections::BTreeSet<_> = Cause::ALL.iter().map(|&c| sentence(c, false, other)).collect();
            assert_eq!(all.len(), Cause::ALL.len(), "{all:?}");
        }
        assert_eq!(sentence(Cause::HeadOfLine, false, Some("b")), "head-of-line blocked behind b");
        assert_eq!(sentence(Cause::Upstream, false, Some("b")), "upstream port shared with b");
        assert_eq!(sentence(Cause::Upstream, true, Some("b")), "lateral link shared with b");
        assert_eq!(sentence(Cause::SharedLink, true, Some("b")), "link shared with b");
        assert_eq!(sentence(Cause::Priority, false, Some("b")), "b has a higher priority");
    }
}
