//! Step 4: how long heads wait for links, by mean values; and the rounds of filling and waiting.

use super::filling::Filling;
use super::layout::{Layout, Link, Stream};
use super::queues::{Pair, Use};
use super::{ROUNDING, SAME};

/// Rounds after which the last rates are taken (the specification of this policy).
pub(super) const ROUNDS: u32 = 1000;

/// Steps of Newton's method (*assumed*: it ends after as many as there are inputs at a link, mostly after three).
const NEWTON: u32 = 64;

/// Sums over the inputs of a link m.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    /// T, the sum of all n_lm, as far as it is known.
    present: f64,
    /// Σ u_lm / 2.
    served: f64,
    /// Σ of the n_lm that T gives, and how fast it grows with T.
    sum: f64,
    slope: f64,
}

/// The resources of a set, and the times at the heads of its queues.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// l → m, by l.
    pub(super) pairs: Vec<Pair>,
    /// Per pair R_lm, in s/B; and 1, of which links have their factors.
    pub(super) times: Vec<f64>,
    /// Links, and after them queues.
    pub(super) resources: u32,
    /// Who uses resource r: `uses[starts[r]..starts[r + 1]]`.
    pub(super) uses: Vec<Use>,
    pub(super) starts: Vec<u32>,
    /// The resources of stream s: `on[of_stream[s]..of_stream[s + 1]]`.
    pub(super) on: Vec<u32>,
    pub(super) of_stream: Vec<u32>,
    /// Per stream: the last resource listed, while that is done.
    pub(super) last: Vec<u32>,
    /// Per resource what links fill by, for each unit of the level, and how many streams are on it.
    pub(super) slopes: Vec<(f64, u32)>,
    /// Per pair what passes for each unit of the level.
    pub(super) through: Vec<f64>,
    /// Limits of streams by the level at which they are reached.
    pub(super) limits: Vec<(f64, u32)>,
    pub(super) filling: Filling,
    /// (l, m, stream, flow) of all hops but the last ones.
    pub(super) passes: Vec<(u32, u32, u32, u32)>,
    /// Per link m: what a head of a further input would wait for, in transfers.
    waits: Vec<f64>,
    /// Per source: x_s.
    rates: Vec<f64>,
    /// Rates of the streams and times, while others are tried.
    before: Vec<f64>,
    times_before: Vec<f64>,
    totals: Vec<Total>,
}

impl Network {
    /// Fills and waits until no rate moves, now or later. Returns whether that was reached.
    pub(super) fn solve(&mut self, layout: &mut Layout) -> bool {
        self.times.clear();
        self.times.extend(self.pairs.iter().map(|pair| pair.service));
        self.times.push(1.0);
        self.rates.clear();
        let stands = (0..ROUNDS).any(|round| {
            if round > 0 {
                self.wait(layout);
            }
            self.fill(layout);
            self.take(layout) && self.stays(layout)
        });
        self.measure(layout);
        stands
    }

    /// Whether the rates stay where they are with the times that they lead to in the end, which become those of now. Rates may
    /// stand for some rounds while a queue is about to be busy all the time.
    fn stays(&mut self, layout: &mut Layout) -> bool {
        let mut before = std::mem::take(&mut self.before);
        let mut times = std::mem::take(&mut self.times_before);
        before.clear();
        before.extend(layout.streams.iter().map(|stream| stream.rate));
        times.clone_from(&self.times);
        self.settle(layout);
        self.fill(layout);
        let moved = |(stream, &rate): (&Stream, &f64)| (stream.rate - rate).abs() > SAME * rate;
        let stays = !layout.streams.iter().zip(&before).any(moved);
        if !stays {
            layout.streams.iter_mut().zip(&before).for_each(|(stream, &rate)| stream.rate = rate);
            self.times.clone_from(&times);
        }
        (self.before, self.times_before) = (before, times);
        stays
    }

    /// The times to which step 4 leads with the rates of now. For each m, with s = 1 / B_m, a_l = f_lm · s / (1 + f_lm · s) and
    /// c_l = Σ u_km / 2 over the others, n_lm = min(1, a_l · (1 + T − c_l)) where T = Σ n_lm: the root of a concave function,
    /// found from above by Newton's method.
    fn settle(&mut self, layout: &Layout) {
        self.measure(layout);
        self.totals.clear();
        self.totals.resize(layout.links.len(), Total::default());
        for pair in &self.pairs {
            let total = &mut self.totals[pair.to as usize];
            total.present += 1.0;
            total.served += 0.5 * (pair.flow * pair.service).min(1.0);
        }
        for _ in 0..NEWTON {
            self.totals.iter_mut().for_each(|total| (total.sum, total.slope) = (0.0, 0.0));
            for pair in &mut self.pairs {
                let total = &mut self.totals[pair.to as usize];
                let (load, served) = (pair.flow * pair.service, total.served);
                let (part, others) = (load / (1.0 + load), served - 0.5 * load.min(1.0));
                pair.present = part * (1.0 + total.present - others);
                if pair.present < 1.0 {
                    total.slope += part;
                }
                pair.present = pair.present.min(1.0);
                total.sum += pair.present;
            }
            let mut moved = false;
            for total in &mut self.totals {
                let next = total.present + (total.sum - total.present) / (1.0 - total.slope);
                moved |= (next - total.present).abs() > ROUNDING * total.present;
                total.present = if next.is_finite() { next } else { total.present };
            }
            if !moved {
                break;
            }
        }
        for (pair, time) in self.pairs.iter().zip(&mut self.times) {
            let Total { present, served, .. } = self.totals[pair.to as usize];
            let others = present - pair.present - (served - 0.5 * (pair.flow * pair.service).min(1.0));
            *time = pair.service * (1.0 + others.max(0.0));
        }
    }

    /// Moves the rates of the sources half way to those of the filling, in the first round all of it. Returns whether none has
    /// moved.
    fn take(&mut self, layout: &Layout) -> bool {
        let is_first = self.rates.is_empty();
        let mut stands = !is_first;
        for (index, source) in layout.sources.iter().enumerate() {
            let streams = &layout.streams[source.start as usize..source.end as usize];
            let filled: f64 = streams.iter().map(|stream| stream.count * stream.rate).sum();
            if is_first {
                self.rates.push(filled);
                continue;
            }
            let before = self.rates[index];
            let rate = 0.5 * (before + filled);
            stands &= (rate - before).abs() <= SAME * before;
            self.rates[index] = rate;
        }
        stands
    }

    /// Moves the times at heads half way to what the rates make them.
    fn wait(&mut self, layout: &Layout) {
        self.waits.clear();
        self.waits.resize(layout.links.len(), 0.0);
        self.measure(layout);
        for pair in &mut self.pairs {
            pair.wait = pair.present - 0.5 * (pair.flow * pair.service).min(1.0);
            self.waits[pair.to as usize] += pair.wait;
        }
        for (pair, time) in self.pairs.iter().zip(&mut self.times) {
            let others = (self.waits[pair.to as usize] - pair.wait).max(0.0);
            *time = 0.5 * (*time + pair.service * (1.0 + others));
        }
    }

    /// What passes each queue, and how many are at its head.
    pub(super) fn measure(&mut self, layout: &Layout) {
        for pair in &mut self.pairs {
            pair.flow = 0.0;
        }
        // Those of queues come behind those of links, pair by pair.
        for used in &self.uses[self.starts[layout.links.len()] as usize..] {
            self.pairs[used.pair as usize].flow += used.factor * layout.streams[used.stream as usize].rate;
        }
        for (pair, time) in self.pairs.iter_mut().zip(&self.times) {
            pair.present = (pair.flow * time).min(1.0);
        }
    }

    /// The link of a resource; `None` for a queue.
    pub(super) fn link<'l>(&self, layout: &'l Layout, resource: u32) -> Option<&'l Link> {
        layout.links.get(resource as usize)
    }

    /// The pairs of a queue.
    pub(super) fn pairs_of(&self, queue: u32) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(move |pair| pair.queue == queue)
    }
}
