//! Networks from a line each: their switches and links, and what is wrong with them.

use std::collections::BTreeMap;

use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};
use weir_plugin_api::{LinkKind, NodeId, NodeKind};
use weir_scenario::Scenario;
use weir_sim_core::Routes;

use crate::common::{first_bad, good};
use crate::machines::{BOX, laterals, load_of, names, refused, scenario};

/// Hosts `h0` … and a network of a shape.
fn network(hosts: u64, shape: &str, types: &str) -> String {
    let last = hosts - 1;
    scenario(&format!(
        "  tree: {{ \"h[0-{last}]\": {{ kind: host }} }}\n  networks:\n    net: {{ {shape}, ends: \"h[0-{last}]\", types: {types} }}\n"
    ))
}

/// The switches that hosts are joined to, and how many hosts each has.
fn dealt(scenario: &Scenario) -> Vec<usize> {
    let mut counts = BTreeMap::new();
    for link in scenario.fabric.links().iter().filter(|link| scenario.fabric.node(link.from).kind == NodeKind::Host) {
        *counts.entry(link.to).or_insert(0) += 1;
    }
    counts.into_values().collect()
}

#[test]
fn star_and_leaf_spine() {
    let star = good(&network(3, "star: {}", "ib"));
    assert_eq!(names(&star), ["h0", "h1", "h2", "switch0"]);
    assert_eq!(laterals(&star), ["h0>switch0", "h1>switch0", "h2>switch0"]);
    assert_eq!(star.node("net/switch0"), Some(NodeId(3)));
    assert!(star.fabric.links().iter().all(|link| link.kind == LinkKind::NETWORK));
    let types = "{ end: ib, spine: { up: 10GB/s, down: 20GB/s, kind: nvlink } }";
    let fabric = good(&network(5, "leaf-spine: { leaves: 2, spines: 2, links: 3 }", types));
    assert_eq!(names(&fabric)[5..], ["leaf0", "leaf1", "spine0", "spine1"]);
    // End i of 5 is on leaf ⌊2 i / 5⌋.
    assert_eq!(
        laterals(&fabric),
        [
            "h0>leaf0",
            "h1>leaf0",
            "h2>leaf0",
            "h3>leaf1",
            "h4>leaf1",
            "leaf0>spine0",
            "leaf0>spine1",
            "leaf1>spine0",
            "leaf1>spine1"
        ]
    );
    let up = fabric.fabric.links()[10];
    assert_eq!((up.bandwidth, up.kind.0, fabric.fabric.links()[11].bandwidth), (30e9, 2, 60e9));
}

#[test]
fn fat_tree() {
    // k = 4: 4 pods of 2 edge and 2 aggregation switches, 4 cores, 16 hosts; 16 + 16 links between switches.
    let tree = good(&network(16, "fat-tree: { k: 4 }", "ib"));
    assert_eq!(tree.fabric.nodes().len(), 16 + 8 + 8 + 4);
    assert_eq!(dealt(&tree), [2; 8]);
    let links = laterals(&tree);
    assert_eq!(links.len(), 16 + 16 + 16);
    assert_eq!(links[16..20], ["edge0>aggregation0", "edge0>aggregation1", "edge1>aggregation0", "edge1>aggregation1"]);
    assert_eq!(links[32..36], ["aggregation0>core0", "aggregation0>core1", "aggregation1>core2", "aggregation1>core3"]);
    assert_eq!(links[46..], ["aggregation7>core2", "aggregation7>core3"]);
}

#[test]
fn dragonfly() {
    // a = 2, h = 1: 3 groups of 2 routers; a link in each group, and one between each two.
    let fly = good(&network(6, "dragonfly: { a: 2, h: 1, p: 1 }", "{ end: ib, local: ib, global: ib }"));
    assert_eq!(fly.fabric.nodes().len(), 6 + 6);
    assert_eq!(dealt(&fly), [1; 6]);
    // Group 0: port 0 to group 1, port 1 to group 2; group 1: port 0 to group 0, port 1 to group 2; and so on.
    let expected = [
        "router0>router1",
        "router2>router3",
        "router4>router5",
        "router0>router2",
        "router1>router4",
        "router3>router5",
    ];
    assert_eq!(laterals(&fly)[6..], expected);
}

#[test]
fn torus() {
    // 3 × 2 × 1: six links along the first dimension, three along the second, none along the third.
    let grid = good(&network(6, "torus: [3, 2, 1]", "{ end: ib, torus: ib }"));
    let mut links = laterals(&grid).split_off(6);
    links.sort_unstable();
    let expected = [
        "router0>router1",
        "router0>router3",
        "router1>router2",
        "router1>router4",
        "router2>router0",
        "router2>router5",
        "router3>router4",
        "router4>router5",
        "router5>router3",
    ];
    assert_eq!(links, expected);
}

#[test]
fn networks_of_machines_and_in_machines() {
    let outer = scenario(
        "  tree: { \"node[0-3]\": { machine: { file: box.yaml } } }
  networks:
    fabric: { leaf-spine: { leaves: 2, spines: 1 }, ends: [\"node[0-3]/rc0/nic\", \"node[0-3]/rc1/nic\"], types: ib }
",
    );
    let inner =
        BOX.replace("links:", "networks: { sw: { star: {}, ends: [\"rc[0-1]/gpu[0-1]\"], types: ib } }\nlinks:");
    let scenario = load_of(&[("s.yaml", &outer), ("box.yaml", &inner)]).unwrap();
    assert_eq!(scenario.fabric.nodes().len(), 4 * (8 + 1) + 3);
    assert_eq!(scenario.node("node3/sw/switch0"), Some(NodeId(35)));
    assert_eq!(scenario.node("fabric/leaf1"), Some(NodeId(37)));
    let links = laterals(&scenario);
    assert_eq!(links.len(), 4 * (1 + 4) + 8 + 2);
    assert_eq!(links[1], "node0/rc0/gpu0>node0/sw/switch0");
    assert_eq!(links[23..25], ["node3/rc0/nic>leaf0", "node0/rc1/nic>leaf1"]);
}

#[test]
fn wrong_networks() {
    let refused = |hosts: u64, shape: &str, types: &str, at: &str, message: &str, help: &str| {
        refused(&network(hosts, shape, types), at, message, help);
    };
    refused(17, "fat-tree: { k: 4 }", "ib", "\"h[0-16]", "room for 16 ends, and is given 17", "a larger network");
    refused(13, "dragonfly: { a: 2, h: 1, p: 2 }", "ib", "\"h[0-12]", "room for 12 ends, and is given 13", "larger");
    refused(2, "fat-tree: { k: 3 }", "ib", "3 }", "is odd, 3", "write 2 or 4");
    refused(2, "fat-tree: { k: 1 }", "ib", "1 }", "is odd, 1", "write 2");
    refused(2, "fat-tree: { k: 0 }", "ib", "0 }", "`0` is too few", "at least 1");
    refused(2, "torus: [2, 0]", "ib", "0]", "`0` is too few", "at least 1");
    refused(2, "torus: []", "ib", "[],", "no dimension", "[4, 4, 2]");
    refused(2, "torus: [10000000, 10]", "ib", "net:", "more than 10000000 nodes", "fewer");
    refused(2, "torus: [10000000, 10000000, 10000000]", "ib", "net:", "more than 10000000 nodes", "fewer");
    refused(2, "fat-tree: { k: 10000000 }", "ib", "net:", "more than 10000000 nodes", "fewer");
    refused(2, "dragonfly: { a: 9999999, h: 9999999, p: 1 }", "ib", "net:", "more than 10000000 nodes", "fewer");
    refused(2, "leaf-spine: { leaves: 99999999, spines: 1 }", "ib", "99999999", "too large", "10000000");
    refused(2, "leaf-spine: { leaves: 5000, spines: 5000 }", "ib", "net:", "more than 10000000 lateral links", "fewer");
    refused(2, "leaf-spine: { leaves: 2 }", "ib", "{ leaves", "needs the key `spines`", "spines");
    refused(2, "leaf-spine: { leaves: 2, spines: 2, links: 0 }", "ib", "0 }", "`0` is too few", "at least 1");
    refused(
        2,
        "leaf-spine: { leaves: 1, spines: 1, links: 10000000 }",
        "{ end: ib, spine: { bandwidth: 1e9GB/s } }",
        "{ end: ib, spine: { band",
        "the bandwidth of 10000000 links together is too large",
        "1e18 B/s",
    );
    refused(2, "star: {}, torus: [2]", "ib", "{ star", "exactly one shape", "leaf-spine");
    refused(2, "star: {}", "{ end: ib, spine: ib }", "spine: ib", "unknown key `spine`", "end");
    refused(2, "leaf-spine: { leaves: 1, spines: 1 }", "{ end: ib }", "{ end", "needs the key `spine`", "spine");
    refused(2, "star: {}", "ibb", "ibb", "no link type is named `ibb`", "`ib`");
    let named = |name: &str, ends: &str| {
        let networks = format!("  networks: {{ {name}: {{ star: {{}}, ends: {ends}, types: ib }} }}\n");
        first_bad(scenario(&format!("  tree: {{ \"h[0-1]\": {{ kind: host }} }}\n{networks}")))
    };
    let wrong = [
        ("h1", "h0", "network `h1` has the name of a root", "another name"),
        ("\"n[0-1]\"", "h0", "not a name", "no brackets"),
        ("n", "[h0, h2]", "no node is named `h2`", "did you mean"),
        ("n", "[\"h[0-1]\", h0]", "`h0` is an end twice", "once"),
        ("n", "[]", "`ends` is empty", "name the nodes"),
    ];
    for (name, ends, message, help) in wrong {
        let (_, _, said, remedy) = named(name, ends);
        assert!(said.contains(message), "{said}");
        assert!(remedy.contains(help), "{remedy}");
    }
}

/// A shape with ends that it has room for.
fn shapes() -> impl Strategy<Value = (String, &'static str, u64)> {
    let with = |shape: String, types: &'static str, most: u64| (Just(shape), Just(types), 1..=most);
    prop_oneof![
        (1..=20_u64).prop_flat_map(move |most| with("star: {}".to_owned(), "{ end: ib }", most)),
        (1..6_u64, 1..4_u64, 1..3_u64).prop_flat_map(move |(leaves, spines, links)| {
            let shape = format!("leaf-spine: {{ leaves: {leaves}, spines: {spines}, links: {links} }}");
            with(shape, "{ end: ib, spine: ib }", 20)
        }),
        (1..4_u64).prop_flat_map(move |half| {
            with(format!("fat-tree: {{ k: {} }}", 2 * half), "{ end: ib, edge: ib, core: ib }", 2 * half.pow(3))
        }),
        (1..4_u64, 1..4_u64, 1..3_u64).prop_flat_map(move |(a, h, p)| {
            let shape = format!("dragonfly: {{ a: {a}, h: {h}, p: {p} }}");
            with(shape, "{ end: ib, local: ib, global: ib }", a * p * (a * h + 1))
        }),
        (1..4_u64, 1..4_u64, 1..4_u64).prop_flat_map(move |(x, y, z)| with(
            format!("torus: [{x}, {y}, {z}]"),
            "{ end: ib, torus: ib }",
            40
        )),
    ]
}

proptest! {
    #[test]
    fn a_network_joins_all_ends_by_one_link_each((shape, types, hosts) in shapes()) {
        let scenario = good(&network(hosts, &shape, types));
        let fabric = &scenario.fabric;
        let is_host = |node: NodeId| fabric.node(node).kind == NodeKind::Host;
        for host in 0..hosts as u32 {
            let up = fabric.links().iter().filter(|link| link.from == NodeId(host)).count();
            prop_assert_eq!(up, 1, "host {}", host);
        }
        // Switches with ends have equally many, or one more.
        let counts = dealt(&scenario);
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        prop_assert!(most - least <= 1, "{:?}", counts);
        // Every node is reached from the first, without passing through another host.
        let mut reached = vec![false; fabric.nodes().len()];
        let mut open = vec![NodeId(0)];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut reached[node.index()], true) && (node.0 == 0 || !is_host(node)) {
                open.extend(fabric.links().iter().filter(|link| link.from == node).map(|link| link.to));
            }
        }
        prop_assert!(reached.iter().all(|&reached| reached), "{:?}", reached);
    }
}

#[test]
fn every_end_reaches_every_other() {
    for (shape, hosts) in
        [("fat-tree: { k: 4 }", 16), ("dragonfly: { a: 2, h: 2, p: 2 }", 20), ("torus: [4, 2, 2]", 16)]
    {
        let scenario = good(&network(hosts, shape, "ib"));
        let mut routes = Routes::new();
        for (from, to) in (0..hosts as u32).flat_map(|a| (0..hosts as u32).map(move |b| (a, b))) {
            let route = routes.between(&scenario.fabric, NodeId(from), NodeId(to));
            assert_eq!(route.is_some(), from != to, "{shape}: {from} to {to}");
        }
    }
}
