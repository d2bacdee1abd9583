//! Cycles of grants at one switch, worked out by hand: links of 10 GB/s, 280 B take 28 ns.

use std::collections::BTreeMap;

use weir_packets::arbiter::{DeficitRoundRobin, Fixed, Random, RoundRobin, WeightedRoundRobin};
use weir_packets::{CycleGrant, Engine, HeldCause, LinkSettings, Network, PortPhase, ReadSpec, TransferSpec, WireRate};
use weir_plugin_api::PortArbiter;

use crate::net::{Tree, finish, link, spec};

/// The link to the sink, and those by which the sources' packets come in.
const OUT: u32 = 5;
const INPUTS: [u32; 2] = [0, 2];

/// A switch with two sources and a sink below it; `change` may change its links.
fn engine(
    arbiter: Box<dyn PortArbiter>,
    split: Option<u32>,
    change: impl Fn(u32, &mut LinkSettings),
) -> (Tree, Engine) {
    let mut tree = Tree::new(vec![None, Some(0), Some(0), Some(0)], link(WireRate::wire(10e9).unwrap()));
    tree.nodes[0].split = split;
    let mut links = tree.links();
    (0..).zip(&mut links).for_each(|(id, link)| change(id, link));
    let number = links.len();
    let network = Network::new(links, tree.nodes.clone(), 1).unwrap();
    (tree, Engine::new(network, vec![arbiter], vec![0; number].into()))
}

/// The phases in which both sources send 10 MB to the sink. They are the same with and without skipping.
fn phases(make: impl Fn() -> (Tree, Engine), skips: bool) -> Vec<PortPhase> {
    let explained = |engine: Engine, tree: &Tree| {
        let mut engine = engine.with_cycles();
        for (id, from) in [(0, 1), (1, 2)] {
            engine.admit(0, id, &spec(10_000_000, &tree.route(from, 3))).unwrap();
        }
        engine.step(0).unwrap();
        let end = finish(&mut engine).iter().map(|times| times.1).max().unwrap();
        let phases = engine.port_phases(end).unwrap();
        assert!(phases.iter().all(|phase| phase.start < phase.end && phase.end <= end), "{end}: {phases:?}");
        let mut waits = phases.iter().flat_map(|phase| &phase.ports).flat_map(|port| &port.waits);
        assert!(waits.all(|(_, held)| held.time > 0), "{phases:?}");
        (phases, engine.skipped_hops())
    };
    let (tree, engine) = make();
    let (fast, skipped) = explained(engine, &tree);
    assert_eq!(skipped > 0, skips);
    let slow = explained(make().1.without_skipping(), &tree).0;
    assert_eq!(fast, slow);
    fast
}

fn grant(transfer: u32, payload: u32) -> CycleGrant {
    CycleGrant { input: Some(INPUTS[transfer as usize]), transfer, is_request: false, payload }
}

/// The grants and the time of the first phase's only cycle.
fn cycle(phases: &[PortPhase]) -> (Vec<CycleGrant>, u64) {
    let [port] = &phases[0].ports[..] else { panic!("one port is contended: {phases:?}") };
    assert_eq!(port.link, OUT);
    let cycle = port.cycle.as_ref().expect("there is a period");
    (cycle.grants.clone(), cycle.time)
}

#[test]
fn round_robin_takes_turns() {
    let phases = phases(|| engine(Box::new(RoundRobin::default()), None, |_, _| {}), true);
    assert_eq!(cycle(&phases), (vec![grant(0, 256), grant(1, 256)], 56_000));
    let port = &phases[0].ports[0];
    // The header of the first is at the switch after 100 ns and 24 B; from then on the link is never idle. It has sent the last
    // 152 B of the other, 15.2 ns, when the last byte of the first comes, 100 ns after it was sent.
    assert_eq!((phases[0].start, port.busy, port.starved), (0, phases[0].end - 102_400 - (100_000 - 15_200), 0));
    assert_eq!((port.kept, port.grants), (2048, 2 * 10_000_000_u64.div_ceil(256)));
    for (id, by) in [(0, 1), (1, 0)] {
        let held = port.waits.iter().find(|(transfer, _)| *transfer == id).expect("it waits").1;
        assert_eq!((held.cause, held.link, held.by), (HeldCause::Arbitration, OUT, Some(by)));
        // Half of the time, but for what fills the buffers.
        assert!((48..=50).contains(&(100 * held.time / phases[0].end)), "{held:?}");
    }
}

#[test]
fn weights_repeat_packets() {
    let weights = BTreeMap::from([((OUT, 0), 2)]);
    let phases = phases(|| engine(Box::new(WeightedRoundRobin::new(weights.clone())), None, |_, _| {}), true);
    assert_eq!(cycle(&phases), (vec![grant(0, 256), grant(0, 256), grant(1, 256)], 84_000));
}

/// Pieces of 64 B with 24 B of header each take 8.8 ns, and turns.
#[test]
fn pieces_are_granted_one_by_one() {
    let phases = phases(|| engine(Box::new(RoundRobin::default()), Some(64), |_, _| {}), true);
    assert_eq!(cycle(&phases), (vec![grant(0, 64), grant(1, 64)], 17_600));
}

/// Packets of 280 B against those of 140 B: a quantum of 280 B lets one, and two, go.
#[test]
fn deficits_let_two_short_packets_follow_a_long_one() {
    let short = |id, link: &mut LinkSettings| link.payload = if id == INPUTS[1] { 116 } else { 256 };
    let phases = phases(|| engine(Box::new(DeficitRoundRobin::new(280, BTreeMap::new())), None, short), true);
    assert_eq!(cycle(&phases), (vec![grant(0, 256), grant(1, 116), grant(1, 116)], 56_000));
}

/// The first always has a packet when the link is free.
#[test]
fn fixed_starves_the_second() {
    let phases = phases(|| engine(Box::new(Fixed), None, |_, _| {}), true);
    assert_eq!((cycle(&phases), phases.len()), ((vec![grant(0, 256)], 28_000), 1));
    let [(waiting, held)] = phases[0].ports[0].waits[..] else { panic!("{phases:?}") };
    assert_eq!((waiting, held.cause, held.by), (1, HeldCause::Arbitration, Some(0)));
    // 58 packets of 280 B fill the buffer of 16 KiB.
    assert_eq!(held.time, phases[0].end - 58 * 28_000);
}

#[test]
fn random_choices_have_no_cycle() {
    let phases = phases(|| engine(Box::new(Random::new(1)), None, |_, _| {}), false);
    let port = &phases[0].ports[0];
    assert_eq!((port.cycle.is_none(), port.kept), (true, 2048));
}

/// A phase lasts until the last byte has come, though the last packet left its source long before: buffers of any size take
/// all at once. What ports do until the last packet of a transfer passes them is the cycle.
#[test]
fn phases_end_when_transfers_do() {
    for buffer in [Some(16 << 10), None] {
        let unlimited = |_, link: &mut LinkSettings| link.buffer = buffer;
        let (tree, engine) = engine(Box::new(RoundRobin::default()), None, unlimited);
        let mut engine = engine.with_cycles();
        for (id, from, bytes) in [(0, 1, 5_000_000), (1, 2, 10_000_000)] {
            engine.admit(0, id, &spec(bytes, &tree.route(from, 3))).unwrap();
        }
        engine.step(0).unwrap();
        let times = finish(&mut engine);
        let phases = engine.port_phases(times[1].1).unwrap();
        // Afterwards nobody is beside the second.
        assert_eq!((phases.len(), phases[0].start, phases[0].end), (1, 0, times[0].1), "{buffer:?}");
        assert_eq!(cycle(&phases), (vec![grant(0, 256), grant(1, 256)], 56_000), "{buffer:?}");
    }
}

/// Requests of a read, 24 B each, take turns with packets of another transfer: 2.4 ns and 28 ns.
#[test]
fn requests_are_told_from_packets() {
    let (tree, engine) = engine(Box::new(RoundRobin::default()), None, |_, _| {});
    let mut engine = engine.with_cycles();
    let (asks, answers) = (tree.route(1, 3), tree.route(3, 1));
    let read = ReadSpec { route: &asks, channel: 0, request: 64, tags: 1000, service: 0, header: 20 };
    engine.admit(0, 0, &TransferSpec { read: Some(read), ..spec(2_000_000, &answers) }).unwrap();
    engine.admit(0, 1, &spec(1_000_000, &tree.route(2, 3))).unwrap();
    engine.step(0).unwrap();
    let end = finish(&mut engine).iter().map(|times| times.1).max().unwrap();
    let phases = engine.port_phases(end).unwrap();
    let port = phases[0].ports.iter().find(|port| port.link == OUT).expect("it is contended");
    let cycle = port.cycle.as_ref().expect("there is a period");
    assert_eq!(cycle.grants, [CycleGrant { is_request: true, ..grant(0, 0) }, grant(1, 256)]);
    assert_eq!(cycle.time, 30_400);
}
