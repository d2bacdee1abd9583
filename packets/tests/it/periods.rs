//! Skipping ahead: what is moved on by whole periods comes out as if every packet had been simulated.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use weir_packets::arbiter::{RoundRobin, StrictPriority, built_in};
use weir_packets::{
    Engine, Inputs, Interleave, LinkSettings, Network, NodeSettings, Queues, Switching, TransferSpec, WireRate,
};
use weir_plugin_api::PortEntry;

use crate::net::{Tree, at_once, link, node, spec};

/// The same link with one thing or more changed, so that few links of a tree are alike.
fn of_another_kind(link: &LinkSettings, below: &mut impl FnMut(u64) -> u64) -> LinkSettings {
    LinkSettings {
        rate: WireRate::wire(1e10 + below(4) as f64 * 2e9).unwrap(),
        latency: 50_000 * below(5),
        credit_return: 50_000 * below(3),
        payload: 64 << below(3),
        header: 16 + 4 * below(3) as u32,
        dllp: if below(2) == 0 { 0 } else { 8 },
        buffer: (below(4) > 0).then(|| 600 + below(6000)),
        switching: if below(3) == 0 { Switching::StoreAndForward } else { Switching::CutThrough },
        queues: if below(3) == 0 { Queues::Voq } else { Queues::Fifo },
        inputs: if below(3) == 0 { Inputs::Parallel } else { Inputs::Serial },
        ..*link
    }
}

/// With and without skipping ahead: the same picoseconds, counts, waits and grants.
#[test]
fn skipping_ahead_changes_nothing() {
    let mut skipped = 0;
    for seed in 0..120_u64 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut below = |end: u64| random.next_u64() % end;
        let count = 3 + below(9) as u32;
        let parents = (0..count).map(|n| (n > 0).then(|| below(u64::from(n)) as u32)).collect();
        let mut tree = Tree::new(parents, link(WireRate::wire(1e10 + below(3) as f64 * 1e9).unwrap()));
        tree.link.buffer = Some(600 + below(6000));
        tree.link.queues = if below(3) == 0 { Queues::Voq } else { Queues::Fifo };
        let split = (below(2) == 0).then(|| 64 + below(100) as u32);
        tree.nodes.fill(NodeSettings { split, ..node() });
        tree.link.dllp = if below(2) == 0 { 0 } else { 8 };
        tree.link.inputs = if below(3) == 0 { Inputs::Parallel } else { Inputs::Serial };
        let mut links = tree.links();
        if below(2) == 0 {
            links.iter_mut().for_each(|link| *link = of_another_kind(link, &mut below));
        }
        let transfers: Vec<_> = (0..1 + below(6))
            .map(|_| {
                let from = below(u64::from(count)) as u32;
                let to = (from + 1 + below(u64::from(count) - 1) as u32) % count;
                (
                    tree.route(from, to),
                    200_000 + below(800_000),
                    below(4) * 20_000,
                    (below(4) == 0).then(|| 2 + below(20)),
                    below(3) * 1_000_000,
                    below(3) as i32,
                )
            })
            .collect();
        // Where a low priority is starved, its waits last for as long as periods are skipped.
        let arbiter = PortEntry::builtin::<StrictPriority>();
        let arbiter = if below(3) == 0 { arbiter } else { PortEntry::builtin::<RoundRobin>() };
        let stop = (below(2) == 0).then(|| below(150_000_000));
        let how = [None, Some(Interleave::RoundRobin), Some(Interleave::Random { seed })][below(3) as usize];
        let mut run = |skips: bool| {
            let engine = tree.engine_on(links.clone(), &arbiter).with_cycles();
            let engine = if seed % 2 == 0 { engine.with_fills() } else { engine };
            let mut engine = if skips { engine } else { engine.without_skipping() };
            let leaves = (1..count).filter(|&node| !tree.parents.contains(&Some(node)));
            how.into_iter().for_each(|how| leaves.clone().for_each(|node| engine.interleave(node, how)));
            let mut starts: Vec<_> = (0..).zip(&transfers).map(|(id, t)| (t.4, id)).collect();
            starts.sort_unstable();
            let (mut times, mut starts) = (Vec::new(), starts.into_iter().peekable());
            loop {
                let until = starts.peek().map_or(u64::MAX, |next| next.0).min(stop.map_or(u64::MAX, |stop| stop + 1));
                let now = engine.advance(until, &|| false).unwrap().min(until);
                if now == u64::MAX || stop.is_some_and(|stop| now > stop) {
                    break;
                }
                while let Some(notice) = engine.take_notice(now) {
                    times.push(notice);
                }
                while let Some((_, id)) = starts.next_if(|next| next.0 == now) {
                    let (route, bytes, interval, window, _, priority) = &transfers[id as usize];
                    // Where packets of transfers meet in one queue, none of them has a limit or a window.
                    let (interval, window) = if how.is_some() { (0, None) } else { (*interval, *window) };
                    let spec = TransferSpec { interval, window, priority: *priority, ..spec(*bytes, route) };
                    engine.admit(now, id, &spec).unwrap();
                }
                engine.step(now).unwrap();
            }
            assert!(stop.is_some() || engine.is_drained(u64::MAX));
            skipped += engine.skipped_hops();
            let end = stop.unwrap_or_else(|| times.last().expect("one has ended").0);
            let waits = |id| (engine.held(id, end), engine.queued(id));
            let held: Vec<_> = (0..transfers.len() as u32).map(waits).collect();
            for (id, (waits, _)) in (0..).zip(&held) {
                let waited: u64 = waits.iter().map(|wait| wait.time).sum();
                assert!(waited <= engine.start(id).map_or(0, |start| end - start), "seed {seed}: {waits:?}");
            }
            let recorded = (engine.port_phases(end), engine.buffer_fills(end));
            (times, engine.hops(), engine.counts(end), held, engine.fingerprint(), recorded)
        };
        let (with, without) = (run(true), run(false));
        assert_eq!(with.0, without.0, "seed {seed}");
        assert!(with == without, "seed {seed}: {with:?}\n{without:?}");
    }
    assert!(skipped > 100_000, "{skipped} hops were skipped: the fast way ran");
}

/// A link that always sends is busy until the stop, whatever is on the wire then, and however far a set was moved on.
#[test]
fn times_count_until_the_stop() {
    let tree = Tree::new(vec![None, Some(0), Some(0), Some(0)], link(WireRate::wire(10e9).unwrap()));
    for skips in [true, false] {
        let mut engine = if skips { tree.round_robin() } else { tree.round_robin().without_skipping() };
        for (id, from) in [(0, 1), (1, 2)] {
            engine.admit(0, id, &spec(100_000_000, &tree.route(from, 3))).unwrap();
        }
        engine.step(0).unwrap();
        let stop = 5_000_000_001;
        engine.advance(stop + 1, &|| false).unwrap();
        assert!(engine.reached() <= stop && (engine.skipped_hops() > 0) == skips);
        // The first header is at the switch after 100 ns and 24 B at 10 GB/s.
        assert_eq!(engine.counts(stop)[5].busy, stop - 102_400);
    }
}

/// Who halts a run learns how far the packets are: no link has been busy for longer.
#[test]
fn a_halted_run_says_how_far_it_has_come() {
    let tree = Tree::new(vec![None; 1].into_iter().chain([Some(0); 5]).collect(), link(WireRate::wire(10e9).unwrap()));
    // Two sets: the first is moved on while the second, whose paces do not fit each other, is simulated.
    let mut engine = tree.round_robin();
    engine.admit(0, 0, &spec(1 << 40, &tree.route(1, 2))).unwrap();
    for (id, from, interval) in [(1, 3, 1_000_003), (2, 5, 1_000_033)] {
        engine.admit(0, id, &TransferSpec { interval, ..spec(1 << 40, &tree.route(from, 4)) }).unwrap();
    }
    engine.step(0).unwrap();
    engine.advance(u64::MAX, &|| true).unwrap();
    let reached = engine.reached();
    assert!(engine.skipped_hops() > 0 && reached > engine.now());
    assert!(engine.counts(reached).iter().all(|link| link.busy <= reached && link.starved <= reached));
}

/// Sets are moved on with the queue in which packets of a device meet: what comes later is sent as if nothing had been skipped.
#[test]
fn shared_queues_are_moved_on_with_their_transfers() {
    // A switch (0) with four devices; 1 and 4 have a link beside the tree, too.
    let tree = Tree::new(vec![None, Some(0), Some(0), Some(0), Some(0)], link(WireRate::wire(10e9).unwrap()));
    let mut links = tree.links();
    let beside = links.len() as u32;
    links.push(weir_packets::LinkSettings { from: 1, to: 4, rate: WireRate::wire(3e9).unwrap(), ..tree.link });
    let (first, second, third) = (tree.route(1, 2), tree.route(1, 3), vec![beside]);
    let half = 500_000_000;
    for how in [Interleave::Random { seed: 7 }, Interleave::RoundRobin] {
        let run = |skips: bool, late: &[u32], early: &[&[u32]]| {
            let network = Network::new(links.clone(), tree.nodes.clone(), 1).unwrap();
            let engine = Engine::new(network, vec![Box::new(RoundRobin::default())], vec![0; links.len()].into());
            let mut engine = if skips { engine } else { engine.without_skipping() };
            engine.interleave(1, how);
            for (id, route) in (0..).zip(early) {
                engine.admit(0, id, &spec(10_000_000, route)).unwrap();
            }
            engine.step(0).unwrap();
            assert_eq!(engine.advance(half, &|| false).unwrap().min(half), half, "all of them still send");
            engine.admit(half, early.len() as u32, &spec(1_000_000, late)).unwrap();
            engine.step(half).unwrap();
            (crate::net::finish(&mut engine), engine.fingerprint(), engine.skipped_hops())
        };
        for early in [&[&*first][..], &[&first, &third]] {
            let (with, without) = (run(true, &second, early), run(false, &second, early));
            assert_eq!((with.0, with.1), (without.0, without.1), "{how:?} of {}", early.len());
            assert!(with.2 > 0 || early.len() > 1, "{how:?}: hops are skipped");
        }
    }
}

/// Under each arbiter that does not draw, two transfers that share a link come into a period, and skipping ahead changes
/// nothing.
#[test]
fn two_into_one_repeats_under_all_arbiters_but_random() {
    let tree = Tree::new(vec![None, Some(0), Some(0), Some(0)], link(WireRate::wire(10e9).unwrap()));
    for entry in built_in() {
        let run = |skips: bool| {
            let engine = tree.engine_of(&entry);
            let mut engine = if skips { engine } else { engine.without_skipping() };
            let times = at_once(&tree, &mut engine, &[(1, 3, 10_000_000), (2, 3, 10_000_000)]);
            (times, engine.counts(engine.reached()), engine.fingerprint(), engine.skipped_hops())
        };
        let (with, without) = (run(true), run(false));
        assert_eq!(with.3 > 0, entry.name != "random", "{}: {} hops", entry.name, with.3);
        assert_eq!((with.0, with.1, with.2), (without.0, without.1, without.2), "{}", entry.name);
    }
}

/// A transfer that is starved keeps its packet waiting, while the other one comes into a period: its whole wait counts once.
#[test]
fn beside_a_starved_transfer_periods_are_found() {
    let tree = Tree::new(vec![None, Some(0), Some(0), Some(0)], link(WireRate::wire(10e9).unwrap()));
    let run = |skips: bool| {
        let engine = tree.engine_of(&PortEntry::builtin::<StrictPriority>());
        let mut engine = if skips { engine } else { engine.without_skipping() };
        for (id, from, bytes) in [(0, 1, 10_000_000), (1, 2, 100_000)] {
            let route = tree.route(from, 3);
            engine.admit(0, id, &TransferSpec { priority: 1 - id as i32, ..spec(bytes, &route) }).unwrap();
        }
        engine.step(0).unwrap();
        let times = crate::net::finish(&mut engine);
        let held = [engine.held(0, u64::MAX), engine.held(1, u64::MAX)];
        (times, held, engine.counts(engine.reached()), engine.fingerprint(), engine.hops(), engine.skipped_hops())
    };
    let (with, without) = (run(true), run(false));
    assert_eq!((&with.0, &with.1, &with.2, with.3, with.4), (&without.0, &without.1, &without.2, without.3, without.4));
    assert!(with.5 > with.4 / 2, "{} of {} hops are skipped", with.5, with.4);
}

/// In a run that is stopped, packets wait as long as without skipping, also those that came before the first period.
#[test]
fn waits_until_a_stop_are_those_of_every_packet() {
    // A root complex, two switches with four devices each; the paper's way of two transfers into one device.
    let parents = [None, Some(0), Some(0)].into_iter().chain([Some(1); 4]).chain([Some(2); 4]).collect();
    let tree = Tree::new(parents, link(WireRate::wire(15_753_846_153.0).unwrap()));
    let counts = |skips: bool| {
        let mut engine = if skips { tree.round_robin() } else { tree.round_robin().without_skipping() };
        for (id, from) in [(0, 3), (1, 7)] {
            engine.admit(0, id, &spec(10_000_000, &tree.route(from, 4))).unwrap();
        }
        engine.step(0).unwrap();
        let stops = [10_000_000, 50_000_000, 200_000_000];
        let all = stops.map(|stop| {
            engine.advance(stop + 1, &|| false).unwrap();
            engine.counts(stop)
        });
        assert!(!skips || engine.skipped_hops() > 0);
        all
    };
    assert_eq!(counts(true), counts(false));
}
