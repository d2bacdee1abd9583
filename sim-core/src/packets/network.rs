//! The network that the packets of a run cross.

use std::collections::BTreeSet;

use weir_packets::{Network, NetworkError, NodeSettings};
use weir_plugin_api::ClassId;

use super::{PacketSettings, channels_of};
use crate::setup::Simulation;
use crate::tasks::{EngineId, Work};

impl PacketSettings {
    /// Links and nodes with as many engines as transfers may start there at once, and the channels that these use, ascending.
    ///
    /// # Errors
    /// [`NetworkError`] for the first link that cannot be, or that too many may ask for.
    pub fn network(&self, simulation: &Simulation<'_>) -> Result<(Network, Vec<u8>), NetworkError> {
        let classes = &simulation.tasks.classes;
        let carriages = (0..classes.len()).map(|class| classes.carriage(ClassId::from_index(class)));
        let channels = Vec::from_iter(carriages.flat_map(channels_of).collect::<BTreeSet<u8>>());
        let nodes = with_engines(simulation, &self.nodes);
        let network = Network::new(self.links.clone(), nodes, channels.len().max(1) as u32)?;
        Ok((network, channels))
    }
}

/// Nodes with as many engines as transfers may start there at once.
fn with_engines(simulation: &Simulation<'_>, nodes: &[NodeSettings]) -> Vec<NodeSettings> {
    let Simulation { fabric, routes, tasks } = *simulation;
    let mut own = vec![Vec::new(); nodes.len()];
    for task in tasks.tasks() {
        if let Work::Carries { class, .. } = task.work
            && let [first, .., last] | [first @ last] = routes.links(tasks.classes.route(class))
        {
            own[fabric.link(*first).from.index()].push(task.engine);
            if tasks.classes.carriage(class).is_read {
                own[fabric.link(*last).to.index()].push(task.engine);
            }
        }
    }
    let at_once = |mut engines: Vec<EngineId>| {
        let transfers = engines.len() as u64;
        engines.sort_unstable();
        let free = engines.iter().filter(|&&engine| engine == EngineId::NONE).count() as u64;
        engines.dedup();
        let slots = engines
            .iter()
            .filter(|&&engine| engine != EngineId::NONE)
            .map(|&engine| tasks.engines()[engine.0 as usize].slots);
        slots.map(u64::from).fold(free, u64::saturating_add).min(transfers).min(u64::from(u32::MAX)) as u32
    };
    nodes.iter().zip(own).map(|(node, engines)| NodeSettings { engines: at_once(engines), ..*node }).collect()
}
