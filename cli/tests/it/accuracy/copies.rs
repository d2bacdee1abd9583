//! Copies between one GPU and host memory, measured by `tools/measure/measure.py`: what links that were fitted to one run
//! say about another run, about a kernel that reads host memory, and about copies around a kernel in streams.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use weir::Scenario;

use super::patterns::{measured, table};
use super::summary;

/// From here on the bytes take longer than the start of a copy (*assumed*: 1 MB takes 18 of 26 µs).
const LARGE: u64 = 1_000_000;

/// Between two copies of an engine: fitted to the program below of the H100 in 4, 8 and 16 streams, where it leaves 0.9 % in
/// the mean.
const GAP: &str = "4.4us";

/// Bytes and kernel of the program to which the gap is fitted, and which is not counted.
const FITTED: (u64, &str) = (16 << 20, "0.01ms");

/// GPUs with the program that is not counted; nothing is fitted to those of the other one.
const GPUS: [(&str, Option<(u64, &str)>); 2] = [("h100", Some(FITTED)), ("h200", None)];

/// A group of copies that were measured at once.
struct Group {
    what: String,
    /// Source, target, bytes and seconds of each.
    copies: Vec<(String, String, u64, f64)>,
    streams: usize,
    kernel: String,
}

fn groups(gpu: &str) -> Vec<Group> {
    let mut all: BTreeMap<String, Group> = BTreeMap::new();
    for row in table(&format!("{gpu}-predicted.csv")) {
        let empty = || Group {
            what: row[5].clone(),
            copies: Vec::new(),
            streams: row[6].parse().expect("streams"),
            kernel: row[7].clone(),
        };
        let copy = (row[0].clone(), row[1].clone(), row[2].parse().expect("bytes"), row[3].parse().expect("seconds"));
        all.entry(row[4].clone()).or_insert_with(empty).copies.push(copy);
    }
    all.into_values().collect()
}

impl Group {
    fn is_large(&self) -> bool {
        self.copies[0].2 >= LARGE
    }

    /// Its row in the table.
    fn heading(&self) -> (u8, String) {
        let size = if self.is_large() { "1 MB and more" } else { "4 to 512 kB" };
        let small = u8::from(!self.is_large());
        match (self.what.as_str(), self.copies.len(), self.streams) {
            ("copy", 1, _) => (small, format!("a copy alone, {size}")),
            ("copy", ..) => (2 + small, format!("copies both ways at once, {size}")),
            ("mapped", ..) => (4 + small, format!("a kernel reads host memory, {size}")),
            (_, _, 1) => (10, "in, kernel, out, one after another".to_owned()),
            (_, _, streams) => (10 + streams as u8, format!("the same in {streams} streams")),
        }
    }

    fn workload(&self) -> String {
        let mut yaml = String::new();
        for (from, to, bytes, _) in &self.copies {
            match self.what.as_str() {
                "streams" => writeln!(
                    yaml,
                    "  - offload: {{ id: k, device: gpu0, in: {bytes}B, out: {bytes}B, kernel: {}, streams: {}, over: fabric, \
                     parameters: {{ gap_in: {GAP}, gap_out: {GAP} }} }}",
                    self.kernel, self.streams
                ),
                _ => writeln!(yaml, "  - transfer: {{ from: {from}, to: {to}, size: {bytes}B }}"),
            }
            .expect("text");
        }
        yaml
    }

    /// Relative errors of what is predicted, one for each row that was measured.
    fn errors(&self, gpu: &str) -> Vec<f64> {
        let yaml = format!(
            "weir: 1\ntopology: ../topologies/{gpu}-host.yaml\narbiter: max-min\nworkload:\n{}",
            self.workload()
        );
        let run = Scenario::opener().read(yaml, measured()).expect("a scenario").run().expect("a run");
        if self.what == "streams" {
            return vec![(run.makespan().seconds() / self.copies[0].3 - 1.0).abs()];
        }
        let ends = run.transfers().expect("transfers").into_iter().map(|t| t.end.expect("an end").seconds());
        ends.zip(&self.copies).map(|(end, copy)| (end / copy.3 - 1.0).abs()).collect()
    }
}

/// Errors by GPU and by what was measured.
pub(super) fn table_of_errors() -> String {
    let mut text = String::from(
        "| GPU | measured | n | mean | median | largest | within 5 % | 10 % | 15 % |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for (gpu, fitted) in GPUS {
        let mut errors: BTreeMap<(u8, String), Vec<f64>> = BTreeMap::new();
        for group in groups(gpu) {
            if fitted != Some((group.copies[0].2, &*group.kernel)) {
                errors.entry(group.heading()).or_default().extend(group.errors(gpu));
            }
        }
        for ((_, heading), found) in errors {
            writeln!(text, "| {} | {heading} | {} |", gpu.to_uppercase(), summary(found)).expect("text");
        }
    }
    text
}
