//! Transfers that begin to send later, on cases small enough to work out by hand. All times are in ps; the links carry 1 byte
//! in 1000 ps and have no latency.

use weir_arbiters::MaxMin;
use weir_sim_core::api::{ArbiterPlugin, EngineScope, LinkKind, NodeKind, SimDuration, SimTime};
use weir_sim_core::{
    Engine, EngineId, FabricBuilder, LinkSpec, Routes, RunOptions, Service, ServiceId, Simulation, Task, TaskGraph,
    TaskGraphBuilder, TaskId, Work,
};

/// (start, end) of three transfers of 1000 B over one link after `delays`: two that are ready at 0, on an engine with one
/// slot or on none, and one that waits for the second.
fn spans(service: Service, has_engine: bool, delays: [u64; 3]) -> [(u64, u64); 3] {
    let mut b = FabricBuilder::new();
    let link = LinkSpec { up: 1e9, down: 1e9, latency: SimDuration(0), kind: LinkKind::PCIE };
    let root = b.root(NodeKind::Switch).expect("root");
    let to = b.child(root, NodeKind::Gpu, link).expect("a gpu");
    let fabric = b.build();
    let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
    let route = routes.between(&fabric, root, to).expect("connected");
    let class = graph.classes().intern(route, f64::INFINITY, 1.0, 0);
    let engine = match has_engine {
        true => graph.own_engine(Engine { scope: EngineScope::Operation, name: "e".into(), slots: 1 }),
        false => EngineId::NONE,
    };
    let service = graph.service(service);
    let work = Work::Carries { bytes: 1000, class };
    let [_, second, last] = [0; 3].map(|_| graph.task(Task { start: SimTime(0), engine, service, work }));
    graph.wait(last, second);
    let graph = graph.build().expect("no cycle").delayed(delays.map(SimDuration));
    let mut arbiter = MaxMin::create(&fabric.view(), "{}").expect("no parameters");
    let simulation = Simulation { fabric: &fabric, routes: &routes, tasks: &graph };
    let outcome = simulation.run(&mut arbiter, MaxMin::FLAGS, RunOptions::default()).expect("it ends");
    [0, 1, 2].map(|task| (outcome.tasks[task].start.0, outcome.tasks[task].end.0))
}

#[test]
fn an_engine_serves_in_the_same_order_and_each_start_is_its_own_delay_later() {
    let plain = [(0, 1_000_000), (1_000_000, 2_000_000), (2_000_000, 3_000_000)];
    assert_eq!(spans(Service::PLAIN, true, [0; 3]), plain);
    // The second is ready to send after 50, but its engine is not free before the first has sent.
    let later = [(300, 1_000_300), (1_000_350, 2_000_350), (2_000_357, 3_000_357)];
    assert_eq!(spans(Service::PLAIN, true, [300, 50, 7]), later);
}

#[test]
fn delays_add_to_leads_and_gaps() {
    let service = Service::issued_in(SimDuration(20));
    let later = [(320, 1_000_320), (1_000_390, 2_000_390), (2_000_417, 3_000_417)];
    assert_eq!(spans(service, true, [300, 50, 7]), later);
}

#[test]
fn without_an_engine_each_starts_its_delay_after_it_is_ready() {
    // The first is alone for 400 and sends 0.4 B; then both have half of the link, until the first has sent the other 999.6 B
    // at 100 + 400 + 1_999_200. The second then has 0.4 B left.
    let later = [(100, 1_999_700), (500, 2_000_100), (2_000_107, 3_000_107)];
    assert_eq!(spans(Service::PLAIN, false, [100, 500, 7]), later);
}

#[test]
fn what_has_no_delay_stays_as_it_is() {
    let mut graph = TaskGraphBuilder::new();
    let mut task =
        |work| graph.task(Task { start: SimTime(3), engine: EngineId::NONE, service: ServiceId::PLAIN, work });
    task(Work::Nothing { counted: false });
    let graph: TaskGraph = graph.build().expect("no cycle");
    let delayed = graph.delayed([SimDuration(9)]);
    assert_eq!(delayed.service(TaskId(0)), Service::PLAIN, "it is no transfer");
}
