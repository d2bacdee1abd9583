//! A policy for each kind of link: the map as it is written, and the regions that it makes of a fabric.

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use weir_plugin_api::{ArbiterEntry, Flags, LinkId, NodeId, Origin, Registry};
use weir_sim_core::{Division, Fabric, RegionPolicy, legend_between_regions, region_arbiter};

use super::{ArbiterSpec, Written, spec};
use crate::Position;
use crate::context::{Context, Read};
use crate::diagnostic::quoted;
use crate::source::Span;
use crate::topology::Topology;
use crate::yaml::{self, Data, Entry, Value};

/// The key of all links whose kind no other key names.
pub const DEFAULT_KEY: &str = "default";

/// Policies by link kind, as they are written.
pub(crate) struct PolicyMap {
    policies: Vec<Policy>,
    span: Span,
    pub(super) position: Option<Position>,
}

struct Policy {
    /// A link kind, or [`DEFAULT_KEY`].
    key: String,
    span: Span,
    spec: ArbiterSpec,
}

/// The regions of a scenario's fabric, and what it says of them.
#[derive(Debug)]
pub struct Regions {
    /// Which links hang together under one policy.
    pub division: Arc<Division>,
    /// Key and policy, by [`weir_sim_core::Region::policy`].
    pub policies: Vec<(String, ArbiterSpec)>,
    /// The regions, by number.
    pub infos: Vec<RegionInfo>,
}

/// What identifies a region for a person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegionInfo {
    /// Its key, with its topmost node where several regions have that key.
    pub name: String,
    /// Its topmost node; of several the first.
    pub top: NodeId,
}

impl Regions {
    /// The region of a directed link, and the name of its policy.
    #[must_use]
    pub fn of_link(&self, link: LinkId) -> (&RegionInfo, &str) {
        self.region(self.division.region_of(link))
    }

    /// A region by number, and the name of its policy.
    #[must_use]
    pub fn region(&self, number: usize) -> (&RegionInfo, &str) {
        let policy = self.division.regions[number].policy as usize;
        (&self.infos[number], &self.policies[policy].1.name)
    }
}

impl PolicyMap {
    pub(super) fn read(context: &mut Context, value: &Value, entries: &[Entry], registry: &Registry) -> Read<Self> {
        if entries.is_empty() {
            let help = "write the name of an arbiter, or a map from link kinds to arbiters";
            return Err(context.error(value.span, "the arbiter is an empty map", help));
        }
        let names_one = |entry: &Entry| match &entry.value.data {
            Data::Scalar(scalar) => registry.get(&scalar.text).is_some(),
            _ => true,
        };
        if !entries.iter().any(|entry| &*entry.key == DEFAULT_KEY || names_one(entry)) {
            let help = "write `{ name: NAME, PARAMETER: VALUE }`, the name alone, or a name for each kind of link";
            return Err(context.error(value.span, "an arbiter needs the key `name`", help));
        }
        let policies = context.each(entries, |context, entry| {
            if let Data::Sequence(_) = entry.value.data {
                let help = "a list of such maps compares them: `arbiter: [{default: …}, {default: …}]`";
                let message = format!("the arbiter of {} must be one arbiter", quoted(&entry.key));
                return Err(context.error(entry.value.span, message, help));
            }
            let spec = spec(context, &entry.value, registry)?;
            Ok(Policy { key: entry.key.to_string(), span: entry.key_span, spec })
        });
        let position = Some(context.sources.position(value.span));
        Ok(Self { policies: policies?, span: value.span, position })
    }

    /// The policy of each kind of link, or what is wrong.
    fn of_kinds(&self, context: &mut Context, topology: &Topology) -> Read<Vec<u32>> {
        let used = topology.kinds.used();
        for policy in self.policies.iter().filter(|policy| policy.key != DEFAULT_KEY) {
            if !used.contains(&&*policy.key) {
                let message = format!("no link has the kind {}", quoted(&policy.key));
                let mut known = used.clone();
                known.push(DEFAULT_KEY);
                let help = context.suggestion(&policy.key, known, "keys");
                context.error(policy.span, message, help);
            }
        }
        let find = |key: &str| self.policies.iter().position(|policy| policy.key == key);
        let default = find(DEFAULT_KEY);
        let of_kinds = topology.kinds.names().map(|kind| match find(kind).or(default) {
            Some(policy) => Ok(policy as u32),
            None if !used.contains(&kind) => Ok(0),
            None => {
                let message = format!("links of kind {} have no arbiter", quoted(kind));
                Err(context.error(
                    self.span,
                    message,
                    format!("add `{kind}: NAME`, or `{DEFAULT_KEY}: NAME` for all that is left"),
                ))
            }
        });
        of_kinds.collect()
    }

    fn place(self, context: &mut Context, topology: &Topology) -> Read<ArbiterSpec> {
        let before = context.errors();
        let of_kinds = self.of_kinds(context, topology)?;
        if context.errors() > before {
            return Err(crate::context::Reported);
        }
        let of_links: Vec<u32> = topology.kinds.of_links().map(|kind| of_kinds[kind]).collect();
        let division = Arc::new(Division::of(&topology.fabric, &of_links));
        let infos = infos(&division, &self.policies, topology);
        let policies = self.policies.into_iter().map(|policy| (policy.key, policy.spec)).collect();
        Ok(ArbiterSpec::of_regions(Regions { division, policies, infos }, self.position))
    }
}

impl ArbiterSpec {
    /// Lets a policy for the whole fabric serve transfers that take several routes at once, or links that share a bandwidth,
    /// which only the composition of regions does: each connected part of the fabric becomes a region.
    pub(crate) fn compose(&mut self, fabric: &Fabric) {
        if self.regions.is_some() {
            return;
        }
        let division = Arc::new(Division::of(fabric, &vec![0; fabric.links().len()]));
        let entry = &**self.whole.insert(self.entry.clone());
        let (name, make) = (entry.name.as_str().into(), entry.make.clone());
        let policy = RegionPolicy { name, make, flags: entry.flags, params: "{}".into() };
        let kept = if entry.flags.contains(Flags::FOR_PCIE) { Flags::FOR_PCIE } else { Flags::default() };
        self.entry = Arc::new(ArbiterEntry {
            name: entry.name.clone(),
            version: entry.version.clone(),
            flags: RegionPolicy::flags_of_all(std::slice::from_ref(&policy), &division).union(kept),
            says_what_it_reads: entry.says_what_it_reads,
            legend: [&entry.legend[..], &legend_between_regions(&division)].concat(),
            params_schema: entry.params_schema.clone(),
            origin: entry.origin.clone(),
            make: Arc::new(move |fabric, params| {
                let policy = RegionPolicy { params: params.into(), ..policy.clone() };
                region_arbiter(fabric, division.clone(), &[policy])
            }),
            incremental: entry.incremental.clone(),
        });
    }

    /// The same arbiter for a fabric whose links share other bandwidths.
    #[must_use]
    pub fn on(&self, fabric: &Fabric) -> Self {
        let mut spec = self.clone();
        match (&self.regions, &self.whole) {
            (Some(regions), _) => {
                let division = Arc::new(regions.division.on(fabric));
                spec.entry = Arc::new(entry(&self.name, &division, &regions.policies));
            }
            (None, Some(whole)) => {
                spec.entry = whole.clone();
                spec.compose(fabric);
            }
            (None, None) => {}
        }
        spec
    }

    /// The arbiter that the policies of regions are together.
    pub(super) fn of_regions(regions: Regions, position: Option<Position>) -> Self {
        let written = |spec: &Self| match spec.written.is_empty() {
            true => Json::from(spec.name.clone()),
            false => {
                let mut map = Map::from_iter([("name".to_owned(), Json::from(spec.name.clone()))]);
                map.extend(spec.written.clone());
                Json::Object(map)
            }
        };
        let policies = &regions.policies;
        let name = map_text(policies.iter().map(|(key, spec)| (key, spec.text())));
        let written = policies.iter().map(|(key, spec)| (key.clone(), written(spec))).collect();
        let entry = Arc::new(entry(&name, &regions.division, policies));
        Self {
            name,
            params: Map::new(),
            written,
            position,
            entry,
            regions: Some(Arc::new(regions)),
            packets: None,
            whole: None,
        }
    }
}

/// A map from link kinds to arbiters as it can be written: each kind with its arbiter, `default` for all others.
pub(super) fn map_text<K: AsRef<str>, A: AsRef<str>>(policies: impl IntoIterator<Item = (K, A)>) -> String {
    let text = |(kind, arbiter): (K, A)| format!("{}: {}", yaml::key(kind.as_ref()), arbiter.as_ref());
    let texts: Vec<String> = policies.into_iter().map(text).collect();
    format!("{{{}}}", texts.join(", "))
}

/// The arbiters of the file, now that its links are known.
pub(crate) fn place(context: &mut Context, written: Vec<Written>, topology: &Topology) -> Read<Vec<ArbiterSpec>> {
    let place = |written| match written {
        Written::Whole(mut spec) => {
            if !topology.fabric.shared().is_empty() {
                spec.compose(&topology.fabric);
            }
            Ok(spec)
        }
        Written::PerKind(map) => map.place(context, topology),
    };
    written.into_iter().map(place).collect()
}

/// The arbiter that the policies are together. It claims what all of them claim.
fn entry(name: &str, division: &Arc<Division>, policies: &[(String, ArbiterSpec)]) -> ArbiterEntry {
    let of = |(_, spec): &(String, ArbiterSpec)| RegionPolicy {
        name: spec.name.as_str().into(),
        make: spec.entry.make.clone(),
        flags: spec.entry.flags,
        params: spec.params_json().into(),
    };
    let made: Vec<RegionPolicy> = policies.iter().map(of).collect();
    let division = division.clone();
    let mut legend = Vec::new();
    for entry in policies.iter().flat_map(|(_, spec)| &spec.entry.legend) {
        if !legend.contains(entry) {
            legend.push(entry.clone());
        }
    }
    legend.extend(legend_between_regions(&division));
    ArbiterEntry {
        name: name.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        flags: RegionPolicy::flags_of_all(&made, &division),
        says_what_it_reads: policies.iter().all(|(_, spec)| spec.entry.says_what_it_reads),
        legend,
        params_schema: "{}".to_owned(),
        origin: Origin::BuiltIn,
        make: Arc::new(move |fabric, _| region_arbiter(fabric, division.clone(), &made)),
        incremental: None,
    }
}

/// Names and topmost nodes of the regions.
fn infos(division: &Division, policies: &[Policy], topology: &Topology) -> Vec<RegionInfo> {
    let mut counts = vec![0; policies.len()];
    division.regions.iter().for_each(|region| counts[region.policy as usize] += 1);
    let info = |region: &weir_sim_core::Region| {
        let ends = |&link: &LinkId| [topology.fabric.link(link).from, topology.fabric.link(link).to];
        let nodes = region.links.iter().flat_map(ends);
        let top = nodes.min_by_key(|&node| (topology.fabric.node(node).depth, node)).unwrap_or(NodeId::NONE);
        let key = &policies[region.policy as usize].key;
        let several = counts[region.policy as usize] > 1;
        let name = if several { format!("{key} at {}", topology.names.unique_name(top)) } else { key.clone() };
        RegionInfo { name, top }
    };
    division.regions.iter().map(info).collect()
}
