//! Steps 1 to 4 of [`super`]: rounds in which the rates of transfers are fixed, the lowest first.

use std::ops::Range;

use weir_plugin_api::{Binding, CallError, Cause, LinkId, PhaseView, SimTime};

use super::division::Division;
use super::part::Part;
use crate::disjoint_sets::DisjointSets;

/// Offers this close to the lowest are fixed with it, relative to it (step 2).
const TOGETHER: f64 = 1e-9;
/// What an offer may differ from a fixed rate before that is fixed anew, relative to it (step 3).
const SAME: f64 = 1e-6;
/// By so much of itself a total is larger than another one: both answers may fill the same links, and then rounding must not
/// decide (*assumed*, as in step 2).
const LARGER: f64 = 1e-9;

/// A segment of a transfer: its region, and its place among the segments there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) region: u32,
    pub(super) place: u32,
}

/// A transfer of the phase.
#[derive(Clone, Copy, Debug)]
struct Rated {
    limit: f64,
    /// What its rate is divided by before it is compared with others.
    weight: f64,
    /// One past its last segment.
    end: u32,
    /// What its rate was fixed at.
    rate: f64,
    /// The segment whose offer that was, and what held it back there.
    holder: u32,
    binding: Binding,
}

/// The transfers of a phase, and whose rates are fixed.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    transfers: Vec<Rated>,
    segments: Vec<Place>,
    /// Transfers that cross several regions.
    crossing: Vec<u32>,
    /// Those whose rates are not fixed.
    open: Vec<u32>,
    /// Transfers that share links, directly or through others.
    sets: DisjointSets,
    /// Per place ([`Self::meet`]): a transfer of this phase there, if the mark is that of the phase.
    at_place: Vec<(u32, u32)>,
    mark: u32,
    /// Per set, at its first transfer: the lowest open offer for its weight.
    lowest: Vec<f64>,
    /// Per segment its demand in the first answer, and the transfers of that.
    first: (Vec<f64>, Vec<Rated>),
}

impl Rounds {
    pub(super) fn clear(&mut self) {
        self.transfers.clear();
        self.segments.clear();
        self.crossing.clear();
        self.sets.clear();
    }

    pub(super) fn add_segment(&mut self, segment: Place) {
        self.segments.push(segment);
    }

    /// Ends the segments of a transfer, whose rate is lowest where it is lowest for this weight.
    pub(super) fn add_transfer(&mut self, limit: f64, weight: f64) {
        let (holder, end) = (self.transfers.last().map_or(0, |last| last.end), self.segments.len() as u32);
        if end - holder > 1 {
            self.crossing.push(self.transfers.len() as u32);
        }
        self.transfers.push(Rated { limit, weight, end, rate: f64::NAN, holder, binding: Binding::NONE });
        self.sets.add();
    }

    /// Fixes the rates of all transfers of a phase.
    pub(super) fn run(
        &mut self,
        phase: &PhaseView<'_>,
        parts: &mut [Part],
        used: &[u32],
        division: &Division,
    ) -> Result<(), CallError> {
        ask(parts, used, phase.now)?;
        if self.crossing.is_empty() {
            return Ok(());
        }
        self.connect(phase, division);
        self.open.clone_from(&self.crossing);
        self.fix_lowest(phase.now, parts, used)?;
        self.find_wrong(parts);
        if self.open.is_empty() {
            return self.let_one_go(phase.now, parts, used);
        }
        let before = self.totals(parts);
        let (demands, transfers) = &mut self.first;
        demands.clear();
        demands.extend(self.segments.iter().map(|s| parts[s.region as usize].demanded(s.place)));
        transfers.clone_from(&self.transfers);
        for at in 0..self.open.len() {
            let transfer = self.open[at] as usize;
            self.demand(transfer, parts, |_| true, self.transfers[transfer].limit);
        }
        ask(parts, used, phase.now)?;
        self.fix_lowest(phase.now, parts, used)?;
        self.keep_better(&before, parts);
        ask(parts, used, phase.now)?;
        self.unblock(phase.now, parts, used)?;
        self.let_one_go(phase.now, parts, used)
    }

    /// The segment that holds a transfer back, and what does so there. Where it has no more than its demand anywhere, since
    /// what held it back is gone but nothing is gained by giving it more, that is what it was when its rate was fixed.
    pub(super) fn holder(&self, transfer: usize, parts: &[Part]) -> (Place, Binding) {
        let Rated { limit, holder, binding, .. } = self.transfers[transfer];
        let now = self.lowest_segment(transfer, parts);
        let part = &parts[now.region as usize];
        match part.binding(now.place) {
            own if own.cause() == Cause::OwnLimit && part.demanded(now.place) < limit && binding != Binding::NONE => {
                (self.segments[holder as usize], binding)
            }
            binding => (now, binding),
        }
    }

    /// The segment with the least offer to a transfer: that which its rate was fixed by, if it is as low.
    fn lowest_segment(&self, transfer: usize, parts: &[Part]) -> Place {
        let offer = |at: usize| parts[self.segments[at].region as usize].offer(self.segments[at].place);
        let holder = self.transfers[transfer].holder as usize;
        let least = self.least(transfer, parts);
        let lower = |at: &usize| offer(*at) <= least;
        let at = if offer(holder) <= least * (1.0 + TOGETHER) { Some(holder) } else { self.row(transfer).find(lower) };
        self.segments[at.unwrap_or(holder)]
    }

    /// The least offer to a transfer: its rate.
    pub(super) fn least(&self, transfer: usize, parts: &[Part]) -> f64 {
        let row = &self.segments[self.row(transfer)];
        // Parts of a limit add up to it but for rounding.
        let limit = self.transfers[transfer].limit;
        row.iter().fold(limit, |least, s| least.min(parts[s.region as usize].offer(s.place)))
    }

    /// The segments of a transfer, along its route.
    pub(super) fn segments(&self, transfer: usize) -> &[Place] {
        &self.segments[self.row(transfer)]
    }

    fn row(&self, transfer: usize) -> Range<usize> {
        let start = transfer.checked_sub(1).map_or(0, |before| self.transfers[before].end);
        start as usize..self.transfers[transfer].end as usize
    }

    /// Joins the transfers that share links.
    fn connect(&mut self, phase: &PhaseView<'_>, division: &Division) {
        self.mark = self.mark.wrapping_add(1);
        if self.mark == 0 {
            (self.mark, self.at_place) = (1, Vec::new());
        }
        for position in 0..phase.len() {
            for &LinkId(link) in phase.route(position) {
                self.meet(2 * link as usize, position as u32);
            }
            for at in self.row(position) {
                let region = self.segments[at].region;
                if !division.is_real(region) {
                    self.meet(2 * region as usize + 1, position as u32);
                }
            }
        }
    }

    /// Joins a transfer with the others that meet at a place: even for links, odd for what links share.
    fn meet(&mut self, place: usize, transfer: u32) {
        if self.at_place.len() <= place {
            self.at_place.resize(place + 1, (0, 0));
        }
        let (mark, other) = &mut self.at_place[place];
        if *mark == self.mark {
            self.sets.join(*other, transfer);
        }
        (*mark, *other) = (self.mark, transfer);
    }

    /// Step 2, for the open transfers.
    fn fix_lowest(&mut self, now: SimTime, parts: &mut [Part], used: &[u32]) -> Result<(), CallError> {
        let mut open = std::mem::take(&mut self.open);
        while !open.is_empty() {
            self.lowest.clear();
            self.lowest.resize(self.transfers.len(), f64::INFINITY);
            for &transfer in &open {
                let rate = self.least(transfer as usize, parts);
                self.transfers[transfer as usize].rate = rate;
                let lowest = &mut self.lowest[self.sets.root(transfer) as usize];
                *lowest = lowest.min(rate / self.transfers[transfer as usize].weight);
            }
            open.retain(|&transfer| {
                let Rated { rate, weight, .. } = self.transfers[transfer as usize];
                let waits = rate / weight > self.lowest[self.sets.root(transfer) as usize] * (1.0 + TOGETHER);
                if !waits {
                    self.fix(transfer as usize, rate, parts);
                }
                waits
            });
            ask(parts, used, now)?;
        }
        self.open = open;
        Ok(())
    }

    /// Fixes the rate of a transfer: elsewhere than in the region that holds it back, its demand becomes its rate.
    fn fix(&mut self, transfer: usize, rate: f64, parts: &mut [Part]) {
        let segments = &self.segments;
        // Of equal offers the first along the route, whatever rounding says.
        let most = rate * (1.0 + TOGETHER);
        let offers = |&at: &usize| parts[segments[at].region as usize].offer(segments[at].place) <= most;
        let holder = self.row(transfer).find(offers).unwrap_or(self.transfers[transfer].holder as usize);
        let Place { region, place } = segments[holder];
        let rated = &mut self.transfers[transfer];
        (rated.holder, rated.binding) = (holder as u32, parts[region as usize].binding(place));
        self.demand(transfer, parts, |at| at != holder, rate);
    }

    /// Gives the segments of a transfer that `which` picks another demand.
    fn demand(&self, transfer: usize, parts: &mut [Part], which: impl Fn(usize) -> bool, demand: f64) {
        for at in self.row(transfer).filter(|&at| which(at)) {
            let Place { region, place } = self.segments[at];
            parts[region as usize].demand(place, demand);
        }
    }

    /// Step 3: opens the transfers that are offered more than they have, or less than their rates were fixed at.
    fn find_wrong(&mut self, parts: &[Part]) {
        let mut open = std::mem::take(&mut self.open);
        open.extend(self.crossing.iter().copied().filter(|&transfer| {
            let Rated { rate, holder, .. } = self.transfers[transfer as usize];
            let Place { region, place } = self.segments[holder as usize];
            let more = parts[region as usize].offer(place) > rate * (1.0 + SAME);
            more || self.least(transfer as usize, parts) < rate * (1.0 - SAME)
        }));
        self.open = open;
    }

    /// The sum of all rates per set, at its first transfer.
    fn totals(&mut self, parts: &[Part]) -> Vec<f64> {
        let mut totals = vec![0.0; self.transfers.len()];
        for transfer in 0..self.transfers.len() {
            totals[self.sets.root(transfer as u32) as usize] += self.least(transfer, parts);
        }
        totals
    }

    /// Whether a transfer at 0 waits for another one at 0, and so on in a circle.
    fn waits_in_a_circle(&self, transfer: usize, parts: &[Part]) -> bool {
        let waits_for = |&of: &usize| {
            let (Place { region, .. }, binding) = self.holder(of, parts);
            let by = parts[region as usize].position(binding.by) as usize;
            (by != of && by < self.transfers.len() && self.least(by, parts) <= 0.0).then_some(by)
        };
        std::iter::successors(Some(transfer), waits_for).nth(self.transfers.len()).is_some()
    }

    /// Step 4: where transfers hold each other at 0, all of a set or some in a circle, fixes the first of them anew that then
    /// moves, alone.
    fn unblock(&mut self, now: SimTime, parts: &mut [Part], used: &[u32]) -> Result<(), CallError> {
        let mut totals = Vec::new();
        for at in 0..self.crossing.len() {
            let transfer = self.crossing[at] as usize;
            if self.least(transfer, parts) > 0.0 {
                continue;
            }
            if totals.is_empty() {
                totals = self.totals(parts);
            }
            let set = self.sets.root(transfer as u32) as usize;
            if totals[set] > 0.0 && !self.waits_in_a_circle(transfer, parts) {
                continue;
            }
            let (before, row) = (self.transfers[transfer], self.row(transfer));
            let demanded = |at: usize| parts[self.segments[at].region as usize].demanded(self.segments[at].place);
            let demands: Vec<f64> = row.clone().map(demanded).collect();
            self.demand(transfer, parts, |_| true, before.limit);
            ask(parts, used, now)?;
            self.open.clear();
            self.open.push(transfer as u32);
            self.fix_lowest(now, parts, used)?;
            let then = self.totals(parts);
            // It moves, or waits for somebody who does.
            let moves = self.least(transfer, parts) > then[set] * LARGER;
            if moves || (totals[set] > 0.0 && then[set] * (1.0 + LARGER) >= totals[set]) {
                totals = then;
                continue;
            }
            self.transfers[transfer] = before;
            for (at, demand) in row.zip(demands) {
                parts[self.segments[at].region as usize].demand(self.segments[at].place, demand);
            }
            ask(parts, used, now)?;
        }
        Ok(())
    }

    /// Where all of a set still stand, the first that moves while the others ask for nothing has its links for itself: those that hold
    /// each other would stand for ever.
    fn let_one_go(&mut self, now: SimTime, parts: &mut [Part], used: &[u32]) -> Result<(), CallError> {
        if self.crossing.iter().all(|&transfer| self.least(transfer as usize, parts) > 0.0) {
            return Ok(());
        }
        let mut totals = self.totals(parts);
        for at in 0..self.crossing.len() {
            let transfer = self.crossing[at];
            let set = self.sets.root(transfer);
            if totals[set as usize] > 0.0 {
                continue;
            }
            for other in (0..self.crossing.len()).map(|at| self.crossing[at]) {
                if self.sets.root(other) == set {
                    let demand = if other == transfer { self.transfers[other as usize].limit } else { 0.0 };
                    self.demand(other as usize, parts, |_| true, demand);
                }
            }
            ask(parts, used, now)?;
            self.open.clear();
            self.open.push(transfer);
            self.fix_lowest(now, parts, used)?;
            totals = self.totals(parts);
        }
        Ok(())
    }

    /// Brings back the first demands of the sets whose total is no larger now.
    fn keep_better(&mut self, before: &[f64], parts: &mut [Part]) {
        let now = self.totals(parts);
        for transfer in 0..self.transfers.len() {
            let set = self.sets.root(transfer as u32) as usize;
            if now[set] <= before[set] * (1.0 + LARGER) {
                self.transfers[transfer] = self.first.1[transfer];
                for at in self.row(transfer) {
                    let Place { region, place } = self.segments[at];
                    parts[region as usize].demand(place, self.first.0[at]);
                }
            }
        }
    }
}

/// Asks the regions whose demands have changed.
fn ask(parts: &mut [Part], used: &[u32], now: SimTime) -> Result<(), CallError> {
    used.iter().try_for_each(|&region| parts[region as usize].ask(now))
}
