//! The published numbers of the PCIe congestion model, at the level of one phase. Martinasso et al., SC16.

use crate::common::{Phase, Transfer, answer, assert_close, between, board_tree, make, rates, steps, t2};
use weir_plugin_api::{Cause, LinkId, NodeId, NodeKind, SimDuration};
use weir_sim_core::{Fabric, FabricBuilder};

/// Section VII: measured between the two GPUs of one K80.
const B: f64 = 11.6e9;
/// tau of the full example (section VI).
const FIFTH: &str = r#"{"tau": 0.2}"#;
/// The full example: (a) 0→2, (b) 1→4, (c) 3→2, (d) 6→4.
const EXAMPLE: [(usize, usize); 4] = [(0, 2), (1, 4), (3, 2), (6, 4)];

fn up(fabric: &Fabric, node: NodeId) -> LinkId {
    fabric.node(node).up
}

fn down(fabric: &Fabric, node: NodeId) -> LinkId {
    LinkId(fabric.node(node).up.0 + 1)
}

fn times(bandwidth: f64, factors: &[f64]) -> Vec<f64> {
    factors.iter().map(|f| f * bandwidth).collect()
}

/// Factors of transfers between GPUs of T2, each with the factor it may enter with.
fn factors_on_t2(params: &str, transfers: &[(usize, usize, f64)]) -> Vec<f64> {
    let (fabric, gpus) = t2(B);
    let transfers: Vec<Transfer> = transfers
        .iter()
        .map(|&(a, b, limit)| Transfer { limit: limit * B, ..Transfer::new(gpus[a], gpus[b]) })
        .collect();
    let rates = rates(&mut *make("pcie-congestion", &fabric, params), &Phase::new(&fabric, &transfers));
    rates.iter().map(|r| r / B).collect()
}

/// Table I: steps A, B, C, D (8), D (9).
#[test]
fn table_1_has_its_columns() {
    let (fabric, gpus) = t2(B);
    let phase = Phase::new(&fabric, &between(&gpus, &EXAMPLE));
    let steps = steps(&mut *make("pcie-congestion", &fabric, FIFTH), &phase);
    let names: Vec<&str> = steps.iter().map(|s| s.step.as_str()).collect();
    assert_eq!(names, ["A", "B", "C", "D (8)", "D"].repeat(4));
    assert_eq!(steps.iter().map(|s| s.transfer).collect::<Vec<_>>(), (0..20).map(|i| i / 5).collect::<Vec<u32>>());
    let table = [
        [1.0, 1.0 / 2.0, 1.0 / 2.0, 3.0 / 10.0, 3.0 / 10.0],
        [1.0, 1.0 / 2.0, 3.0 / 10.0, 3.0 / 10.0, 3.0 / 10.0],
        [1.0, 1.0, 1.0 / 2.0, 1.0 / 2.0, 7.0 / 10.0],
        [1.0, 1.0, 7.0 / 10.0, 7.0 / 10.0, 7.0 / 10.0],
    ];
    let printed: Vec<f64> = steps.iter().map(|s| s.rate).collect();
    assert_close(&printed, &times(B, table.as_flattened()), 1e-12);
}

/// Section VI, in words: who cuts, who blocks, who is raised, and where.
#[test]
fn table_1_names_links_and_transfers() {
    let (fabric, gpus) = t2(B);
    let phase = Phase::new(&fabric, &between(&gpus, &EXAMPLE));
    let steps = steps(&mut *make("pcie-congestion", &fabric, FIFTH), &phase);
    let board = up(&fabric, fabric.node(gpus[0]).parent);
    let said = |t: usize, s: usize| (steps[5 * t + s].link, steps[5 * t + s].because.as_slice());
    assert_eq!(said(0, 0), (up(&fabric, gpus[0]), &[][..]));
    assert_eq!(said(0, 1), (board, &[1][..]));
    assert_eq!(said(0, 2), (LinkId::NONE, &[][..]), "its 1/2 is within its quota");
    assert_eq!(said(0, 3), (board, &[1][..]));
    assert_eq!(said(0, 4), (LinkId::NONE, &[][..]));
    assert_eq!(said(1, 1), (board, &[0][..]));
    let far_board = down(&fabric, fabric.node(gpus[4]).parent);
    assert_eq!(said(1, 2), (far_board, &[3][..]));
    assert_eq!(said(2, 1), (LinkId::NONE, &[][..]));
    assert_eq!(said(2, 2), (down(&fabric, gpus[2]), &[0][..]));
    assert_eq!(said(2, 4), (down(&fabric, gpus[2]), &[0][..]));
    assert_eq!(said(3, 3), (LinkId::NONE, &[][..]));
}

#[test]
fn table_1_has_its_bindings() {
    let (fabric, gpus) = t2(B);
    let phase = Phase::new(&fabric, &between(&gpus, &EXAMPLE));
    let (_, bindings) = answer(&mut *make("pcie-congestion", &fabric, FIFTH), &phase);
    let board = up(&fabric, fabric.node(gpus[0]).parent);
    let said: Vec<_> = bindings.iter().map(|b| (b.link, b.cause(), b.by)).collect();
    let far_board = down(&fabric, fabric.node(gpus[4]).parent);
    let expected = [
        (board, Cause::HeadOfLine, 1),
        (far_board, Cause::Downstream, 3),
        (down(&fabric, gpus[2]), Cause::Downstream, 0),
        (far_board, Cause::Downstream, 1),
    ];
    assert_eq!(said, expected);
}

/// Without head-of-line blocking, the columns A to C.
#[test]
fn table_1_without_blocking_ends_after_step_c() {
    let (fabric, gpus) = t2(B);
    let phase = Phase::new(&fabric, &between(&gpus, &EXAMPLE));
    let mut arbiter = make("pcie-congestion", &fabric, r#"{"tau": 0.2, "hol": false}"#);
    assert_close(&rates(&mut *arbiter, &phase), &times(B, &[0.5, 0.3, 0.5, 0.7]), 1e-12);
    let steps = steps(&mut *arbiter, &phase);
    assert_eq!(steps.iter().map(|s| s.step.as_str()).collect::<Vec<_>>(), ["A", "B", "C"].repeat(4));
}

/// Table II, with B exactly: c and d end at 36.95 ms, a and b at 66.50 ms. (The print says 36 and 65, by its measured
/// T_ref of 25.2829 ms per message.)
#[test]
fn table_2_has_its_times() {
    let first = factors_on_t2(FIFTH, &EXAMPLE.map(|(a, b)| (a, b, f64::INFINITY)));
    let second = factors_on_t2(FIFTH, &[(0, 2, f64::INFINITY), (1, 4, f64::INFINITY)]);
    assert_close(&second, &[0.5, 0.5], 1e-12);
    let size = 300e6;
    let t1 = size / (first[2] * B);
    assert!((t1 - 36.95e-3).abs() < 0.005e-3, "{t1}");
    let sent = t1 * first[0] * B;
    assert!((sent - 128e6).abs() < 1e6, "the print's 128 MB are what was sent: {sent}");
    let t2 = t1 + (size - sent) / (second[0] * B);
    assert!((t2 - 66.50e-3).abs() < 0.005e-3, "{t2}");
    let t_ref = 25.2829e-3;
    assert!((t1 * t_ref * B / size - 36.12e-3).abs() < 0.005e-3);
    assert!((t2 * t_ref * B / size - 65.01e-3).abs() < 0.005e-3);
}

/// Fig. 3 and section III-B. 0→1 beside 4→1 is 1.485 times slower with tau = 1 − 1/1.21 (measured: 1.44).
#[test]
fn pairs_of_figure_3() {
    let tau = 1.0 - 1.0 / 1.21;
    let any = f64::INFINITY;
    assert_close(&factors_on_t2("{}", &[(0, 3, any), (1, 2, any)]), &[0.5, 0.5], 1e-12);
    assert_close(&factors_on_t2("{}", &[(0, 1, any), (2, 1, any)]), &[0.5, 0.5], 1e-12);
    let pair = factors_on_t2("{}", &[(0, 1, any), (4, 1, any)]);
    assert_close(&pair, &[0.5 + tau, 0.5 - tau], 1e-12);
    assert!((1.0 / pair[0] - 1.485).abs() < 0.0005);
    assert_close(&factors_on_t2("{}", &[(4, 1, any)]), &[1.0 - tau], 1e-12);
    assert_close(&factors_on_t2("{}", &[(0, 1, any)]), &[1.0], 0.0);
    assert_close(&factors_on_t2(r#"{"root_penalty": false}"#, &[(4, 1, any)]), &[1.0], 0.0);
}

/// A lone transfer across the root complex: the port is named.
#[test]
fn lone_transfers_have_their_bindings() {
    let (fabric, gpus) = t2(B);
    let mut arbiter = make("pcie-congestion", &fabric, "{}");
    let mut lone = |t: Transfer| answer(&mut *arbiter, &Phase::new(&fabric, &[t])).1[0];
    let port = down(&fabric, fabric.node(fabric.node(gpus[1]).parent).parent);
    let across = Transfer::new(gpus[4], gpus[1]);
    assert_eq!((lone(across).link, lone(across).cause(), lone(across).by), (port, Cause::RootComplex, u32::MAX));
    let slow = lone(Transfer { limit: 0.5 * B, ..across });
    assert_eq!((slow.link, slow.cause(), slow.by), (LinkId::NONE, Cause::OwnLimit, u32::MAX));
    let near = lone(Transfer::new(gpus[0], gpus[1]));
    assert_eq!((near.link, near.cause(), near.by), (up(&fabric, gpus[0]), Cause::FullRate, u32::MAX));
}

/// The root complex leaves 0.8 of its port; a device's link with half of that bandwidth is what limits the transfer.
#[test]
fn a_link_narrower_than_the_reduced_port_is_named() {
    let mut b = FabricBuilder::new();
    let root = b.root(NodeKind::RootComplex).unwrap();
    let mut below = |bandwidth: f64| {
        let switch = b.child(root, NodeKind::Switch, crate::common::link(B, B)).unwrap();
        b.child(switch, NodeKind::Gpu, crate::common::link(bandwidth, bandwidth)).unwrap()
    };
    let (from, to) = (below(B), below(0.5 * B));
    let fabric = b.build();
    let phase = Phase::new(&fabric, &[Transfer::new(from, to)]);
    let (rates, bindings) = answer(&mut *make("pcie-congestion", &fabric, r#"{"tau": 0.2}"#), &phase);
    assert_eq!((rates[0], bindings[0].link, bindings[0].cause()), (0.5 * B, down(&fabric, to), Cause::FullRate));
}

/// Example 1 (section V-B): factors 0.6 and 0.4 enter by one port, 0.3 and 0.5 by another; out come 0.33, 0.22, 0.17,
/// 0.28 after step B. The root is a switch here, so that only the upstream port matters; and without step D, which in the
/// whole model lets b hold a back at their common port. The factors are those of the sources' links: a limit would mean less.
#[test]
fn example_1_upstream() {
    let (mut fabric, gpus) = board_tree(NodeKind::Switch, &[2, 2, 2], B);
    let factors = [0.6, 0.4, 0.3, 0.5];
    for (&gpu, factor) in gpus.iter().zip(factors) {
        fabric.set_link(up(&fabric, gpu), factor * B, SimDuration::ZERO).unwrap();
    }
    let transfers: Vec<Transfer> = (0..4).map(|i| Transfer::new(gpus[i], gpus[i + 4])).collect();
    let phase = Phase::new(&fabric, &transfers);
    let (rates, bindings) = answer(&mut *make("pcie-congestion", &fabric, r#"{"hol": false}"#), &phase);
    assert_close(&rates, &times(B, &factors.map(|f| f / 1.8)), 1e-12);
    let port = up(&fabric, fabric.node(fabric.node(gpus[0]).parent).parent);
    assert!(bindings.iter().all(|b| b.link == port && b.cause() == Cause::Upstream));
    assert_eq!(bindings.iter().map(|b| b.by).collect::<Vec<_>>(), [2, 2, 0, 0], "from the other port");
}

/// A transfer that is limited to less than its part of a port gets what it wants, going up and going down.
#[test]
fn a_limited_transfer_gets_its_limit() {
    let (fabric, gpus) = board_tree(NodeKind::Switch, &[2, 3], 12e9);
    for ends in [[(0, 3), (1, 4)], [(0, 3), (1, 3)]] {
        let mut transfers = between(&gpus, &ends);
        transfers[0].limit = 1e9;
        let rates = rates(&mut *make("pcie-congestion", &fabric, "{}"), &Phase::new(&fabric, &transfers));
        assert_close(&rates, &[1e9, 11e9], 1e-12);
    }
}

/// Example 2 (section V-C): R = 0.7 across the root complex and 0.9 from the neighbour; tau = 0.2 gives 0.3 and 0.7.
#[test]
fn example_2_downstream() {
    assert_close(&factors_on_t2(FIFTH, &[(4, 1, 0.7), (0, 1, 0.9)]), &[0.3, 0.7], 1e-12);
}

/// Example 3 (section V-D): a, b and c come by port 12; a is cut at port 17, where d comes from port 20. Then b and c
/// get min(ρ', ρ'_a): here b is held back and c is slower anyway.
#[test]
fn example_3_head_of_line() {
    let mut b = FabricBuilder::new();
    let full = crate::common::link(B, B);
    let root = b.root(NodeKind::RootComplex).unwrap();
    let sources: Vec<NodeId> = (0..3).map(|_| b.child(root, NodeKind::Gpu, full).unwrap()).collect();
    let switch = b.child(root, NodeKind::Switch, full).unwrap();
    let ends: Vec<NodeId> = (0..4).map(|_| b.child(switch, NodeKind::Gpu, full).unwrap()).collect();
    let fabric = b.build();
    let limited = |from, to, factor: f64| Transfer { limit: factor * B, ..Transfer::new(from, to) };
    let transfers = [
        limited(sources[0], ends[0], 0.4),
        limited(sources[1], ends[1], 0.35),
        limited(sources[2], ends[2], 0.04),
        Transfer::new(ends[3], ends[0]),
    ];
    let phase = Phase::new(&fabric, &transfers);
    let (rates, bindings) = answer(&mut *make("pcie-congestion", &fabric, FIFTH), &phase);
    assert_close(&rates, &times(B, &[0.3, 0.3, 0.04, 0.7]), 1e-12);
    let port_12 = down(&fabric, switch);
    assert_eq!((bindings[1].link, bindings[1].cause(), bindings[1].by), (port_12, Cause::HeadOfLine, 0));
    assert_eq!(bindings[2].cause(), Cause::OwnLimit);
}

/// Three groups at one port: the weights keep the sum within it, where the text's 1/n ∓ tau would not.
#[test]
fn three_groups_share_one_port() {
    let (fabric, gpus) = board_tree(NodeKind::RootComplex, &[2, 3], B);
    let pairs = [(0, 2), (1, 2), (3, 2)];
    let phase = Phase::new(&fabric, &between(&gpus, &pairs));
    // Two from the neighbours at 1/2 + tau each, one across at 1/2 − tau, divided by their sum 1.7.
    let expected = [0.7 / 1.7, 0.7 / 1.7, 0.3 / 1.7];
    assert_close(&rates(&mut *make("pcie-congestion", &fabric, FIFTH), &phase), &times(B, &expected), 1e-12);
}

/// Host memory on either end does not cross: no penalty, on the port nor in the weights.
#[test]
fn host_memory_does_not_cross_the_root_complex() {
    let mut b = FabricBuilder::new();
    let full = crate::common::link(B, B);
    let root = b.root(NodeKind::RootComplex).unwrap();
    let cpu = b.child(root, NodeKind::Cpu, full).unwrap();
    let switch = b.child(root, NodeKind::Switch, full).unwrap();
    let gpus: Vec<NodeId> = (0..2).map(|_| b.child(switch, NodeKind::Gpu, full).unwrap()).collect();
    let fabric = b.build();
    let mut arbiter = make("pcie-congestion", &fabric, FIFTH);
    let alone = Phase::new(&fabric, &[Transfer::new(cpu, gpus[0])]);
    assert_close(&rates(&mut *arbiter, &alone), &[B], 0.0);
    let both = Phase::new(&fabric, &[Transfer::new(cpu, gpus[0]), Transfer::new(gpus[1], gpus[0])]);
    assert_close(&rates(&mut *arbiter, &both), &times(B, &[0.5, 0.5]), 1e-12);
}
