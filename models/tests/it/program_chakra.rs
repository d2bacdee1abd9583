//! Traces of Chakra whose nodes stand otherwise than writers have them: without a message about the file, and in any order.

use serde_json::{Value, json};
use weir_models::ProgramFile;

use crate::common::{World, named, refusal, time_of};
use crate::program_files::content;
use crate::protobuf::{attribute, block, framed, number};

/// The message about a file.
fn metadata() -> Vec<u8> {
    framed(block(1, b"1"))
}

/// 100 µs of computation.
fn computation(id: &[u8]) -> Vec<u8> {
    framed([id, &number(3, 4), &number(7, 100)].concat())
}

/// An all-gather behind others, of the bytes of a rank.
fn gather(id: u64, behind: &[u8], bytes: u64) -> Vec<u8> {
    let head = [number(1, id), number(3, 7), block(5, behind)].concat();
    framed([head, attribute("comm_size", bytes), attribute("comm_type", 2)].concat())
}

/// Two ranks at a switch, 1 GB/s, 1 µs from one to the other.
fn world() -> World {
    World::star(2, 1e9, 500_000)
}

fn of_files(files: [&[Vec<u8>]; 2]) -> Value {
    let files = files.map(|file| content(&file.concat()));
    json!({ "file": named(json!(files)), "format": "chakra", "ranks": [1, 2] })
}

/// Attributes that are numbers below 0 are shown so.
#[test]
fn a_rank_below_0_is_refused() {
    let to = |rank: i64| {
        let ends = [attribute("comm_dst", rank as u64), attribute("comm_size", 8), attribute("comm_tag", 1)].concat();
        framed([number(1, 5), number(3, 5), ends].concat())
    };
    let said = refusal(&world(), "program", &of_files([&[to(-1)], &[]]));
    assert!(said.contains("file0: `comm_dst` of node 5 is -1; correct it"), "{said}");
}

const STEP: fn(u64) -> u64 = |bytes| 1_000 * bytes + 1_000_000;

/// The first message is a node where it has the number or the type of one; proto3 leaves out a number that is 0.
#[test]
fn a_trace_without_a_message_about_the_file_keeps_its_first_node() {
    for id in [number(1, 4), Vec::new()] {
        let number = id.last().copied().unwrap_or(0);
        let nodes = [computation(&id), gather(5, &[number], 100)];
        let with = [&[metadata()][..], &nodes].concat();
        // A message without any field is one about the file: none of its fields is set.
        let empty = [&[vec![0]][..], &nodes].concat();
        for file in [&nodes[..], &with, &empty] {
            assert_eq!(time_of(&world(), "program", &of_files([file, file])), 100_000_000 + STEP(100));
            let bytes = file.concat();
            let Some(Ok(ProgramFile::Program(counts))) = weir_models::program_file(&[("a.et", &bytes)]) else {
                panic!("a trace");
            };
            assert_eq!(counts.operations, [("COMM_COLL".to_owned(), 1), ("COMP".to_owned(), 1)]);
        }
    }
    // A node without a type is none that is known.
    let untyped = [framed(number(1, 3))];
    let said = refusal(&world(), "program", &of_files([&untyped, &untyped]));
    assert!(said.contains("file0: node 3 has the type 0, which is not known"), "{said}");
}

/// Collectives meet in the order in which a rank can begin them. Rank 0 has that of 20 B behind that of 10 B in its file, and
/// begins it first.
#[test]
fn collectives_meet_in_the_order_of_their_dependencies() {
    let turned = [metadata(), gather(1, &[2], 10), gather(2, &[], 20)];
    let straight = [metadata(), gather(1, &[], 20), gather(2, &[1], 10)];
    for files in [[&turned, &straight], [&straight, &turned], [&turned, &turned]] {
        assert_eq!(time_of(&world(), "program", &of_files(files.map(|file| &file[..]))), STEP(20) + STEP(10));
    }
    // Where nothing tells, the file does.
    let free = [metadata(), gather(1, &[], 20), gather(2, &[], 10)];
    time_of(&world(), "program", &of_files([&free, &straight]));
    let other = [metadata(), gather(1, &[], 10), gather(2, &[], 20)];
    let said = refusal(&world(), "program", &of_files([&free, &other]));
    assert!(said.contains("let all ranks have the same collectives"), "{said}");
    let circle = [metadata(), gather(1, &[2], 10), gather(2, &[1], 10)];
    let said = refusal(&world(), "program", &of_files([&circle, &circle]));
    assert!(said.contains("a deadlock"), "{said}");
}
