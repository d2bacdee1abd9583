//! The matrix of `nvidia-smi topo -m`. It says of each pair of devices what their way passes; the tree is a guess from that,
//! and there are no bus ids, speeds or widths.
//!
//! ```text
//!         GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity
//! GPU0     X      PIX     SYS     0-31            0
//! ```

mod guess;
mod table;

use crate::finding::Findings;
use crate::machine::Machine;
use crate::refusal::Refusal;

/// What the way between two devices passes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Way {
    /// One PCIe bridge at most.
    Pix,
    /// Several bridges, no host bridge.
    Pxb,
    /// A host bridge.
    Phb,
    /// The interconnect between host bridges of one NUMA node.
    Node,
    /// The interconnect between NUMA nodes.
    Sys,
    /// A number of NVLinks.
    Nv(u32),
    /// The device itself.
    Own,
}

impl Way {
    /// The nearer one of two that are told of one pair: NVLinks are nearest, and of two numbers of them the smaller counts, as digits of
    /// the next column may have been fused to the other.
    fn nearer(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nv(_), Self::Nv(_)) => self.min(other),
            (Self::Nv(_), _) | (Self::Own, _) => self,
            (_, Self::Nv(_)) | (_, Self::Own) => other,
            _ => self.min(other),
        }
    }
}

/// The matrix.
#[derive(Debug)]
struct Table {
    names: Vec<String>,
    /// By row and column.
    ways: Vec<Vec<Way>>,
    /// The NUMA affinity of each row, where it is told.
    numa: Vec<Option<u32>>,
    /// The CPU affinity of each row, where it is told.
    cpus: Vec<String>,
}

/// Whether a line may be the head of a matrix.
pub(crate) fn is_head(line: &str) -> bool {
    table::plain(line).trim_start().starts_with("GPU0")
}

/// Refuses what other tools write of the same look.
pub(crate) fn refuse_others(text: &str) -> Result<(), Refusal> {
    let rocm = ["ROCm System Management Interface", "ROCm SMI", "Weight between two GPUs", "Hops between two GPUs"];
    let line = (1..).zip(text.lines()).find(|(_, line)| rocm.iter().any(|words| line.contains(words)));
    line.map_or(Ok(()), |(line, _)| {
        let help = "give RCCL's dump (`NCCL_TOPO_DUMP_FILE=topology.xml` in the environment of any RCCL program), `lstopo --of xml`, or \
                    `sudo lspci -Dvvnn`";
        Err(Refusal::new("this is the output of rocm-smi, which is not read").at(line).help(help))
    })
}

/// Reads a dump.
pub(crate) fn read(text: &str, findings: &mut Findings) -> Result<Machine, Refusal> {
    refuse_others(text)?;
    let table = table::read(text, findings)?;
    findings.warning(
        "the tree is a guess: `nvidia-smi topo -m` tells what is between two devices, but no bus ids, speeds or widths",
        crate::format::Format::NvidiaSmi.better_dump(),
    );
    guess::machine(&table, findings)
}
