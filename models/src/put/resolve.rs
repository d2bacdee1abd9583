//! A put with every value resolved: steps with their levels, ends and times; groups; packets.

use weir_plugin_api::{CallError, EngineScope, NodeId, NodeKind, Surroundings};

use super::packets::packet_size;
use super::params::{PutParams, StepName};
use crate::level::Level;
use crate::machine::machine_of;
use crate::operation::{Ends, check_count, refused, route};
use crate::quantities::size;

/// One step of every packet.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Step {
    pub(super) name: StepName,
    pub(super) level: Level,
    pub(super) engine: (&'static str, EngineScope),
    pub(super) ends: Ends,
    /// Whether it is the first of its group.
    pub(super) opens: bool,
    /// For the first of a group: how many steps the group has.
    pub(super) group: usize,
    /// T of a packet, ps.
    pub(super) time: f64,
    /// T of the last packet, ps.
    pub(super) last_time: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Put {
    pub(super) bytes: u64,
    /// `None` where all goes in one piece.
    pub(super) packet: Option<u64>,
    pub(super) steps: Vec<Step>,
}

impl Put {
    pub(super) fn of(params: &PutParams, surroundings: &Surroundings<'_>) -> Result<Self, CallError> {
        let bytes = params.size.0;
        if params.from == params.to {
            return Err(refused("to: source and target are the same device; name two"));
        }
        let mut put = Self { bytes, packet: packet_size(params)?, steps: Vec::new() };
        let levels =
            [(StepName::Read, &params.read), (StepName::Network, &params.network), (StepName::Write, &params.write)];
        for (name, level) in levels {
            let level = match level {
                Some(level) => level.level(name.key())?,
                // Both cpus may be the same, or a device its own.
                None if params.over.is_some() && via(params)?.is_none_or(|via| apart(name, params, via)) => {
                    Level::Fabric
                }
                None => continue,
            };
            put.steps.push(step(name, level, params, surroundings)?);
        }
        if put.steps.is_empty() {
            let help = "give `read`, `network` or `write`, or more of them, or `over: fabric`";
            return Err(refused(format!("the transfer has no level; {help}")));
        }
        let remedy = format!("packet: give a packet larger than {}", size(put.packet.unwrap_or(bytes)));
        check_count(put.packets().saturating_mul(put.steps.len() as u64), &remedy)?;
        group(&mut put.steps, params.overlap.as_deref())?;
        put.find_times(surroundings)?;
        Ok(put)
    }

    /// N of equation (11).
    pub(super) fn packets(&self) -> u64 {
        self.packet.map_or(1, |packet| self.bytes.div_ceil(packet))
    }

    /// Bytes of a packet that is not the last.
    pub(super) fn full(&self) -> u64 {
        self.packet.unwrap_or(self.bytes)
    }

    /// Bytes of the last packet.
    pub(super) fn last(&self) -> u64 {
        self.bytes - (self.packets() - 1) * self.full()
    }

    fn find_times(&mut self, surroundings: &Surroundings<'_>) -> Result<(), CallError> {
        let (full, last) = (self.full(), self.last());
        for step in &mut self.steps {
            let route = if step.level.is_fabric() {
                Some(route(surroundings, step.ends, &format!("{}.fabric", step.name.key()), "between its two ends")?)
            } else {
                None
            };
            step.time = step.level.time(full, route.as_ref())?;
            step.last_time = if last == full { step.time } else { step.level.time(last, route.as_ref())? };
        }
        Ok(())
    }
}

/// The cpus of source and target.
fn via(params: &PutParams) -> Result<Option<(u32, u32)>, CallError> {
    match params.via.as_ref().map(|via| &via.0[..]) {
        None => Ok(None),
        Some(&[source, target]) => Ok(Some((source, target))),
        Some(_) => Err(refused("via: give two cpus, that of the source and that of the target")),
    }
}

fn ends_via(name: StepName, params: &PutParams, (source, target): (u32, u32)) -> Ends {
    match name {
        StepName::Read => Ends::new(params.from.0, source),
        StepName::Network => Ends::new(source, target),
        StepName::Write => Ends::new(target, params.to.0),
    }
}

fn apart(name: StepName, params: &PutParams, via: (u32, u32)) -> bool {
    let ends = ends_via(name, params, via);
    ends.from != ends.to
}

fn step(name: StepName, level: Level, params: &PutParams, surroundings: &Surroundings<'_>) -> Result<Step, CallError> {
    let (from, to) = (params.from.0, params.to.0);
    let via = via(params)?;
    let ends = match (via, level.is_fabric()) {
        (None, true) => {
            let key = name.key();
            return Err(refused(format!(
                "{key}.fabric: the cpus are not known; add `via: [cpu of the source, cpu of the target]`"
            )));
        }
        (None, false) => Ends::new(from, to),
        (Some(via), _) => ends_via(name, params, via),
    };
    if level.is_fabric() && ends.from == ends.to {
        let key = name.key();
        return Err(refused(format!("{key}.fabric: both ends are the same node; leave `{key}` out, or give `via`")));
    }
    let nic = via.map(|(source, _)| source).or_else(|| machine_of(surroundings.fabric, from));
    let engine = match name {
        StepName::Read => (copy_engine(surroundings, from, "send"), device(from)),
        StepName::Network => ("nic", nic.map_or(EngineScope::Operation, device)),
        StepName::Write => (copy_engine(surroundings, to, "copy-in"), device(to)),
    };
    Ok(Step { name, level, engine, ends, opens: false, group: 0, time: 0.0, last_time: 0.0 })
}

/// The queue of a device of the topology that has queues out and in; others have one DMA engine.
fn copy_engine(surroundings: &Surroundings<'_>, node: u32, queue: &'static str) -> &'static str {
    match surroundings.fabric.node_kind.as_slice().get(node as usize) {
        Some(NodeKind::Gpu | NodeKind::Fpga) => queue,
        _ => "dma",
    }
}

fn device(node: u32) -> EngineScope {
    EngineScope::Device(NodeId(node))
}

/// Marks where groups begin. Without `overlap`: [[read, network], [write]], as far as these steps are there.
fn group(steps: &mut [Step], overlap: Option<&[Vec<StepName>]>) -> Result<(), CallError> {
    let usual = [vec![StepName::Read, StepName::Network], vec![StepName::Write]];
    let there: Vec<StepName> = steps.iter().map(|step| step.name).collect();
    let groups: Vec<Vec<StepName>> = match overlap {
        Some(groups) => groups.to_vec(),
        None => usual.map(|group| group.into_iter().filter(|name| there.contains(name)).collect()).to_vec(),
    };
    if groups.concat() != there {
        let keys = there.iter().map(|name| name.key()).collect::<Vec<_>>().join(", ");
        return Err(refused(format!(
            "overlap: its groups must hold the levels of this transfer once each, in order: {keys}"
        )));
    }
    let mut at = 0;
    for group in groups.iter().filter(|group| !group.is_empty()) {
        (steps[at].opens, steps[at].group) = (true, group.len());
        at += group.len();
    }
    Ok(())
}
