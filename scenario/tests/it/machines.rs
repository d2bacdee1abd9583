//! Machines that stand many times in a topology.

use weir_plugin_api::{Direction, LinkKind, NodeId};
use weir_scenario::{Change, Diagnostic, LoadOptions, Scenario, load, rewrite};

use crate::common::{first_bad, good, registry, write};

/// A file with two roots, a lateral link and types of its own, one of them with the name of an outer one.
pub(crate) const BOX: &str = "\
weir: 1
link_types: { ib: { bandwidth: 12GB/s }, x: { bandwidth: 16GB/s, kind: qpi } }
tree:
  \"rc[0-1]\":
    kind: root-complex
    children: { \"gpu[0-1]\": { kind: gpu, link: ib }, nic: { kind: nic, link: ib } }
links:
  - { between: [rc0, rc1], type: x }
";

pub(crate) fn scenario(topology: &str) -> String {
    format!(
        "weir: 1\ntopology:\n  link_types: {{ ib: {{ bandwidth: 50GB/s, latency: 1us }} }}\n{topology}workload: []\n"
    )
}

/// Loads `s.yaml` of some files.
pub(crate) fn load_of(files: &[(&str, &str)]) -> Result<Scenario, Vec<Diagnostic>> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    load(&folder.path().join("s.yaml"), &LoadOptions::default(), &registry())
}

pub(crate) fn names(scenario: &Scenario) -> Vec<String> {
    (0..scenario.fabric.nodes().len()).map(|n| scenario.node_name(NodeId::from_index(n)).to_owned()).collect()
}

/// `from>to` of every link beside the tree, once.
pub(crate) fn laterals(scenario: &Scenario) -> Vec<String> {
    let links = scenario.fabric.links().iter().filter(|link| link.direction == Direction::Lateral).step_by(2);
    links.map(|link| format!("{}>{}", scenario.node_name(link.from), scenario.node_name(link.to))).collect()
}

#[test]
fn a_machine_stands_once_for_each_name() {
    let outer = scenario(
        "  machines: { box: { file: box.yaml } }
  tree: { \"node[0-1]\": { machine: box }, store: { kind: host } }
  links:
    - { between: [\"node[0-1]/rc0/nic\", store], type: ib }
",
    );
    let scenario = load_of(&[("s.yaml", &outer), ("box.yaml", BOX)]).unwrap();
    let of = |node: &str| -> Vec<String> {
        let below = ["rc0", "rc0/gpu0", "rc0/gpu1", "rc0/nic", "rc1", "rc1/gpu0", "rc1/gpu1", "rc1/nic"];
        below.iter().map(|name| format!("{node}/{name}")).collect()
    };
    assert_eq!(names(&scenario), [of("node0"), of("node1"), vec!["store".to_owned()]].concat());
    assert_eq!(
        laterals(&scenario),
        ["node0/rc0>node0/rc1", "node1/rc0>node1/rc1", "node0/rc0/nic>store", "node1/rc0/nic>store"]
    );
    // The machine's `ib` is not the outer one, and its kinds are those of all.
    let links = scenario.fabric.links();
    assert_eq!((links[0].bandwidth, links[0].kind), (12e9, LinkKind::PCIE));
    let beside = links.iter().filter(|link| link.direction == Direction::Lateral).step_by(2);
    let beside: Vec<_> = beside.map(|link| (link.bandwidth, link.kind.0)).collect();
    assert_eq!(beside[..3], [(16e9, 1), (16e9, 1), (50e9, LinkKind::OTHER.0)]);
    assert_eq!(scenario.node("node1/gpu0"), None, "two roots have a gpu0");
    assert_eq!(scenario.node("node1/rc1/gpu0"), Some(NodeId(13)));
    assert_eq!(scenario.node("node1"), None);
}

#[test]
fn printed_names_are_behind_the_machine_where_they_are_unique_in_it() {
    let machine = "weir: 1
link_types: { p: { bandwidth: 1GB/s } }
tree:
  'rc[0-1]': { kind: root-complex, children: { 'gpu[0-1]': { kind: gpu, link: p }, nic: { kind: nic, link: p } } }
  cpu: { kind: cpu }
";
    let outer = scenario(
        "  tree: { 'node[0-1]': { machine: { file: box.yaml } }, store: { kind: host } }
  links: [{ between: ['node[0-1]/cpu', store], type: ib }]
",
    );
    let scenario = load_of(&[("s.yaml", &outer), ("box.yaml", machine)]).unwrap();
    let names = names(&scenario);
    let machine = ["rc0", "rc0/gpu0", "rc0/gpu1", "rc0/nic", "rc1", "rc1/gpu0", "rc1/gpu1", "rc1/nic", "cpu"];
    let of = |node: &str| machine.map(|name| format!("{node}/{name}")).to_vec();
    assert_eq!(names, [of("node0"), of("node1"), vec!["store".to_owned()]].concat());
    for (node, name) in names.iter().enumerate() {
        assert_eq!(scenario.node(name), Some(NodeId::from_index(node)), "{name}");
    }
}

#[test]
fn machines_in_place_and_in_one_another() {
    let scenario = good(&scenario(
        "  machines:
    board: { tree: { gpu: { kind: gpu } } }
    rack:
      link_types: { l: { bandwidth: 1GB/s } }
      tree: { \"b[0-1]\": { machine: board }, top: { kind: network } }
      links: [{ between: [\"b[0-1]/gpu\", top], type: l }]
  tree: { r: { machine: rack, repeat: 2 }, one: { machine: { tree: { gpu: { kind: gpu } } } } }
  links: [{ between: [r0/top, r1/top], type: ib }, { between: [one/gpu, r0/top], type: ib }]
",
    ));
    assert_eq!(names(&scenario), ["r0/b0/gpu", "r0/b1/gpu", "r0/top", "r1/b0/gpu", "r1/b1/gpu", "r1/top", "one/gpu"]);
    assert_eq!(laterals(&scenario)[..2], ["r0/b0/gpu>r0/top", "r0/b1/gpu>r0/top"]);
    assert_eq!(scenario.node("r1/gpu"), None);
    assert_eq!(scenario.node("r1/b1/gpu"), Some(NodeId(4)));
    assert_eq!(scenario.node("b1/gpu"), None);
}

/// A topology in place may name the types around it: those nearest to where it stands in the text. A file may not.
#[test]
fn a_machine_in_place_may_name_the_link_types_around_it() {
    let tree = "{ sw: { kind: switch, children: { gpu: { kind: gpu, link: ib } } } }";
    let inner = good(&scenario(&format!(
        "  machines:
    board: {{ tree: {tree} }}
    rack:
      link_types: {{ ib: {{ bandwidth: 1GB/s }} }}
      machines: {{ inner: {{ tree: {tree} }} }}
      tree: {{ b: {{ machine: board }}, i: {{ machine: inner }} }}
  tree: {{ r: {{ machine: rack }} }}
"
    )));
    let bandwidths: Vec<f64> = inner.fabric.links().iter().step_by(2).map(|link| link.bandwidth).collect();
    assert_eq!(bandwidths, [50e9, 1e9]);
    let outer = scenario("  tree: { n: { machine: { file: box.yaml } } }\n");
    let found = load_of(&[("s.yaml", &outer), ("box.yaml", &format!("weir: 1\ntree: {tree}\n"))]).unwrap_err();
    assert!(found[0].to_string().contains("no link type is named `ib`"), "{found:?}");
}

#[test]
fn a_file_names_machines_beside_it() {
    let outer = "weir: 1\ntopology: sub/two.yaml\nworkload: []\n";
    let two = "weir: 1\ntree: { \"n[0-1]\": { machine: { file: box.yaml } } }\n";
    let scenario = load_of(&[("s.yaml", outer), ("sub/two.yaml", two), ("sub/box.yaml", BOX)]).unwrap();
    assert_eq!(scenario.fabric.nodes().len(), 16);
}

/// A topology that is put in place takes its machines with it: their files are named relative to its own.
#[test]
fn a_topology_put_in_place_brings_its_machines() {
    let folder = tempfile::tempdir().unwrap();
    let outer = "weir: 1\ntopology: sub/two.yaml\nworkload: []\n";
    let two = "weir: 1\nmachines: { b: { file: box.yaml } }\ntree: { n: { machine: b }, m: { machine: { file: box.yaml } } }\n";
    write(folder.path(), &[("s.yaml", outer), ("sub/two.yaml", two), ("sub/box.yaml", BOX)]);
    let file = folder.path().join("s.yaml");
    let text = rewrite(&file, &LoadOptions::default(), &[Change::InlineTopology]).unwrap();
    assert!(!text.contains("file:"), "{text}");
    let before = load(&file, &LoadOptions::default(), &registry()).unwrap();
    let after = good(&text);
    assert_eq!((names(&before), laterals(&before)), (names(&after), laterals(&after)), "{text}");
}

/// Each of twelve files names the next ten times: read once each, but 10^11 times as long in place.
#[test]
fn machines_that_would_not_fit_in_place_are_refused() {
    let names = |next: usize| (0..10).map(|i| format!("  m{i}: {{ file: f{next}.yaml }}\n")).collect::<String>();
    let file = |at: usize| format!("weir: 1\nmachines:\n{}tree: {{ g: {{ kind: gpu }} }}\n", names(at + 1));
    let files: Vec<(String, String)> = (0..12).map(|at| (format!("f{at}.yaml"), file(at))).collect();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    files.push(("f12.yaml", "weir: 1\ntree: { g: { kind: gpu } }\n"));
    files.push(("s.yaml", "weir: 1\ntopology: f0.yaml\nworkload: []\n"));
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &files);
    let file = folder.path().join("s.yaml");
    load(&file, &LoadOptions::default(), &registry()).unwrap_or_else(|found| panic!("{}", found[0]));
    let found = rewrite(&file, &LoadOptions::default(), &[Change::InlineTopology]).unwrap_err();
    assert!(found[0].message.contains("more than 16 MiB"), "{}", found[0]);
}

#[test]
fn machines_that_contain_themselves() {
    let outer = "weir: 1\ntopology: { tree: { n: { machine: { file: a.yaml } } } }\nworkload: []\n";
    let a = "weir: 1\ntree:\n  x: { machine: { file: b.yaml } }\n";
    let b = "weir: 1\ntree:\n  y: { machine: { file: ./a.yaml } }\n";
    let found = load_of(&[("s.yaml", outer), ("a.yaml", a), ("b.yaml", b)]).map(|s| s.name).unwrap_err();
    assert_eq!(found.len(), 1, "{found:?}");
    let place = found[0].position.clone().unwrap();
    assert!(place.file.ends_with("b.yaml"), "{place:?}");
    assert_eq!((place.line, place.column), (3, 25));
    assert_eq!(found[0].message, "a machine contains itself: `a.yaml` → `b.yaml` → `./a.yaml`");
    assert_eq!(found[0].notes.len(), 2);
    let named =
        |machines: &str| first_bad(scenario(&format!("  machines: {machines}\n  tree: {{ n: {{ machine: m }} }}\n")));
    let (line, column, message, _) = named("{ m: { tree: { x: { machine: m } } } }");
    assert_eq!((line, column, &*message), (4, 42, "a machine contains itself: `m` → `m`"));
    let (.., message, _) = named("{ m: { tree: { x: { machine: o } } }, o: { tree: { x: { machine: m } } } }");
    assert_eq!(message, "a machine contains itself: `m` → `o` → `m`");
}

/// Refuses a text at the last occurrence of `at`.
#[track_caller]
pub(crate) fn refused(text: &str, at: &str, message: &str, help: &str) {
    let (line, column, said, remedy) = first_bad(text);
    assert!(said.contains(message), "{said}");
    assert!(remedy.contains(help), "{remedy}");
    let before = &text[..text.rfind(at).unwrap()];
    let place = (before.lines().count(), before.lines().last().unwrap().chars().count() + 1);
    assert_eq!((line as usize, column as usize), place, "{said}");
}

#[test]
fn wrong_machines() {
    let refused = |lines: &str, at: &str, message: &str, help: &str| refused(&scenario(lines), at, message, help);
    let of =
        |node: &str| format!("  machines: {{ box: {{ tree: {{ g: {{ kind: gpu }} }} }} }}\n  tree: {{ {node} }}\n");
    refused(&of("n: { machine: bix }"), "bix", "no machine is named `bix`", "did you mean `box`?");
    refused(&of("n: { machine: box.yaml }"), "box.yaml", "no machine is named", "{ file: box.yaml }");
    for key in ["kind: gpu", "link: ib", "children: {}", "engines: 2"] {
        refused(
            &of(&format!("n: {{ machine: box, {key} }}")),
            key.split_once(' ').unwrap().1,
            "has `machine` and",
            "remove",
        );
    }
    refused(
        &of("s: { kind: switch, children: { n: { machine: box } } }"),
        "box",
        "a machine has no parent",
        "`links` or `networks`",
    );
    refused(
        &of("\"n[0-9999999]\": { machine: box }, m: { machine: box }"),
        "{ \"n[",
        "more than 10000000 nodes",
        "fewer",
    );
    refused(&of("\"n[0-99999999]\": { machine: box }"), "\"n[", "more than 10000000 nodes", "fewer");
    refused(&of("\"n[0-1]\": { machine: box }, n1: { machine: box }"), "n1", "two nodes named `n1`", "distinct");
    refused("  machines: [a]\n  tree: { h: { kind: host } }\n", "[a]", "must be a map", "file: dgx.yaml");
    let between = "  links: [{ between: [n, g], type: ib }]\n";
    refused(&(of("n: { machine: box }") + between), "n, g", "`n` is a machine or network, not a node", "`n/g`");
    let chain: String = (0..20).map(|i| format!("m{i}: {{ tree: {{ n: {{ machine: m{} }} }} }}, ", i + 1)).collect();
    let deep = format!(
        "  machines: {{ {chain}m20: {{ tree: {{ h: {{ kind: host }} }} }} }}\n  tree: {{ n: {{ machine: m0 }} }}\n"
    );
    let (.., said, _) = first_bad(scenario(&deep));
    assert!(said.contains("more than 16 levels"), "{said}");
}

#[test]
fn what_is_wrong_with_a_machine_is_said_once() {
    let outer = "weir: 1\ntopology: { tree: { \"n[0-99]\": { machine: { file: b.yaml } }, m: { machine: { file: b.yaml } } } }\nworkload: []\n";
    let twice = BOX.replace("[rc0, rc1]", "[rc0, rc7]");
    for wrong in [&*twice, "weir: 1\ntree: {}\n"] {
        let found = load_of(&[("s.yaml", outer), ("b.yaml", wrong)]).map(|s| s.name).unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].position.as_ref().unwrap().file.ends_with("b.yaml"));
    }
}
