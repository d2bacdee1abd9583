//! Places a graph on a tree: `place GRAPH SIZES [STARTS ATTEMPTS KICKS] [MAP]`.
//!
//! GRAPH is a file in Scotch's graph format with edge weights (header `0`, `vertices arcs`, `0 010`), SIZES are the children
//! per level from the root down, such as `4x4x4x4`. Prints the objective (level + 1), and the seconds that reading and
//! searching took; MAP gets a line `rank device` for each rank. Serves `benches/placement/scotch.py`.

use std::error::Error;
use std::fmt::Write as _;
use std::time::Instant;

use weir_optimize::placement::{Effort, Machine, Options, Pattern, search};
use weir_sim_core::api::{LinkKind, NodeId, NodeKind, SimDuration};
use weir_sim_core::{FabricBuilder, LinkSpec};

const LINK: LinkSpec = LinkSpec { up: 1e9, down: 1e9, latency: SimDuration::ZERO, kind: LinkKind::OTHER };

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [graph, sizes, rest @ ..] = &args[..] else {
        return Err("usage: place GRAPH SIZES [STARTS ATTEMPTS KICKS] [MAP]".into());
    };
    let begin = Instant::now();
    let pattern = read(&std::fs::read_to_string(graph)?)?;
    let machine = tree(sizes)?;
    let mut options = Options::default();
    let mut map = rest.first();
    if let [starts, attempts, kicks, ..] = rest {
        options.effort = Some(Effort { starts: starts.parse()?, attempts: attempts.parse()?, kicks: kicks.parse()? });
        map = rest.get(3);
    }
    let ready = Instant::now();
    let found = search(&pattern, &machine, options)?;
    let end = Instant::now();
    println!("{} {:.6} {:.6}", found.after, (ready - begin).as_secs_f64(), (end - ready).as_secs_f64());
    if let Some(map) = map {
        let mut text = String::new();
        for (rank, device) in found.placement.iter().enumerate() {
            writeln!(text, "{rank} {device}")?;
        }
        std::fs::write(map, text)?;
    }
    Ok(())
}

/// Each edge stands in the lines of both its ends: once as a message each way.
fn read(text: &str) -> Result<Pattern, Box<dyn Error>> {
    let mut lines = text.lines().skip(1);
    let ranks = lines.next().and_then(|l| l.split_whitespace().next()).ok_or("no number of vertices")?.parse()?;
    let mut messages = Vec::new();
    for (rank, line) in lines.skip(1).enumerate() {
        let numbers = line.split_whitespace().skip(1).map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        messages.extend(numbers.chunks_exact(2).map(|edge| (rank, edge[1] as usize, edge[0])));
    }
    Ok(Pattern::new(ranks, messages, 1)?)
}

fn tree(sizes: &str) -> Result<Machine, Box<dyn Error>> {
    let sizes = sizes.split('x').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
    let mut fabric = FabricBuilder::new();
    let root = fabric.root(NodeKind::Switch)?;
    let mut devices = Vec::new();
    grow(&mut fabric, root, &sizes, &mut devices)?;
    Ok(Machine::distance(&fabric.build(), &devices, None)?)
}

fn grow(
    fabric: &mut FabricBuilder,
    at: NodeId,
    sizes: &[usize],
    devices: &mut Vec<NodeId>,
) -> Result<(), Box<dyn Error>> {
    let [size, rest @ ..] = sizes else {
        devices.push(at);
        return Ok(());
    };
    let kind = if rest.is_empty() { NodeKind::Gpu } else { NodeKind::Switch };
    for _ in 0..*size {
        let child = fabric.child(at, kind, LINK)?;
        grow(fabric, child, rest, devices)?;
    }
    Ok(())
}
