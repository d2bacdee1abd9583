//! `order: { graph: FILE }`: the rings of an NCCL graph file, one for each channel.
//!
//! ```text
//! <graphs version="1">
//!   <graph id="0" pattern="4" nchannels="2" …>        pattern 4 is a ring; trees and others are not read
//!     <channel> <gpu dev="0"/> <gpu dev="1"/> … </channel>
//! ```
//!
//! **Definition.** `dev` d of the m-th machine is rank m · (GPUs of a channel) + d; the rings of several machines go through
//! them in turn, each in the order of the channel. **Source.** NCCL, src/graph/search.cc (`ncclTopoGetXmlFromGraph`) and
//! src/include/graph.h (`NCCL_TOPO_PATTERN_…`); the position among several machines is how NCCL joins them
//! (src/graph/connect.cc, `connectRings`).

use roxmltree::{Document, Node};
use weir_plugin_api::{CallError, Surroundings};

use super::params::{Algorithm, CollectiveParams, Order};
use crate::machine::machines;
use crate::operation::{refused, shown};

/// NCCL_TOPO_PATTERN_RING.
const RING: &str = "4";

/// The other patterns of NCCL, from 1 on but for the ring.
const PATTERNS: [(&str, &str); 5] =
    [("1", "balanced tree"), ("2", "split tree"), ("3", "tree"), ("5", "NVLS"), ("6", "CollNet, direct")];

/// The rings over the positions of `ranks`, the devices with the root first; none where no graph is given.
pub(super) fn rings(
    params: &CollectiveParams,
    algorithm: Algorithm,
    ranks: &[u32],
    surroundings: &Surroundings<'_>,
) -> Result<Vec<Vec<u32>>, CallError> {
    let Some(Order::Graph(file)) = &params.options.order else { return Ok(Vec::new()) };
    if algorithm != Algorithm::Ring || params.options.levels.is_some() {
        let text = "order: of a graph file the rings are read, not trees; use `algorithm: ring` without `levels`";
        return Err(refused(format!("{text}, or leave `order` out")));
    }
    let text = file.graph.one_text().map_err(|problem| refused(format!("order: {problem}")))?;
    let channels = read(text)
        .map(|graphs| graphs.channels)
        .map_err(|problem| refused(format!("order: {}: {problem}", file.graph.0[0].name)))?;
    let of_machine = channels[0].len();
    if !ranks.len().is_multiple_of(of_machine) {
        let text =
            format!("order: the graph has {of_machine} GPUs a machine, and {} ranks are given; name", ranks.len());
        return Err(refused(format!("{text} as many for each machine")));
    }
    check_machines(&params.ranks.0, of_machine, surroundings)?;
    // The root is the first of `ranks`, which were given in another order.
    let root = params.ranks.0.iter().position(|device| *device == ranks[0]).unwrap_or(0);
    let position = |rank: usize| ((rank + ranks.len() - root) % ranks.len()) as u32;
    let ring = |channel: &Vec<usize>| {
        let machines = 0..ranks.len() / of_machine;
        let all = machines.flat_map(|machine| channel.iter().map(move |dev| machine * of_machine + dev));
        let mut ring: Vec<u32> = all.map(position).collect();
        if params.kind.is_rooted() {
            let first = ring.iter().position(|&position| position == 0).unwrap_or(0);
            ring.rotate_left(first);
        }
        ring
    };
    Ok(channels.iter().map(ring).collect())
}

/// Several machines are ranks in a row of one machine each.
fn check_machines(ranks: &[u32], of_machine: usize, surroundings: &Surroundings<'_>) -> Result<(), CallError> {
    if ranks.len() == of_machine {
        return Ok(());
    }
    let of_node = machines(surroundings.fabric);
    let machine = |rank: &u32| of_node.get(*rank as usize);
    let mut seen: Vec<_> = ranks.chunks(of_machine).map(|ranks| machine(&ranks[0])).collect();
    seen.sort_unstable();
    seen.dedup();
    let is_whole = ranks.chunks(of_machine).all(|ranks| ranks.iter().all(|rank| machine(rank) == machine(&ranks[0])));
    if is_whole && seen.len() * of_machine == ranks.len() {
        return Ok(());
    }
    let text =
        format!("order: the graph has {of_machine} GPUs, but not every {of_machine} ranks are a machine of their own");
    Err(refused(format!("{text}; name the ranks machine by machine, or take a graph of all of them")))
}

/// What a graph file holds.
pub(crate) struct Graphs {
    /// The devices of each channel of the first ring, at least one channel.
    pub(crate) channels: Vec<Vec<usize>>,
    /// The graphs that are not read: `graph 1 (balanced tree)`.
    pub(crate) others: Vec<String>,
}

/// Reads a graph file.
pub(crate) fn read(text: &str) -> Result<Graphs, String> {
    let document = Document::parse(text).map_err(|error| format!("it is no XML: {error}; name an NCCL_GRAPH_FILE"))?;
    let root = document.root_element();
    if !root.has_tag_name("graphs") {
        let name = root.tag_name().name();
        return Err(format!("{}: its root is `{name}`, not `graphs`; name an NCCL_GRAPH_FILE", place(root)));
    }
    let is_ring = |graph: &Node<'_, '_>| graph.attribute("pattern") == Some(RING);
    let graphs = || root.children().filter(|node| node.has_tag_name("graph"));
    let ring = graphs().find(is_ring);
    let others: Vec<String> = graphs().filter(|graph| Some(*graph) != ring).map(named).collect();
    let Some(ring) = ring else {
        let what = if others.is_empty() { "no graph".to_owned() } else { others.join(", ") };
        return Err(format!(
            "it has {what}, and no ring (a `graph` with `pattern=\"4\"`), and rings are all that is read; take a file with a \
             ring, as NCCL writes to NCCL_GRAPH_DUMP_FILE, or leave `order` out"
        ));
    };
    Ok(Graphs { channels: channels(ring)?, others })
}

/// A graph as messages name it.
fn named(graph: Node<'_, '_>) -> String {
    let pattern = graph.attribute("pattern").unwrap_or_default();
    let known = PATTERNS.iter().find(|(number, _)| *number == pattern).map(|(_, name)| (*name).to_owned());
    let what = known
        .unwrap_or_else(|| if pattern == RING { "ring".to_owned() } else { format!("pattern {}", shown(pattern)) });
    format!("graph {} ({what})", shown(graph.attribute("id").unwrap_or("without id")))
}

/// Where an element begins.
fn place(node: Node<'_, '_>) -> String {
    let at = node.document().text_pos_at(node.range().start);
    format!("line {}, column {}", at.row, at.col)
}

fn channels(graph: Node<'_, '_>) -> Result<Vec<Vec<usize>>, String> {
    let nodes = || graph.children().filter(|node| node.has_tag_name("channel"));
    let channels: Vec<Vec<usize>> = nodes().map(devices).collect::<Result<_, _>>()?;
    let declared = graph.attribute("nchannels").unwrap_or_default();
    if channels.is_empty() || declared.parse() != Ok(channels.len()) {
        let (place, described) = (place(graph), channels.len());
        return Err(format!("{place}: `nchannels` is `{declared}`, and {described} are described; correct it"));
    }
    for (i, (node, channel)) in nodes().zip(&channels).enumerate() {
        let mut sorted = channel.clone();
        sorted.sort_unstable();
        if sorted.is_empty() || !sorted.iter().copied().eq(0..channels[0].len()) {
            let (place, most) = (place(node), channels[0].len().saturating_sub(1));
            return Err(format!(
                "{place}: channel {i} does not go once through each of the GPUs 0 to {most}; correct it"
            ));
        }
    }
    Ok(channels)
}

fn devices(channel: Node<'_, '_>) -> Result<Vec<usize>, String> {
    let gpus = channel.children().filter(|node| node.has_tag_name("gpu"));
    gpus.map(|gpu| {
        let dev = gpu.attribute("dev").unwrap_or_default();
        dev.parse().map_err(|_| format!("{}: `dev=\"{dev}\"` is no number of a GPU; correct it", place(gpu)))
    })
    .collect()
}
