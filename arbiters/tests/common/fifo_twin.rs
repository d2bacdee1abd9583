//! `input-fifo` once more, slowly: its specification step by step, over all links and all transfers, without sets, tables or
//! early ends. Limits and several links of a device as docs/arbiters.md says.

use std::collections::BTreeMap;

use weir_plugin_api::{Direction, LinkId};
use weir_sim_core::Fabric;

/// Where a rate may stop to move; far below what the policy asks of itself.
const STILL: f64 = 1e-11;

struct Twin<'a> {
    fabric: &'a Fabric,
    routes: &'a [Vec<LinkId>],
    limits: &'a [f64],
}

/// The transfers that take one link after another, and the time that a byte needs at the head.
struct Pair {
    from: LinkId,
    to: LinkId,
    transfers: Vec<usize>,
    time: f64,
}

/// Rates of all transfers; `None` if they still move after many rounds.
pub fn rates(fabric: &Fabric, routes: &[Vec<LinkId>], limits: &[f64]) -> Option<Vec<f64>> {
    let twin = Twin { fabric, routes, limits };
    let (weights, mut pairs) = (twin.weights(), twin.pairs());
    let mut x = twin.fill(&weights, &pairs);
    for _ in 0..3_000 {
        let flows: Vec<f64> = pairs.iter().map(|pair| pair.transfers.iter().map(|&c| x[c]).sum()).collect();
        let waits = |k: usize| {
            let (u, n) = (flows[k] / twin.bandwidth(pairs[k].to), flows[k] * pairs[k].time);
            n.min(1.0) - u.min(1.0) / 2.0
        };
        let others = |at: usize| (0..pairs.len()).filter(move |&k| k != at);
        let next: Vec<f64> = (0..pairs.len())
            .map(|at| {
                let waited: f64 = others(at).filter(|&k| pairs[k].to == pairs[at].to).map(waits).sum();
                (pairs[at].time + (1.0 + waited) / twin.bandwidth(pairs[at].to)) / 2.0
            })
            .collect();
        let mut stands = pairs.iter().zip(&next).all(|(pair, time)| (pair.time - time).abs() <= STILL * time);
        pairs.iter_mut().zip(next).for_each(|(pair, time)| pair.time = time);
        let filled = twin.fill(&weights, &pairs);
        stands &= x.iter().zip(&filled).all(|(x, filled)| (filled - x).abs() <= STILL * x.abs());
        x = x.iter().zip(&filled).map(|(x, filled)| (x + filled) / 2.0).collect();
        if stands {
            return Some(filled);
        }
    }
    None
}

impl Twin<'_> {
    fn bandwidth(&self, link: LinkId) -> f64 {
        self.fabric.link(link).bandwidth
    }

    fn all(&self) -> std::ops::Range<usize> {
        0..self.routes.len()
    }

    /// All l → m in use, at the time without waiting.
    fn pairs(&self) -> Vec<Pair> {
        let mut all: BTreeMap<(LinkId, LinkId), Vec<usize>> = BTreeMap::new();
        for c in self.all() {
            for hops in self.routes[c].windows(2) {
                all.entry((hops[0], hops[1])).or_default().push(c);
            }
        }
        let pair = |((from, to), transfers)| Pair { from, to, transfers, time: 1.0 / self.bandwidth(to) };
        all.into_iter().map(pair).collect()
    }

    /// Step 1: w_s / n_s of each transfer's source.
    fn weights(&self) -> Vec<f64> {
        let source = |c: usize| self.routes[c][0];
        let mut y: Vec<f64> = self
            .all()
            .map(|c| self.bandwidth(source(c)) / self.all().filter(|&d| source(d) == source(c)).count() as f64)
            .collect();
        let key = |link: usize| {
            let depth = i64::from(self.fabric.view().depth[link]);
            match self.fabric.link(LinkId::from_index(link)).direction {
                Direction::Up => (0, -depth),
                Direction::Lateral => (1, 0),
                Direction::Down => (2, depth),
            }
        };
        let mut tiers: BTreeMap<(i32, i64), Vec<LinkId>> = BTreeMap::new();
        for link in 0..self.fabric.links().len() {
            tiers.entry(key(link)).or_default().push(LinkId::from_index(link));
        }
        for links in tiers.values() {
            let before = y.clone();
            for &link in links {
                for (c, share) in self.shares(link, &before) {
                    y[c] = y[c].min(share);
                }
            }
        }
        self.all()
            .map(|c| self.all().filter(|&d| source(d) == source(c)).map(|d| y[d]).fold(f64::MAX, f64::min))
            .collect()
    }

    /// What round robin between the inputs of a link leaves of y.
    fn shares(&self, link: LinkId, y: &[f64]) -> Vec<(usize, f64)> {
        let mut inputs: BTreeMap<Option<LinkId>, Vec<usize>> = BTreeMap::new();
        for c in self.all() {
            if let Some(at) = self.routes[c].iter().position(|&l| l == link) {
                inputs.entry(at.checked_sub(1).map(|at| self.routes[c][at])).or_default().push(c);
            }
        }
        let need = |input: &Vec<usize>| input.iter().map(|&c| y[c]).sum::<f64>();
        let mut open: Vec<&Vec<usize>> = inputs.values().collect();
        let (mut left, mut shares) = (self.bandwidth(link), Vec::new());
        while !open.is_empty() {
            let part = left / open.len() as f64;
            let (few, many): (Vec<&Vec<usize>>, Vec<&Vec<usize>>) = open.iter().partition(|input| need(input) <= part);
            if few.is_empty() {
                shares.extend(many.iter().flat_map(|input| input.iter().map(|&c| (c, y[c] * part / need(input)))));
                break;
            }
            left -= few.iter().map(|input| need(input)).sum::<f64>();
            shares.extend(few.iter().flat_map(|input| input.iter().map(|&c| (c, y[c]))));
            open = many;
        }
        shares
    }

    /// Step 3.
    fn fill(&self, weights: &[f64], pairs: &[Pair]) -> Vec<f64> {
        let mut resources: Vec<BTreeMap<usize, f64>> = Vec::new();
        for link in (0..self.fabric.links().len()).map(LinkId::from_index) {
            let on = self.all().filter(|&c| self.routes[c].contains(&link));
            resources.push(on.map(|c| (c, 1.0 / self.bandwidth(link))).collect());
            let heads = pairs.iter().filter(|pair| pair.from == link);
            resources.push(heads.flat_map(|pair| pair.transfers.iter().map(|&c| (c, pair.time))).collect());
        }
        resources.retain(|resource| !resource.is_empty());
        let mut rates: Vec<Option<f64>> = vec![None; self.routes.len()];
        while rates.contains(&None) {
            let fills = |resource: &BTreeMap<usize, f64>| {
                let taken: f64 = resource.iter().map(|(&c, time)| rates[c].unwrap_or(0.0) * time).sum();
                let rises = resource.iter().filter(|(c, _)| rates[**c].is_none());
                let slope = rises.map(|(&c, time)| weights[c] * time).sum::<f64>();
                if slope > 0.0 { (1.0 - taken).max(0.0) / slope } else { f64::INFINITY }
            };
            let level = resources.iter().map(fills).fold(f64::INFINITY, f64::min);
            let limit = |c: usize| self.limits[c] / weights[c];
            let open = || self.all().filter(|&c| rates[c].is_none());
            if let Some(limited) = open().filter(|&c| limit(c) <= level).min_by(|&a, &b| limit(a).total_cmp(&limit(b)))
            {
                rates[limited] = Some(self.limits[limited]);
                continue;
            }
            let full = resources.iter().filter(|resource| fills(resource) <= level * (1.0 + 1e-14));
            let sources: Vec<LinkId> =
                full.flat_map(|r| r.keys()).filter(|c| rates[**c].is_none()).map(|&c| self.routes[c][0]).collect();
            for c in
                self.all().filter(|&c| rates[c].is_none() && sources.contains(&self.routes[c][0])).collect::<Vec<_>>()
            {
                rates[c] = Some(level * weights[c]);
            }
        }
        rates.into_iter().flatten().collect()
    }
}
