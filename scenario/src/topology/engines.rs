//! The engines of devices: one set for all operations.
//!
//! ```text
//! device ── send ──► (its queue out)      ──► copy-in ── device (its queue in)
//! with one copy engine both are one queue: `copy`, on an FPGA `dma`
//! ```
//!
//! **Source.** One transfer of a source at a time: step A of the PCIe congestion model. One or two copy engines, by
//! device: section II of the streams paper. (docs/models.md names both.)

use rustc_hash::FxHashMap;
use weir_plugin_api::{EngineScope, NodeId, NodeKind};
use weir_sim_core::{EngineId, SlotsError, TaskGraphBuilder};

use crate::source::Span;

/// Slots of a queue that serves everything at once: there is no engine.
const UNLIMITED: u32 = 0;

/// The queue of what leaves a device.
const SEND: &str = "send";
/// The queue of what is copied into a device.
const COPY_IN: &str = "copy-in";
/// The only copy engine of a device; with another number of slots, how many of them there are.
const COPY: &str = "copy";
/// The only copy engine of an FPGA.
const DMA: &str = "dma";
/// What computes on a device.
const COMPUTE: &str = "compute";

/// `engines` of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct EnginesText {
    pub(super) send: Option<u32>,
    /// 1 or 2.
    pub(super) copy: Option<u32>,
    pub(super) compute: Option<u32>,
}

/// Devices that are written as one below one parent, and wait for their engines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DeviceText {
    /// The first, how many there are, and from each to the next, with the nodes below it.
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) step: u32,
    /// Where their name stands.
    pub(crate) span: Span,
    /// Whether `engines` is given.
    pub(crate) written: bool,
}

impl DeviceText {
    /// The devices, in their order.
    pub(crate) fn nodes(self) -> impl Iterator<Item = NodeId> {
        (0..self.count).map(move |at| NodeId(self.first + at * self.step))
    }
}

/// How many tasks the engines of devices serve at once, and which of them are one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeviceEngines {
    /// Per node: slots of its queue out, or [`UNLIMITED`].
    send: Vec<u32>,
    /// Copy engines of devices where kind or `engines` decide them.
    copy: FxHashMap<NodeId, Copies>,
    /// Slots for computations, where `engines` gives them.
    compute: FxHashMap<NodeId, u32>,
}

/// The copy engines of a device.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Copies {
    count: u32,
    /// Whether `engines` gives them: then copies from host memory queue for them, too.
    written: bool,
    fpga: bool,
}

/// An engine of a device has another number of slots already.
#[derive(Debug)]
pub struct SlotsDiffer {
    /// The device whose engine it is.
    pub device: NodeId,
    /// Its engine, with both numbers.
    pub error: SlotsError,
}

impl SlotsDiffer {
    /// Whether it is the number of copy engines that differs.
    pub(crate) fn of_copy_engines(&self) -> bool {
        &*self.error.name == COPY
    }
}

impl DeviceEngines {
    /// Adds the next node.
    pub(super) fn add(&mut self, kind: NodeKind, text: EnginesText) {
        let (node, fpga) = (NodeId::from_index(self.send.len()), kind == NodeKind::Fpga);
        let limited = fpga || kind == NodeKind::Gpu || text.copy.is_some();
        self.send.push(text.send.unwrap_or(if limited { 1 } else { UNLIMITED }));
        // The boards of the PGAS paper (section 6, Fig. 8) have one DMA engine; that it serves both directions is assumed.
        if let Some(count) = text.copy.or(fpga.then_some(1)) {
            self.copy.insert(node, Copies { count, written: text.copy.is_some(), fpga });
        }
        if let Some(slots) = text.compute {
            self.compute.insert(node, slots);
        }
    }

    /// Slots of a device's queue out; `None` for no limit.
    #[must_use]
    pub fn send_slots(&self, device: NodeId) -> Option<u32> {
        self.send.get(device.index()).copied().filter(|&slots| slots != UNLIMITED)
    }

    /// Gives a device that has a limit so many slots of its queue out, 1 or more.
    pub fn set_send_slots(&mut self, device: NodeId, slots: u32) {
        if let Some(own) = self.send.get_mut(device.index()).filter(|own| **own != UNLIMITED) {
            *own = slots.max(1);
        }
    }

    /// Copy engines of a device, 1 or 2, where the topology decides them.
    #[must_use]
    pub fn copy_engines(&self, device: NodeId) -> Option<u32> {
        self.copy.get(&device).map(|copies| copies.count)
    }

    /// The name by which an engine of a device is known: with one copy engine its queues out and in are one.
    pub(crate) fn name<'n>(&self, device: NodeId, name: &'n str) -> &'n str {
        match (name, self.copy.get(&device)) {
            (SEND | COPY_IN | COPY | DMA, Some(Copies { count: 1, fpga, .. })) => one_queue(*fpga),
            _ => name,
        }
    }

    /// Slots of an engine of a device, where `asked` are asked for and the topology does not decide them.
    pub(crate) fn slots(&self, device: NodeId, name: &str, asked: u32) -> u32 {
        match self.name(device, name) {
            COMPUTE => self.compute.get(&device).copied(),
            SEND => self.send_slots(device),
            COPY | DMA if self.copy_engines(device) == Some(1) => self.send_slots(device),
            _ => None,
        }
        .unwrap_or(asked)
    }

    /// The engine of a device, made at its first use.
    ///
    /// # Errors
    /// It has another number of slots, and the topology decides neither.
    pub fn engine(
        &self,
        builder: &mut TaskGraphBuilder,
        device: NodeId,
        name: &str,
        asked: u32,
    ) -> Result<EngineId, SlotsDiffer> {
        let differ = |error| SlotsDiffer { device, error };
        match (self.copy_engines(device), self.send_slots(device)) {
            (Some(before), _) if name == COPY && before != asked => {
                Err(differ(SlotsError { name: COPY.into(), before, now: asked }))
            }
            // The one copy engine would be its queue out.
            (None, Some(before)) if name == COPY && asked == 1 && before > 1 => {
                Err(differ(SlotsError { name: SEND.into(), before, now: asked }))
            }
            _ => builder.engine(device, self.name(device, name), self.slots(device, name, asked)).map_err(differ),
        }
    }

    /// The engine that a plain transfer waits for: of its source, or of a destination whose copy engines the topology
    /// gives where host memory is the source.
    ///
    /// # Errors
    /// As [`Self::engine`].
    pub fn of_transfer(
        &self,
        builder: &mut TaskGraphBuilder,
        (from, source): (NodeId, NodeKind),
        to: NodeId,
    ) -> Result<EngineId, SlotsDiffer> {
        if let Some(slots) = self.send_slots(from) {
            return self.engine(builder, from, SEND, slots);
        }
        let host = matches!(source, NodeKind::Cpu | NodeKind::Host);
        match self.copy.get(&to) {
            Some(copies) if copies.written && host => self.engine(builder, to, COPY_IN, 1),
            _ => Ok(EngineId::NONE),
        }
    }

    /// The engine of a device's computations.
    ///
    /// # Errors
    /// As [`Self::engine`].
    pub(crate) fn of_computation(
        &self,
        builder: &mut TaskGraphBuilder,
        device: NodeId,
    ) -> Result<EngineId, SlotsDiffer> {
        self.engine(builder, device, COMPUTE, 1)
    }

    /// Makes the queues of devices one where an operation says that there is one copy engine, and the topology does not.
    pub(crate) fn unite(&self, builder: &mut TaskGraphBuilder) {
        let (mut of_device, mut whole) = (FxHashMap::default(), FxHashMap::default());
        for (i, engine) in builder.engines().iter().enumerate() {
            let EngineScope::Device(device) = engine.scope else { continue };
            match &*engine.name {
                COPY if engine.slots == 1 => drop(of_device.insert(device, EngineId(i as u32))),
                SEND | COPY_IN => drop(whole.insert(EngineId(i as u32), device)),
                _ => {}
            }
        }
        let parts = whole.into_iter().filter_map(|(part, device)| Some((part, *of_device.get(&device)?)));
        builder.move_tasks(&parts.collect());
    }
}

/// What the only copy engine of a device is called.
const fn one_queue(fpga: bool) -> &'static str {
    if fpga { DMA } else { COPY }
}

/// Whether an engine of this name is what a device sends with.
pub(crate) fn sends(name: &str) -> bool {
    matches!(name, SEND | COPY | DMA)
}
