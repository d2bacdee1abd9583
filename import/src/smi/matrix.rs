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

/// The NUMA nodes of an affinity, in order: one, several of a device that is near to all of them (`0-3`, `0,2`), or none where the text
/// has none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct NumaNodes(Vec<u32>);

impl NumaNodes {
    /// Reads `1`, `0-3` or `0,2-3`; anything else is none, such as `N/A`.
    pub(super) fn read(text: &str) -> Self {
        let number = |text: &str| text.parse().ok().filter(|&node: &u32| node < 1024);
        let part = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(number(first)?..=number(last)?)
        };
        // As many as there can be nodes, so that a long line takes no long time.
        let parts: Option<Vec<_>> = text.split(',').take(64).map(part).collect();
        let mut nodes: Vec<u32> = parts.into_iter().flatten().flatten().collect();
        nodes.sort_unstable();
        nodes.dedup();
        Self(nodes)
    }

    pub(super) fn is_known(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    /// Whether one of them is one of others.
    pub(super) fn meet(&self, others: &Self) -> bool {
        self.0.iter().any(|node| others.0.contains(node))
    }

    /// The first that is not taken.
    pub(super) fn first_but(&self, taken: &[u32]) -> Option<u32> {
        self.0.iter().copied().find(|node| !taken.contains(node))
    }
}

#[derive(Debug)]
pub(super) struct Matrix {
    pub(super) names: Vec<String>,
    /// By row and column.
    pub(super) ways: Vec<Vec<Way>>,
    /// The NUMA affinity of each row, where the text has it.
    pub(super) numa: Vec<NumaNodes>,
    /// The CPU affinity of each row, where the text has it.
    pub(super) cpus: Vec<String>,
    /// Whether the memory of each GPU is a NUMA node of its own.
    pub(super) has_memory_node: Vec<bool>,
}

impl Matrix {
    /// Whether two devices have the affinity of one NUMA node, the same; where no column has it, to the same processors, if devices
    /// differ in that.
    pub(super) fn of_one_node(&self, i: usize, j: usize) -> bool {
        if self.numa[i].is_known() || self.numa[j].is_known() {
            return self.numa[i].0.len() == 1 && self.numa[i] == self.numa[j];
        }
        let has_cpus = |cpus: &String| cpus.starts_with(|c: char| c.is_ascii_digit());
        let differ = || self.cpus.iter().any(|cpus| has_cpus(cpus) && *cpus != self.cpus[i]);
        has_cpus(&self.cpus[i]) && self.cpus[i] == self.cpus[j] && differ()
    }
}
