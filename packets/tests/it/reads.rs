//! Reads: requests one way and answers the other, held against PCIe as pcie-bench measures it (Neugebauer et al., SIGCOMM
//! 2018): Gen3 x8 carries 57.88 Gb/s, 24 B of header for writes and requests, 20 B for completions.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use weir_packets::arbiter::RoundRobin;
use weir_packets::{Engine, HeldCause, Network, PortPhase, ReadSpec, TransferSpec, WireRate};

use crate::net::{Tree, finish, link, spec};

/// Writes, requests and completions.
const CHANNELS: u32 = 3;

/// A host (0) and a device (1): link 0 leads to the host, link 1 to the device.
fn gen3_x8(latency: u64) -> Tree {
    let mut tree = Tree::new(vec![None, Some(0)], link(WireRate::wire(57.88e9 / 8.0).unwrap()));
    tree.link = weir_packets::LinkSettings { latency, credit_return: latency, buffer: None, ..tree.link };
    tree
}

fn engine(tree: &Tree) -> Engine {
    let network = Network::new(tree.links(), tree.nodes.clone(), CHANNELS).unwrap();
    Engine::new(network, vec![Box::new(RoundRobin::default())], vec![0; tree.links().len()].into())
}

fn read(bytes: u64, tags: u32, service: u64) -> TransferSpec<'static> {
    let read = ReadSpec { route: &[0], channel: 1, request: 512, tags, service, header: 20 };
    TransferSpec { channel: 2, read: Some(read), ..spec(bytes, &[1]) }
}

fn ends(tree: &Tree, transfers: &[TransferSpec<'_>]) -> Vec<u64> {
    let mut engine = engine(tree);
    for (id, spec) in (0..).zip(transfers) {
        engine.admit(0, id, spec).unwrap();
    }
    engine.step(0).unwrap();
    finish(&mut engine).iter().map(|times| times.1).collect()
}

fn gigabits(bytes: u64, time: u64) -> f64 {
    bytes as f64 * 8000.0 / time as f64
}

#[test]
fn reads_writes_and_both_reach_the_published_rates() {
    let (tree, size) = (gen3_x8(0), 20_000_000);
    let reads = gigabits(size, ends(&tree, &[read(size, 256, 0)])[0]);
    assert!((reads / 53.69 - 1.0).abs() < 1e-3, "{reads}");
    let writes = gigabits(size, ends(&tree, &[spec(size, &[0])])[0]);
    assert!((writes / 52.92 - 1.0).abs() < 1e-3, "{writes}");
    // Requests share the way up with writes: (280 / 256 + 24 / 512) bytes of wire for each byte written and read.
    let both = ends(&tree, &[read(size, 256, 0), spec(size, &[0])]);
    let both = gigabits(size, *both.iter().max().unwrap());
    assert!((both / 50.75 - 1.0).abs() < 1e-3, "{both}");
}

/// min(tags · 512 B / round trip, link): a round trip is a request, the service and the answer.
#[test]
fn tags_bound_reads() {
    let (latency, service, size) = (500_000, 300_000, 20_000_000);
    let tree = gen3_x8(latency);
    let time = |bytes: u64| WireRate::wire(57.88e9 / 8.0).unwrap().time(bytes);
    for tags in [1, 2, 8, 16, 32, 64, 256] {
        let round_trip = time(24) + latency + service + 2 * time(276) + latency;
        let by_tags = gigabits(u64::from(tags) * 512, round_trip);
        let expected = by_tags.min(57.88 * 256.0 / 276.0);
        let found = gigabits(size, ends(&tree, &[read(size, tags, service)])[0]);
        // The first answer comes a round trip after the start.
        assert!((found / expected - 1.0).abs() < 2e-3, "{tags}: {found} of {expected}");
    }
}

#[test]
fn a_read_that_lacks_tags_says_so() {
    let tree = gen3_x8(500_000);
    let mut engine = engine(&tree).with_cycles();
    engine.admit(0, 0, &read(1_000_000, 2, 0)).unwrap();
    engine.step(0).unwrap();
    let end = finish(&mut engine)[0].1;
    let held = engine.held(0, u64::MAX);
    assert_eq!((held[0].cause, held[0].link, held[0].by), (HeldCause::Tags, 0, None), "{held:?}");
    // No port has a choice, and yet the explanation says what limits.
    let phases = engine.port_phases(end).unwrap();
    let [PortPhase { start: 0, ports, own_waits, .. }] = &phases[..] else { panic!("one phase: {phases:?}") };
    assert_eq!((ports.len(), &own_waits[..], phases[0].end), (0, &[(0, held[0])][..], end));
}

/// A packet answers one request: of 100 B each, or 3 · 256 B and 232 B of 1000.
#[test]
fn packets_of_answers_end_with_their_requests() {
    let tree = gen3_x8(0);
    for (request, packets) in [(100, 100), (512, 40), (1000, 40)] {
        let mut engine = engine(&tree);
        let spec = read(10_000, 256, 0);
        let asked = ReadSpec { request, ..spec.read.unwrap() };
        engine.admit(0, 0, &TransferSpec { read: Some(asked), ..spec }).unwrap();
        engine.step(0).unwrap();
        finish(&mut engine);
        let counts = engine.counts(engine.reached());
        let (asks, answers) = (counts[0], counts[1]);
        assert_eq!((asks.packets, answers.packets), (10_000_u64.div_ceil(request.into()), packets), "{request}");
        assert_eq!((asks.payload, answers.payload, answers.wire), (0, 10_000, 10_000 + 20 * packets));
    }
}

/// Headers with credit of their own: small packets run out of these long before bytes.
#[test]
fn headers_can_have_credit_of_their_own() {
    let rate = WireRate::wire(1e10).unwrap();
    let mut tree = Tree::new(vec![None, Some(0)], link(rate));
    tree.link = weir_packets::LinkSettings { payload: 16, buffer: Some(16 << 10), headers: Some(4), ..tree.link };
    let packets = 10_000;
    let end = ends(&tree, &[spec(16 * packets, &[0])])[0] as f64;
    // Four packets of 40 B for each 200 ns and one packet.
    let (sends, around) = (4_000.0, 204_000.0);
    let expected = packets as f64 * around / 4.0;
    assert!((end / expected - 1.0).abs() < 1e-3, "{end} of {expected}, {sends}");
    tree.link.headers = None;
    let unbound = ends(&tree, &[spec(16 * packets, &[0])])[0] as f64;
    assert!(unbound < packets as f64 * sends * 1.01, "{unbound}");
}

/// A read that others have held up goes faster than its limit until it has caught up, and no longer: its last packet is not ready
/// before 46,874 intervals.
#[test]
fn a_read_catches_up_with_its_limit() {
    let tree = Tree::new(vec![None, Some(0), Some(0), Some(0), Some(0), Some(0)], link(WireRate::wire(1e10).unwrap()));
    let interval = 64_000;
    let run = |skips: bool| {
        let mut engine = if skips { engine(&tree) } else { engine(&tree).without_skipping() };
        let routes: Vec<_> = (1..5).map(|from| (tree.route(from, 5), tree.route(5, from))).collect();
        for (id, (route, back)) in (0..).zip(&routes) {
            let read = ReadSpec { route: back, channel: 1, request: 512, tags: 64, service: 0, header: 20 };
            let (bytes, interval) = if id == 0 { (12_000_000, interval) } else { (1_000_000, 0) };
            let spec = TransferSpec { channel: 2, read: Some(read), interval, ..spec(bytes, route) };
            engine.admit(0, id, &spec).unwrap();
        }
        engine.step(0).unwrap();
        let times = finish(&mut engine);
        (times, engine.held(0, u64::MAX), engine.fingerprint(), engine.skipped_hops())
    };
    let (times, held, fingerprint, skipped) = run(true);
    assert!(skipped > 10_000, "{skipped}");
    assert!(times[0].0 >= 46_874 * interval, "{times:?}");
    assert_eq!((times, held, fingerprint, 0), run(false));
}

/// Reads and writes over random trees: all end, no credit is lost, and skipping ahead changes nothing.
#[test]
fn reads_are_the_same_with_and_without_skipping() {
    let mut skipped = 0;
    for seed in 0..30_u64 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut below = |end: u64| random.next_u64() % end;
        let count = 3 + below(7) as u32;
        let parents = (0..count).map(|n| (n > 0).then(|| below(u64::from(n)) as u32)).collect();
        let mut tree = Tree::new(parents, link(WireRate::wire(1e10).unwrap()));
        tree.link.buffer = Some(600 + below(4000));
        tree.link.headers = (below(2) == 0).then(|| 2 + below(20) as u32);
        let transfers: Vec<_> = (0..1 + below(4))
            .map(|_| {
                let from = below(u64::from(count)) as u32;
                let to = (from + 1 + below(u64::from(count) - 1) as u32) % count;
                let request = [100, 512, 1000][below(3) as usize];
                let read =
                    (below(3) > 0).then(|| (tree.route(to, from), request, 1 + below(40) as u32, below(400_000)));
                let interval = if below(2) == 0 { 0 } else { 20_000 + below(100_000) };
                (tree.route(from, to), 300_000 + below(500_000), interval, read)
            })
            .collect();
        let mut run = |skips: bool| {
            let mut engine = if skips { engine(&tree) } else { engine(&tree).without_skipping() };
            for (id, (route, bytes, interval, read)) in (0..).zip(&transfers) {
                let read = read.as_ref().map(|(route, request, tags, service)| ReadSpec {
                    route,
                    channel: 1,
                    request: *request,
                    tags: *tags,
                    service: *service,
                    header: 20,
                });
                let channel = if read.is_some() { 2 } else { 0 };
                let spec = TransferSpec { channel, read, interval: *interval, ..spec(*bytes, route) };
                engine.admit(0, id, &spec).unwrap();
            }
            engine.step(0).unwrap();
            let times = finish(&mut engine);
            skipped += engine.skipped_hops();
            let held: Vec<_> = (0..transfers.len() as u32).map(|id| engine.held(id, u64::MAX)).collect();
            assert!(held.iter().flatten().all(|held| held.time > 0), "seed {seed}: each wait has lasted: {held:?}");
            (times, engine.hops(), engine.counts(u64::MAX), held, engine.fingerprint())
        };
        let (with, without) = (run(true), run(false));
        assert!(with == without, "seed {seed}: {with:?}\n{without:?}");
    }
    assert!(skipped > 10_000, "{skipped} hops were skipped: the fast way ran");
}
