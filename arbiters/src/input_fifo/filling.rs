//! Step 3: the rates of all sources rise together for their weights, until a link or the head of a queue is busy all the time.

use super::ROUNDING;
use super::layout::Layout;
use super::waiting::Network;
use crate::common::groups::NONE;

/// What is left of a resource's slope, of what it was, below which the sum is made anew (*assumed*: differences have lost half
/// of their digits there).
const WORN: f64 = 1e-8;

/// How far the filling is.
#[derive(Debug, Default)]
pub(super) struct Filling {
    /// Per resource: the part that is taken by fixed streams.
    taken: Vec<f64>,
    /// Per resource: what the open streams take more for each unit of the level; 0 where there are none.
    slope: Vec<f64>,
    /// The same at the beginning.
    first: Vec<f64>,
    /// Per resource: uses by open streams.
    open: Vec<u32>,
    /// Per stream: whether its rate is fixed.
    fixed: Vec<bool>,
    /// Per source: the resource that fixed it, or [`NONE`] where limits did.
    pub(super) by: Vec<u32>,
}

impl Network {
    /// Fills the network for the present times at heads. The rates are in the streams then.
    pub(super) fn fill(&mut self, layout: &mut Layout) {
        self.begin(layout);
        let (mut left, mut level, mut next) = (layout.streams.len(), 0.0, 0);
        while left > 0 {
            let (full, resource) = self.first_full(layout.links.len());
            match self.limits.get(next) {
                Some(&(at, stream)) if at <= full => {
                    next += 1;
                    if !self.filling.fixed[stream as usize] {
                        left -= 1;
                        level = at.max(level);
                        self.fix(layout, stream, layout.streams[stream as usize].limit);
                    }
                }
                // No resource rises: what is left takes too little to be seen.
                _ if resource == NONE => return self.fix_rest(layout, level),
                _ => {
                    level = full.max(level);
                    left -= self.fix_sources(layout, resource, level);
                }
            }
        }
    }

    fn begin(&mut self, layout: &Layout) {
        let Self { filling, slopes, pairs, through, times, starts, .. } = self;
        filling.taken.clear();
        filling.taken.resize(slopes.len(), 0.0);
        filling.first.clear();
        filling.first.extend(&*slopes);
        for ((pair, through), time) in pairs.iter().zip(&*through).zip(&*times) {
            filling.first[pair.queue as usize] += through * time;
        }
        filling.slope.clone_from(&filling.first);
        filling.open.clear();
        filling.open.extend(starts.windows(2).map(|ends| ends[1] - ends[0]));
        filling.fixed.clear();
        filling.fixed.resize(layout.streams.len(), false);
        filling.by.clear();
        filling.by.resize(layout.sources.len(), NONE);
    }

    /// The level at which a resource is full first, and the resource; a link before a queue that is full no sooner.
    fn first_full(&self, links: usize) -> (f64, u32) {
        let mut best = (f64::INFINITY, NONE);
        for ((taken, slope), index) in self.filling.taken.iter().zip(&self.filling.slope).zip(0..) {
            let sooner = if index < links as u32 { best.0 } else { best.0 * (1.0 - ROUNDING) };
            // Rounding may have left less than nothing.
            let level = ((1.0 - taken) / slope).max(0.0);
            if level < sooner && *slope > 0.0 {
                best = (level, index);
            }
        }
        best
    }

    /// Fixes the sources on a resource at a level; returns how many streams that were open.
    fn fix_sources(&mut self, layout: &mut Layout, resource: u32, level: f64) -> usize {
        let mut count = 0;
        for at in self.starts[resource as usize]..self.starts[resource as usize + 1] {
            let stream = self.uses[at as usize].stream;
            if self.filling.fixed[stream as usize] {
                continue;
            }
            let index = layout.streams[stream as usize].source;
            let source = layout.sources[index as usize];
            self.filling.by[index as usize] = resource;
            for stream in source.start..source.end {
                if !self.filling.fixed[stream as usize] {
                    self.fix(layout, stream, (level * source.weight).min(layout.streams[stream as usize].limit));
                    count += 1;
                }
            }
        }
        count
    }

    fn fix_rest(&mut self, layout: &mut Layout, level: f64) {
        for stream in 0..layout.streams.len() {
            if !self.filling.fixed[stream] {
                let weight = layout.sources[layout.streams[stream].source as usize].weight;
                layout.streams[stream].rate = (level * weight).min(layout.streams[stream].limit);
            }
        }
    }

    /// Fixes the rate of a stream.
    fn fix(&mut self, layout: &mut Layout, stream: u32, rate: f64) {
        let of = &mut layout.streams[stream as usize];
        of.rate = rate;
        let weight = layout.sources[of.source as usize].weight;
        self.filling.fixed[stream as usize] = true;
        for at in self.of_stream[stream as usize]..self.of_stream[stream as usize + 1] {
            let used = self.by_stream[at as usize];
            let (resource, part) = (used.resource as usize, used.factor * self.times[used.pair as usize]);
            self.filling.open[resource] -= 1;
            self.filling.taken[resource] += part * rate;
            let slope = self.filling.slope[resource] - part * weight;
            self.filling.slope[resource] = match slope {
                _ if self.filling.open[resource] == 0 => 0.0,
                _ if slope < WORN * self.filling.first[resource] => self.sum(layout, used.resource),
                slope => slope,
            };
        }
    }

    /// The slope of a resource by its open streams.
    fn sum(&self, layout: &Layout, resource: u32) -> f64 {
        let uses = &self.uses[self.starts[resource as usize] as usize..self.starts[resource as usize + 1] as usize];
        let open = uses.iter().filter(|used| !self.filling.fixed[used.stream as usize]);
        let weight = |stream: u32| layout.sources[layout.streams[stream as usize].source as usize].weight;
        open.map(|used| used.factor * self.times[used.pair as usize] * weight(used.stream)).sum()
    }
}
