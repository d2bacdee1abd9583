//! Links that change: the order of lines decides nothing.

use proptest::prelude::*;
use weir::{Input, Scenario};

const TWO: &str = "weir: 1
topology:
  link_types: { x: { bandwidth: 10GB/s, kind: network } }
  tree: { s: { kind: switch, children: { \"g[0-2]\": { kind: gpu, link: x } } } }
arbiter: max-min
workload:
  - transfer: { id: a, from: g0, to: g1, size: 60MB }
  - transfer: { id: b, from: g0, to: g2, size: 30MB, start: 1ms }
events:
";

fn makespan(events: &[String]) -> u64 {
    let lines: String = events.iter().map(|event| format!("  - {event}\n")).collect();
    let scenario =
        Scenario::opener().load(Input::text(format!("{TWO}{lines}"), "events.yaml", None)).expect("is right");
    scenario.run().expect("ends").makespan().0
}

fn bandwidth() -> impl Strategy<Value = String> {
    prop_oneof![
        (1..20_u32).prop_map(|of| format!("{of}GB/s")),
        (10..90_u32).prop_map(|part| format!("{part}%")),
        Just("down".to_owned()),
    ]
}

/// An event that ends, so that the run does; `number` tells seeds apart.
fn event() -> impl Strategy<Value = String> {
    let (at, lasts) = (0..8_u32, 1..5_u32);
    prop_oneof![
        3 => (at, lasts, 0..3_u32, bandwidth()).prop_map(|(at, lasts, node, bandwidth)| {
            format!("{{ at: {at}ms, for: {lasts}ms, link: [g{node}, s], bandwidth: {bandwidth} }}")
        }),
        1 => (1..5_u32, 1..3_u32, bandwidth())
            .prop_map(|(up, down, bandwidth)| {
                format!("{{ failures: {{ mtbf: {up}ms, mttr: {down}ms, bandwidth: {bandwidth}, seed: SEED }} }}")
            }),
        1 => (10..90_u32, 1..4_u32, any::<bool>()).prop_map(|(share, on, random)| {
            let seed = if random { ", seed: SEED" } else { "" };
            format!("{{ load: {{ share: {share}%, on: {on}ms, off: 2ms{seed} }} }}")
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn lines_of_events_may_stand_in_any_order(
        (events, other) in prop::collection::vec(event(), 1..7).prop_map(|events| {
            // Items with one seed have random numbers by their order.
            let own = |(at, event): (usize, String)| event.replace("SEED", &at.to_string());
            events.into_iter().enumerate().map(own).collect::<Vec<_>>()
        }).prop_flat_map(|events| (Just(events.clone()), Just(events).prop_shuffle())),
    ) {
        prop_assert_eq!(makespan(&events), makespan(&other), "{:?} {:?}", events, other);
    }
}

/// 60 MB over the narrower of 5 and 2 GB/s for 4 ms, 8 MB, then 52 MB at 10 GB/s, beside 30 MB of another from the same source:
/// 4 ms + (90 − 8) MB / 10 GB/s = 12.2 ms, whichever line is last.
#[test]
fn of_two_bandwidths_the_least_holds() {
    let of = |bandwidth: &str| format!("{{ at: 0s, for: 4ms, link: [g0, s], bandwidth: {bandwidth} }}");
    for events in [["5GB/s", "2GB/s"], ["2GB/s", "5GB/s"]] {
        assert_eq!(makespan(&events.map(of)), 12_200_000_000);
    }
    // A part multiplies it: 4 MB until then.
    for events in [["50%", "5GB/s", "2GB/s"], ["2GB/s", "50%", "5GB/s"]] {
        assert_eq!(makespan(&events.map(of)), 12_600_000_000);
    }
}
