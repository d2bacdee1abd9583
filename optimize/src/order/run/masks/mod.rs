//! The rates of PCIe switches ([`RateModel::PcieSwitches`]) by bit masks, for annealing.
//!
//! The arbiter itself serves any phase of any simulation, and says who holds whom back. Annealing asks for hundreds of
//! thousands of sets of the same few messages, one per source: with at most 64 sources a set of transfers is one word,
//! and a set differs from the last one in a few sources. Links are numbered so that every route is increasing: up links
//! deepest first, lateral ones, down links shallowest first. Only links with two or more transfers, and reduced ports of
//! a root complex, need work; y(l) is kept for overloaded links only, elsewhere it is that of the latest cut before.
//!
//! The definition, with its sources, is in docs/arbiters.md; the steps below are named as there.
//! Sums may be in another order than the arbiter's, so rates can differ in their last bits: they steer a search, and no
//! result is reported from them.

mod blocking;
mod links;
#[cfg(test)]
mod tests;

use links::Network;
use weir_sim_core::api::RateModel;

use crate::order::problem::OrderProblem;
use crate::order::run::plan::Plan;

/// Tolerance of every comparison, that of the arbiter.
const EPS: f64 = 1e-9;
/// Most sources: one bit each.
const MOST: usize = 64;
/// No link.
const NONE: u32 = u32::MAX;

/// Rates of active sets of a problem's messages; bit s of every mask stands for source s.
#[derive(Debug)]
pub(crate) struct MaskRates<const N: usize> {
    network: Network,
    tau: f64,
    /// Per source: its digit of the current set, and its message ([`Plan::message`]).
    digit: [u16; N],
    message: [u32; N],
    /// Per link: the transfers on it, and those that reduce its capacity.
    on: Vec<u64>,
    reducing: Vec<u64>,
    /// Links that need work: with two transfers or more, or reduced; a bit each.
    shared: Vec<u64>,
    active: u64,
    /// Transfers that cross a root complex.
    crossing: u64,
    /// Transfers whose limit or narrowest link so far changes on their way.
    uneven: u64,
    /// Overloaded links; per link the transfers cut there, and y of all transfers on it.
    over: Vec<usize>,
    cut: Vec<u64>,
    y: Vec<[f64; N]>,
    /// y of the latest cut; then the final rate.
    rate: [f64; N],
    /// ρ' after step C.
    arrived: [f64; N],
    /// r after step D1.
    held: [f64; N],
    /// Link of the last cut at a contended link, or [`NONE`].
    contended: [u32; N],
    raise: [f64; N],
    groups: Vec<(u64, f64)>,
    throttlers: Vec<(u64, usize)>,
    fits: Vec<f64>,
}

/// The positions of the bits of a mask, ascending.
#[inline(always)]
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (at < MOST).then_some(at)
    })
}

/// `x` scaled by `new / old`, exact where a transfer is alone.
#[inline(always)]
fn scaled(x: f64, new: f64, old: f64) -> f64 {
    if x == old { new } else { x * new / old }
}

impl<const N: usize> MaskRates<N> {
    /// For a problem whose arbiter is known; none with too many sources.
    pub(crate) fn new(problem: &OrderProblem<'_>, plan: &Plan) -> Option<Self> {
        let RateModel::PcieSwitches { tau } = problem.quick_model()?;
        if N > MOST {
            return None;
        }
        let network = Network::new(problem, plan, tau);
        let links = network.links.len();
        Some(Self {
            network,
            tau,
            digit: [0; N],
            message: [0; N],
            on: vec![0; links],
            reducing: vec![0; links],
            shared: vec![0; links.div_ceil(64)],
            active: 0,
            crossing: 0,
            uneven: 0,
            over: Vec::new(),
            cut: vec![0; links],
            y: vec![[0.0; N]; links],
            rate: [0.0; N],
            arrived: [0.0; N],
            held: [0.0; N],
            contended: [NONE; N],
            raise: [0.0; N],
            groups: Vec::new(),
            throttlers: Vec::new(),
            fits: vec![f64::NAN; links],
        })
    }

    /// The rate of each source for the active set of these digits; 0 for idle ones.
    pub(crate) fn ask(&mut self, plan: &Plan, digits: &[u16; N], out: &mut [f64; N]) {
        self.change_to(plan, digits);
        self.over.clear();
        for s in bits(self.active) {
            self.rate[s] = self.network.messages[self.message[s] as usize].first;
            self.contended[s] = NONE;
        }
        for word in 0..self.shared.len() {
            for bit in bits(self.shared[word]) {
                let link = word * 64 + bit;
                self.divide(link, self.on[link]);
            }
        }
        out.fill(0.0);
        for s in bits(self.active) {
            self.arrived[s] = self.rate[s].min(self.network.messages[self.message[s] as usize].last);
            out[s] = self.arrived[s];
        }
        self.head_of_line(out);
    }

    /// Takes the sources that do something else now off their links, and onto others.
    fn change_to(&mut self, plan: &Plan, digits: &[u16; N]) {
        for (s, &digit) in digits.iter().enumerate().take(plan.sources) {
            if digit == self.digit[s] {
                continue;
            }
            if self.digit[s] > 0 {
                self.put(s, false);
            }
            self.digit[s] = digit;
            if digit > 0 {
                self.message[s] = plan.message(s, plan.meaning(s, digit).0) as u32;
                self.put(s, true);
            }
        }
    }

    fn put(&mut self, source: usize, active: bool) {
        let bit = 1 << source;
        let set = |mask: &mut u64, member: bool| *mask = if member { *mask | bit } else { *mask & !bit };
        let message = &self.network.messages[self.message[source] as usize];
        set(&mut self.active, active);
        set(&mut self.crossing, active && message.crosses);
        set(&mut self.uneven, active && message.first > message.last);
        for hop in self.network.route(message) {
            set(&mut self.on[hop.link as usize], active);
            set(&mut self.reducing[hop.link as usize], active && hop.reduces);
            let (link, on) = (hop.link as usize, self.on[hop.link as usize]);
            let needs = on & on.wrapping_sub(1) != 0 || self.reducing[link] != 0;
            let word = &mut self.shared[link / 64];
            *word = *word & !(1 << (link % 64)) | u64::from(needs) << (link % 64);
        }
    }

    /// C(l).
    #[inline(always)]
    fn capacity(&self, link: usize) -> f64 {
        let at = &self.network.links[link];
        if self.reducing[link] != 0 { at.reduced } else { at.bandwidth }
    }

    /// x of a transfer at a link of its route.
    #[inline(always)]
    fn before(&self, source: usize, link: usize) -> f64 {
        let x = self.rate[source];
        if self.uneven >> source & 1 == 0 {
            return x;
        }
        x.min(self.network.ceiling(self.message[source], link))
    }

    /// Steps B and C: divides one link where it is overloaded.
    #[inline]
    fn divide(&mut self, link: usize, on: u64) {
        let (mut sum, capacity) = (0.0, self.capacity(link));
        for s in bits(on) {
            sum += self.before(s, link);
        }
        if sum <= capacity * (1.0 + EPS) {
            return;
        }
        for s in bits(on) {
            self.y[link][s] = self.before(s, link);
        }
        self.over.push(link);
        self.cut[link] = 0;
        if self.network.links[link].down {
            self.downstream(link, on, capacity);
        } else {
            self.lower(link, on, capacity, sum, true);
        }
    }

    /// Lowers transfers on a link that bring `old` to `new` together.
    #[inline(always)]
    fn lower(&mut self, link: usize, members: u64, new: f64, old: f64, contended: bool) {
        self.cut[link] |= members;
        for s in bits(members) {
            let rate = scaled(self.y[link][s], new, old);
            self.y[link][s] = rate;
            self.rate[s] = rate;
            self.contended[s] = if contended { link as u32 } else { self.contended[s] };
        }
    }

    /// Step C: a quota for each group of transfers that come from one link; those that start here are one group.
    fn downstream(&mut self, link: usize, on: u64, capacity: f64) {
        let at = &self.network.links[link];
        let mut rest = on;
        self.groups.clear();
        for &entering in &self.network.entering[at.entering.clone()] {
            let group = rest & self.on[entering as usize];
            if group != 0 {
                self.groups.push((group, 0.0));
                rest &= !group;
            }
        }
        if rest != 0 {
            self.groups.push((rest, 0.0));
        }
        for (group, sum) in &mut self.groups {
            *sum = bits(*group).map(|s| self.y[link][s]).sum();
        }
        let equal = at.port || on & self.crossing == 0;
        let (tau, crossing, count) = (self.tau, self.crossing, self.groups.len());
        let weight = |group: u64| match group & crossing {
            _ if equal => 1.0,
            0 => 0.5 + tau,
            _ => 0.5 - tau,
        };
        let total: f64 = self.groups.iter().map(|&(group, _)| weight(group)).sum();
        for index in 0..count {
            let (group, sum) = self.groups[index];
            let quota = capacity * weight(group) / total;
            if quota < sum - EPS * capacity {
                self.lower(link, group, quota, sum, count > 1);
            }
        }
    }
}
