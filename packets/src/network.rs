//! The links and nodes that packets cross, checked once.

use crate::wire::WireRate;

/// How many queues an input has for a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Queues {
    /// One: only its head asks for an output, and all behind it wait.
    #[default]
    Fifo,
    /// One for each output; they share the input's credit.
    Voq,
}

/// Whether an input sends to several outputs at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Inputs {
    /// To one at a time.
    #[default]
    Serial,
    /// To any number.
    Parallel,
}

/// When a packet can be sent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Switching {
    /// Once its header has come, if its tail keeps up.
    #[default]
    CutThrough,
    /// Once all of it has come.
    StoreAndForward,
}

/// A directed link with the input buffer at its far end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkSettings {
    /// The node it leaves.
    pub from: u32,
    /// The node it enters.
    pub to: u32,
    /// Whether it leads away from the root of the tree.
    pub downwards: bool,
    /// What the wire carries.
    pub rate: WireRate,
    /// Picoseconds.
    pub latency: u64,
    /// Picoseconds from when room is free at its far end to when the near end knows.
    pub credit_return: u64,
    /// Bytes of the input buffer at its far end, per channel; `None` for one that is never full.
    pub buffer: Option<u64>,
    /// Packets that have room there, per channel, where they are counted apart: `buffer` then counts payload alone.
    pub headers: Option<u32>,
    /// Largest payload of a packet, bytes.
    pub payload: u32,
    /// Bytes of header that each packet has on this link.
    pub header: u32,
    /// Bytes of each packet that acknowledges one of the opposite link, and returns its credit, on this one; 0 for none.
    pub dllp: u32,
    /// When packets from this link can be sent on.
    pub switching: Switching,
    /// Queues of that buffer.
    pub queues: Queues,
    /// What it can send to at once.
    pub inputs: Inputs,
}

/// What packets find at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NodeSettings {
    /// Largest payload on links that leave it downwards, of packets that came in by another port.
    pub split: Option<u32>,
    /// Transfers that may start here at the same time, at most.
    pub engines: u32,
}

/// Why links and nodes make no network for packets.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NetworkError {
    /// A payload that no packet can have.
    #[error("a payload of {payload} B on link {link}: give 1 B to 64 KiB")]
    Payload {
        /// The link.
        link: u32,
        /// Bytes.
        payload: u32,
    },
    /// More header than the format allows.
    #[error("a header of {header} B on link {link}: give at most 4 KiB")]
    Header {
        /// The link.
        link: u32,
        /// Bytes.
        header: u32,
    },
    /// A link that names no node.
    #[error("link {link} leads from or to a node that does not exist")]
    Node {
        /// The link.
        link: u32,
    },
    /// More requesters than an output can have.
    #[error("{requesters} requesters at link {link}: at most {MOST_REQUESTERS}")]
    Requesters {
        /// The output.
        link: u32,
        /// How many.
        requesters: u64,
    },
}

/// Requesters of an output at most (packets.md, section 3).
pub const MOST_REQUESTERS: u64 = 4096;
/// Bytes of payload of a packet at most (packets.md, section 3).
pub const MOST_PAYLOAD: u32 = 64 << 10;
/// Bytes of header of a packet at most (packets.md, section 3).
pub const MOST_HEADER: u32 = 4 << 10;

/// Links and nodes, with who may ask for which output.
///
/// The requesters of an output are numbered by channel, then by link id of the input, then by engine.
#[derive(Clone, Debug)]
pub struct Network {
    pub(crate) links: Vec<LinkSettings>,
    pub(crate) nodes: Vec<NodeSettings>,
    pub(crate) channels: u32,
    /// Per node: the links that enter it, ascending.
    pub(crate) inputs: Vec<Vec<u32>>,
    /// Per node: the links that leave it, ascending.
    pub(crate) outputs: Vec<Vec<u32>>,
    /// Per link: its place among the inputs of the node that it enters.
    pub(crate) input_place: Vec<u32>,
    /// Per link: its place among the outputs of the node that it leaves.
    pub(crate) output_place: Vec<u32>,
    /// Per link: the one that leads back, if there is one.
    pub(crate) opposite: Vec<Option<u32>>,
}

impl Network {
    /// Checks links and nodes, and numbers the requesters.
    ///
    /// # Errors
    /// [`NetworkError`] for the first link that cannot be.
    pub fn new(links: Vec<LinkSettings>, nodes: Vec<NodeSettings>, channels: u32) -> Result<Self, NetworkError> {
        let mut inputs = vec![Vec::new(); nodes.len()];
        let mut outputs = vec![Vec::new(); nodes.len()];
        let (mut input_place, mut output_place) = (Vec::new(), Vec::new());
        for (id, link) in (0..).zip(&links) {
            check(id, link, nodes.len())?;
            input_place.push(inputs[link.to as usize].len() as u32);
            output_place.push(outputs[link.from as usize].len() as u32);
            inputs[link.to as usize].push(id);
            outputs[link.from as usize].push(id);
        }
        let opposite = (0..).zip(&links).map(|(id, link)| opposite(id, link, &links, &outputs)).collect();
        let network = Self { links, nodes, channels, inputs, outputs, input_place, output_place, opposite };
        for (id, link) in (0..).zip(&network.links) {
            let requesters = u64::from(network.stride(link.from)) * u64::from(channels);
            if requesters > MOST_REQUESTERS {
                return Err(NetworkError::Requesters { link: id, requesters });
            }
        }
        Ok(network)
    }

    /// Requesters of each output of a node, per channel.
    pub(crate) fn stride(&self, node: u32) -> u32 {
        self.inputs[node as usize].len() as u32 + self.nodes[node as usize].engines
    }
}

/// The link that leads back: its pair, if links come in pairs, else the first that does.
fn opposite(id: u32, link: &LinkSettings, links: &[LinkSettings], outputs: &[Vec<u32>]) -> Option<u32> {
    let leads_back = |&other: &u32| links.get(other as usize).is_some_and(|o| (o.from, o.to) == (link.to, link.from));
    Some(id ^ 1).filter(leads_back).or_else(|| outputs[link.to as usize].iter().copied().find(leads_back))
}

fn check(id: u32, link: &LinkSettings, nodes: usize) -> Result<(), NetworkError> {
    if link.payload == 0 || link.payload > MOST_PAYLOAD {
        return Err(NetworkError::Payload { link: id, payload: link.payload });
    }
    if link.header > MOST_HEADER {
        return Err(NetworkError::Header { link: id, header: link.header });
    }
    if link.dllp > MOST_HEADER {
        return Err(NetworkError::Header { link: id, header: link.dllp });
    }
    if link.from as usize >= nodes || link.to as usize >= nodes {
        return Err(NetworkError::Node { link: id });
    }
    Ok(())
}
