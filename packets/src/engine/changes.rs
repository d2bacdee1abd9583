//! Links whose rate changes, or that go down and come up, while packets are on their way.
//!
//! What has begun to cross a link goes on at the rate it began with, and arrives; so do credits and DLLPs that are under way.
//! What begins after the change has the new rate. A link that is down begins nothing, and packets wait for it in their order.
//! *Assumed*: nothing is lost, and a cut-through packet whose tail meets a faster link behind the change does not tear.

use super::{Engine, NONE};
use crate::wire::WireRate;

impl Engine {
    /// From `now` on a link has this rate; `None` while it is down. What it does in this instant follows with [`Self::step`].
    pub fn change_link(&mut self, now: u64, link: u32, rate: Option<WireRate>) {
        // DLLPs pass when a link is looked at: those that began before had the rate of then.
        if let Some(before) = now.checked_sub(1) {
            self.pass_dllps(before, link);
        }
        self.periods.forget();
        self.end_port_phase(now);
        let port = &mut self.ports[link as usize];
        port.end_starved(now);
        port.is_down = rate.is_none();
        if let Some(rate) = rate {
            let own = &mut self.network.links[link as usize];
            own.rate = rate;
            self.ports[link as usize].wire.change(own);
        }
        self.explain_again(now);
        self.mark(link);
    }

    /// Whether a packet waits for a link that is down.
    #[must_use]
    pub fn waits_for(&self, link: u32) -> bool {
        self.ports[link as usize].is_down && self.ports[link as usize].asking > 0
    }

    /// The transfers that have begun and not come, ascending.
    #[must_use]
    pub fn under_way(&self) -> Vec<u32> {
        let on_the_wire = self.notices.iter().filter_map(|(_, event)| match event {
            super::Event::Ended(id) => Some(id),
            _ => None,
        });
        let mut all: Vec<u32> = self.left().into_iter().chain(on_the_wire).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Looks up anew why sources wait: a link may be the reason now, or no more.
    fn explain_again(&mut self, now: u64) {
        let engines = self.sources.iter().flat_map(|source| &source.engines);
        let waiting: Vec<u32> = engines.copied().filter(|&id| id != NONE && self.transfer(id).held.is_open()).collect();
        for id in waiting {
            let out = self.transfer(id).first;
            if self.transfer_mut(id).held.begin_again(now) {
                self.ports[out as usize].explain_later(now, id);
                self.mark(out);
            }
        }
    }
}
