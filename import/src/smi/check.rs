//! Where a matrix contradicts itself, and where it shows less of a machine than its affinities.

use std::collections::BTreeSet;

use super::matrix::{Matrix, Way};
use crate::finding::{Findings, Ids, Level};

/// The devices of a matrix by what joins them: each has the smallest member of its NUMA node, board and switch.
pub(super) struct Groups<'m> {
    pub(super) matrix: &'m Matrix,
    pub(super) nodes: &'m [usize],
    pub(super) boards: &'m [usize],
    pub(super) switches: &'m [usize],
}

impl Groups<'_> {
    /// Warns where other cells join a pair whose own cell or affinity says that it is farther apart.
    pub(super) fn check(&self, findings: &mut Findings) {
        let apart = self.apart();
        let nodes: BTreeSet<usize> = apart.iter().map(|&i| self.nodes[i]).collect();
        self.report_apart(&apart, findings);
        let excused = |i: usize, j: usize| self.is_sys_between_boards(i, j) && nodes.contains(&self.nodes[i]);
        let wrong = self.pairs().filter(|&(i, j)| (self.is_farther(i, j) && !excused(i, j)) || self.disagree(i, j));
        let names = &self.matrix.names;
        let wrong: Ids = wrong.map(|(i, j)| format!("{} and {}", names[i], names[j])).collect();
        if !wrong.is_empty() {
            let message = "the matrix contradicts itself: other cells put {} nearer to each other than their own cell or NUMA affinity does";
            let help = "they are put together; look at these cells, and move the devices in the written file";
            findings.of_ids(Level::Warning, message, &wrong, Some(help.to_owned()));
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let count = self.matrix.names.len();
        (0..count).flat_map(move |i| (i + 1..count).map(move |j| (i, j)))
    }

    fn is_farther(&self, i: usize, j: usize) -> bool {
        match self.matrix.ways[i][j] {
            Way::Sys => self.nodes[i] == self.nodes[j],
            Way::Phb | Way::Node => self.boards[i] == self.boards[j],
            Way::Pxb => self.switches[i] == self.switches[j],
            Way::Pix | Way::Nv(_) | Way::Own => false,
        }
    }

    /// Whether two devices of one NUMA node have affinities without a node in common.
    fn disagree(&self, i: usize, j: usize) -> bool {
        let (a, b) = (&self.matrix.numa[i], &self.matrix.numa[j]);
        self.nodes[i] == self.nodes[j] && a.is_known() && b.is_known() && !a.meet(b)
    }

    fn is_sys_between_boards(&self, i: usize, j: usize) -> bool {
        self.matrix.ways[i][j] == Way::Sys && self.boards[i] != self.boards[j]
    }

    /// The devices that nothing but their affinity puts together.
    fn apart(&self) -> BTreeSet<usize> {
        let of_one = |&(i, j): &(usize, usize)| self.is_sys_between_boards(i, j) && self.matrix.of_one_node(i, j);
        self.pairs().filter(of_one).flat_map(|(i, j)| [i, j]).collect()
    }

    fn report_apart(&self, apart: &BTreeSet<usize>, findings: &mut Findings) {
        if !apart.is_empty() {
            let message = "{} are SYS to others of the same affinity, as in virtual machines: those of one affinity are put on one NUMA node";
            let help = "move them below the right `rc` in the written file, if the affinities are wrong".to_owned();
            let ids = apart.iter().map(|&i| &self.matrix.names[i]).collect();
            findings.of_ids(Level::Assumed, message, &ids, Some(help));
        }
    }
}
