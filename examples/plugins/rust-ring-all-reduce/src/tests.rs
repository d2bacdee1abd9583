//! Plans and estimates of small rings, held against what an all-reduce must do and how long its steps take.

use weir_plugin_api::{FabricView, RouteLookup};

use super::*;

/// Routes of one bandwidth (B/s) and a latency of 3 ps, but for those from a slow node; none from or to node 9.
struct Routes {
    bandwidth: f64,
    slow: Option<NodeId>,
}

impl RouteLookup for Routes {
    fn route(&self, from: NodeId, to: NodeId) -> Option<RouteInfo> {
        let bandwidth = if self.slow == Some(from) { self.bandwidth / 4.0 } else { self.bandwidth };
        let found = from != to && from.0 != 9 && to.0 != 9;
        found.then_some(RouteInfo { bandwidth, latency_ps: 3.0, links: 2 })
    }
}

/// 1 byte in 1 ps.
const FAST: Routes = Routes { bandwidth: 1e12, slow: None };

/// Calls the model beside a fabric of which it reads nothing.
fn beside<T>(routes: &Routes, call: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let fabric = FabricView::default();
    call(&Surroundings { fabric: &fabric, routes })
}

fn operation(devices: &str, size: u64, latency: u64) -> String {
    format!(
        r#"{{"operation":"ring-all-reduce","id":"x","params":{{"devices":{devices},"size":{size},"latency":{latency}}}}}"#
    )
}

fn plan(operation: &str, routes: &Routes) -> Plan {
    let mut plan = Plan::new();
    beside(routes, |surroundings| RingAllReduce.plan(operation, surroundings, &mut plan)).expect("planned");
    plan
}

fn estimate(operation: &str, routes: &Routes) -> Estimate {
    let mut estimates = Estimates::default();
    beside(routes, |surroundings| RingAllReduce.estimate(operation, surroundings, &mut estimates)).expect("estimated");
    assert!(serde_json::from_str::<serde_json::Value>(&estimates.details).expect("is JSON").is_object());
    estimates.list.remove(0)
}

fn refusal(operation: &str) -> String {
    let plan = beside(&FAST, |surroundings| RingAllReduce.plan(operation, surroundings, &mut Plan::new()));
    let estimate =
        beside(&FAST, |surroundings| RingAllReduce.estimate(operation, surroundings, &mut Estimates::default()));
    assert_eq!(plan, estimate);
    plan.expect_err("refused").to_string()
}

fn carried(task: &PlannedTask<'_>) -> (u32, u32, u64) {
    match task.work {
        PlannedWork::Carries { from, to, bytes, .. } => (from.0, to.0, bytes),
        other => panic!("{other:?}"),
    }
}

/// Three devices and 7 bytes: chunks of 2, 2 and 3 bytes. Step 0 sends chunks 0, 1, 2 from positions 0, 1, 2; step 1 chunks
/// 2, 0, 1; and so on, each to the next device.
#[test]
fn a_ring_of_three_in_full() {
    let plan = plan(&operation("[4,2,7]", 7, 5), &FAST);
    let bytes = [2, 2, 3, 3, 2, 2, 2, 3, 2, 2, 2, 3];
    let ends = [(4, 2), (2, 7), (7, 4)];
    assert_eq!(plan.len(), 12);
    for (at, task) in plan.iter().enumerate() {
        let (step, position) = (at / 3, at % 3);
        assert_eq!(task.name, format!("send[{position}][{step}]"));
        assert_eq!(carried(&task), (ends[position].0, ends[position].1, bytes[at]));
        assert_eq!((task.engine, task.queue, task.lead_ps), (Some(position as u32), Queue::Issued, 5.0));
        // Of the step before, the send of the position before.
        let waits = if step == 0 { vec![] } else { vec![Wait::end(((step - 1) * 3 + (position + 2) % 3) as u32)] };
        assert_eq!(task.waits, waits);
    }
    let engine = |device| weir_plugin_api::PlannedEngine {
        name: "ring".to_owned(),
        slots: 1,
        scope: EngineScope::Device(NodeId(device)),
    };
    assert_eq!(plan.engines(), [engine(4), engine(2), engine(7)]);
}

/// Sets of devices whose part a chunk holds, followed through the steps: at the end every chunk of every device holds all,
/// and what was added was never there already.
#[test]
fn every_device_ends_with_every_sum() {
    for n in 2..=9_usize {
        // held[device][chunk]: one bit for each device.
        let mut held: Vec<Vec<u32>> = (0..n).map(|device| vec![1 << device; n]).collect();
        for step in 0..2 * (n - 1) {
            let before = held.clone();
            for position in 0..n {
                let (next, chunk) = ((position + 1) % n, chunk(n, position, step));
                let sent = before[position][chunk];
                if step < n - 1 {
                    assert_eq!(before[next][chunk] & sent, 0, "added twice");
                    held[next][chunk] |= sent;
                } else {
                    held[next][chunk] = sent;
                }
            }
        }
        assert!(held.iter().flatten().all(|&parts| parts == (1 << n) - 1), "{held:?}");
    }
}

#[test]
fn chunks_are_of_whole_bytes_and_cover_the_size() {
    for (n, size) in [(2, 1), (3, 7), (4, 64 << 20), (5, 4), (7, 1 << 53)] {
        let devices: Vec<u32> = (0..n).collect();
        let plan = plan(&operation(&format!("{devices:?}"), size, 0), &FAST);
        for of_step in plan.iter().collect::<Vec<_>>().chunks(n as usize) {
            let bytes: Vec<u64> = of_step.iter().map(|task| carried(task).2).collect();
            assert_eq!(bytes.iter().sum::<u64>(), size);
            let (floor, ceil) = (size / u64::from(n), size.div_ceil(u64::from(n)));
            assert!(bytes.iter().all(|&b| b == floor || b == ceil) && bytes.contains(&ceil), "{bytes:?}");
        }
    }
}

/// When the plan's last byte arrives, in ps, where no two sends share a link: begun after the latency, and never before the
/// device's own send of the step before has left. Tasks without bytes take no time.
fn arrival_of_the_last(plan: &Plan, routes: &Routes) -> f64 {
    let n = plan.engines().len();
    let mut left: Vec<f64> = Vec::new();
    let mut arrived: Vec<f64> = Vec::new();
    for (at, task) in plan.iter().enumerate() {
        let ready = task.waits.first().map_or(0.0, |wait| arrived[wait.task as usize]);
        let begun = (ready + task.lead_ps).max(at.checked_sub(n).map_or(0.0, |before| left[before]));
        let (from, to, bytes) = carried(&task);
        let route = routes.route(NodeId(from), NodeId(to)).expect("has a route");
        left.push(begun + bytes as f64 / route.bandwidth * PS_PER_S);
        arrived.push(left[at] + if bytes == 0 { 0.0 } else { route.latency_ps });
    }
    arrived.into_iter().fold(0.0, f64::max)
}

/// Four devices, 100 bytes at 1 byte per ps, 5 ps and 3 ps of latency: 6 · (5 + 25 + 3) = 198 ps. With 101 bytes one chunk
/// has 26: 204 ps.
#[test]
fn the_estimate_is_the_time_of_a_ring_on_its_own() {
    for (size, expected) in [(100, 198.0), (101, 204.0)] {
        let operation = operation("[0,1,2,3]", size, 5);
        let estimate = estimate(&operation, &FAST);
        assert!((estimate.seconds * PS_PER_S - expected).abs() < 1e-9, "{}", estimate.seconds);
        assert_eq!((estimate.formula.as_str(), estimate.relation), ("ring", Relation::AtLeast));
        assert!(estimate.because.contains("Patarasu and Yuan"), "{}", estimate.because);
        assert_eq!(arrival_of_the_last(&plan(&operation, &FAST), &FAST), expected);
    }
}

#[test]
fn the_relation_holds_wherever_it_is_claimed() {
    for n in 2..=6 {
        let devices: Vec<u32> = (0..n).collect();
        for (size, latency) in [(1, 0), (2, 7), (5, 1), (6, 100), (60, 0), (1001, 13)] {
            let operation = operation(&format!("{devices:?}"), size, latency);
            let estimate = estimate(&operation, &FAST);
            let simulated = arrival_of_the_last(&plan(&operation, &FAST), &FAST);
            assert!(simulated >= estimate.seconds * PS_PER_S - 1e-9, "{n} {size} {latency}: {simulated}");
        }
    }
}

/// The slow device sends 25 bytes in 100 ps six times, and its next send is ready meanwhile: 5 + 6 · 100 + 3 and a little,
/// less than the formula's 6 · (5 + 100 + 3).
#[test]
fn nothing_is_claimed_of_routes_that_differ() {
    let routes = Routes { bandwidth: 1e12, slow: Some(NodeId(2)) };
    let operation = operation("[0,1,2,3]", 100, 5);
    let estimate = estimate(&operation, &routes);
    assert_eq!(estimate.relation, Relation::Unstated);
    assert!((estimate.seconds * PS_PER_S - 648.0).abs() < 1e-9, "{}", estimate.seconds);
    let simulated = arrival_of_the_last(&plan(&operation, &routes), &routes);
    assert!((608.0..648.0).contains(&simulated), "{simulated}");
}

#[test]
fn what_is_no_ring_is_refused_at_its_key() {
    assert_eq!(refusal(&operation("[3]", 8, 0)), "devices: a ring has at least 2, not 1; name more");
    let twice = refusal(&operation("[1,2,3,2]", 8, 0));
    assert_eq!(twice, "devices: device 2 of the list is there twice; name each device once");
    let lost = refusal(&operation("[1,2,9]", 8, 0));
    assert!(lost.starts_with("devices: there is no route from device 2 of the list to device 3"), "{lost}");
    assert!(refusal(&operation("[1,2]", 0, 0)).starts_with("size: "));
    let many: Vec<u32> = (10..2247).collect();
    let many = refusal(&operation(&format!("{many:?}"), 8, 0));
    assert!(many.starts_with("devices: 2237 make 10003864 tasks, and 10000000 are the most"), "{many}");
    assert!(refusal("{}").contains("not as the schema says"));
}
