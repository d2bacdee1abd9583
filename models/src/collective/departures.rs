//! What the links make of a collective: the costs of a step, and where the plan leaves the closed form.
//!
//! **Definition.** The formula assumes that all routes are alike, that every rank sends as many bytes in a round, and
//! that links have room for all messages of a round: per link, their bytes over its bandwidth take no longer than a
//! message at the bandwidth of its route. Then an arbiter that shares fairly gives each message that bandwidth, ranks
//! keep step, and both times are equal.

use weir_plugin_api::{CallError, FabricView, LinkId, PS_PER_S, Surroundings};

use super::formula::{self, Costs};
use super::params::{Algorithm, Kind};
use super::resolve::{Collective, Group};
use super::steps::{Send, Steps};
use crate::effect::{Departures, Effect};
use crate::links::RouteLinks;
use crate::operation::per_byte;

/// Relative excess of a link's load that counts as none: rounding of sums.
const ROUNDING: f64 = 1e-9;

/// What is known of the links that a phase uses.
#[derive(Clone, Copy, Debug)]
struct Use {
    /// Largest latency of a route, ps, and whether another one is smaller.
    latency: f64,
    /// Largest time per byte of a route, ps.
    per_byte: f64,
    is_alike: bool,
    is_even: bool,
    /// Whether channels have orders of their own.
    is_turned: bool,
    /// Largest time that a link needs for the bytes of a round, over that of the formula; `None` where links are
    /// unknown.
    load: Option<(f64, f64)>,
}

impl Collective {
    /// The closed form, ps, and where the plan leaves it.
    pub(super) fn estimated(&self, surroundings: &Surroundings<'_>) -> Result<(f64, Departures), CallError> {
        let (mut time, mut departures) = (0.0, Departures::default());
        for phase in &self.phases {
            let mut longest = 0.0_f64;
            let found = self.uses(surroundings, phase)?;
            for group in phase {
                longest = longest.max(self.time(&group.steps, &found));
            }
            time += longest;
            self.depart(&phase[0].steps, &found, &mut departures);
        }
        Ok((time, departures))
    }

    fn time(&self, steps: &Steps, found: &Use) -> f64 {
        let shared = match found.load {
            Some((_, high)) if found.is_turned => high,
            _ => 1.0,
        };
        let beta = found.per_byte * self.channels as f64 * shared;
        let costs = Costs { alpha: found.latency + self.lead, beta, gamma: self.per_byte_added };
        formula::time(self, self.largest_channel(steps), costs)
    }

    fn largest_channel(&self, steps: &Steps) -> Steps {
        Steps { size: steps.size.div_ceil(self.channels), ..*steps }
    }

    /// Looks at all routes of a phase, then at all rounds.
    fn uses(&self, surroundings: &Surroundings<'_>, phase: &[Group]) -> Result<Use, CallError> {
        let is_turned = phase.iter().any(|group| !group.orders.is_empty());
        let load = Some((f64::INFINITY, 0.0));
        let mut found = Use { latency: 0.0, per_byte: 0.0, is_alike: true, is_even: true, is_turned, load };
        let mut loads = Loads::new(surroundings.fabric, self.ranks.len());
        let mut first = None;
        let rounds = phase.iter().map(|group| group.steps.rounds()).max().unwrap_or(0);
        for round in 0..rounds {
            let (mut least, mut most) = (u64::MAX, 0);
            for group in phase {
                self.round(group, round, |send, from, to| {
                    let route = self.route(surroundings, from, to)?;
                    found.latency = found.latency.max(route.latency_ps);
                    found.per_byte = found.per_byte.max(per_byte(&route));
                    let alike = (route.latency_ps, route.bandwidth);
                    found.is_alike &= *first.get_or_insert(alike) == alike;
                    (least, most) = (least.min(send.bytes), most.max(send.bytes));
                    loads.add(self.ranks[from as usize], self.ranks[to as usize], send.bytes);
                    Ok(())
                })?;
            }
            if most > 0 {
                found.is_even &= least == most;
                let load = loads.largest(most as f64);
                found.load = found.load.zip(load).map(|((low, high), load)| (low.min(load), high.max(load)));
            }
        }
        // Loads are times per byte of a message; the formula takes that of the narrowest link, for all that a rank
        // sends at once.
        let one = found.per_byte * if is_turned { self.channels as f64 } else { 1.0 };
        found.load = found.load.map(|(low, high)| (low / one, high / one));
        Ok(found)
    }

    /// Calls `each` for the messages of a round, of all channels where they have orders of their own, else as if
    /// there were one; of rounds with the same routes for the first one.
    fn round(
        &self,
        group: &Group,
        round: u64,
        mut each: impl FnMut(&Send, u32, u32) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        if round > 0 && group.steps.repeats() {
            return Ok(());
        }
        let channels = if group.orders.is_empty() { 1 } else { self.channels };
        for channel in 0..channels {
            let steps = if channels == 1 { group.steps } else { self.of_channel(&group.steps, channel) };
            let (ranks, mut sends) = (group.order(channel), Vec::new());
            steps.sends(round, &mut sends);
            sends.iter().try_for_each(|send| each(send, ranks[send.from as usize], ranks[send.to as usize]))?;
        }
        Ok(())
    }

    fn depart(&self, steps: &Steps, found: &Use, departures: &mut Departures) {
        if !found.is_alike {
            let effect = if steps.repeats() { Effect::Less } else { Effect::Any };
            departures.add(effect, "ranks: the formula takes every route as the slowest");
        }
        if found.is_turned {
            departures.add(Effect::Any, "channels: their rings differ, the formula takes the busiest link for all");
        } else {
            self.depart_by_load(steps, found, departures);
        }
        self.depart_by_size(steps, found, departures);
        let (chunks, _) = self.chunks(&self.largest_channel(steps));
        self.depart_by_tree(steps, chunks, departures);
        let adds = matches!(steps.kind, Kind::AllReduce | Kind::Reduce | Kind::ReduceScatter);
        if adds && chunks > 1 && self.per_byte_added > found.per_byte * self.channels as f64 {
            departures
                .add(Effect::More, "reduce: chunks arrive faster than they are added, the formula hides their adding");
        }
    }

    fn depart_by_tree(&self, steps: &Steps, chunks: u64, departures: &mut Departures) {
        let mut depart = |why| departures.add(Effect::Any, why);
        match steps.algorithm {
            Algorithm::DoubleBinaryTree => {
                depart("algorithm: the formula takes all branches as long as the longest, and both trees in turn");
            }
            Algorithm::Tree if chunks > 1 => {
                depart("chunk: the formula passes whole messages on, the plan each chunk as soon as it has come");
            }
            Algorithm::Tree if !steps.n.is_power_of_two() => {
                depart("algorithm: the formula takes all branches of the tree as long as the longest");
            }
            _ => {}
        }
    }

    fn depart_by_load(&self, steps: &Steps, found: &Use, departures: &mut Departures) {
        let at_once = match (steps.algorithm, steps.kind) {
            (Algorithm::Direct, kind) if kind != Kind::SendRecvChain => (steps.n - 1) as f64,
            _ => 1.0,
        };
        match found.load {
            None => departures.add(Effect::Any, "ranks: which links the routes share is not known"),
            Some((_, high)) if high > at_once * (1.0 + ROUNDING) => {
                let effect = if at_once > 1.0 { Effect::Any } else { Effect::More };
                departures.add(effect, "ranks: messages of one round share links, the formula gives each its own");
            }
            Some((low, _)) if low < at_once * (1.0 - ROUNDING) => {
                departures.add(Effect::Any, "ranks: the links have more room than the formula gives them");
            }
            Some(_) => {}
        }
    }

    fn depart_by_size(&self, steps: &Steps, found: &Use, departures: &mut Departures) {
        if !steps.size.is_multiple_of(self.channels) {
            departures.add(Effect::Any, "channels: their parts differ by a byte");
        }
        let (chunks, chunk) = self.chunks(&self.largest_channel(steps));
        let is_ring = steps.algorithm == Algorithm::Ring;
        let is_even =
            found.is_even && (!steps.sends_parts() || self.largest_channel(steps).size.is_multiple_of(steps.n));
        let keeps_step = is_even || (is_ring && chunks == 1 && self.channels == 1);
        if !keeps_step {
            let effect = if is_ring && self.channels == 1 { Effect::Less } else { Effect::Any };
            departures.add(effect, "size: not all messages of a round have as many bytes as the formula takes");
        }
        let cut_unevenly = chunks > 1 && !self.largest_channel(steps).largest().is_multiple_of(chunk);
        if is_ring && cut_unevenly && self.per_byte_added > 0.0 {
            departures.add(Effect::Less, "chunk: the last one is smaller and sooner added");
        }
    }
}

/// Bytes on each link in a round.
struct Loads<'a> {
    fabric: &'a FabricView<'a>,
    /// `None` where links are not known.
    links: Option<RouteLinks<'a>>,
    /// Per link, in time, ps.
    time: Vec<f64>,
    touched: Vec<u32>,
    route: Vec<LinkId>,
}

impl<'a> Loads<'a> {
    fn new(fabric: &'a FabricView<'a>, ranks: usize) -> Self {
        let links = RouteLinks::new(fabric, ranks);
        Self { fabric, links, time: vec![0.0; fabric.links()], touched: Vec::new(), route: Vec::new() }
    }

    fn add(&mut self, from: u32, to: u32, bytes: u64) {
        self.route.clear();
        let is_found = self.links.as_ref().is_some_and(|links| links.add(from, to, &mut self.route));
        if !is_found {
            self.links = None;
        }
        for link in &self.route {
            let place = link.index();
            if self.time[place] == 0.0 {
                self.touched.push(place as u32);
            }
            self.time[place] += bytes as f64 * PS_PER_S as f64 / self.fabric.bandwidth[place];
        }
    }

    /// The largest time of a link per byte of a message, ps, and begins the next round.
    fn largest(&mut self, bytes: f64) -> Option<f64> {
        let mut largest = 0.0_f64;
        for place in self.touched.drain(..) {
            largest = largest.max(std::mem::take(&mut self.time[place as usize]));
        }
        self.links.as_ref().map(|_| largest / bytes)
    }
}
