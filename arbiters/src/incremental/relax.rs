//! Relaxation: links are made consistent in the order of their shares, until all are.
//!
//! A link is consistent when its share is the largest with Σ weight · min(share, level elsewhere) ≤ C, and no bundle on
//! it that another link holds back has a higher share. When all links are, the shares are max-min fair, in whatever
//! order that came about. The order bounds the work: a change at a level alters nothing below it.

use std::cmp::Reverse;

use super::state::{Link, Shares, product};
use super::{INF, Level, NONE};
use crate::common::cells::{In, Out};

impl Link {
    /// Whether nothing needs to be done; sometimes false for a link that is consistent.
    #[inline]
    fn is_consistent(&self) -> bool {
        if self.own == 0 {
            return self.share == INF && self.is_calm();
        }
        let is_largest = if self.is_limit { self.share == self.capacity } else { self.is_filled() };
        is_largest && self.hint <= self.share
    }

    /// Whether its share is ⌊(C − A) / own⌋, without a division.
    #[inline]
    fn is_filled(&self) -> bool {
        let rest = i128::from(self.capacity) - self.others - product(self.own, self.share);
        if rest < 0 { self.share == 0 } else { rest < i128::from(self.own) }
    }

    /// Whether a link that holds nobody back need not be looked at, since what others hold back has been as much before.
    /// Limits have no peak.
    #[inline]
    fn is_idle(&self) -> bool {
        self.share == INF && self.others <= i128::from(self.peak)
    }

    /// Whether what others hold back fits.
    #[inline]
    fn is_calm(&self) -> bool {
        if self.is_limit { self.hint <= self.capacity } else { self.others <= i128::from(self.capacity) }
    }

    /// A lower bound of the smaller of its share and of what its share should be.
    #[inline]
    fn key(&self) -> Level {
        let mut bound = 0;
        if !self.is_limit && self.own > 0 {
            bound = self.quotient(self.others, self.own);
        }
        if bound < self.share {
            bound = bound.max(self.equal_share());
        }
        bound.min(self.share).min(INF - 1)
    }
}

impl Shares {
    /// Notes that what is on a link has changed.
    #[inline]
    pub(super) fn notice(&mut self, link: u32) {
        if self.notes_idle || !self.links[link as usize].is_idle() {
            self.touch(link);
        }
    }

    /// Notes that a link must be looked at when all is done.
    #[inline]
    fn mark(&mut self, link: u32) {
        let record = &mut self.links[link as usize];
        record.touches = record.touches.saturating_add(1);
        if !record.is_touched {
            record.is_touched = true;
            self.touched.push(link);
        }
    }

    /// Notes that something about a link has changed.
    pub(super) fn touch(&mut self, link: u32) {
        self.mark(link);
        let record = &mut self.links[link as usize];
        if record.is_consistent() {
            return;
        }
        if record.own == 0 && record.is_calm() {
            // It holds nobody back any more, so nobody else notices.
            (record.share, record.floor) = (INF, INF);
            return;
        }
        let key = record.key();
        if key < record.queued {
            record.queued = key;
            self.queue.push(key, link);
        }
    }

    /// Makes all links consistent.
    pub(super) fn relax(&mut self) {
        while let Some((key, link)) = self.queue.pop() {
            if self.links[link as usize].queued != key {
                continue;
            }
            self.links[link as usize].queued = INF;
            let Link { share, hint, .. } = self.links[link as usize];
            let want = self.want(link);
            if want == share && self.claims.is_empty() {
                continue;
            }
            let better = want.min(share);
            if better > key && self.queue.level().is_some_and(|other| other < better) {
                let record = &mut self.links[link as usize];
                // What it would have claimed is still there.
                (record.queued, record.hint) = (better, hint);
                self.queue.push(better, link);
                continue;
            }
            self.update(link, want);
        }
    }

    /// The share that a link should have; `claims` are the cells that it holds back with it and did not before.
    fn want(&mut self, link: u32) -> Level {
        self.claims.clear();
        let record = &self.links[link as usize];
        if record.is_limit {
            return self.want_of_limit(link);
        }
        let (own, others) = (record.own, record.others);
        if own == 0 && others <= i128::from(record.capacity) {
            return INF;
        }
        let share = if own > 0 { record.quotient(others, own) } else { 0 };
        if own > 0 && record.hint <= share {
            return share;
        }
        self.find_candidates(link, share.max(record.equal_share()));
        self.claim(link, share)
    }

    fn want_of_limit(&mut self, link: u32) -> Level {
        let Link { capacity, own, hint, .. } = self.links[link as usize];
        if hint > capacity {
            self.find_candidates(link, capacity);
            self.links[link as usize].hint = self.links[link as usize].hint.min(capacity);
            self.claims.extend(self.candidates.iter().map(|&(_, _, cell)| cell));
        }
        if own == 0 && self.claims.is_empty() { INF } else { capacity }
    }

    /// The cells on a link with shares above `floor`, highest first; the hint becomes the highest of the others.
    fn find_candidates(&mut self, link: u32, floor: Level) {
        self.candidates.clear();
        let mut rest = 0;
        for &In { by, cell } in &self.cells.of(link).ins {
            let record = &self.links[by as usize];
            let share = record.share;
            if share > floor {
                let weight = self.cells.weight(cell);
                self.candidates.push((share, weight, cell));
            } else {
                rest = rest.max(share);
            }
        }
        self.candidates.sort_unstable_by_key(|&(share, _, index)| (Reverse(share), index));
        self.links[link as usize].hint = rest;
    }

    /// Claims candidates, highest first, while they have more than the share that results.
    fn claim(&mut self, link: u32, mut share: Level) -> Level {
        let record = &mut self.links[link as usize];
        let (mut own, mut others) = (record.own, record.others);
        for &(theirs, weight, cell) in &self.candidates {
            if theirs <= share && own > 0 {
                record.hint = record.hint.max(theirs);
                break;
            }
            own += weight;
            others -= product(weight, theirs);
            share = record.quotient(others, own);
            self.claims.push(cell);
        }
        share
    }

    /// Gives a link a new share, and what it claims.
    fn update(&mut self, link: u32, share: Level) {
        let record = &mut self.links[link as usize];
        record.updates += 1;
        let before = std::mem::replace(&mut record.share, share);
        if share != before {
            self.feed(link, share, before);
        }
        if share == INF {
            self.links[link as usize].floor = INF;
        } else {
            self.lower_floor(link, INF);
        }
        if self.claims.is_empty() && share != INF {
            // It is consistent: its share was what it should be.
            debug_assert!(self.links[link as usize].is_consistent());
            self.mark(link);
            return;
        }
        let claims = std::mem::take(&mut self.claims);
        for &cell in &claims {
            self.claim_cell(cell, link);
        }
        self.claims = claims;
        self.touch(link);
    }

    /// Lets the links that its bundles cross know of a new share.
    fn feed(&mut self, link: u32, share: Level, before: Level) {
        let cells = std::mem::take(&mut self.cells.of_mut(link).outs);
        // Where there are cells both shares are finite, below 2^62.
        let (rise, notes_idle) = (i128::from(share.wrapping_sub(before) as i64), self.notes_idle);
        let links = self.links.as_mut_slice();
        for &Out { on, weight, .. } in &cells {
            let other = &mut links[on as usize];
            other.others += i128::from(weight as i64) * rise;
            other.hint = other.hint.max(share);
            if notes_idle || !other.is_idle() {
                self.stirred.push(on);
            }
        }
        self.cells.of_mut(link).outs = cells;
        while let Some(on) = self.stirred.pop() {
            self.touch(on);
        }
    }

    fn claim_cell(&mut self, cell: u32, link: u32) {
        let mut hop = self.cells.at(cell).head;
        while hop != NONE {
            let next = self.cells.hops[hop as usize].next;
            self.move_bundle(self.cells.hops[hop as usize].member, link);
            hop = next;
        }
    }
}
