//! What a person writes under `gather`.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::level::LevelParams;
use crate::quantities::{Bytes, Node, Nodes};

/// Whether rounds of approach 2 wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Rounds {
    // No node reads its next device before the root has the parts of all nodes.
    #[default]
    Barrier,
    // A node reads its next device as soon as its last part has arrived.
    Free,
}

/// The map under `gather`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GatherParams {
    /// The node that gets all.
    pub(crate) root: Node,
    /// All nodes, the root among them.
    pub(crate) nodes: Nodes,
    /// How many devices each node has.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub(crate) devices_per_node: u64,
    /// The payload that each device holds.
    pub(crate) size_per_device: Bytes,
    /// 1: the root gets each device's part, one after the other; 2: every node puts each device's part; 3: every node
    /// collects its devices' parts, then puts them together.
    #[schemars(range(min = 1, max = 3))]
    pub(crate) approach: u8,
    /// Approach 2: whether rounds, one device of every node each, wait for each other. Without effect on the others, so that
    /// approaches can be compared by changing one value.
    #[serde(default)]
    #[schemars(with = "Rounds")]
    pub(crate) rounds: Option<Rounds>,
    /// Device to its node.
    pub(crate) read: LevelParams,
    /// Node to root; needed where there is another node.
    #[serde(default)]
    #[schemars(with = "LevelParams")]
    pub(crate) network: Option<LevelParams>,
    /// The devices, those of the first node first; needed where they are read over the fabric.
    #[serde(default)]
    #[schemars(with = "Nodes")]
    pub(crate) devices: Option<Nodes>,
}

fn one() -> u64 {
    1
}
