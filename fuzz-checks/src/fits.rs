//! Fits to any times: a fit ends with numbers, or says why there is none.

use std::fmt::Write as _;
use std::sync::LazyLock;

use weir_calibrate::read::{LogKind, ReadOptions, read_log_text};
use weir_calibrate::{Experiment, FitOptions, FitReport, Made, fit, json, text, warnings};
use weir_scenario::{LoadOptions, Machine};

use crate::root;

/// Bytes of an input that stand for a row.
const ROW: usize = 5;
/// Rows that a fit takes at most here, so that it ends in milliseconds.
const MOST_ROWS: usize = 12;
/// Devices that rows name.
const DEVICES: [&str; 6] = ["gpu0", "gpu1", "gpu2", "gpu4", "cpu0", "cpu1"];

/// The machine under an arbiter without parameters, and under one with.
static MACHINES: LazyLock<[Machine; 2]> = LazyLock::new(|| {
    let registry = weir::Registry::built_in().expect("built-in names are distinct");
    let file = root().join("scenarios/topologies/two-socket-8gpu.yaml");
    ["max-min", "pcie-congestion"].map(|arbiter| {
        let options = LoadOptions { arbiters: vec![arbiter.to_owned()], ..LoadOptions::default() };
        Machine::load(&file, &options, &registry).expect("a machine of the library")
    })
});

/// The rows of an input, as the table that `weir calibrate` reads. Five bytes are a row: source, destination, size, time, group.
fn table(bytes: &[u8]) -> String {
    let mut table = "from,to,bytes,seconds,group\n".to_owned();
    for row in bytes.chunks_exact(ROW).take(MOST_ROWS) {
        let device = |byte: u8| DEVICES[usize::from(byte) % DEVICES.len()];
        let (from, to) = (device(row[0]), device(row[1]));
        if from == to {
            continue;
        }
        // Sizes from 1 B to 1 TiB, times that are rates from 1 kB/s to 10 TB/s.
        let bytes = 1_u64 << (row[2] % 41);
        let seconds = (bytes as f64 / 10_f64.powf(3.0 + f64::from(row[3]) / 25.6)).clamp(1e-12, 8e6);
        let group = if row[4] < 128 { String::new() } else { (row[4] % 4).to_string() };
        let _ = writeln!(table, "{from},{to},{bytes},{seconds:e},{group}");
    }
    table
}

/// A fit to the rows of an input: its values and simulated times are numbers, and it can be printed.
pub fn fits(bytes: &[u8]) {
    let Some((&first, rows)) = bytes.split_first() else { return };
    let machine = &MACHINES[usize::from(first % 2)];
    let options = ReadOptions { kind: Some(LogKind::Csv), ..ReadOptions::default() };
    let Ok((_, log)) = read_log_text("rows", &table(rows), machine, &options) else { return };
    let experiments: Vec<Experiment> = log.experiments.clone();
    let arbiter = machine.arbiters.first().expect("an arbiter was given");
    let hold_out = if first < 128 { 0.0 } else { 0.3 };
    let found = match fit(machine, arbiter, &experiments, &FitOptions { hold_out, ..FitOptions::default() }) {
        Ok(found) => found,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for fitted in &found.parameters {
        assert!(fitted.value.is_finite(), "{}: {}", fitted.parameter.name, fitted.value);
    }
    for row in &found.rows {
        assert!(row.simulated.is_finite() && row.simulated >= 0.0, "simulated {} s", row.simulated);
    }
    let made = Made { arbiter: &arbiter.name, arbiters: &[], per_link: true };
    let warnings = warnings(machine, &experiments, &found, made);
    let logs = [log];
    let report = FitReport { machine, experiments: &experiments, logs: &logs, fit: &found, warnings: &warnings };
    assert!(!text(&report).is_empty() && json(&report).is_object());
}
