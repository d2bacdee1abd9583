//! Messages of one tag whose order a program leaves open: what is warned of, and what is in order.

use std::path::Path;

use crate::common::*;
use crate::program::{goal, over_fabric, two};
use crate::program_files::SMALL;
use serde_json::{Value, json};

/// The warning about a program.
fn warning(params: &Value) -> Option<String> {
    let seen = details(&World::small(1e9, 0), "program", params);
    seen["warnings"].as_array().map(|all| all.iter().map(|one| one.as_str().expect("a text").to_owned()).collect())
}

fn of_goal(from: &str, to: &str) -> Option<String> {
    warning(&over_fabric(&two(from, to), json!({}), &[CPU_A, CPU_B]))
}

const RECEIVES: &str = "a: recv 200b from 0 tag 5\nb: recv 200b from 0 tag 5";

#[test]
fn sends_of_one_tag_whose_order_is_open_are_named() {
    let sends = "a: send 100b to 1 tag 5 cpu 1\nb: send 200b to 1 tag 5";
    let said = of_goal(sends, RECEIVES).expect("two processors");
    let wanted = "file: the order of two messages of one tag is open: rank 0, line 3: send 100 B to rank 1, tag 5 and line 4: send \
                  200 B to rank 1, tag 5; let one wait for the other, or give them different tags: else they are taken in the order of \
                  the file";
    assert_eq!(said, wanted);
    let text = two(sends, RECEIVES);
    let on_network = warning(&goal(&text)).expect("the same there");
    assert!(on_network.ends_with("in the order of time"), "{on_network}");
    // The first of the file waits for a computation, the second for nothing.
    let late = "c: calc 9\na: send 100b to 1 tag 5\na requires c\nb: send 200b to 1 tag 5";
    assert!(of_goal(late, RECEIVES).is_some_and(|said| said.contains("line 4: send 100 B")));
    let third = format!("{sends}\nc: send 7b to 1 tag 5 cpu 1");
    let said = of_goal(&third, &format!("{RECEIVES}\nc: recv 200b from 0 tag 5"));
    assert!(said.is_some_and(|said| said.contains("is open (and of 1 more pair): rank 0, line 3: send 100 B")));
}

#[test]
fn what_is_in_order_is_not_named() {
    // One processor takes them in the order of the file; a tag or a receiver of its own needs none.
    for sends in [
        "a: send 100b to 1 tag 5\nb: send 200b to 1 tag 5",
        "a: send 100b to 1 tag 5 cpu 1\nb: send 200b to 1 tag 5\nb requires a",
        "a: send 100b to 1 tag 5 cpu 1\nb: send 200b to 1 tag 5\nb irequires a",
        "c: calc 9\na: send 100b to 1 tag 5\nb: send 200b to 1 tag 5\nb requires c\na requires c",
    ] {
        assert_eq!(of_goal(sends, RECEIVES), None, "{sends}");
    }
    let tags = "a: send 100b to 1 tag 5 cpu 1\nb: send 200b to 1 tag 6";
    assert_eq!(of_goal(tags, "a: recv 200b from 0 tag 5\nb: recv 200b from 0 tag 6"), None);
    // By way of the other rank: b begins once rank 1 has received a, and answered.
    let there =
        "a: send 100b to 1 tag 5 cpu 1\nr: recv 1b from 1 tag 6 cpu 2\nb: send 200b to 1 tag 5 cpu 3\nb requires r";
    let back = format!("{RECEIVES}\ns: send 1b to 0 tag 6\ns requires a");
    assert_eq!(of_goal(there, &back), None);
    // Without waiting for a the answer may come first.
    let early = format!("{RECEIVES}\ns: send 1b to 0 tag 6");
    assert!(of_goal(there, &early).is_some());
}

#[test]
fn receives_and_thread_blocks_are_looked_at() {
    let sends = "a: send 100b to 1 tag 5\nb: send 100b to 1 tag 5";
    let receives = RECEIVES.replace("b from 0 tag 5\nb", "b from 0 tag 5 cpu 3\nb");
    let said = of_goal(sends, &receives).expect("two processors");
    assert!(said.contains("rank 1, line 7: receive 200 B from rank 0, tag 5 and line 8: receive"), "{said}");
    // From any rank it is what comes first, by definition.
    assert_eq!(of_goal(sends, &receives.replace("from 0", "from -1")), None);
    // Two thread blocks of GPU 1 that send on one channel: an end of it has one, so there is nothing open.
    let second =
        r#"<tb id="0" send="0" recv="-1" chan="0"><step s="0" type="s" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb>"#;
    let text = SMALL.replace("DEP", "-1");
    let text = text.replace(second, &format!("{second}\n{}", second.replace("tb id=\"0\"", "tb id=\"7\"")));
    let params = json!({ "file": named(json!([text])), "format": "msccl", "ranks": [CPU_A, CPU_B], "size": 2000 });
    let said = refusal(&World::small(1e9, 0), "program", &params);
    let wanted =
        "file: line 8, column 1: thread block 7 sends to gpu 0 on channel 0, as thread block 0 does; give it another";
    assert!(said.contains(wanted), "{said}");
}

/// Beside the project: programs whose messages all have one tag, and are in order all the same.
#[test]
fn samples_leave_no_order_open() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let Some(ring) = read("goal/allreduce_ring-8-1048576.goal") else {
        return eprintln!("left out: the samples are not there");
    };
    for text in [
        ring,
        read("goal/linear_alltoall-8-4096.goal").unwrap(),
        read("goal/binomialtreereduce-16-65536.goal").unwrap(),
        read("goal/binary_tree_32.goal").unwrap(),
        read("goal/htsim_incast_8_1_2MiB.goal").unwrap(),
    ] {
        assert_eq!(warning(&goal(&text)), None);
    }
    let ranks: Vec<u32> = (1..=8).collect();
    for name in ["astra-ring-allreduce-8.xml", "rccl-alltoall-8n-0-9kb.xml"] {
        let text = read(&format!("msccl/{name}")).unwrap();
        let size = 8 * 8 * 64 * 1024;
        let params = json!({ "file": named(json!([text])), "format": "msccl", "ranks": ranks, "size": size });
        assert_eq!(details(&World::star(8, 1e9, 0), "program", &params)["warnings"], Value::Null, "{name}");
    }
}
