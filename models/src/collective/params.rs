//! What a person writes under `collective`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantities::{Bandwidth, Bytes, Files, Node, Nodes, Positive, Time};

/// What the ranks end up with. S is `size`, n the number of ranks; sizes count as in nccl-tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub(crate) enum Kind {
    // Every rank has S bytes and gets the sum over all ranks.
    AllReduce,
    // Every rank has S/n bytes and gets those of all.
    AllGather,
    // Every rank has S bytes and gets its part, S/n, of the sum.
    ReduceScatter,
    // The root has S bytes and every rank gets them.
    Broadcast,
    // Every rank has S bytes and the root gets the sum.
    Reduce,
    // Every rank has S bytes and sends S/n to each.
    AllToAll,
    // The root has S bytes and every rank gets its part, S/n.
    Scatter,
    // Every rank has S/n bytes and the root gets those of all.
    Gather,
    // Every rank sends S bytes to the next one, as sendrecv_perf does.
    SendRecvChain,
}

impl Kind {
    /// All of them.
    pub(crate) const ALL: [Self; 9] = [
        Self::AllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::Broadcast,
        Self::Reduce,
        Self::AllToAll,
        Self::Scatter,
        Self::Gather,
        Self::SendRecvChain,
    ];

    /// As it is written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::AllToAll => "all-to-all",
            Self::Scatter => "scatter",
            Self::Gather => "gather",
            Self::SendRecvChain => "send-recv-chain",
        }
    }

    /// Whether one rank differs from the others.
    pub(crate) fn is_rooted(self) -> bool {
        matches!(self, Self::Broadcast | Self::Reduce | Self::Scatter | Self::Gather)
    }

    /// Bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md; for scatter, gather and sendrecv their
    /// sources `scatter.cu`, `gather.cu`, `sendrecv.cu`).
    pub(super) fn bus_factor(self, n: f64) -> f64 {
        match self {
            Self::AllReduce => 2.0 * (n - 1.0) / n,
            Self::AllGather | Self::ReduceScatter | Self::AllToAll | Self::Scatter | Self::Gather => (n - 1.0) / n,
            Self::Broadcast | Self::Reduce | Self::SendRecvChain => 1.0,
        }
    }
}

/// Who sends what to whom, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub(crate) enum Algorithm {
    // Every rank sends to the next one.
    Ring,
    // A binomial tree.
    Tree,
    // The switch adds up and multicasts (NVLink SHARP).
    Nvls,
    // Two binary trees with half of the bytes each.
    DoubleBinaryTree,
    // Ranks exchange over distances 1, 2, 4 …
    RecursiveDoubling,
    // Halves of what is left, then back.
    RecursiveHalvingDoubling,
    // Step i: with the rank i places on.
    Pairwise,
    // Blocks travel by the binary digits of their distance.
    Bruck,
    // All messages at once.
    Direct,
    // The fastest of those that fit, by simulation.
    Auto,
}

impl Algorithm {
    /// All that can be planned, the preferred ones first.
    pub(super) const ALL: [Self; 9] = [
        Self::Ring,
        Self::Tree,
        Self::DoubleBinaryTree,
        Self::RecursiveDoubling,
        Self::RecursiveHalvingDoubling,
        Self::Pairwise,
        Self::Bruck,
        Self::Direct,
        Self::Nvls,
    ];

    /// As it is written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Tree => "tree",
            Self::Nvls => "nvls",
            Self::DoubleBinaryTree => "double-binary-tree",
            Self::RecursiveDoubling => "recursive-doubling",
            Self::RecursiveHalvingDoubling => "recursive-halving-doubling",
            Self::Pairwise => "pairwise",
            Self::Bruck => "bruck",
            Self::Direct => "direct",
            Self::Auto => "auto",
        }
    }

    /// What is meant where nothing is said: a ring where there is one, else all at once, as NCCL does.
    pub(super) fn usual(kind: Kind) -> Self {
        if Self::Ring.does(kind) { Self::Ring } else { Self::Direct }
    }

    /// Those among which `auto` chooses. Whether a switch can add is not known from the topology: `nvls` must be named.
    pub(crate) fn choices(kind: Kind) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |algorithm| algorithm.does(kind) && *algorithm != Self::Nvls)
    }

    /// Whether it does a collective of a kind.
    pub(super) fn does(self, kind: Kind) -> bool {
        use Kind::*;
        match self {
            Self::Ring => matches!(kind, AllReduce | AllGather | ReduceScatter | Broadcast | Reduce),
            Self::Tree => matches!(kind, AllReduce | Broadcast | Reduce | Scatter | Gather),
            Self::DoubleBinaryTree => matches!(kind, AllReduce | Broadcast | Reduce),
            Self::Nvls => matches!(kind, AllReduce | AllGather | ReduceScatter),
            Self::RecursiveDoubling => matches!(kind, AllReduce | AllGather),
            Self::RecursiveHalvingDoubling => matches!(kind, AllReduce | ReduceScatter),
            Self::Pairwise => matches!(kind, AllToAll | ReduceScatter),
            Self::Bruck => matches!(kind, AllToAll | AllGather),
            Self::Direct => true,
            Self::Auto => false,
        }
    }

    /// Whether it does a collective of a kind among n ranks.
    pub(super) fn fits(self, kind: Kind, n: u64) -> bool {
        self.does(kind) && (n.is_power_of_two() || !self.needs_power_of_two())
    }

    /// Whether the number of ranks must be a power of two.
    pub(super) fn needs_power_of_two(self) -> bool {
        matches!(self, Self::RecursiveDoubling | Self::RecursiveHalvingDoubling)
    }
}

/// The order of rings and trees.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub(crate) enum Order {
    // As the ranks are given.
    #[default]
    Ranks,
    // A ring over them that crosses no link more often than it must, as far as is found.
    Topology,
    // A ring for each channel.
    #[serde(untagged)]
    Graph(GraphFile),
}

/// The rings that NCCL has found.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct GraphFile {
    /// What NCCL writes to NCCL_GRAPH_DUMP_FILE and reads from NCCL_GRAPH_FILE.
    pub(crate) graph: Files,
}

/// Where ranks stand near each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub(crate) enum Level {
    // The ranks of a machine.
    Machine,
    // Ranks of all machines, one of each.
    Network,
}

/// What a step costs beside the links.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Protocol {
    /// Time of a step before its bytes leave, beside the latency of the links. Default: 0.
    #[serde(default)]
    pub(crate) latency: Time,
    /// Payload over what the links carry: 0.9375 for LL128 of NCCL, 0.5 for LL. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(max = 1))]
    pub(crate) efficiency: Positive,
}

impl Default for Protocol {
    fn default() -> Self {
        Self { latency: Time::default(), efficiency: one() }
    }
}

fn one() -> Positive {
    Positive(1.0)
}

/// How ranks do a collective.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct CollectiveOptions {
    /// Who sends what to whom. Default: ring where there is one, else direct.
    #[serde(default)]
    #[schemars(with = "Algorithm")]
    pub(crate) algorithm: Option<Algorithm>,
    /// Parts of the size that run beside each other. Each sends one message at a time. Default: 1, with a graph its number.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1))]
    pub(crate) channels: Option<u64>,
    /// Ring, tree and double-binary-tree: a rank passes bytes on in chunks of this size. Without effect on the others.
    /// Default: all of a step at once.
    #[serde(default)]
    #[schemars(with = "Bytes")]
    pub(crate) chunk: Option<Bytes>,
    /// Bytes that a rank adds up in a second, per channel. Default: adding takes no time.
    #[serde(default)]
    #[schemars(with = "Bandwidth")]
    pub(crate) reduce: Option<Bandwidth>,
    /// What a step costs beside the links.
    #[serde(default)]
    #[schemars(with = "Protocol")]
    pub(crate) protocol: Option<Protocol>,
    /// `ranks`: rings and trees follow `ranks`; `topology`: a ring that crosses slow links least; `{ graph: FILE }`: the rings of
    /// an NCCL_GRAPH_FILE, one for each channel. Default: ranks.
    #[serde(default)]
    #[schemars(with = "Order")]
    pub(crate) order: Option<Order>,
    /// `[machine, network]`: within machines and across them, each by itself. Default: all ranks at once.
    #[serde(default)]
    #[schemars(with = "Vec<Level>")]
    pub(crate) levels: Option<Vec<Level>>,
}

/// The map under `collective`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CollectiveParams {
    /// What the ranks end up with.
    pub(crate) kind: Kind,
    /// Bytes as nccl-tests count them: of a rank's larger buffer.
    pub(crate) size: Bytes,
    /// The devices, in the order of rings and trees.
    pub(crate) ranks: Nodes,
    /// The root of broadcast, reduce, scatter and gather. Default: the first rank.
    #[serde(default)]
    #[schemars(with = "Node")]
    pub(crate) root: Option<Node>,
    #[serde(flatten)]
    pub(crate) options: CollectiveOptions,
}
