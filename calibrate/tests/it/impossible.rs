//! Fits that no machine can have are refused with the likely reason, and of parameters that make up for each other the
//! combination is named that the data tell.

use crate::common::{accepted, bandwidth_of, built_in, group, machine_of, measure};
use weir_calibrate::cuts::not_explained;
use weir_calibrate::fit::Known;
use weir_calibrate::read::{ReadOptions, read_log_text};
use weir_calibrate::{Experiment, FitError, FitOptions, fit};
use weir_scenario::Machine;

const MB: u64 = 1_000_000;

/// GPUs on a socket, with a type for their slots.
fn slots(slot: &str, gpus: usize) -> Machine {
    machine_of(&format!(
        "weir: 1\nlink_types:\n  memory: {{ bandwidth: 200GB/s, kind: memory }}\n  {slot}\ntree:\n  rc0:\n    kind: root-complex\n    \
         children:\n      cpu0: {{ kind: cpu, link: memory }}\n      'gpu[0-{}]': {{ kind: gpu, link: {} }}\n",
        gpus - 1,
        slot.split(':').next().expect("a name")
    ))
}

/// GPUs with a link of their own between each two.
fn mesh(gpus: usize) -> Machine {
    let mut text = "weir: 1\nlink_types: { xgmi-x1: { bandwidth: 48GB/s, kind: xgmi }, pcie5-x16: { bandwidth: 48GB/s } }\ntree:\n  rc0:\n    \
                    kind: root-complex\n    children:\n"
        .to_owned();
    (0..gpus).for_each(|i| text += &format!("      gpu{i}: {{ kind: gpu, link: pcie5-x16 }}\n"));
    text += "links:\n";
    for a in 0..gpus {
        (a + 1..gpus).for_each(|b| text += &format!("  - {{ between: [gpu{a}, gpu{b}], type: xgmi-x1 }}\n"));
    }
    machine_of(&text)
}

/// Lone copies at these rates, GB/s.
fn lone(machine: &Machine, copies: &[(&str, &str, f64)]) -> Vec<Experiment> {
    let copy = |&(from, to, rate): &(&str, &str, f64)| {
        let mut copy = group(machine, "lone", &[(from, to, 1000 * MB)]);
        copy.rows[0].seconds = 1.0 / rate;
        copy
    };
    copies.iter().map(copy).collect()
}

#[test]
fn a_fit_above_the_wire_is_refused_with_the_likely_reason() {
    let between = [("gpu0", "gpu1", 279.6), ("gpu1", "gpu0", 279.0)];
    for (slot, what) in [
        ("pcie4-x16: { bandwidth: 24GB/s }", "PCIe 4.0 x16 carries 31.5"),
        ("slot: { generation: 4, width: 16, efficiency: 0.76171875 }", "PCIe of its generation and width carries 31.5"),
        // The dump did not say the speed, but which chip it is.
        (
            "pcie4-x16-chip-assumed: { generation: 4, width: 16, efficiency: 0.76171875 }",
            "PCIe of its generation and width carries 31.5",
        ),
    ] {
        let machine = slots(slot, 2);
        let error = fit(&machine, &built_in("max-min"), &lone(&machine, &between), &FitOptions::default()).unwrap_err();
        assert!(matches!(error, FitError::AboveTheWire(_)), "{error}");
        let text = error.to_string();
        for part in [what, "279.", "lacks a link between these GPUs", "--devices", "gpu0 → gpu1"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    // Bytes of all messages count: four of a quarter.
    let machine = slots("pcie4-x16: { bandwidth: 24GB/s }", 2);
    let mut messages = lone(&machine, &between);
    messages.iter_mut().for_each(|e| (e.messages, e.transfers[0].bytes) = (4, 250 * MB));
    let text = fit(&machine, &built_in("max-min"), &messages, &FitOptions::default()).unwrap_err().to_string();
    assert!(text.contains(", 279.600 GB/s ("), "{text}");
    // From the host, another mapping or a later generation is likelier.
    let machine = slots("pcie3-x16: { bandwidth: 12GB/s }", 2);
    let copies = lone(&machine, &[("cpu0", "gpu0", 25.1), ("cpu0", "gpu1", 25.2)]);
    let text = fit(&machine, &built_in("max-min"), &copies, &FitOptions::default()).unwrap_err().to_string();
    assert!(text.contains("later generation") && !text.contains("lacks a link"), "{text}");
    // What is only said to be so may be of the fastest generation; what is not said at all has no bound.
    for slot in
        ["pcie3-x16-doubtful: { bandwidth: 12GB/s }", "slot: { bandwidth: 12GB/s }", "pcie4-x16: { bandwidth: 9GB/s }"]
    {
        let machine = slots(slot, 2);
        let copies = lone(&machine, &[("cpu0", "gpu0", 25.1), ("cpu0", "gpu1", 25.2)]);
        fit(&machine, &built_in("max-min"), &copies, &FitOptions::default()).expect("a fit");
    }
}

/// A link that is only said to be of a generation, or not said to be of one, carries no more than the fastest that there is.
#[test]
fn a_doubtful_link_is_bound_by_the_fastest_generation() {
    for (slot, what) in [
        (
            "pcie3-x16-assumed: { generation: 3, width: 16, efficiency: 0.76171875 }",
            "PCIe 6.0 x16, the fastest that there is, carries 118",
        ),
        ("pcie4-x8-doubtful: { bandwidth: 12GB/s }", "PCIe 6.0 x8, the fastest that there is, carries 59"),
        ("pcie: { bandwidth: 12GB/s }", "PCIe 6.0 x16, the fastest that there is, carries 118"),
        // As fast as the fastest.
        ("pcie-x16: { bandwidth: 118GB/s }", "PCIe 6.0 x16, the fastest that there is, carries 118"),
        // 7.9 GB/s are eight lanes of the third generation, or four of the fourth.
        ("slot-assumed: { generation: 3, width: 8 }", "PCIe 6.0 x8, the fastest that there is, carries 59"),
    ] {
        let machine = slots(slot, 2);
        let copies = lone(&machine, &[("cpu0", "gpu0", 259.0), ("cpu0", "gpu1", 259.1)]);
        let text = fit(&machine, &built_in("max-min"), &copies, &FitOptions::default()).unwrap_err().to_string();
        assert!(text.contains(what), "{text}");
    }
}

/// Eight GPUs, seven links each: busbw is what all seven carry together.
#[test]
fn a_collective_uses_all_links_between_its_ranks() {
    for (gpus, busbw) in [(8, 316.0), (4, 140.0)] {
        let machine = mesh(gpus);
        let factor = 2.0 * (gpus as f64 - 1.0) / gpus as f64;
        let row = |bytes: f64| {
            let us = bytes * factor / (busbw * 1e3);
            format!(
                "{bytes} 1 float sum -1 {us:.2} {:.2} {busbw} 0 {us:.2} {:.2} {busbw} 0\n",
                busbw / factor,
                busbw / factor
            )
        };
        let log = format!(
            "# Collective test starting: all_reduce_perf\n# size count type redop root time algbw busbw #wrong time algbw busbw \
             #wrong\n{}{}{}",
            row(4294967296.0),
            row(8589934592.0),
            row(17179869184.0)
        );
        let (_, log) = read_log_text("log", &log, &machine, &ReadOptions::default()).expect("a log");
        let found = fit(&machine, &built_in("max-min"), &log.experiments, &FitOptions::default()).expect("a fit");
        if gpus == 4 {
            accepted("an all-reduce of four", &machine, &log.experiments, &found);
        }
        let one = bandwidth_of(&machine, &found.setting, "xgmi-x1");
        let expected = busbw * 1e9 / (gpus as f64 - 1.0);
        assert!((one / expected - 1.0).abs() < 1e-3, "{one}, not {expected}");
    }
}

/// One copy of many that is above the wire was copied wrong: it is left out and named. Of many such the topology is wrong.
#[test]
fn a_lone_copy_above_the_wire_spoils_no_other() {
    let machine = slots("pcie5-x16: { bandwidth: 55GB/s }", 8);
    let names: Vec<String> = (0..8).map(|gpu| format!("gpu{gpu}")).collect();
    let all = |above: usize| {
        let rate = |gpu: usize| if gpu < above { 110.2 } else { 55.0 + gpu as f64 / 100.0 };
        let copies: Vec<(&str, &str, f64)> =
            names.iter().enumerate().map(|(gpu, name)| ("cpu0", &**name, rate(gpu))).collect();
        lone(&machine, &copies)
    };
    let options = FitOptions { hold_out: 0.0, ..FitOptions::default() };
    let one = fit(&machine, &built_in("max-min"), &all(1), &options).expect("a fit");
    let found = bandwidth_of(&machine, &one.setting, "pcie5-x16");
    assert!((found / 55.04e9 - 1.0).abs() < 1e-3, "{found}");
    let unexplained = not_explained(&machine, &all(1), &one);
    assert_eq!(unexplained.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0]);
    let many = fit(&machine, &built_in("max-min"), &all(6), &options).expect_err("above the wire").to_string();
    assert!(many.contains("PCIe 5.0 x16 carries 63.0"), "{many}");
}

/// An all-reduce of eight ranks with this bus bandwidth, GB/s, which is 7/4 of size over time.
fn all_reduce(busbw: f64, machine: &Machine) -> Vec<Experiment> {
    let (algbw, bytes) = (busbw * 4.0 / 7.0, 17_179_869_184_u64);
    let row = format!("{:.1} {algbw:.1} {busbw:.1} 0", bytes as f64 / algbw / 1e3);
    let log = format!(
        "# Collective test starting: all_reduce_perf\n# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n\
         {bytes} 1 float sum -1 {row} {row}\n"
    );
    read_log_text("log", &log, machine, &ReadOptions::default()).expect("a log").1.experiments
}

/// What a fit says of it alone.
fn all_reduce_at(busbw: f64, machine: &Machine) -> String {
    let options = FitOptions::default();
    fit(machine, &built_in("max-min"), &all_reduce(busbw, machine), &options).unwrap_err().to_string()
}

/// Beside copies that tell what a link carries, it is left out: its switch reduces, and the fit is that of the copies.
#[test]
fn a_collective_above_the_wire_does_not_spoil_copies() {
    let machine = slots("nvlink4-x18: { bandwidth: 370GB/s, kind: nvlink }", 8);
    let copies = lone(&machine, &[("gpu0", "gpu1", 371.0), ("gpu1", "gpu2", 369.0), ("gpu2", "gpu3", 370.0)]);
    let of = |experiments: &[Experiment]| {
        let found = fit(&machine, &built_in("max-min"), experiments, &FitOptions::default()).expect("a fit");
        bandwidth_of(&machine, &found.setting, "nvlink4-x18")
    };
    let with = [&copies[..], &all_reduce(482.3, &machine)].concat();
    assert!((of(&with) / of(&copies) - 1.0).abs() < 1e-6, "{} and {}", of(&with), of(&copies));
    // One that a ring can have is fitted.
    let ring = [&copies[..], &all_reduce(440.0, &machine)].concat();
    assert!(of(&ring) > 1.01 * of(&copies), "{} and {}", of(&ring), of(&copies));
}

/// An all-reduce that the switch reduces is faster than any ring over the GPU's links.
#[test]
fn a_collective_faster_than_its_ring_is_refused_with_what_to_run() {
    for slot in
        ["nvlink4-x18: { bandwidth: 370GB/s, kind: nvlink }", "nvlink-x18: { bandwidth: 383.4GB/s, kind: nvlink }"]
    {
        let error = all_reduce_at(482.3, &slots(slot, 8));
        assert!(error.contains("482.") && error.contains("450.") && error.contains("NCCL_ALGO=Ring"), "{error}");
        assert!(error.contains("NVLink 4 x18 carries 450.000 GB/s"), "{error}");
        assert!(error.contains("above what a ring can carry") && error.contains("below the 700.000 GB/s"), "{error}");
        // By no more than logs round it is still what the switch can do.
        for (busbw, by_the_switch) in [(698.0, true), (706.0, true), (708.0, false)] {
            let error = all_reduce_at(busbw, &slots(slot, 8));
            assert_eq!(error.contains("below the 700.000 GB/s"), by_the_switch, "{busbw}: {error}");
            assert!(error.contains("NVLS"), "{busbw}: {error}");
        }
    }
}

/// The NVSwitch of A100 reduces nothing.
#[test]
fn reduction_in_the_switch_is_named_where_there_is_one_that_can() {
    for (slot, can) in [
        ("nvlink4-x18: { bandwidth: 370GB/s, kind: nvlink }", true),
        ("nvlink3-x12: { bandwidth: 270GB/s, kind: nvlink }", false),
        ("pcie5-x16: { bandwidth: 55GB/s }", false),
    ] {
        let error = all_reduce_at(482.3, &slots(slot, 8));
        assert!(error.contains("NCCL_ALGO=Ring") && error.contains("NVLS") == can, "{slot}: {error}");
    }
}

/// Copies over the root complex tell B · (1 − tau) alone.
#[test]
fn only_the_product_is_told_where_two_make_up_for_each_other() {
    for (start, rate) in [(24, 26.2), (31, 26.2), (20, 15.0)] {
        let machine = machine_of(&format!(
            "weir: 1\nlink_types: {{ pcie4-x16: {{ bandwidth: {start}GB/s }} }}\ntree:\n  rc0:\n    kind: root-complex\n    children:\n      \
             sw0: {{ kind: switch, link: pcie4-x16, children: {{ 'gpu[0-1]': {{ kind: gpu, link: pcie4-x16 }} }} }}\n      \
             sw1: {{ kind: switch, link: pcie4-x16, children: {{ 'gpu[2-3]': {{ kind: gpu, link: pcie4-x16 }} }} }}\n"
        ));
        let rates = [rate, rate * 1.004, rate * 0.996];
        let copies: Vec<_> = rates.iter().flat_map(|&r| [("gpu0", "gpu2", r), ("gpu3", "gpu1", r)]).collect();
        let copies = lone(&machine, &copies);
        let found = fit(&machine, &built_in("pcie-congestion"), &copies, &FitOptions::default()).expect("a fit");
        if start == 24 {
            accepted("a product", &machine, &copies, &found);
        }
        assert!(found.parameters.iter().all(|f| f.known == Known::Together), "{:#?}", found.parameters);
        let told = found.unclear[0].told.as_deref().expect("a product");
        assert!(told.starts_with(&format!("B * (1 - tau) = {rate:.1}")), "{told}");
        assert!(found.unclear[0].remedy.starts_with("measure "), "{}", found.unclear[0].remedy);
        let [bandwidth, tau] = &found.parameters[..] else { panic!("{:#?}", found.parameters) };
        assert!((bandwidth.value * (1.0 - tau.value) / (rate * 1e9) - 1.0).abs() < 1e-3);
        // Not above the wire, 31.5 GB/s, by more than logs round.
        assert!(bandwidth.value < 31.9e9, "{}", bandwidth.value);
        assert_eq!((found.rank, found.freedom), (1, 5));
    }
}

/// A product above what the wire carries is refused, too: no tau makes it possible.
#[test]
fn a_product_above_the_wire_is_refused() {
    let machine = machine_of(
        "weir: 1\nlink_types: { pcie4-x16: { bandwidth: 24GB/s } }\ntree:\n  rc0:\n    kind: root-complex\n    children:\n      \
         sw0: { kind: switch, link: pcie4-x16, children: { 'gpu[0-1]': { kind: gpu, link: pcie4-x16 } } }\n      \
         sw1: { kind: switch, link: pcie4-x16, children: { 'gpu[2-3]': { kind: gpu, link: pcie4-x16 } } }\n",
    );
    for rate in [33.0, 45.0, 280.0] {
        let copies = lone(&machine, &[("gpu0", "gpu2", rate), ("gpu3", "gpu1", rate * 1.004), ("gpu1", "gpu3", rate)]);
        let error = fit(&machine, &built_in("pcie-congestion"), &copies, &FitOptions::default()).expect_err("too fast");
        assert!(matches!(error, FitError::AboveTheWire(_)), "{rate}: {error}");
        let text = error.to_string();
        assert!(text.contains("PCIe 4.0 x16 carries 31.5"), "{rate}: {text}");
    }
}

/// Latencies of two types on one way: their sum is told.
#[test]
fn a_sum_of_latencies_is_told() {
    let machine = slots("slot: { bandwidth: 24GB/s, latency: 2us }", 2);
    let mut copies: Vec<Experiment> =
        [1_000, 1_000_000, 500 * MB].map(|bytes| group(&machine, "in", &[("cpu0", "gpu0", bytes)])).into();
    measure(&machine, ("max-min", None), &mut copies, || 1.0);
    let found = fit(&machine, &built_in("max-min"), &copies, &FitOptions::default()).expect("a fit");
    let told: Vec<_> = found.unclear.iter().filter_map(|group| group.told.as_deref()).collect();
    assert_eq!(told, ["latency of memory + latency of slot = 2.000 µs"]);
}

/// The wire of a link is known by its type, wherever that stands: in the topology, in a machine of it, or in the place of a name.
#[test]
fn types_of_machines_and_types_in_their_place_have_bounds() {
    let types = "link_types: { nvlink3-x2: { bandwidth: 45GB/s, kind: nvlink }, slot: { bandwidth: 300GB/s } }";
    let tree = "tree: { rc0: { kind: root-complex, children: { 'gpu[0-1]': { kind: gpu, link: slot } } } }";
    let pair = "links: [{ between: [gpu0, gpu1], type: nvlink3-x2 }]";
    let inside = format!("{{ {types}, {tree}, {pair} }}").replace('\n', "");
    let in_place = "{ generation: 4, width: 16, efficiency: 0.8 }";
    let slots =
        format!("tree: {{ sw: {{ kind: switch, children: {{ 'gpu[0-1]': {{ kind: gpu, link: {in_place} }} }} }} }}");
    for (text, what) in [
        (format!("{types}\n{tree}\n{pair}\n"), "NVLink 3 x2 carries 50.000"),
        (format!("machines: {{ box: {inside} }}\ntree: {{ d: {{ machine: box }} }}\n"), "NVLink 3 x2 carries 50.000"),
        (format!("{slots}\n"), "PCIe of its generation and width carries 31.5"),
    ] {
        let machine = machine_of(&format!("weir: 1\n{text}"));
        let copies = lone(&machine, &[("gpu0", "gpu1", 68.0), ("gpu1", "gpu0", 68.1)]);
        let error = fit(&machine, &built_in("max-min"), &copies, &FitOptions::default()).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}
