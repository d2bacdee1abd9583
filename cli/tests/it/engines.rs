//! One device has one set of engines, which all operations share: ends by hand, refusals, and no two tasks at once.

use proptest::prelude::*;
use weir::{RunOptions, Scenario};

/// A gpu0 with `engines`, gpu1 and fpga0 below a cpu, 10 GB/s each: 1 GB takes 100 ms.
fn text(engines: &str, workload: &str) -> String {
    format!(
        "weir: 1
topology:
  link_types: {{ pcie: {{ bandwidth: 10GB/s }} }}
  tree:
    cpu:
      kind: cpu
      children:
        gpu0: {{ kind: gpu, link: pcie{engines} }}
        gpu1: {{ kind: gpu, link: pcie }}
        fpga0: {{ kind: fpga, link: pcie }}
arbiter: max-min
workload:
{workload}"
    )
}

fn open(text: String) -> Result<Scenario, weir::Error> {
    Scenario::opener().read(text, ".")
}

/// Per task with an engine: `device/engine`, its own name, start and end in ms.
fn served(scenario: &Scenario) -> Vec<(String, String, u64, u64)> {
    let run = scenario.run().expect("it runs");
    run.report(|run| {
        let tasks = run.scenario.tasks.tasks().iter().enumerate();
        let held = tasks.filter_map(|(i, task)| {
            let engine = run.scenario.tasks.engines().get(task.engine.0 as usize)?;
            let weir_plugin_api::EngineScope::Device(device) = engine.scope else { return None };
            let times = &run.outcome.tasks[i];
            let name = run.scenario.task_name(weir_sim_core::TaskId(i as u32)).into_owned();
            let engine = format!("{}/{}", run.scenario.node_name(device), engine.name);
            Some((engine, name, times.start.0 / 1_000_000_000, times.end.0 / 1_000_000_000))
        });
        held.collect()
    })
    .expect("the run has its scenario")
}

/// What is served from when to when, in ms, by name.
fn spans(engines: &str, workload: &str) -> Vec<(String, u64, u64)> {
    let scenario = open(text(engines, workload)).expect("it is a scenario");
    served(&scenario).into_iter().map(|(_, name, start, end)| (name, start, end)).collect()
}

fn refusal(engines: &str, workload: &str) -> String {
    open(text(engines, workload)).map(|_| ()).expect_err("it is refused").to_string()
}

const OUT: &str = "  - transfer: { id: out, from: gpu0, to: cpu, size: 1GB }\n";
const IN: &str = "  - transfer: { id: in, from: cpu, to: gpu0, size: 1GB }\n";
const PUT: &str = "  - put: { id: put, from: gpu0, to: gpu1, size: 1GB, read: { table: [[1GB, 100ms]] } }\n";
const TAKE: &str = "  - put: { id: take, from: gpu1, to: gpu0, size: 1GB, write: { table: [[1GB, 100ms]] } }\n";

fn offload(rest: &str) -> String {
    format!(
        "  - offload: {{ id: o, device: gpu0, in: 1GB, out: 1GB, kernel: 10ms, \
         parameters: {{ per_byte_in: 100ps, per_byte_out: 100ps }}{rest} }}\n"
    )
}

fn named(name: &str, start: u64, end: u64) -> (String, u64, u64) {
    (name.to_owned(), start, end)
}

/// The copy back has its place from the beginning, and is not ready before the kernel has ended: nobody overtakes it, though
/// two may be served at once.
#[test]
fn who_is_first_and_not_ready_is_who_the_others_wait_for() {
    let workload = format!("{}{OUT}", offload(""));
    let scenario = open(text(", engines: 2", &workload)).expect("it is a scenario");
    let run = scenario.run().expect("it runs");
    let out = run.transfer("out").expect("it has ended");
    assert_eq!(out.cause.as_deref(), Some("queued behind o/d0"));
    assert_eq!(out.delay.map(|delay| delay.waiting_s), Some(0.11));
}

/// The offload issues its copies first; its kernel runs between them, and everything else waits.
#[test]
fn one_copy_engine_serves_one_transfer_at_a_time() {
    let workload = format!("{}{OUT}{PUT}{IN}{TAKE}", offload(""));
    let expected = [
        named("o/h0", 0, 100),
        named("o/k0", 100, 110),
        named("o/d0", 110, 210),
        named("out", 210, 310),
        named("put/r0", 310, 410),
        named("in", 410, 510),
        named("take/w0", 510, 610),
    ];
    assert_eq!(spans(", engines: { copy: 1 }", &workload), expected);
    // The offload may say it instead; a plain copy from host memory queues only where the topology says it.
    let workload = format!("{TAKE}{OUT}{}{PUT}{IN}", offload(", copy_engines: 1"));
    let expected = [
        named("take/w0", 0, 100),
        named("out", 100, 200),
        named("o/h0", 200, 300),
        named("o/k0", 300, 310),
        named("o/d0", 310, 410),
        named("put/r0", 410, 510),
    ];
    assert_eq!(spans("", &workload), expected);
}

#[test]
fn two_copy_engines_are_one_for_each_direction() {
    let workload = format!("{OUT}{IN}{}{PUT}{TAKE}", offload(""));
    let by_default = [
        named("out", 0, 100),
        named("o/h0", 0, 100),
        named("o/k0", 100, 110),
        named("o/d0", 110, 210),
        named("put/r0", 210, 310),
        named("take/w0", 100, 200),
    ];
    assert_eq!(spans("", &workload), by_default);
    let written = [
        named("out", 0, 100),
        named("in", 0, 100),
        named("o/h0", 100, 200),
        named("o/k0", 200, 210),
        named("o/d0", 210, 310),
        named("put/r0", 310, 410),
        named("take/w0", 200, 300),
    ];
    assert_eq!(spans(", engines: { copy: 2 }", &workload), written);
}

/// An FPGA has one DMA engine for both directions, and for plain transfers.
#[test]
fn an_fpga_has_one_dma_engine() {
    let workload = "  - transfer: { id: plain, from: fpga0, to: cpu, size: 1GB }
  - put: { id: read, from: fpga0, to: gpu0, size: 1GB, read: { table: [[1GB, 100ms]] } }
  - put: { id: write, from: gpu0, to: fpga0, size: 1GB, write: { table: [[1GB, 100ms]] } }
";
    let scenario = open(text("", workload)).expect("it is a scenario");
    let dma = |name: &str, start, end| ("fpga0/dma".to_owned(), name.to_owned(), start, end);
    assert_eq!(served(&scenario), [dma("plain", 0, 100), dma("read/r0", 100, 200), dma("write/w0", 200, 300)]);
}

#[test]
fn computations_and_kernels_share_the_compute_slots() {
    let compute = |id| format!("  - compute: {{ id: {id}, device: gpu0, time: 100ms }}\n");
    let kernel = "  - offload: { id: o, device: gpu0, kernel: 100ms }\n";
    let workload = format!("{}{kernel}{}", compute("a"), compute("b"));
    let kernels = |engines: &str| {
        let all = spans(engines, &workload).into_iter();
        all.filter(|(name, ..)| !name.contains("/h") && !name.contains("/d")).collect::<Vec<_>>()
    };
    // At one instant computations that are ready come before the kernel, which waits for its copy of no time.
    assert_eq!(kernels(""), [named("a", 0, 100), named("o/k0", 100, 200), named("b", 200, 300)]);
    assert_eq!(kernels(", engines: { compute: 2 }"), [named("a", 0, 100), named("o/k0", 100, 200), named("b", 0, 100)]);
}

#[test]
fn wrong_engines_are_refused_where_they_stand() {
    for (engines, expected) in [
        (", engines: 0", "`0`"),
        (", engines: { copy: 0 }", "`0` copy engines"),
        (", engines: { copy: 3 }", "`3` copy engines"),
        (", engines: { compute: 0 }", "`0`"),
        (", engines: { send: 0 }", "`0`"),
        (", engines: {}", "names none"),
        (", engines: { dma: 1 }", "unknown key `dma`"),
        (", engines: { copy: 1, send: 2 }", "one copy engine carries one transfer at a time"),
    ] {
        let message = refusal(engines, OUT);
        assert!(message.contains(expected), "{engines}: {message}");
        assert!(message.contains(":8:"), "{engines}: {message}");
    }
    let differs = refusal(", engines: { copy: 2 }", &offload(", copy_engines: 1"));
    assert!(differs.contains("`gpu0` has 2 copy engines, not 1"), "{differs}");
    let slots = refusal(", engines: 4", &offload(", copy_engines: 1"));
    assert!(slots.contains("engine `send` has 4 slots, not 1"), "{slots}");
}

/// The formula assumes one queue for each direction; four of them overlap the copies out.
#[test]
fn formulas_claim_nothing_of_other_engines() {
    let estimates = |engines: &str| {
        let scenario = open(text(engines, &offload(", streams: 4"))).expect("it is a scenario");
        scenario.contents().operations[0].estimates.clone()
    };
    let usual = estimates("");
    assert!(usual.iter().all(|estimate| estimate.because.is_empty()), "{usual:?}");
    let wide = estimates(", engines: 4");
    assert!(wide.iter().all(|estimate| estimate.relation == weir_plugin_api::Relation::Unstated));
    assert!(wide.iter().all(|estimate| estimate.because.contains("`send` of gpu0 serves 4 at once")), "{wide:?}");
    // The number of copy engines is the device's, and its formula is the one for that number.
    assert_eq!(estimates(", engines: { copy: 1 }"), {
        let scenario = open(text("", &offload(", streams: 4, copy_engines: 1"))).expect("it is a scenario");
        scenario.contents().operations[0].estimates.clone()
    });
}

/// Copies of an offload keep the order in which they are issued; what is sent when it is ready can be put in order.
#[test]
fn an_order_names_what_is_sent_when_it_is_ready() {
    let ordered = |order: &str| {
        let workload = format!("{}{OUT}{PUT}order: {{ gpu0: [{order}] }}\n", offload(""));
        open(text(", engines: { copy: 1 }", &workload))
    };
    let spans: Vec<_> = served(&ordered("put, out").expect("an order")).into_iter().map(|s| (s.1, s.2)).collect();
    assert!(spans.contains(&("put/r0".to_owned(), 210)) && spans.contains(&("out".to_owned(), 310)), "{spans:?}");
    let refused = ordered("o, put, out").map(|_| ()).expect_err("the offload has no place in it").to_string();
    assert!(refused.contains("o"), "{refused}");
}

/// One operation of a mixture: kind, and tenths of a millisecond.
fn operation(i: usize, kind: u8, tenths: u32) -> String {
    let bytes = u64::from(tenths) * 1_000_000;
    let table = format!("{{ table: [[{bytes}B, {}us]] }}", tenths * 100);
    match kind {
        0 => format!("  - transfer: {{ id: x{i}, from: gpu0, to: cpu, size: {bytes}B }}\n"),
        1 => format!("  - transfer: {{ id: x{i}, from: cpu, to: gpu0, size: {bytes}B }}\n"),
        2 => format!("  - put: {{ id: x{i}, from: gpu0, to: gpu1, size: {bytes}B, read: {table} }}\n"),
        3 => format!("  - put: {{ id: x{i}, from: gpu1, to: gpu0, size: {bytes}B, write: {table} }}\n"),
        4 => format!(
            "  - transfer: {{ id: x{i}, from: gpu0, to: gpu1, size: {bytes}B, \
             model: {{ name: loggp, overhead: 10us, gap: 5us, per_byte: 100ps }} }}\n"
        ),
        _ => format!(
            "  - offload: {{ id: x{i}, device: gpu0, in: {bytes}B, out: {bytes}B, kernel: 1ms, streams: 3, \
             whole_bytes: true, parameters: {{ per_byte_in: 100ps, per_byte_out: 100ps, latency_in: 10us }} }}\n"
        ),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn no_two_tasks_hold_one_copy_engine_at_once(
        operations in proptest::collection::vec((0..6_u8, 1..50_u32), 1..9),
        copies in 0..3_u32,
    ) {
        let items = operations.iter().enumerate().map(|(i, &(kind, tenths))| operation(i, kind, tenths));
        let engines = if copies == 0 { String::new() } else { format!(", engines: {{ copy: {copies} }}") };
        let scenario = open(text(&engines, &items.collect::<String>())).expect("it is a scenario");
        let run = scenario.run_with(&RunOptions::default()).expect("it runs");
        run.report(|run| {
            for (id, engine) in run.scenario.tasks.engines().iter().enumerate() {
                let tasks = run.scenario.tasks.tasks().iter().zip(&run.outcome.tasks);
                let mut spans: Vec<_> = tasks
                    .filter(|(task, _)| task.engine.0 as usize == id)
                    .map(|(_, times)| (times.start, times.end))
                    .collect();
                spans.sort_unstable();
                let apart = spans.windows(2).all(|pair| pair[0].1 <= pair[1].0);
                prop_assert!(apart || engine.slots > 1, "{}: {:?}", engine.name, spans);
            }
            // With one copy engine the device has no other queue.
            let names: Vec<_> = run.scenario.tasks.engines().iter().map(|engine| &*engine.name).collect();
            prop_assert!(copies != 1 || !names.contains(&"copy-in") || operations.iter().any(|&(kind, _)| kind == 2));
            Ok(())
        }).expect("the run has its scenario")?;
    }
}

/// Two all-gathers of 100 MB among two devices each: with links of their own each takes the time that it has alone, and on the
/// same links twice that. The second begins later; alone its start does not count.
#[test]
fn operations_are_slowed_by_others_alone() {
    let slowdowns = |second: &str| {
        let text = format!(
            "weir: 1
topology:
  link_types: {{ l: {{ bandwidth: 10GB/s }} }}
  tree: {{ sw: {{ kind: switch, children: {{ 'gpu[0-3]': {{ kind: gpu, link: l, engines: 2 }} }} }} }}
arbiter: max-min
workload:
  - collective: {{ id: a, kind: all-gather, size: 100MB, ranks: [gpu0, gpu1] }}
{second}"
        );
        let json = open(text).expect("read").run().expect("it runs").to_json().expect("JSON");
        let result: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let of = |row: &serde_json::Value| (row["details"]["alone_s"].as_f64(), row["details"]["slowdown"].as_f64());
        result["operations"].as_array().expect("a list").iter().map(of).collect::<Vec<_>>()
    };
    let other = |ranks: &str, start: &str| {
        format!("  - collective: {{ id: b, kind: all-gather, size: 100MB, start: {start}, ranks: {ranks} }}\n")
    };
    assert_eq!(slowdowns(""), [(None, None)], "nothing else is there");
    assert_eq!(slowdowns(&other("[gpu2, gpu3]", "1ms")), [(Some(0.005), Some(1.0)); 2]);
    assert_eq!(slowdowns(&other("[gpu0, gpu1]", "0s")), [(Some(0.005), Some(2.0)); 2]);
    let after = "  - collective: { id: b, kind: all-gather, size: 100MB, ranks: [gpu0, gpu1], after: a }\n";
    assert_eq!(slowdowns(after), [(Some(0.005), Some(1.0)); 2], "one after the other");
}

/// A thousand operations and more are not run alone, and the text says so; one that is the whole workload has nobody to slow it.
#[test]
fn slowdown_is_left_out_of_large_workloads_with_a_word() {
    let said = |count: usize| {
        let text = format!(
            "weir: 1
topology:
  link_types: {{ l: {{ bandwidth: 10GB/s }} }}
  tree: {{ sw: {{ kind: switch, children: {{ 'gpu[0-1]': {{ kind: gpu, link: l }} }} }} }}
arbiter: max-min
workload:
  - for: {{ i: [1..{count}] }}
    parallel:
      - collective: {{ id: 'a{{i}}', kind: all-gather, size: 2B, ranks: [gpu0, gpu1] }}
"
        );
        open(text).expect("read").run().expect("it runs").to_text().expect("text").contains("slowdown: left out")
    };
    assert_eq!([1, 1024, 1025].map(said), [false, false, true]);
}
