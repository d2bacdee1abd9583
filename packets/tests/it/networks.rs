//! What links, nodes and an engine may be: every limit at its value, and one beyond; and how an input serves its outputs.

use weir_packets::arbiter::RoundRobin;
use weir_packets::{
    Engine, Inputs, LinkSettings, Network, NetworkError, NodeSettings, PacketError, Queues, TransferSpec, WireRate,
};

use crate::net::{Tree, at_once, finish, link, spec};

/// Two nodes with a link each way; the first node is entered by one of them.
fn network(change: impl Fn(&mut LinkSettings), engines: u32, channels: u32) -> Result<Network, NetworkError> {
    let rate = WireRate::wire(16e9).expect("a rate");
    let mut links = vec![link(rate), link(rate)];
    (links[0].to, links[1].from) = (1, 1);
    change(&mut links[0]);
    Network::new(links, vec![NodeSettings { split: None, engines }; 2], channels)
}

/// The input and the engines of a node, on each channel, ask for an output: 4096 at most (packets.md, section 3).
#[test]
fn an_output_has_at_most_4096_requesters() {
    assert!(network(|_| (), 4095, 1).is_ok());
    assert!(network(|_| (), 2047, 2).is_ok());
    let refused = |engines, channels| network(|_| (), engines, channels).expect_err("too many");
    assert_eq!(refused(4096, 1), NetworkError::Requesters { link: 0, requesters: 4097 });
    assert_eq!(refused(2048, 2), NetworkError::Requesters { link: 0, requesters: 4098 });
}

#[test]
fn payloads_are_1_b_to_64_kib_and_headers_at_most_4_kib() {
    let with = |change: fn(&mut LinkSettings)| network(change, 1, 1).map(|_| ());
    assert_eq!(with(|link| link.payload = 1), Ok(()));
    assert_eq!(with(|link| link.payload = 64 << 10), Ok(()));
    assert_eq!(with(|link| link.header = 4 << 10), Ok(()));
    assert_eq!(with(|link| link.dllp = 4 << 10), Ok(()));
    assert_eq!(with(|link| link.payload = 0), Err(NetworkError::Payload { link: 0, payload: 0 }));
    assert_eq!(with(|link| link.payload = (64 << 10) + 1), Err(NetworkError::Payload { link: 0, payload: 65_537 }));
    assert_eq!(with(|link| link.header = (4 << 10) + 1), Err(NetworkError::Header { link: 0, header: 4097 }));
    assert_eq!(with(|link| link.dllp = (4 << 10) + 1), Err(NetworkError::Header { link: 0, header: 4097 }));
}

#[test]
fn links_join_nodes_that_exist() {
    let to = |to: u32| network(move |link| link.to = to, 1, 1).map(|_| ());
    assert_eq!(to(1), Ok(()));
    assert_eq!(to(2), Err(NetworkError::Node { link: 0 }));
    let from = network(|link| link.from = 2, 1, 1).map(|_| ());
    assert_eq!(from, Err(NetworkError::Node { link: 0 }));
}

/// Ten packets over two links are 20 hops: a run of at most 20 ends, one of at most 19 says so.
#[test]
fn hops_are_limited_to_the_last_one() {
    let tree = Tree::new(vec![None, Some(0), Some(1)], link(WireRate::wire(1e10).unwrap()));
    let run = |most| {
        let mut engine = tree.round_robin().with_most_hops(most);
        engine.admit(0, 0, &spec(2560, &tree.route(2, 0)))?;
        engine.step(0)?;
        loop {
            let next = engine.advance(u64::MAX, &|| false)?;
            if next == u64::MAX {
                return Ok(());
            }
            while engine.take_notice(next).is_some() {}
            engine.step(next)?;
        }
    };
    assert_eq!(run(20), Ok(()));
    assert_eq!(run(19), Err(PacketError::Hops { most: 19 }));
}

/// Nothing will happen in an engine before a transfer is admitted, and after all have ended.
#[test]
fn an_engine_is_idle_without_transfers() {
    let tree = Tree::new(vec![None, Some(0), Some(1)], link(WireRate::wire(1e10).unwrap()));
    let mut engine = tree.round_robin();
    assert!(engine.is_idle());
    engine.admit(0, 0, &spec(1000, &tree.route(2, 0))).unwrap();
    engine.step(0).unwrap();
    assert!(!engine.is_idle());
    finish(&mut engine);
    assert!(engine.is_idle());
}

/// Ends of three transfers of 100 packets of 280 ns from one device to three others over a switch whose input has a queue for
/// each output. The link to the switch is ten times as fast as those behind it.
fn ends_behind_one_input(inputs: Inputs) -> Vec<u64> {
    let mut tree = Tree::new(vec![None, Some(0), Some(0), Some(0), Some(0)], link(WireRate::wire(1e9).unwrap()));
    tree.link = LinkSettings { queues: Queues::Voq, inputs, buffer: None, ..tree.link };
    let mut links = tree.links();
    links[0].rate = WireRate::wire(1e10).unwrap();
    let network = Network::new(links, tree.nodes.clone(), 1).unwrap();
    let mut engine = Engine::new(network, vec![Box::new(RoundRobin::default())], vec![0; 8].into());
    at_once(&tree, &mut engine, &[(1, 2, 25_600), (1, 3, 25_600), (1, 4, 25_600)]).iter().map(|times| times.1).collect()
}

/// An input that serves one output at a time turns to the next one after each packet: all end within two packets of each
/// other, after 300. One that serves all at once needs the time of 100.
#[test]
fn an_input_serves_its_outputs_in_turn_or_all_at_once() {
    let packet = 280_000;
    let serial = ends_behind_one_input(Inputs::Serial);
    assert!(serial.is_sorted() && serial[2] - serial[0] == 2 * packet, "{serial:?}");
    assert!((300 * packet..302 * packet).contains(&serial[2]), "{serial:?}");
    let parallel = ends_behind_one_input(Inputs::Parallel);
    assert!(parallel.iter().all(|end| (100 * packet..102 * packet).contains(end)), "{parallel:?}");
}

/// With a window of one, each packet begins when the one before has come, all of its pieces: eleven packets take ten times as
/// long as one, and then the 2 · 1000 ns, 24 ns of header and 34 ns of the last one of 10 B.
#[test]
fn a_window_counts_whole_packets_that_are_split() {
    let mut tree = Tree::new(vec![None, Some(0), Some(0)], link(WireRate::wire(1e9).unwrap()));
    (tree.link.latency, tree.link.buffer) = (1_000_000, Some(64 << 10));
    tree.nodes[0].split = Some(64);
    let end = |bytes: u64| {
        let mut engine = tree.round_robin().without_skipping();
        engine.admit(0, 0, &TransferSpec { window: Some(1), ..spec(bytes, &tree.route(1, 2)) }).unwrap();
        engine.step(0).unwrap();
        crate::net::finish(&mut engine)[0].1
    };
    assert_eq!(end(2560), 10 * end(256));
    assert_eq!(end(2570), end(2560) + 2_058_000);
}

/// Where the end of a transfer is later than the clock can tell, it is neither idle nor in a deadlock.
#[test]
fn what_ends_too_late_is_not_idle() {
    let tree = Tree::new(vec![None, Some(0)], link(WireRate::wire(1e9).unwrap()));
    let mut engine = tree.round_robin();
    engine.admit(0, 7, &TransferSpec { interval: u64::MAX, ..spec(1000, &[0]) }).unwrap();
    engine.step(0).unwrap();
    assert_eq!(engine.advance(u64::MAX, &|| false), Ok(u64::MAX));
    assert_eq!((engine.is_idle(), engine.next_time(), engine.under_way()), (false, u64::MAX, vec![7]));
}

/// A link ten times as fast as the next one fills a buffer without a size: with nine tenths of 1000 packets at the most.
#[test]
fn packets_in_buffers_are_counted() {
    let run = |most: usize| {
        let mut tree = Tree::new(vec![None, Some(0), Some(0)], link(WireRate::wire(1e10).unwrap()));
        tree.link.buffer = None;
        let mut links = tree.links();
        links[3].rate = WireRate::wire(1e9).unwrap();
        let network = Network::new(links, tree.nodes.clone(), 1).unwrap();
        let mut engine = Engine::new(network, vec![Box::new(RoundRobin::default())], vec![0; 4].into());
        engine = engine.with_most_packets(most);
        engine.admit(0, 0, &spec(256_000, &tree.route(1, 2))).unwrap();
        engine.step(0).and_then(|()| engine.advance(u64::MAX, &|| false)).map(|_| ())
    };
    assert_eq!(run(500), Err(PacketError::InBuffers { most: 500 }));
    assert_eq!(run(950), Ok(()));
}
