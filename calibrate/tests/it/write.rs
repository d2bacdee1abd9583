//! The calibrated topology simulates to the reported times, equal fits write equal bytes, and what was not fitted stays.

use crate::common::{
    bandwidth_of, built_in, group, library, machine, machine_of, measure, registry, values as of_arbiter,
};
use proptest::prelude::*;
use weir_calibrate::fit::Simulator;
use weir_calibrate::fit::parameter::{ParameterKind, Setting};
use weir_calibrate::fit::{Choice, Known};
use weir_calibrate::{Experiment, Fit, FitOptions, MeasuredEnd, Transfer, fit, write_topology};
use weir_plugin_api::{NodeId, NodeKind};
use weir_scenario::{ArbiterParameter, LoadOptions, Machine};

const GB: u64 = 1_000_000_000;
const T2: &str = "topologies/cs-storm-t2.yaml";

fn written(file: &str, arbiter: &str, experiments: &[Experiment]) -> (String, Machine) {
    let (start, registry) = (machine(file, &[]), registry());
    let found = fit(&start, &built_in(arbiter), experiments, &FitOptions::default()).expect("a fit");
    let options = LoadOptions::default();
    let text = write_topology(&library(file), &start, &found, &options, &["x.csv".to_owned()]).expect("a text");
    let again = write_topology(&library(file), &start, &found, &options, &["x.csv".to_owned()]).expect("a text");
    assert_eq!(text, again);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("calibrated.yaml");
    std::fs::write(&path, &text).expect("a file");
    let read = Machine::load(&path, &options, &registry);
    let read = read.unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
    for (link, bandwidth) in read.fabric.links().iter().zip(&found.setting.bandwidth) {
        assert!((link.bandwidth / bandwidth - 1.0).abs() < 1e-8, "{text}");
    }
    assert_eq!(read.fabric.nodes().len(), start.fabric.nodes().len());
    (text, read)
}

#[test]
fn types_keep_their_places_and_comments() {
    let truth = machine(T2, &[("link_types.pcie.bandwidth", "13GB/s")]);
    let mut experiments =
        vec![group(&truth, "a", &[("gpu0", "gpu1", 1 << 28)]), group(&truth, "b", &[("gpu0", "gpu4", 1 << 28)])];
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let (text, read) = written(T2, "max-min", &experiments);
    assert!(
        text.contains("# Which links do eight GPUs share") && text.contains("pcie: { bandwidth: 13GB/s }"),
        "{text}"
    );
    assert!(text.starts_with("# Calibrated by `weir calibrate` from x.csv.\n# 2 rows fitted"), "{text}");
    let setting = weir_calibrate::fit::parameter::Setting::of(&read);
    assert!((bandwidth_of(&read, &setting, "pcie") / 13e9 - 1.0).abs() < 1e-8);
}

/// A changed value leaves the other keys of its type, and the comments between them, as they are.
#[test]
fn other_keys_of_a_changed_type_stay() {
    let text = |slot: u32| {
        format!(
            "weir: 1\nlink_types:\n  slot:\n    # as measured\n    bandwidth: {slot}GB/s\n    latency: 1us # assumed\n  way:\n    \
             up: 40GB/s # of the book\n    down: 30GB/s\ntree:\n  rc:\n    kind: root-complex\n    children:\n      \
             sw: {{ kind: switch, link: way, children: {{ 'gpu[0-1]': {{ kind: gpu, link: slot }} }} }}\n"
        )
    };
    let (truth, before) = (machine_of(&text(13)), text(12));
    let start = machine_of(&before);
    let mut experiments =
        vec![group(&truth, "a", &[("gpu0", "gpu1", GB)]), group(&truth, "b", &[("gpu1", "gpu0", GB)])];
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let options = FitOptions { latency: Choice::No, ..FitOptions::default() };
    let found = fit(&start, &built_in("max-min"), &experiments, &options).expect("a fit");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("machine.yaml");
    std::fs::write(&path, before).expect("a file");
    let written = write_topology(&path, &start, &found, &LoadOptions::default(), &[]).expect("a text");
    let kept = "\n    # as measured\n    bandwidth: 13GB/s\n    latency: 1us # assumed\n  way:\n    up: 40GB/s # of the book\n    \
                down: 30GB/s\n";
    assert!(written.contains(kept), "{written}");
}

/// PCIe by generation becomes a measured bandwidth; its latency is added.
#[test]
fn other_forms_of_a_type_are_written_anew() {
    let file = "topologies/two-socket-8gpu.yaml";
    let truth = machine(file, &[("link_types.pcie", "{ up: 20GB/s, down: 22GB/s }")]);
    let mut experiments = Vec::new();
    for bytes in [1_u64 << 24, 1 << 26, 1 << 27] {
        for (a, b) in
            [("gpu0", "cpu0"), ("cpu0", "gpu0"), ("gpu1", "cpu0"), ("cpu0", "gpu1"), ("gpu5", "cpu1"), ("cpu1", "gpu6")]
        {
            experiments.push(group(&truth, "x", &[(a, b, bytes)]));
        }
    }
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let (text, _) = written(file, "max-min", &experiments);
    assert!(text.contains("up: 20GB/s, down: 22GB/s"), "{text}");
}

#[test]
fn single_links_get_types_of_their_own() {
    let slow = "{ gpu0: { kind: gpu, link: pcie }, gpu1: { kind: gpu, link: { bandwidth: 6GB/s } } }";
    let truth = machine(T2, &[("tree.rc.children.plx0.children.k80a.children", slow)]);
    let names = ["gpu0", "gpu1", "gpu2", "gpu3"];
    let pairs = names.iter().flat_map(|a| names.iter().filter(move |b| a != *b).map(move |b| (*a, *b)));
    let mut experiments: Vec<Experiment> = pairs.map(|(a, b)| group(&truth, "pair", &[(a, b, 300_000_000)])).collect();
    measure(&truth, ("max-min", None), &mut experiments, || 1.0);
    let (text, read) = written(T2, "max-min", &experiments);
    assert!(text.contains("pcie-gpu1: { bandwidth: 6GB/s }"), "{text}");
    assert!(text.contains("gpu1: { kind: gpu, link: pcie-gpu1 }") && text.contains("# Which links do"), "{text}");
    assert_eq!(read.send_slots(read.device("gpu1").unwrap()), Some(1));
}

/// Every topology of the library with other values for some of its links.
#[test]
fn the_library_is_written_with_single_links_changed() {
    let files = std::fs::read_dir(library("topologies")).expect("a folder").map(|entry| entry.expect("a file").path());
    let (options, registry, folder) = (LoadOptions::default(), registry(), tempfile::tempdir().expect("a folder"));
    for (number, file) in files.filter(|file| file.extension().is_some_and(|e| e == "yaml")).enumerate() {
        let machine = Machine::load(&file, &options, &registry).unwrap_or_else(|errors| panic!("{}", errors[0]));
        let mut setting = Setting::of(&machine);
        for pair in (number % 3..machine.fabric.links().len() / 2).step_by(5) {
            setting.bandwidth[2 * pair] *= 0.5 + (pair % 2) as f64;
            setting.latency[2 * pair..2 * pair + 2].fill(3e-6);
        }
        let (rows, notes, unclear, parameters) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let arbiter = built_in("max-min");
        let fit = Fit {
            arbiter,
            parameters,
            unclear,
            correlated: vec![],
            rank: 1,
            rows,
            freedom: 1,
            notes,
            setting: setting.clone(),
            even: 0.0,
        };
        let text =
            write_topology(&file, &machine, &fit, &options, &[]).unwrap_or_else(|errors| panic!("{}", errors[0]));
        let path = folder.path().join("after.yaml");
        std::fs::write(&path, &text).expect("a file");
        let read = Machine::load(&path, &options, &registry).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
        for (at, link) in read.fabric.links().iter().enumerate() {
            let expected = (setting.bandwidth[at], setting.latency[at]);
            let close = (link.bandwidth / expected.0 - 1.0).abs() < 1e-8 && link.latency.seconds() == expected.1;
            assert!(close, "{}: link {at}: {link:?}, not {expected:?}\n{text}", file.display());
            assert_eq!((link.kind, link.from, link.to), {
                let old = machine.fabric.links()[at];
                (old.kind, old.from, old.to)
            });
        }
        let comments = std::fs::read_to_string(&file).expect("a text");
        for comment in comments.lines().filter_map(|line| line.trim().strip_prefix('#')) {
            assert!(text.contains(comment), "{}: `{comment}` is lost\n{text}", file.display());
        }
    }
}

/// A machine with types in all forms, brackets, `repeat`, types in place, links beside the tree, and comments.
fn random_topology(switches: u32, gpus: u32, hosts: u32) -> String {
    let (last, most, hosts) = (switches - 1, gpus - 1, hosts - 1);
    format!(
        r#"# A machine of the test.
weir: 1
name: "of many forms"
# what there is
link_types:
  # a slot
  pcie: {{ generation: 4, width: 16, efficiency: 0.9 }} # as sold
  slot: {{ up: 20GB/s, down: 22GB/s, latency: 300ns }}
  "m.emory": {{ bandwidth: 200GB/s, kind: memory }}
  # the kind of its name
  qpi: {{ bandwidth: 40GB/s, latency: 100ns }}
tree:
  # the first socket
  rc0:
    kind: root-complex
    numa: 0
    children:
      cpu0: {{ kind: cpu, link: m.emory }}
      # four cards
      "plx[0-{last}]":
        kind: switch
        link: pcie
        children:
          # two by two
          "gpu[00-{most:02}]": {{ kind: gpu, link: slot }}
          x: {{ kind: fpga, link: {{ generation: 3, width: 8, kind: odd }}, engines: 2, repeat: {gpus} }}
      # alone
      nic0: {{ kind: nic, link: slot, bus_id: "0000:07:00.0", numa: 1 }}
  rc1: {{ kind: root-complex, children: {{ cpu1: {{ kind: cpu, link: m.emory }}, "card[0-{most}]": {{ kind: gpu, link: pcie }} }} }}
  net: {{ kind: network, children: {{ "host[0-{hosts}]": {{ kind: host, link: qpi }} }} }}
links:
  # between sockets
  - {{ between: [rc0, rc1], type: qpi }}
  - {{ between: [nic0, net], type: {{ bandwidth: 12GB/s, latency: 1us }} }}
  # by hand
  - between: ["card[0-{most}]", cpu0]
    type: qpi
"#
    )
}

/// A scenario with the topology in place, or the name of its file.
fn scenario(topology: &str, named: bool) -> String {
    let (head, rest) = topology.split_once("weir: 1\n").expect("a version");
    let indented: String = rest.lines().map(|line| format!("  {line}\n")).collect();
    let topology = if named { "topology: t.yaml # in a file\n".to_owned() } else { format!("topology:\n{indented}") };
    let workload = "workload:\n  # one\n  - transfer: { from: cpu0, to: cpu1, size: 1GB }\n";
    format!("{head}weir: 1\n# the machine\n{topology}# the policy\narbiter: [pcie-congestion, max-min]\n{workload}")
}

fn devices(machine: &Machine) -> Vec<NodeId> {
    let inner = [NodeKind::Switch, NodeKind::RootComplex, NodeKind::Network];
    let nodes = machine.fabric.nodes().iter().enumerate();
    nodes.filter(|(_, node)| !inner.contains(&node.kind)).map(|(at, _)| NodeId::from_index(at)).collect()
}

/// `None` where the arbiter refuses a route.
fn seconds(machine: &Machine, (arbiter, setting): (&str, &Setting), experiments: &[Experiment]) -> Option<Vec<f64>> {
    let arbiter = built_in(arbiter);
    let simulator = Simulator::new(machine, &arbiter, experiments).ok()?;
    Some(simulator.seconds(setting, |_| true).expect("a simulation").concat())
}

/// Values of links: one of few sets, so that neighbours are the same now and then; `None` leaves a link as it is.
fn values() -> impl Strategy<Value = Option<(f64, f64, f64)>> {
    let bandwidth = || prop_oneof![Just(7.25e9), Just(11e9), 1e9_f64..60e9];
    let latency = prop_oneof![Just(None), Just(Some(2.5e-6)), (0.0_f64..1e-5).prop_map(Some)];
    let set = (bandwidth(), prop_oneof![Just(None), bandwidth().prop_map(Some)], latency);
    let set = set.prop_map(|(up, down, latency)| (up, down.unwrap_or(up), latency.unwrap_or(0.0)));
    prop_oneof![3 => Just(None), 2 => Just(Some((7.25e9, 7.25e9, 0.0))), 2 => set.prop_map(Some)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_simulates_to_what_was_reported(
        (switches, gpus, hosts) in (1_u32..4, 1_u32..4, 1_u32..3),
        changed in prop::collection::vec(values(), 80),
        per_type in any::<bool>(),
        form in 0..3,
        tau in 0.01_f64..0.45,
        pairs in prop::collection::vec((0_usize..100, 0_usize..100, 1_000_u64..1 << 30), 1..7),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("before.yaml"), folder.path().join("after.yaml"));
        let topology = random_topology(switches, gpus, hosts);
        let embedded = form > 0;
        std::fs::write(folder.path().join("t.yaml"), &topology).expect("a file");
        std::fs::write(&from, if embedded { scenario(&topology, form == 2) } else { topology }).expect("a file");
        let (options, registry) = (LoadOptions::default(), registry());
        let load = |path: &std::path::Path| Machine::load(path, &options, &registry).map_err(|e| e[0].to_string());
        let machine = load(&from).expect("the machine of the test");

        let with_tau = |tau: f64| of_arbiter(None, Some(tau));
        let mut setting = Setting { arbiter: with_tau(tau), ..Setting::of(&machine) };
        let mut any_changed = false;
        for pair in 0..machine.fabric.links().len() / 2 {
            let of_type = machine.type_of(weir_plugin_api::LinkId::from_index(2 * pair));
            let at = if per_type { of_type.unwrap_or(pair) } else { pair };
            let Some((up, down, latency)) = changed[at % changed.len()] else { continue };
            any_changed = true;
            (setting.bandwidth[2 * pair], setting.bandwidth[2 * pair + 1]) = (up, down);
            setting.latency[2 * pair..2 * pair + 2].fill(latency);
        }
        let devices = devices(&machine);
        let transfers = pairs.iter().map(|&(a, b, bytes)| {
            let (from, to) = (devices[a % devices.len()], devices[b % devices.len()]);
            Transfer { from, to: if from == to { devices[(b + 1) % devices.len()] } else { to }, bytes }
        });
        let mut experiment = group(&machine, "all", &[]);
        for transfer in transfers {
            let place = weir_scenario::Position { file: "x".into(), line: 1, column: 1 };
            experiment = experiment.with(transfer, 1.0, place);
        }
        prop_assert!(matches!(experiment.rows[0].end, MeasuredEnd::Transfer(0)));
        let experiments = [experiment];
        let plain = Setting { arbiter: of_arbiter(None, None), ..setting.clone() };
        // pcie-congestion refuses some routes, max-min has no tau.
        let congested = seconds(&machine, ("pcie-congestion", &setting), &experiments);
        let expected = congested.clone().or_else(|| seconds(&machine, ("max-min", &plain), &experiments)).expect("times");

        let (rows, notes, unclear) = (Vec::new(), Vec::new(), Vec::new());
        let (policy, parameter) = ("pcie-congestion".to_owned(), ArbiterParameter { policy: None, key: "tau".to_owned() });
        let marked = weir_calibrate::fit::Marked { policy, parameter, least: 0.0, most: 0.499_999, range: 0.5 };
        let tau_fitted = weir_calibrate::fit::Fitted {
            parameter: weir_calibrate::fit::parameter::of_arbiter(marked, 0.2), value: tau, known: Known::Exactly,
        };
        assert_eq!(tau_fitted.parameter.kind, ParameterKind::Arbiter);
        let arbiter = built_in("pcie-congestion");
        let fit = Fit { arbiter, parameters: vec![tau_fitted], unclear, correlated: vec![], rank: 1, rows, freedom: 1, notes, setting: setting.clone(), even: 0.0 };
        let text = write_topology(&from, &machine, &fit, &options, &["x.csv".to_owned()]).expect("a text");
        std::fs::write(&to, &text).expect("a file");
        let read = load(&to).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let tau_read = match embedded {
            true => read.arbiters[0].params["tau"].as_f64(),
            false => Some(tau),
        };
        prop_assert!((tau_read.unwrap() - tau).abs() < 1e-8);
        let again = match congested {
            Some(_) => seconds(&read, ("pcie-congestion", &Setting { arbiter: with_tau(tau_read.unwrap()), ..Setting::of(&read) }), &experiments),
            None => seconds(&read, ("max-min", &Setting::of(&read)), &experiments),
        };
        let again = again.expect("the same routes");
        for (again, expected) in again.iter().zip(&expected) {
            prop_assert!((again / expected - 1.0).abs() < 2e-8 || (again - expected).abs() < 1e-11, "{again} {expected}\n{text}");
        }

        prop_assert_eq!(read.fabric.nodes().len(), machine.fabric.nodes().len());
        for at in (0..read.fabric.nodes().len()).map(NodeId::from_index) {
            prop_assert_eq!(read.path(at), machine.path(at));
            prop_assert_eq!(read.send_slots(at), machine.send_slots(at));
        }
        for (new, old) in read.fabric.links().iter().zip(machine.fabric.links()) {
            prop_assert_eq!((new.from, new.to, new.kind), (old.from, old.to, old.kind));
        }
        // Where no link changes, a topology in a file stays there.
        let stays = form == 2 && !any_changed;
        prop_assert_eq!(text.contains("topology: t.yaml"), stays, "{}", text);
        let in_file = if stays { std::fs::read_to_string(folder.path().join("t.yaml")).expect("it stays") } else { String::new() };
        for kept in [
            "# A machine of the test.", "# what there is", "# as sold", "# a slot", "# the kind of its name", "# the first socket",
            "# four cards", "# alone", "# between sockets", "0000:07:00.0", "numa: 1", "\"of many forms\"", "kind: odd",
        ] {
            prop_assert!(text.contains(kept) || in_file.contains(kept), "{kept} is lost:\n{text}");
        }
        if embedded {
            prop_assert!(text.contains("# the policy") && text.contains("  # one\n"), "{text}");
        }
    }
}
