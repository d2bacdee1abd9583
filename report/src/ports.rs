//! What ports do in a run of packets, for JSON and text.

use weir_plugin_api::LinkId;
use weir_sim_core::{CycleGrant, PortPhase};

use crate::Run;

/// Grants that follow one another and are alike.
pub(crate) struct GrantRow {
    pub(crate) grant: CycleGrant,
    /// How many.
    pub(crate) packets: u32,
}

/// A cycle with equal neighbours in one row.
pub(crate) fn rows(grants: &[CycleGrant]) -> Vec<GrantRow> {
    let alike = grants.chunk_by(|a, b| a == b);
    alike.map(|row| GrantRow { grant: row[0], packets: row.len() as u32 }).collect()
}

impl Run<'_> {
    /// What contended ports did, phase by phase; nothing where it was not recorded.
    pub(crate) fn port_phases(&self) -> &[PortPhase] {
        self.outcome.packets.as_ref().and_then(|packets| packets.phases.as_deref()).unwrap_or(&[])
    }

    /// The node from which packets of a grant come to a port: the near end of the input, or the port's own node.
    pub(crate) fn input_name(&self, port: LinkId, grant: &CycleGrant) -> &str {
        self.link_names(grant.input.map_or(port, LinkId)).0
    }
}
