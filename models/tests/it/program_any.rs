//! Programs with receives from any rank or with any tag: what they take, over the fabric and on the LogGOPS network.

use crate::common::*;
use crate::program::{any_program, goal, message, over_fabric, two};
use proptest::prelude::*;
use serde_json::{Value, json};

/// When a task ends, ps.
fn end_of(world: &World, params: &Value, name: &str) -> u64 {
    let plan = plan(world, "program", params);
    let outcome = run(world, &plan, "max-min");
    // The release of the operation comes first.
    outcome.tasks[plan.iter().position(|task| task.name == name).expect(name) + 1].end.0
}

/// How many receives have their message fixed before the run is told over the fabric, where it is so.
#[test]
fn receives_whose_messages_are_fixed_are_counted() {
    let world = World::star(3, 1e9, 0);
    let count = |from: i32, over: bool| {
        let text = format!(
            "num_ranks 2\nrank 0 {{\na: recv 10b from {from} tag 4\nb: recv 10b from 1 tag 5\n}}\nrank 1 {{\na: send 10b to 0 tag 4\nb: send 10b \
             to 0 tag 5\n}}\n"
        );
        let params = if over { over_fabric(&text, json!({}), &[1, 2]) } else { goal(&text) };
        details(&world, "program", &params)["fixed_receives"].clone()
    };
    assert_eq!([count(-1, true), count(1, true), count(-1, false)], [json!(1), Value::Null, Value::Null]);
}

/// Rank 0 takes what comes first, over the fabric as on the LogGOPS network: rank 2 sends at once, rank 1 after 1 µs. Each
/// message of 1000 B takes 1 µs, and L = 0.5 µs.
#[test]
fn receives_from_any_take_what_comes_first_over_the_fabric() {
    let world = World::star(3, 1e9, 0);
    let text = "num_ranks 3
rank 0 {
a: recv 2000b from -1 tag -1
b: recv 2000b from -1 tag 4
b requires a
c: calc 300
c requires a
}
rank 1 {
w: calc 1000
s: send 1000b to 0 tag 4
s requires w
}
rank 2 {
s: send 2000b to 0 tag 9
}
";
    let end = |text: &str, eager: u64, name: &str| {
        let message = json!({ "latency": 500_000, "eager": eager });
        end_of(&world, &over_fabric(text, message, &[1, 2, 3]), name)
    };
    // That of rank 2 first: 2000 B, of which the last half shares the link into rank 0 with the other message. 1000 B go
    // alone, then 1000 B at half of the rate beside the 1000 B of rank 1.
    assert_eq!(end(text, 65_535, "r0.3.recv"), 1_000_000 + 2_000_000 + 500_000);
    assert_eq!(end(text, 65_535, "r0.6.calc"), 3_500_000 + 300_000);
    // The message of rank 1 has come by then.
    assert_eq!(end(text, 65_535, "r0.4.recv"), 3_500_000);
    // Rendezvous: that of rank 1 goes once its receive is posted, at 2 + 0.5 µs.
    assert_eq!(end(text, 0, "r0.3.recv"), 2_500_000);
    assert_eq!(end(text, 0, "r0.4.recv"), 2_500_000 + 1_000_000 + 500_000);
    // Rank 1 earlier than rank 2, whose tag the second receive does not take.
    let late = text.replace("rank 2 {\n", "rank 2 {\nw: calc 5000\n").replace("tag 9\n", "tag 9\ns requires w\n");
    let said = refusal(&world, "program", &over_fabric(&late, json!({}), &[1, 2, 3]));
    assert!(
        said.contains(
            "a deadlock: rank 0, line 4: receive 2000 B from any rank, tag 4, which waits for a message that nobody"
        ),
        "{said}"
    );
    let few = text.replace("b: recv 2000b from -1 tag 4\nb requires a\n", "");
    let said = refusal(&world, "program", &over_fabric(&few, json!({}), &[1, 2, 3]));
    assert!(said.contains("rank 1, line 9: send 1000 B to rank 0, tag 4 has no receive"), "{said}");
    let small = text.replace("a: recv 2000b", "a: recv 1999b");
    let said = refusal(&world, "program", &over_fabric(&small, json!({}), &[1, 2, 3]));
    assert!(said.contains("send 2000 B to rank 0, tag 9, but rank 0, line 3: receive 1999 B"), "{said}");
}

/// The receive from any rank takes the message of rank 0, for which the one behind it waits: both ends are named.
#[test]
fn what_a_receive_from_any_rank_has_taken_is_named() {
    let text = "num_ranks 3
rank 0 {
s: send 10b to 2 tag 1
}
rank 1 {
c: calc 5000
s: send 10b to 2 tag 1
s requires c
}
rank 2 {
r: recv 10b from -1 tag 1
q: recv 10b from 0 tag 1
q requires r
}
";
    for message in [json!({}), message()] {
        let said = refusal(&World::star(3, 1e12, 0), "program", &over_fabric(text, message, &[1, 2, 3]));
        assert_eq!(
            said,
            "file: rank 2, line 12: receive 10 B from rank 0, tag 1 has no send that matches it, and what rank 0 sends to \
             rank 2 is matched by others, as rank 0, line 3: send 10 B to rank 2, tag 1 by line 11: receive 10 B from any \
             rank, tag 1; add one, or correct it"
        );
    }
}

/// A receive from any rank with any tag takes no message of a collective: rank 1 is in the all-reduce long before rank 2 has
/// computed for 1 ms and sends.
#[test]
fn receives_from_any_leave_collectives_alone() {
    let world = World::star(3, 1e12, 0);
    let trace =
        "0 recv -1 -1 1000\n0 allreduce 8 0\n1 allreduce 8 0\n2 compute 1000000\n2 send 0 5 1000\n2 allreduce 8 0\n";
    let end = |trace: &str, message: Value| {
        let params = json!({ "file": named(json!([trace])), "format": "simgrid-ti", "ranks": [1, 2, 3], "flop_rate": 1e9,
            "message": message });
        end_of(&world, &params, "r0.1.recv")
    };
    // Over the fabric 1000 B at 1 B/ps, beside the 8 B that rank 2 sends for the all-reduce at once; on the LogGOPS network
    // o + L + o + 999 G.
    for trace in [trace, &trace.replace("recv -1", "recv 2")] {
        assert_eq!(end(trace, json!({})), 1_000_000_000 + 1_000 + 8);
        assert_eq!(end(trace, message()), 1_000_000_000 + 1_500_000 + 2_500_000 + 1_500_000 + 999 * 6_000);
    }
    // Both wait for the receive, and that of the collective has come first.
    let late = format!("0 compute 2000000\n{trace}");
    let params = json!({ "file": named(json!([late])), "format": "simgrid-ti", "ranks": [1, 2, 3], "flop_rate": 1e9 });
    assert_eq!(end_of(&world, &params, "r0.2.recv"), 2_000_000_000);
    // From rank 1 with any tag: posted before the message of the collective comes, and behind it.
    let own = "0 irecv 1 -1 1000\n0 allreduce 8 0\n0 waitall\n1 allreduce 8 0\n1 send 0 5 1000\n2 allreduce 8 0\n";
    for trace in [own.to_owned(), format!("0 compute 2000000\n{own}")] {
        for message in [json!({}), message()] {
            let params = json!({ "file": named(json!([trace])), "format": "simgrid-ti", "ranks": [1, 2, 3],
                "flop_rate": 1e9, "message": message });
            assert!(time_of(&world, "program", &params) > 0);
        }
    }
}

/// The processor of rank 1 needs 1 µs for each message, so that its second one leaves 4 µs after the begin, and that of rank 2
/// after 3.5 µs. SimGrid's own words for any rank and any tag are known, too.
#[test]
fn receives_from_any_know_that_processors_are_busy() {
    let world = World::star(3, 1e12, 0);
    let sends = "1 compute 1000\n1 isend 0 0 100\n1 compute 1000\n1 isend 0 0 100\n1 waitall\n2 compute 2500\n2 isend 0 0 100\n2 waitall\n";
    for any in ["-1 0", "-555 0", "-555 -444"] {
        let trace = format!("{sends}0 recv {any} 100\n0 recv {any} 100\n0 recv 1 0 100\n");
        let params = json!({ "file": named(json!([trace])), "format": "simgrid-ti", "ranks": [1, 2, 3], "flop_rate": 1e9,
            "message": { "overhead": 1_000_000 } });
        // 2 µs, 3.5 µs and 4 µs; 100 B at 1 B/ps, and 1 µs at the receiver, whose processor takes one after the other.
        for (line, end) in [(9, 3_000_100), (10, 4_500_100), (11, 5_500_100)] {
            assert_eq!(end_of(&world, &params, &format!("r0.{line}.recv")), end, "{any}, line {line}");
        }
    }
}

/// A wait names its receive as that did, with words of SimGrid, too.
#[test]
fn a_wait_knows_the_receive_from_any() {
    let world = World::star(2, 1e9, 0);
    for any in ["-555 -444", "-1 -1", "0 -444", "-555 7"] {
        let (from, tag) = any.split_once(' ').expect("two words");
        let trace = format!("0 send 1 7 1000\n1 irecv {any} 1000\n1 wait {from} 1 {tag}\n1 compute 1000\n");
        let params =
            json!({ "file": named(json!([trace])), "format": "simgrid-ti", "ranks": [1, 2], "flop_rate": 1e9 });
        assert_eq!(time_of(&world, "program", &params), 1_000_000 + 1_000_000, "{any}");
    }
}

/// SimGrid's own example of a gather: 68 doubles of each rank, and a type of data for each side. Of rank 1 alone they cross a link.
#[test]
fn sizes_of_a_trace_are_in_its_types_of_data() {
    let world = World::star(2, 1e9, 0);
    let params = |text: &str| json!({ "file": named(json!([text])), "format": "simgrid-ti", "ranks": [1, 2] });
    let time = |text: &str| time_of(&world, "program", &params(text));
    assert_eq!(time("0 gather 68 68 0 0 0\n1 gather 68 68 0 0 0\n"), 68 * 8 * 1000);
    assert_eq!(time("0 gather 68 68 0 1 1\n1 gather 68 68 0 1 1\n"), 68 * 4 * 1000);
    // 100 doubles are sent as 200 float.
    assert_eq!(time("0 send 1 0 100 0\n1 recv 0 0 200 5\n"), 800 * 1000);
}

/// GOAL has no collectives: a receive with any tag takes the highest tags, too.
#[test]
fn tags_of_goal_are_all_its_own() {
    let text = two("a: send 5b to 1 tag 4294967294", "a: recv 5b from -1 tag -1");
    for params in [goal(&text), over_fabric(&text, json!({}), &[CPU_A, CPU_B])] {
        assert!(time_of(&World::small(1e9, 0), "program", &params) > 0);
    }
}

/// The receive from any takes the first message, so that the second one is for the receive that names its rank: the sizes fit.
#[test]
fn sizes_are_those_of_the_messages_that_meet() {
    let world = World::small(1e9, 0);
    let text = two(
        "a: recv 2000b from -1 tag 4\nb: recv 1000b from 1 tag 4\nb requires a",
        "a: send 2000b to 0 tag 4\nb: send 1000b to 0 tag 4\nb requires a",
    );
    let small = text.replace("recv 2000b", "recv 1999b");
    for of in [goal, |text: &str| over_fabric(text, json!({}), &[CPU_A, CPU_B])] {
        assert!(time_of(&world, "program", &of(&text)) > 0);
        let said = refusal(&world, "program", &of(&small));
        let wanted = "rank 1, line 8: send 2000 B to rank 0, tag 4, but rank 0, line 3: receive 1999 B from any rank";
        assert!(said.contains(wanted), "{said}");
    }
}

/// Staged, a send is done once its bytes are in host memory: after 10 ns of 30, at 1 B/ps. The second message of rank 1 thus
/// begins at 10 ns, behind that of rank 2 or before it. Each receive has room for its own message alone.
#[test]
fn staged_sends_end_with_the_copy_to_the_host() {
    let world = World::star(6, 1e12, 0);
    let receives = |second: u32, third: u32| {
        format!("a: recv 10000b from -1 tag -1\nb: recv {second}b from -1 tag -1\nc: recv {third}b from -1 tag -1")
    };
    let time = |calc: u64, eager: u32, receives: String| {
        let sends = "a: send 10000b to 0\nb: send 2000b to 0\nb requires a";
        let late = format!("w: calc {calc}\ns: send 1000b to 0\ns requires w");
        let text = format!("num_ranks 3\nrank 0 {{\n{receives}\n}}\nrank 1 {{\n{sends}\n}}\nrank 2 {{\n{late}\n}}\n");
        let params = json!({ "file": named(json!([text])), "format": "goal", "ranks": [1, 2, 3], "hosts": [4, 5, 6],
            "message": { "staging": true, "eager": eager } });
        time_of(&world, "program", &params)
    };
    for eager in [0, 65_535] {
        assert!(time(5, eager, receives(1000, 2000)) > 0);
        assert!(time(20, eager, receives(2000, 1000)) > 0);
    }
}

/// Both messages of rank 0 have come when rank 1 has computed for 1 ms, that with tag 5 first: a receive from rank 0 with any tag
/// takes it, and leaves that with tag 3 to the next one. Taking in 1 B lasts o.
#[test]
fn a_receive_with_any_tag_takes_the_first_message_of_its_rank() {
    let text = two(
        "a: send 1b to 1 tag 5\nb: send 1b to 1 tag 3\nb requires a",
        "c: calc 1000000\na: recv 1b from 0 tag -1\na requires c\nb: recv 1b from 0 tag 3\nb requires a",
    );
    let world = World::small(1e9, 0);
    assert_eq!(time_of(&world, "program", &goal(&text)), 1_000_000_000 + 2 * 1_500_000);
}

/// 9 B at 1e18 ps each are below 100 days, 8.64e18 ps, and with a latency of 1e18 ps above.
#[test]
fn a_message_lasts_its_bytes_and_its_latency() {
    let world = World::small(1e9, 0);
    let mut params = goal(&two("a: send 9b to 1", "a: recv 9b from 0"));
    params["message"] = json!({ "per_byte": 1e18, "latency": 1e18 });
    let said = refusal(&world, "program", &params);
    assert!(said.contains("message: one of 9 B takes more than 100 days"), "{said}");
}

proptest! {
    /// A receive from any rank whose tag only one message has takes that one: the time is that of the receive which names it.
    #[test]
    fn receives_from_any_with_a_tag_of_their_own_change_nothing(text in any_program(), eager in 0_u64..100_000) {
        let each = text.lines().map(|line| match line.split_once(" tag ") {
            Some((head, _)) => {
                // The k-th message has the k-th tag: `s7` and `r7`.
                let tag = head[1..].split(':').next().expect("a label");
                format!("{head} tag {tag}\n")
            }
            None => format!("{line}\n"),
        });
        let named: String = each.collect();
        let any = (0..4).fold(named.clone(), |text, rank| text.replace(&format!(" from {rank} "), " from -1 "));
        let (world, ranks) = (World::small(1e9, 1_000), [CPU_A, FPGA_A, CPU_B, GPU_B]);
        let time = |text: &str| time_of(&world, "program", &over_fabric(text, json!({ "eager": eager, "overhead": 1_000 }), &ranks));
        prop_assert_eq!(time(&named), time(&any));
    }
}
