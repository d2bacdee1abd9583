//! Programs: the LogGOPS network beside the times of its own simulator, messages over the fabric beside closed forms, refusals.

use std::path::Path;

use crate::common::*;
use crate::program_files::SMALL;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The parameters of every sample: L = 2500, o = 1500, g = 1000 ns, G = 6 ns, O = 0, S = 65535 B; in ps.
pub fn message() -> Value {
    json!({ "latency": 2_500_000, "overhead": 1_500_000, "gap": 1_000_000, "per_byte": 6000.0 })
}

pub fn goal(text: &str) -> Value {
    json!({ "file": named(json!([text])), "format": "goal", "message": message() })
}

/// The end of each rank, ns, and that the simulation comes to the last of them.
fn rank_ends(text: &str) -> Vec<u64> {
    let world = World::small(1e9, 0);
    equal(&world, "program", &goal(text));
    let ends = details(&world, "program", &goal(text))["rank_ends_s"].clone();
    let ends: Vec<f64> = serde_json::from_value(ends).expect("a list");
    ends.iter().map(|seconds| (seconds * 1e9).round() as u64).collect()
}

/// A sample beside the project, with what LogGOPSim printed for it.
fn sample(name: &str) -> Option<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces/goal");
    let read = |ending: &str| std::fs::read_to_string(folder.join(format!("{name}.{ending}"))).ok();
    let found = Some((read("goal")?, read("out")?));
    if found.is_none() {
        eprintln!("left out: {name} is not there");
    }
    found
}

#[test]
fn samples_of_loggopsim_end_when_it_says() {
    for name in ["allreduce_ring-8-1048576", "linear_alltoall-8-4096", "binomialtreereduce-16-65536"] {
        let Some((program, printed)) = sample(name) else { return };
        let host = |line: &str| line.strip_prefix("Host ")?.split_once(": ")?.1.parse().ok();
        let expected: Vec<u64> = printed.lines().filter_map(host).collect();
        assert!(expected.len() >= 8);
        assert_eq!(rank_ends(&program), expected, "{name}");
    }
    let Some((program, _)) = sample("binary_tree_32") else { return };
    assert_eq!(rank_ends(&program).iter().max(), Some(&27_500));
}

/// One eager message of 1001 B: o; o + L later its first byte is there, and taking it in lasts o + 1000 G.
#[test]
fn one_message_by_hand() {
    let ends =
        rank_ends("num_ranks 2\nrank 0 {\nl1: send 1001b to 1 tag 3\n}\nrank 1 {\nl1: recv 1001b from 0 tag 3\n}\n");
    assert_eq!(ends, [1_500, 1_500 + 2_500 + 1_500 + 6_000]);
}

/// With an o and O of the receiver's own: the flight has the o of the sender, and taking a byte in lasts O where that exceeds G.
#[test]
fn the_receiver_may_have_another_overhead() {
    let text = "num_ranks 2\nrank 0 {\na: send 1001b to 1\n}\nrank 1 {\na: recv 1001b from 0\n}\n";
    let ends = |per_byte: u64| {
        let mut params = goal(text);
        params["message"]["receive_overhead"] = json!(400_000);
        params["message"]["receive_overhead_per_byte"] = json!(per_byte);
        let world = World::small(1e9, 0);
        equal(&world, "program", &params);
        details(&world, "program", &params)["rank_ends_s"].clone()
    };
    assert_eq!(ends(0), json!([1.5e-6, 10.4e-6]));
    assert_eq!(ends(8_000), json!([1.5e-6, 12.4e-6]));
}

/// A second send of the rank waits for the gap, g + 1000 G behind the begin of the first; a computation does not.
#[test]
fn interfaces_have_a_gap_and_processors_do_not() {
    let text = "num_ranks 3
rank 0 {
a: send 1001b to 1
b: send 1b to 2
c: calc 100
}
rank 1 {
a: recv 1001b from 0
}
rank 2 {
a: recv 1b from 0
}
";
    // c runs while b waits for the interface; b begins at 7000 and arrives 4000 later.
    assert_eq!(rank_ends(text), [7_000 + 1_500, 11_500, 7_000 + 4_000 + 1_500]);
}

/// A large send is done when its message meets the receive, here at 50,000; an eager one at once.
#[test]
fn rendezvous_waits_for_the_receive() {
    let text = |bytes: u64| {
        format!(
            "num_ranks 2\nrank 0 {{\na: send {bytes}b to 1\nb: calc 10\nb requires a\n}}\nrank 1 {{\na: calc 50000\nb: recv {bytes}b from 0\nb requires a\n}}\n"
        )
    };
    assert_eq!(rank_ends(&text(65_535))[0], 1_510);
    // The processor of rank 1 takes the message in once it has computed.
    assert_eq!(rank_ends(&text(65_536)), [50_010, 50_000 + 1_500 + 65_535 * 6]);
}

/// A receive that becomes free while its processor takes in a message is posted behind that, as in LogGOPSim: rank 2 takes in
/// the message of rank 0 from 4000 to 425,494, and its own send has met its receive at 20,000.
#[test]
fn a_receive_is_posted_by_a_free_processor() {
    let text = "num_ranks 3
rank 0 {
a: send 70000b to 2 tag 1
}
rank 1 {
a: calc 20000
b: recv 70000b from 2 tag 2
b requires a
}
rank 2 {
a: send 70000b to 1 tag 2
b: recv 70000b from 0 tag 1
b requires a
}
";
    let taken_in = 1_500 + 69_999 * 6;
    assert_eq!(rank_ends(text), [4_000 + taken_in, 20_000 + taken_in, 4_000 + taken_in]);
}

/// `irequires` waits for the begin; a receive from any rank takes what comes first.
#[test]
fn begins_and_any_source() {
    let text = "num_ranks 3 // three
rank 0 {
a: calc 1000 /* long
comment */
b: calc 5 cpu 1
b irequires a
}
rank 1 {
a: calc 9000
b: send 1b to 2 tag 5
b requires a
}
rank 2 {
a: recv 1b from -1 tag -1
b: calc 70
b requires a
c: recv 1b from 0 tag 1
}
";
    let world = World::small(1e9, 0);
    let lacks = refusal(&world, "program", &goal(text));
    assert!(lacks.contains("rank 2, line 17: receive 1 B from rank 0, tag 1 has no send"), "{lacks}");
    let text = text.replace("c: recv 1b from 0 tag 1\n", "");
    assert_eq!(rank_ends(&text), [1_000, 10_500, 9_000 + 4_000 + 1_500 + 70]);
}

pub fn over_fabric(text: &str, message: Value, ranks: &[u32]) -> Value {
    json!({ "file": named(json!([text])), "format": "goal", "message": message, "ranks": ranks })
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let world = World::small(1e9, 0);
    let rank = |body: &str| format!("num_ranks 2\nrank 0 {{\n{body}\n}}\n");
    for (text, words) in [
        ("", "no `num_ranks`"),
        ("num_ranks 0\n", "line 1: 0 ranks"),
        ("num_ranks 2\n", "no rank sends, receives or computes"),
        ("num_ranks 1\nrank 1 {\n}\n", "line 2: rank 1 of 1"),
        ("num_ranks 1\nrank 0 {\na: calc 1\n", "ends within rank 0"),
        ("num_ranks 2\na: calc 1\n", "line 2: `a:` stands outside"),
        ("/* */ /*\n*/ num_ranks 1\n/* x\nrank 0 {\n}\n", "line 3: a comment begins that does not end"),
        ("num_ranks 1 /* a\n*/ /* b\n\n", "line 2: a comment begins that does not end"),
        (&rank("a: calc -5"), "line 3: the time in ns is `-5`; give a whole number"),
        ("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n", "line 4: rank 0 has its operations on line 2"),
        (&rank("a: send 1b to 2\n"), "ranks are 0 to 1"),
        (&rank("a: send 1b to 0\n"), "to or from itself"),
        (&rank("a: send 1 to 1\n"), "`1` is no size"),
        (&rank("a: append 5b to 1\n"), "Portals dialect"),
        (&rank("a: frobnicate\n"), "no operation is named `frobnicate`"),
        (&rank("a: calc 1\nb: calc 1\na requires c\n"), "line 5: no operation before this line has the label `c`"),
        (&rank("a: calc 1\na: calc 1\n"), "line 4: the label `a` is given twice"),
        (&rank("a: calc 1 speed 3\n"), "`speed` is not known here; there are cpu and nic"),
        (&rank("a: calc 1 tag 3\n"), "line 3: `tag` is not known here; there are cpu and nic"),
        (&rank("a: send 1b to 1 speed 3\n"), "`speed` is not known here; there are tag, cpu and nic"),
        (&rank("a: send 1b to 1 tag 1 tag 2\n"), "line 3: `tag` is given twice; remove one of them"),
        (&rank("a: calc 1 cpu 1 nic 0 cpu 1\n"), "line 3: `cpu` is given twice"),
        (&rank("a: send 1b to 1\n"), "rank 0, line 3: send 1 B to rank 1, tag 0 has no receive"),
        (
            &rank("a: calc 1\nb: calc 1\na requires b\nb requires a\n"),
            "a deadlock: rank 0, line 3: compute, which waits for rank 0, line 4",
        ),
    ] {
        for message in [message(), json!({})] {
            let ranks = if text.contains("num_ranks 1") { vec![GPU_A] } else { vec![GPU_A, GPU_B] };
            let params = over_fabric(text, message, &ranks);
            let said = refusal(&world, "program", &params);
            assert!(said.starts_with("file: ") && said.contains(words), "{text}: {said}");
        }
    }
}

/// Two large sends that wait for each other's receives: both are named.
#[test]
fn a_rendezvous_in_a_circle_is_a_deadlock() {
    let world = World::small(1e9, 0);
    let text = "num_ranks 2
rank 0 {
a: send 100000b to 1
b: recv 100000b from 1
b requires a
}
rank 1 {
a: send 100000b to 0
b: recv 100000b from 0
b requires a
}
";
    for params in [goal(text), over_fabric(text, json!({}), &[GPU_A, GPU_B])] {
        let said = refusal(&world, "program", &params);
        assert!(
            said.contains("rank 0, line 3: send 100000 B to rank 1, tag 0, which waits for rank 1, line 9"),
            "{said}"
        );
    }
    let mut eager = goal(text);
    eager["message"]["eager"] = json!(100_000);
    assert!(time_of(&world, "program", &eager) > 0);
}

/// A program in which every message has both ends: rank, other rank, size, time before it, and whether the receive comes late.
pub fn any_program() -> impl Strategy<Value = String> {
    let message = (0_usize..4, 1_usize..4, 0_u64..100_000, 0_u64..20_000, any::<bool>());
    prop::collection::vec(message, 1..24).prop_map(|messages| {
        let mut ranks = vec![String::new(); 4];
        for (k, (from, by, bytes, calc, waits)) in messages.into_iter().enumerate() {
            let to = (from + by) % 4;
            ranks[from] +=
                &format!("c{k}: calc {calc}\ns{k}: send {bytes}b to {to} tag {}\ns{k} requires c{k}\n", k % 3);
            ranks[to] += &format!(
                "r{k}: recv {bytes}b from {from} tag {}\nd{k}: calc {calc} cpu {}\nd{k} requires r{k}\n",
                k % 3,
                k % 2
            );
            if waits {
                ranks[to] += &format!("e{k}: calc 7\nf{k}: calc 3\nf{k} irequires e{k}\n");
            }
        }
        let bodies = ranks.iter().enumerate().map(|(rank, body)| format!("rank {rank} {{\n{body}}}\n"));
        format!("num_ranks 4\n{}", bodies.collect::<String>())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The waits of the plan say all that the LogGOPS network decided: the simulation comes to the same times.
    #[test]
    fn the_plan_takes_the_time_of_the_network(
        text in any_program(),
        overhead_per_byte in 0.0_f64..9000.0,
        receives in prop::option::of((0..3_000_000_u32, 0..9000_u32)),
        eager in 0_u64..100_000,
    ) {
        let mut params = goal(&text);
        params["message"]["overhead_per_byte"] = json!(overhead_per_byte.round());
        if let Some((overhead, per_byte)) = receives {
            params["message"]["receive_overhead"] = json!(overhead);
            params["message"]["receive_overhead_per_byte"] = json!(per_byte);
        }
        params["message"]["eager"] = json!(eager);
        equal(&World::small(1e9, 0), "program", &params);
    }

    /// Over the fabric every program ends, no earlier than what each rank computes one after the other.
    #[test]
    fn over_the_fabric_nothing_is_faster_than_its_computations(text in any_program(), eager in 0_u64..100_000) {
        let (world, ranks) = (World::small(1e9, 1_000), [CPU_A, FPGA_A, CPU_B, GPU_B]);
        let time = time_of(&world, "program", &over_fabric(&text, json!({ "eager": eager, "overhead": 1_000 }), &ranks));
        let computed = text.split("rank ").skip(1).map(|rank| {
            let calc = rank.lines().filter(|line| !line.contains("cpu 1")).filter_map(|line| line.split_once("calc ")?.1.split(' ').next()?.parse::<u64>().ok());
            calc.sum::<u64>() * 1000
        });
        prop_assert!(time >= computed.max().unwrap_or(0), "{}", time);
    }
}

/// The order in which a rank can begin its receives counts, not that of the file: both networks take the same messages.
#[test]
fn receives_match_in_the_order_in_which_they_begin() {
    let world = World::small(1e9, 0);
    let text = "num_ranks 2
rank 0 {
s1: send 100000b to 1
s2: send 100000b to 1
s2 requires s1
}
rank 1 {
a: recv 100000b from 0
b: recv 100000b from 0
a requires b
}
";
    assert!(time_of(&world, "program", &goal(text)) > 0);
    assert_eq!(time_of(&world, "program", &over_fabric(text, json!({}), &[GPU_A, GPU_B])), 2 * 100_000_000);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let (world, pair) = (World::small(1e9, 0), [GPU_A, GPU_B]);
    let of_goal = |text: String| over_fabric(&text, json!({}), &pair);
    let of_trace =
        |text: &str| json!({ "file": named(json!([text])), "format": "simgrid-ti", "ranks": pair, "flop_rate": 1e9 });
    let mut unread = of_goal(two("a: calc 1", ""));
    unread["size"] = json!(5);
    let long = json!({ "file": named(json!([two("a: send 9b to 1", "a: recv 9b from 0")])), "format": "goal", "message": { "per_byte": 8e18 } });
    for (params, words) in [
        (
            of_goal("num_ranks 2\nrank 1 {\na: calc 1\n}\nnum_ranks 1\n".to_owned()),
            "line 5: `num_ranks` is given twice",
        ),
        (of_goal("rank 0 {\n}\n".to_owned()), "line 1: `num_ranks` is missing"),
        (
            of_goal(two("a: send 9b to 1", "a: recv 5b from 0")),
            "rank 0, line 3: send 9 B to rank 1, tag 0, but rank 1, line 6: receive 5 B",
        ),
        (of_goal(two("a: calc 18446744073709551615", "")), "rank 0, line 3: compute for more than 100 days"),
        (of_goal(two("a: calc 99999999999999999999", "")), "give a smaller one"),
        (unread, "size: files of this format do not need it"),
        (long, "message: one of 9 B takes more than 100 days"),
        (of_trace("0 bcast 5 9\n1 bcast 5 9\n"), "`9` is no root; ranks are 0 to 1"),
        (of_trace("0 bcast 5 0 30\n1 bcast 5 0 30\n"), "no type of data"),
        (of_trace("0 comm_split 1\n1 compute 1\n"), "communicators of a part"),
        (of_trace("0 compute 1e300\n1 compute 1\n"), "compute for more than 100 days"),
        (
            json!({ "file": named(json!(["0 compute 1", "0 compute 1\n1 compute 1"])), "format": "simgrid-ti", "ranks": pair, "flop_rate": 1e9 }),
            "file: file1: line 1: rank 0 stands in file0, too",
        ),
        (
            json!({ "file": named(json!(["", ""])), "format": "chakra", "ranks": pair }),
            "file: file0: its file is empty",
        ),
        (
            json!({ "file": named(json!(["", "", ""])), "format": "chakra", "ranks": [1, 2] }),
            "file: file0: its file is empty",
        ),
        (
            json!({ "file": named(json!([SMALL.replace("DEP", "-1")])), "format": "msccl", "ranks": pair, "size": 0 }),
            "size: give at least 1B",
        ),
    ] {
        let said = refusal(&world, "program", &params);
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// A program of two ranks.
pub fn two(from: &str, to: &str) -> String {
    format!("num_ranks 2\nrank 0 {{\n{from}\n}}\nrank 1 {{\n{to}\n}}\n")
}

#[test]
fn a_unit_scales_the_counts_of_a_trace() {
    let world = World::star(2, 1e12, 0);
    let params = |unit: u64| json!({ "file": named(json!(["0 send 1 0 3\n1 recv 0 0 3\n"])), "format": "simgrid-ti", "ranks": [1, 2], "unit": unit });
    assert_eq!(time_of(&world, "program", &params(1000)), 3000);
    assert!(refusal(&world, "program", &params(0)).contains("unit: give at least 1B"));
    let mut goal = params(1);
    goal["format"] = json!("goal");
    assert!(refusal(&world, "program", &goal).contains("unit: files of this format do not need it"));
}

/// Of several files the one is named in which an operation stands; hosts are for staging.
#[test]
fn refusals_name_the_file_among_several() {
    let world = World::star(2, 1e12, 0);
    let params = json!({ "file": named(json!(["0 send 1 0 5", "1 compute 4"])), "format": "simgrid-ti", "ranks": [1, 2], "flop_rate": 1e9 });
    let said = refusal(&world, "program", &params);
    let wanted = "rank 0, file0, line 1: send 5 B to rank 1, tag 0 has no receive that matches it, and rank 1 receives from rank 0 \
                  nowhere and ends with file1, line 1: compute";
    assert!(said.contains(wanted), "{said}");
    let mut hosted = over_fabric(&two("a: send 5b to 1", "a: recv 5b from 0"), json!({}), &[1, 2]);
    hosted["hosts"] = json!([1, 2]);
    assert!(refusal(&world, "program", &hosted).contains("hosts: messages are not staged; add `staging: true`"));
}
