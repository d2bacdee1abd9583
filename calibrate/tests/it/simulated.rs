//! Times of experiments by hand, whatever is fitted to them.

use std::sync::Arc;

use crate::common::{built_in, group, machine_of};
use weir_calibrate::fit::Simulator;
use weir_calibrate::fit::parameter::Setting;
use weir_calibrate::{Experiment, MeasuredEnd};
use weir_plugin_api::{ArbiterEntry, CallError, FabricView, Flags, Grant, LinkId, Origin, PhaseView, RateArbiter};
use weir_scenario::{ArbiterSpec, Machine};

/// Devices with 1 µs and 10 GB/s up, and the rate of a host's slot.
fn machine(host: &str) -> Machine {
    machine_of(&format!(
        "weir: 1\nlink_types: {{ slot: {{ bandwidth: 10GB/s, latency: 1us }}, host: {{ bandwidth: {host}, latency: 2us }} }}\ntree:\n  sw:\n    \
         kind: switch\n    children: {{ 'gpu[0-3]': {{ kind: gpu, link: slot }}, host: {{ kind: cpu, link: host }} }}\n"
    ))
}

fn seconds(machine: &Machine, experiment: Experiment) -> Vec<f64> {
    let arbiter = built_in("max-min");
    let experiments = [experiment];
    let simulator = Simulator::new(machine, &arbiter, &experiments).expect("routes");
    simulator.seconds(&Setting::of(machine), |_| true).expect("times").remove(0)
}

fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} s, not {expected}");
    }
}

/// 1 GB over 5 GB/s and back 3 GB over 5 GB/s, 3 µs each way: a reply takes the latency and the narrowest link of the way back.
#[test]
fn a_reply_takes_its_way_back() {
    let machine = machine("5GB/s");
    let mut one = group(&machine, "one", &[("gpu0", "host", 1_000_000_000)]);
    near(&seconds(&machine, one.clone()), &[0.2 + 3e-6]);
    one.reply = Some(3_000_000_000);
    near(&seconds(&machine, one.clone()), &[0.2 + 3e-6 + 0.6 + 3e-6]);
    // Messages behind each other have one reply, and the steps of a collective pay the latency each time.
    one.messages = 4;
    one.steps = 5;
    near(&seconds(&machine, one), &[0.8 + 5.0 * 3e-6 + 0.6 + 3e-6]);
}

/// The end of the last is that of the longest, and of each its own.
#[test]
fn ends_are_those_that_were_measured() {
    let machine = machine("5GB/s");
    let mut two = group(&machine, "two", &[("gpu0", "gpu1", 1_000_000_000), ("gpu2", "gpu3", 3_000_000_000)]);
    near(&seconds(&machine, two.clone()), &[0.1 + 2e-6, 0.3 + 2e-6]);
    two.rows.truncate(1);
    two.rows[0].end = MeasuredEnd::Last;
    near(&seconds(&machine, two), &[0.3 + 2e-6]);
}

/// Copies of bytes and of terabytes, over links of gigabytes and of hundreds of terabytes a second, alone and beside each other, are
/// as precise as all others: what is simulated is stretched, and nothing is cut off.
#[test]
fn no_size_and_no_rate_costs_digits() {
    for rate in [1e9, 1e12, 1e14, 3e14] {
        let machine = machine_of(&format!(
            "weir: 1\nlink_types: {{ slot: {{ bandwidth: {rate}B/s }} }}\ntree:\n  sw:\n    kind: switch\n    children: {{ 'gpu[0-3]': {{ \
             kind: gpu, link: slot }} }}\n"
        ));
        for bytes in [1, 1_000, 1_000_003, 1_000_000_000_003] {
            let one = group(&machine, "one", &[("gpu0", "gpu1", bytes)]);
            near(&seconds(&machine, one), &[bytes as f64 / rate]);
            let two = group(&machine, "two", &[("gpu0", "gpu1", bytes), ("gpu2", "gpu3", 1_000 * bytes)]);
            near(&seconds(&machine, two), &[bytes as f64 / rate, 1e3 * bytes as f64 / rate]);
        }
    }
}

/// Refuses all routes, or fails.
struct Stubborn(CallError);

impl RateArbiter for Stubborn {
    fn admit(&mut self, _: &[LinkId]) -> Result<(), CallError> {
        Err(self.0.clone())
    }

    fn allocate(&mut self, _: &PhaseView<'_>, _: &mut Grant<'_>) -> Result<(), CallError> {
        Err(self.0.clone())
    }
}

/// Where an arbiter for PCIe refuses a route over other links, another one is named; where it fails, there is nothing to say.
#[test]
fn an_arbiter_that_refuses_a_route_is_told_from_one_that_fails() {
    let machine = machine_of(
        "weir: 1\nlink_types: { slot: { bandwidth: 10GB/s }, nvlink: { bandwidth: 40GB/s } }\ntree:\n  sw:\n    kind: switch\n    \
         children: { 'gpu[0-1]': { kind: gpu, link: slot } }\nlinks: [{ between: [gpu0, gpu1], type: nvlink }]\n",
    );
    let experiments = [group(&machine, "one", &[("gpu0", "gpu1", 1_000)])];
    let error = |error: CallError| {
        let make = move |_: &FabricView<'_>, _: &str| Ok(Box::new(Stubborn(error.clone())) as Box<dyn RateArbiter>);
        let entry = ArbiterEntry {
            name: "stubborn".into(),
            version: "1".into(),
            flags: Flags::PURE.union(Flags::FOR_PCIE),
            says_what_it_reads: true,
            legend: Vec::new(),
            params_schema: "{}".into(),
            origin: Origin::BuiltIn,
            make: Arc::new(make),
            incremental: None,
        };
        let arbiter = ArbiterSpec::plain(&Arc::new(entry));
        Simulator::new(&machine, &arbiter, &experiments).err().expect("it admits no route").to_string()
    };
    let refused = error(CallError::Refused("no such routes".into()));
    assert!(refused.contains("no such routes") && refused.contains("max-min"), "{refused}");
    let failed = error(CallError::Failed("out of order".into()));
    assert!(failed.contains("out of order") && !failed.contains("max-min"), "{failed}");
}
