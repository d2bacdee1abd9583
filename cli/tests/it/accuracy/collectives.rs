//! Collectives of NCCL as rings, step by step, over links with one bandwidth and one latency per step.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use weir::Scenario;

use super::{measured, summary, table};

/// A measured collective.
struct Row {
    machine: String,
    collective: String,
    ranks: usize,
    bytes: u64,
    seconds: f64,
}

fn rows() -> Vec<Row> {
    let row = |row: Vec<String>| Row {
        machine: row[0].clone(),
        collective: row[1].clone(),
        ranks: row[2].parse().expect("ranks"),
        bytes: row[3].parse().expect("bytes"),
        seconds: row[4].parse::<f64>().expect("a time") * 1e-6,
    };
    table("nccl-collectives.csv").into_iter().map(row).collect()
}

/// What the links of a machine are made of.
#[derive(Clone, Copy)]
struct Links {
    /// Bytes per second each way.
    bandwidth: f64,
    /// Seconds of a step beside its bytes.
    step: f64,
}

impl Row {
    /// Steps of a ring, and the bytes that each rank sends in one (nccl-tests, doc/PERFORMANCE.md).
    fn steps(&self) -> (usize, u64) {
        let n = self.ranks;
        match self.collective.as_str() {
            "all_reduce" => (2 * (n - 1), self.bytes / n as u64),
            "all_gather" | "reduce_scatter" => (n - 1, self.bytes / n as u64),
            _ => (1, self.bytes),
        }
    }

    /// The time as the links give it: a scenario in which each rank has a link to one switch.
    fn predicted(&self, links: Links) -> f64 {
        let (n, (steps, bytes)) = (self.ranks, self.steps());
        let latency = (links.step / 2.0 * 1e12) as u64;
        let mut yaml = format!(
            "weir: 1\narbiter: max-min\ntopology:\n  link_types: {{ port: {{ bandwidth: {:.0}B/s, latency: {latency}ps }} }}\n  tree: {{ switch: {{ \
             kind: switch, children: {{ \"gpu[0-{}]\": {{ kind: gpu, link: port, engines: {n} }} }} }} }}\nworkload:\n",
            links.bandwidth,
            n - 1
        );
        let all = self.collective == "alltoall";
        for step in 0..steps {
            for from in 0..n {
                let others = if all { 1..n } else { 1..2 };
                for by in others {
                    let size = if all { bytes / n as u64 } else { bytes };
                    let before = (from + n - 1) % n;
                    let after = if step > 0 { format!(", after: [t{}-{before}]", step - 1) } else { String::new() };
                    let id = if all { format!("t{from}-{by}") } else { format!("t{step}-{from}") };
                    writeln!(
                        yaml,
                        "  - transfer: {{ id: {id}, from: gpu{from}, to: gpu{}, size: {size}B{after} }}",
                        (from + by) % n
                    )
                    .expect("text");
                }
            }
        }
        let run = Scenario::opener().read(yaml, measured()).expect("a scenario").run().expect("a run");
        run.makespan().seconds()
    }
}

/// Least squares of the relative errors of steps · step + steps · bytes / bandwidth.
fn fitted(rows: &[&Row]) -> Links {
    let (mut aa, mut ab, mut bb, mut a, mut b) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for row in rows {
        let (steps, bytes) = row.steps();
        let (x, y) = (steps as f64 / row.seconds, steps as f64 * bytes as f64 / row.seconds);
        (aa, ab, bb, a, b) = (aa + x * x, ab + x * y, bb + y * y, a + x, b + y);
    }
    let step = ((a * bb - b * ab) / (aa * bb - ab * ab)).max(0.0);
    let per_byte = (b - step * ab) / bb;
    Links { bandwidth: 1.0 / per_byte, step }
}

/// The machines with the collective whose every second size is fitted.
const MACHINES: [(&str, &str, usize, &str); 3] = [
    ("h100-nvswitch", "all_gather", 8, "8 H100, NVSwitch"),
    ("h100-network", "all_gather", 10, "10 H100, a network card of 400 Gb/s each"),
    ("a100-nvswitch", "all_reduce", 8, "8 A100, NVSwitch"),
];

/// The fitted links, and the errors by collective.
pub(super) fn tables() -> String {
    let all = rows();
    let (mut links, mut errors) = (
        String::from("| machine | fitted to | bandwidth each way | time of a step |\n|---|---|---|---|\n"),
        String::from(
            "| machine | ranks | collective | n | mean | median | largest | within 5 % | 10 % | 15 % |\n|---|---|---|---|---|---|---|---|---|---|\n",
        ),
    );
    for (machine, collective, ranks, heading) in MACHINES {
        let of_machine: Vec<&Row> = all.iter().filter(|row| row.machine == machine).collect();
        let is_source = |row: &Row| row.collective == collective && row.ranks == ranks;
        let source: Vec<&Row> = of_machine.iter().copied().filter(|row| is_source(row)).collect();
        let half: Vec<&Row> = source.iter().copied().step_by(2).collect();
        let found = fitted(&half);
        writeln!(
            links,
            "| {heading} | every second size of `{collective}`, {} rows | {:.1} GB/s | {:.2} µs |",
            half.len(),
            found.bandwidth / 1e9,
            found.step * 1e6
        )
        .expect("text");
        let mut groups: BTreeMap<(usize, &str), Vec<f64>> = BTreeMap::new();
        for row in of_machine {
            if !(is_source(row) && half.iter().any(|fitted| fitted.bytes == row.bytes)) {
                let error = (row.predicted(found) / row.seconds - 1.0).abs();
                groups.entry((usize::MAX - row.ranks, &row.collective)).or_default().push(error);
            }
        }
        for ((ranks, collective), found) in groups {
            let ranks = usize::MAX - ranks;
            writeln!(errors, "| {heading} | {ranks} | `{collective}` | {} |", summary(found)).expect("text");
        }
    }
    format!("{links}\n{errors}")
}
