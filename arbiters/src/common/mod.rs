//! What several policies share: groups of transfers of one class, progressive filling, parameters.

pub(crate) mod fill;
pub(crate) mod groups;
pub(crate) mod params;
