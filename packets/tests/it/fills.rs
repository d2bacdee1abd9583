//! How full buffers are over time, by closed forms: links of 10 GB/s, 280 B take 28 ns.

use weir_packets::{Engine, WireRate};

use crate::net::{Tree, finish, link, spec};

/// Two sources below a switch send to a sink there.
fn two_into_one(bytes: u64) -> (Engine, u64) {
    let tree = Tree::new(vec![None, Some(0), Some(0), Some(0)], link(WireRate::wire(10e9).unwrap()));
    let mut engine = tree.round_robin().with_fills();
    for (id, from) in [(0, 1), (1, 2)] {
        engine.admit(0, id, &spec(bytes, &tree.route(from, 3))).unwrap();
    }
    engine.step(0).unwrap();
    let end = finish(&mut engine).iter().map(|times| times.1).max().unwrap();
    (engine, end)
}

/// With twice of what the port carries both input buffers fill, to 58 packets of 280 B, and stay full.
#[test]
fn buffers_before_a_port_fill() {
    for bytes in [100_000, 10_000_000, 1_000_000_000] {
        let (mut engine, end) = two_into_one(bytes);
        let fills = engine.buffer_fills(end).expect("they are recorded");
        let bins = end.div_ceil(fills.bin) as usize;
        assert!((3..=256).contains(&bins), "{bins} bins of {} ps", fills.bin);
        assert_eq!((fills.means[0].len(), fills.capacity[0]), (bins, Some(16 << 10)));
        assert!(fills.means.iter().flatten().all(|&mean| mean <= 58 * 280));
        // What has ended at a device is in no buffer.
        assert!(fills.means[5].iter().all(|&mean| mean == 0) && fills.means[1].is_empty());
        if bytes > 100_000 {
            // One of 58 has always just left, and is back 200 ns later: credits of 7 or 8 packets are under way.
            let middle = fills.means[0][bins / 2];
            assert!((48 * 280..=58 * 280).contains(&middle), "{middle}");
            assert!(engine.skipped_hops() > 0);
        }
    }
}
