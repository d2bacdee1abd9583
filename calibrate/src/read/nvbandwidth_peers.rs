//! Which devices nvbandwidth copies between at all. Its tests between devices leave out pairs without peer access: their cell of a matrix
//! of pairs is `N/A`, and in the sums of `all_to_one` and `one_to_all` nothing stands of them (testcases_ce.cpp).

use super::nvbandwidth::TestCase;

/// By the matrices of pairs of a log, which devices can reach each other.
pub(super) struct Peers {
    /// By row and column, symmetric; empty where the log has no matrix of pairs.
    reach: Vec<Vec<bool>>,
}

impl Peers {
    /// Of all tests between two devices, also those that are not used: copies by kernels need the same access.
    pub(super) fn of(cases: &[TestCase]) -> Self {
        let pairs = |case: &&TestCase| case.name.starts_with("device_to_device") && case.unusable.is_none();
        let mut reach: Vec<Vec<bool>> = Vec::new();
        for case in cases.iter().filter(pairs) {
            let width = case.rows.first().map_or(0, Vec::len);
            // Two-way tests have more matrices below the first.
            let first = case.rows.get(..width).unwrap_or_default();
            if reach.is_empty() {
                reach = vec![vec![false; first.len()]; first.len()];
            }
            if reach.len() != first.len() {
                continue;
            }
            for (row, cells) in first.iter().enumerate() {
                let reached = cells.iter().enumerate().take(width).filter(|(_, cell)| cell.text != "N/A");
                for (column, _) in reached {
                    reach[row][column] = true;
                    reach[column][row] = true;
                }
            }
        }
        Self { reach }
    }

    /// The devices of so many that a device can reach; `None` where the log does not say it.
    pub(super) fn of_device(&self, device: usize, devices: usize) -> Option<Vec<usize>> {
        let reach = self.reach.get(device).filter(|reach| reach.len() == devices)?;
        Some((0..devices).filter(|&at| at != device && reach[at]).collect())
    }
}
