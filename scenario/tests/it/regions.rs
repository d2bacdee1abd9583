//! A policy for each kind of link: how it is written, which regions it makes, and what comes out.

use weir_plugin_api::Registry;
use weir_scenario::{Diagnostic, Input, LoadOptions, Scenario, load};
use weir_sim_core::{Outcome, RunOptions, Simulation};

/// Two machines like the paper's, their GPUs and a NIC under two levels of switches, and a switch between the NICs.
const CLUSTER: &str = "\
weir: 1
topology:
  link_types:
    pcie: { bandwidth: 11.6GB/s }
    wire: { bandwidth: 5GB/s, kind: network }
  tree:
    fabric: { kind: network }
    rc[0-1]:
      kind: root-complex
      children:
        plx[0-1]:
          kind: switch
          link: pcie
          children:
            low[0-1]:
              kind: switch
              link: pcie
              children:
                gpu[0-1]: { kind: gpu, link: pcie }
        nic: { kind: nic, link: pcie }
  links:
    - { type: wire, between: ['rc[0-1]/nic', fabric] }
";

/// The transfers of Table I in machine 0.
const TABLE_I: &str = "\
workload:
  - transfer: { id: a, from: rc0/plx0/low0/gpu0, to: rc0/plx0/low1/gpu0, size: 300MB }
  - transfer: { id: b, from: rc0/plx0/low0/gpu1, to: rc0/plx1/low0/gpu0, size: 300MB }
  - transfer: { id: c, from: rc0/plx0/low1/gpu1, to: rc0/plx0/low1/gpu0, size: 300MB }
  - transfer: { id: d, from: rc0/plx1/low1/gpu0, to: rc0/plx1/low0/gpu0, size: 300MB }
";

const MAP: &str = "arbiter: { default: { name: pcie-congestion, tau: 0.2 }, network: max-min }\n";

fn read(text: &str, arbiters: &[&str]) -> Result<Scenario, Vec<Diagnostic>> {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).unwrap();
    let arbiters = arbiters.iter().map(|text| (*text).to_owned()).collect();
    load(Input::text(text, "-", None), &LoadOptions { arbiters, ..LoadOptions::default() }, &registry)
}

fn good(text: &str) -> Scenario {
    read(text, &[]).unwrap_or_else(|found| panic!("{}", found.iter().map(|d| format!("{d}\n")).collect::<String>()))
}

fn run(scenario: &Scenario) -> Outcome {
    let spec = &scenario.arbiters[0];
    let Scenario { fabric, routes, tasks, .. } = scenario;
    let mut arbiter = (spec.entry.make)(&fabric.view(), &spec.params_json()).unwrap();
    Simulation { fabric, routes, tasks }.run(&mut *arbiter, spec.entry.flags, RunOptions::default()).unwrap()
}

/// When each of the first four transfers ends, in picoseconds.
fn ends(scenario: &Scenario) -> Vec<u64> {
    run(scenario).tasks[..4].iter().map(|times| times.end.0).collect()
}

#[test]
fn regions_hang_together_by_links_of_one_key() {
    let scenario = good(&format!("{CLUSTER}{MAP}{TABLE_I}"));
    let spec = &scenario.arbiters[0];
    assert_eq!(spec.name, "{default: {name: pcie-congestion, tau: 0.2}, network: max-min}");
    let regions = spec.regions.as_ref().unwrap();
    let names: Vec<&str> = regions.infos.iter().map(|info| &*info.name).collect();
    assert_eq!(names, ["default at rc0", "default at rc1", "network"]);
    let links: Vec<usize> = regions.division.regions.iter().map(|region| region.links.len()).collect();
    assert_eq!(links, [2 * 15, 2 * 15, 2 * 2]);
    assert_eq!(scenario.node_name(regions.infos[2].top), "fabric");
}

/// Table I inside one machine of a cluster is Table I, while the other machines talk to each other.
#[test]
fn a_machine_of_a_cluster_is_the_machine_alone() {
    let alone = ends(&good(&format!("{CLUSTER}arbiter: {{ name: pcie-congestion, tau: 0.2 }}\n{TABLE_I}")));
    let inside = ends(&good(&format!("{CLUSTER}{MAP}{TABLE_I}")));
    assert_eq!(inside, alone);
    let other = "  - transfer: { id: x, from: rc1/plx0/low0/gpu0, to: rc1/plx1/low0/gpu0, size: 900MB }\n";
    assert_eq!(ends(&good(&format!("{CLUSTER}{MAP}{TABLE_I}{other}"))), alone);
}

/// A transfer to another machine that shares no link with the four does not change them, and gets the wire's rate.
#[test]
fn a_transfer_through_the_network_goes_by_both_policies() {
    let out = "  - transfer: { id: x, from: rc0/plx1/low1/gpu1, to: rc1/plx0/low0/gpu0, size: 100MB }\n";
    let scenario = good(&format!("{CLUSTER}{MAP}{TABLE_I}{out}"));
    let outcome = run(&scenario);
    // d shares its switch's uplink with x: both leave low1, x then climbs past plx1.
    assert_eq!(outcome.tasks[4].end.0, 20_000_000_000, "100 MB at the wire's 5 GB/s");
    let without = ends(&good(&format!("{CLUSTER}{MAP}{TABLE_I}")));
    assert!(outcome.tasks[3].end.0 > without[3], "d shares an uplink with x");
    assert_eq!(outcome.tasks[2].end.0, without[2], "c shares no link with x");
}

fn refused(arbiter: &str) -> String {
    let found = read(&format!("{CLUSTER}arbiter: {arbiter}\n{TABLE_I}"), &[]).expect_err("it is wrong");
    found.iter().map(|d| format!("{d}\n")).collect()
}

#[test]
fn wrong_maps_are_named() {
    let text = refused("{ default: max-min, netwrok: max-min }");
    assert!(text.contains("no link has the kind `netwrok`") && text.contains("`network`"), "{text}");
    let text = refused("{ network: max-min }");
    assert!(text.contains("links of kind `pcie` have no arbiter") && text.contains("`default: NAME`"), "{text}");
    let text = refused("{ default: [max-min, fcfs] }");
    assert!(text.contains("the arbiter of `default` must be one arbiter"), "{text}");
    let text = refused("{ default: { network: max-min } }");
    assert!(text.contains("an arbiter needs the key `name`"), "{text}");
    let text = refused("{ tau: 0.1 }");
    assert!(text.contains("an arbiter needs the key `name`"), "{text}");
    let text = refused("{}");
    assert!(text.contains("empty map"), "{text}");
}

#[test]
fn the_command_line_and_lists_take_maps() {
    let scenario = read(&format!("{CLUSTER}{TABLE_I}"), &["{default: fcfs, network: max-min}", "max-min"]).unwrap();
    assert_eq!(scenario.arbiters.iter().map(|a| a.regions.is_some()).collect::<Vec<_>>(), [true, false]);
    let list = good(&format!("{CLUSTER}arbiter: [{{ default: fcfs, network: max-min }}, max-min]\n{TABLE_I}"));
    assert_eq!(list.arbiters[0].name, "{default: fcfs, network: max-min}");
}

/// Neither the order of keys nor a key for all kinds changes a bit.
#[test]
fn the_order_of_keys_does_not_matter() {
    let one = good(&format!("{CLUSTER}arbiter: {{ default: fcfs, network: max-min }}\n{TABLE_I}"));
    let other = good(&format!("{CLUSTER}arbiter: {{ network: max-min, pcie: fcfs }}\n{TABLE_I}"));
    assert_eq!(run(&one).fingerprint, run(&other).fingerprint);
}

/// A machine with host memory, and a bridge between two GPUs.
const MACHINE: &str = "\
weir: 1
topology:
  link_types:
    pcie: { bandwidth: 12GB/s }
    nvlink: { bandwidth: 50GB/s }
  tree:
    rc:
      kind: root-complex
      children:
        cpu: { kind: cpu, link: { bandwidth: 100GB/s } }
        plx: { kind: switch, link: pcie, children: { 'gpu[0-3]': { kind: gpu, link: pcie } } }
  links:
    - { type: nvlink, between: [gpu0, gpu1] }
workload:
  - transfer: { id: in, from: cpu, to: gpu2, size: 1MB }
  - transfer: { id: peer, from: gpu2, to: gpu3, size: 1MB }
";

fn warnings(text: &str, arbiters: &[&str]) -> Vec<String> {
    let scenario = read(text, arbiters).unwrap_or_else(|found| panic!("{}", found[0]));
    let of = |spec| scenario.outside_pcie(spec).map(|warning| warning.to_string());
    scenario.arbiters.iter().filter_map(of).collect()
}

#[test]
fn a_policy_made_for_pcie_that_rules_host_memory_is_warned_about() {
    let found = warnings(&format!("{MACHINE}arbiter: {{ name: pcie-congestion, tau: 0.2 }}\n"), &[]);
    assert_eq!(found.len(), 1);
    for part in
        ["memory (cpu – rc)", "`arbiter: {default: {name: pcie-congestion, tau: 0.2}, memory: max-min}`", ":17:"]
    {
        assert!(found[0].contains(part), "{part}: {}", found[0]);
    }
    assert!(!found[0].contains("nvlink"), "no transfer takes it: {}", found[0]);
    let bridge = MACHINE.replace("gpu2, to: gpu3", "gpu0, to: gpu1");
    let found = warnings(&bridge, &["{default: pcie-congestion, memory: max-min}"]);
    assert!(found[0].contains("nvlink (gpu0 – gpu1)") && !found[0].contains("memory ("), "{}", found[0]);
    assert!(found[0].contains("{default: pcie-congestion, memory: max-min, nvlink: max-min}"), "{}", found[0]);
    // What names the kind is meant.
    for arbiter in ["max-min", "{default: max-min, pcie: pcie-congestion}", "{default: fcfs, memory: pcie-congestion}"]
    {
        assert_eq!(warnings(MACHINE, &[arbiter]), [""; 0], "{arbiter}");
    }
}

/// Where a policy made for PCIe refuses a route, the map names the kinds that routes take, and sockets in a row.
#[test]
fn a_refused_route_gets_the_map_of_its_kinds() {
    let remedy = |text: &str, arbiter: &str| {
        let scenario = read(text, &[arbiter]).unwrap_or_else(|found| panic!("{}", found[0]));
        scenario.remedy(&scenario.arbiters[0])
    };
    let out = "workload: [transfer: { from: rc0/plx0/low0/gpu0, to: rc1/plx0/low0/gpu0, size: 1MB }]\n";
    let cluster = format!("{CLUSTER}{out}");
    let expected =
        "write `arbiter: {default: {name: pcie-congestion, tau: 0.2}, network: max-min}`, or use the arbiter `max-min`";
    assert_eq!(remedy(&cluster, "{name: pcie-congestion, tau: 0.2}").as_deref(), Some(expected));
    let use_other = Some("use the arbiter `max-min`");
    assert_eq!(remedy(&cluster, "{default: pcie-congestion, network: max-min}").as_deref(), use_other);
    assert_eq!(remedy(&cluster, "fcfs"), None);

    let sockets = |to: &str| {
        format!(
            "weir: 1
topology:
  link_types: {{ x: {{ bandwidth: 12GB/s }}, qpi: {{ bandwidth: 20GB/s }} }}
  tree: {{ 'rc[0-2]': {{ kind: root-complex, children: {{ cpu: {{ kind: cpu, link: x }}, gpu: {{ kind: gpu, link: x }} }} }} }}
  links: [{{ type: qpi, between: [rc0, rc1] }}, {{ type: qpi, between: [rc1, rc2] }}]
workload: [transfer: {{ from: rc0/cpu, to: {to}/gpu, size: 1MB }}]
"
        )
    };
    let map =
        |kinds: &str| format!("write `arbiter: {{default: pcie-congestion, {kinds}}}`, or use the arbiter `max-min`");
    assert_eq!(remedy(&sockets("rc2"), "pcie-congestion"), Some(map("memory: max-min, qpi: max-min")));
    assert_eq!(remedy(&sockets("rc1"), "pcie-congestion"), Some(map("memory: max-min")));
}

/// With `nic: all` a route crosses the sockets of both machines, once each: their links stay with the policy that describes
/// them.
#[test]
fn sockets_of_two_machines_are_not_in_a_row() {
    let text = "weir: 1
topology:
  link_types: { ib: { bandwidth: 10GB/s, kind: network } }
  machines:
    box:
      link_types: { p: { bandwidth: 20GB/s }, q: { bandwidth: 40GB/s, kind: qpi } }
      tree: { 'rc[0-1]': { kind: root-complex, children: { gpu: { kind: gpu, link: p }, nic: { kind: nic, link: p } } } }
      links: [{ between: [rc0, rc1], type: q }]
  tree: { 'n[0-1]': { machine: box } }
  networks: { net: { star: {}, ends: 'n[0-1]/rc[0-1]/nic', types: ib } }
arbiter: pcie-congestion
nic: all
workload: [transfer: { from: n0/rc0/gpu, to: n1/rc0/gpu, size: 1GB }]
";
    let scenario = read(text, &[]).unwrap_or_else(|found| panic!("{}", found[0]));
    let map = "write `arbiter: {default: pcie-congestion, network: max-min}`, or use the arbiter `max-min`";
    assert_eq!(scenario.remedy(&scenario.arbiters[0]).as_deref(), Some(map));
}

/// Copies from host memory pay no penalty at the root complex, in a region as in the whole.
#[test]
fn host_memory_in_a_region_of_its_own_stays_host_memory() {
    let far = "weir: 1
topology:
  link_types: { x16: { bandwidth: 12GB/s }, upi: { bandwidth: 50GB/s } }
  tree:
    'rc[0-1]':
      kind: root-complex
      children:
        cpu: { kind: cpu, link: { bandwidth: 100GB/s } }
        plx: { kind: switch, link: x16, children: { 'gpu[0-1]': { kind: gpu, link: x16 } } }
  links: [{ type: upi, between: [rc0, rc1] }]
workload:
  - transfer: { from: rc0/cpu, to: rc1/plx/gpu0, size: 12MB }
  - transfer: { from: rc1/plx/gpu1, to: rc0/cpu, size: 12MB }
";
    let end = |arbiter: &str| run(&read(far, &[arbiter]).unwrap()).makespan.0;
    assert_eq!(end("{default: pcie-congestion, memory: max-min}"), 1_000_000_000);
    assert_eq!(end("pcie-congestion"), 1_000_000_000);
}
