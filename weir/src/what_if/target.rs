//! What is changed: a resource of the topology as its files write it, or a single link of the fabric.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ordered_float::OrderedFloat;
use rayon::prelude::*;
use weir_plugin_api::{EngineScope, LinkId, NodeKind};
use weir_report::Changed;
use weir_scenario::{Improvement, Resource, ResourceKind, Scenario};
use weir_sim_core::Outcome;

use super::runs::Runs;
use crate::widening::Wider;

/// Single links that are tried at most, the busiest first; *assumed*: a cluster has more than anybody waits for.
const MOST_LINKS: usize = 1_000;
/// Places of the file that are looked at for single links, each by reading it once more; *assumed*.
const MOST_PLACES: usize = 256;

/// What is changed.
pub(super) enum Target<'a> {
    Resource(&'a Resource),
    /// A single link, and where the file writes it, if it has a place of its own.
    Link(Wider, Option<&'a Resource>),
}

impl Target<'_> {
    /// Its name in results.
    pub(super) fn name(&self, scenario: &Scenario) -> String {
        match self {
            Self::Resource(resource) => resource.name.clone(),
            Self::Link(wider, _) => {
                let (from, to) = wider.ends(&scenario.fabric);
                format!("{} → {}", scenario.node_name(from), scenario.node_name(to))
            }
        }
    }

    /// What of it is changed.
    pub(super) fn what(&self) -> Changed {
        match self {
            Self::Link(..) => Changed::Link,
            Self::Resource(resource) => match resource.kind {
                ResourceKind::Bandwidth => Changed::Bandwidth,
                ResourceKind::Place => Changed::Link,
                ResourceKind::Memory => Changed::Memory,
                ResourceKind::Latency => Changed::Latency,
                ResourceKind::Overhead(_) => Changed::Overhead,
                ResourceKind::Engines(..) => Changed::Engines,
            },
        }
    }

    /// Whether it has a bandwidth.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self.what(), Changed::Bandwidth | Changed::Link | Changed::Memory)
    }
}

/// All that is worth trying: resources, and the single links that are asked for.
pub(super) fn all<'r>(scenario: &Scenario, resources: &'r [Resource], links: Vec<Target<'r>>) -> Vec<Target<'r>> {
    let some = resources.iter().filter(|resource| match resource.kind {
        ResourceKind::Engines(kind, engine) => has_engine(scenario, kind, engine),
        kind => kind != ResourceKind::Place,
    });
    some.map(Target::Resource).chain(links).collect()
}

impl Runs<'_> {
    /// The single links that carried bytes, each with its place in the file where that stands for it alone.
    pub(super) fn links<'r>(&self, base: &Outcome, resources: &'r [Resource]) -> Vec<Target<'r>> {
        let contents = self.scenario.contents();
        let places = resources.iter().filter(|resource| resource.kind == ResourceKind::Place).take(MOST_PLACES);
        let places: Vec<&Resource> = places.collect();
        let alone: Vec<_> = places.par_iter().map(|place| self.only_link(place)).collect();
        let places: BTreeMap<Wider, &Resource> =
            alone.into_iter().zip(places).filter_map(|(l, p)| Some((l?, p))).collect();
        let used = used_links(contents, base).into_iter();
        used.map(|link| Target::Link(link, places.get(&link).copied())).collect()
    }

    /// The one link that a place stands for; `None` where it stands for several.
    fn only_link(&self, place: &Resource) -> Option<Wider> {
        let scenario = self.read(&place.edits(Improvement::Times(200))).ok()?;
        let pairs = self.scenario.contents().fabric.links().iter().zip(scenario.fabric.links()).enumerate();
        let mut wider = pairs.filter(|(_, (old, new))| old.bandwidth != new.bandwidth);
        let link = Wider::link(LinkId::from_index(wider.next()?.0));
        wider.all(|(at, _)| Wider::link(LinkId::from_index(at)) == link).then_some(link)
    }
}

/// Whether a task takes its place on such an engine of a device of a kind.
fn has_engine(scenario: &Scenario, kind: NodeKind, engine: &str) -> bool {
    let names: &[&str] = match engine {
        "send" => &["send", "copy", "dma"],
        "copy" => &["copy", "dma"],
        _ => &["compute"],
    };
    let nodes = scenario.fabric.nodes();
    scenario.tasks.engines().iter().any(|found| match found.scope {
        EngineScope::Device(device) => {
            names.contains(&&*found.name) && nodes.get(device.index()).is_some_and(|node| node.kind == kind)
        }
        EngineScope::Operation => false,
    })
}

/// Links that carried bytes in either direction, in their order; of very many the busiest.
fn used_links(scenario: &Scenario, base: &Outcome) -> Vec<Wider> {
    let load = |link: usize| base.links[link].bytes as f64 / scenario.fabric.links()[link].bandwidth;
    let pairs = (0..base.links.len()).step_by(2);
    let loads = pairs.map(|link| (load(link).max(load(link + 1)), Wider::link(LinkId::from_index(link))));
    let mut used: Vec<_> = loads.filter(|&(load, _)| load > 0.0).collect();
    used.sort_by_key(|&(load, link)| (Reverse(OrderedFloat(load)), link));
    used.truncate(MOST_LINKS);
    let mut links: Vec<Wider> = used.into_iter().map(|(_, link)| link).collect();
    links.sort_unstable();
    links
}
