//! The state of a set of connected transfers: what later grants depend on, times relative to now.

use weir_plugin_api::LinkId;

use super::choices::failed;
use super::events::Event;
use super::skip::Component;
use super::{Engine, NONE, PacketError};

impl Engine {
    /// A few words of the state, fast.
    pub(super) fn hash(&self, now: u64, component: &Component) -> u64 {
        let mut hash = 0_u64;
        for &link in &component.links {
            let port = &self.ports[link as usize];
            let words = [port.free_at.saturating_sub(now), self.asking[self.mask(link).start], port.inside];
            for word in words {
                hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
            }
        }
        hash
    }

    /// All that what follows depends on, times relative to now; `None` where an arbiter does not tell. For whom packets wait on
    /// their way (`queued.rs`) is no part of it: no grant depends on it, and after one period it is what it is after many. Since
    /// when something lasts is none either ([`Self::each_moment`]).
    pub(super) fn state(&mut self, now: u64, component: &Component) -> Result<Option<Vec<u64>>, PacketError> {
        let mut state = Vec::new();
        for &link in &component.links {
            if !self.state_of_link(now, link, &mut state)? {
                return Ok(None);
            }
        }
        for &id in &component.transfers {
            self.state_of_transfer(now, id, &mut state);
            let node = self.ports[self.transfer(id).first as usize].wire.from;
            if !self.sources[node as usize].state(&mut state) {
                return Ok(None);
            }
        }
        self.state_of_events(now, component, &mut state);
        Ok(Some(state))
    }

    /// Returns false where its arbiter does not tell its own.
    fn state_of_link(&mut self, now: u64, link: u32, state: &mut Vec<u64>) -> Result<bool, PacketError> {
        let channels = self.network.channels;
        let port = &self.ports[link as usize];
        let wake_at = if port.wake_at == u64::MAX { u64::MAX } else { port.wake_at.saturating_sub(now) };
        state.extend([port.free_at.saturating_sub(now), wake_at, port.inside]);
        state.push(u64::from(port.starved_since != u64::MAX));
        state.extend([u64::from(port.is_starved), u64::from(port.sending), u64::from(port.before)]);
        state.push(u64::from(port.sent_dllp));
        state.extend([port.input.busy_until.saturating_sub(now), u64::from(port.input.accepted)]);
        state.extend(&self.asking[self.mask(link)]);
        self.state_of_dllps(now, link, state);
        for channel in 0..channels {
            self.credits[(link * channels + channel) as usize].state(now, state);
        }
        let (arbiter, before) = (&self.arbiters[self.ports[link as usize].arbiter as usize], state.len());
        if !arbiter.state(LinkId(link), state).map_err(|error| failed(link, error))? {
            return Ok(false);
        }
        // Words of an arbiter are never taken for those of a queue.
        state.push((state.len() - before) as u64);
        self.state_of_queues(now, link, state);
        Ok(true)
    }

    fn state_of_transfer(&self, now: u64, id: u32, state: &mut Vec<u64>) {
        let transfer = self.transfer(id);
        let ready = transfer.ready;
        state.push(if self.reads_age { ready.wrapping_sub(now) } else { ready.saturating_sub(now) });
        if transfer.interval > 0 {
            // How far it is behind its limit decides for how long it may go faster.
            state.push(transfer.due().wrapping_sub(now));
        }
        if transfer.window != u64::MAX {
            state.extend([transfer.granted - transfer.come, transfer.part_come()]);
            state.push(transfer.shut.map_or(u64::MAX, |since| since.saturating_sub(now)));
            if self.reads_age {
                state.push(transfer.opened.wrapping_sub(now));
            }
        }
        if let Some(read) = &transfer.read {
            state.push(transfer.part_come());
            read.state(now, transfer.bytes - transfer.left, state);
        }
        transfer.held.state(now, state);
    }

    fn state_of_queues(&self, now: u64, link: u32, state: &mut Vec<u64>) {
        let (first, end) = self.queues_of(link);
        for queue in first..end {
            let mut at = self.queues[queue as usize].first;
            while at != NONE {
                let packet = &self.packets[at as usize];
                state.extend([u64::from(packet.transfer) << 32 | u64::from(packet.payload), u64::from(packet.place)]);
                state.push(packet.visible.saturating_sub(now));
                if self.reads_age {
                    state.extend([packet.visible.wrapping_sub(now), packet.ready.wrapping_sub(now)]);
                }
                at = packet.next;
            }
            state.push(u64::MAX);
        }
    }

    /// Since when things last that go on: times of a set on which no grant depends. What a period brings about anew has moved by
    /// it at its end; what lasts has stayed.
    pub(super) fn each_moment(&mut self, component: &Component, mut at: impl FnMut(&mut u64)) {
        for &link in &component.links {
            at(&mut self.ports[link as usize].starved_since);
            let (first, end) = self.queues_of(link);
            for queue in first..end {
                let lead = &mut self.leads[queue as usize];
                [&mut lead.since, &mut lead.to_since, &mut lead.by_since].into_iter().for_each(&mut at);
                let mut next = self.queues[queue as usize].first;
                while next != NONE {
                    let packet = &mut self.packets[next as usize];
                    at(&mut packet.visible);
                    at(&mut packet.ready);
                    next = packet.next;
                }
            }
        }
        for &id in &component.transfers {
            let transfer = self.transfer_mut(id);
            at(&mut transfer.ready);
            at(&mut transfer.opened);
            transfer.shut.iter_mut().for_each(&mut at);
            transfer.read.iter_mut().filter_map(|read| read.idle_since()).for_each(&mut at);
            transfer.held.since().into_iter().for_each(&mut at);
        }
    }

    pub(super) fn queues_of(&self, link: u32) -> (u32, u32) {
        let wire = &self.ports[link as usize].wire;
        (wire.first_queue, wire.first_queue + wire.queues * self.network.channels)
    }

    fn state_of_events(&self, now: u64, component: &Component, state: &mut Vec<u64>) {
        let own = self.events.iter().filter(|event| self.is_of(component, event.1));
        let mut own: Vec<(u64, u64)> = own.map(|(time, event)| (time.wrapping_sub(now), event.word())).collect();
        own.sort_unstable();
        state.extend(own.iter().flat_map(|&(time, word)| [time, word]));
    }

    /// Whether an event is one of a set. A wake that was brought forward is none of anybody's.
    pub(super) fn is_of(&self, component: &Component, event: Event) -> bool {
        match event {
            Event::Ready(id) | Event::Come(id) | Event::Sent(id) | Event::Ended(id) => {
                component.transfers.binary_search(&id).is_ok()
            }
            Event::Visible(queue) => {
                let link = self.ports.partition_point(|port| port.wire.first_queue <= queue) as u32 - 1;
                component.links.binary_search(&link).is_ok()
            }
            Event::Wake(link) => component.links.binary_search(&link).is_ok(),
        }
    }
}
