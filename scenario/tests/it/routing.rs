//! Which routes transfers take: `routing`, `nic` and `via`.

use weir_scenario::{Scenario, lint};
use weir_sim_core::{Work, branches};

use crate::common::{first_bad, good};

/// Two machines of four GPUs and two NICs, each NIC on the switch of two GPUs, and two leaves below four spines; a host of
/// its own on the second leaf.
const CLUSTER: &str = "weir: 1
topology:
  link_types: { pcie: { bandwidth: 25GB/s }, ib: { bandwidth: 25GB/s, kind: network } }
  tree:
    'm[0-1]':
      kind: root-complex
      children:
        'plx[0-1]':
          kind: switch
          link: pcie
          children: { 'gpu[0-1]': { kind: gpu, link: pcie }, nic: { kind: nic, link: pcie } }
    store: { kind: host }
  networks:
    net:
      leaf-spine: { leaves: 2, spines: 4 }
      ends: ['m0/plx[0-1]/nic', 'm1/plx[0-1]/nic', store]
      types: ib
ranks: ['m[0-1]/plx[0-1]/gpu[0-1]']
";

fn scenario(rest: &str) -> String {
    format!("{CLUSTER}{rest}")
}

/// The nodes of a transfer's routes, without the source, route by route.
fn routes(scenario: &Scenario, id: &str) -> Vec<String> {
    let task = scenario.task(id).expect("a transfer");
    let Work::Carries { class, .. } = scenario.tasks.tasks()[task.index()].work else { panic!("no transfer") };
    let links = scenario.routes.links(scenario.tasks.classes().route(class));
    let names = |branch: &[_]| {
        let names = branch.iter().map(|&link| scenario.node_name(scenario.fabric.link(link).to));
        names.collect::<Vec<_>>().join(" ")
    };
    branches(&scenario.fabric, links).map(names).collect()
}

#[test]
fn a_transfer_takes_the_first_of_the_shortest_routes_unless_it_says_otherwise() {
    let scenario = good(&scenario(
        "workload:
  - transfer: { id: a, from: m0/plx0/gpu0, to: store, size: 1MB }
  - transfer: { id: b, from: m0/plx0/gpu0, to: store, size: 1MB, via: net/spine2 }
  - transfer: { id: c, from: m0/plx0/gpu0, to: store, size: 1MB, via: [m0/plx1/nic, net/spine1] }
  - transfer: { id: d, from: m0/plx0/gpu0, to: store, size: 1MB, routing: spread }
",
    ));
    assert_eq!(routes(&scenario, "a"), ["m0/plx0 m0/plx0/nic leaf0 spine0 leaf1 store"]);
    assert_eq!(routes(&scenario, "b"), ["m0/plx0 m0/plx0/nic leaf0 spine2 leaf1 store"]);
    assert_eq!(routes(&scenario, "c"), ["m0/plx0 m0 m0/plx1 m0/plx1/nic leaf0 spine1 leaf1 store"]);
    let spread: Vec<String> =
        (0..4).map(|spine| format!("m0/plx0 m0/plx0/nic leaf0 spine{spine} leaf1 store")).collect();
    assert_eq!(routes(&scenario, "d"), spread);
}

/// The first 16 bytes of SHA-256 of `m0/plx0/gpu0\0store\0<id>` modulo 4, computed with another program.
#[test]
fn ecmp_goes_by_the_documented_hash() {
    let scenario = good(&scenario(
        "routing: ecmp
workload:
  - transfer: { id: a, from: m0/plx0/gpu0, to: store, size: 1MB }
  - transfer: { id: t, from: m0/plx0/gpu0, to: store, size: 1MB, repeat: 4 }
  - transfer: { id: s, from: m0/plx0/gpu0, to: store, size: 1MB, routing: shortest }
",
    ));
    for (id, spine) in [("a", 2), ("t#1", 1), ("t#2", 0), ("t#3", 0), ("t#4", 0), ("s", 0)] {
        let expected = format!("m0/plx0 m0/plx0/nic leaf0 spine{spine} leaf1 store");
        assert_eq!(routes(&scenario, id), [expected], "{id}");
    }
}

#[test]
fn messages_of_a_pattern_have_hashes_of_their_own() {
    let scenario = good(&scenario("routing: ecmp\nworkload:\n  - pattern: { kind: all-to-all, id: x, size: 1MB }\n"));
    let crossing = scenario.tasks.transfers().filter_map(|(task, _)| {
        let name = scenario.task_name(task).into_owned();
        let route = routes(&scenario, &name).concat();
        let spine = route.split(' ').find(|node| node.starts_with("spine"))?.to_owned();
        Some(spine)
    });
    let mut spines: Vec<String> = crossing.collect();
    spines.sort();
    spines.dedup();
    // Both machines are on one leaf each way: 32 messages cross, and no spine is left out.
    assert_eq!(spines, ["spine0", "spine1", "spine2", "spine3"]);
}

#[test]
fn nic_says_through_which_cards() {
    let cards = |nic: &str, from: &str, to: &str| {
        let scenario = good(&scenario(&format!(
            "nic: {nic}\nworkload:\n  - transfer: {{ id: a, from: {from}, to: {to}, size: 1MB }}\n"
        )));
        let nics = |route: &String| {
            let nics: Vec<&str> = route.split(' ').filter(|node| node.ends_with("nic")).collect();
            nics.join(" ")
        };
        routes(&scenario, "a").iter().map(nics).collect::<Vec<_>>()
    };
    let (near, far) = ("m0/plx0/gpu1", "m1/plx1/gpu0");
    assert_eq!(cards("nearest", near, far), ["m0/plx0/nic m1/plx1/nic"]);
    assert_eq!(cards("rail", near, far), ["m0/plx0/nic m1/plx0/nic"]);
    assert_eq!(cards("all", near, far), ["m0/plx0/nic m1/plx0/nic", "m0/plx1/nic m1/plx1/nic"]);
    // A host without cards, and a transfer inside a machine.
    assert_eq!(cards("rail", far, "store"), ["m1/plx1/nic"]);
    assert_eq!(cards("rail", "store", far), ["m1/plx1/nic"]);
    assert_eq!(cards("all", "store", far), ["m1/plx0/nic", "m1/plx1/nic"]);
    assert_eq!(cards("all", near, "m0/plx1/gpu0"), [""]);
    // A card is its own.
    assert_eq!(cards("all", "m0/plx1/nic", far), ["m1/plx0/nic", "m1/plx1/nic"]);
}

#[test]
fn equally_near_cards_are_dealt_to_the_devices() {
    let text = "weir: 1
topology:
  link_types: { p: { bandwidth: 10GB/s } }
  tree:
    'rc[0-1]': { kind: root-complex, children: { 'gpu[0-3]': { kind: gpu, link: p }, 'nic[0-1]': { kind: nic, link: p } } }
    net: { kind: network }
  links: [{ between: ['rc0/nic[0-1]', net], type: p }, { between: ['rc1/nic[0-1]', net], type: p }]
nic: nearest
workload:
  - transfer: { id: a, from: rc0/gpu0, to: rc1/gpu0, size: 1MB }
  - transfer: { id: b, from: rc0/gpu1, to: rc1/gpu2, size: 1MB }
  - transfer: { id: c, from: rc0/gpu2, to: rc1/gpu3, size: 1MB }
";
    let scenario = good(text);
    assert_eq!(routes(&scenario, "a"), ["rc0 rc0/nic0 net rc1/nic0 rc1 rc1/gpu0"]);
    assert_eq!(routes(&scenario, "b"), ["rc0 rc0/nic1 net rc1/nic0 rc1 rc1/gpu2"]);
    assert_eq!(routes(&scenario, "c"), ["rc0 rc0/nic0 net rc1/nic1 rc1 rc1/gpu3"]);
}

/// Two networks, for computing and for storage, and cards of both on each machine; gpu1 has a card of its own.
#[test]
fn cards_are_chosen_among_those_that_lead_there() {
    let text = |nic: &str| {
        format!(
            "weir: 1
topology:
  link_types: {{ p: {{ bandwidth: 20GB/s }}, w: {{ bandwidth: 10GB/s, kind: network }} }}
  tree:
    'm[0-1]':
      kind: root-complex
      children:
        gpu0: {{ kind: gpu, link: p }}
        plx: {{ kind: switch, link: p, children: {{ gpu1: {{ kind: gpu, link: p }}, near: {{ kind: nic, link: p }} }} }}
        gpu2: {{ kind: gpu, link: p }}
        'nic[0-1]': {{ kind: nic, link: p }}
        far: {{ kind: nic, link: p }}
    net: {{ kind: network }}
    storage: {{ kind: network }}
    store: {{ kind: host }}
  links:
    - {{ between: ['m0/plx/near', net], type: w }}
    - {{ between: ['m1/plx/near', net], type: w }}
    - {{ between: ['m0/nic[0-1]', net], type: w }}
    - {{ between: ['m1/nic[0-1]', net], type: w }}
    - {{ between: ['m[0-1]/far', storage], type: w }}
    - {{ between: [store, storage], type: w }}
nic: {nic}
workload:
  - transfer: {{ id: store, from: m0/plx/gpu1, to: store, size: 1MB }}
  - transfer: {{ id: back, from: store, to: m0/plx/gpu1, size: 1MB }}
  - transfer: {{ id: a, from: m0/gpu0, to: m1/gpu0, size: 1MB }}
  - transfer: {{ id: c, from: m0/gpu2, to: m1/plx/gpu1, size: 1MB }}
  - transfer: {{ id: any, from: m0/plx/gpu1, to: m1/gpu0, size: 1MB, nic: any }}
"
        )
    };
    for nic in ["nearest", "rail", "all"] {
        let scenario = good(&text(nic));
        // Nearer cards do not lead to the store.
        assert_eq!(routes(&scenario, "store"), ["m0/plx m0 m0/far storage store"], "{nic}");
        assert_eq!(routes(&scenario, "back"), ["storage m0/far m0 m0/plx m0/plx/gpu1"], "{nic}");
        assert_eq!(routes(&scenario, "any"), ["m0/plx m0/plx/near net m1/nic0 m1 m1/gpu0"], "{nic}");
    }
    let scenario = good(&text("nearest"));
    // gpu0 and gpu2 have two equally near cards and take them in turn; gpu1, between them, has its own.
    assert_eq!(routes(&scenario, "a"), ["m0 m0/nic0 net m1/nic0 m1 m1/gpu0"]);
    assert_eq!(routes(&scenario, "c"), ["m0 m0/nic1 net m1/plx/near m1/plx m1/plx/gpu1"]);
    // Each of the three pairs stays inside the machines up to its card.
    let pairs = ["m0 m0/plx m0/plx/near net m1/plx/near m1/plx m1 m1/gpu0", "m0 m0/nic0 net m1/nic0 m1 m1/gpu0"];
    assert_eq!(routes(&good(&text("all")), "a")[..2], pairs);
    // Without a network between them there is no card to choose.
    let apart = text("nearest").replace("    - { between: ['m1/plx/near', net], type: w }\n", "");
    let apart = apart.replace("    - { between: ['m1/nic[0-1]', net], type: w }\n", "");
    let apart = apart.replace("['m[0-1]/far', storage]", "['m0/far', storage]");
    let (.., message, _) = first_bad(apart.as_str());
    assert_eq!(message, "no network leads from the cards of `m0/gpu0`'s machine to `m1/gpu0`");
}

/// SHA-256 of `m0/plx0/gpu1\0m1/plx1/gpu0\0a\0<pair>` modulo 4, computed with another program.
#[test]
fn each_pair_of_cards_has_a_hash_of_its_own() {
    let scenario = good(&scenario(
        "workload:
  - transfer: { id: a, from: m0/plx0/gpu1, to: m1/plx1/gpu0, size: 1MB, nic: all, routing: ecmp }
",
    ));
    let spine = |route: &String| route.split(' ').find(|node| node.starts_with("spine")).map(str::to_owned);
    let spines: Vec<_> = routes(&scenario, "a").iter().filter_map(spine).collect();
    // The first pair is on one leaf. Without its number the second would have hash 0.
    assert_eq!(spines, ["spine1"]);
}

#[test]
fn what_cannot_be_routed_is_refused_where_it_stands() {
    let item = |keys: &str| {
        scenario(&format!("workload:\n  - transfer: {{ id: a, from: m0/plx0/gpu0, to: store, size: 1MB, {keys} }}\n"))
    };
    let cases = [
        (item("via: [m0/plx0/gpu1]"), "no route passes `m0/plx0/gpu1`, which only starts and ends transfers"),
        (
            item("via: [leaf0, m0/plx1]"),
            "no route from `m0/plx0/gpu0` to `store` passes `leaf0`, `m0/plx1` without passing `m0/plx1/nic` twice",
        ),
        (item("via: [leaf0, leaf1, leaf0]"), "`via` names the same node again"),
        (item("via: store"), "`via` names the destination, where the transfer ends"),
        (item("via: [m0/plx0/gpu0]"), "`via` names the source, where the transfer begins"),
        (item("via: { a: b }"), "`via` must be a name or a list of names, not a map"),
        (item("via: [leaf1, leaf0]"), "no route from `m0/plx0/gpu0` to `store` passes `leaf1`, `leaf0` without"),
        (item("via: [leaf7]"), "`via`: no node is named `leaf7`"),
        (item("via: []"), "`via` is an empty list"),
        (item("via: [leaf0], nic: rail"), "a transfer with `via` cannot have `nic`"),
        (item("routing: adaptive"), "`routing` of a transfer: `adaptive` is not a choice"),
        (item("nic: most"), "`nic` of a transfer: `most` is not a choice"),
        (scenario("routing: [ecmp]\nworkload: []\n"), "`routing` of the scenario must be one value, not a list"),
    ];
    for (text, expected) in cases {
        let (line, column, message, _) = first_bad(text.as_str());
        assert!(message.starts_with(expected), "{expected}: {message}");
        assert!(line > 17 && column > 1, "{expected}");
    }
}

#[test]
fn a_machine_without_a_network_has_no_cards() {
    let text = "weir: 1
topology:
  link_types: { p: { bandwidth: 10GB/s } }
  tree: { rc: { kind: root-complex, children: { gpu0: { kind: gpu, link: p }, nic: { kind: nic, link: p } } } }
nic: rail
workload: []
";
    let (line, .., message, _) = first_bad(text);
    assert_eq!((line, &*message), (5, "no network card leads out of a machine"));
}

#[test]
fn transfers_may_meet_at_a_bandwidth_that_links_share() {
    let text = |memory: &str, rest: &str| {
        format!(
            "weir: 1
topology:
  link_types: {{ p: {{ bandwidth: 10GB/s }} }}
  tree: {{ rc: {{ kind: root-complex{memory}, children: {{ 'gpu[0-3]': {{ kind: gpu, link: p }} }} }} }}
workload:
  - transfer: {{ from: gpu0, to: gpu1, size: 1GB{rest} }}
  - transfer: {{ from: gpu2, to: gpu3, size: 1GB }}
"
        )
    };
    let alone = |text: &str| lint(&good(text)).iter().any(|found| found.message.starts_with("no two transfers share"));
    assert!(alone(&text("", "")));
    assert!(!alone(&text(", memory: { bandwidth: 10GB/s }", "")));
    // Branches of one transfer are no two transfers.
    let spread = scenario(
        "workload:\n  - transfer: { from: m0/plx0/gpu0, to: store, size: 1GB, routing: spread }\n  - transfer: { from: m1/plx0/gpu0, to: m1/plx0/gpu1, size: 1GB }\n",
    );
    assert!(alone(&spread));
}
