//! Step D: head-of-line blocking, what it frees, and conservation.

use super::{EPS, MaskRates, NONE, bits};

impl<const N: usize> MaskRates<N> {
    pub(super) fn head_of_line(&mut self, out: &mut [f64; N]) {
        let blocked = self.block();
        if blocked == 0 {
            return;
        }
        for s in bits(blocked) {
            out[s] = self.held[s];
        }
        let raised = self.raises(blocked);
        if raised != 0 {
            self.raise_as_far_as_there_is_room(raised, out);
        }
    }

    /// Step D1: throttlers in increasing rate, each once; whoever is lowered takes exactly the rate in hand. The blocked.
    fn block(&mut self) -> u64 {
        self.throttlers.clear();
        let mut throttling = 0;
        for s in bits(self.active) {
            self.held[s] = self.arrived[s];
            let start = self.network.route(&self.network.messages[self.message[s] as usize])[0].link;
            if self.contended[s] != NONE && self.contended[s] > start {
                throttling |= 1 << s;
                // Rates are positive, so bits are in their order.
                self.throttlers.push((self.arrived[s].to_bits(), s));
            }
        }
        self.throttlers.sort_unstable();
        let mut open = self.active;
        for index in 0..self.throttlers.len() {
            let (rate, first) = self.throttlers[index];
            if self.held[first].to_bits() == rate {
                self.throttle(first, throttling, &mut open);
            }
        }
        let mut blocked = 0;
        for s in bits(self.active & !open) {
            if self.held[s] < self.arrived[s] - EPS * self.network.messages[self.message[s] as usize].least {
                blocked |= 1 << s;
            } else {
                self.held[s] = self.arrived[s];
            }
        }
        blocked
    }

    /// Lowers everybody on the links that a transfer throttles to its rate, and so on from those who throttle others.
    /// `open`: the transfers that were not lowered yet; others are at most at this rate.
    fn throttle(&mut self, first: usize, throttling: u64, open: &mut u64) {
        let rate = self.held[first];
        let mut work = 1_u64 << first;
        while work != 0 {
            let s = work.trailing_zeros() as usize;
            work &= work - 1;
            let (mut met, last) = (0, self.contended[s]);
            for hop in self.network.route(&self.network.messages[self.message[s] as usize]) {
                if hop.link >= last {
                    break;
                }
                met |= self.on[hop.link as usize];
            }
            for other in bits(met & *open) {
                if self.held[other] > rate {
                    self.held[other] = rate;
                    *open &= !(1 << other);
                    work |= throttling & 1 << other;
                }
            }
        }
    }

    /// Step D2: what equation (9) adds to unblocked transfers that were cut. Those to whom it adds something.
    fn raises(&mut self, blocked: u64) -> u64 {
        for s in bits(self.active) {
            self.raise[s] = f64::INFINITY;
        }
        let mut cut = 0;
        for &link in &self.over {
            let (on, y) = (self.on[link], &self.y[link]);
            let raised = self.cut[link] & !blocked;
            cut |= raised;
            let freed: f64 = bits(on & blocked).map(|s| y[s] - self.held[s]).sum();
            // Without unblocked transfers nobody is raised here.
            let share = freed / f64::from((on & !blocked).count_ones().max(1));
            for s in bits(raised) {
                self.raise[s] = self.raise[s].min(y[s] + share);
            }
        }
        let mut raised = 0;
        for s in bits(self.active) {
            let raise = if cut >> s & 1 == 1 { (self.raise[s] - self.arrived[s]).max(0.0) } else { 0.0 };
            self.raise[s] = raise;
            raised |= u64::from(raise > 0.0) << s;
        }
        raised
    }

    /// Step D3: raises are scaled down to what the links have left.
    fn raise_as_far_as_there_is_room(&mut self, raised: u64, out: &mut [f64; N]) {
        self.fits.fill(f64::NAN);
        for s in bits(raised) {
            let message = &self.network.messages[self.message[s] as usize];
            let mut fits = 1.0_f64;
            for hop in self.network.route(message) {
                let link = hop.link as usize;
                if self.fits[link].is_nan() {
                    self.fits[link] = self.part_that_fits(link);
                }
                fits = fits.min(self.fits[link]);
            }
            out[s] = (self.held[s] + self.raise[s] * fits).min(message.limit);
        }
    }

    /// The part of all raises that a link has room for.
    fn part_that_fits(&self, link: usize) -> f64 {
        let (mut base, mut raises, capacity) = (0.0, 0.0, self.capacity(link));
        for s in bits(self.on[link]) {
            base += self.held[s];
            raises += self.raise[s];
        }
        let full = raises > EPS * capacity && base + raises > capacity;
        if full { (capacity - base).max(0.0) / raises } else { 1.0 }
    }
}
