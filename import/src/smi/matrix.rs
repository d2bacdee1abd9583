//! The matrix of `nvidia-smi topo -m`, once read.

/// What the way between two devices passes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Way {
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
    Own,
}

impl Way {
    /// The nearer of two ways that the cells of one pair give: NVLinks are nearest, and of two numbers of them the smaller counts, as digits of
    /// the next column may have been fused to the other.
    pub(super) fn nearer(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nv(_), Self::Nv(_)) => self.min(other),
            (Self::Nv(_), _) | (Self::Own, _) => self,
            (_, Self::Nv(_)) | (_, Self::Own) => other,
            _ => self.min(other),
        }
    }
}

#[derive(Debug)]
pub(super) struct Matrix {
    pub(super) names: Vec<String>,
    /// By row and column.
    pub(super) ways: Vec<Vec<Way>>,
    /// The NUMA affinity of each row, where the text has it.
    pub(super) numa: Vec<Option<u32>>,
    /// The CPU affinity of each row, where the text has it.
    pub(super) cpus: Vec<String>,
}
