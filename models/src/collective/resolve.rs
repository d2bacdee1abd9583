//! A collective with every value resolved: ranks, phases, what a step costs.

use weir_plugin_api::{CallError, Direction, LinkId, NodeId, PS_PER_S, RouteInfo, Surroundings};

use super::order::{self, Found};
use super::params::{Algorithm, CollectiveParams, Kind, Order};
use super::steps::Steps;
use super::{graph, levels};
use crate::links::RouteLinks;
use crate::machine::machines;
use crate::operation::{FORWARD, MOST_TIME_PS, check_count, refused};
use crate::quantities::MOST_BYTES;

/// Some ranks that do a collective among themselves.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Group {
    /// Positions among all ranks; the root first.
    pub(super) ranks: Vec<u32>,
    /// Of all channels together.
    pub(super) steps: Steps,
    /// The order of each channel in turn, where they differ; else empty.
    pub(super) orders: Vec<Vec<u32>>,
}

impl Group {
    /// The ranks in the order of a channel.
    pub(super) fn order(&self, channel: u64) -> &[u32] {
        match self.orders.len() as u64 {
            0 => &self.ranks,
            count => &self.orders[(channel % count) as usize],
        }
    }
}

/// Groups side by side. A rank begins the next phase when it has ended this one.
pub(super) type Phase = Vec<Group>;

/// A collective as it is planned and estimated.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Collective {
    pub(super) kind: Kind,
    pub(super) algorithm: Algorithm,
    /// As nccl-tests count it.
    pub(super) size: u64,
    /// The devices.
    pub(super) ranks: Vec<u32>,
    pub(super) phases: Vec<Phase>,
    pub(super) channels: u64,
    pub(super) chunk: Option<u64>,
    /// γ: time to add a byte, ps.
    pub(super) per_byte_added: f64,
    /// Time of a step before its bytes leave, ps.
    pub(super) lead: f64,
    /// Payload over what the links carry.
    pub(super) efficiency: f64,
    /// How the order was found, where it was not given.
    pub(super) found: Option<Found>,
}

impl Collective {
    pub(crate) fn of(params: &CollectiveParams, surroundings: &Surroundings<'_>) -> Result<Self, CallError> {
        check(params)?;
        let algorithm = algorithm(params)?;
        let given = ranks(params)?;
        let rings = graph::rings(params, algorithm, &given, surroundings)?;
        let channels = params.options.channels.unwrap_or(rings.len().max(1) as u64);
        let (ranks, found) = ordered(params, given, surroundings)?;
        let n = ranks.len() as u64;
        // Each channel of each rank has a task at least.
        check_count(channels.saturating_mul(n), "channels: give fewer, or name fewer ranks")?;
        let steps = Steps { kind: params.kind, algorithm, n, size: params.size.0 };
        let phases = match &params.options.levels {
            Some(levels) => levels::phases(levels, steps, &ranks, surroundings)?,
            None => {
                let orders = match rings.is_empty() && channels > 1 {
                    true => turned(&steps, &ranks, channels, surroundings),
                    false => rings,
                };
                vec![vec![Group { ranks: (0..n as u32).collect(), steps, orders }]]
            }
        };
        let protocol = params.options.protocol.unwrap_or_default();
        let collective = Self {
            kind: params.kind,
            algorithm,
            size: params.size.0,
            ranks,
            phases,
            channels,
            chunk: params.options.chunk.map(|chunk| chunk.0),
            per_byte_added: params.options.reduce.map_or(0.0, |rate| PS_PER_S as f64 / rate.0),
            lead: protocol.latency.0,
            efficiency: protocol.efficiency.0,
            found,
        };
        collective.check_amounts()?;
        collective.check_tasks()?;
        collective.check_routes(surroundings)?;
        Ok(collective)
    }

    /// Bytes that the links carry for a payload.
    pub(super) fn carried(&self, bytes: u64) -> u64 {
        if self.efficiency < 1.0 { (bytes as f64 / self.efficiency).ceil() as u64 } else { bytes }
    }

    /// The steps of a channel: parts of the size are its whole bytes from ⌊c · size / channels⌋ on.
    pub(super) fn of_channel(&self, steps: &Steps, channel: u64) -> Steps {
        let start = |c: u64| (u128::from(c) * u128::from(steps.size) / u128::from(self.channels)) as u64;
        Steps { size: start(channel + 1) - start(channel), ..*steps }
    }

    /// Number and size of the chunks of a channel's messages; one of all bytes where they are not cut.
    pub(super) fn chunks(&self, steps: &Steps) -> (u64, u64) {
        let largest = steps.largest().max(1);
        let chunk = self.chunk.filter(|_| steps.is_pipelined()).map_or(largest, |chunk| chunk.min(largest));
        (largest.div_ceil(chunk), chunk)
    }

    /// The route between two ranks.
    pub(super) fn route(&self, surroundings: &Surroundings<'_>, from: u32, to: u32) -> Result<RouteInfo, CallError> {
        let ends = [from, to].map(|rank| NodeId(self.ranks[rank as usize]));
        surroundings.routes.route(ends[0], ends[1]).ok_or_else(|| {
            refused(format!(
                "ranks: the topology has no route from rank {from} to rank {to}; name devices that links connect; {FORWARD}"
            ))
        })
    }

    fn check_tasks(&self) -> Result<(), CallError> {
        let adding = if self.per_byte_added > 0.0 { 2 } else { 1 };
        let mut tasks = 0_u64;
        for group in self.phases.iter().flatten() {
            let messages = group.steps.messages().saturating_mul(self.channels);
            let (chunks, _) = self.chunks(&self.of_channel(&group.steps, 0));
            tasks = tasks.saturating_add(messages.saturating_mul(chunks).saturating_mul(adding));
        }
        let key = match (self.chunk, self.channels) {
            (Some(_), _) => "chunk: give larger chunks, fewer channels",
            (None, 2..) => "channels: give fewer, name fewer ranks",
            _ => "ranks: name fewer",
        };
        check_count(tasks, &format!("{key}, or an algorithm with fewer messages"))
    }

    /// What the links carry and how long adding takes stay within what a plan may hold.
    fn check_amounts(&self) -> Result<(), CallError> {
        if self.carried(self.size) > MOST_BYTES {
            return Err(refused("protocol.efficiency: the links would carry more than 2^53 bytes; give a larger one"));
        }
        if self.size as f64 * self.per_byte_added > MOST_TIME_PS {
            return Err(refused("reduce: adding would take more than 100 days; give more bytes per second"));
        }
        Ok(())
    }

    /// Neighbours have routes; for `nvls` every rank is a link away from the switch, which adds and multicasts.
    fn check_routes(&self, surroundings: &Surroundings<'_>) -> Result<(), CallError> {
        for group in self.phases.iter().flatten() {
            let orders = group.orders.iter().chain(group.orders.is_empty().then_some(&group.ranks));
            let neighbours = orders.flat_map(|order| order.iter().zip(order.iter().cycle().skip(1)));
            for (&rank, &next) in neighbours {
                let route = self.route(surroundings, rank, next)?;
                if group.steps.algorithm == Algorithm::Nvls && route.links != 2 {
                    let text = "algorithm: `nvls` needs ranks at one switch; choose another algorithm, or `levels`";
                    return Err(refused(text));
                }
            }
            self.check_one_way(surroundings, group)?;
        }
        Ok(())
    }

    /// Where the switch moves all bytes one way alone, the plan has them both ways: the other way must not be the narrower one.
    fn check_one_way(&self, surroundings: &Surroundings<'_>, group: &Group) -> Result<(), CallError> {
        let Some(way) = group.steps.one_way() else { return Ok(()) };
        // Of a fabric that is too large it is not known.
        let Some(links) = RouteLinks::new(surroundings.fabric, group.ranks.len()) else { return Ok(()) };
        let [mut up, mut down] = [f64::INFINITY; 2];
        for (&rank, &next) in group.ranks.iter().zip(group.ranks.iter().cycle().skip(1)) {
            let mut route = Vec::new();
            links.add(self.ranks[rank as usize], self.ranks[next as usize], &mut route);
            if let [to_switch, from_switch] = route[..] {
                let of = |link: LinkId| surroundings.fabric.bandwidth[link.index()];
                (up, down) = (up.min(of(to_switch)), down.min(of(from_switch)));
            }
        }
        let (all, part, wider) = match way {
            Direction::Up => (up, down, "to the switch than from"),
            _ => (down, up, "from the switch than to"),
        };
        if all <= part {
            return Ok(());
        }
        let kind = group.steps.kind.word();
        Err(refused(format!(
            "algorithm: {kind} by `nvls` has all bytes both ways in its plan, and links are wider {wider} it; give them as \
             much bandwidth both ways, or choose another algorithm"
        )))
    }
}

fn check(params: &CollectiveParams) -> Result<(), CallError> {
    if params.size.0 == 0 {
        return Err(refused("size: must not be 0; give the bytes of a rank"));
    }
    if params.options.channels == Some(0) {
        return Err(refused("channels: must not be 0; give 1 or more"));
    }
    if params.options.chunk.is_some_and(|chunk| chunk.0 == 0) {
        return Err(refused("chunk: must not be 0; give a size, or leave it out"));
    }
    if params.options.protocol.is_some_and(|protocol| protocol.efficiency.0 > 1.0) {
        return Err(refused("protocol.efficiency: must not be above 1; give payload over bytes on the links"));
    }
    Ok(())
}

/// The algorithm, which does the kind.
fn algorithm(params: &CollectiveParams) -> Result<Algorithm, CallError> {
    let (kind, n) = (params.kind, params.ranks.0.len());
    let algorithm = params.options.algorithm.unwrap_or(Algorithm::usual(kind));
    if algorithm == Algorithm::Auto {
        return Err(refused("algorithm: `auto` leaves it open; name an algorithm here"));
    }
    let fitting = || {
        let all = Algorithm::ALL.iter().filter(|a| a.fits(kind, n as u64));
        all.map(|a| a.word()).collect::<Vec<_>>().join(", ")
    };
    let (word, kind_word) = (algorithm.word(), kind.word());
    if !algorithm.does(kind) {
        return Err(refused(format!("algorithm: `{word}` does no {kind_word}; choose one of {}, or auto", fitting())));
    }
    if params.options.levels.is_none() && !algorithm.fits(kind, n as u64) {
        let text = format!("algorithm: `{word}` needs a power of two of ranks, not {n}; choose one of {}", fitting());
        return Err(refused(text));
    }
    Ok(algorithm)
}

/// The orders of channels whose ranks of each machine begin one place later than on the channel before, so that rings leave a
/// machine by another rank each; empty where there is only one machine, or no ring.
fn turned(steps: &Steps, ranks: &[u32], channels: u64, surroundings: &Surroundings<'_>) -> Vec<Vec<u32>> {
    if steps.algorithm != Algorithm::Ring || steps.kind.is_rooted() {
        return Vec::new();
    }
    let of_node = machines(surroundings.fabric);
    let machine = |rank: &u32| of_node.get(*rank as usize);
    let runs: Vec<usize> = ranks.chunk_by(|a, b| machine(a) == machine(b)).map(<[_]>::len).collect();
    let longest = runs.iter().copied().max().unwrap_or(0);
    if runs.len() < 2 || longest < 2 {
        return Vec::new();
    }
    let order = |channel: u64| {
        let (mut order, mut first): (Vec<u32>, usize) = ((0..ranks.len() as u32).collect(), 0);
        for &run in &runs {
            order[first..first + run].rotate_left((channel % run as u64) as usize);
            first += run;
        }
        order
    };
    (0..channels).map(order).collect()
}

/// The ranks in the order that is asked for, and how it was found.
fn ordered(
    params: &CollectiveParams,
    ranks: Vec<u32>,
    surroundings: &Surroundings<'_>,
) -> Result<(Vec<u32>, Option<Found>), CallError> {
    if params.options.order != Some(Order::Topology) {
        return Ok((ranks, None));
    }
    let found = order::by_topology(&ranks, surroundings);
    let (ranks, found) = found.ok_or_else(|| {
        refused(
            "order: links do not join all ranks, or the topology is too large for so many ranks; use `order: ranks`",
        )
    })?;
    Ok((ranks, Some(found)))
}

/// The devices in order, the root first where there is one.
fn ranks(params: &CollectiveParams) -> Result<Vec<u32>, CallError> {
    let mut ranks = params.ranks.0.clone();
    if ranks.len() < 2 {
        return Err(refused("ranks: a collective needs at least two; name more devices"));
    }
    let mut sorted = ranks.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(refused("ranks: a device is named twice; name each once"));
    }
    let Some(root) = params.root else { return Ok(ranks) };
    if !params.kind.is_rooted() {
        return Err(refused(format!("root: {} has none; remove it", params.kind.word())));
    }
    let Some(at) = ranks.iter().position(|&rank| rank == root.0) else {
        return Err(refused("root: it is not among the ranks; name one of them"));
    };
    ranks.rotate_left(at);
    Ok(ranks)
}
