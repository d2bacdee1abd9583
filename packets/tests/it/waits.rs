//! For whom packets wait on their way.

use proptest::prelude::*;
use weir_packets::{HeldCause, Queues, TransferSpec, WireRate};

use crate::net::{Tree, at_once, finish, link, spec};

proptest! {
    /// Who takes longer than alone was held up at its source, or its packets have waited for others on their way; alone, none
    /// has.
    #[test]
    fn who_is_late_has_waited_for_somebody(
        parents in prop::collection::vec(any::<u32>(), 2..10),
        pairs in prop::collection::vec((any::<u32>(), any::<u32>(), 1..6000_u64), 1..8), voq: bool,
    ) {
        let parents: Vec<_> = (0..=parents.len() as u32).map(|n| (n > 0).then(|| parents[n as usize - 1] % n)).collect();
        let count = parents.len() as u32;
        let mut tree = Tree::new(parents, link(WireRate::goodput(1e10, 256, 24).unwrap()));
        tree.link.queues = if voq { Queues::Voq } else { Queues::Fifo };
        let transfers: Vec<_> = pairs.iter().map(|&(from, to, bytes)| {
            let from = from % count;
            (from, (from + 1 + to % (count - 1)) % count, bytes)
        }).collect();
        let mut engine = tree.round_robin();
        let times = at_once(&tree, &mut engine, &transfers);
        for (id, transfer) in (0..).zip(&transfers) {
            let mut lone = tree.round_robin();
            let alone = at_once(&tree, &mut lone, &[*transfer])[0].1;
            prop_assert_eq!(lone.queued(0), None);
            let late = times[id as usize].1 - alone;
            // Waits at the source follow each other, and each has lasted.
            let waits = engine.held(id, u64::MAX);
            prop_assert!(waits.iter().all(|held| held.time > 0), "{waits:?}");
            let waited: u64 = waits.iter().map(|held| held.time).sum();
            prop_assert!(waited <= times[id as usize].0, "{waited} ps of {:?}", times[id as usize]);
            let told = engine.held(id, u64::MAX).first().map(|held| held.time).max(engine.queued(id).map(|wait| wait.time));
            // Less than the time of a packet may be that of one that has just begun.
            prop_assert!(late < 28_000 || told.is_some(), "{}: {} ps late", id, late);
        }
    }
}

/// Two transfers of two packets leave one source in turn: each waits for the other's packets, and says so.
#[test]
fn who_waits_at_its_source_names_whose_packet_is_sent() {
    let tree = Tree::new(vec![None, Some(0), Some(0), Some(0)], link(WireRate::wire(1e10).unwrap()));
    let mut engine = tree.round_robin();
    at_once(&tree, &mut engine, &[(1, 2, 512), (1, 3, 512)]);
    let told = |id| {
        engine.held(id, u64::MAX).iter().map(|held| (held.cause, held.link, held.by, held.time)).collect::<Vec<_>>()
    };
    assert_eq!(told(0), [(HeldCause::Arbitration, 0, Some(1), 28_000)]);
    assert_eq!(told(1), [(HeldCause::Arbitration, 0, Some(0), 56_000)]);
}

/// Packets of two transfers leave one source in turn, 28 ns each. The link goes down at 10 ns, while the first one is sent, and
/// comes up at 50 ns: waits are for who sends until 10 ns, or until the link is idle, and for the link from then on.
#[test]
fn a_wait_is_split_where_its_link_goes_down() {
    let rate = WireRate::wire(1e10).unwrap();
    let tree = Tree::new(vec![None, Some(0), Some(0), Some(0)], link(rate));
    let mut engine = tree.round_robin();
    for (id, to) in [(0, 2), (1, 3)] {
        engine.admit(0, id, &spec(512, &tree.route(1, to))).unwrap();
    }
    engine.step(0).unwrap();
    for (at, rate) in [(10_000, None), (50_000, Some(rate))] {
        assert_eq!(engine.advance(at, &|| false), Ok(u64::MAX));
        engine.change_link(at, 0, rate);
        engine.step(at).unwrap();
        assert_eq!(engine.under_way(), [0, 1]);
    }
    let sent: Vec<u64> = finish(&mut engine).iter().map(|times| times.0).collect();
    assert_eq!(engine.under_way(), [0; 0]);
    // From 50 ns on the second transfer's packet, the first's, and the second's last one.
    assert_eq!(sent, [106_000, 134_000]);
    let told = |id| {
        engine.held(id, u64::MAX).iter().map(|held| (held.cause, held.link, held.by, held.time)).collect::<Vec<_>>()
    };
    assert_eq!(told(0), [(HeldCause::Arbitration, 0, Some(1), 28_000), (HeldCause::Down, 0, None, 22_000)]);
    assert_eq!(told(1), [(HeldCause::Down, 0, None, 40_000), (HeldCause::Arbitration, 0, Some(0), 38_000)]);
}

/// Transfers 0 and 1 leave node 2 over one link, from which 0 goes on to node 3 over a link that is down, and 1 to node 4. When 1
/// begins, the buffers are full: 0 waits for the link, and 1, whose route does not have it, behind 0.
#[test]
fn behind_a_link_that_is_down_others_wait_for_who_wants_it() {
    let rate = WireRate::wire(1e10).unwrap();
    let tree = Tree::new(vec![None, Some(0), Some(1), Some(0), Some(0)], link(rate));
    let down = *tree.route(2, 3).last().unwrap();
    let mut engine = tree.round_robin();
    engine.change_link(0, down, None);
    let (later, up) = (100_000_000, 1_000_000_000);
    for (id, at, to) in [(0, 0, 3), (1, later, 4)] {
        engine.admit(at, id, &spec(1 << 20, &tree.route(2, to))).unwrap();
        engine.step(at).unwrap();
        assert_eq!(engine.advance(at + later, &|| false), Ok(u64::MAX));
    }
    engine.change_link(up, down, Some(rate));
    engine.step(up).unwrap();
    finish(&mut engine);
    let longest = [0, 1].map(|id| engine.held(id, u64::MAX)[0]);
    let told = longest.map(|held| (held.cause, held.link, held.by));
    assert_eq!(told, [(HeldCause::Down, down, None), (HeldCause::HeadOfLine, down, Some(0))]);
    assert!(longest[0].time > up - later && longest[1].time >= up - later, "{longest:?}");
}

/// A packet takes 28 ns, a link 100 ns, a header 2.4 ns, a DLLP 28 ns. The packet of 1 is at its destination at 230.4 ns, which sends
/// a DLLP until 258.4 ns. The first packet of 0 has left that source at 38 ns and is at its own destination at 240.4 ns, when the
/// window opens: the second one waits for the DLLP.
#[test]
fn a_window_that_opens_behind_a_dllp_waits_for_it() {
    let mut tree = Tree::new(vec![None, Some(0), Some(0)], link(WireRate::wire(10e9).unwrap()));
    tree.link.dllp = 280;
    let mut engine = tree.round_robin();
    engine.admit(0, 1, &spec(256, &tree.route(2, 1))).unwrap();
    engine.step(0).unwrap();
    engine.advance(10_000, &|| false).unwrap();
    engine.admit(10_000, 0, &TransferSpec { window: Some(1), ..spec(512, &tree.route(1, 2)) }).unwrap();
    engine.step(10_000).unwrap();
    assert_eq!(finish(&mut engine)[0], (286_400, 488_800));
    let told: Vec<_> =
        engine.held(0, u64::MAX).iter().map(|held| (held.cause, held.link, held.by, held.time)).collect();
    assert_eq!(told, [(HeldCause::Window, 0, None, 202_400), (HeldCause::Dllp, 0, None, 18_000)]);
}
