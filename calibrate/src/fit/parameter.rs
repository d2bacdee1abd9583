//! What is fitted: bandwidths and latencies of sets of links, parameters of the arbiter, those of LogGP.

use weir_plugin_api::{LinkId, NodeId, SimDuration};
use weir_scenario::{ArbiterValues, DeviceEngines, Machine};

use super::marked::Marked;

/// Unit of the coordinate of a time: latencies are fitted in microseconds, so that steps are of the size of ln steps.
pub(crate) const TIME_UNIT: f64 = 1e-6;

/// Bandwidths that a topology may give, bytes per second (docs/scenario-format.md).
const BANDWIDTHS: [f64; 2] = [1e-3, 1e18];
/// Weights that a transfer may have (docs/scenario-format.md).
const WEIGHTS: [f64; 2] = [1e-9, 1e9];

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ParameterKind {
    /// Bandwidth of links, bytes per second.
    Bandwidth,
    /// What both directions of links, or all links of nodes, carry together, bytes per second.
    Shared,
    /// Latency of links, seconds.
    Latency,
    /// Weight of copies out of host memory, where all others have 1.
    HostWeight,
    /// A parameter of the arbiter, a plain number.
    Arbiter,
    /// How many transfers devices send at once, a whole number.
    Engines,
    /// L of LogGP, seconds.
    LoggpLatency,
    /// o of LogGP, seconds.
    LoggpOverhead,
    /// g of LogGP, seconds.
    LoggpGap,
    /// G of LogGP, seconds per byte.
    LoggpPerByte,
}

impl ParameterKind {
    /// Whether its coordinate is the logarithm of its value: values above 0 that may lie orders of magnitude off.
    pub(crate) fn is_log(self) -> bool {
        self.is_capacity() || matches!(self, Self::HostWeight | Self::LoggpPerByte)
    }

    /// Whether it is bytes per second that links carry.
    pub(crate) fn is_capacity(self) -> bool {
        matches!(self, Self::Bandwidth | Self::Shared)
    }

    /// Whether it is a time that may come out as 0.
    pub(crate) fn is_time(self) -> bool {
        matches!(self, Self::Latency | Self::LoggpLatency | Self::LoggpOverhead | Self::LoggpGap)
    }

    /// Whether it is one of LogGP.
    #[must_use]
    pub(crate) fn is_loggp(self) -> bool {
        matches!(self, Self::LoggpLatency | Self::LoggpOverhead | Self::LoggpGap | Self::LoggpPerByte)
    }
}

/// Which directions of a link a parameter holds for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Both.
    Both,
    /// Towards the root, or from the first to the second end of a lateral link.
    Up,
    /// The other way.
    Down,
}

/// One number that is fitted.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Its name for a person: `bandwidth of pcie`.
    pub name: String,
    /// The quantity, which gives the unit of its values.
    pub kind: ParameterKind,
    /// The directed links that it holds for, ascending; empty for others.
    pub links: Vec<LinkId>,
    /// Of a shared bandwidth: its places in [`weir_sim_core::Fabric::shared`].
    pub shared: Vec<u32>,
    /// The place among the machine's types of its link type, when it holds for all links of a type with a name.
    pub of_type: Option<usize>,
    /// Which half of its links it holds for; means nothing without links.
    pub direction: Direction,
    /// The value before the fit, in the unit of its kind.
    pub start: f64,
    /// Of a parameter of the arbiter: which.
    pub marked: Option<Marked>,
    /// Of engines: whose.
    pub devices: Vec<NodeId>,
}

impl Parameter {
    fn of_no_link(name: &str, kind: ParameterKind, start: f64) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            links: Vec::new(),
            shared: Vec::new(),
            of_type: None,
            direction: Direction::Both,
            start,
            marked: None,
            devices: Vec::new(),
        }
    }

    /// The coordinate of a value: ln for bandwidths, µs for times, parts of the range for parameters of the arbiter.
    pub(crate) fn coordinate(&self, value: f64) -> f64 {
        match self.kind {
            kind if kind.is_log() => libm::log(value),
            kind if kind.is_time() => value / TIME_UNIT,
            _ => self.marked.as_ref().map_or(value, |marked| value / marked.unit()),
        }
    }

    /// The value of a coordinate.
    pub(crate) fn value(&self, coordinate: f64) -> f64 {
        match self.kind {
            kind if kind.is_capacity() => libm::exp(coordinate).clamp(BANDWIDTHS[0], BANDWIDTHS[1]),
            ParameterKind::HostWeight => libm::exp(coordinate).clamp(WEIGHTS[0], WEIGHTS[1]),
            kind if kind.is_log() => libm::exp(coordinate),
            kind if kind.is_time() => coordinate * TIME_UNIT,
            _ => self
                .marked
                .as_ref()
                .map_or(coordinate, |marked| (coordinate * marked.unit()).clamp(marked.least, marked.most)),
        }
    }

    /// Change of the value per change of the coordinate.
    pub(crate) fn slope(&self, value: f64) -> f64 {
        match self.kind {
            kind if kind.is_log() => value,
            kind if kind.is_time() => TIME_UNIT,
            _ => self.marked.as_ref().map_or(1.0, Marked::unit),
        }
    }

    /// The coordinates between which it has a meaning, where there are such.
    pub(crate) fn limits(&self) -> Option<[f64; 2]> {
        self.marked.as_ref().map(|marked| [marked.least, marked.most].map(|value| value / marked.unit()))
    }

    /// The nearest coordinate that has a meaning.
    pub(crate) fn within_limits(&self, coordinate: f64) -> f64 {
        self.limits().map_or(coordinate, |[least, most]| coordinate.clamp(least, most))
    }
}

/// Parameters of LogGP: seconds, and seconds per byte.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Loggp {
    /// L: on the way.
    pub latency: f64,
    /// o: of sender and receiver.
    pub overhead: f64,
    /// g: between two messages.
    pub gap: f64,
    /// G: per byte after the first.
    pub per_byte: f64,
}

/// A value for everything that a simulation depends on.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// Per directed link, bytes per second.
    pub bandwidth: Vec<f64>,
    /// Per place in [`weir_sim_core::Fabric::shared`], bytes per second.
    pub shared: Vec<f64>,
    /// Per directed link, seconds.
    pub latency: Vec<f64>,
    /// How many transfers devices send at once.
    pub engines: DeviceEngines,
    /// Weight of copies out of host memory, where all others have 1.
    pub host_weight: f64,
    /// Parameters of the arbiter, those that are fitted.
    pub arbiter: ArbiterValues,
    /// LogGP in the place of the links, where that is fitted.
    pub loggp: Option<Loggp>,
}

impl Setting {
    /// The values of the topology.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let links = machine.fabric.links();
        Self {
            bandwidth: links.iter().map(|link| link.bandwidth).collect(),
            shared: machine.fabric.shared().iter().map(|shared| shared.bandwidth).collect(),
            latency: links.iter().map(|link| link.latency.seconds()).collect(),
            engines: machine.engines().clone(),
            host_weight: 1.0,
            arbiter: ArbiterValues::new(),
            loggp: None,
        }
    }

    /// The same with a parameter at a value.
    pub fn set(&mut self, parameter: &Parameter, value: f64) {
        match parameter.kind {
            ParameterKind::Bandwidth => parameter.links.iter().for_each(|l| self.bandwidth[l.index()] = value),
            ParameterKind::Shared => parameter.shared.iter().for_each(|&at| self.shared[at as usize] = value),
            ParameterKind::HostWeight => self.host_weight = value,
            ParameterKind::Latency => parameter.links.iter().for_each(|l| self.latency[l.index()] = value),
            ParameterKind::Arbiter => {
                let place = parameter.marked.as_ref().map(|marked| marked.parameter.clone());
                place.map(|place| self.arbiter.insert(place, value));
            }
            ParameterKind::Engines => {
                parameter.devices.iter().for_each(|&device| self.engines.set_send_slots(device, value as u32));
            }
            ParameterKind::LoggpLatency => self.loggp.get_or_insert_default().latency = value,
            ParameterKind::LoggpOverhead => self.loggp.get_or_insert_default().overhead = value,
            ParameterKind::LoggpGap => self.loggp.get_or_insert_default().gap = value,
            ParameterKind::LoggpPerByte => self.loggp.get_or_insert_default().per_byte = value,
        }
    }
}

/// The bandwidths of all links in use: one per link type, or per direction where the type has two.
#[must_use]
pub fn bandwidths(machine: &Machine, used: &[LinkId]) -> Vec<Parameter> {
    by_type(machine, used, ParameterKind::Bandwidth, |link| machine.fabric.link(link).bandwidth)
}

/// The latencies of all links in use: one per link type.
#[must_use]
pub fn latencies(machine: &Machine, used: &[LinkId]) -> Vec<Parameter> {
    by_type(machine, used, ParameterKind::Latency, |link| machine.fabric.link(link).latency.seconds())
}

fn by_type(machine: &Machine, used: &[LinkId], kind: ParameterKind, start: impl Fn(LinkId) -> f64) -> Vec<Parameter> {
    let all = || (0..machine.fabric.links().len()).map(LinkId::from_index);
    // By type with a name, in file order, then by the place of the others.
    let key = |link: LinkId| (machine.type_of(link).unwrap_or(usize::MAX), machine.in_place(link).map_or(0, |l| l.0));
    let mut keys: Vec<_> = used.iter().map(|&link| key(link)).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut parameters = Vec::new();
    for wanted in keys {
        let links: Vec<LinkId> = all().filter(|&link| key(link) == wanted).collect();
        let Some(&first) = links.first() else { continue };
        let named = machine.type_of(first);
        let name =
            named.map_or_else(|| format!("the link of {}", below(machine, first)), |at| machine.types[at].name.clone());
        let half = |down: bool| links.iter().copied().filter(move |l| l.0 % 2 == u32::from(down)).collect::<Vec<_>>();
        let (up, down) = (half(false), half(true));
        let split = kind == ParameterKind::Bandwidth && start(up[0]) != start(down[0]);
        let parts = match split {
            true => vec![(up, Direction::Up, ", up"), (down, Direction::Down, ", down")],
            false => vec![(links, Direction::Both, "")],
        };
        for (links, direction, side) in parts {
            let what = if kind == ParameterKind::Bandwidth { "bandwidth" } else { "latency" };
            let start = start(links[0]);
            let name = format!("{what} of {name}{side}");
            let shared = Vec::new();
            let (marked, devices) = (None, Vec::new());
            let of_type = named;
            parameters.push(Parameter { name, kind, links, shared, of_type, direction, start, marked, devices });
        }
    }
    parameters
}

/// The lower node of a tree link, both ends of a lateral one.
pub(crate) fn below(machine: &Machine, link: LinkId) -> String {
    use weir_plugin_api::Direction as Way;
    let found = machine.fabric.link(link);
    let (from, to) = (machine.node_name(found.from), machine.node_name(found.to));
    match found.direction {
        Way::Up => from.to_owned(),
        Way::Down => to.to_owned(),
        _ => format!("{from}–{to}"),
    }
}

/// The weight of copies out of host memory.
#[must_use]
pub fn host_weight() -> Parameter {
    Parameter::of_no_link("weight of copies out of host memory", ParameterKind::HostWeight, 1.0)
}

/// How many transfers some devices send at once, from a value.
#[must_use]
pub(super) fn engines(name: &str, devices: &[NodeId], start: u32) -> Parameter {
    let name = format!("engines of {name}");
    Parameter { devices: devices.to_vec(), ..Parameter::of_no_link(&name, ParameterKind::Engines, start.into()) }
}

/// A parameter of an arbiter, from a value.
#[must_use]
pub fn of_arbiter(marked: Marked, start: f64) -> Parameter {
    let name = format!("{} of {}", marked.parameter, marked.policy);
    Parameter { marked: Some(marked), ..Parameter::of_no_link(&name, ParameterKind::Arbiter, start) }
}

/// The four of LogGP, from the times of the data: half the shortest time for latency and overhead, a tenth for the gap,
/// the least time per byte of the longest (*assumed* starts; the fit moves them).
#[must_use]
pub fn loggp(shortest: f64, per_byte: f64) -> Vec<Parameter> {
    let all = [
        ("latency L of loggp", ParameterKind::LoggpLatency, shortest * 0.4),
        ("overhead o of loggp", ParameterKind::LoggpOverhead, shortest * 0.2),
        ("gap g of loggp", ParameterKind::LoggpGap, shortest * 0.2),
        ("per_byte G of loggp", ParameterKind::LoggpPerByte, per_byte),
    ];
    all.into_iter().map(|(name, kind, start)| Parameter::of_no_link(name, kind, start)).collect()
}

/// Seconds as whole picoseconds, nearest, within what a simulation takes.
pub(crate) fn picoseconds(seconds: f64) -> SimDuration {
    SimDuration(libm::round((seconds * 1e12).clamp(0.0, 8.64e18)) as u64)
}
