//! The devices that may be chosen, and what it costs to send a byte between two of them.

use weir_sim_core::api::NodeId;
use weir_sim_core::{Fabric, Routes};

use super::error::PlacementError;
use super::matrix::{Matrix, Steps, quantised};
use super::shape::{levels, of_costs, of_fabric};
use super::similar;
use super::tree::{Shape, Tree};
use crate::distribution::EQUAL;

/// Most devices of one machine: the cost matrices then take 384 MiB. *Assumed* to be enough.
pub const MOST_DEVICES: usize = 4096;

/// Devices and the cost of every pair; smaller is closer, whatever the metric.
///
/// Faraji et al. ("Topology-Aware GPU Selection on Multi-GPU Nodes", AsHES 2016, section IV) store ratios that are larger
/// for closer pairs. Here their reciprocals are used: a pair's latency over that of the farthest pair, the narrowest
/// bandwidth of all pairs over that of the pair. Both are 1 for the farthest pair.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) matrix: Matrix,
    /// Where the whole numbers of the matrix are rounded: the costs themselves, by rows, of pairs (a < b).
    real: Option<Vec<f64>>,
    /// What one unit of [`Self::units`] stands for.
    pub(super) unit: f64,
    /// The largest error of a cost in the matrix, relative to it.
    error: f64,
    /// The hierarchy of devices; it gives the costs exactly if `is_tree`, else it only guides the search.
    pub(super) tree: Tree,
    pub(super) is_tree: bool,
}

/// What a measured matrix holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measured {
    /// Costs or latencies: smaller is closer.
    Cost,
    /// Bandwidths: larger is closer; the cost of a pair is the smallest bandwidth over its own.
    Bandwidth,
}

impl Machine {
    /// Cost by level: level(a, b) = greatest depth of a device − depth of the lowest common ancestor − 1, where several
    /// roots are children of one virtual root at depth −1. Links beside the tree do not count. Level l costs
    /// `level_costs[l]`, l + 1 without costs.
    ///
    /// # Errors
    /// Too many devices, a device twice, too few costs or one that is not finite and at least 0.
    pub fn distance(fabric: &Fabric, devices: &[NodeId], level_costs: Option<&[f64]>) -> Result<Self, PlacementError> {
        Self::distance_among(fabric, devices, &[], level_costs)
    }

    /// As [`Self::distance`], with the greatest depth of these and other devices: costs among some are then on one scale with
    /// those among the others.
    ///
    /// # Errors
    /// As [`Self::distance`].
    pub fn distance_among(
        fabric: &Fabric,
        devices: &[NodeId],
        others: &[NodeId],
        level_costs: Option<&[f64]>,
    ) -> Result<Self, PlacementError> {
        check(devices)?;
        if let Some(&cost) = level_costs.unwrap_or(&[]).iter().find(|c| !usable(**c)) {
            return Err(PlacementError::Cost { cost });
        }
        let levels = levels(fabric, devices, others);
        let needed = levels.iter().copied().max().unwrap_or(0) as usize + 1;
        let by_level: Vec<f64> = match level_costs {
            None => (1..=needed).map(|cost| cost as f64).collect(),
            Some(costs) if costs.len() < needed && devices.len() > 1 => {
                return Err(PlacementError::TooFewLevelCosts { given: costs.len(), needed });
            }
            Some(costs) => costs.iter().copied().take(needed).collect(),
        };
        let cost = |a: usize, b: usize| by_level[levels[a * devices.len() + b] as usize];
        Self::of_costs(devices.len(), cost, Some(&of_fabric(fabric, devices)))
    }

    /// Cost by latency: the sum of the latencies of the route's links, the mean of both ways, over that of the farthest
    /// pair. Added in whole picoseconds.
    ///
    /// # Errors
    /// Too many devices, a device twice, devices that no route joins.
    pub fn latency(fabric: &Fabric, devices: &[NodeId]) -> Result<Self, PlacementError> {
        check(devices)?;
        let mut matrix = Matrix::from_pairs(devices.len(), |a, b| {
            let [(out, _), (back, _)] = both_ways(fabric, devices, a, b)?;
            Ok(u128::from(out) + u128::from(back))
        })?;
        // Where the route is the way up and down the tree, cost = leaf + leaf + joint with twice the way to the root as leaf.
        let mut leaf: Vec<u128> = devices.iter().map(|&d| u128::from(to_root(fabric, d)) * 2).collect();
        matrix.reduce(&mut leaf);
        let unit = 1.0 / matrix.largest().max(1) as f64;
        let leaf: Vec<i128> = leaf.into_iter().map(|l| l as i128).collect();
        Ok(Self::shaped(matrix, unit, Some(&of_fabric(fabric, devices)), &leaf))
    }

    /// Cost by bandwidth: the narrowest link of all pairs' routes over the narrowest link of the pair's, both ways counted.
    ///
    /// # Errors
    /// Too many devices, a device twice, devices that no route joins.
    pub fn bandwidth(fabric: &Fabric, devices: &[NodeId]) -> Result<Self, PlacementError> {
        check(devices)?;
        let n = devices.len();
        let mut narrowest = vec![f64::INFINITY; n * n];
        for a in 0..n {
            for b in a + 1..n {
                let [(_, out), (_, back)] = both_ways(fabric, devices, a, b)?;
                narrowest[a * n + b] = out.min(back);
            }
        }
        let least = narrowest.iter().copied().fold(f64::INFINITY, f64::min);
        Self::of_costs(n, |a, b| least / narrowest[a * n + b], Some(&of_fabric(fabric, devices)))
    }

    /// Cost by measurement: a row for each device, in the order of the devices. The two values of a pair are averaged; the
    /// diagonal is not read.
    ///
    /// # Errors
    /// Too many devices, rows of a wrong length, a cost that is not finite and at least 0, a bandwidth of 0.
    pub fn measured(rows: &[Vec<f64>], what: Measured) -> Result<Self, PlacementError> {
        let n = rows.len();
        if n > MOST_DEVICES {
            return Err(PlacementError::TooManyDevices { devices: n, most: MOST_DEVICES });
        }
        if let Some((row, found)) = rows.iter().map(Vec::len).enumerate().find(|&(_, found)| found != n) {
            return Err(PlacementError::MatrixShape { row, found, devices: n });
        }
        let pairs = || (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        let mean = |(a, b): (usize, usize)| f64::midpoint(rows[a][b], rows[b][a]);
        for (a, b) in pairs() {
            for cost in [rows[a][b], rows[b][a]] {
                if !usable(cost) || (cost == 0.0 && what == Measured::Bandwidth) {
                    return Err(PlacementError::Cost { cost });
                }
            }
        }
        let least = pairs().map(mean).fold(f64::INFINITY, f64::min);
        let cost = |a, b| match what {
            Measured::Cost => mean((a, b)),
            Measured::Bandwidth => least / mean((a, b)),
        };
        Self::of_costs(n, cost, None)
    }

    /// Whether all devices are equally close, at no cost.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.matrix.devices() > 1 && self.matrix.largest() == 0
    }

    /// How many devices ranks can be placed on.
    #[must_use]
    pub fn devices(&self) -> usize {
        self.matrix.devices()
    }

    /// The cost of a pair of devices, by their positions in the list; 0 for a device and itself.
    #[must_use]
    pub fn cost(&self, a: usize, b: usize) -> f64 {
        self.units(a, b) * self.unit
    }

    /// The cost of a pair of devices in the unit of the machine, in which whole costs are whole.
    pub(super) fn units(&self, a: usize, b: usize) -> f64 {
        match &self.real {
            Some(real) => real[a.min(b) * self.devices() + a.max(b)],
            None => self.matrix.at(a, b) as f64,
        }
    }

    /// Whether a placement of least cost in whole numbers is, within 1e-9, one of least cost: of two sums of costs that are
    /// rounded by a share e, the one that seems smaller is at most (1 + e) / (1 − e) times the other.
    pub(super) fn proves(&self) -> bool {
        2.0 * self.error <= EQUAL * (1.0 - self.error)
    }

    /// Whether the costs are those of a tree, so that a small search can be exact.
    #[must_use]
    pub fn is_tree(&self) -> bool {
        self.is_tree
    }

    /// A machine of real costs of pairs (a < b).
    fn of_costs(n: usize, cost: impl Fn(usize, usize) -> f64, shape: Option<&Shape>) -> Result<Self, PlacementError> {
        let mut real = vec![0.0; n * n];
        for (a, b) in (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))) {
            real[a * n + b] = cost(a, b);
        }
        let Steps { cost, step, error } = quantised(&real);
        let matrix = Matrix::from_pairs(n, |a, b| Ok::<_, PlacementError>(cost[a * n + b]))?;
        let exact = Self::shaped(matrix, step, shape, &[]);
        Ok(if error == 0.0 { exact } else { Self { real: Some(real), unit: 1.0, error, ..exact } })
    }

    /// Looks for a tree that gives the costs: the fabric's, without and with leaf values, then that of the costs' clusters.
    fn shaped(matrix: Matrix, unit: f64, shape: Option<&Shape>, leaf: &[i128]) -> Self {
        let none = vec![0; matrix.devices()];
        let found = shape
            .and_then(|s| Tree::fit(s, &matrix, &none))
            .or_else(|| shape.filter(|_| !leaf.is_empty()).and_then(|s| Tree::fit(s, &matrix, leaf)))
            .or_else(|| Tree::fit(&of_costs(&matrix), &matrix, &none));
        let is_tree = found.is_some();
        let tree = found.unwrap_or_else(|| Tree::guide(&similar::shape(&matrix), matrix.devices()));
        Self { matrix, real: None, unit, error: 0.0, tree, is_tree }
    }
}

fn usable(cost: f64) -> bool {
    cost.is_finite() && cost >= 0.0
}

fn check(devices: &[NodeId]) -> Result<(), PlacementError> {
    if devices.len() > MOST_DEVICES {
        return Err(PlacementError::TooManyDevices { devices: devices.len(), most: MOST_DEVICES });
    }
    let mut sorted: Vec<(NodeId, usize)> = devices.iter().enumerate().map(|(i, &d)| (d, i)).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(PlacementError::DeviceTwice { first: pair[0].1, second: pair[1].1 }),
        None => Ok(()),
    }
}

/// (latency in ps, narrowest bandwidth in B/s) of the routes there and back.
fn both_ways(fabric: &Fabric, devices: &[NodeId], a: usize, b: usize) -> Result<[(u64, f64); 2], PlacementError> {
    let mut routes = Routes::new();
    let mut way = |from, to| {
        let route = routes.between(fabric, from, to)?;
        let narrowest = routes.links(route).iter().map(|&l| fabric.link(l).bandwidth).fold(f64::INFINITY, f64::min);
        Some((routes.latency(route).0, narrowest))
    };
    match (way(devices[a], devices[b]), way(devices[b], devices[a])) {
        (Some(out), Some(back)) => Ok([out, back]),
        _ => Err(PlacementError::NoRoute { first: a, second: b }),
    }
}

/// Latency of the links from a node up to its root, ps.
fn to_root(fabric: &Fabric, mut node: NodeId) -> u64 {
    let mut sum = 0_u64;
    while !fabric.node(node).parent.is_none() {
        sum = sum.saturating_add(fabric.link(fabric.node(node).up).latency.0);
        node = fabric.node(node).parent;
    }
    sum
}
