//! Programs from MSCCL XML, traces of Chakra and of SimGrid: samples, small files by hand, and any bytes.

use std::path::Path;

use crate::common::*;
use crate::program::message;
use crate::protobuf::{attribute, block, framed, number};
use proptest::prelude::*;
use serde_json::{Value, json};
use weir_models::{ProgramFile, Unmatched};

/// Beside the project: the ring all-reduce that ASTRA-sim has as MSCCL XML, 8 chunks in 14 steps, on 8 devices below one switch.
#[test]
fn the_ring_of_msccl_takes_the_closed_form() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces/msccl");
    let Ok(text) = std::fs::read_to_string(folder.join("astra-ring-allreduce-8.xml")) else {
        return eprintln!("left out: the sample is not there");
    };
    let (world, ranks) = (World::star(8, 1e9, 500_000), (1..=8).collect::<Vec<u32>>());
    let params = json!({ "file": named(json!([text])), "format": "msccl", "ranks": ranks, "size": 8_000_000 });
    // Every step: a chunk of 1 MB over two links.
    assert_eq!(time_of(&world, "program", &params), 14 * (1_000_000_000 + 1_000_000));
    let seen = details(&world, "program", &params);
    assert_eq!((&seen["ranks"], &seen["messages"], &seen["bytes"]), (&json!(8), &json!(112), &json!(112_000_000)));
    let reduced =
        json!({ "file": named(json!([text])), "format": "msccl", "ranks": ranks, "size": 8_000_000, "reduce": 1e12 });
    assert_eq!(time_of(&world, "program", &reduced), 14 * (1_000_000_000 + 1_000_000) + 7 * 1_000_000);
    for (params, words) in [
        (
            json!({ "file": named(json!([text])), "format": "msccl", "ranks": ranks }),
            "size: this format needs the size",
        ),
        (
            json!({ "file": named(json!([text])), "format": "msccl", "ranks": ranks, "size": 9 }),
            "size: 9 B do not divide into 8 chunks",
        ),
        (
            json!({ "file": named(json!([&text[..4000]])), "format": "msccl", "ranks": ranks, "size": 8 }),
            "file: it is no XML",
        ),
        (
            json!({ "file": named(json!([text.replacen("\"rrc\"", "\"xyz\"", 1)])), "format": "msccl", "ranks": ranks, "size": 8 }),
            "file: line 5, column 7: no step has the type `xyz`",
        ),
        (
            json!({ "file": named(json!([text.replacen("<step", "<stp", 1)])), "format": "msccl", "ranks": ranks, "size": 8 }),
            "file: line 4, column 7: `stp` in `tb` is not known; there is `step`",
        ),
    ] {
        let said = refusal(&world, "program", &params);
        assert!(said.contains(words), "{said}");
    }
}

pub const SMALL: &str = r#"<algo name="x" nchunksperloop="2" ngpus="2" coll="allgather">
<gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
<tb id="0" send="1" recv="-1" chan="0"><step s="0" type="s" cnt="1" depid="1" deps="0" hasdep="0"/></tb>
<tb id="1" send="-1" recv="1" chan="0"><step s="0" type="r" cnt="1" depid="DEP" deps="0" hasdep="1"/></tb>
</gpu>
<gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
<tb id="0" send="0" recv="-1" chan="0"><step s="0" type="s" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb>
<tb id="1" send="-1" recv="0" chan="0"><step s="0" type="r" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb>
</gpu>
</algo>"#;

/// `weir import` knows a trace of SimGrid by its first action, whatever that is; no action is unknown when it is read.
#[test]
fn each_action_of_simgrid_may_be_the_first() {
    let actions = "init finalize comm_size comm_dup location send recv isend irecv wait waitall test compute sleep barrier bcast \
                   broadcast reduce allreduce alltoall alltoallv gather gatherv scatter scatterv allgather allgatherv reducescatter";
    for action in actions.split_whitespace() {
        match weir_models::program_file(&[("a.ti", format!("0 {action}\n").as_bytes())]) {
            Some(Ok(_)) => {}
            Some(Err(said)) => assert!(!said.contains("no action is named"), "{action}: {said}"),
            None => panic!("{action} begins no trace"),
        }
    }
}

/// The line of the first byte that no text has.
#[test]
fn what_is_no_text_is_said_with_its_line() {
    for (format, size) in [("goal", None), ("msccl", Some(8)), ("simgrid-ti", None)] {
        let file = named(json!([content(b"\xc3\xa4\n\n0 \xff\n\xff")]));
        let mut params = json!({ "file": file, "format": format, "ranks": [1] });
        size.into_iter().for_each(|size: u64| params["size"] = json!(size));
        let said = refusal(&World::star(1, 1e9, 0), "program", &params);
        assert!(said.contains("` is no text: line 3 has a byte that is no UTF-8; name a file"), "{format}: {said}");
    }
}

/// A step waits for a step of another thread block; in a circle that is a deadlock.
#[test]
fn steps_of_thread_blocks_wait_for_each_other() {
    let (world, ranks) = (World::star(2, 1e9, 0), (1..=2).collect::<Vec<u32>>());
    let params = |dep: &str| json!({ "file": named(json!([SMALL.replace("DEP", dep)])), "format": "msccl", "ranks": ranks, "size": 2_000_000 });
    // GPU 0 sends once it has received.
    assert_eq!(time_of(&world, "program", &params("-1")), 2 * 1_000_000_000);
    let said = refusal(&world, "program", &params("0"));
    assert!(said.contains("a deadlock: rank 0, line 3"), "{said}");
    let said = refusal(&world, "program", &params("7"));
    assert!(said.contains("line 4, column 40: thread block 7 of gpu 0 has no step 0"), "{said}");
    // In one line the place is that of the step.
    let one = |dep: &str| {
        let text = SMALL.replace("DEP", dep).replace('\n', " ");
        json!({ "file": named(json!([text])), "format": "msccl", "ranks": ranks, "size": 2_000_000 })
    };
    assert_eq!(time_of(&world, "program", &one("-1")), 2 * 1_000_000_000);
    let said = refusal(&world, "program", &one("0"));
    let wanted = "rank 0, line 1, thread block 0, step 0: send 1000000 B to rank 1, tag 0, which waits for rank 0, line 1, \
                  thread block 1, step 0: receive";
    assert!(said.contains(wanted), "{said}");
    let said = refusal(&world, "program", &one("7"));
    assert!(said.contains("line 1, column 259: thread block 7"), "{said}");
}

fn trace(text: &str) -> Value {
    let message = json!({ "latency": 1_000_000, "overhead": 0, "per_byte": 1000.0 });
    json!({ "file": named(json!([text])), "format": "simgrid-ti", "flop_rate": 1e9, "message": message })
}

/// 1 Gflop take 1 s; a message of s bytes 1 µs + (s − 1) ns at its receiver.
#[test]
fn traces_of_simgrid_by_hand() {
    let ends = |text: &str| {
        let world = World::small(1e9, 0);
        equal(&world, "program", &trace(text));
        let ends = details(&world, "program", &trace(text))["rank_ends_s"].clone();
        let ends: Vec<f64> = serde_json::from_value(ends).expect("a list");
        ends.iter().map(|seconds| (seconds * 1e9).round() as u64).collect::<Vec<_>>()
    };
    let one = ends("0 init\n1 init\n\n0 compute 1e6 # flop\np0 send 1 7 1001\n1 recv 0 7 1001\n0 finalize\n");
    assert_eq!(one, [1_000_000, 1_000_000 + 1_000 + 1_000]);
    // In doubles; the receive is open while rank 1 computes.
    let doubles =
        ends("0 init 1\n1 init 1\n0 send 1 0 125\n1 irecv 0 0 125\n1 compute 5e6\n1 wait 0 1 0\n1 compute 1e3\n");
    assert_eq!(doubles, [0, 5_000_000 + 999 + 1_000]);
    // Some writers have the number of messages behind `waitall`.
    let counted = ends("0 send 1 0 1001\n1 irecv 0 0 1001\n1 test 0 1 0\n1 waitall 1\n");
    assert_eq!(counted, [0, 1_000 + 1_000]);
    // A broadcast of 1 B among four: 0 to 2 and 1, 2 to 3.
    let all = ends("0 bcast 1\n1 bcast 1\n2 bcast 1\n3 bcast 1\n");
    assert_eq!(all, [0, 1_000, 1_000, 2_000]);
    // Down the same tree and up again: 3 to 2, 2 to 0; then as before.
    let all = ends("0 allreduce 1 0\n1 allreduce 1 0\n2 allreduce 1 0\n3 allreduce 1 0\n");
    assert_eq!(all.iter().max(), Some(&4_000));
}

/// All messages of a step are posted at once: with rendezvous three ranks that exchange would wait for each other for ever if
/// each sent before it received.
#[test]
fn messages_of_a_collective_of_simgrid_are_open_at_once() {
    let mut params = trace("0 alltoall 1000 1000\n1 alltoall 1000 1000\n2 alltoall 1000 1000\n");
    params["message"]["eager"] = json!(0);
    let time = time_of(&World::small(1e9, 0), "program", &params);
    assert!((1_000_000..10_000_000).contains(&time), "{time}");
}

#[test]
fn samples_of_simgrid_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces/simgrid-ti");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let Some(waitall) = read("actions_waitall.txt") else { return eprintln!("left out: the samples are not there") };
    let world = World::small(1e9, 0);
    let both = format!("{}{}", read("actions0.txt").unwrap(), read("actions1.txt").unwrap());
    for text in [
        waitall,
        both,
        read("actions_with_isend.txt").unwrap(),
        read("actions_allreduce.txt").unwrap(),
        read("actions_alltoallv.txt").unwrap(),
    ] {
        equal(&world, "program", &trace(&text));
    }
}

#[test]
fn what_is_wrong_in_a_trace_is_said_with_its_line() {
    let world = World::small(1e9, 0);
    for (text, words) in [
        ("\n# nothing\n", "no rank sends, receives or computes"),
        ("0 init\nx send 1 0 5\n", "line 2: `x` is no rank"),
        ("0 init\n0\n", "line 2: the line has no action"),
        ("0 frob 1\n", "line 1: no action is named `frob`"),
        ("0 send 1 0\n", "`send` has 2 arguments, too few; add argument 3"),
        ("0 send 1 0 5 30\n1 recv 0 0 5\n", "no type of data from 0 to 29"),
        ("0 compute 1e9 2e9\n", "line 1: `2e9` behind `compute` is an argument too many; leave it out"),
        ("0 sleep 1 2\n", "`2` behind `sleep` is an argument too many"),
        ("0 init 1 2\n", "`2` behind `init` is an argument too many"),
        ("0 finalize 1\n", "`1` behind `finalize` is an argument too many"),
        ("0 comm_size 2 2\n", "`2` behind `comm_size` is an argument too many"),
        ("0 isend 1 0 10\n0 wait 0 1 0 7 7\n1 recv 0 0 10\n", "line 2: `7` behind `wait` is an argument too many"),
        ("0 isend 1 0 10\n0 test 0 1 0 7\n1 recv 0 0 10\n", "line 2: `7` behind `test` is an argument too many"),
        ("0 waitall junk\n", "argument 1 of `waitall` is `junk`; give a number"),
        ("0 waitall 1 junk\n", "`junk` behind `waitall` is an argument too many"),
        ("0 wait 0 1 3\n", "no isend or irecv from 0 to 1 with tag 3 is open"),
        ("0 recv 1 0 5\n1 compute 1\n", "rank 0, line 1: receive 5 B from rank 1, tag 0 has no send"),
        ("0 allreduce 5 0\n1 compute 1\n", "has no send"),
        ("0 bcast -5\n", "give a number of at least 0"),
        ("0 allreduce 5 0\n1 barrier\n", "line 2: rank 1 has `barrier` as collective 1, and rank 0 `allreduce`"),
        ("0 bcast 5 0\n1 bcast 5 1\n", "rank 1 has `bcast from 1` as collective 1, and rank 0 `bcast from 0`"),
        ("0 bcast 5\n1 bcast 6\n", "but rank 1, line 2: receive 6 B from rank 0, collective 1; let all ranks have"),
    ] {
        let said = refusal(&world, "program", &trace(text));
        assert!(said.starts_with("file: ") && said.contains(words), "{text}: {said}");
    }
    let mut slow = trace("0 compute 5\n");
    slow.as_object_mut().unwrap().remove("flop_rate");
    assert!(refusal(&world, "program", &slow).contains("give `flop_rate`"));
}

/// A file as the host gives it.
pub fn content(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!(text),
        Err(_) => json!({ "bytes": bytes.iter().map(|&byte| char::from(byte)).collect::<String>() }),
    }
}

/// Beside the project: the same ring as traces of Chakra and as MSCCL XML takes the same time. A computation there has 7 µs.
#[test]
fn chakra_and_msccl_agree_on_the_ring() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    let trace = |rank: u32| {
        std::fs::read(folder.join(format!("chakra/astra-ring-allreduce-8/custom_allreduce.{rank}.et"))).ok()
    };
    let Some(files) = (0..8).map(trace).collect::<Option<Vec<_>>>() else {
        return eprintln!("left out: the samples are not there");
    };
    let contents: Vec<Value> = files.iter().map(|file| content(file)).collect();
    let (world, ranks) = (World::star(8, 1e9, 500_000), (1..=8).collect::<Vec<u32>>());
    let chakra = json!({ "file": named(json!(contents)), "format": "chakra", "ranks": ranks });
    let xml = std::fs::read_to_string(folder.join("msccl/astra-ring-allreduce-8.xml")).expect("beside it");
    let msccl = json!({ "file": named(json!([xml])), "format": "msccl", "ranks": ranks, "size": 1 << 20, "reduce": 131_072.0 / 7e-6 });
    let time = time_of(&world, "program", &chakra);
    assert_eq!(time, 14 * (131_072_000 + 1_000_000) + 7 * 7_000_000);
    assert_eq!(time, time_of(&world, "program", &msccl));
    let cut = json!({ "file": named(json!([content(&files[0][..29_000]), contents[1]])), "format": "chakra", "ranks": [1, 2] });
    let said = refusal(&world, "program", &cut);
    assert!(said.contains("file: file0:") && said.contains("cut off"), "{said}");
}

/// A memory node lasts as long as it says, else as its flop or its bytes take.
#[test]
fn memory_nodes_of_chakra_have_a_rate() {
    let world = World::small(1e9, 0);
    let params = |kind: u64, attributes: &[Vec<u8>]| {
        let node = [number(1, 4), number(3, kind), attributes.concat()].concat();
        let file = content(&[framed(block(1, b"1")), framed(node)].concat());
        json!({ "file": named(json!([file])), "format": "chakra", "ranks": [1], "flop_rate": 1e6, "copy": 1e7 })
    };
    let time = |kind: u64, attributes: &[Vec<u8>]| time_of(&world, "program", &params(kind, attributes));
    let (bytes, flop) = (attribute("tensor_size", 100), attribute("num_ops", 50));
    for kind in [2, 3] {
        assert_eq!(time(kind, std::slice::from_ref(&bytes)), 10_000_000);
        assert_eq!(time(kind, &[bytes.clone(), number(7, 3)]), 3_000_000);
        assert_eq!(time(kind, &[bytes.clone(), flop.clone()]), 50_000_000);
        assert_eq!(time(kind, &[]), 0);
    }
    assert_eq!(time(4, std::slice::from_ref(&bytes)), 0, "the tensor of a computation is no copy");
    let mut slow = params(2, &[bytes]);
    slow.as_object_mut().expect("a map").remove("copy");
    let said = refusal(&world, "program", &slow);
    assert!(said.contains("node 4 moves 100 B of memory and has no duration; give `copy`"), "{said}");
}

/// Nodes written by hand: a computation of 3 µs, then a collective of all ranks.
#[test]
fn collectives_of_chakra_become_messages() {
    let trace = |kind: u64, comm: u64, group: &[u8]| {
        let computation = [number(1, 4), number(3, 4), number(7, 3)].concat();
        let collective =
            [number(1, 5), number(3, kind), block(5, &[4]), attribute("comm_size", 100), attribute("comm_type", comm)]
                .concat();
        let collective = [&collective[..], group].concat();
        [framed(block(1, b"1")), framed(computation), framed(collective)].concat()
    };
    let (world, ranks) = (World::star(4, 1e9, 500_000), (1..=4).collect::<Vec<u32>>());
    let params = |kind: u64, comm: u64| {
        let file = content(&trace(kind, comm, &[]));
        json!({ "file": named(json!([file, file, file, file])), "format": "chakra", "ranks": ranks })
    };
    let step = |bytes: u64| 1_000 * bytes + 1_000_000;
    let time = |comm: u64| time_of(&world, "program", &params(7, comm)) - 3_000_000;
    assert_eq!(time(0), 6 * step(25), "a ring all-reduce");
    assert_eq!([time(2), time(7)], [3 * step(100), 3 * step(25)], "a ring; all-gathers count what a rank puts in");
    assert_eq!(time(5), 2 * step(100), "a binomial tree");
    // Ranks 0 and 2, and 1 and 3, as groups: rings of two with half of the bytes a step.
    let of_group = |name: &str| {
        let text = [vec![0xea, 0x01, name.len() as u8], name.as_bytes().to_vec()].concat();
        let group = block(10, &[block(1, b"pg_name"), text].concat());
        content(&trace(7, 0, &group))
    };
    let files = ["tp0", "tp1", "tp0", "tp1"].map(of_group);
    let grouped =
        |groups: Value| json!({ "file": named(json!(files)), "format": "chakra", "ranks": ranks, "groups": groups });
    let group = |name: &str, of: [u32; 2]| json!({ "name": name, "ranks": of });
    let both = grouped(json!([group("tp0", [0, 2]), group("tp1", [3, 1])]));
    assert_eq!(time_of(&world, "program", &both) - 3_000_000, 2 * step(50));
    // A number is a name, too.
    let numbered = block(10, &[block(1, b"comm_group"), vec![0x48, 3]].concat());
    let files_numbered = json!([content(&trace(7, 0, &numbered)), content(&trace(7, 0, &numbered))]);
    let said =
        refusal(&world, "program", &json!({ "file": named(files_numbered), "format": "chakra", "ranks": [1, 2] }));
    assert!(said.contains("process group `3`; give its ranks"), "{said}");
    for (groups, words) in [
        (json!([]), "file: file0: node 5 is of the process group `tp0`; give its ranks"),
        (
            json!([group("tp0", [0, 2]), group("tp1", [2, 3])]),
            "file: file1: node 5 is of the process group `tp1`, which has no rank 1",
        ),
        (json!([group("tp0", [0, 0])]), "groups: `tp0` has a rank twice"),
        (json!([group("tp0", [0, 4])]), "groups: `tp0` has a rank without a trace"),
        (json!([group("tp0", [0, 2]), group("tp0", [0, 2])]), "groups: `tp0` is given twice"),
    ] {
        let said = refusal(&world, "program", &grouped(groups));
        assert!(said.contains(words), "{said}");
    }
    for (kind, comm, words) in [
        (7, 33, "the collective 33, which is not known"),
        (9, 0, "the type 9, which is not known"),
        (5, 0, "lacks the attribute `comm_dst`"),
    ] {
        let said = refusal(&world, "program", &params(kind, comm));
        assert!(said.contains(words), "{said}");
    }
}

/// What `weir import` tells: messages that lack an end, where the first of them stands; none where ranks are missing.
#[test]
fn unmatched_messages_are_counted() {
    let unmatched = |files: &[(&str, &[u8])]| match weir_models::program_file(files) {
        Some(Ok(ProgramFile::Program(counts))) => counts.unmatched,
        other => panic!("{other:?}"),
    };
    let goal =
        |body: &str| unmatched(&[("x.goal", format!("num_ranks 2\n{body}").as_bytes())]).expect("all ranks are there");
    let found = goal(
        "rank 0 {\na: send 5b to 1\nb: send 5b to 1 tag 3\n}\nrank 1 {\na: recv 5b from 0\nb: recv 5b from 0 tag 2\n}\n",
    );
    assert_eq!((found.sends, found.receives), (1, 1));
    assert_eq!(found.first.as_deref(), Some("rank 0, line 4: send 5 B to rank 1, tag 3"));
    // A receive from any takes what no other takes.
    let found =
        goal("rank 0 {\na: send 5b to 1 tag 3\n}\nrank 1 {\na: recv 5b from -1 tag -1\nb: recv 5b from -1 tag 7\n}\n");
    assert_eq!((found.sends, found.receives), (0, 1));
    assert_eq!(found.first.as_deref(), Some("rank 1, line 7: receive 5 B from any rank, tag 7"));
    // With a tag it takes no other: here the one of tag 7 remains, in either order.
    let send = |tag: u32| format!("s{tag}: send 5b to 1 tag {tag}\n");
    let counts = |sends: String, receives: &str| {
        let found = goal(&format!("rank 0 {{\n{sends}}}\nrank 1 {{\n{receives}}}\n"));
        (found.sends, found.receives)
    };
    assert_eq!(counts(send(3), "a: recv 5b from -1 tag 7\n"), (1, 1));
    let both = "a: recv 5b from -1 tag -1\nb: recv 5b from -1 tag 7\n";
    assert_eq!([send(7) + &send(3), send(3) + &send(7)].map(|sends| counts(sends, both)), [(0, 0); 2]);
    assert_eq!(counts(send(3) + &send(4), both), (1, 1));
    // The receive stands before the send that no one takes; of two alike the second one is left.
    let first = |body: &str| goal(body).first;
    let before = "rank 0 {\na: recv 5b from -1 tag 7\n}\nrank 1 {\nb: send 5b to 0 tag 3\n}\n";
    assert_eq!(first(before).as_deref(), Some("rank 0, line 3: receive 5 B from any rank, tag 7"));
    let twice = "rank 0 {\na: recv 5b from -1\nb: recv 5b from -1\n}\nrank 1 {\nc: send 5b to 0\n}\n";
    assert_eq!(first(twice).as_deref(), Some("rank 0, line 4: receive 5 B from any rank, tag 0"));
    // Nor from another rank.
    let other = goal("rank 0 {\na: recv 5b from 1 tag -1\n}\nrank 1 {\na: recv 5b from 0 tag -1\nb: send 5b to 0\n}\n");
    assert_eq!((other.sends, other.receives), (0, 1));
    // Messages of collectives are those of the collective alone.
    let trace = unmatched(&[("a.txt", b"0 recv -1 -1 8\n0 bcast 8 1\n1 compute 1\n")]).expect("all ranks are there");
    assert_eq!((trace.sends, trace.receives), (0, 2));
    let trace = unmatched(&[("a.txt", b"0 recv -1 -1 8\n1 bcast 8 1\n")]).expect("all ranks are there");
    assert_eq!((trace.sends, trace.receives), (1, 1));
    let trace = unmatched(&[("a.txt", b"0 allreduce 8 1e15\n1 allreduce 8 1e15\n")]);
    assert_eq!(trace, Some(Unmatched::default()));
    // A send to rank 9 of one trace of Chakra: message 1 is about the file.
    let about = [3, 10, 1, b'1'];
    let attribute = |name: &str, value: u8| {
        let inner = [&[10, name.len() as u8][..], name.as_bytes(), &[72, value]].concat();
        [&[82, inner.len() as u8][..], &inner].concat()
    };
    let body = [&[8, 4, 24, 5][..], &attribute("comm_dst", 9), &attribute("comm_size", 5)].concat();
    let file = [&about[..], &[body.len() as u8], &body].concat();
    assert_eq!(unmatched(&[("x.et", &file)]), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// No text and no bytes break a reader.
    #[test]
    fn any_file_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0_usize..2000, format in 0_usize..4) {
        let text = ["num_ranks 2\nrank 0 {\na: send 1b to 1\nb: calc 5\nb irequires a\n}\nrank 1 {\na: recv 1b from 0\n}\n",
            SMALL, "0 init\n0 isend 1 0 5\n0 waitall\n0 allreduce 8 0\n1 recv 0 0 5\n1 allreduce 8 0\n1 alltoallv 1 2 3 4 5 6\n", ""][format];
        let mut mixed = text.as_bytes().to_vec();
        let at = at.min(mixed.len());
        mixed.splice(at..(at + bytes.len() / 8).min(mixed.len()), bytes.iter().copied());
        let own = [json!({}), json!({ "size": 4 }), json!({ "flop_rate": 1e9 }), json!({ "flop_rate": 1e9 })][format].clone();
        let format = ["goal", "msccl", "simgrid-ti", "chakra"][format];
        for (files, ranks, message) in [
            (vec![content(&mixed), content(&bytes)], json!([CPU_A, CPU_B]), json!({})),
            (vec![content(&mixed)], json!([CPU_A, CPU_B]), json!({})),
            (vec![content(&mixed)], json!([]), message()),
        ] {
            let mut params = json!({ "file": named(json!(files)), "format": format, "ranks": ranks, "message": message });
            own.as_object().expect("a map").iter().for_each(|(key, value)| params[key] = value.clone());
            let _ = try_plan(&World::small(1e9, 0), "program", &params);
            params["collectives"] = json!({ "reduce": 1e9 });
            let _ = try_plan(&World::small(1e9, 0), "program", &params);
        }
    }
}
