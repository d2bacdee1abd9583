//! Policies made for PCIe that rule other links: a warning, and the map of arbiters that mends it.

use std::collections::{BTreeMap, BTreeSet};

use weir_plugin_api::{Flags, LinkId, LinkKind, RouteId};

use super::regions::{DEFAULT_KEY, map_text};
use super::{ArbiterSpec, Regions};
use crate::Scenario;
use crate::diagnostic::Diagnostic;

/// Kinds of links that no policy of a PCIe tree describes: host memory has no switch ports, NVLink and networks have
/// buffers and routes of their own.
const OTHER_KINDS: [(LinkKind, &str); 3] =
    [(LinkKind::MEMORY, "memory"), (LinkKind::NVLINK, "nvlink"), (LinkKind::NETWORK, "network")];
/// Links of a kind that a warning names (*assumed*: one line of text).
const NAMED: usize = 3;

impl Scenario {
    /// A warning about an arbiter that is made for PCIe and rules other links which transfers take, unless it names their
    /// kinds. It shows the map that gives these links the arbiter of scenarios that name none.
    #[must_use]
    pub fn outside_pcie(&self, spec: &ArbiterSpec) -> Option<Diagnostic> {
        if !policies(spec).any(|(_, spec)| spec.entry.flags.contains(Flags::FOR_PCIE)) {
            return None;
        }
        let taken = self.links_outside_pcie();
        let wrong: Vec<_> = taken.into_iter().filter(|(_, links)| is_ruled_for_pcie(spec, links[0])).collect();
        let position = spec.position.clone();
        (!wrong.is_empty()).then(|| Diagnostic { position, ..self.warning(spec, &wrong) })
    }

    /// The links of other kinds that transfers take, by kind; of a link both ways count once.
    fn links_outside_pcie(&self) -> Vec<(&'static str, Vec<LinkId>)> {
        let mut links: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
        for route in 0..self.routes.len() {
            for &link in self.routes.links(RouteId::from_index(route)) {
                let kind = self.fabric.link(link).kind;
                if OTHER_KINDS.iter().any(|(other, _)| *other == kind) {
                    links.entry(kind.0).or_default().insert(link.index() / 2);
                }
            }
        }
        let taken = |(kind, word): (LinkKind, &'static str)| {
            let links = links.get(&kind.0)?.iter().map(|pair| LinkId::from_index(pair * 2));
            Some((word, links.collect()))
        };
        OTHER_KINDS.into_iter().filter_map(taken).collect()
    }

    fn warning(&self, spec: &ArbiterSpec, wrong: &[(&str, Vec<LinkId>)]) -> Diagnostic {
        let mut texts = Vec::new();
        let mut map: Vec<(String, String)> = policies(spec).map(|(key, spec)| (key.to_owned(), spec.text())).collect();
        for (kind, links) in wrong {
            let name = |&link: &LinkId| {
                let link = self.fabric.link(link);
                format!("{} – {}", self.node_name(link.from), self.node_name(link.to))
            };
            let mut names: Vec<String> = links.iter().take(NAMED).map(name).collect();
            if links.len() > NAMED {
                names.push(format!("{} more", links.len() - NAMED));
            }
            texts.push(format!("{kind} ({})", names.join(", ")));
            map.push(((*kind).to_owned(), self.default_arbiter.clone()));
        }
        let made = policies(spec).find(|(key, _)| *key == DEFAULT_KEY).map_or("", |(_, spec)| &spec.name);
        let message = format!("`{made}` models PCIe links only, but transfers also cross {}", texts.join("; "));
        Diagnostic::warning(message).with_help(format!("write `arbiter: {}`", map_text(map)))
    }
}

/// The policies of an arbiter, by key.
fn policies(spec: &ArbiterSpec) -> impl Iterator<Item = (&str, &ArbiterSpec)> {
    let of_regions = spec.regions.iter().flat_map(|regions| &regions.policies).map(|(key, spec)| (key.as_str(), spec));
    of_regions.chain(spec.regions.is_none().then_some((DEFAULT_KEY, spec)))
}

/// Whether the policy of a link is made for PCIe, and has it only because no key names its kind.
fn is_ruled_for_pcie(spec: &ArbiterSpec, link: LinkId) -> bool {
    let policy = spec
        .regions
        .as_deref()
        .map_or(0, |Regions { division, .. }| division.regions[division.region_of(link)].policy as usize);
    policies(spec)
        .nth(policy)
        .is_some_and(|(key, spec)| key == DEFAULT_KEY && spec.entry.flags.contains(Flags::FOR_PCIE))
}
