//! DLLPs on the opposite link, by closed forms: links of 10 GB/s, 280 B take 28 ns, 8 B take 0.8 ns.

use weir_packets::{Held, HeldCause, LinkCounts, WireRate};

use crate::net::{Tree, finish, link, spec};

const PACKETS: u64 = 20_000;

fn tree(nodes: usize) -> Tree {
    let parents = (0..nodes).map(|node| (node > 0).then_some(0)).collect();
    let mut tree = Tree::new(parents, link(WireRate::wire(10e9).unwrap()));
    tree.link.dllp = 8;
    tree
}

/// Ends of transfers of full packets that begin at 0, and what crossed links; with and without skipping.
fn run(tree: &Tree, pairs: &[(u32, u32)]) -> (Vec<u64>, Vec<LinkCounts>) {
    let both = [true, false].map(|skips| {
        let mut engine = if skips { tree.round_robin() } else { tree.round_robin().without_skipping() };
        for (id, &(from, to)) in (0..).zip(pairs) {
            engine.admit(0, id, &spec(256 * PACKETS, &tree.route(from, to))).unwrap();
        }
        engine.step(0).unwrap();
        let ends: Vec<u64> = finish(&mut engine).iter().map(|times| times.1).collect();
        assert_eq!(engine.skipped_hops() > 0, skips);
        (ends, engine.counts(u64::MAX), engine.fingerprint())
    });
    assert_eq!(both[0], both[1]);
    let [(ends, counts, _), _] = both;
    (ends, counts)
}

/// Where one direction is idle the other is as fast as ever, and the idle one is busy with DLLPs.
#[test]
fn an_idle_link_carries_dllps_alone() {
    let (ends, counts) = run(&tree(2), &[(1, 0)]);
    assert_eq!(ends, [PACKETS * 28_000 + 100_000]);
    assert_eq!((counts[0].dllps, counts[0].busy), (0, PACKETS * 28_000));
    assert_eq!((counts[1].packets, counts[1].dllps, counts[1].busy), (0, PACKETS, PACKETS * 800));
}

/// Both ways at once: a packet has come 128 ns after its grant, while the fifth one after it, at 28.8 ns each, waits for the
/// wire. Before packet k, from 0 on, k − 4 DLLPs have passed: 8 of 288 B of the wire are lost.
#[test]
fn both_ways_each_packet_is_followed_by_a_dllp() {
    let (ends, counts) = run(&tree(2), &[(1, 0), (0, 1)]);
    let end = (PACKETS - 1) * 28_000 + (PACKETS - 5) * 800 + 28_000 + 100_000;
    assert_eq!(ends, [end, end]);
    assert!(counts[..2].iter().all(|link| (link.dllps, link.busy) == (PACKETS, PACKETS * 28_800)), "{counts:?}");
}

/// A packet has one when its last piece has left, and each piece is a packet where it ends.
#[test]
fn a_packet_that_is_split_has_one_dllp_behind_it() {
    let mut tree = tree(3);
    tree.nodes[0].split = Some(64);
    let (_, counts) = run(&tree, &[(1, 2)]);
    assert_eq!([0, 1, 2, 3].map(|link| counts[link].dllps), [0, PACKETS, 4 * PACKETS, 0]);
    // Waits are per packet, not per piece.
    assert_eq!(
        [0, 3].map(|link| (counts[link].packets, counts[link].whole)),
        [(PACKETS, PACKETS), (4 * PACKETS, PACKETS)]
    );
}

/// Both ways at once: all that each source waits for is DLLPs of its own link, which no transfer is to blame for.
#[test]
fn who_waits_for_dllps_says_so() {
    let tree = tree(2);
    let mut engine = tree.round_robin();
    for (id, (from, to)) in [(0, (1, 0)), (1, (0, 1))] {
        engine.admit(0, id, &spec(256 * PACKETS, &tree.route(from, to))).unwrap();
    }
    engine.step(0).unwrap();
    finish(&mut engine);
    for id in [0, 1] {
        let told: Vec<_> =
            engine.held(id, u64::MAX).iter().map(|held| (held.cause, held.link, held.by, held.time)).collect();
        assert_eq!(told, [(HeldCause::Dllp, id, None, (PACKETS - 5) * 800)]);
    }
}

/// A packet that comes to its source while a DLLP is on the wire waits for no transfer, whoever sent before.
#[test]
fn a_dllp_is_not_taken_for_the_packet_before_it() {
    let tree = tree(2);
    let mut engine = tree.round_robin();
    // Both ways; the packet that comes to the lower node at 128 ns has its DLLP on the link upwards until 128.8 ns.
    for (id, (from, to)) in (0..).zip([(1, 0), (0, 1)]) {
        engine.admit(0, id, &spec(256, &tree.route(from, to))).unwrap();
    }
    engine.step(0).unwrap();
    while engine.advance(128_400, &|| false).unwrap() < 128_400 {
        while engine.take_notice(128_399).is_some() {}
    }
    engine.admit(128_400, 2, &spec(256, &tree.route(1, 0))).unwrap();
    engine.step(128_400).unwrap();
    finish(&mut engine);
    let told: Vec<_> =
        engine.held(2, u64::MAX).iter().map(|held| (held.cause, held.link, held.by, held.time)).collect();
    assert_eq!(told, [(HeldCause::Dllp, 0, None, 400)]);
}

/// Nor one that has sent long before: DLLPs have kept the link awake since, and the packet behind one waits for its own link.
#[test]
fn who_sent_before_dllps_is_no_culprit() {
    let tree = tree(4);
    // Some of the starts meet a DLLP on the wire.
    for start in (1_000_000..1_030_000).step_by(400) {
        let mut engine = tree.round_robin();
        // The first is gone when the third comes; what the second sends the other way has DLLPs all along.
        for (id, (from, to), packets) in [(0, (3, 2), 1), (1, (2, 3), PACKETS)] {
            engine.admit(0, id, &spec(256 * packets, &tree.route(from, to))).unwrap();
        }
        engine.step(0).unwrap();
        while engine.advance(start, &|| false).unwrap() < start {
            while engine.take_notice(start - 1).is_some() {}
            engine.step(engine.now()).unwrap();
        }
        engine.admit(start, 2, &spec(256 * 100, &tree.route(1, 2))).unwrap();
        engine.step(start).unwrap();
        finish(&mut engine);
        assert!(engine.held(2, u64::MAX).iter().chain(&engine.queued(2)).all(|held| held.by.is_none()), "{start}");
    }
}

/// Buffers take what DLLPs hold up on the way, so that the source waits for nothing: the last packet is as late in the switch
/// as all DLLPs before it have made it. With and without skipping: the stretch without an idle moment goes through many periods.
#[test]
fn dllps_on_the_way_are_told() {
    let mut tree = tree(4);
    tree.link.buffer = Some(16 << 20);
    let late = 1_000_000;
    let late_by = [true, false].map(|skips| {
        let mut engine = if skips { tree.round_robin() } else { tree.round_robin().without_skipping() };
        engine.admit(0, 0, &spec(256 * PACKETS, &tree.route(2, 3))).unwrap();
        engine.step(0).unwrap();
        while engine.advance(late, &|| false).unwrap() < late {
            engine.step(engine.now()).unwrap();
        }
        engine.admit(late, 1, &spec(128 * PACKETS, &tree.route(1, 2))).unwrap();
        engine.step(late).unwrap();
        let end = finish(&mut engine)[1].1;
        assert_eq!(engine.skipped_hops() > 0, skips);
        assert_eq!(engine.held(1, u64::MAX), []);
        // 28 ns for each packet, twice 100 ns, and a header of 2.4 ns before it is sent on.
        let alone = late + PACKETS / 2 * 28_000 + 2 * 100_000 + 2_400;
        let time = end - alone;
        assert_eq!(engine.queued(1), Some(Held { cause: HeldCause::Dllp, link: 3, by: None, time }));
        time
    });
    assert_eq!(late_by[0], late_by[1]);
    // A DLLP for each packet of the other way, 28 ns apart: 0.8 of 28 ns are lost.
    let lost = PACKETS / 2 * 28_000 / 34;
    assert!(late_by[0].abs_diff(lost) < lost / 20, "{late_by:?}, {lost}");
}
