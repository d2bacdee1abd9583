//! Collectives of traces that cannot be planned, or that leave their algorithm open.

use serde_json::{Value, json};

use crate::common::*;
use crate::program_collectives::*;

#[test]
fn what_cannot_be_done_is_said_with_its_place() {
    let world = World::star(6, 1e9, 500_000);
    let all = |comm: u64| vec![trace(&[does(5, &[], comm, 600)]); 6];
    for (comm, collectives, words) in [
        (
            2,
            json!({ "algorithm": "tree" }),
            "collectives.algorithm: file0, node 5: `tree` does no all-gather; choose one of ring, bruck, direct, nvls, or auto",
        ),
        (
            0,
            json!({ "kinds": { "all-reduce": { "algorithm": "recursive-doubling" } } }),
            "collectives.kinds.all-reduce.algorithm: file0, node 5: `recursive-doubling` needs a power of two of ranks, not 6",
        ),
        (
            5,
            json!({ "channels": 0, "kinds": { "broadcast": { "chunk": 9 } } }),
            "collectives.channels: file0, node 5: must not be 0",
        ),
        (
            5,
            json!({ "kinds": { "broadcast": { "chunk": 0 } } }),
            "collectives.kinds.broadcast.chunk: file0, node 5: must",
        ),
        (
            0,
            json!({ "levels": ["machine", "network"] }),
            "collectives.levels: file0, node 5: all ranks are in one machine",
        ),
        (0, json!({ "algorithm": "auto" }), "collectives.algorithm: file0, node 5: `auto` leaves it open"),
    ] {
        let said = refusal(&world, "program", &chakra(&all(comm), &collectives));
        assert!(said.starts_with(words), "{said}");
    }
    // Unknown keys, and kinds that no trace has; the host says so before, by the schema.
    for collectives in
        [json!({ "algo": "ring" }), json!({ "kinds": { "send-recv-chain": {} } }), json!({ "kind": "reduce" })]
    {
        assert!(try_plan(&world, "program", &chakra(&all(0), &collectives)).is_err(), "{collectives}");
    }
    let twice =
        json!({ "file": named(json!(all(0))), "format": "chakra", "ranks": [1, 2, 3, 4, 5, 5], "collectives": {} });
    let said = refusal(&world, "program", &twice);
    assert!(said.starts_with("ranks: file0, node 5: a device is named twice"), "{said}");
    let mut network = chakra(&all(0), &json!({}));
    network["message"] = json!({ "per_byte": 1.0 });
    let said = refusal(&world, "program", &network);
    assert!(said.starts_with("collectives: they go over links"), "{said}");
    let goal = json!({ "file": named(json!(["num_ranks 1\nrank 0 {\na: calc 5\n}\n"])), "format": "goal", "ranks": [3], "collectives": {} });
    let said = refusal(&world, "program", &goal);
    assert!(said.starts_with("collectives: files of this format do not need it"), "{said}");
}

#[test]
fn ranks_do_the_same_collectives() {
    let one = |comm: u64, bytes: u64| trace(&[does(5, &[], comm, bytes)]);
    let none = trace(&[computes(5, &[], 9)]);
    for (traces, words) in [
        (
            [one(0, 100), one(0, 101)],
            "file: file1: rank 1 has `all-reduce of 101 B` as collective 1, and rank 0 `all-reduce of 100 B`; let all ranks",
        ),
        (
            [one(0, 100), one(2, 50)],
            "file: file1: rank 1 has `all-gather of 100 B` as collective 1, and rank 0 `all-reduce",
        ),
        (
            [one(0, 100), one(9, 0)],
            "file: file1: rank 1 has `BARRIER` as collective 1, and rank 0 `all-reduce of 100 B`",
        ),
        (
            [one(0, 100), none.clone()],
            "file: rank 0, file0, node 5: all-reduce of 100 B, and rank 1 has no such collective left; let all ranks have",
        ),
        (
            [none, one(3, 50)],
            "file: rank 1, file1, node 5: gather of 100 B, root 0, and rank 0 has no such collective left",
        ),
        (
            [one(2, 1 << 53), one(2, 1 << 53)],
            "file: file0: node 5: all-gather of 9007199254740992 B from each of 2 ranks",
        ),
    ] {
        let said = refusal(&pair(), "program", &chakra(&traces, &json!({})));
        assert!(said.starts_with(words), "{said}");
    }
    let simgrid = |text: &str| json!({ "file": named(json!([text])), "format": "simgrid-ti", "ranks": [1, 2], "collectives": {}, "flop_rate": 1e9 });
    for (text, words) in [
        (
            "0 bcast 5 0\n1 bcast 5 1\n",
            "file: line 2: rank 1 has `broadcast of 5 B, root 1` as collective 1, and rank 0 `broadcast",
        ),
        (
            "0 alltoall 5 6\n1 alltoall 5 6\n",
            "file: line 1: `alltoall` sends 5 B to each rank and receives 6 B from each",
        ),
        (
            "0 scatter 5 5 0\n1 scatter 5 6 0\n",
            "file: line 2: rank 1 has `scatter of 12 B, root 0` as collective 1, and rank 0",
        ),
        // Rank 0 waits for a message that rank 1 sends once both have reduced.
        (
            "0 recv 1 0 5\n0 allreduce 9 0\n1 allreduce 9 0\n1 send 0 0 5\n",
            "file: a deadlock: rank 0, line 1: receive 5 B from rank 1, tag 0, which waits for rank 1, line 4: send 5 B to \
             rank 0, tag 0, which waits for rank 1, line 3: all-reduce of 9 B, which waits for rank 0, line 2: all-reduce of 9 B, \
             4 B to rank 1, which waits for rank 0, line 2: all-reduce of 9 B, which waits for rank 0, line 1: receive 5 B from \
             rank 1, tag 0; let all ranks begin collectives, and messages that one of them waits for, in the same order",
        ),
    ] {
        let said = refusal(&pair(), "program", &simgrid(text));
        assert!(said.starts_with(words), "{said}");
    }
}

/// `auto` of kinds that the traces have becomes all their algorithms but `nvls`, together; what a trace does not have is left.
#[test]
fn auto_leaves_the_algorithms_of_kinds_open() {
    let world = World::star(4, 1e9, 500_000);
    let file = trace(&[does(5, &[], 5, 1_000), does(6, &[5], 2, 100)]);
    let params = |collectives: Value| chakra(&vec![file.clone(); 4], &collectives);
    let labels = |collectives: Value| {
        let all = try_alternatives(&world, "program", &params(collectives)).expect("alternatives");
        all.into_iter().map(|alternative| alternative.label).collect::<Vec<_>>()
    };
    assert_eq!(labels(json!({ "algorithm": "ring" })), [""; 0]);
    assert_eq!(labels(json!({ "algorithm": "ring", "kinds": { "all-reduce": { "algorithm": "auto" } } })), [""; 0]);
    let one = labels(json!({ "kinds": { "broadcast": { "algorithm": "auto" } } }));
    assert_eq!(one, ["ring", "tree", "double-binary-tree", "direct"].map(|word| format!("broadcast {word}")));
    // Broadcasts have four, all-gathers ring, recursive-doubling, bruck and direct.
    let both = labels(json!({ "algorithm": "auto" }));
    assert_eq!((both.len(), both[5].as_str()), (16, "all-gather recursive-doubling, broadcast tree"));
    let all = try_alternatives(&world, "program", &params(json!({ "algorithm": "auto" }))).expect("alternatives");
    let tree = params(
        json!({ "kinds": { "broadcast": { "algorithm": "tree" }, "all-gather": { "algorithm": "recursive-doubling" } } }),
    );
    let chosen = try_plan_text(&world, "program", &all[5].operation).expect("nothing is open");
    assert_eq!(chosen, plan(&world, "program", &tree));
    // All-reduces have six, and 6 · 4 · 4 is too many.
    let three = trace(&[does(5, &[], 5, 1_000), does(6, &[5], 2, 100), does(7, &[6], 0, 100)]);
    let many = try_alternatives(&world, "program", &chakra(&vec![three; 4], &json!({ "algorithm": "auto" })));
    let said = many.expect_err("too many").to_string();
    assert!(
        said.contains(
            "`auto` of all-reduce, all-gather, broadcast makes 96 ways to do the program, more than 64; name"
        ),
        "{said}"
    );
}
