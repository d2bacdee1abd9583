//! Programs: messages over the fabric beside closed forms, and by way of host memory.

use crate::common::*;
use crate::program::{over_fabric, two};
use serde_json::{Value, json};

/// 1 MB at 1 GB/s over four links of 1 µs each, with o at both ends: rendezvous, as both are posted at once.
#[test]
fn messages_go_over_the_links() {
    let world = World::small(1e9, 1_000_000);
    let text = "num_ranks 2\nrank 0 {\na: send 1000000b to 1\n}\nrank 1 {\na: recv 1000000b from 0\n}\n";
    let params = over_fabric(text, json!({ "overhead": 2_000_000, "latency": 500_000 }), &[GPU_A, GPU_B]);
    let way = 1_000_000_000 + 4_000_000 + 500_000;
    assert_eq!(time_of(&world, "program", &params), 2_000_000 + way + 2_000_000);
    // The receiver may take another o, and another O.
    let message = json!({ "overhead": 2_000_000, "latency": 500_000, "receive_overhead": 300_000,
        "overhead_per_byte": 1.0, "receive_overhead_per_byte": 5.0 });
    let params = over_fabric(text, message, &[GPU_A, GPU_B]);
    assert_eq!(time_of(&world, "program", &params), 2_000_000 + 999_999 + way + 300_000 + 4_999_995);
    // Two at once share the links, as a plain transfer beside them would.
    let text = text
        .replace("a: send", "b: send 1000000b to 1 tag 1\na: send")
        .replace("a: recv", "b: recv 1000000b from 0 tag 1\na: recv");
    let params = over_fabric(&text, json!({}), &[CPU_A, CPU_B]);
    assert_eq!(time_of(&world, "program", &params), 2_000_000_000 + 4_000_000);
}

/// The receive of a large message is late: bytes go once it is posted. Those of a small one are there by then.
#[test]
fn eager_messages_do_not_wait_over_the_fabric() {
    let world = World::small(1e9, 0);
    let text = |bytes: u64| {
        format!(
            "num_ranks 2\nrank 0 {{\na: send {bytes}b to 1\n}}\nrank 1 {{\na: calc 5000000\nb: recv {bytes}b from 0\nb requires a\n}}\n"
        )
    };
    let end = |bytes: u64| {
        time_of(&world, "program", &over_fabric(&text(bytes), json!({ "eager": 1_000_000 }), &[GPU_A, GPU_B]))
    };
    assert_eq!(end(1_000_000), 5_000_000_000);
    assert_eq!(end(2_000_000), 5_000_000_000 + 2_000_000_000);
}

/// Without a gap both messages share the link from the start; with one the second begins behind the first, and its gap.
#[test]
fn a_gap_keeps_messages_of_an_interface_apart() {
    let world = World::small(1e9, 0);
    let text = "num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: send 1000b to 1\n}\nrank 1 {\na: recv 1000b from 0\nb: recv 1000b from 0\n}\n";
    let time = |gap: u64| time_of(&world, "program", &over_fabric(text, json!({ "gap": gap }), &[GPU_A, GPU_B]));
    assert_eq!([time(0), time(5_000_000)], [2_000_000, 1_000_000 + 5_000_000 + 1_000_000]);
}

/// A message that is on its way does not keep the receiver's processor from computing.
#[test]
fn latency_takes_no_time_of_the_processor() {
    let world = World::small(1e9, 0);
    let text = "num_ranks 2\nrank 0 {\na: send 1000b to 1\n}\nrank 1 {\nr: recv 1000b from 0\na: calc 2000\nb: calc 3000\nb requires a\n}\n";
    let params = over_fabric(text, json!({ "latency": 4_000_000, "overhead": 0 }), &[GPU_A, GPU_B]);
    let plan = plan(&world, "program", &params);
    let outcome = run(&world, &plan, "max-min");
    let end = |name: &str| {
        let at = plan.iter().position(|task| task.name == name).expect("a task");
        outcome.tasks[at + 1].end.0
    };
    assert_eq!((end("r1.8.calc"), end("r1.6.recv")), (5_000_000, 5_000_000));
}

/// Nothing is free: an empty message takes the latencies of its links, and so does a barrier, up the tree and down.
#[test]
fn empty_messages_cross_the_links() {
    let (world, ranks) = (World::star(4, 1e9, 500_000), [1, 2, 3, 4]);
    let text = "num_ranks 4\nrank 0 {\na: send 0b to 1\n}\nrank 1 {\na: recv 0b from 0\n}\n";
    assert_eq!(time_of(&world, "program", &over_fabric(text, json!({}), &ranks)), 1_000_000 + 1_000);
    let barrier = json!({ "file": named(json!(["0 barrier\n1 barrier\n2 barrier\n3 barrier\n"])), "format": "simgrid-ti", "ranks": ranks });
    // The root sends to both of its children at once, whose bytes share its link.
    assert_eq!(time_of(&world, "program", &barrier), 4 * (1_000_000 + 1_000) + 1_000);
}

/// Ranks on nodes 1 and 2 of a star of 1 B/ps, and their hosts.
#[test]
fn staged_messages_go_through_host_memory() {
    let world = World::star(4, 1e12, 0);
    let text = two("a: send 1000b to 1\nb: calc 5\nb requires a", "a: recv 1000b from 0");
    let params = |hosts: Value, eager: u32| {
        json!({ "file": named(json!([text])), "format": "goal", "ranks": [1, 2], "hosts": hosts,
            "message": { "staging": true, "eager": eager } })
    };
    let ends = |params: &Value| {
        let plan = plan(&world, "program", params);
        // The release of the operation comes first.
        let outcome = run(&world, &plan, "max-min");
        let names = ["r0.3.send.out", "r0.3.send.message", "r0.3.send.in", "r0.4.calc", "r1.8.recv"];
        names.map(|name| plan.iter().position(|task| task.name == name).map(|at| outcome.tasks[at + 1].end.0))
    };
    // A copy to the host, one between the hosts, one to the device: 1 ns each. The send is done with the first one.
    assert_eq!(ends(&params(json!([3, 4]), 65_535)), [Some(1000), Some(2000), Some(3000), Some(6000), Some(3000)]);
    assert_eq!(ends(&params(json!([3, 4]), 0)), [Some(1000), Some(2000), Some(3000), Some(6000), Some(3000)]);
    assert_eq!(ends(&params(json!([3, 3]), 0)), [Some(1000), None, Some(2000), Some(6000), Some(2000)]);
    // Ranks on hosts: nothing is copied, and a rendezvous is done with its last byte.
    assert_eq!(ends(&params(json!([1, 2]), 0)), [None, Some(1000), None, Some(6000), Some(1000)]);
    assert_eq!(ends(&params(json!([1, 2]), 65_535)), [None, Some(1000), None, Some(5000), Some(1000)]);
    // A sender on its host has nothing to do with the copy to the receiver.
    assert_eq!(ends(&params(json!([1, 4]), 0)), [None, Some(1000), Some(2000), Some(6000), Some(2000)]);
    // Whoever the receive takes it from.
    let mut any = params(json!([1, 4]), 0);
    any["file"] = named(json!([text.replace("from 0", "from -1")]));
    assert_eq!(ends(&any), ends(&params(json!([1, 4]), 0)));
    // Two messages by way of one host: a gap stands between what leaves the sender.
    let pair = two("a: send 1000b to 1\nb: send 1000b to 1", "a: recv 1000b from 0\nb: recv 1000b from 0");
    let paced = json!({ "file": named(json!([pair])), "format": "goal", "ranks": [1, 2], "hosts": [3, 3],
        "message": { "staging": true, "gap": 5000 } });
    assert_eq!(time_of(&world, "program", &paced), 1000 + 5000 + 1000 + 1000);
    let few = refusal(&world, "program", &params(json!([3]), 0));
    assert!(few.contains("hosts: 1 for 2 ranks; name the host memory of each"), "{few}");
    let mut network = params(json!([3, 4]), 0);
    network["message"]["per_byte"] = json!(1.0);
    assert!(refusal(&world, "program", &network).contains("message.staging: the LogGOPS network has no hosts"));
}

/// Two ranks on node 1 and one on node 2; 1 B/ps over the links, and 0.25 B/ps within a device.
#[test]
fn ranks_on_one_device_copy_within_its_memory() {
    let world = World::star(4, 1e12, 0);
    let text = "num_ranks 3
rank 0 {
a: send 1000b to 1
b: calc 7 cpu 1
b requires a
c: send 500b to 2
}
rank 1 {
a: recv 1000b from 0
}
rank 2 {
a: recv 500b from 0
}
";
    let params = |text: &str, message: Value| {
        let mut params = over_fabric(text, message, &[1, 1, 2]);
        params["copy"] = json!(0.25e12);
        params
    };
    let ends = |params: &Value| {
        let plan = plan(&world, "program", params);
        let outcome = run(&world, &plan, "max-min");
        let names = ["r0.4.calc", "r1.9.recv", "r2.12.recv"];
        // The release of the operation comes first.
        names.map(|name| outcome.tasks[plan.iter().position(|task| task.name == name).expect(name) + 1].end.0)
    };
    // 1000 B take 4 ns; the send is done at once, or with the last byte.
    assert_eq!(ends(&params(text, json!({}))), [7_000, 4_000, 500]);
    assert_eq!(ends(&params(text, json!({ "eager": 0 }))), [4_000 + 7_000, 4_000, 500]);
    // L and o as always. Only the processor keeps c waiting, no interface.
    let message = json!({ "overhead": 300, "latency": 20, "gap": 9_000 });
    assert_eq!(ends(&params(text, message)), [300 + 7_000, 300 + 4_000 + 20 + 300, 600 + 500 + 20 + 300]);
    // Nothing is staged, and a receive from any rank takes the same.
    let any = text.replace("1000b from 0", "1000b from -1");
    for text in [text, &any] {
        let mut staged = params(text, json!({ "staging": true }));
        staged["hosts"] = json!([3, 3, 4]);
        assert_eq!(ends(&staged), [7_000, 4_000, 1_500]);
    }
    // An empty message copies nothing.
    assert_eq!(ends(&params(&text.replace("1000b", "0b"), json!({})))[1], 0);
    let said = refusal(&world, "program", &over_fabric(text, json!({}), &[1, 1, 2]));
    let wanted = "file: rank 0, line 3: send 1000 B to rank 1, tag 0, and ranks 0 and 1 are both on one device; give `copy`, \
                  the rate at which it copies within its memory";
    assert_eq!(said, wanted);
    let mut slow = params(text, json!({}));
    slow["copy"] = json!(1e-6);
    assert!(refusal(&world, "program", &slow).contains("that takes more than 100 days; give a higher `copy`"));
    let network = refusal(&world, "program", &params(text, json!({ "per_byte": 1.0 })));
    assert!(network.starts_with("copy: on the LogGOPS network no rank is on a device"), "{network}");
}

/// Rank 1 sends its 10 B once its 1000 B are copied, after 0.1 ns or after 4 ns; those 20 B of rank 2 leave after 1 ns. Receives
/// from any rank take what comes first, and have room for that alone.
#[test]
fn receives_from_any_know_of_copies() {
    let world = World::star(4, 1e12, 0);
    let is_taken = |copy: f64, sizes: [u32; 2]| {
        let [second, third] = sizes;
        let text = format!(
            "num_ranks 3
rank 0 {{
a: recv 1000b from -1
b: recv {second}b from -1
b requires a
c: recv {third}b from -1
c requires b
}}
rank 1 {{
a: send 1000b to 0
b: send 10b to 0
b requires a
}}
rank 2 {{
w: calc 1
a: send 20b to 0
a requires w
}}
"
        );
        let mut params = over_fabric(&text, json!({ "eager": 0 }), &[1, 1, 2]);
        params["copy"] = json!(copy);
        try_plan(&world, "program", &params).is_ok()
    };
    assert_eq!([is_taken(10e12, [10, 20]), is_taken(10e12, [20, 10])], [true, false]);
    assert_eq!([is_taken(0.25e12, [10, 20]), is_taken(0.25e12, [20, 10])], [false, true]);
}

/// Three sends of 1 ns each hold the processor from 1 ns on, behind a computation: the receive behind them is posted when the
/// third is done, at 4 ns, on both networks, though it waits for the begin of that alone. Over the fabric its 100,000 B leave
/// then, at 1 B/ps, and take the receiver 1 ns.
#[test]
fn a_receive_is_posted_behind_the_sends_before_it() {
    let text = "0 compute 1000
0 isend 2 0 100
0 isend 2 1 100
0 isend 2 2 100
0 recv 1 3 100000
0 waitall
1 send 0 3 100000
2 recv 0 0 100
2 recv 0 1 100
2 recv 0 2 100
";
    let world = World::star(3, 1e12, 0);
    let ends = |message: Value, text: &str| {
        let params = json!({ "file": named(json!([text])), "format": "simgrid-ti", "ranks": [1, 2, 3],
            "flop_rate": 1e12, "message": message });
        let plan = plan(&world, "program", &params);
        let outcome = run(&world, &plan, "max-min");
        ["r0.5.recv.posted", "r0.5.recv"].map(|name| {
            let at = plan.iter().position(|task| task.name == name);
            outcome.tasks[at.unwrap_or_else(|| panic!("no {name}")) + 1].end.0
        })
    };
    assert_eq!(ends(json!({ "overhead": 1000, "eager": 1000 }), text), [4000, 4000 + 100_000 + 1000]);
    // There a message that has come holds the processor, too: this one comes later.
    let late = text.replace("1 send", "1 compute 10000\n1 send");
    assert_eq!(ends(json!({ "overhead": 1000, "eager": 1000, "per_byte": 1.0 }), &late)[0], 4000);
    // The same of a receive from any, whose message is found before the run.
    let any = text.replace("recv 1 3", "recv -1 3");
    assert_eq!(ends(json!({ "overhead": 1000, "eager": 1000 }), &any), [4000, 4000 + 100_000 + 1000]);
    // What is posted behind a receive does not wait for the bytes of that.
    let after = text.replace("0 isend 2 2 100", "0 irecv 2 7 100").replace("2 recv 0 2 100", "2 send 0 7 100");
    assert_eq!(ends(json!({ "overhead": 1000, "eager": 1000 }), &after)[0], 3000);
}

/// Rank 0 posts its receive of rank 1's 2000 B behind a send that lasts from 8 to 13 ns. So they leave at 13 ns, are there at
/// 15 ns, and the processor is done with them at 20 ns; rank 3 knows of what rank 0 sends then at 25 ns, but of rank 2's message,
/// sent at 19 ns, at 24 ns. Posted at the begin of the send, the receive would have ended at 18 ns, as soon as the processor has
/// done both, and rank 3 would have known at 23 ns.
#[test]
fn receives_from_any_know_when_receives_are_posted() {
    let is_taken = |sizes: [u32; 2]| {
        let [first, second] = sizes;
        let text = format!(
            "num_ranks 4
rank 0 {{
c: calc 8
s: send 10b to 3 tag 1
s requires c
r: recv 2000b from 1
r irequires s
t: send 100b to 3
t requires r
}}
rank 1 {{
s: send 2000b to 0
}}
rank 2 {{
w: calc 19
s: send 200b to 3
s requires w
}}
rank 3 {{
x: recv 10b from 0 tag 1
a: recv {first}b from -1
a requires x
b: recv {second}b from -1
b requires a
}}
"
        );
        let message = json!({ "overhead": 5000, "eager": 1000 });
        try_plan(&World::star(4, 1e12, 0), "program", &over_fabric(&text, message, &[1, 2, 3, 4])).is_ok()
    };
    assert_eq!([is_taken([200, 100]), is_taken([100, 200])], [true, false]);
}
