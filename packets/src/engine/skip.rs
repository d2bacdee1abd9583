//! Exact skip-ahead: transfers that have come into a period are moved on by many periods at once.
//!
//! After a packet of a chosen transfer has been sent to its destination, the state relative to now is compared with a saved
//! one, which is saved anew after 16, 32, … such packets (Brent, *An improved Monte Carlo factorization algorithm*, BIT 20,
//! 1980). Equal states are a period. All times then move by n periods, and n times what one period counted is added. No
//! transfer comes to its last packet in that, and nothing from outside is passed. Each set of transfers connected through
//! links is looked at by itself: the periods of others need not fit.
//!
//! Equal states are a period only where arbiters tell all of theirs. So the first period of a set is simulated once more: where
//! grants differ then, an arbiter has left something out.
//!
//! Since when packets wait is no part of the state, but of results. So nothing is moved on before each of these times has moved
//! by the period, or not at all: packets from before the period, which may have waited for longer or shorter, have left then.

use super::stalls::Log;
use super::sums::{Digest, LinkSums};
use super::{Engine, NONE, PacketError, REQUESTS};

/// Steps without a begin or an end of a transfer before sets are looked for: short runs do not pay for them (*assumed*).
const PATIENCE: u64 = 256;
/// Packets of the chosen transfer until the first state is saved anew.
const FIRST: u64 = 16;
/// Whole comparisons with one saved state at most; its hash may be equal by chance.
const COMPARISONS: u32 = 8;

/// Transfers connected through links.
#[derive(Debug)]
pub(super) struct Component {
    pub(super) links: Vec<u32>,
    pub(super) transfers: Vec<u32>,
    /// One packet of it has just been sent over its last link.
    has_delivered: bool,
    saved: Option<Saved>,
    /// Packets of the chosen transfer until a state is saved anew, and how many there will be then.
    left: u64,
    span: u64,
    comparisons: u32,
    repeated: Repeated,
}

impl Component {
    /// Whether its state, of which this is the hash, may be the saved one, and is to be compared with it.
    fn may_be_as_saved(&self, hash: u64) -> bool {
        let is_compared = self.comparisons < COMPARISONS || matches!(self.repeated, Repeated::Once(..));
        is_compared && self.saved.as_ref().is_some_and(|saved| saved.hash == hash)
    }
}

/// Whether a period of a set has been seen twice.
#[derive(Debug)]
enum Repeated {
    NotYet,
    /// A period that ended at the time of the saved state, by what each link granted in it.
    Once(u64, Vec<Digest>),
    Twice,
}

/// A state, and what had been counted.
#[derive(Debug)]
pub(super) struct Saved {
    pub(super) time: u64,
    hash: u64,
    state: Vec<u64>,
    pub(super) links: Vec<LinkSums>,
    /// Since when things lasted that went on.
    moments: Vec<u64>,
    /// Per link, where it is recorded how full buffers are: the area until then.
    pub(super) areas: Vec<[u128; 2]>,
    pub(super) transfers: Vec<(Counted, Log)>,
}

/// What a transfer counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) left: u64,
    pub(super) missing: u64,
    pub(super) granted: u64,
    pub(super) come: u64,
}

/// The sets of connected transfers, once they have been looked for.
#[derive(Debug, Default)]
pub(super) struct Periods {
    is_off: bool,
    /// Steps since a transfer began or ended.
    quiet: u64,
    components: Vec<Component>,
    /// Per transfer that is the chosen one of a set: which.
    chosen: Vec<(u32, u32)>,
    pub(super) skipped: u64,
    /// To when a set was moved on at most.
    pub(super) reached: u64,
}

impl Periods {
    pub(super) fn off() -> Self {
        Self { is_off: true, ..Self::default() }
    }

    /// A transfer began or ended.
    pub(super) fn forget(&mut self) {
        self.quiet = 0;
        self.components.clear();
        self.chosen.clear();
    }

    /// A packet of a transfer is sent over its last link.
    #[inline]
    pub(super) fn delivered(&mut self, transfer: u32) {
        if let Some(&(_, at)) = self.chosen.iter().find(|chosen| chosen.0 == transfer) {
            self.components[at as usize].has_delivered = true;
        }
    }
}

impl Engine {
    /// After a step: skips ahead where a set of transfers has come into a period, short of `until`.
    pub(super) fn look_for_periods(&mut self, now: u64, until: u64) -> Result<(), PacketError> {
        if self.periods.is_off {
            return Ok(());
        }
        self.periods.quiet += 1;
        if self.periods.quiet < PATIENCE.max(4 * self.active as u64) {
            return Ok(());
        }
        if self.periods.components.is_empty() {
            self.find_components();
        }
        for at in 0..self.periods.components.len() {
            if std::mem::take(&mut self.periods.components[at].has_delivered) {
                let mut component = self.periods.components.swap_remove(at);
                self.compare(now, until, &mut component)?;
                self.periods.components.push(component);
                let last = self.periods.components.len() - 1;
                self.periods.components.swap(at, last);
            }
        }
        Ok(())
    }

    fn find_components(&mut self) {
        let with_requests = |id: u32| {
            let is_read = self.transfer(id).read.is_some();
            std::iter::once(id).chain(is_read.then_some(id | REQUESTS))
        };
        let active: Vec<u32> = self.left().into_iter().flat_map(with_requests).collect();
        // By link, and then by node: transfers whose packets meet in one queue depend on each other, too.
        let mut set_of = vec![NONE; self.ports.len() + self.sources.len()];
        let mut sets: Vec<Vec<u32>> = Vec::new();
        for &id in &active {
            let set = sets.len() as u32;
            sets.push(vec![id]);
            // A read and its requests depend on each other, whatever links they share.
            let answers = if id < REQUESTS { &[][..] } else { self.route(id & !REQUESTS) };
            let node = self.ports[self.transfer(id).first as usize].wire.from as usize;
            let queue = self.sources[node].is_queue().then_some(self.ports.len() + node);
            let links = self.route(id).iter().chain(answers).flat_map(|&link| self.with_opposite(link));
            for place in links.map(|link| link as usize).chain(queue) {
                let other = std::mem::replace(&mut set_of[place], set);
                if other != NONE && other != set {
                    let joined = std::mem::take(&mut sets[other as usize]);
                    sets[set as usize].extend(joined);
                    set_of.iter_mut().filter(|of| **of == other).for_each(|of| *of = set);
                }
            }
        }
        for mut transfers in sets.into_iter().filter(|set| !set.is_empty()) {
            transfers.sort_unstable();
            let mut links: Vec<u32> =
                transfers.iter().flat_map(|&id| self.route(id)).flat_map(|&link| self.with_opposite(link)).collect();
            links.sort_unstable();
            links.dedup();
            self.periods.chosen.push((transfers[0], self.periods.components.len() as u32));
            self.periods.components.push(Component {
                links,
                transfers,
                has_delivered: false,
                saved: None,
                left: 0,
                span: FIRST,
                comparisons: 0,
                repeated: Repeated::NotYet,
            });
        }
    }

    /// Compares a set with its saved state, and moves it on, or saves it anew.
    fn compare(&mut self, now: u64, until: u64, component: &mut Component) -> Result<(), PacketError> {
        component.links.iter().for_each(|&link| self.pass_dllps(now, link));
        let hash = self.hash(now, component);
        if component.may_be_as_saved(hash) {
            component.comparisons += 1;
            let state = self.state(now, component)?;
            if let Some(saved) = component.saved.take_if(|saved| state.as_ref() == Some(&saved.state))
                && self.came_back(now, until, component, saved)?
            {
                return Ok(());
            }
        }
        if component.left > 0 {
            component.left -= 1;
            return Ok(());
        }
        let Some(state) = self.state(now, component)? else {
            self.periods.is_off = true;
            return Ok(());
        };
        component.saved = Some(self.saved(now, hash, state, component));
        component.left = component.span;
        component.span = component.span.saturating_mul(2);
        component.comparisons = 0;
        Ok(())
    }

    /// A set is in its saved state again: it is moved on, or the state saved anew. Returns false, with the state kept, where no
    /// period can be skipped.
    fn came_back(
        &mut self,
        now: u64,
        until: u64,
        component: &mut Component,
        saved: Saved,
    ) -> Result<bool, PacketError> {
        let period = now - saved.time;
        let granted = self.granted_since(component, &saved);
        match &component.repeated {
            Repeated::NotYet if period > 0 => {
                component.repeated = Repeated::Once(period, granted);
                // It is compared until it has come back.
                self.save_again(now, component, saved, u64::MAX);
                return Ok(true);
            }
            Repeated::Once(first, before) => {
                let differs = |(before, now): (&Digest, &Digest)| *now != before.later(*first);
                if before.iter().zip(&granted).any(differs) {
                    return Err(PacketError::State { links: component.links.clone() });
                }
                component.repeated = Repeated::Twice;
                component.left = component.span;
            }
            _ => {}
        }
        let Some(moves) = self.moved(component, &saved, period) else {
            self.save_again(now, component, saved, component.left.max(component.span));
            return Ok(true);
        };
        let bound = self.bound(now, until, component);
        let is_moved = self.skip(now, bound, component, &saved, &moves);
        if is_moved {
            component.left = 0;
        } else {
            component.saved = Some(saved);
        }
        Ok(is_moved)
    }

    /// Saves the same state anew, which is kept for so many deliveries at least.
    fn save_again(&mut self, now: u64, component: &mut Component, saved: Saved, left: u64) {
        component.saved = Some(self.saved(now, saved.hash, saved.state, component));
        component.left = left;
        component.comparisons = 0;
    }

    /// Which of the times since when things last have moved by the period since a state was saved; the others have stayed. `None`
    /// where one has done neither, or one that stays was not before all that move: their order would change.
    fn moved(&mut self, component: &Component, saved: &Saved, period: u64) -> Option<Vec<bool>> {
        let (mut before, mut moves) = (saved.moments.iter(), Vec::with_capacity(saved.moments.len()));
        let (mut last_to_stay, mut first_to_move, mut are_steady) = (0, u64::MAX, true);
        self.each_moment(component, |moment| {
            let before = before.next().copied().unwrap_or(u64::MAX);
            let has_moved = before.checked_add(period) == Some(*moment);
            moves.push(has_moved);
            are_steady &= has_moved || before == *moment;
            if has_moved {
                first_to_move = first_to_move.min(before);
            } else if before != u64::MAX {
                last_to_stay = last_to_stay.max(before);
            }
        });
        (are_steady && (last_to_stay < first_to_move || last_to_stay == 0)).then_some(moves)
    }

    /// What each link of a set has granted since a state was saved.
    fn granted_since(&self, component: &Component, saved: &Saved) -> Vec<Digest> {
        let since = |(&link, before): (&u32, &LinkSums)| self.ports[link as usize].sums.digest.since(before.digest);
        component.links.iter().zip(&saved.links).map(since).collect()
    }

    fn saved(&mut self, time: u64, hash: u64, state: Vec<u64>, component: &Component) -> Saved {
        let counted = |&id: &u32| {
            let t = self.transfer(id);
            (Counted { left: t.left, missing: t.missing, granted: t.granted, come: t.come }, t.held.clone())
        };
        let transfers = component.transfers.iter().map(counted).collect();
        let links = component.links.iter().map(|&link| self.ports[link as usize].sums).collect();
        let areas = self.areas(time, component);
        let mut moments = Vec::new();
        self.each_moment(component, |moment| moments.push(*moment));
        Saved { time, hash, state, links, moments, areas, transfers }
    }

    /// A link, and the one that carries DLLPs for its packets.
    fn with_opposite(&self, link: u32) -> impl Iterator<Item = u32> + use<> {
        let over = self.ports[link as usize].wire.dllps_over;
        std::iter::once(link).chain((over != NONE).then_some(over))
    }

    /// How much buffers have held and links carried until now, where that is recorded.
    pub(super) fn areas(&mut self, now: u64, component: &Component) -> Vec<[u128; 2]> {
        let fills = self.fills.as_mut();
        fills.map_or_else(Vec::new, |fills| component.links.iter().map(|&link| fills.count(now, link)).collect())
    }
}
