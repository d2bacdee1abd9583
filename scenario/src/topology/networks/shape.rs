//! The shapes of networks: how many switches each has, and which of them are joined.

use crate::context::Read;

/// A shape with its numbers, all of which are at least 1 and at most [`NODES`](super::super::limits::NODES).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// One switch.
    Star,
    /// Every leaf is joined to every spine.
    LeafSpine { leaves: u64, spines: u64 },
    /// k pods of k/2 edge and k/2 aggregation switches, every edge switch joined to every aggregation switch of its pod,
    /// and (k/2)² cores: the j-th aggregation switch of each pod to cores j·k/2 … j·k/2 + k/2 − 1.
    /// Al-Fares, Loukissas, Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008.
    FatTree { k: u64 },
    /// a·h + 1 groups of a routers, in which each is joined to each; h global links a router, one between each two
    /// groups. Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008. Which router
    /// has which global link is the absolute arrangement (Hastings et al., "Comparing Global Link Arrangements for
    /// Dragonfly Networks", CLUSTER 2015): the j-th of a group G, router by router, leads to group j where j < G, else to
    /// j + 1.
    Dragonfly { a: u64, h: u64, p: u64 },
    /// Routers on a grid with wrap, the first dimension fastest. Dimensions are at least 2; one of 2 has one link, not two.
    Torus(Vec<u64>),
}

impl Shape {
    /// The levels of links, that to the ends first.
    pub(super) fn levels(&self) -> &'static [&'static str] {
        match self {
            Self::Star => &["end"],
            Self::LeafSpine { .. } => &["end", "spine"],
            Self::FatTree { .. } => &["end", "edge", "core"],
            Self::Dragonfly { .. } => &["end", "local", "global"],
            Self::Torus(_) => &["end", "torus"],
        }
    }

    /// What switches are called and how many there are; those that ends are joined to come first.
    pub(crate) fn switches(&self) -> Vec<(&'static str, u64)> {
        match self {
            Self::Star => vec![("switch", 1)],
            Self::LeafSpine { leaves, spines } => vec![("leaf", *leaves), ("spine", *spines)],
            Self::FatTree { k } => {
                let half = k / 2;
                let pods = k.saturating_mul(half);
                vec![("edge", pods), ("aggregation", pods), ("core", half.saturating_mul(half))]
            }
            Self::Dragonfly { a, .. } => vec![("router", a.saturating_mul(self.groups()))],
            Self::Torus(lengths) => vec![("router", lengths.iter().copied().fold(1, u64::saturating_mul))],
        }
    }

    pub(crate) fn nodes(&self) -> u64 {
        self.switches().iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Switches that ends are joined to.
    pub(in crate::topology) fn edges(&self) -> u64 {
        self.switches().first().map_or(0, |(_, count)| *count)
    }

    /// Ends at most, where the shape says it.
    pub(super) fn most_ends(&self) -> Option<u64> {
        match self {
            Self::FatTree { k } => Some(self.edges().saturating_mul(k / 2)),
            Self::Dragonfly { p, .. } => Some(self.edges().saturating_mul(*p)),
            Self::Star | Self::LeafSpine { .. } | Self::Torus(_) => None,
        }
    }

    /// Links between switches.
    pub(super) fn links(&self) -> u64 {
        match self {
            Self::Star => 0,
            Self::LeafSpine { leaves, spines } => leaves.saturating_mul(*spines),
            Self::FatTree { k } => self.edges().saturating_mul(*k),
            Self::Dragonfly { a, .. } => {
                let pairs = |n: u64| n.saturating_mul(n - 1) / 2;
                self.groups().saturating_mul(pairs(*a)).saturating_add(pairs(self.groups()))
            }
            Self::Torus(lengths) => {
                let routers = self.edges();
                let along = |length: &u64| if *length == 2 { routers / 2 } else { routers };
                lengths.iter().map(along).fold(0, u64::saturating_add)
            }
        }
    }

    fn groups(&self) -> u64 {
        match self {
            Self::Dragonfly { a, h, .. } => a.saturating_mul(*h).saturating_add(1),
            _ => 1,
        }
    }

    /// Calls `join` with the level and both switches of each link between switches.
    pub(in crate::topology) fn each_link(&self, mut join: impl FnMut(usize, u64, u64) -> Read<()>) -> Read<()> {
        match self {
            Self::Star => Ok(()),
            Self::LeafSpine { leaves, spines } => {
                pairs(*leaves, *spines).try_for_each(|(leaf, spine)| join(1, leaf, leaves + spine))
            }
            Self::FatTree { k } => fat_tree(*k, join),
            Self::Dragonfly { a, h, .. } => dragonfly(*a, *h, self.groups(), join),
            Self::Torus(lengths) => torus(lengths, self.edges(), |from, to| join(1, from, to)),
        }
    }
}

/// All pairs of two numbers, the first varying slowest.
fn pairs(first: u64, second: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..first).flat_map(move |a| (0..second).map(move |b| (a, b)))
}

fn fat_tree(k: u64, mut join: impl FnMut(usize, u64, u64) -> Read<()>) -> Read<()> {
    let half = k / 2;
    let of_pods = k * half;
    for (edge, j) in pairs(of_pods, half) {
        join(1, edge, of_pods + edge / half * half + j)?;
    }
    pairs(of_pods, half).try_for_each(|(up, i)| join(2, of_pods + up, 2 * of_pods + up % half * half + i))
}

fn dragonfly(a: u64, h: u64, groups: u64, mut join: impl FnMut(usize, u64, u64) -> Read<()>) -> Read<()> {
    for (router, second) in pairs(a * groups, a).filter(|(router, second)| router % a < *second) {
        join(1, router, router / a * a + second)?;
    }
    // Of two groups the first has the link at its port (second − 1), the second at its port (first).
    let joined = pairs(groups, groups).filter(|(first, second)| first < second);
    joined
        .map(|(first, second)| (first * a + (second - 1) / h, second * a + first / h))
        .try_for_each(|(first, second)| join(2, first, second))
}

fn torus(lengths: &[u64], routers: u64, mut join: impl FnMut(u64, u64) -> Read<()>) -> Read<()> {
    for router in 0..routers {
        let mut stride = 1;
        for &length in lengths {
            let at = router / stride % length;
            let next = if at + 1 == length { router - at * stride } else { router + stride };
            if length > 2 || at == 0 {
                join(router, next)?;
            }
            stride *= length;
        }
    }
    Ok(())
}
