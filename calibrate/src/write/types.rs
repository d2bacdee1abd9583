//! Which types of links a topology needs for values that links have: the values of most of a type's links stay under its
//! name, each other set of values gets a type beside it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use weir_plugin_api::{Direction, LinkId};
use weir_report::rate;
use weir_scenario::{BandwidthForm, LinkChange, Machine, key_of_path};
use weir_sim_core::SharedBandwidth;

use super::number::{bandwidth, time};
use crate::fit::parameter::{Setting, below};

/// The values of a link in both directions.
#[derive(Clone, Copy, PartialEq, Debug)]
struct LinkValues {
    /// Bytes per second.
    up: f64,
    /// Bytes per second.
    down: f64,
    /// Seconds.
    latency: f64,
    /// Bytes per second of both directions together, where that is a limit.
    shared: Option<f64>,
}

impl LinkValues {
    /// Of a setting without the shared bandwidths that are `no_limit`.
    fn of(machine: &Machine, setting: &Setting, no_limit: &BTreeSet<u32>, pair: usize) -> Self {
        let (up, down) = (setting.bandwidth[2 * pair], setting.bandwidth[2 * pair + 1]);
        let fabric = &machine.fabric;
        let of_link = |number: &&u32| fabric.shared()[**number as usize].node.is_none();
        let number = fabric.shared_by(link(pair)).iter().find(of_link).filter(|number| !no_limit.contains(number));
        let shared = number.map(|&number| setting.shared[number as usize]);
        Self { up, down, latency: setting.latency[2 * pair], shared }
    }

    /// The values for a person.
    fn words(&self) -> String {
        let latency = if self.latency > 0.0 { format!(", latency {}", time(self.latency)) } else { String::new() };
        let shared = self.shared.map_or_else(String::new, |shared| format!(", shared {}", rate(shared)));
        match self.up == self.down {
            true => format!("{}{shared}{latency}", rate(self.up)),
            false => format!("up {}, down {}{shared}{latency}", rate(self.up), rate(self.down)),
        }
    }

    /// The keys of a type for the bandwidth.
    fn width(&self) -> String {
        match self.up == self.down {
            true => format!("bandwidth: {}", bandwidth(self.up)),
            false => format!("up: {}, down: {}", bandwidth(self.up), bandwidth(self.down)),
        }
    }
}

/// What is to be changed in a topology.
pub(super) struct Plan {
    /// New values by the paths of their keys.
    pub(super) edits: Vec<(String, String)>,
    /// Names of types with other values, and what they were.
    pub(super) replaced: Vec<(String, String)>,
    /// Links that get another type.
    pub(super) links: LinkChange,
}

/// Pairs of links with the same values.
struct EqualLinks {
    values: LinkValues,
    pairs: Vec<usize>,
}

impl Plan {
    /// What makes the values of a setting of those of the topology, without the shared bandwidths that are `no_limit`.
    pub(super) fn of(machine: &Machine, setting: &Setting, no_limit: &BTreeSet<u32>) -> Self {
        let pairs = machine.fabric.links().len() / 2;
        let links = LinkChange { types: Vec::new(), of: vec![None; pairs] };
        let mut plan = Self { edits: Vec::new(), replaced: Vec::new(), links };
        let mut names: BTreeSet<String> = machine.types.iter().map(|t| t.name.clone()).collect();
        let before = Setting::of(machine);
        for at in 0..machine.types.len() {
            let of_type = (0..pairs).filter(|&p| machine.type_of(link(p)) == Some(at));
            plan.links_of_type(machine, at, equal_links(machine, setting, no_limit, of_type), &before, &mut names);
        }
        for pair in (0..pairs).filter(|&p| machine.type_of(link(p)).is_none()) {
            let old = LinkValues::of(machine, &before, &BTreeSet::new(), pair);
            let new = LinkValues::of(machine, setting, no_limit, pair);
            if old != new {
                let latency = match old.latency == new.latency {
                    true => String::new(),
                    false => format!(", latency: {}", time(new.latency)),
                };
                // What a type in its place does not say is kept from the old one.
                let shared = new.shared.or(old.shared.map(|_| new.up + new.down));
                let shared = shared.map_or_else(String::new, |shared| format!(", shared: {}", bandwidth(shared)));
                plan.give(&[pair], format!("{{ {}{shared}{latency} }}", new.width()));
            }
        }
        plan.memories(machine, &before, setting);
        plan.engines(machine, setting);
        plan
    }

    /// The values of each `memory`.
    fn memories(&mut self, machine: &Machine, before: &Setting, setting: &Setting) {
        for text in &machine.memories {
            let of_text = |shared: &SharedBandwidth| shared.node.is_some_and(|node| text.nodes.contains(&node));
            let Some(at) = machine.fabric.shared().iter().position(of_text) else { continue };
            if setting.shared[at] != before.shared[at] {
                self.edits.push((format!("{}.bandwidth", text.path), bandwidth(setting.shared[at])));
            }
        }
    }

    /// How many transfers devices send at once.
    fn engines(&mut self, machine: &Machine, setting: &Setting) {
        for text in &machine.send_slots {
            let Some(&first) = text.nodes.first() else { continue };
            let slots = setting.engines.send_slots(first).filter(|&slots| machine.send_slots(first) != Some(slots));
            self.edits.extend(slots.map(|slots| (text.path.clone(), slots.to_string())));
        }
    }

    /// The values of most links of a type stay under its name, among equally many those of the first; others get types
    /// of their own.
    fn links_of_type(
        &mut self,
        machine: &Machine,
        at: usize,
        mut sets: Vec<EqualLinks>,
        before: &Setting,
        names: &mut BTreeSet<String>,
    ) {
        let most = sets.iter().map(|set| set.pairs.len()).max();
        let Some(kept) = sets.iter().position(|set| Some(set.pairs.len()) == most) else { return };
        let EqualLinks { values, pairs } = sets.remove(kept);
        let old = LinkValues::of(machine, before, &BTreeSet::new(), pairs[0]);
        if old != values {
            self.replaced.push((machine.types[at].name.clone(), old.words()));
        }
        self.change(machine, at, old, values);
        for set in sets {
            self.add(machine, at, set, names);
        }
    }

    fn give(&mut self, pairs: &[usize], text: String) {
        let number = self.links.types.iter().position(|t| *t == text).unwrap_or_else(|| {
            self.links.types.push(text);
            self.links.types.len() - 1
        });
        pairs.iter().for_each(|&pair| self.links.of[pair] = Some(number as u32));
    }

    /// Other values under the name of a type.
    fn change(&mut self, machine: &Machine, at: usize, old: LinkValues, new: LinkValues) {
        let text = &machine.types[at];
        let path = path(&text.name);
        let latency = (new.latency != old.latency).then(|| time(new.latency));
        let simple = text.efficiency.is_none();
        // A key is not taken out alone.
        let no_less = old.shared.is_none() || new.shared.is_some();
        match text.form {
            _ if (new.up, new.down) == (old.up, old.down) && no_less => {}
            BandwidthForm::Both if simple && no_less && new.up == new.down => {
                self.edits.push((format!("{path}.bandwidth"), bandwidth(new.up)));
            }
            BandwidthForm::UpDown if simple && no_less => {
                self.edits.push((format!("{path}.up"), bandwidth(new.up)));
                self.edits.push((format!("{path}.down"), bandwidth(new.down)));
            }
            _ => {
                let latency = latency.or_else(|| text.latency.clone());
                self.edits.push((path, whole(&new, latency, text.kind.as_deref())));
                return;
            }
        }
        let shared = new.shared.filter(|_| new.shared != old.shared).map(bandwidth);
        self.edits.extend(shared.map(|shared| (format!("{path}.shared"), shared)));
        self.edits.extend(latency.map(|latency| (format!("{path}.latency"), latency)));
    }

    /// Further types for links of a type that have other values. A type without a kind is of the kind of its name in
    /// `links`, and of one that goes by the place in the tree.
    fn add(&mut self, machine: &Machine, at: usize, set: EqualLinks, names: &mut BTreeSet<String>) {
        let EqualLinks { values, pairs } = set;
        let text = &machine.types[at];
        let lateral = |&pair: &usize| machine.fabric.link(link(pair)).direction == Direction::Lateral;
        let (beside, tree): (Vec<usize>, Vec<usize>) = pairs.into_iter().partition(lateral);
        let latency = (values.latency > 0.0).then(|| time(values.latency));
        let parts = match text.kind {
            Some(_) => vec![([tree, beside].concat(), text.kind.as_deref())],
            None => vec![(tree, None), (beside, Some(&*text.name))],
        };
        for (pairs, kind) in parts.into_iter().filter(|(pairs, _)| !pairs.is_empty()) {
            let end = match pairs[..] {
                [one] => below(machine, link(one)),
                _ => "2".to_owned(),
            };
            let name = unused(&format!("{}-{end}", text.name), names);
            self.edits.push((path(&name), whole(&values, latency.clone(), kind)));
            self.give(&pairs, name);
        }
    }
}

fn link(pair: usize) -> LinkId {
    LinkId::from_index(2 * pair)
}

/// Pairs of links by their values, in the order of the first of each.
fn equal_links(
    machine: &Machine,
    setting: &Setting,
    no_limit: &BTreeSet<u32>,
    pairs: impl Iterator<Item = usize>,
) -> Vec<EqualLinks> {
    let mut sets: Vec<EqualLinks> = Vec::new();
    for pair in pairs {
        let values = LinkValues::of(machine, setting, no_limit, pair);
        match sets.iter_mut().find(|set| set.values == values) {
            Some(set) => set.pairs.push(pair),
            None => sets.push(EqualLinks { values, pairs: vec![pair] }),
        }
    }
    sets
}

/// The path of a type.
fn path(name: &str) -> String {
    format!("link_types.{}", key_of_path(name))
}

/// A type as a map.
fn whole(values: &LinkValues, latency: Option<String>, kind: Option<&str>) -> String {
    let mut map = format!("{{ {}", values.width());
    if let Some(shared) = values.shared {
        let _ = write!(map, ", shared: {}", bandwidth(shared));
    }
    if let Some(latency) = latency {
        let _ = write!(map, ", latency: {latency}");
    }
    if let Some(kind) = kind {
        let plain = kind.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        let _ = if plain { write!(map, ", kind: {kind}") } else { write!(map, ", kind: {kind:?}") };
    }
    map + " }"
}

/// A name of letters, digits, `-` and `_` that no type has yet.
fn unused(wanted: &str, names: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let wanted: String = wanted.chars().map(plain).collect();
    let stem = wanted.trim_end_matches(|c: char| c.is_ascii_digit());
    let first = std::iter::once(wanted.clone());
    let all = first
        .chain((2_u64..).map(|n| if stem.ends_with('-') { format!("{stem}{n}") } else { format!("{wanted}-{n}") }));
    let name = all.into_iter().find(|name| !names.contains(name)).unwrap_or(wanted);
    names.insert(name.clone());
    name
}
