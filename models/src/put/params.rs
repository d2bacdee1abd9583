//! What a person writes under `put`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::level::LevelParams;
use crate::operation::Over;
use crate::quantities::{Bytes, Node, Nodes};

/// The steps of a packet, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum StepName {
    // Device to its cpu.
    Read,
    // Cpu to cpu.
    Network,
    // Cpu to its device.
    Write,
}

impl StepName {
    /// The key of its level.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Network => "network",
            Self::Write => "write",
        }
    }
}

/// The size of packets.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Packet {
    /// By a tuned table.
    Tuned(TunedPacket),
    /// `none` or `auto`.
    Word(PacketWord),
    /// So many bytes.
    Size(Bytes),
}

/// Words in the place of a packet's size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum PacketWord {
    // All in one piece.
    None,
    // The fastest of `packets`, by simulation.
    Auto,
}

/// A table that `weir tune` wrote.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct TunedPacket {
    /// A file with the columns `bytes` and `packet`: the packet (empty or `none` for no packets) from this size on.
    pub(crate) table: Tuned,
}

/// Rows of a size and its packet.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Tuned(pub(crate) Vec<(Bytes, Option<Bytes>)>);

impl JsonSchema for Tuned {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Tuned".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let row = generator.subschema_for::<(Bytes, Option<Bytes>)>();
        json_schema!({ "type": "array", "items": row, "x-weir-table": ["bytes", "packet"] })
    }
}

/// The map under `put`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutParams {
    /// The device that has the data.
    pub(crate) from: Node,
    /// The device that gets them.
    pub(crate) to: Node,
    /// The payload of the whole put.
    pub(crate) size: Bytes,
    /// Size of packets, `none`, `auto` (with `packets`), or a tuned table. Default: none.
    #[serde(default)]
    #[schemars(with = "Packet")]
    pub(crate) packet: Option<Packet>,
    /// The sizes that `packet: auto` tries beside no packets.
    #[serde(default)]
    #[schemars(with = "Vec<Bytes>")]
    pub(crate) packets: Option<Vec<Bytes>>,
    /// Steps in groups: one after the other within a group, overlapped between groups. Default: [[read, network],
    /// [write]].
    #[serde(default)]
    #[schemars(with = "Vec<Vec<StepName>>")]
    pub(crate) overlap: Option<Vec<Vec<StepName>>>,
    /// The cpus of source and target. Default: the nearest.
    #[serde(default)]
    #[schemars(with = "Nodes", extend("x-weir-nearest" = ["from", "to"]))]
    pub(crate) via: Option<Nodes>,
    /// `fabric`: what is not given of `read`, `network` and `write` travels the topology.
    #[serde(default)]
    #[schemars(with = "Over")]
    pub(crate) over: Option<Over>,
    /// Source device to its cpu; without it the data start there.
    #[serde(default)]
    #[schemars(with = "LevelParams")]
    pub(crate) read: Option<LevelParams>,
    /// Cpu to cpu; without it both are the same.
    #[serde(default)]
    #[schemars(with = "LevelParams")]
    pub(crate) network: Option<LevelParams>,
    /// Cpu to target device; without it the data end there.
    #[serde(default)]
    #[schemars(with = "LevelParams")]
    pub(crate) write: Option<LevelParams>,
}
