//! The measured patterns of copies between GPUs on PCIe switches, and a scenario of each: for the tables of docs/accuracy.md,
//! and for `cargo run --example measured_patterns`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Under which a pattern is simulated.
#[derive(Clone, Copy)]
pub(crate) struct Policy {
    /// How a row of the tables is headed.
    pub(crate) heading: &'static str,
    /// The key of a scenario, and its value.
    pub(crate) key: &'static str,
    pub(crate) value: &'static str,
}

const fn arbiter(heading: &'static str, value: &'static str) -> Policy {
    Policy { heading, key: "arbiter", value }
}

pub(crate) const POLICIES: [Policy; 5] = [
    arbiter("`max-min`", "max-min"),
    arbiter("`pcie-congestion`", "pcie-congestion"),
    arbiter("`pcie-congestion`, tau 0", "{ name: pcie-congestion, tau: 0 }"),
    arbiter("`input-fifo`", "input-fifo"),
    // Room for two packets of 280 B in each buffer (*assumed*: with one, a lone copy loses 8 % of its link; with three to 58 the
    // share within 10 % is 94 or 95 %).
    Policy { heading: "packets", key: "fidelity", value: "{ packet: { buffer: 560B } }" },
];

/// Bytes of a copy that goes packet by packet: rates are those of large copies within 1 %.
const PACKET_COPY: u64 = 1_000_000;

/// Machines, their wirings, and the heading of their rows.
pub(crate) const MACHINES: [(&str, &str, &str); 5] = [
    ("wrx90-2switch-flat", "", "two switches of four GPUs"),
    ("wrx90-3switch-hierarchy", "", "two halved chips below a third"),
    ("wrx90-8gpu-2vs", "V1", "two halved chips, V1"),
    ("wrx90-8gpu-2vs", "V2", "two halved chips, V2"),
    ("wrx90-8gpu-2vs", "V3", "two halved chips, V3"),
];

/// A measured pattern of copies between GPUs.
pub(crate) struct Pattern {
    pub(crate) machine: String,
    pub(crate) wiring: String,
    pub(crate) op: String,
    pub(crate) bytes: u64,
    pub(crate) flows: Vec<(usize, usize)>,
    pub(crate) text: String,
    /// Measured, in GB/s.
    pub(crate) rate: f64,
    /// Whether that is the sum of single rates, not all bytes over the makespan.
    pub(crate) is_mean: bool,
}

/// The folder of the numbers.
pub(crate) fn measured() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/measured")
}

/// The lines of a file of numbers, by commas, without notes and the head.
pub(crate) fn table(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(measured().join(name)).expect("a file of numbers");
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

impl Pattern {
    /// Those that cannot be are left out.
    pub(crate) fn all() -> Vec<Self> {
        let rows = table("pcie-switches.csv").into_iter().filter(|row| row[8].is_empty());
        let flow = |text: &str| {
            let (from, to) = text.split_once('>').expect("a flow");
            (from.parse().expect("a GPU"), to.parse().expect("a GPU"))
        };
        let pattern = |row: Vec<String>| Self {
            bytes: row[3].parse().expect("bytes"),
            flows: row[4].split(' ').map(flow).collect(),
            rate: row[5].parse().expect("a rate"),
            is_mean: row[6] == "mean",
            text: if row[4].len() > 40 { format!("{} copies", row[4].split(' ').count()) } else { row[4].clone() },
            machine: row[0].clone(),
            wiring: row[1].clone(),
            op: row[2].clone(),
        };
        rows.map(pattern).collect()
    }

    pub(crate) fn heading(&self) -> &'static str {
        let is_own = |machine: &&(&str, &str, &str)| (machine.0, machine.1) == (&self.machine, &self.wiring);
        MACHINES.iter().find(is_own).expect("known").2
    }

    /// The chip of each switch of two GPUs, where copies choose between uplinks.
    fn chips(&self) -> Option<[u8; 4]> {
        match (self.machine.as_str(), self.wiring.as_str()) {
            ("wrx90-2switch-flat", _) => None,
            (_, "V1" | "V2") => Some([0, 1, 0, 1]),
            _ => Some([0, 0, 1, 1]),
        }
    }

    /// The scenario, with the topologies of a folder: a policy that is defined inside one tree gets the tree of the halves.
    pub(crate) fn scenario(&self, policy: Policy, topologies: &str) -> String {
        let wiring = match self.wiring.as_str() {
            "" => "",
            "V3" => "-v3",
            _ => "-v1",
        };
        let tree = policy.value.contains("pcie-congestion") && self.chips().is_some();
        let halves = if tree { "-halves" } else { "" };
        let mut yaml = format!("weir: 1\ntopology: {topologies}/{}{wiring}{halves}.yaml\n", self.machine);
        write!(yaml, "{}: {}\nworkload:\n", policy.key, policy.value).expect("text");
        for &(from, to) in &self.flows {
            let (a, b) = (from / 2, to / 2);
            let via = match self.chips().filter(|chips| !tree && chips[a] != chips[b]) {
                Some(_) => format!(", via: [port{}, port{}]", a + 1, b + 1),
                None => String::new(),
            };
            // Where GPU a reads from GPU b, the bytes go from b to a.
            let (from, to) = if self.op == "read" { (to, from) } else { (from, to) };
            writeln!(yaml, "  - transfer: {{ from: gpu{from}, to: gpu{to}, size: {}B{via} }}", self.simulated(policy))
                .expect("text");
        }
        yaml
    }

    /// Bytes of each copy in a run.
    pub(crate) fn simulated(&self, policy: Policy) -> u64 {
        if policy.key == "fidelity" { self.bytes.min(PACKET_COPY) } else { self.bytes }
    }
}
