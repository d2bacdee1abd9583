//! The LogGOPS network where several things happen at once: who is first as in LogGOPSim 1.2, and circles by time.

use crate::common::*;
use crate::program::goal;
use serde_json::{Value, json};

/// The end of each rank, ns, with a network of its own.
pub fn ends(text: &str, message: Value) -> Vec<u64> {
    let (world, mut params) = (World::small(1e9, 0), goal(text));
    params["message"] = message;
    equal(&world, "program", &params);
    let ends: Vec<f64> =
        serde_json::from_value(details(&world, "program", &params)["rank_ends_s"].clone()).expect("a list");
    ends.iter().map(|seconds| (seconds * 1e9).round() as u64).collect()
}

/// A begin and an end at one instant free the send and the computation together: the send goes first.
#[test]
fn what_a_begin_and_an_end_free_is_freed_together() {
    let freed = |first: &str, more: &str| {
        format!(
            "num_ranks 2\nrank 0 {{\na: {first}\ns: send 8b to 1\nc: calc 50000\ns requires a\nc irequires a\n}}\n\
             rank 1 {{\n{more}r: recv 8b from 0\n}}\n"
        )
    };
    let message = || json!({ "latency": 1_000_000, "overhead": 100_000, "per_byte": 0.0 });
    assert_eq!(ends(&freed("calc 1000", ""), message()), [51_100, 2_200]);
    // Of a send that comes first it is the same: the second one leaves at 100.
    let behind_send = freed("send 8b to 1 tag 1", "q: recv 8b from 0 tag 1\n");
    assert_eq!(ends(&behind_send, message()), [50_200, 1_300]);
}

/// Rank 1 is done with its large message when rank 0 posts the receive: the computation of rank 0 goes before the next send of
/// rank 1, as ranks do in their order.
#[test]
fn what_a_meeting_frees_goes_by_rank() {
    let text = "num_ranks 3
rank 0 {
l0: recv 10b from 2 tag 9
l1: recv 1000b from 1 tag 1
l2: calc 3000
l3: recv 1000b from 1 tag 2
l4: send 10b to 1 tag 3
l1 requires l0
l2 requires l1
l4 requires l2
}
rank 1 {
l0: send 1000b to 0 tag 1
l1: send 1000b to 0 tag 2
l2: recv 10b from 0 tag 3
l1 requires l0
}
rank 2 {
l0: calc 5000
l1: send 10b to 0 tag 9
l1 requires l0
}
";
    let message = json!({ "latency": 500_000, "overhead": 1_000_000, "per_byte": 0.0, "eager": 100 });
    assert_eq!(ends(text, message), [12_500, 13_000, 6_000]);
}

/// By time the third receive of rank 0 takes the message that its second one waits for: a circle, though every message has a
/// receive.
#[test]
fn a_circle_by_time_is_named() {
    let text = "num_ranks 2
rank 0 {
a: recv 8b from 1 tag 1
b: recv 8b from 1 tag 1
c: send 8b to 1
d: recv 8b from 1 tag 1
b requires a
c requires b
}
rank 1 {
a: send 8b to 0 tag 1
b: send 8b to 0 tag 1
c: recv 8b from 0
d: send 8b to 0 tag 1
c requires b
d requires c
}
";
    let said = refusal(&World::small(1e9, 0), "program", &goal(text));
    for part in [
        "a deadlock: ",
        "rank 0, line 4: receive",
        "rank 1, line 14: send",
        "rank 1, line 13: receive",
        "rank 0, line 5: send",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("nobody sends"), "{said}");
}
