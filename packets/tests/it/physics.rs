//! Closed forms and published figures that come out of packets (packets.md, sections 1 and 6).

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use weir_packets::arbiter::{ArrivalOrder, OldestFirst, Random, RoundRobin};
use weir_packets::{Engine, Inputs, Interleave, Network, NodeSettings, Queues, Switching, WireRate};
use weir_plugin_api::PortArbiter;

use crate::net::{Tree, at_once, link, node, spec};

/// A chain of switches between two devices: `hops` links one way.
fn chain(hops: u32, rate: WireRate) -> Tree {
    Tree::new((0..=hops).map(|node| node.checked_sub(1)).collect(), link(rate))
}

proptest! {
    /// Alone: end = n · ser(packet) + Σ latency + (h − 1) · ser(header), or (h − 1) · ser(packet) stored and forwarded.
    #[test]
    fn a_lone_transfer_ends_by_the_closed_form(
        hops in 1..6_u32, packets in 1..40_u64, payload in 1..1000_u32, header in 0..100_u32, latency in 0..500_000_u64,
        bandwidth in 1e8..1e11_f64, stored: bool,
    ) {
        let rate = WireRate::wire(bandwidth).unwrap();
        let mut tree = chain(hops, rate);
        let switching = if stored { Switching::StoreAndForward } else { Switching::CutThrough };
        tree.link = weir_packets::LinkSettings {
            payload, header, latency, credit_return: latency, buffer: None, switching, ..tree.link
        };
        let whole = rate.time(u64::from(payload + header));
        let forward = if stored { whole } else { rate.time(u64::from(header)) };
        let end = packets * whole + u64::from(hops) * latency + u64::from(hops - 1) * forward;
        let times = at_once(&tree, &mut tree.round_robin(), &[(0, hops, packets * u64::from(payload))]);
        prop_assert_eq!(times, [(packets * whole, end)]);
    }

    /// Random transfers over random trees: all end, no byte and no credit is lost, and two runs are the same.
    #[test]
    fn random_trees_deliver_everything(
        parents in prop::collection::vec(any::<u32>(), 2..14),
        pairs in prop::collection::vec((any::<u32>(), any::<u32>(), 1..6000_u64), 1..12),
        split in prop::option::of(1..300_u32), voq: bool, parallel: bool, buffer in 280..3000_u64, stored: bool,
        dllp in 0..9_u32,
    ) {
        let parents: Vec<_> = (0..=parents.len() as u32).map(|n| (n > 0).then(|| parents[n as usize - 1] % n)).collect();
        let count = parents.len() as u32;
        let mut tree = Tree::new(parents, link(WireRate::goodput(1e10, 256, 24).unwrap()));
        (tree.link.buffer, tree.link.dllp) = (Some(buffer), dllp);
        tree.link.switching = if stored { Switching::StoreAndForward } else { Switching::CutThrough };
        tree.link.queues = if voq { Queues::Voq } else { Queues::Fifo };
        tree.link.inputs = if parallel { Inputs::Parallel } else { Inputs::Serial };
        tree.nodes.fill(NodeSettings { split, engines: 12 });
        let transfers: Vec<_> = pairs.iter().map(|&(from, to, bytes)| {
            let from = from % count;
            (from, (from + 1 + to % (count - 1)) % count, bytes)
        }).collect();
        let run = || {
            let mut engine = tree.round_robin();
            let times = at_once(&tree, &mut engine, &transfers);
            (times, engine.fingerprint(), engine.counts(u64::MAX))
        };
        let (times, fingerprint, counts) = run();
        prop_assert_eq!(run(), (times.clone(), fingerprint, counts.clone()));
        prop_assert!(times.iter().all(|&(sent, end)| sent > 0 && end > sent));
        let routes = transfers.iter().map(|&(from, to, bytes)| (tree.route(from, to), bytes));
        let mut carried = vec![0; counts.len()];
        for (route, bytes) in routes {
            route.iter().for_each(|&link| carried[link as usize] += bytes);
        }
        prop_assert_eq!(carried, counts.iter().map(|counts| counts.payload).collect::<Vec<_>>());
        prop_assert!(counts.iter().all(|counts| counts.deepest <= buffer));
    }
}

/// A buffer of b packets under a credit loop L lets a link carry min(1, b · ser / (L + ser)).
#[test]
fn buffers_below_the_credit_loop() {
    for buffers in 1..30_u64 {
        let rate = WireRate::goodput(1e10, 256, 24).unwrap();
        let mut tree = chain(1, rate);
        tree.link.buffer = Some(buffers * 280);
        let packets = 10_000;
        let end = at_once(&tree, &mut tree.round_robin(), &[(0, 1, packets * 256)])[0].0 as f64;
        let ser = 25_600.0;
        let share = (buffers as f64 * ser / (200_000.0 + ser)).min(1.0);
        let found = packets as f64 * ser / end;
        assert!((found / share - 1.0).abs() < 2e-3, "{buffers}: {found} of {share}");
    }
}

/// Example 1 of the congestion paper: sources at 0.6, 0.4, 0.3 and 0.5 of a port get it in proportion where the oldest packet
/// is served first.
#[test]
fn oldest_first_shares_in_proportion() {
    let mut parents = vec![None, Some(0), Some(0)];
    parents.extend([Some(1); 4].into_iter().chain([Some(2); 4]));
    let tree = Tree::new(parents, link(WireRate::goodput(1e10, 256, 24).unwrap()));
    let links = tree.links().len();
    let mut engine = tree.engine(vec![Box::new(OldestFirst)], vec![0; links]);
    for (id, share) in [0.6, 0.4, 0.3, 0.5].into_iter().enumerate() {
        let id = id as u32;
        let interval = (25_600.0_f64 / share).ceil() as u64;
        let route = tree.route(3 + id, 7 + id);
        engine.admit(0, id, &weir_packets::TransferSpec { interval, ..spec(100_000_000, &route) }).unwrap();
    }
    engine.step(0).unwrap();
    let until = 2_000_000_000;
    engine.advance(until, &|| false).unwrap();
    for (id, expected) in [0.333, 0.222, 0.167, 0.278].into_iter().enumerate() {
        let sent = engine.sent_bytes(id as u32, 100_000_000) as f64 / (until as f64 / 25_600.0 * 256.0);
        assert!((sent - expected).abs() < 0.002, "{id}: {sent}");
    }
}

/// T2 with pieces of 64 B below the root complex: 4 → 1 alone against 0 → 1 alone, and 0 → 1 beside 4 → 1.
#[test]
fn a_root_complex_that_splits_packets_costs_what_headers_cost() {
    let mut tree = Tree::t2(link(WireRate::wire(15.753846153e9).unwrap()));
    let size = 10_000_000;
    for (header, split, lone, beside) in
        [(20, 64, 1.218, 1.305), (24, 64, 1.257, f64::NAN), (20, 96, f64::NAN, 1.39), (20, 128, f64::NAN, 1.54)]
    {
        tree.link.header = header;
        tree.nodes[0].split = Some(split);
        let end = |transfers: &[(u32, u32, u64)]| at_once(&tree, &mut tree.round_robin(), transfers)[0].1 as f64;
        let alone = end(&[(7, 8, size)]);
        let found = end(&[(11, 8, size)]) / alone;
        assert!(lone.is_nan() || (found - lone).abs() < 0.002, "{header} + {split}: {found}");
        let found = end(&[(7, 8, size), (11, 8, size)]) / alone;
        assert!(beside.is_nan() || (found - beside).abs() < 0.02, "{header} + {split} beside: {found}");
    }
}

/// PCIe Gen3 x8: 57.88 Gb/s on the wire; s bytes take as much as s + 24 ⌈s / 256⌉.
#[test]
fn writes_over_gen3_x8_reach_the_published_rate() {
    let rate = WireRate::wire(57.88e9 / 8.0).unwrap();
    for size in [64_u64, 256, 300, 1024, 1_000_000] {
        let mut tree = chain(1, rate);
        tree.link.buffer = None;
        let sent = at_once(&tree, &mut tree.round_robin(), &[(0, 1, size)])[0].0;
        let found = size as f64 * 8e12 / sent as f64;
        let expected = 57.88e9 * size as f64 / (size + 24 * size.div_ceil(256)) as f64;
        assert!((found / expected - 1.0).abs() < 1e-3, "{size}: {found} of {expected}");
    }
    let full = 57.88 * 256.0 / 280.0;
    assert!((full - 52.92_f64).abs() < 0.01, "the figure of SIGCOMM'18");
}

/// A switch with `n` inputs that are always full, each packet for any of `n` outputs.
fn saturated(n: u32, queues: Queues, arbiter: Box<dyn PortArbiter>) -> f64 {
    let parents = std::iter::once(None).chain(std::iter::repeat_n(Some(0), n as usize)).collect();
    let mut tree = Tree::new(parents, link(WireRate::wire(1e10).unwrap()));
    tree.link = weir_packets::LinkSettings { payload: 100, header: 0, latency: 0, credit_return: 0, ..tree.link };
    tree.link.buffer = Some(if queues == Queues::Voq { 1_000_000 } else { 1000 });
    tree.link.queues = queues;
    let links = tree.links().len();
    let mut engine = tree.engine(vec![arbiter], vec![0; links]);
    for source in 0..n {
        engine.interleave(1 + source, Interleave::Random { seed: 7 });
        for to in 0..n {
            // Back to oneself goes over the switch, too.
            let route = [2 * source, 2 * to + 1];
            engine.admit(0, source * n + to, &spec(1 << 40, &route)).unwrap();
        }
    }
    engine.step(0).unwrap();
    let slot = 10_000;
    let (warm, until) = (2_000 * slot, 60_000 * slot);
    engine.advance(warm, &|| false).unwrap();
    let before: u64 = (0..n).map(|to| engine.counts(engine.now())[2 * to as usize + 1].packets).sum();
    engine.advance(until, &|| false).unwrap();
    let after: u64 = (0..n).map(|to| engine.counts(engine.now())[2 * to as usize + 1].packets).sum();
    (after - before) as f64 / (58_000.0 * f64::from(n))
}

/// Karol, Hluchyj, Morgan (1987), Table I: saturation of N inputs with one queue each.
#[test]
fn first_in_first_out_inputs_saturate_where_karol_says() {
    for (n, expected) in [(2, 0.75), (3, 0.6825), (4, 0.6553), (5, 0.6399), (8, 0.6184)] {
        let found = saturated(n, Queues::Fifo, Box::new(Random::new(3)));
        assert!((found / expected - 1.0).abs() < 0.005, "{n}: {found} of {expected}");
    }
}

/// One output, packets at random times: M/D/1, whose mean wait is ρ / (2 (1 − ρ)) packet times.
#[test]
fn random_arrivals_wait_as_long_as_md1_says() {
    let (slot, sources) = (10_000_u64, 100);
    let mut parents = vec![None];
    parents.extend(std::iter::repeat_n(Some(0), sources as usize + 1));
    let mut tree = Tree::new(parents, link(WireRate::wire(1e13).unwrap()));
    tree.link = weir_packets::LinkSettings { payload: 100, header: 0, latency: 0, buffer: None, ..tree.link };
    let mut links = tree.links();
    // The last device's link down takes 10 ns for a packet of 100 B; those up next to nothing.
    let out = links.len() - 1;
    links[out].rate = WireRate::wire(1e10).unwrap();
    for load in [0.3, 0.5, 0.7] {
        let network = Network::new(links.clone(), tree.nodes.clone(), 1).unwrap();
        let mut engine = Engine::new(network, vec![Box::new(ArrivalOrder)], vec![0; links.len()].into());
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let (mut now, packets) = (0.0, 300_000);
        for id in 0..packets {
            now -= (1.0 - uniform()).ln() * slot as f64 / load;
            let route = [2 * (uniform() * f64::from(sources)) as u32, out as u32];
            let at = now as u64;
            while engine.advance(at, &|| false).unwrap() < at {
                while engine.take_notice(at).is_some() {}
            }
            while engine.take_notice(at).is_some() {}
            engine.admit(at, id, &spec(100, &route)).unwrap();
            engine.step(at).unwrap();
        }
        let waited = engine.counts(engine.now())[out].waited as f64 / f64::from(packets) / slot as f64;
        let expected = load / (2.0 * (1.0 - load));
        assert!((waited / expected - 1.0).abs() < 0.02, "{load}: {waited} of {expected}");
    }
}

#[test]
fn queues_for_each_output_do_not_saturate() {
    let found = saturated(4, Queues::Voq, Box::new(RoundRobin::default()));
    assert!(found >= 0.985, "{found}");
}

/// Three switches in a ring, each sending two hops on: with buffers of one packet they wait for each other.
#[test]
fn a_ring_with_small_buffers_is_a_deadlock() {
    let rate = WireRate::wire(1e10).unwrap();
    let base = weir_packets::LinkSettings { buffer: Some(280), ..link(rate) };
    // Switches 0 to 2 with devices 3 to 5: links 0 to 2 round the ring, then to and from each device.
    let mut links: Vec<_> =
        (0..3).map(|at| weir_packets::LinkSettings { from: at, to: (at + 1) % 3, ..base }).collect();
    links.extend((0..3).flat_map(|at| [(at + 3, at), (at, at + 3)]).map(|(from, to)| weir_packets::LinkSettings {
        from,
        to,
        ..base
    }));
    let network = Network::new(links, vec![node(); 6], 1).unwrap();
    let mut engine = Engine::new(network, vec![Box::new(RoundRobin::default())], vec![0; 9].into());
    for at in 0..3_u32 {
        let route = [3 + 2 * at, at, (at + 1) % 3, 4 + 2 * ((at + 2) % 3)];
        engine.admit(0, at, &spec(100_000, &route)).unwrap();
    }
    engine.step(0).unwrap();
    let found = engine.advance(u64::MAX, &|| false).unwrap_err();
    assert_eq!(found, weir_packets::PacketError::Deadlock { cycle: vec![0, 1, 2] });
}

/// Each channel has buffers of its own. A slow and a fast device below one switch: with one channel the packets for the
/// fast one wait behind those for the slow one in the buffer of the way up, with two they take what these leave of it. (The
/// input may send both at once: else it would wait for the slow link all the time.)
#[test]
fn channels_have_buffers_of_their_own() {
    // A switch (0) with an idle device (1), the slow one (2), the fast one (3) and the source (4).
    let mut tree = Tree::new(vec![None, Some(0), Some(0), Some(0), Some(0)], link(WireRate::wire(1e10).unwrap()));
    tree.link = weir_packets::LinkSettings {
        latency: 0,
        credit_return: 0,
        buffer: Some(2800),
        inputs: Inputs::Parallel,
        ..tree.link
    };
    let mut links = tree.links();
    links[3].rate = WireRate::wire(1e9).unwrap();
    let packets = 900;
    let run = |channels: u32| {
        let network = Network::new(links.clone(), tree.nodes.clone(), channels).unwrap();
        let mut engine = Engine::new(network, vec![Box::new(RoundRobin::default())], vec![0; links.len()].into());
        for (id, to) in [(0, 2), (1, 3)] {
            let route = tree.route(4, to);
            let channel = if id < channels { id } else { 0 };
            engine.admit(0, id, &weir_packets::TransferSpec { channel, ..spec(packets * 256, &route) }).unwrap();
        }
        engine.step(0).unwrap();
        let ends: Vec<f64> = crate::net::finish(&mut engine).iter().map(|times| times.1 as f64).collect();
        for counts in engine.counts(engine.reached()) {
            assert!(counts.deepest <= 2800, "no buffer is overfull: {counts:?}");
        }
        ends
    };
    // A packet of 280 B takes 280 ns to the slow device and 28 ns on the way up, which so has room for 9 others each time.
    let slow = 280_000.0 * packets as f64;
    let apart = run(2);
    assert!((apart[0] / slow - 1.0).abs() < 0.01, "{apart:?} of {slow}");
    assert!((apart[1] / (slow / 9.0) - 1.0).abs() < 0.02, "{apart:?} of {}", slow / 9.0);
    let together = run(1);
    assert!(
        (together[0] / slow - 1.0).abs() < 0.01 && (together[1] / slow - 1.0).abs() < 0.01,
        "{together:?} of {slow}"
    );
}

/// The first link of a transfer that is alone is busy or starved until its last byte has left, whatever the buffers.
#[test]
fn a_link_that_does_not_send_is_starved() {
    for (hops, buffers) in [(1, 1), (1, 3), (2, 3), (3, 7), (3, 60)] {
        let mut tree = chain(hops, WireRate::wire(1e10).unwrap());
        tree.link.buffer = Some(buffers * 280);
        let mut engine = tree.round_robin();
        let sent = at_once(&tree, &mut engine, &[(hops, 0, 1000 * 256)])[0].0;
        let first = engine.counts(engine.reached())[tree.route(hops, 0)[0] as usize];
        assert_eq!((first.busy, first.busy + first.starved), (1000 * 28_000, sent), "{hops} hops, {buffers} packets");
        // A credit is back after 28 + 100 + 100 ns at the earliest: nine packets keep the link busy.
        assert_eq!(first.starved > 0, buffers < 9, "{hops} hops, {buffers} packets");
    }
}

/// Of parallel inputs room may come back out of order: the input sends `x` to the slow output until 588 ns and the first packet of
/// `y` until 336 ns, when there is room for the second: it goes until 364 and 392 ns.
#[test]
fn room_that_is_known_earlier_wakes_a_link() {
    // Switches 0 and 1, sources 2 and 3 below 1, the third source 4, a slow device 5 and a fast one 6.
    let mut tree = Tree::new(
        vec![None, Some(0), Some(1), Some(1), Some(0), Some(0), Some(0)],
        link(WireRate::wire(1e10).unwrap()),
    );
    tree.link = weir_packets::LinkSettings {
        latency: 0,
        credit_return: 0,
        buffer: Some(560),
        switching: Switching::StoreAndForward,
        inputs: Inputs::Parallel,
        ..tree.link
    };
    let mut links = tree.links();
    let slow = *tree.route(4, 5).last().unwrap() as usize;
    links[slow].rate = WireRate::wire(1e9).unwrap();
    let network = Network::new(links.clone(), tree.nodes.clone(), 1).unwrap();
    let mut engine = Engine::new(network, vec![Box::new(RoundRobin::default())], vec![0; links.len()].into());
    for (id, from, to, bytes) in [(0, 4, 5, 256), (1, 2, 5, 256), (2, 3, 6, 512)] {
        engine.admit(0, id, &spec(bytes, &tree.route(from, to))).unwrap();
    }
    engine.step(0).unwrap();
    assert_eq!(crate::net::finish(&mut engine)[2].1, 392_000);
}

/// Transfers that begin together take turns from the first packet on: x, y, x.
#[test]
fn a_shared_queue_takes_turns_from_the_first_packet_on() {
    let tree = Tree::new(vec![None, Some(0), Some(0), Some(0)], link(WireRate::wire(1e10).unwrap()));
    let mut engine = tree.round_robin();
    engine.interleave(1, Interleave::RoundRobin);
    let sent: Vec<u64> = at_once(&tree, &mut engine, &[(1, 2, 512), (1, 3, 256)]).iter().map(|times| times.0).collect();
    assert_eq!(sent, [3 * 28_000, 2 * 28_000]);
}
