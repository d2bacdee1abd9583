//! What can be full: links, and the heads of the queues at their far ends. How much of each a stream takes.

use super::layout::Layout;
use super::waiting::Network;
use crate::common::groups::NONE;

/// The transfers that pass one queue to one link: l → m.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// l and m.
    pub(super) from: u32,
    pub(super) to: u32,
    /// The resource of the queue.
    pub(super) queue: u32,
    /// 1 / B_m.
    pub(super) service: f64,
    /// f_lm, in B/s, and what it makes the heads of other inputs wait: n_lm − u_lm / 2.
    pub(super) flow: f64,
    pub(super) wait: f64,
    /// n_lm: the mean number of transfers at the head of l that wait for m or are served by it.
    pub(super) present: f64,
}

/// A stream on a resource: it takes `factor` · its rate · the time of `pair` of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) stream: u32,
    pub(super) resource: u32,
    /// Whose time a byte takes; for a link the last one, whose time is 1.
    pub(super) pair: u32,
    /// Which of [`Network::on`] it is a part of.
    pub(super) on: u32,
    /// Of a queue the number of transfers, of a link also divided by its capacity.
    pub(super) factor: f64,
}

impl Network {
    /// Finds the resources of a set, and who uses them.
    pub(super) fn build(&mut self, layout: &mut Layout) {
        self.find_pairs(layout);
        self.list_uses(layout);
        self.sort_uses(layout);
        self.set_slopes(layout);
    }

    /// Lists l → m in order of l and m, and numbers the queues after the links.
    fn find_pairs(&mut self, layout: &Layout) {
        self.passes.clear();
        for (hop, at) in layout.hops.iter().zip(0_u32..) {
            let to = layout.after(at);
            if to != NONE {
                self.passes.push((hop.link, to, layout.flows[hop.flow as usize].stream, hop.flow));
            }
        }
        self.passes.sort_unstable();
        self.pairs.clear();
        self.resources = layout.links.len() as u32;
        for &(from, to, ..) in &self.passes {
            let last = self.pairs.last();
            if last.is_some_and(|pair| (pair.from, pair.to) == (from, to)) {
                continue;
            }
            let own_queue = layout.links[from as usize].leaves_memory;
            let queue = match last {
                Some(pair) if pair.from == from && !own_queue => pair.queue,
                _ => {
                    self.resources += 1;
                    self.resources - 1
                }
            };
            let service = 1.0 / layout.links[to as usize].capacity;
            self.pairs.push(Pair { from, to, queue, service, flow: 0.0, wait: 0.0, present: 0.0 });
        }
    }

    /// Lists what the streams use, by resource.
    fn list_uses(&mut self, layout: &Layout) {
        let none = self.pairs.len() as u32;
        self.uses.clear();
        for (link, resource) in layout.links.iter().zip(0..) {
            for &hop in layout.on(resource) {
                let flow = &layout.flows[layout.hops[hop as usize].flow as usize];
                self.add(Use { stream: flow.stream, resource, pair: none, on: 0, factor: flow.count / link.capacity });
            }
        }
        let mut pair = 0;
        for at in 0..self.passes.len() {
            let (from, to, stream, flow) = self.passes[at];
            while (self.pairs[pair].from, self.pairs[pair].to) != (from, to) {
                pair += 1;
            }
            let (resource, factor) = (self.pairs[pair].queue, layout.flows[flow as usize].count);
            self.add(Use { stream, resource, pair: pair as u32, on: 0, factor });
        }
    }

    fn add(&mut self, new: Use) {
        match self.uses.last_mut() {
            Some(last) if (last.stream, last.resource, last.pair) == (new.stream, new.resource, new.pair) => {
                last.factor += new.factor;
            }
            _ => self.uses.push(new),
        }
    }

    /// Marks where the uses of each resource begin, and lists the resources of each stream.
    fn sort_uses(&mut self, layout: &Layout) {
        self.starts.clear();
        self.starts.resize(self.resources as usize + 1, 0);
        for used in &self.uses {
            self.starts[used.resource as usize + 1] += 1;
        }
        add_up(&mut self.starts);
        self.list_resources(layout.streams.len());
    }

    /// Lists the resources of each stream. Uses of one resource stand together.
    fn list_resources(&mut self, streams: usize) {
        let Self { uses, on, of_stream, last, .. } = self;
        of_stream.clear();
        of_stream.resize(streams + 1, 0);
        let is_new = |last: &mut [u32], used: &Use| {
            std::mem::replace(&mut last[used.stream as usize], used.resource) != used.resource
        };
        last.clear();
        last.resize(streams, NONE);
        for used in uses.iter().filter(|used| is_new(last, used)) {
            of_stream[used.stream as usize + 1] += 1;
        }
        add_up(of_stream);
        on.clear();
        on.resize(of_stream[streams] as usize, NONE);
        last.fill(NONE);
        for used in uses {
            let next = &mut of_stream[used.stream as usize];
            if is_new(last, used) {
                on[*next as usize] = used.resource;
                *next += 1;
            }
            used.on = *next - 1;
        }
        // Each start has moved to the end of its stream.
        of_stream.rotate_right(1);
        of_stream[0] = 0;
    }

    /// How fast each link fills with the level, and each pair, before its time; and when limits are reached.
    fn set_slopes(&mut self, layout: &mut Layout) {
        self.slopes.clear();
        self.slopes.resize(self.resources as usize, (0.0, 0));
        self.through.clear();
        self.through.resize(self.pairs.len(), 0.0);
        for used in &self.uses {
            let slope = used.factor * layout.weight(used.stream);
            match self.through.get_mut(used.pair as usize) {
                Some(through) => *through += slope,
                None => self.slopes[used.resource as usize].0 += slope,
            }
        }
        for &resource in &self.on {
            self.slopes[resource as usize].1 += 1;
        }
        self.limits.clear();
        for (stream, index) in layout.streams.iter().zip(0..) {
            if stream.limit.is_finite() {
                self.limits.push((stream.limit / layout.sources[stream.source as usize].weight, index));
            }
        }
        self.limits.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
}

/// Turns counts, each one behind its place, into starts.
fn add_up(counts: &mut [u32]) {
    for at in 1..counts.len() {
        counts[at] += counts[at - 1];
    }
}
