//! What a person writes under `offload`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::presets::{Duplex, Preset};
use crate::operation::Over;
use crate::quantities::{Bandwidth, Bytes, Node, PerByte, Positive, Time};

/// Most streams of one operation (*assumed*; Figs. 5 and 6 of the text go to 256).
pub(super) const MOST_STREAMS: u64 = 1_000_000;

/// How the data get to the device and back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Method {
    // One copy in, the kernel, one copy out: as one stream.
    Explicit,
    // Copies and kernels in pieces that overlap.
    Streams,
    // The kernel reads and writes host memory.
    Mapped,
    // Copies in by streams, results written to host memory.
    Hybrid,
}

/// The number of streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Streams {
    /// The fastest of 1 to 256 by simulation.
    Auto(AutoWord),
    /// So many.
    Number(#[schemars(range(min = 1, max = MOST_STREAMS))] u64),
}

/// The word `auto`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum AutoWord {
    // Chosen by simulation.
    Auto,
}

/// Latency L + o, time per byte G and gap g of each direction.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameters {
    /// L + o of copies to the device. Default: the preset's, else 0.
    #[serde(default)]
    #[schemars(with = "Time")]
    pub(crate) latency_in: Option<Time>,
    /// G of copies to the device. Default: the preset's.
    #[serde(default)]
    #[schemars(with = "PerByte")]
    pub(crate) per_byte_in: Option<PerByte>,
    /// g between copies to the device. Default: the preset's, else 0.
    #[serde(default)]
    #[schemars(with = "Time")]
    pub(crate) gap_in: Option<Time>,
    /// L + o of copies from the device. Default: the preset's, else 0.
    #[serde(default)]
    #[schemars(with = "Time")]
    pub(crate) latency_out: Option<Time>,
    /// G of copies from the device. Default: the preset's.
    #[serde(default)]
    #[schemars(with = "PerByte")]
    pub(crate) per_byte_out: Option<PerByte>,
    /// g between copies from the device. Default: the preset's, else 0.
    #[serde(default)]
    #[schemars(with = "Time")]
    pub(crate) gap_out: Option<Time>,
}

/// What the roofline bounds need.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bounds {
    /// Floating-point operations of the whole kernel.
    pub(crate) flops: Positive,
    /// Peak compute performance, flop/s.
    pub(crate) peak_flops: Positive,
    /// Peak bandwidth of device memory.
    pub(crate) memory_bandwidth: Bandwidth,
    /// Operations per byte of traffic to device memory.
    pub(crate) operational_intensity: Positive,
    /// Bandwidth of PCIe. Default: bytes over the time that the parameters give them.
    #[serde(default)]
    #[schemars(with = "Bandwidth")]
    pub(crate) pcie_bandwidth: Option<Bandwidth>,
}

/// The map under `offload`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OffloadParams {
    /// The device that computes.
    pub(crate) device: Node,
    /// Bytes from host to device.
    #[serde(default, rename = "in")]
    pub(crate) bytes_in: Bytes,
    /// Bytes from device to host.
    #[serde(default, rename = "out")]
    pub(crate) bytes_out: Bytes,
    /// Time of the whole kernel.
    #[serde(default)]
    pub(crate) kernel: Time,
    /// Default: `streams` if `streams` is given, else `explicit`.
    #[serde(default)]
    #[schemars(with = "Method")]
    pub(crate) method: Option<Method>,
    /// Number of streams, or `auto`. Default: 1.
    #[serde(default)]
    #[schemars(with = "Streams")]
    pub(crate) streams: Option<Streams>,
    /// Copy engines of the device. Default: as the topology says, else 2.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 2), extend("x-weir-copy-engines" = "device"))]
    pub(crate) copy_engines: u8,
    /// Whether no copy out starts before the last kernel has ended.
    #[serde(default)]
    pub(crate) implicit_sync: bool,
    /// A device whose parameters were published.
    #[serde(default)]
    #[schemars(with = "Preset")]
    pub(crate) preset: Option<Preset>,
    /// Parameters; over those of the preset.
    #[serde(default)]
    pub(crate) parameters: Parameters,
    /// Published times per byte of both directions at once; they take the place of `per_byte_in` and `per_byte_out`.
    #[serde(default)]
    #[schemars(with = "Duplex")]
    pub(crate) duplex: Option<Duplex>,
    /// `fabric`: the copies travel the topology instead of taking a time per byte.
    #[serde(default)]
    #[schemars(with = "Over")]
    pub(crate) over: Option<Over>,
    /// The cpu or host at the other end. Default: the nearest.
    #[serde(default)]
    #[schemars(with = "Node", extend("x-weir-nearest" = "device"))]
    pub(crate) host: Option<Node>,
    /// Leaves the formula: chunks of whole bytes, the first ones a byte longer.
    #[serde(default)]
    pub(crate) whole_bytes: bool,
    /// Leaves the formula: copy in, kernel, copy out of one stream after the other.
    #[serde(default)]
    pub(crate) depth_first: bool,
    /// Leaves the formula: every copy pays its latency after the end of the one before.
    #[serde(default)]
    pub(crate) full_latency: bool,
    /// Leaves the formula: implicit synchronisation is released when the last kernel starts.
    #[serde(default)]
    pub(crate) sync_released_at_start: bool,
    /// As the formula is printed: a direction without bytes still pays its latency, and its gaps between empty copies.
    #[serde(default)]
    pub(crate) empty_copies: bool,
    /// Asks for the roofline bounds.
    #[serde(default)]
    #[schemars(with = "Bounds")]
    pub(crate) bounds: Option<Bounds>,
}

fn two() -> u8 {
    2
}
