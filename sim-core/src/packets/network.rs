//! The network that the packets of a run cross.

use std::collections::BTreeSet;

use weir_packets::{Network, NetworkError, NodeSettings};
use weir_plugin_api::ClassId;

use super::{PacketSettings, channels_of};
use crate::setup::Simulation;
use crate::stream::{Census, OfClass};
use crate::tasks::{Engine, EngineId};

impl PacketSettings {
    /// Links and nodes with as many engines as transfers may start there at once, and the channels that these use, ascending.
    ///
    /// # Errors
    /// [`NetworkError`] for the first link that cannot be, or that too many may ask for.
    pub fn network(&self, simulation: &Simulation<'_>, census: &Census) -> Result<(Network, Vec<u8>), NetworkError> {
        let classes = &simulation.tasks.classes;
        let carriages = (0..classes.len()).map(|class| classes.carriage(ClassId::from_index(class)));
        let channels = Vec::from_iter(carriages.flat_map(channels_of).collect::<BTreeSet<u8>>());
        let nodes = with_engines(simulation, census, &self.nodes);
        let network = Network::new(self.links.clone(), nodes, channels.len().max(1) as u32)?;
        Ok((network, channels))
    }
}

/// Nodes with as many engines as transfers may start there at once.
fn with_engines(simulation: &Simulation<'_>, census: &Census, nodes: &[NodeSettings]) -> Vec<NodeSettings> {
    let Simulation { fabric, routes, tasks } = *simulation;
    let mut all = vec![Senders::default(); nodes.len()];
    for (class, of) in census.classes() {
        if let [first, .., last] | [first @ last] = routes.links(tasks.classes.route(class)) {
            all[fabric.link(*first).from.index()].add(of);
            if tasks.classes.carriage(class).is_read {
                all[fabric.link(*last).to.index()].add(of);
            }
        }
    }
    nodes.iter().zip(all).map(|(node, own)| NodeSettings { engines: own.at_once(tasks.engines()), ..*node }).collect()
}

/// The transfers that start at a node.
#[derive(Clone, Default)]
struct Senders {
    transfers: u64,
    without_engine: u64,
    engines: BTreeSet<EngineId>,
}

impl Senders {
    fn add(&mut self, of: &OfClass) {
        self.transfers += u64::from(of.transfers);
        self.without_engine += u64::from(of.without_engine);
        self.engines.extend(&of.engines);
    }

    /// How many may start at once.
    fn at_once(&self, engines: &[Engine]) -> u32 {
        let slots = self.engines.iter().map(|engine| u64::from(engines[engine.0 as usize].slots));
        slots.fold(self.without_engine, u64::saturating_add).min(self.transfers).min(u64::from(u32::MAX)) as u32
    }
}
