//! How full buffers are and what links carry over time, by closed forms: links of 10 GB/s, 280 B take 28 ns.

use weir_packets::{Engine, WireRate};

use crate::net::{Tree, finish, link, spec};

/// Two sources below a switch send to a sink there.
fn two_into_one(bytes: u64, adjust: impl Fn(Engine) -> Engine) -> (Engine, u64) {
    let tree = Tree::new(vec![None, Some(0), Some(0), Some(0)], link(WireRate::wire(10e9).unwrap()));
    let mut engine = adjust(tree.round_robin().with_fills());
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
        let (mut engine, end) = two_into_one(bytes, |engine| engine);
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

/// Loads add up to the bytes that were carried, and none is above 256 of 280 B of the wire; with and without skipping.
#[test]
fn loads_add_up_to_the_bytes_that_links_carried() {
    for bytes in [1000, 100_000, 10_000_000] {
        let (mut engine, end) = two_into_one(bytes, |engine| engine);
        let (mut slow, _) = two_into_one(bytes, Engine::without_skipping);
        let fills = engine.buffer_fills(end).expect("they are recorded");
        assert_eq!(Some(&fills), slow.buffer_fills(end).as_ref());
        for (link, (loads, counts)) in fills.loads.iter().zip(engine.counts(end)).enumerate() {
            assert_eq!(loads.is_empty(), counts.payload == 0, "link {link}");
            assert!(loads.iter().all(|&load| load <= 10_000_000_000 * 256 / 280), "link {link}: {loads:?}");
            let from = |bin: usize| bin as u64 * fills.bin;
            let spans = (0..loads.len()).map(|bin| (end - from(bin)).min(fills.bin));
            let carried: f64 = loads.iter().zip(spans).map(|(&load, span)| load as f64 * span as f64 / 1e12).sum();
            assert!((carried - counts.payload as f64).abs() < 1e-6 * bytes as f64, "link {link}: {carried}");
        }
        // The port is never idle between its first and its last packet: a bin in the middle is full.
        let middle = fills.loads[5][fills.loads[5].len() / 2];
        assert!(middle > 9_142_857_000 || bytes == 1000, "{middle}");
    }
}
