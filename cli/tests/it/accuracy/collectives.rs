//! Collectives of NCCL by the model `collective`, over links with one bandwidth and one latency per step.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use weir::Scenario;

use super::patterns::{measured, table};
use super::summary;

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

/// Part of a link's bandwidth that an all-reduce in the switch gets on Hopper (NCCL, src/graph/tuning.cc,
/// `nvlsEfficiency`).
const NVLS_EFFICIENCY: f64 = 0.85;

/// Seconds of a step of an all-reduce in the switch, which has two: up, and down again (NCCL, src/graph/tuning.cc, `hwLat` of
/// NVLink: 25 µs for NVLS).
const NVLS_STEP: f64 = 25e-6 / 2.0;

impl Row {
    /// Steps of the collective that is fitted, and the bytes that each rank sends in one (nccl-tests,
    /// doc/PERFORMANCE.md).
    fn steps(&self) -> (usize, u64) {
        let n = self.ranks;
        match self.collective.as_str() {
            "all_reduce" => (2 * (n - 1), self.bytes / n as u64),
            _ => (n - 1, self.bytes / n as u64),
        }
    }

    /// Kind and algorithm. NCCL adds up in the switch where it can (NVLS), by its own estimate for 4 and for 8 GPUs.
    fn collective(&self) -> (&'static str, &'static str) {
        match (self.collective.as_str(), self.machine.as_str()) {
            ("all_reduce", "h100-nvswitch") => ("all-reduce", "nvls"),
            ("all_reduce", _) => ("all-reduce", "ring"),
            ("all_gather", _) => ("all-gather", "ring"),
            ("reduce_scatter", _) => ("reduce-scatter", "ring"),
            ("alltoall", _) => ("all-to-all", "direct"),
            _ => ("send-recv-chain", "direct"),
        }
    }

    /// The time as the links give it: a scenario in which each rank has a link to one switch.
    fn predicted(&self, links: Links) -> f64 {
        let (n, (kind, algorithm)) = (self.ranks, self.collective());
        let (step, efficiency) = if algorithm == "nvls" { (NVLS_STEP, NVLS_EFFICIENCY) } else { (links.step, 1.0) };
        let latency = (step / 2.0 * 1e12) as u64;
        let yaml = format!(
            "weir: 1\narbiter: max-min\ntopology:\n  link_types: {{ port: {{ bandwidth: {:.0}B/s, latency: {latency}ps }} }}\n  tree: {{ switch: {{ \
             kind: switch, children: {{ \"gpu[0-{last}]\": {{ kind: gpu, link: port }} }} }} }}\nworkload:\n  - collective: {{ id: c, kind: {kind}, \
             algorithm: {algorithm}, size: {}B, ranks: \"gpu[0-{last}]\", protocol: {{ efficiency: {efficiency} }} }}\n",
            links.bandwidth,
            self.bytes,
            last = n - 1
        );
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

/// 1 GiB, less what ten ranks leave over.
const LARGE: u64 = (1 << 30) - 1000;

/// The fitted links, and the errors by collective.
pub(super) fn tables() -> String {
    let all = rows();
    let (mut links, mut errors) = (
        String::from("| machine | fitted to | bandwidth each way | time of a step |\n|---|---|---|---|\n"),
        String::from(
            "| machine | ranks | collective | as | n | mean | median | largest | within 5 % | 10 % | 15 % | largest from 1 GiB on |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
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
        let mut groups: BTreeMap<(usize, &str), Vec<(&Row, f64)>> = BTreeMap::new();
        for row in of_machine {
            if !(is_source(row) && half.iter().any(|fitted| fitted.bytes == row.bytes)) {
                let error = (row.predicted(found) / row.seconds - 1.0).abs();
                groups.entry((usize::MAX - row.ranks, &row.collective)).or_default().push((row, error));
            }
        }
        for ((ranks, collective), found) in groups {
            let (ranks, (_, algorithm)) = (usize::MAX - ranks, found[0].0.collective());
            let large = found.iter().filter(|(row, _)| row.bytes >= LARGE).map(|(_, error)| *error).fold(0.0, f64::max);
            let all = summary(found.iter().map(|(_, error)| *error).collect());
            writeln!(
                errors,
                "| {heading} | {ranks} | `{collective}` | `{algorithm}` | {all} | {:.1} % |",
                100.0 * large
            )
            .expect("text");
        }
    }
    format!("{links}\n{errors}")
}
