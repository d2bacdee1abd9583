//! The output of `lscpu` beside another dump in one text: it names the processor and counts sockets and NUMA nodes, which `lspci` and
//! `nvidia-smi` do not.

use crate::bandwidth::Processor;
use crate::finding::Findings;
use crate::machine::{Machine, Root};
use crate::refusal::Refusal;

/// What the output says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lscpu {
    processor: Processor,
    sockets: Option<u32>,
    /// The NUMA nodes with cores, by number. Memory without cores is no NUMA node here.
    nodes: Vec<u32>,
    /// It is in another language than English, whose keys are not known.
    is_foreign: bool,
}

/// Whether a line begins the output: its first line in all versions. In another language than English its value tells that.
fn is_head(line: &str) -> bool {
    line.starts_with("Architecture:") || is_foreign_head(line)
}

fn is_foreign_head(line: &str) -> bool {
    // The Chinese output has a wide colon.
    let value = line.rsplit_once([':', '：']).map(|(_, value)| value.trim());
    !line.starts_with("Architecture:") && value.is_some_and(|value| ["x86_64", "aarch64", "ppc64le"].contains(&value))
}

/// Takes the output of `lscpu` out of a text: what it says, and the text with empty lines in its place, so that lines keep their
/// numbers. It goes on to the first line that `is_other` says begins another dump.
pub(crate) fn split(text: &str, is_other: impl Fn(&str) -> bool) -> (Option<Lscpu>, String) {
    let (mut rest, mut own, mut inside) = (String::with_capacity(text.len()), Vec::new(), false);
    for line in text.split_inclusive('\n') {
        inside = is_head(line) || (inside && !is_other(line));
        if inside {
            own.push(line.trim());
            rest.push('\n');
        } else {
            rest.push_str(line);
        }
    }
    let lscpu = (!own.is_empty()).then(|| Lscpu::of(&own));
    (lscpu, rest)
}

impl Lscpu {
    /// Of lines with a key, a colon and a value each.
    fn of(lines: &[&str]) -> Self {
        let pairs =
            || lines.iter().filter_map(|line| line.split_once(':')).map(|(key, value)| (key.trim(), value.trim()));
        let value = |key: &str| pairs().find(|(own, _)| *own == key).map(|(_, value)| value);
        let number = |key: &str| value(key).and_then(|text| text.parse().ok());
        let processor = match value("Architecture") {
            Some(text) if text.starts_with("ppc64") => Processor::Power,
            Some("aarch64" | "arm64") => Processor::Arm,
            _ => Processor::of_x86(value("Vendor ID").unwrap_or(""), number("CPU family"), number("Model")),
        };
        // `NUMA node0 CPU(s): 0-15,128-143`
        let node = |(key, cpus): (&str, &str)| {
            let digits = key.strip_prefix("NUMA node")?.strip_suffix(" CPU(s)")?;
            digits.parse().ok().filter(|&node: &u32| node < 1024 && !cpus.is_empty())
        };
        let mut nodes: Vec<u32> = pairs().filter_map(node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let sockets = number("Socket(s)").filter(|sockets| (1..1024).contains(sockets));
        Self { processor, sockets, nodes, is_foreign: lines.first().is_some_and(|line| is_foreign_head(line)) }
    }

    /// Puts into a machine what the output says: the processor, the NUMA nodes that no device hangs on, and the sockets.
    pub(crate) fn complete(&self, machine: &mut Machine, findings: &mut Findings) -> Result<(), Refusal> {
        if self.is_foreign {
            let message = "`lscpu` in another language than English is not read";
            findings.warning(message, "it names the processor: take the output of `LC_ALL=C lscpu`");
        }
        if self.processor != Processor::Unknown {
            machine.set_processor(self.processor);
        }
        machine.sockets = self.sockets.map(|sockets| sockets as usize).or(machine.sockets);
        if let ([root], [node]) = (&mut machine.roots[..], &self.nodes[..]) {
            root.numa = root.numa.or(Some(*node));
        }
        // A tree without NUMA nodes may hang on any of them.
        if machine.roots.iter().all(|root| root.numa.is_none()) {
            return Ok(());
        }
        for &node in &self.nodes {
            if machine.roots.iter().all(|root| root.numa != Some(node)) {
                machine.root(Root { numa: Some(node), processor: self.processor, ..Root::default() })?;
            }
        }
        self.place_in_sockets(machine, findings);
        Ok(())
    }

    /// Which NUMA nodes lie in which socket: in order, as many to each. Systems number them so (Linux by the proximity domains of
    /// the firmware's table), but `lscpu` does not say it: *assumed*.
    fn place_in_sockets(&self, machine: &mut Machine, findings: &mut Findings) {
        let (count, sockets) = (self.nodes.len(), self.sockets.unwrap_or(0) as usize);
        if sockets == 0 || count <= sockets || !count.is_multiple_of(sockets) {
            return;
        }
        let each = count / sockets;
        for root in &mut machine.roots {
            let at = root.numa.and_then(|numa| self.nodes.binary_search(&numa).ok());
            root.package = at.map(|at| (at / each) as u32);
        }
        if sockets > 1 {
            findings.assumed(
                format!("of the {count} NUMA nodes, {each} lie in each of the {sockets} sockets, in the order of their numbers; `lscpu` counts both"),
                "hwloc shows which lie where: `lstopo --of xml machine.xml`",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_forms() {
        let is_other = |line: &str| line.starts_with("00:");
        let old = "Architecture:        x86_64\nVendor ID:           GenuineIntel\nCPU family:          6\nModel:               143\n\
                   Model name:          Intel(R) Xeon(R)\n\n00:00.0 x\n";
        let new = "00:00.0 x\nArchitecture:             x86_64\n  CPU op-mode(s):         32-bit, 64-bit\nVendor ID:                AuthenticAMD\n  \
                   Model name:             AMD EPYC\n    CPU family:           26\n    Model:                2\n    Socket(s):  2\n\
                   NUMA:\n  NUMA node(s):  3\n  NUMA node0 CPU(s):  0-7\n  NUMA node1 CPU(s):  8-15\n  NUMA node2 CPU(s):\n";
        let split = |text: &str| super::split(text, is_other);
        let of = |processor, sockets, nodes| Some(Lscpu { processor, sockets, nodes, is_foreign: false });
        let processor = |text: &str| split(text).0.map(|lscpu| lscpu.processor);
        assert_eq!(
            split(old),
            (of(Processor::IntelSapphireRapids, None, vec![]), "\n\n\n\n\n\n00:00.0 x\n".to_owned())
        );
        assert_eq!(split(new).0, of(Processor::AmdZen5, Some(2), vec![0, 1]), "a node of memory alone is none");
        assert_eq!(split(new).1, format!("00:00.0 x\n{}", "\n".repeat(12)));
        assert_eq!(processor("Architecture: aarch64\n"), Some(Processor::Arm));
        assert_eq!(processor("00:00.0 x\nVendor ID: GenuineIntel\n"), None);
        assert_eq!(processor("Architecture: x86_64\n"), Some(Processor::Unknown));
    }
}
