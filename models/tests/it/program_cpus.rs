//! The LogGOPS network where ranks have several processors and interfaces.

use std::fmt::Write as _;

use crate::common::*;
use crate::program::goal;
use crate::program_ties::ends;
use proptest::prelude::*;
use serde_json::{Value, json};

/// L = 1 µs and G = 1 ns; o, g and O are 0.
fn plain(eager: u64) -> Value {
    json!({ "latency": 1_000_000, "per_byte": 1000.0, "eager": eager })
}

/// Rank 1 posts both receives at once, on two processors, of which the first one computes for 100 µs. Without cpus for the sends
/// b follows a behind the gap; with them both leave at once.
fn two_receives(sizes: [u32; 2], [of_a, of_b]: [&str; 2]) -> String {
    let [a, b] = sizes;
    format!(
        "num_ranks 2
rank 0 {{
a: send {a}b to 1{of_a}
b: send {b}b to 1{of_b}
y: calc 10 cpu 1
y requires b
}}
rank 1 {{
c0: calc 100000 cpu 0
r1: recv {a}b from 0 cpu 0
r2: recv {b}b from 0 cpu 1
r2 irequires r1
x: calc 5000 cpu 2
x requires r1
z: calc 6000 cpu 3
z requires r2
}}
"
    )
}

/// b has been received when the processor of a's receive begins with a: it meets the second receive then, not the first one
/// before. r1 ends at 100,000 + 99 G, r2 at 100,000.
#[test]
fn messages_do_not_overtake_each_other() {
    let z = 100_000 + 6_000;
    assert_eq!(ends(&two_receives([100, 100], ["", ""]), plain(65_535)), [109, z]);
    // x is what ends last without z.
    let short = two_receives([100, 100], ["", ""]).replace("calc 6000", "calc 1");
    assert_eq!(ends(&short, plain(65_535)), [109, 100_099 + 5_000]);
    // Each receive has room for its own message alone.
    assert_eq!(ends(&two_receives([50, 100], ["", ""]), plain(65_535)), [59, z]);
    // Rendezvous: the send of b is done when its message meets its receive.
    let apart = two_receives([50, 100], ["", " cpu 1 nic 1"]);
    assert_eq!(ends(&apart, plain(0)), [100_010, z]);
}

/// r becomes free at 100 µs, when its processor has been computing since 50 µs and goes on until 1.05 ms: it is posted then, and
/// the send is done.
#[test]
fn a_receive_is_posted_when_its_own_processor_is_free() {
    let text = |before: &str| {
        format!(
            "num_ranks 2
rank 0 {{
s: send 100b to 1
z: calc 10
z requires s
}}
rank 1 {{
{before}
b: calc 1000000 cpu 1
b requires c
r: recv 100b from 0 cpu 1
r requires a
}}
"
        )
    };
    let after = |before: &str| ends(&text(before), plain(0));
    assert_eq!(after("a: calc 100000 cpu 0\nc: calc 50000 cpu 2"), [1_050_010, 1_050_000]);
    // What it begins with at that instant, before or after, does not keep it from being posted.
    for before in ["a: calc 100000 cpu 0\nc: calc 100000 cpu 2", "c: calc 100000 cpu 2\na: calc 100000 cpu 0"] {
        assert_eq!(after(before), [100_010, 1_100_000]);
    }
}

/// Messages of one tag between two ranks, one behind the other, each received by some processor and interface, with what these
/// compute before and what follows. The receives are posted in this order, too.
fn in_order() -> impl Strategy<Value = String> {
    let message = (1_u32..300, 0_u32..3, 0_u32..3, 0_u32..400, any::<bool>());
    prop::collection::vec(message, 1..12).prop_map(|messages| {
        let (mut sends, mut receives) = (String::new(), String::new());
        for (k, (bytes, cpu, nic, calc, waits)) in messages.into_iter().enumerate() {
            let _ = writeln!(sends, "s{k}: send {bytes}b to 1 cpu {nic} nic {cpu}");
            let _ = writeln!(receives, "c{k}: calc {calc} cpu {cpu}");
            let _ = writeln!(receives, "r{k}: recv {bytes}b from 0 cpu {cpu} nic {nic}");
            if let Some(before) = k.checked_sub(1) {
                let _ = writeln!(sends, "s{k} irequires s{before}");
                let _ = writeln!(receives, "r{k} {} r{before}", if waits { "requires" } else { "irequires" });
            }
            let _ = writeln!(receives, "d{k}: calc {calc} cpu {}\nd{k} requires r{k}", (cpu + 1) % 3);
        }
        format!("num_ranks 2\nrank 0 {{\n{sends}}}\nrank 1 {{\n{receives}}}\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Each receive has room for its own message alone, so that a larger one which overtakes is refused; and the simulation of
    /// the plan comes to the same times.
    #[test]
    fn the_kth_message_meets_the_kth_receive(text in in_order(), overhead in 0_u64..50_000, eager in 100_u64..400) {
        let mut params = goal(&text);
        params["message"] = json!({ "latency": 300_000, "overhead": overhead, "gap": 20_000, "per_byte": 1000.0, "eager": eager });
        equal(&World::small(1e9, 0), "program", &params);
    }
}
