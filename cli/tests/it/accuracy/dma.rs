//! DMA of a network card, packet by packet.

use std::fmt::Write as _;

use weir::Scenario;

use super::patterns::{measured, table};
use super::summary;

/// Operations of a run: enough that its begin and end do not count (*assumed*).
const OPERATIONS: u64 = 256;
/// Sizes that the table lists.
const LISTED: [u64; 9] = [64, 128, 256, 257, 512, 513, 1024, 1537, 2048];

/// Gb/s of operations of a size over the link of pcie-bench: 57.88 Gb/s on the wire, headers of 24 B, of answers 20 B, payloads of 256 B,
/// requests of 512 B (Neugebauer et al., SIGCOMM 2018, section 3).
fn predicted(operation: &str, bytes: u64) -> f64 {
    let (from, to, read) = if operation == "read" { ("mem", "nic", ", read: true") } else { ("nic", "mem", "") };
    let mut yaml = String::from(
        "weir: 1\nfidelity: { packet: { rate: wire, buffer: unlimited } }\ntopology:\n  link_types: { pcie: { kind: pcie, bandwidth: 57.88Gb/s } }\n  \
         tree: { rc: { kind: root-complex, children: { mem: { kind: cpu, link: pcie }, nic: { kind: nic, link: pcie } } } }\nworkload:\n",
    );
    for _ in 0..OPERATIONS {
        writeln!(yaml, "  - transfer: {{ from: {from}, to: {to}, size: {bytes}B{read} }}").expect("text");
    }
    let run = Scenario::opener().read(yaml, measured()).expect("a scenario").run().expect("a run");
    (OPERATIONS * bytes * 8) as f64 / run.makespan().seconds() / 1e9
}

/// The rates of some sizes, and the errors of all from 64 B on.
pub(super) fn tables() -> String {
    let rows: Vec<(String, u64, f64)> = table("pcie-dma.csv")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].parse().expect("bytes"), row[2].parse().expect("a rate")))
        .collect();
    let mut rates =
        String::from("| bytes | writes, measured | predicted | reads, measured | predicted |\n|---|---|---|---|---|\n");
    for bytes in LISTED {
        write!(rates, "| {bytes} |").expect("text");
        for operation in ["write", "read"] {
            let row = rows.iter().find(|row| row.0 == operation && row.1 == bytes).expect("a measured size");
            let rate = predicted(operation, bytes);
            write!(rates, " {:.1} | {rate:.1} ({:+.1} %) |", row.2, 100.0 * (rate / row.2 - 1.0)).expect("text");
        }
        rates.push('\n');
    }
    let mut errors = String::from(
        "| operation | bytes | n | mean | median | largest | within 5 % | 10 % | 15 % |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for operation in ["write", "read"] {
        for (heading, least, most) in [("below 256", 0, 255), ("256 and more", 256, u64::MAX)] {
            let of = rows.iter().filter(|row| row.0 == operation && (least..=most).contains(&row.1));
            let found: Vec<f64> = of.map(|row| (predicted(operation, row.1) / row.2 - 1.0).abs()).collect();
            writeln!(errors, "| {operation} | {heading} | {} |", summary(found)).expect("text");
        }
    }
    format!("{rates}\n{errors}")
}
