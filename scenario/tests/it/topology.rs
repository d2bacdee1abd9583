//! Trees, link types and lateral links.

use crate::common::{first_bad, good};
use weir_plugin_api::{Direction, LinkId, LinkKind, NodeId, NodeKind};
use weir_scenario::Scenario;

fn topology(lines: &str) -> String {
    format!("weir: 1\ntopology:\n{lines}workload: []\n")
}

/// `from>to bandwidth latency kind direction` of every directed link.
fn links(scenario: &Scenario) -> Vec<String> {
    let name = |node: NodeId| scenario.node_name(node);
    let line = |l: &weir_sim_core::Link| {
        let direction = match l.direction {
            Direction::Up => "up",
            Direction::Down => "down",
            Direction::Lateral => "lateral",
        };
        format!("{}>{} {:e} {} {} {direction}", name(l.from), name(l.to), l.bandwidth, l.latency.0, l.kind.0 as i32)
    };
    scenario.fabric.links().iter().map(line).collect()
}

#[test]
fn link_types_in_all_forms() {
    let scenario = good(&topology(
        "  link_types:
    wire: { bandwidth: 10Gb/s, latency: 1us }
    slow: { up: 1GB/s, down: 2GB/s, kind: nvlink }
    lanes: { generation: 2, width: 8, efficiency: 0.5 }
    qpi: { bandwidth: 19.2GB/s }
  tree:
    net:
      kind: network
      children:
        a: { kind: host, link: wire }
        b: { kind: nic, link: slow, children: { c: { kind: cpu, link: lanes } } }
    r: { kind: root-complex }
  links:
    - { between: [c, r], type: qpi }
    - { between: [a, r], type: { up: 3GB/s, down: 4GB/s, kind: glass } }
",
    ));
    let network = LinkKind::NETWORK.0;
    assert_eq!(
        links(&scenario),
        [
            format!("a>net 1.25e9 1000000 {network} up"),
            format!("net>a 1.25e9 1000000 {network} down"),
            "b>net 1e9 0 2 up".to_owned(),
            "net>b 2e9 0 2 down".to_owned(),
            "c>b 2e9 0 4 up".to_owned(),
            "b>c 2e9 0 4 down".to_owned(),
            "c>r 1.92e10 0 1 lateral".to_owned(),
            "r>c 1.92e10 0 1 lateral".to_owned(),
            "a>r 3e9 0 -1 lateral".to_owned(),
            "r>a 4e9 0 -1 lateral".to_owned(),
        ]
    );
}

#[test]
fn names_repeat_and_brackets() {
    let link = "link: { bandwidth: 1GB/s }";
    let scenario = good(&topology(&format!(
        "  tree:\n    node:\n      kind: root-complex\n      repeat: 2\n      children:\n        \"gpu[0-1]\": {{ kind: gpu, {link} }}\n        n: {{ kind: nic, {link}, repeat: 1 }}\n  links:\n    - {{ between: [\"node[0-1]/gpu0\", \"node[1,0]/gpu1\"], type: {{ bandwidth: 2GB/s }} }}\n    - {{ between: [node0, \"node1/gpu[0-1]\"], type: {{ bandwidth: 2GB/s }} }}\n"
    )));
    let names: Vec<_> = (0..8).map(|n| scenario.node_name(NodeId(n)).to_owned()).collect();
    assert_eq!(
        names,
        ["node0", "node0/gpu0", "node0/gpu1", "node0/n0", "node1", "node1/gpu0", "node1/gpu1", "node1/n0"]
    );
    let lateral: Vec<_> =
        links(&scenario).into_iter().skip(12).step_by(2).map(|l| l.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(lateral, ["node0/gpu0>node1/gpu1", "node1/gpu0>node0/gpu1", "node0>node1/gpu0", "node0>node1/gpu1"]);
    assert_eq!(scenario.node("node1/gpu0"), Some(NodeId(5)));
    assert_eq!(scenario.node("gpu0"), None);
    assert_eq!(scenario.fabric.node(NodeId(3)).kind, NodeKind::Nic);
}

#[test]
fn wrong_topologies() {
    let refused = |lines: &str, place: (u32, u32), message: &str, help: &str| {
        let (line, column, said, remedy) = first_bad(topology(lines));
        assert!(said.contains(message), "{said}");
        assert!(remedy.contains(help), "{remedy}");
        assert_eq!((line, column), place, "{said}");
    };
    refused("  tree: {}\n", (3, 9), "`tree` has no node", "at least one");
    refused("  link_types: {}\n", (3, 3), "needs the key `tree`", "tree: …");
    refused("  tree: { r: { kind: host, link: x } }\n", (3, 28), "is a root and has no link", "`links`");
    let child = |child: &str| format!("  tree: {{ r: {{ kind: switch, children: {{ {child} }} }} }}\n");
    refused(&child("c: { kind: gpu }"), (3, 42), "has no `link`", "link: …");
    refused(&child("c: { link: x }"), (3, 45), "needs the key `kind`", "kind: …");
    refused(&child("c: gpu"), (3, 45), "must be a map, not the text `gpu`", "kind, link");
    refused(&child("a/b: { kind: gpu }"), (3, 42), "not a name", "no `/`");
    let link = "link: { bandwidth: 1GB/s }";
    refused(
        &child(&format!("a1: {{ kind: gpu, {link} }}, \"a[0-1]\": {{ kind: gpu, {link} }}")),
        (3, 89),
        "two nodes named `a1`",
        "distinct",
    );
    refused(&child(&format!("\"a[0\": {{ kind: gpu, {link} }}")), (3, 42), "an unmatched bracket", "gpu[0-7]");
    refused(&child(&format!("a: {{ kind: gpu, {link}, engines: 0 }}")), (3, 95), "too few", "at least 1");
    refused(
        &child(&format!("a: {{ kind: switch, {link}, engines: 2 }}")),
        (3, 98),
        "a switch has no engines",
        "remove",
    );
    refused(
        &child(&format!("a: {{ kind: switch, {link}, overhead: 2us }}")),
        (3, 99),
        "a switch has no overhead",
        "remove",
    );
    let bus = |bus: &str| child(&format!("a: {{ kind: gpu, bus_id: \"{bus}\", numa: 1, {link} }}"));
    let good_one = good(&topology(&bus("0000:07:00.0")));
    assert_eq!(good_one.fabric.nodes().len(), 2);
    refused(&bus("07:00.0"), (3, 66), "`07:00.0` is not a bus id", "lspci -D");
    refused(&bus("0000:07:00.0 "), (3, 66), "is not a bus id", "lspci -D");
    let many = bus("0000:07:00.0").replace("a: { kind", "\"a[0-1]\": { kind");
    refused(&many, (3, 73), "several nodes", "one node for each");
    refused(&child(&format!("a: {{ kind: gpu, numa: 1024, {link} }}")), (3, 64), "1024", "");
    let unused = |link: &str| format!("  link_types: {{ l: {{ {link} }} }}\n  tree: {{ a: {{ kind: host }} }}\n");
    refused(&unused("latency: 1us"), (3, 20), "needs its bandwidth", "generation: 3");
    refused(&unused("bandwidth: 1GB/s, up: 1GB/s"), (3, 20), "exactly one form", "up: …, down: …");
    refused(&unused("up: 1GB/s"), (3, 20), "needs the key `down`", "down: …");
    refused(&unused("generation: 7, width: 4"), (3, 34), "no generation `7`", "1 to 6");
    refused(&unused("generation: 3, width: 5"), (3, 44), "width of 5 lanes", "1, 2, 4");
    refused(&unused("bandwidth: 1GB/s, efficiency: 1.1"), (3, 52), "not a share", "at most 1");
    refused(&unused("bandwidth: 1GB/s, latency: 5"), (3, 49), "no unit", "ps ns");
    for kind in ["default", "name", "''"] {
        refused(&unused(&format!("bandwidth: 1GB/s, kind: {kind}")), (3, 46), "is no kind of link", "another word");
    }
    let long = "x".repeat(257);
    refused(&child(&format!("{long}: {{ kind: gpu, {link} }}")), (3, 42), "not a name", "256 bytes");
}

#[test]
fn shared_bandwidths_of_links_and_nodes() {
    let topology = |link: &str, node: &str| {
        format!(
            "weir: 1
topology:
  link_types: {{ p: {{ bandwidth: 10GB/s, {link} }} }}
  tree: {{ rc: {{ kind: root-complex, {node} children: {{ gpu: {{ kind: gpu, link: p }}, cpu: {{ kind: cpu, link: p }} }} }} }}
workload: []
"
        )
    };
    let shared = |scenario: &Scenario| {
        let links = |links: &[LinkId]| links.iter().map(|link| link.0).collect::<Vec<_>>();
        scenario.fabric.shared().iter().map(|s| (s.bandwidth, links(&s.links))).collect::<Vec<_>>()
    };
    let both = good(&topology("shared: 12GB/s", ""));
    assert_eq!(shared(&both), [(12e9, vec![0, 1]), (12e9, vec![2, 3])]);
    assert_eq!(both.fabric.shared_both_ways(LinkId(3)), Some(12e9));
    // Smaller than one direction is allowed, as on a half-duplex bus; efficiency counts for all figures of a type.
    let half = good(&topology("shared: 8GB/s, efficiency: 0.5", "memory: { bandwidth: 30GB/s },"));
    assert_eq!(shared(&half), [(4e9, vec![0, 1]), (4e9, vec![2, 3]), (30e9, vec![0, 1, 2, 3])]);
    for (link, node, expected) in [
        ("shared: 0GB/s", "", "`shared` of link type `p`"),
        ("shared: 12", "", "`shared` of link type `p`"),
        ("", "memory: {},", "`memory` of node `rc` needs the key `bandwidth`"),
        ("", "memory: 12GB/s,", "`memory` of node `rc` must be a map"),
        ("", "memory: { bandwidth: -1GB/s },", "`bandwidth` of `memory` of node `rc`"),
        ("", "memory: { size: 1GB, bandwidth: 1GB/s },", "unknown key `size` in `memory` of node `rc`"),
    ] {
        let (line, column, message, _) = first_bad(topology(link, node));
        assert!(message.starts_with(expected) && line >= 3 && column > 1, "{expected}: {message}");
    }
    let warnings = |link: &str, node: &str| {
        let found = good(&topology(link, node)).warnings;
        let found = found.into_iter().filter(|warning| warning.message.contains("no effect"));
        found.map(|w| (w.message, w.position.expect("a place").line)).collect::<Vec<_>>()
    };
    assert_eq!(warnings("shared: 19.9GB/s", "memory: { bandwidth: 39.9GB/s },"), []);
    let none = "has no effect: both directions together carry no more";
    assert_eq!(warnings("shared: 20GB/s", ""), [(format!("`shared` {none}"), 3)]);
    let none = "has no effect: its links together carry no more";
    assert_eq!(warnings("", "memory: { bandwidth: 40GB/s },"), [(format!("`memory` of `rc` {none}"), 4)]);
}
