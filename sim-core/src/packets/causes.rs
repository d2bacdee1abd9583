//! Why a transfer of a run of packets took as long as it did.

use weir_packets::{Held, HeldCause};
use weir_plugin_api::{Binding, Cause, LinkId, SimDuration, SimTime};

use super::Packets;
use crate::outcome::Bottleneck;
use crate::setup::Simulation;
use crate::tasks::TaskId;

/// What holds a source's packets up, as arbiters of rates name it.
#[must_use]
pub fn cause_of(held: HeldCause) -> Cause {
    match held {
        HeldCause::Arbitration => Cause::SharedLink,
        HeldCause::HeadOfLine => Cause::HeadOfLine,
        HeldCause::Credit => Cause::Credit,
        HeldCause::Window => Cause::Window,
        HeldCause::Tags => Cause::Tags,
        HeldCause::Dllp => Cause::Dllp,
        HeldCause::Limit => Cause::OwnLimit,
        HeldCause::Down => Cause::LinkDown,
    }
}

impl Packets<'_> {
    /// What held a transfer back longest until `now`, at its source or on the way of its last packet; else the link that was
    /// the narrowest one of its route for the longest time.
    pub(super) fn bottleneck(&self, now: SimTime, task: TaskId) -> Bottleneck {
        let held = self.engine.held(task.0, now.0);
        let longest = held.first().copied().into_iter().chain(self.engine.queued(task.0)).max_by_key(|held| held.time);
        let (binding, time) = match longest {
            None => (self.unhindered(now, task), SimDuration::ZERO),
            Some(held) => (self.held_by(now, task, held), SimDuration(held.time)),
        };
        Bottleneck { binding, time, blocked: SimDuration::ZERO }
    }

    fn unhindered(&self, now: SimTime, task: TaskId) -> Binding {
        let (link, is_reduced) = self.narrowest(now, task);
        Binding::new(link, if is_reduced { Cause::LinkReduced } else { Cause::FullRate }, u32::MAX)
    }

    fn held_by(&self, now: SimTime, task: TaskId, held: Held) -> Binding {
        // Buffers before a slow link are full of its packets.
        if held.cause == HeldCause::Credit && self.narrowest(now, task) == (LinkId(held.link), true) {
            return Binding::new(LinkId(held.link), Cause::LinkReduced, u32::MAX);
        }
        let cause = cause_of(held.cause);
        let link = if cause == Cause::OwnLimit { LinkId::NONE } else { LinkId(held.link) };
        Binding::new(link, cause, held.by.unwrap_or(u32::MAX))
    }

    /// The link of a transfer's route that was the narrowest one for the longest time until `now`, and whether it carried less
    /// then than it was built for.
    fn narrowest(&self, now: SimTime, task: TaskId) -> (LinkId, bool) {
        let Simulation { fabric, routes, tasks } = self.simulation;
        let Some(&(class, _)) = self.under_way.get(&task.0) else { return (LinkId::NONE, false) };
        let links = routes.links(tasks.classes.route(class));
        let steps = |link| self.changes.as_ref().map_or(&[][..], |changes| changes.steps_of(link));
        let carries = |link: LinkId, at: SimTime| {
            let before = steps(link).partition_point(|step| step.0 <= at).checked_sub(1);
            before.map_or(fabric.link(link).bandwidth, |before| steps(link)[before].1)
        };
        let least = |at: SimTime| {
            let least = links.iter().map(|&link| (link, carries(link, at))).min_by(|a, b| a.1.total_cmp(&b.1));
            least.map_or((LinkId::NONE, false), |(link, carried)| (link, carried < fabric.link(link).bandwidth))
        };
        let start = self.engine.start(task.0).map_or(now, SimTime);
        let changes = links.iter().flat_map(|&link| steps(link)).map(|step| step.0);
        let mut moments: Vec<SimTime> =
            changes.filter(|time| (start..now).contains(time)).chain([start, now]).collect();
        moments.sort_unstable();
        let mut times: Vec<((LinkId, bool), SimDuration)> = Vec::new();
        for span in moments.windows(2) {
            let (which, time) = (least(span[0]), span[1] - span[0]);
            match times.iter_mut().find(|own| own.0 == which) {
                Some(own) => own.1 = own.1.plus(time),
                None => times.push((which, time)),
            }
        }
        // The first of those with equal times.
        times.into_iter().rev().max_by_key(|own| own.1).map_or((LinkId::NONE, false), |own| own.0)
    }
}
