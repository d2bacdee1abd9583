//! What `input-fifo` must give: exact cases, properties, and its slow twin.

use crate::common::random::{Case, cases};
use crate::common::{
    ARBITERS, Phase, Transfer, answer, assert_close, between, board_tree, fifo_twin, link, make, rates, steps, t2,
};
use proptest::prelude::*;
use weir_plugin_api::{Cause, Flags, LinkId, LinkKind, NodeId, NodeKind, Remark};
use weir_sim_core::{Fabric, FabricBuilder, LinkSpec};

fn total(fabric: &Fabric, transfers: &[Transfer]) -> f64 {
    rates(&mut *make("input-fifo", fabric, "{}"), &Phase::new(fabric, transfers)).iter().sum()
}

fn all_pairs(from: std::ops::Range<usize>, to: std::ops::Range<usize>) -> Vec<(usize, usize)> {
    from.flat_map(|a| to.clone().map(move |b| (a, b))).filter(|(a, b)| a != b).collect()
}

/// Every input to every output, of a crossbar whose inputs and outputs are different devices.
#[test]
fn saturated_crossbars_have_the_mean_values() {
    for (n, expected) in [(2, 0.7639), (3, 0.6972), (4, 0.6667), (8, 0.6243), (16, 0.6046), (64, 0.5904)] {
        let (fabric, ends) = board_tree(NodeKind::Switch, &[2 * n], 1.0);
        let each = total(&fabric, &between(&ends, &all_pairs(0..n, n..2 * n))) / n as f64;
        assert!((each - expected).abs() < 5e-5, "{n}: {each}");
        // ρ (1 + (N−1)/N · (1 − ρ/2)) = 1.
        let balance = each * (1.0 + (n - 1) as f64 / n as f64 * (1.0 - each / 2.0));
        assert!((balance - 1.0).abs() < 1e-7, "{n}: {balance}");
    }
}

#[test]
fn all_to_all_of_four_devices_and_permutations() {
    let (fabric, ends) = board_tree(NodeKind::Switch, &[4], 1.0);
    assert!((total(&fabric, &between(&ends, &all_pairs(0..4, 0..4))) - 2.789).abs() < 5e-4);
    let mut arbiter = make("input-fifo", &fabric, "{}");
    for shift in 1..4 {
        let pairs: Vec<(usize, usize)> = (0..4).map(|a| (a, (a + shift) % 4)).collect();
        assert_eq!(rates(&mut *arbiter, &Phase::new(&fabric, &between(&ends, &pairs))), [1.0; 4]);
    }
    for (a, b) in all_pairs(0..4, 0..4) {
        assert_eq!(rates(&mut *arbiter, &Phase::new(&fabric, &between(&ends, &[(a, b)]))), [1.0]);
    }
}

/// Without outputs in common nobody waits; at one output of a switch, all wait for the same.
#[test]
fn without_choice_of_outputs_it_is_max_min() {
    let (fabric, ends) = board_tree(NodeKind::RootComplex, &[2, 4], 11.6e9);
    let cases: [&[(usize, usize)]; 5] = [
        &[(0, 4), (1, 5), (2, 6), (3, 7)],
        &[(0, 4), (0, 5)],
        &[(4, 7), (5, 7), (6, 7)],
        &[(0, 1), (1, 2), (2, 3), (3, 0), (4, 5)],
        &[(1, 0), (2, 0), (3, 0)],
    ];
    for pairs in cases {
        let phase = Phase::new(&fabric, &between(&ends, pairs));
        let expected = rates(&mut *make("max-min", &fabric, "{}"), &phase);
        assert_close(&rates(&mut *make("input-fifo", &fabric, "{}"), &phase), &expected, 1e-9);
    }
}

/// The device sends in turn: 0→2 goes no faster than 0→1, which shares its output with two others.
#[test]
fn transfers_of_a_device_move_together_and_wait_behind_heads() {
    let (fabric, ends) = board_tree(NodeKind::Switch, &[5], 1e9);
    let phase = Phase::new(&fabric, &between(&ends, &[(0, 1), (0, 2), (3, 1), (4, 1)]));
    let (rates, bindings) = answer(&mut *make("input-fifo", &fabric, "{}"), &phase);
    assert_eq!(rates[0], rates[1]);
    assert!((rates[2] - rates[3]).abs() < 1.0);
    assert!((rates[0] + rates[2] + rates[3] - 1e9).abs() < 1e2, "the output is full: {rates:?}");
    assert_eq!(bindings[0].cause(), Cause::Downstream);
    assert_eq!((bindings[1].cause(), bindings[1].by), (Cause::HeadOfLine, 0));
    assert_eq!(bindings[1].link, phase.links(1)[0]);
}

#[test]
fn a_busy_head_is_named_with_the_port_that_it_waits_for() {
    let (fabric, ends) = board_tree(NodeKind::Switch, &[4], 1e9);
    let phase = Phase::new(&fabric, &between(&ends, &all_pairs(0..2, 2..4)));
    let mut arbiter = make("input-fifo", &fabric, "{}");
    let (rates, bindings) = answer(&mut *arbiter, &phase);
    for (position, binding) in bindings.iter().enumerate() {
        assert_eq!(binding.cause(), Cause::HeadOfLine);
        assert!(phase.links(position).contains(&binding.link));
    }
    let steps = steps(&mut *arbiter, &phase);
    let names: Vec<&str> = steps.iter().map(|step| step.step.as_str()).collect();
    assert_eq!(names, ["port shares", "at heads", "filling"].repeat(4));
    // 0→2 waits for the port of 2, and there for 1→2, the third transfer.
    assert_eq!((steps[1].link, &steps[1].because[..]), (phase.links(0)[1], &[2][..]));
    assert_eq!(steps[0].rate, 0.5e9, "half of its device's link, and of the port");
    // R = 1 + n − u/2 with n = ρR/2, u = ρ/2, and the head busy: ρR = 1.
    let rho = 2.0 * rates[0] / 1e9;
    assert!((steps[1].rate / 1e9 - rho).abs() < 1e-8, "{} {rho}", steps[1].rate);
    let legend = ARBITERS.get("input-fifo").expect("it").legend.iter().map(|entry| entry.step.clone());
    assert_eq!(legend.collect::<Vec<_>>(), ["port shares", "at heads", "filling"]);
}

/// A route of one link has no queue in it: at heads it may have all that its link and its limit leave.
#[test]
fn a_route_of_one_link_waits_at_no_head() {
    let (fabric, ends) = board_tree(NodeKind::Switch, &[3], 1e9);
    let limited = Transfer { limit: 0.25e9, ..Transfer::new(ends[0], NodeId(0)) };
    let phase = Phase::new(&fabric, &[limited, Transfer::new(ends[1], NodeId(0))]);
    let steps = steps(&mut *make("input-fifo", &fabric, "{}"), &phase);
    let at_heads = |of: usize| (&*steps[3 * of + 1].step, steps[3 * of + 1].link, steps[3 * of + 1].rate);
    assert_eq!(at_heads(0), ("at heads", LinkId::NONE, 0.25e9));
    assert_eq!(at_heads(1), ("at heads", LinkId::NONE, 1e9));
}

/// Three devices to two: who waits at a head is told the one that is at it most, not all that use the port.
#[test]
fn of_those_at_a_head_one_is_named() {
    let (fabric, ends) = board_tree(NodeKind::Switch, &[5], 1e9);
    let phase = Phase::new(&fabric, &between(&ends, &all_pairs(0..3, 3..5)));
    let mut arbiter = make("input-fifo", &fabric, "{}");
    let (_, bindings) = answer(&mut *arbiter, &phase);
    for (binding, lines) in bindings.iter().zip(steps(&mut *arbiter, &phase).chunks(3)) {
        assert_eq!((binding.cause(), lines[1].because.len()), (Cause::HeadOfLine, 2), "both others use the port");
        assert_eq!(lines[2].because, [binding.by]);
    }
}

#[test]
fn a_limited_transfer_stays_at_its_limit_and_its_device_goes_on() {
    let (fabric, ends) = board_tree(NodeKind::Switch, &[3], 1e9);
    let mut transfers = between(&ends, &[(0, 1), (0, 2)]);
    transfers[0].limit = 1e8;
    let phase = Phase::new(&fabric, &transfers);
    let (rates, bindings) = answer(&mut *make("input-fifo", &fabric, "{}"), &phase);
    assert_close(&rates, &[1e8, 9e8], 1e-12);
    assert_eq!(bindings[0].cause(), Cause::OwnLimit);
    transfers[0].limit = 0.0;
    let rates = crate::common::rates(&mut *make("input-fifo", &fabric, "{}"), &Phase::new(&fabric, &transfers));
    assert_close(&rates, &[0.0, 1e9], 1e-12);
}

/// Root complex, cpu behind a link of a kind, four devices on ports of their own.
fn host(kind: LinkKind, memory: f64) -> (Fabric, Vec<NodeId>) {
    let mut b = FabricBuilder::new();
    let root = b.root(NodeKind::RootComplex).expect("a root");
    let spec = LinkSpec { kind, ..link(memory, memory) };
    let mut ends = vec![b.child(root, NodeKind::Cpu, spec).expect("a cpu")];
    ends.extend((0..4).map(|_| b.child(root, NodeKind::Gpu, link(1e9, 1e9)).expect("a device")));
    (b.build(), ends)
}

/// Copies out of host memory do not wait for each other's ports; behind a PCIe port they would.
#[test]
fn host_memory_has_a_queue_for_each_port() {
    let to_all = [(0, 1), (0, 2), (0, 3), (0, 4)];
    let (fabric, ends) = host(LinkKind::MEMORY, 100e9);
    assert!((total(&fabric, &between(&ends, &to_all)) - 4e9).abs() < 1.0);
    let (fabric, ends) = host(LinkKind::PCIE, 100e9);
    assert!((total(&fabric, &between(&ends, &to_all)) - 1e9).abs() < 1.0);
    let (fabric, ends) = host(LinkKind::MEMORY, 2e9);
    assert!((total(&fabric, &between(&ends, &to_all)) - 2e9).abs() < 1.0);
}

#[test]
fn the_root_complex_costs_its_penalty() {
    let (fabric, gpus) = t2(1e9);
    let mut arbiter = make("input-fifo", &fabric, r#"{"root_penalty": 0.2}"#);
    let lone = |pair| Phase::new(&fabric, &between(&gpus, &[pair]));
    let (rates, bindings) = answer(&mut *arbiter, &lone((0, 4)));
    assert_close(&rates, &[0.8e9], 1e-12);
    assert_eq!(bindings[0].cause(), Cause::RootComplex);
    let (rates, _) = answer(&mut *arbiter, &lone((0, 2)));
    assert_eq!(rates, [1e9]);
    let crossing = between(&gpus, &[(0, 4), (1, 5), (2, 6)]);
    let rates = crate::common::rates(&mut *arbiter, &Phase::new(&fabric, &crossing));
    assert!((rates.iter().sum::<f64>() - 0.8e9).abs() < 1.0, "{rates:?}");
}

#[test]
fn it_is_made_for_pcie_and_admits_any_route() {
    let entry = ARBITERS.get("input-fifo").expect("it is built in");
    assert!(entry.flags.contains(Flags::PURE.union(Flags::FOR_PCIE)));
    assert!(!entry.flags.contains(Flags::READS_WEIGHT) && !entry.flags.contains(Flags::READS_PRIORITY));
}

fn twin_of(case: &Case, phase: &Phase) -> Option<Vec<f64>> {
    let routes: Vec<Vec<LinkId>> = (0..phase.len()).map(|p| phase.links(p).to_vec()).collect();
    let limits: Vec<f64> = phase.transfers.iter().map(|transfer| transfer.limit).collect();
    fifo_twin::rates(&case.fabric, &routes, &limits)
}

fn check_twin(case: &Case) -> Result<(), TestCaseError> {
    let phase = Phase::new(&case.fabric, &case.transfers);
    let Some(slow) = twin_of(case, &phase) else { return Ok(()) };
    let fast = rates(&mut *make("input-fifo", &case.fabric, "{}"), &phase);
    for (position, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
        prop_assert!((fast - slow).abs() <= 2e-6 * slow + 1e-4, "{}: {} instead of {}", position, fast, slow);
    }
    Ok(())
}

/// The same links with other bandwidths.
fn scaled(fabric: &Fabric, factor: f64) -> Fabric {
    let mut b = FabricBuilder::new();
    for (index, node) in fabric.nodes().iter().enumerate() {
        if index == 0 {
            b.root(node.kind).expect("a root");
            continue;
        }
        let (up, down) = (fabric.link(node.up).bandwidth, fabric.link(LinkId(node.up.0 + 1)).bandwidth);
        b.child(node.parent, node.kind, link(up * factor, down * factor)).expect("in order");
    }
    b.build()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn it_equals_its_twin(case in cases(10, 16, 0)) {
        check_twin(&case)?;
    }

    #[test]
    fn it_equals_its_twin_with_lateral_links(case in cases(12, 14, 3)) {
        check_twin(&case)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// By a power of two to the bit, whatever the rounds do.
    #[test]
    fn rates_scale_with_bandwidths(case in cases(12, 24, 0)) {
        let plain: Vec<Transfer> = case.transfers.iter().map(|t| Transfer::new(t.from, t.to)).collect();
        let one = rates(&mut *make("input-fifo", &case.fabric, "{}"), &Phase::new(&case.fabric, &plain));
        for (factor, tolerance) in [(4.0, 0.0), (1e3, 1e-7)] {
            let fabric = scaled(&case.fabric, factor);
            let other = rates(&mut *make("input-fifo", &fabric, "{}"), &Phase::new(&fabric, &plain));
            for (a, b) in one.iter().zip(&other) {
                prop_assert!((a * factor - b).abs() <= tolerance * b, "{one:?} {other:?}");
            }
        }
    }

    /// What waits behind a head is lost: on one switch, with one transfer of each device, the total is at most that of max-min.
    #[test]
    fn one_transfer_each_has_at_most_the_total_of_max_min(to in prop::collection::vec(0..8_usize, 1..8)) {
        let (fabric, ends) = board_tree(NodeKind::Switch, &[8], 1e9);
        let pairs: Vec<(usize, usize)> = to.iter().copied().enumerate().filter(|(a, b)| a != b).collect();
        prop_assume!(!pairs.is_empty());
        let transfers = between(&ends, &pairs);
        let fair: f64 = rates(&mut *make("max-min", &fabric, "{}"), &Phase::new(&fabric, &transfers)).iter().sum();
        prop_assert!(total(&fabric, &transfers) <= fair * (1.0 + 1e-8));
    }

    /// The order of transfers leaves no trace at all.
    #[test]
    fn order_changes_no_bit(case in cases(12, 20, 2), shift in 0..20_usize) {
        let phase = Phase::new(&case.fabric, &case.transfers);
        let order: Vec<usize> = (0..phase.len()).map(|i| phase.len() - 1 - (i + shift) % phase.len()).collect();
        let moved: Vec<Transfer> = order.iter().map(|&p| phase.transfers[p]).collect();
        let one = rates(&mut *make("input-fifo", &case.fabric, "{}"), &phase);
        let other = rates(&mut *make("input-fifo", &case.fabric, "{}"), &Phase::new(&case.fabric, &moved));
        for (i, &p) in order.iter().enumerate() {
            prop_assert_eq!(other[i].to_bits(), one[p].to_bits());
        }
    }
}

/// Parent, kind, and up and down in GB/s of each node below the root; the links of a random case whose filling goes round in a
/// circle.
const RESTLESS: [(usize, NodeKind, f64, f64); 13] = [
    (0, NodeKind::Switch, 5.0, 5.0),
    (1, NodeKind::Gpu, 8.0, 1.0),
    (1, NodeKind::Gpu, 2.0, 5.0),
    (1, NodeKind::Gpu, 1.0, 16.0),
    (1, NodeKind::Gpu, 25.0, 1.0),
    (0, NodeKind::Switch, 20.0, 25.0),
    (6, NodeKind::Gpu, 5.0, 6.0),
    (6, NodeKind::Gpu, 5.0, 11.0),
    (6, NodeKind::Gpu, 5.0, 1.0),
    (0, NodeKind::Gpu, 16.0, 14.0),
    (0, NodeKind::Gpu, 1.0, 5.0),
    (0, NodeKind::Gpu, 10.0, 10.0),
    (0, NodeKind::Gpu, 11.6, 11.6),
];

#[test]
fn rates_that_do_not_come_to_rest_are_remarked() {
    let mut b = FabricBuilder::new();
    let mut nodes = vec![b.root(NodeKind::Switch).expect("a root")];
    for (parent, kind, up, down) in RESTLESS {
        nodes.push(b.child(nodes[parent], kind, link(up * 1e9, down * 1e9)).expect("depth first"));
    }
    let fabric = b.build();
    let pairs = [
        (9, 10),
        (12, 8),
        (13, 3),
        (9, 7),
        (8, 7),
        (12, 13),
        (3, 11),
        (13, 8),
        (4, 13),
        (13, 12),
        (8, 10),
        (2, 13),
        (7, 13),
        (10, 7),
        (3, 8),
        (4, 11),
        (8, 7),
    ];
    let mut transfers = between(&nodes, &pairs);
    transfers[1].limit = 3e9;
    let mut arbiter = make("input-fifo", &fabric, "{}");
    let text = "the rates of `input-fifo` did not come to rest within 1000 rounds; the last were taken";
    let restless = vec![Remark { region: 0, text: text.to_owned() }];
    rates(&mut *arbiter, &Phase::new(&fabric, &transfers));
    assert_eq!(arbiter.remarks(), restless);
    // A remark is on the last answer only.
    rates(&mut *arbiter, &Phase::new(&fabric, &transfers[..4]));
    assert_eq!(arbiter.remarks(), []);
}
