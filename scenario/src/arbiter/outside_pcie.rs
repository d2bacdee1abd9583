//! Policies made for PCIe that rule other links: a warning, and the map of arbiters that mends it.

use std::collections::{BTreeMap, BTreeSet};

use weir_plugin_api::{Flags, LinkId, LinkKind, RouteId};
use weir_sim_core::{Fabric, Routes};

use super::regions::{DEFAULT_KEY, map_text};
use super::{ArbiterSpec, Regions};
use crate::Scenario;
use crate::diagnostic::Diagnostic;

/// Kinds of links that no policy of a PCIe tree describes: host memory has no switch ports, NVLink and networks have
/// buffers and routes of their own.
const OTHER_KINDS: [(LinkKind, &str); 3] =
    [(LinkKind::MEMORY, "memory"), (LinkKind::NVLINK, "nvlink"), (LinkKind::NETWORK, "network")];
/// The kind of lateral links in such a tree: described, but for routes that take several of them.
const SOCKETS: (LinkKind, &str) = (LinkKind::QPI, "qpi");
/// Links of a kind that a warning names (*assumed*: one line of text).
const NAMED: usize = 3;

/// Links of a kind, both ways of each counted once.
type LinksOfKind = (&'static str, Vec<LinkId>);

impl Scenario {
    /// A warning about an arbiter that is made for PCIe and rules other links which transfers take, unless it names their
    /// kinds. It shows the map that gives these links the arbiter of scenarios that name none.
    #[must_use]
    pub fn outside_pcie(&self, spec: &ArbiterSpec) -> Option<Diagnostic> {
        let wrong = spec.outside_pcie(&self.fabric, &self.routes);
        let position = spec.position.clone();
        (!wrong.is_empty()).then(|| Diagnostic { position, ..self.warning(spec, &wrong) })
    }

    /// What to write where the arbiter refuses a route: [`ArbiterSpec::remedy`].
    #[must_use]
    pub fn remedy(&self, spec: &ArbiterSpec) -> Option<String> {
        spec.remedy(&self.fabric, &self.routes, &self.default_arbiter)
    }

    fn warning(&self, spec: &ArbiterSpec, wrong: &[LinksOfKind]) -> Diagnostic {
        let text = |(kind, links): &LinksOfKind| {
            let name = |&link: &LinkId| {
                let link = self.fabric.link(link);
                format!("{} – {}", self.node_name(link.from), self.node_name(link.to))
            };
            let mut names: Vec<String> = links.iter().take(NAMED).map(name).collect();
            if links.len() > NAMED {
                names.push(format!("{} more", links.len() - NAMED));
            }
            format!("{kind} ({})", names.join(", "))
        };
        let texts: Vec<String> = wrong.iter().map(text).collect();
        let made = policies(spec).find(|(key, _)| *key == DEFAULT_KEY).map_or("", |(_, spec)| &spec.name);
        let message = format!("`{made}` models PCIe links only, but transfers also cross {}", texts.join("; "));
        let map = spec.map_with(wrong.iter().map(|(kind, _)| *kind), &self.default_arbiter);
        Diagnostic::warning(message).with_help(format!("write `arbiter: {map}`"))
    }
}

impl ArbiterSpec {
    /// The arbiter with another one for links of some kinds, whatever they have now, as a map can be written.
    #[must_use]
    pub fn map_with<'k>(&self, kinds: impl IntoIterator<Item = &'k str>, other: &str) -> String {
        let kinds: Vec<&str> = kinds.into_iter().collect();
        let own = policies(self).filter(|(key, _)| !kinds.contains(key)).map(|(key, spec)| (key, spec.text()));
        map_text(own.chain(kinds.iter().map(|&kind| (kind, other.to_owned()))))
    }

    /// The map that gives the links of a fabric which this arbiter is not made for the one of scenarios that name none; `None`
    /// where there are no such links.
    #[must_use]
    pub fn map_of_links(&self, fabric: &Fabric, default: &str) -> Option<String> {
        let has = |kind: LinkKind| fabric.links().iter().any(|link| link.kind == kind);
        let mut kinds = OTHER_KINDS.into_iter().filter(|(kind, _)| has(*kind)).map(|(_, word)| word).peekable();
        let is_needed = is_for_pcie(self) && !default.is_empty() && kinds.peek().is_some();
        is_needed.then(|| self.map_with(kinds, default))
    }

    /// What to write where this arbiter refuses a route: the map that gives links which it is not made for the arbiter of
    /// scenarios that name none, or that arbiter. `None` where it is not made for PCIe links.
    #[must_use]
    pub fn remedy(&self, fabric: &Fabric, routes: &Routes, default: &str) -> Option<String> {
        if default.is_empty() || !is_for_pcie(self) {
            return None;
        }
        let mut kinds: Vec<&str> =
            self.ruled_for_pcie(fabric, routes, true).into_iter().map(|(kind, _)| kind).collect();
        // A route may cross sockets once in each machine, as the links between machines have another policy then.
        let kind = |link: &LinkId| fabric.link(*link).kind;
        let is_outside = |link: &LinkId| OTHER_KINDS.iter().any(|(other, _)| *other == kind(link));
        let sockets = |inside: &[LinkId]| inside.iter().filter(|link| kind(link) == SOCKETS.0).count();
        let most = all_routes(routes).flat_map(|route| route.split(is_outside)).map(sockets).max().unwrap_or(0);
        let is_other = |spec: &ArbiterSpec| !spec.entry.flags.contains(Flags::FOR_PCIE);
        let named = policies(self).any(|(key, spec)| key == SOCKETS.1 && is_other(spec));
        if !named && (most > 1 || (most > 0 && kinds.is_empty())) {
            kinds.push(SOCKETS.1);
        }
        Some(match kinds.is_empty() {
            true => format!("use the arbiter `{default}`"),
            false => format!("write `arbiter: {}`, or use the arbiter `{default}`", self.map_with(kinds, default)),
        })
    }

    /// The links that routes take, that a policy of PCIe trees rules because no key names their kind, and that it does not
    /// describe; by kind.
    fn outside_pcie(&self, fabric: &Fabric, routes: &Routes) -> Vec<LinksOfKind> {
        self.ruled_for_pcie(fabric, routes, false)
    }

    /// As [`Self::outside_pcie`], with those whose kind a key names as well.
    fn ruled_for_pcie(&self, fabric: &Fabric, routes: &Routes, even_named: bool) -> Vec<LinksOfKind> {
        if !is_for_pcie(self) {
            return Vec::new();
        }
        let mut taken: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
        for &link in all_routes(routes).flatten() {
            let kind = fabric.link(link).kind;
            if OTHER_KINDS.iter().any(|(other, _)| *other == kind) && self.is_ruled_for_pcie(link, even_named) {
                taken.entry(kind.0).or_default().insert(link.index() / 2);
            }
        }
        let of_kind = |(kind, word): (LinkKind, &'static str)| {
            let links = taken.get(&kind.0)?.iter().map(|pair| LinkId::from_index(pair * 2));
            Some((word, links.collect()))
        };
        OTHER_KINDS.into_iter().filter_map(of_kind).collect()
    }

    /// Whether the policy of a link is made for PCIe, and has it only because no key names its kind, or `even_named`.
    fn is_ruled_for_pcie(&self, link: LinkId, even_named: bool) -> bool {
        let of = |Regions { division, .. }: &Regions| division.regions[division.region_of(link)].policy as usize;
        let policy = self.regions.as_deref().map_or(0, of);
        policies(self)
            .nth(policy)
            .is_some_and(|(key, spec)| (even_named || key == DEFAULT_KEY) && spec.entry.flags.contains(Flags::FOR_PCIE))
    }
}

/// The policies of an arbiter, by key.
fn policies(spec: &ArbiterSpec) -> impl Iterator<Item = (&str, &ArbiterSpec)> {
    spec.policies().map(|(key, spec)| (key.unwrap_or(DEFAULT_KEY), spec))
}

fn is_for_pcie(spec: &ArbiterSpec) -> bool {
    policies(spec).any(|(_, spec)| spec.entry.flags.contains(Flags::FOR_PCIE))
}

fn all_routes(routes: &Routes) -> impl Iterator<Item = &[LinkId]> {
    (0..routes.len()).map(|route| routes.links(RouteId::from_index(route)))
}
