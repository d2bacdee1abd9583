//! Step 3: the rates of all sources rise together for their weights, until a link or the head of a queue is busy all the time.

use super::ROUNDING;
use super::layout::Layout;
use super::waiting::Network;
use crate::common::groups::NONE;

/// What is left of a resource's slope, of what it was, below which the sum is made anew (*assumed*: differences have lost half
/// of their digits there).
const WORN: f64 = 1e-8;

/// A link or the head of a queue, while the network fills.
#[derive(Clone, Copy, Debug)]
struct Resource {
    /// The level at which it is full if all of its open streams stay open; infinite where there are none.
    full: f64,
    /// The part that is taken by fixed streams.
    taken: f64,
    /// What the open streams take more for each unit of the level.
    slope: f64,
    /// The same at the beginning.
    first: f64,
    /// How many streams are open.
    open: u32,
}

impl Resource {
    fn find_full(&mut self) {
        if self.slope > 0.0 {
            let full = (1.0 - self.taken) / self.slope;
            // Rounding may have left less than nothing.
            self.full = if full > 0.0 { full } else { 0.0 };
        } else {
            self.full = f64::INFINITY;
        }
    }
}

/// How far the filling is.
#[derive(Debug, Default)]
pub(super) struct Filling {
    resources: Vec<Resource>,
    /// Per entry of [`Network::on`]: the part of the resource that each B/s of the stream takes.
    parts: Vec<f64>,
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
        let Self { filling, slopes, pairs, through, times, on, uses, .. } = self;
        let empty =
            |&(slope, open): &(f64, u32)| Resource { full: f64::INFINITY, taken: 0.0, slope, first: slope, open };
        filling.resources.clear();
        filling.resources.extend(slopes.iter().map(empty));
        for ((pair, through), time) in pairs.iter().zip(&*through).zip(&*times) {
            filling.resources[pair.queue as usize].first += through * time;
        }
        for resource in &mut filling.resources {
            resource.slope = resource.first;
            resource.find_full();
        }
        filling.parts.clear();
        filling.parts.resize(on.len(), 0.0);
        for used in &*uses {
            filling.parts[used.on as usize] += used.factor * times[used.pair as usize];
        }
        filling.fixed.clear();
        filling.fixed.resize(layout.streams.len(), false);
        filling.by.clear();
        filling.by.resize(layout.sources.len(), NONE);
    }

    /// The level at which a resource is full first, and the resource; a link before a queue that is full no sooner.
    fn first_full(&self, links: usize) -> (f64, u32) {
        let (mut best, mut sooner) = ((f64::INFINITY, NONE), f64::INFINITY);
        let mut look = |resources: &[Resource], first: usize, margin: f64| {
            sooner *= margin;
            for (resource, index) in resources.iter().zip(first as u32..) {
                if resource.full < sooner {
                    best = (resource.full, index);
                    sooner = resource.full * margin;
                }
            }
        };
        let (links, queues) = self.filling.resources.split_at(links);
        look(links, 0, 1.0);
        look(queues, links.len(), 1.0 - ROUNDING);
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
                let weight = layout.weight(stream as u32);
                layout.streams[stream].rate = (level * weight).min(layout.streams[stream].limit);
            }
        }
    }

    /// Fixes the rate of a stream.
    fn fix(&mut self, layout: &mut Layout, stream: u32, rate: f64) {
        let Self { filling: Filling { resources, parts, fixed, .. }, uses, starts, on, of_stream, times, .. } = self;
        layout.streams[stream as usize].rate = rate;
        fixed[stream as usize] = true;
        let weight = layout.weight(stream);
        let entries = of_stream[stream as usize] as usize..of_stream[stream as usize + 1] as usize;
        for (&index, part) in on[entries.clone()].iter().zip(&parts[entries]) {
            let resource = &mut resources[index as usize];
            resource.open -= 1;
            resource.taken += part * rate;
            let slope = resource.slope - part * weight;
            resource.slope = match slope {
                _ if resource.open == 0 => 0.0,
                _ if slope < WORN * resource.first => {
                    let uses = &uses[starts[index as usize] as usize..starts[index as usize + 1] as usize];
                    let open = uses.iter().filter(|used| !fixed[used.stream as usize]);
                    open.map(|used| used.factor * times[used.pair as usize] * layout.weight(used.stream)).sum()
                }
                slope => slope,
            };
            resource.find_full();
        }
    }
}
