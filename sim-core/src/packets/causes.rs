//! Why a transfer of a run of packets took as long as it did.

use weir_packets::HeldCause;
use weir_plugin_api::{Binding, Cause, LinkId, SimDuration, SimTime};

use super::Packets;
use crate::outcome::Bottleneck;
use crate::setup::Simulation;
use crate::tasks::{TaskId, Work};

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
        let held = self.engine.held(task.0);
        let longest = held.first().copied().into_iter().chain(self.engine.queued(task.0)).max_by_key(|held| held.time);
        let (narrowest, is_reduced) = self.narrowest(now, task);
        let reduced = Binding::new(narrowest, Cause::LinkReduced, u32::MAX);
        let (binding, time) = match longest {
            None if is_reduced => (reduced, SimDuration::ZERO),
            None => (Binding::new(narrowest, Cause::FullRate, u32::MAX), SimDuration::ZERO),
            // Buffers before a slow link are full of its packets.
            Some(own) if is_reduced && own.cause == HeldCause::Credit && own.link == narrowest.0 => {
                (reduced, SimDuration(own.time))
            }
            Some(longest) => {
                let cause = cause_of(longest.cause);
                let link = if cause == Cause::OwnLimit { LinkId::NONE } else { LinkId(longest.link) };
                (Binding::new(link, cause, longest.by.unwrap_or(u32::MAX)), SimDuration(longest.time))
            }
        };
        Bottleneck { binding, time, blocked: SimDuration::ZERO }
    }

    /// The link of a transfer's route that was the narrowest one for the longest time until `now`, and whether it carried less
    /// then than it was built for.
    fn narrowest(&self, now: SimTime, task: TaskId) -> (LinkId, bool) {
        let Simulation { fabric, routes, tasks } = self.simulation;
        let Work::Carries { class, .. } = tasks.tasks()[task.index()].work else { return (LinkId::NONE, false) };
        let mut links: Vec<(LinkId, f64)> =
            routes.links(tasks.classes.route(class)).iter().map(|&link| (link, fabric.link(link).bandwidth)).collect();
        let least = |links: &[(LinkId, f64)]| {
            let least = links.iter().min_by(|a, b| a.1.total_cmp(&b.1)).copied();
            least.map_or((LinkId::NONE, false), |(link, carries)| (link, carries < fabric.link(link).bandwidth))
        };
        let mut since = self.engine.start(task.0).map_or(now, SimTime);
        let mut times: Vec<((LinkId, bool), SimDuration)> = Vec::new();
        let mut add = |which: (LinkId, bool), time: SimDuration| match times.iter_mut().find(|own| own.0 == which) {
            Some(own) => own.1 = own.1.plus(time),
            None => times.push((which, time)),
        };
        for step in self.changes.iter().flat_map(|changes| changes.log()).take_while(|step| step.time < now) {
            let Some(own) = links.iter().position(|of| of.0 == step.link) else { continue };
            if step.time > since {
                add(least(&links), step.time - since);
                since = step.time;
            }
            links[own].1 = step.bandwidth;
        }
        add(least(&links), now - since);
        // The first of those with equal times.
        times.into_iter().rev().max_by_key(|own| own.1).map_or((LinkId::NONE, false), |own| own.0)
    }
}
