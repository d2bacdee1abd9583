//! Tuned packets for a person.

use super::{Sheet, clean, head};
use crate::run::titled;
use crate::{TunedSize, Tuning, binary_bytes, duration, rate};
use weir_plugin_api::SimDuration;

/// The whole text: a table per operation.
#[must_use]
pub fn tuned(tuning: &Tuning) -> String {
    let under = titled(&tuning.arbiter.name, &tuning.arbiter.params);
    let load = if tuning.under_load { ", under the scenario's other traffic" } else { "" };
    let mut out = head(&tuning.scenario, &tuning.file, &format!("{under}{load}"));
    for operation in &tuning.operations {
        let mut sheet = Sheet::new([">size", ">packet", ">time", ">without packets", ">gain", ">bandwidth"])
            .spare(["bandwidth", "without packets"]);
        for row in &operation.sizes {
            sheet.row(cells(row));
        }
        out.push_str(&format!("\nput {}\n{}", clean(&operation.id), sheet.finish()));
    }
    out
}

fn cells(row: &TunedSize) -> [String; 6] {
    let dash = || "–".to_owned();
    let seconds = |s: f64| duration(SimDuration((s * weir_plugin_api::PS_PER_S as f64).round() as u64));
    [
        binary_bytes(row.bytes),
        row.packet.map_or_else(dash, binary_bytes),
        duration(SimDuration(row.ps)),
        row.without_packets_s.map_or_else(dash, seconds),
        row.gain.filter(|_| row.packet.is_some()).map_or_else(dash, |gain| format!("{:.1} %", gain * 100.0)),
        row.bandwidth.map_or_else(dash, rate),
    ]
}
