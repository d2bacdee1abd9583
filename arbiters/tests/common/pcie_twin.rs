//! The slow, obvious twin of `pcie-congestion`: one map entry per transfer and link, every step over every link, the
//! fixed point of step D1 by rounds. Written from the definition, sharing nothing with the arbiter.

use std::collections::{BTreeMap, BTreeSet};

use weir_plugin_api::{Direction, LinkId, NodeKind};
use weir_sim_core::Fabric;

const EPS: f64 = 1e-9;

pub struct Twin<'a> {
    fabric: &'a Fabric,
    tau: f64,
    routes: &'a [Vec<LinkId>],
    limits: &'a [f64],
    /// What steps B and C give without limits, where there are some.
    weights: Option<BTreeMap<(usize, LinkId), f64>>,
    y: BTreeMap<(usize, LinkId), f64>,
    cut: BTreeSet<(usize, LinkId)>,
    contended: BTreeSet<LinkId>,
}

/// Rates of all transfers.
pub fn rates(fabric: &Fabric, tau: f64, hol: bool, routes: &[Vec<LinkId>], limits: &[f64]) -> Vec<f64> {
    let limited = (0..routes.len()).any(|c| limits[c] < fabric.link(routes[c][0]).bandwidth);
    let none = vec![f64::INFINITY; routes.len()];
    let weights = limited.then(|| divided(fabric, tau, routes, &none, None).0.y);
    let (twin, used) = divided(fabric, tau, routes, limits, weights);
    if hol { twin.head_of_line(&used) } else { (0..routes.len()).map(|c| twin.arrived(c)).collect() }
}

/// Steps B and C, and the links in use.
fn divided<'a>(
    fabric: &'a Fabric,
    tau: f64,
    routes: &'a [Vec<LinkId>],
    limits: &'a [f64],
    weights: Option<BTreeMap<(usize, LinkId), f64>>,
) -> (Twin<'a>, Vec<LinkId>) {
    let (y, cut, contended) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    let mut twin = Twin { fabric, tau, routes, limits, weights, y, cut, contended };
    let mut used: Vec<LinkId> = routes.iter().flatten().copied().collect();
    used.sort();
    used.dedup();
    let of = |d: Direction| used.iter().copied().filter(move |&l| fabric.link(l).direction == d);
    let depth = |l: &LinkId| fabric.view().depth[l.index()];
    let mut up: Vec<LinkId> = of(Direction::Up).collect();
    up.sort_by_key(|l| std::cmp::Reverse(depth(l)));
    let mut down: Vec<LinkId> = of(Direction::Down).collect();
    down.sort_by_key(depth);
    up.into_iter().chain(of(Direction::Lateral)).for_each(|l| twin.upstream(l));
    down.into_iter().for_each(|l| twin.downstream(l));
    (twin, used)
}

impl Twin<'_> {
    /// Rates of some transfers after a link that cuts them to a sum.
    fn cut_to(&self, l: LinkId, on: &[usize], sum: f64) -> Vec<f64> {
        let x: Vec<f64> = on.iter().map(|&c| self.x(c, l)).collect();
        let Some(weights) = &self.weights else {
            let all: f64 = x.iter().sum();
            return x.iter().map(|x| x * sum / all).collect();
        };
        let y = |level: f64| on.iter().zip(&x).map(move |(&c, x)| x.min(level * weights[&(c, l)]));
        // λ by bisection.
        let (mut low, mut high) = (0.0, 1e6);
        for _ in 0..300 {
            let level = 0.5 * (low + high);
            if y(level).sum::<f64>() <= sum { low = level } else { high = level }
        }
        y(low).collect()
    }

    fn kind(&self, node: weir_plugin_api::NodeId) -> NodeKind {
        self.fabric.node(node).kind
    }

    fn crosses(&self, c: usize) -> bool {
        let route = &self.routes[c];
        let source = self.fabric.link(route[0]).from;
        let destination = self.fabric.link(*route.last().unwrap()).to;
        let inner = route[1..].iter().map(|&l| self.fabric.link(l).from);
        self.kind(source) != NodeKind::Cpu
            && self.kind(destination) != NodeKind::Cpu
            && inner.into_iter().any(|n| self.kind(n) == NodeKind::RootComplex)
    }

    fn on(&self, l: LinkId) -> Vec<usize> {
        (0..self.routes.len()).filter(|&c| self.routes[c].contains(&l)).collect()
    }

    fn below_root_complex(&self, l: LinkId) -> bool {
        let link = self.fabric.link(l);
        link.direction == Direction::Down && self.kind(link.from) == NodeKind::RootComplex
    }

    fn capacity(&self, l: LinkId) -> f64 {
        let through = |c: &usize| self.crosses(*c) && self.routes[*c][0] != l;
        let reduced = self.below_root_complex(l) && self.on(l).iter().any(through);
        self.fabric.link(l).bandwidth * if reduced { 1.0 - self.tau } else { 1.0 }
    }

    fn before(&self, c: usize, l: LinkId) -> Option<LinkId> {
        let at = self.routes[c].iter().position(|&k| k == l).unwrap();
        at.checked_sub(1).map(|at| self.routes[c][at])
    }

    fn x(&self, c: usize, l: LinkId) -> f64 {
        let entering = self.before(c, l).map_or(self.limits[c], |k| self.y[&(c, k)]);
        entering.min(self.fabric.link(l).bandwidth)
    }

    fn arrived(&self, c: usize) -> f64 {
        self.y[&(c, *self.routes[c].last().unwrap())]
    }

    fn upstream(&mut self, l: LinkId) {
        let (on, capacity) = (self.on(l), self.fabric.link(l).bandwidth);
        let sum: f64 = on.iter().map(|&c| self.x(c, l)).sum();
        let overloaded = sum > capacity * (1.0 + EPS);
        let after = if overloaded { self.cut_to(l, &on, capacity) } else { on.iter().map(|&c| self.x(c, l)).collect() };
        if overloaded {
            self.contended.insert(l);
        }
        for (&c, y) in on.iter().zip(after) {
            let lower = overloaded && (self.weights.is_none() || y < self.x(c, l) - EPS * capacity);
            if lower {
                self.cut.insert((c, l));
            }
            self.y.insert((c, l), if lower { y } else { self.x(c, l) });
        }
    }

    fn downstream(&mut self, l: LinkId) {
        let capacity = self.capacity(l);
        let mut groups: BTreeMap<Option<LinkId>, Vec<usize>> = BTreeMap::new();
        for c in self.on(l) {
            groups.entry(self.before(c, l)).or_default().push(c);
        }
        let n = groups.len() as f64;
        let has = |g: &Vec<usize>| g.iter().any(|&c| self.crosses(c));
        let plain = self.below_root_complex(l) || !groups.values().any(has);
        let weight = |g: &Vec<usize>| if has(g) { 0.5 - self.tau } else { 0.5 + self.tau };
        let weights: f64 = groups.values().map(weight).sum();
        let total: f64 = self.on(l).iter().map(|&c| self.x(c, l)).sum();
        let mut after = Vec::new();
        for group in groups.values() {
            let r: f64 = group.iter().map(|&c| self.x(c, l)).sum();
            let quota = if plain { capacity / n } else { capacity * weight(group) / weights };
            let quota = if total <= capacity * (1.0 + EPS) { r } else { quota.min(r) };
            let is_cut = quota < r - EPS * capacity;
            let rates =
                if is_cut { self.cut_to(l, group, quota) } else { group.iter().map(|&c| self.x(c, l)).collect() };
            for (&c, y) in group.iter().zip(rates) {
                let lower = self.weights.is_none() || y < self.x(c, l) - EPS * capacity;
                after.push((c, if lower { y } else { self.x(c, l) }, is_cut && lower));
            }
        }
        if total > capacity * (1.0 + EPS) && groups.len() >= 2 {
            self.contended.insert(l);
        }
        for (c, y, is_cut) in after {
            self.y.insert((c, l), y);
            if is_cut {
                self.cut.insert((c, l));
            }
        }
    }

    fn throttles(&self, b: usize, l: LinkId) -> bool {
        let Some(at) = self.routes[b].iter().position(|&k| k == l) else { return false };
        self.routes[b][at + 1..].iter().any(|&k| self.cut.contains(&(b, k)) && self.contended.contains(&k))
    }

    fn head_of_line(&self, used: &[LinkId]) -> Vec<f64> {
        let all = 0..self.routes.len();
        let arrived: Vec<f64> = all.clone().map(|c| self.arrived(c)).collect();
        let mut r = arrived.clone();
        loop {
            let before = r.clone();
            for c in all.clone() {
                for &l in &self.routes[c] {
                    for b in all.clone().filter(|&b| self.throttles(b, l)) {
                        r[c] = r[c].min(before[b]);
                    }
                }
            }
            if r == before {
                break;
            }
        }
        let narrowest =
            |c: usize| self.routes[c].iter().map(|&l| self.fabric.link(l).bandwidth).fold(f64::MAX, f64::min);
        let blocked: Vec<bool> = all.clone().map(|c| r[c] < arrived[c] - EPS * narrowest(c)).collect();
        for c in all.clone().filter(|&c| !blocked[c]) {
            r[c] = arrived[c];
        }
        let delta: Vec<f64> = all.clone().map(|c| self.delta(c, &r, &blocked, arrived[c])).collect();
        let fits: BTreeMap<LinkId, f64> = used.iter().map(|&l| (l, self.fits(l, &r, &delta))).collect();
        let raised = |c: usize| self.routes[c].iter().map(|l| fits[l]).fold(1.0, f64::min) * delta[c];
        all.map(|c| (r[c] + raised(c)).min(self.limits[c])).collect()
    }

    fn delta(&self, c: usize, r: &[f64], blocked: &[bool], arrived: f64) -> f64 {
        let cuts: Vec<LinkId> = self.routes[c].iter().copied().filter(|&l| self.cut.contains(&(c, l))).collect();
        if blocked[c] || cuts.is_empty() {
            return 0.0;
        }
        let share = |l: LinkId| {
            let (stopped, free): (Vec<usize>, Vec<usize>) = self.on(l).into_iter().partition(|&b| blocked[b]);
            let freed: f64 = stopped.iter().map(|&b| self.y[&(b, l)] - r[b]).sum();
            freed / free.len() as f64
        };
        let goal = cuts.iter().map(|&l| self.y[&(c, l)] + share(l)).fold(f64::INFINITY, f64::min);
        (goal - arrived).max(0.0)
    }

    fn fits(&self, l: LinkId, r: &[f64], delta: &[f64]) -> f64 {
        let capacity = self.capacity(l);
        let base: f64 = self.on(l).iter().map(|&c| r[c]).sum();
        let raises: f64 = self.on(l).iter().map(|&c| delta[c]).sum();
        if raises > EPS * capacity && base + raises > capacity { (capacity - base).max(0.0) / raises } else { 1.0 }
    }
}
