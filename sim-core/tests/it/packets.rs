//! Runs packet by packet, beside closed forms and the same transfers alone.

use proptest::prelude::*;
use weir_packets::arbiter::RoundRobin;
use weir_packets::{Inputs, LinkSettings, NodeSettings, Queues, Switching, WireRate};
use weir_sim_core::api::{Direction, NodeKind, PortEntry, SimDuration, SimTime};
use weir_sim_core::{
    Carriage, EngineId, Fabric, FabricBuilder, Outcome, PacketSettings, PortPolicy, ReadSettings, Routes, RunOptions,
    ServiceId, Sharing, Simulation, Task, TaskGraphBuilder, Work, packet_time_alone,
};

use crate::common::{World, arbiter, fabric, tree};

/// Packets of 256 B with 24 B of header under round robin, buffers of 16 KiB; reads ask for 512 B at a time.
pub(crate) fn settings(fabric: &Fabric) -> PacketSettings {
    let link = |link: &weir_sim_core::Link| LinkSettings {
        from: link.from.0,
        to: link.to.0,
        downwards: link.direction == Direction::Down,
        rate: WireRate::wire(link.bandwidth).expect("a rate"),
        latency: link.latency.0,
        credit_return: link.latency.0,
        buffer: Some(16 << 10),
        headers: None,
        payload: 256,
        header: 24,
        dllp: 0,
        switching: Switching::CutThrough,
        queues: Queues::Fifo,
        inputs: Inputs::Serial,
    };
    let PortEntry { name, flags, make, .. } = PortEntry::builtin::<RoundRobin>();
    let count = fabric.links().len();
    PacketSettings {
        links: fabric.links().iter().map(link).collect(),
        counts_headers: vec![true; count],
        nodes: vec![NodeSettings::default(); fabric.nodes().len()],
        policies: vec![PortPolicy { name, flags, make, params: "{}".to_owned() }],
        policy_of: vec![0; count].into(),
        interleaves: Vec::new(),
        window: None,
        reads: ReadSettings { request: 512, tags: 32, service: SimDuration(200_000), completion_header: 20 },
        skips: true,
        most_hops: 10_000_000,
    }
}

fn run(world: &World, settings: &PacketSettings) -> Outcome {
    let (mut arbiter, flags) = arbiter("max-min", &world.fabric.view());
    let options = RunOptions { sharing: Sharing::Packets(settings), ..RunOptions::default() };
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &world.tasks };
    simulation.run(&mut *arbiter, flags, options).expect("it ends")
}

/// What a transfer is: ends, bytes, limit, channel, whether it is a read, and how many its engine serves at a time (0 for any
/// number).
type Drawn = (usize, usize, u64, Option<f64>, u8, bool, u32);

fn drawn() -> impl Strategy<Value = Drawn> {
    let limit = prop::option::weighted(0.3, 1e8..2e9_f64);
    (0..100_usize, 0..100_usize, 1..100_000_u64, limit, 0..2_u8, any::<bool>(), 0..3_u32)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// All bytes arrive over the links of their routes, in no less time than alone; who is alone takes just that time.
    #[test]
    fn no_transfer_is_faster_than_alone(tree in tree(2..10), drawn in prop::collection::vec(drawn(), 1..8)) {
        let (fabric, leaves) = fabric(&tree, false);
        prop_assume!(leaves.len() > 1);
        let (mut routes, mut tasks) = (Routes::new(), TaskGraphBuilder::new());
        let mut bytes_on = vec![0; fabric.links().len()];
        let mut alone = Vec::new();
        let settings = settings(&fabric);
        for &(from, to, bytes, limit, channel, is_read, slots) in &drawn {
            let from = from % leaves.len();
            let to = (from + 1 + to % (leaves.len() - 1)) % leaves.len();
            let route = routes.between(&fabric, leaves[from], leaves[to]).expect("a tree connects");
            let (limit, carriage) = (limit.unwrap_or(f64::INFINITY), Carriage { channel, is_read });
            let class = tasks.classes().intern_carried(route, limit, 1.0, 0, carriage);
            let engine = match slots {
                0 => EngineId::NONE,
                slots => tasks.engine(leaves[from], ["one", "two"][slots as usize - 1], slots).expect("a number of slots"),
            };
            tasks.task(Task { start: SimTime(0), engine, service: ServiceId::PLAIN, work: Work::Carries { bytes, class } });
            let links = routes.links(route);
            links.iter().for_each(|link| bytes_on[link.index()] += bytes);
            alone.push(packet_time_alone(&settings, &fabric, links, bytes, limit, carriage, &|| false).expect("it ends"));
        }
        let world = World { fabric, routes, tasks: tasks.build().expect("no cycle") };
        let outcome = run(&world, &settings);
        for (times, &alone) in outcome.tasks.iter().zip(&alone) {
            let took = times.end - times.start;
            prop_assert!(took >= alone && (drawn.len() > 1 || took == alone), "{took:?} and {alone:?} alone");
        }
        prop_assert_eq!(outcome.links.iter().map(|link| link.bytes).collect::<Vec<_>>(), bytes_on);
        let slow = run(&world, &PacketSettings { skips: false, ..settings });
        prop_assert_eq!(outcome.tasks, slow.tasks);
    }
}

/// A read of 512 B over two links of 1 GB/s and 100 ns each: its request has 24 B, and so much of the first packet of 276 B, 20 B
/// of them header, goes ahead as keeps its tail behind. After the request and 200 ns both packets follow.
#[test]
fn a_read_takes_a_round_trip() {
    let mut builder = FabricBuilder::new();
    let root = builder.root(NodeKind::Switch).expect("a root");
    let link = weir_sim_core::LinkSpec {
        up: 1e9,
        down: 1e9,
        latency: SimDuration(100_000),
        kind: weir_sim_core::api::LinkKind::PCIE,
    };
    let [from, to] = [0, 1].map(|_| builder.child(root, NodeKind::Gpu, link).expect("a gpu"));
    let fabric = builder.build();
    let mut routes = Routes::new();
    let route = routes.between(&fabric, from, to).expect("a route");
    let carriage = Carriage { channel: 0, is_read: true };
    let time = |bytes, limit| {
        packet_time_alone(&settings(&fabric), &fabric, routes.links(route), bytes, limit, carriage, &|| false)
            .map(|time| time.0)
    };
    // Who halts it is not told a time.
    let halted =
        packet_time_alone(&settings(&fabric), &fabric, routes.links(route), 512, f64::INFINITY, carriage, &|| true);
    assert_eq!(halted, None);
    // Each direction: a header of the first link, then all of it over the second one, and two latencies.
    let (request, answer) = (24_000 + 24_000 + 200_000, 20_000 + 2 * 276_000 + 200_000);
    assert_eq!(time(512, f64::INFINITY), Some(request + 200_000 + answer));
}
