//! The nodes of a topology, a line each: name, kind, bus id, NUMA node; and its links: ends, bandwidths, latency.

use std::fmt::Write;

use weir_plugin_api::{NodeId, SimDuration};
use weir_report::text::clean;
use weir_report::{duration, rate};
use weir_scenario::Place;
use weir_sim_core::{Fabric, Link};

/// The nodes, indented by depth, and the links. A node without `numa` has that of the nearest node above which tells it.
pub(super) fn list<'n>(fabric: &Fabric, places: &[(NodeId, Place)], name: impl Fn(NodeId) -> &'n str) -> String {
    let nodes = fabric.nodes();
    let names: Vec<String> = (0..nodes.len())
        .map(|i| format!("{:indent$}{}", "", clean(name(NodeId(i as u32))), indent = 2 * nodes[i].depth as usize))
        .collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut numas: Vec<Option<u16>> = Vec::with_capacity(nodes.len());
    let mut places = places.iter().peekable();
    let mut out = String::new();
    for (i, node) in nodes.iter().enumerate() {
        let place = places.next_if(|(node, _)| node.index() == i).map(|(_, place)| place);
        let above = (!node.parent.is_none()).then(|| numas[node.parent.index()]).flatten();
        let numa = place.and_then(|place| place.numa).or(above);
        numas.push(numa);
        let bus = place.and_then(|place| place.bus_id.as_deref()).unwrap_or("");
        let numa = numa.map_or_else(String::new, |numa| format!("NUMA node {numa}"));
        let line = format!("  {:longest$}  {:12}  {bus:13}  {numa}", names[i], node.kind.word());
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out + &links(fabric, name)
}

/// Both directions of a link in a line, those of the tree first.
fn links<'n>(fabric: &Fabric, name: impl Fn(NodeId) -> &'n str) -> String {
    let of = |pair: &[Link]| {
        let [up, down] = pair else { return None };
        let bandwidth = match up.bandwidth == down.bandwidth {
            true => rate(up.bandwidth),
            false => format!("{}, back {}", rate(up.bandwidth), rate(down.bandwidth)),
        };
        let latency = (up.latency != SimDuration::ZERO).then(|| duration(up.latency));
        Some((format!("{} – {}", clean(name(up.from)), clean(name(up.to))), bandwidth, latency.unwrap_or_default()))
    };
    let rows: Vec<_> = fabric.links().chunks(2).filter_map(of).collect();
    let widths = rows.iter().fold((0, 0), |most, (ends, bandwidth, _)| {
        (most.0.max(ends.chars().count()), most.1.max(bandwidth.chars().count()))
    });
    let mut out = String::new();
    for (ends, bandwidth, latency) in rows {
        let line = format!("  {ends:w0$}  {bandwidth:w1$}  {latency}", w0 = widths.0, w1 = widths.1);
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}
