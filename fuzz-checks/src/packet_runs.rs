//! One load sent packet by packet, with periods skipped and without.

use weir_packets::arbiter::built_in;
use weir_packets::{Inputs, Interleave, LinkSettings, NodeSettings, Queues, Switching, WireRate};
use weir_plugin_api::{Direction, LinkId, NodeId, SimDuration, SimTime};
use weir_sim_core::{
    ChangeSource, Fabric, LinkChanges, LinkState, PacketSettings, PortPolicy, ReadSettings, Sharing, Steps, Stop,
};

use crate::movers::World;

/// Packets of an input, about.
const MOST_PACKETS: u64 = 4000;

/// Every byte arrives, on trees nothing waits for ever, and skipping changes nothing but how much is simulated, also where a
/// link goes down or slows down now and then.
pub fn packets(bytes: &[u8]) {
    let mut bytes = bytes.iter().copied();
    let mut options = [0; 6];
    for slot in &mut options {
        let Some(byte) = bytes.next() else { return };
        *slot = byte;
    }
    let Some(world) = World::read(&mut bytes) else { return };
    let payload = (world.sizes.iter().sum::<u64>() / MOST_PACKETS).clamp(64, 65_536) as u32;
    let settings = settings(&world.fabric, payload, options);
    let changes = changes(options, world.fabric.links().len(), world.sizes.iter().sum());
    [LinkChanges::default(), changes].iter().for_each(|changes| same_with_skipping(&world, &settings, changes));
}

/// A link that is down, or has a part of its bandwidth, for a third of the time.
fn changes([port, buffer, .., window, kinds]: [u8; 6], links: usize, bytes: u64) -> LinkChanges {
    let first = LinkId::from_index(usize::from(port) % (links / 2) * 2);
    // Some dozens of times while all bytes cross links of about 1 GB/s.
    let lasts = SimDuration(1 + bytes * 1000 / (1 + u64::from(buffer) % 16) + u64::from(window));
    let state = if kinds & 1 == 0 { LinkState::Down } else { LinkState::Share(0.3) };
    let steps = Steps::Periodic { first: SimTime(lasts.0), every: SimDuration(3 * lasts.0), lasts, state };
    let links = vec![first, LinkId(first.0 + 1)];
    LinkChanges { sources: vec![ChangeSource { links, steps }], ..LinkChanges::default() }
}

fn same_with_skipping(world: &World, settings: &PacketSettings, changes: &LinkChanges) {
    let [fast, slow] = [true, false].map(|skips| {
        let settings = PacketSettings { skips, ..settings.clone() };
        world.run_changing("max-min", Sharing::Packets(&settings), changes)
    });
    for outcome in [&fast, &slow] {
        assert_eq!(outcome.stop, Stop::Finished);
        assert_eq!(outcome.sent_bytes, world.sizes);
    }
    assert_eq!(fast.tasks, slow.tasks);
    let [fast, slow] = [fast, slow].map(|outcome| outcome.packets.expect("packets"));
    assert_eq!((fast.fingerprint, fast.hops, &fast.links), (slow.fingerprint, slow.hops, &slow.links));
    assert_eq!(slow.skipped_hops, 0);
}

fn settings(fabric: &Fabric, payload: u32, options: [u8; 6]) -> PacketSettings {
    let [port, kinds, header, buffer, window, split] = options;
    let bit = |bit: u8| kinds >> bit & 1 == 1;
    let header = u32::from(header);
    let packet = u64::from(payload + header);
    let link = |link: &weir_sim_core::Link| LinkSettings {
        from: link.from.0,
        to: link.to.0,
        downwards: link.direction == Direction::Down,
        rate: WireRate::goodput(link.bandwidth, payload, header).expect("a bandwidth in range"),
        latency: link.latency.0,
        credit_return: link.latency.0,
        buffer: (buffer < 200).then(|| packet * (1 + u64::from(buffer) % 20)),
        headers: (buffer >= 100 && buffer % 2 == 0).then(|| 1 + u32::from(buffer % 7)),
        payload,
        header,
        dllp: if bit(3) { 8 } else { 0 },
        switching: if bit(0) { Switching::StoreAndForward } else { Switching::CutThrough },
        queues: if bit(1) { Queues::Voq } else { Queues::Fifo },
        inputs: if bit(2) { Inputs::Parallel } else { Inputs::Serial },
    };
    let links: Vec<_> = fabric.links().iter().map(link).collect();
    let entries = built_in();
    let entry = entries[usize::from(port) % entries.len()].clone();
    let policy = PortPolicy { name: entry.name, flags: entry.flags, make: entry.make, params: "{}".to_owned() };
    let (count, nodes) = (links.len(), fabric.nodes().len());
    let split = (split > 0).then(|| payload.div_ceil(u32::from(split % 4) + 1));
    PacketSettings {
        counts_headers: vec![false; count],
        links,
        nodes: vec![NodeSettings { split, engines: 0 }; nodes],
        policies: vec![policy],
        policy_of: vec![0; count].into(),
        interleaves: if bit(3) { vec![(NodeId(1), Interleave::RoundRobin)] } else { Vec::new() },
        window: (window > 128).then(|| u64::from(window) - 128),
        reads: ReadSettings { request: 512, tags: 8, service: SimDuration::ZERO, completion_header: 20 },
        skips: true,
        most_hops: u64::MAX,
    }
}

/// Those of both movers, with all kinds of ports and buffers before them.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let loads = crate::movers::seeds().into_iter().enumerate();
    loads
        .map(|(n, load)| [&[n as u8, (n * 5) as u8, 24, (n * 17) as u8, (n * 16) as u8, n as u8 % 3], &*load].concat())
        .collect()
}
