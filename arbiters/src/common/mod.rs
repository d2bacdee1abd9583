//! What several policies share: cells between links, groups of transfers of one class, progressive filling, ports of PCIe trees, parameters.

pub(crate) mod cells;
pub(crate) mod fill;
pub(crate) mod groups;
pub(crate) mod params;
pub(crate) mod ports;
