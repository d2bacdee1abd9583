//! When a search has paid for itself.

use crate::PS_PER_S;

/// The number of exchanges after which a search of `search_s` seconds is paid back by exchanges that take `after_ps` instead
/// of `before_ps` picoseconds: the smallest n with n · (before − after) ≥ search (Faraji et al., "Topology-Aware GPU
/// Selection on Multi-GPU Nodes", AsHES 2016, section V-C and Fig. 5). `None` if the placement saves no time.
#[must_use]
pub fn payback(search_s: f64, before_ps: u64, after_ps: u64) -> Option<u64> {
    let saved = before_ps.checked_sub(after_ps).filter(|&s| s > 0)?;
    let exchanges = libm::ceil(search_s.max(0.0) * PS_PER_S / saved as f64);
    Some(exchanges as u64)
}
