//! Policies made for PCIe that rule other links: a warning, and the map of arbiters that mends it.

use std::collections::{BTreeMap, BTreeSet};

use weir_plugin_api::{Flags, LinkId, LinkKind, Registry, RouteId};
use weir_sim_core::{Fabric, Routes};

use super::regions::{DEFAULT, map_text};
use super::{ArbiterSpec, Regions};
use crate::context::Context;
use crate::diagnostic::Diagnostic;
use crate::topology::Topology;

/// Kinds of links that no policy of a PCIe tree describes: host memory has no switch ports, NVLink and networks have
/// buffers and routes of their own.
const OTHER_KINDS: [LinkKind; 3] = [LinkKind::MEMORY, LinkKind::NVLINK, LinkKind::NETWORK];
/// Links that a warning names (*assumed*: one line of text).
const NAMED: usize = 3;

/// Warns about the arbiters that are made for PCIe and rule other links which transfers take.
pub(crate) fn warn(
    context: &mut Context,
    specs: &[ArbiterSpec],
    topology: &Topology,
    routes: &Routes,
    registry: &Registry,
) {
    if !specs.iter().any(|spec| policies(spec).any(|(_, spec)| spec.entry.flags.contains(Flags::FOR_PCIE))) {
        return;
    }
    let taken = taken(&topology.fabric, routes);
    let Some(other) = registry.default_arbiter() else { return };
    for spec in specs {
        let wrong: BTreeMap<u32, &Vec<LinkId>> = taken
            .iter()
            .filter(|(_, links)| ruled_for_pcie(spec, links[0]))
            .map(|(kind, links)| (*kind, links))
            .collect();
        if !wrong.is_empty() {
            let warning = warning(spec, &wrong, topology, other);
            context.push_warning(Diagnostic { position: spec.position.clone(), ..warning });
        }
    }
}

/// The links of other kinds that transfers take, by kind; of a link both ways count once.
fn taken(fabric: &Fabric, routes: &Routes) -> BTreeMap<u32, Vec<LinkId>> {
    let mut pairs = BTreeSet::new();
    for route in 0..routes.len() {
        let links = routes.links(RouteId::from_index(route)).iter();
        pairs.extend(links.filter(|link| OTHER_KINDS.contains(&fabric.link(**link).kind)).map(|link| link.index() / 2));
    }
    let mut by_kind: BTreeMap<u32, Vec<LinkId>> = BTreeMap::new();
    for pair in pairs {
        let link = LinkId::from_index(pair * 2);
        by_kind.entry(fabric.link(link).kind.0).or_default().push(link);
    }
    by_kind
}

/// The policies of an arbiter, by key.
fn policies(spec: &ArbiterSpec) -> impl Iterator<Item = (&str, &ArbiterSpec)> {
    let of_regions = spec.regions.iter().flat_map(|regions| &regions.policies).map(|(key, spec)| (key.as_str(), spec));
    of_regions.chain(spec.regions.is_none().then_some((DEFAULT, spec)))
}

/// Whether the policy of a link is made for PCIe, and has it only because no key names its kind.
fn ruled_for_pcie(spec: &ArbiterSpec, link: LinkId) -> bool {
    let policy = spec
        .regions
        .as_deref()
        .map_or(0, |Regions { division, .. }| division.regions[division.region_of(link)].policy as usize);
    policies(spec).nth(policy).is_some_and(|(key, spec)| key == DEFAULT && spec.entry.flags.contains(Flags::FOR_PCIE))
}

fn warning(spec: &ArbiterSpec, wrong: &BTreeMap<u32, &Vec<LinkId>>, topology: &Topology, other: &str) -> Diagnostic {
    let words: Vec<&str> = topology.kinds.names().collect();
    let mut texts = Vec::new();
    let mut map: Vec<(String, String)> = policies(spec).map(|(key, spec)| (key.to_owned(), spec.text())).collect();
    for (&kind, links) in wrong {
        let end = |node| topology.names.shown(node);
        let name = |&link: &LinkId| {
            let link = topology.fabric.link(link);
            format!("{} – {}", end(link.from), end(link.to))
        };
        let mut names: Vec<String> = links.iter().take(NAMED).map(name).collect();
        if links.len() > NAMED {
            names.push(format!("{} more", links.len() - NAMED));
        }
        texts.push(format!("{} ({})", words[kind as usize], names.join(", ")));
        map.push((words[kind as usize].to_owned(), other.to_owned()));
    }
    let made = policies(spec).find(|(key, _)| *key == DEFAULT).map_or("", |(_, spec)| &spec.name);
    let message = format!(
        "`{made}` is made for PCIe links, and transfers take others under it, which it does not describe: {}",
        texts.join("; ")
    );
    Diagnostic::warning(message).with_help(format!("write `arbiter: {}`", map_text(&map)))
}
