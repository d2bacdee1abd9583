//! Which routes transfers take: `routing`, `nic` and `via`.
//!
//! | key | routes |
//! |---|---|
//! | `routing: shortest` | the fewest links, then the smallest link numbers |
//! | `routing: ecmp` | of those with the fewest links the one that a hash of source, destination and id picks |
//! | `routing: spread` | all with the fewest links at once, each with an equal part of the bytes |
//! | `nic` | through which network cards a transfer leaves its machine and enters the other |
//! | `via` | through these nodes, in this order |

pub(super) mod nics;
pub(super) mod rules;

use sha2::{Digest, Sha256};
use weir_plugin_api::{NodeId, RouteId};
use weir_sim_core::{MOST_BRANCHES, RouteError, Selection, TaskId, Way as Path, Work};

use super::Workload;
use super::attributes::Ends;
use super::expansion::Expansion;
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::format::{Key, Shape, optional};
use crate::nearest::suggestion;
use crate::yaml::Data;
use nics::Nics;
use rules::{NICS, NicRule, RULES, Routing, Rule, Way};

pub(crate) const ROUTING: Key = optional(
    "routing",
    Shape::Choice(|| RULES.map(|(word, _)| word.into()).to_vec()),
    "Which of the routes with the fewest links: the first, one by a hash, or all with equal parts of the bytes.",
);
pub(crate) const NIC: Key = optional(
    "nic",
    Shape::Choice(|| NICS.map(|(word, _)| word.into()).to_vec()),
    "The network cards between two machines: any, the nearest of each device, the same one at both ends, or all.",
);
pub(super) const VIA: Key =
    optional("via", Shape::OneOrMore(1, &Shape::Text), "Nodes that it passes, in order of travel.");

fn one_of<T: Copy>(words: &[(&str, T)], text: &str) -> Result<T, Problem> {
    words.iter().find(|(word, _)| *word == text).map(|&(_, rule)| rule).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        Problem::new(format!("{} is not a choice", quoted(text)), suggestion(text, known, "choices"))
    })
}

impl Expansion<'_> {
    /// `routing` and `nic` of an item, or what the scenario says.
    pub(super) fn routing(&mut self, context: &mut Context, fields: &Fields<'_>) -> Read<Routing> {
        let rule = fields.parse_or(context, ROUTING.name, self.routing.rule, |text| one_of(&RULES, text));
        let nic = fields.parse_or(context, NIC.name, self.routing.nic, |text| one_of(&NICS, text));
        let routing = Routing { rule: rule?, nic: nic? };
        if let Some(value) = fields.get(NIC.name)
            && routing.nic != NicRule::Any
            && self.nics().is_empty()
        {
            let help = "leave `nic` out, or add nodes of the kind `nic` and links from them to a network";
            return Err(context.error(value.span, "no network card leads out of a machine", help));
        }
        Ok(routing)
    }

    /// Refuses `routing`, `nic` and `via` where a model makes the transfers.
    pub(super) fn not_routed_by(&self, context: &mut Context, fields: &Fields<'_>) -> Read<()> {
        let Some(entry) = [ROUTING, NIC, VIA].iter().find_map(|key| fields.entry(key.name)) else { return Ok(()) };
        let message = format!("`{}` has no effect on a transfer with a model", entry.key);
        Err(context.error(entry.key_span, message, "leave it out: models take the route with the fewest links"))
    }

    /// The nodes that `via` names.
    pub(super) fn via(&mut self, context: &mut Context, fields: &Fields<'_>, ends: Ends) -> Read<Vec<NodeId>> {
        let Some(value) = fields.get(VIA.name) else { return Ok(Vec::new()) };
        if let Some(nic) = fields.get(NIC.name) {
            let help = "leave one of them out: `via` may name network cards, too";
            return Err(context.error(nic.span, "a transfer with `via` cannot have `nic`", help));
        }
        let names = match &value.data {
            Data::Sequence(names) => names,
            Data::Scalar(_) => std::slice::from_ref(value),
            Data::Mapping(_) => {
                let message = "`via` must be a name or a list of names, not a map";
                return Err(context.error(value.span, message, "write `via: [nic0, spine1]`"));
            }
        };
        if names.is_empty() {
            return Err(context.error(value.span, "`via` is an empty list", "name the nodes, or leave it out"));
        }
        let mut seen: Vec<NodeId> = Vec::new();
        context.each(names, |context, name| {
            let text = context.text(name, "`via`")?;
            let node = self.topology.names.resolve(text);
            let node = node.map_err(|problem| context.problem(name.span, "`via`", problem))?;
            let end = match node {
                node if node == ends.from => "the source, where the transfer begins",
                node if node == ends.to => "the destination, where the transfer ends",
                node if seen.contains(&node) => "the same node again",
                _ => {
                    seen.push(node);
                    return Ok(node);
                }
            };
            Err(context.error(name.span, format!("`via` names {end}"), "leave it out"))
        })
    }

    /// The route of a transfer. Many long routes are refused before they fill the memory.
    pub(super) fn route(&mut self, ends: Ends, way: Way<'_>) -> Result<RouteId, Problem> {
        let route = self.found(ends, way)?;
        if way.routing.nic != NicRule::Any || !way.via.is_empty() {
            self.bound.insert(route);
        }
        if self.routes.table().links.len() <= MOST_LINKS {
            return Ok(route);
        }
        let message = format!("the routes up to this transfer have more than {MOST_LINKS} links in all");
        Err(Problem::new(message, "give fewer transfers, a network with shorter routes, or no `routing: spread`"))
    }

    fn found(&mut self, ends: Ends, way: Way<'_>) -> Result<RouteId, Problem> {
        let Ends { from, to } = ends;
        let fabric = &self.topology.fabric;
        if from == to || (way.routing.is_default() && way.via.is_empty()) {
            return self.routes.between(fabric, from, to).ok_or_else(|| self.no_route(from, to));
        }
        if way.routing.nic == NicRule::Any || !way.via.is_empty() {
            let nodes = [&[from], way.via, &[to]].concat();
            let ways = [Path::through(&nodes, self.selection(ends, way, None))];
            return self.routes.select(fabric, &ways, &[]).map_err(|error| self.not_found(ends, way, error));
        }
        let legs = self.nics().ways(fabric, ends, way.routing.nic).ok_or_else(|| self.not_joined(ends))?;
        let pairs = way.routing.nic == NicRule::All;
        let path =
            |(pair, legs)| Path { from, legs, selection: self.selection(ends, way, Some(pair).filter(|_| pairs)) };
        let ways: Vec<Path> = legs.into_iter().enumerate().map(path).collect();
        let areas = self.nics.as_ref().map_or(&[][..], Nics::areas);
        self.routes.select(fabric, &ways, areas).map_err(|error| self.not_found(ends, way, error))
    }

    /// What `routing` says; each pair of cards is a flow of its own.
    fn selection(&self, ends: Ends, way: Way<'_>, pair: Option<usize>) -> Selection {
        match way.routing.rule {
            Rule::Shortest => Selection::First,
            Rule::Ecmp => Selection::Hashed(self.hash(ends, &(way.id)(), pair)),
            Rule::Spread => Selection::All,
        }
    }

    /// The first 128 bits of SHA-256 over the paths of source and destination, the id, and the number of the pair of cards
    /// where there may be several, with a zero byte between them.
    fn hash(&self, Ends { from, to }: Ends, id: &str, pair: Option<usize>) -> u128 {
        let names = &self.topology.names;
        let pair = pair.map_or_else(String::new, |pair| format!("\0{pair}"));
        let digest = Sha256::digest(format!("{}\0{}\0{id}{pair}", names.path(from), names.path(to)));
        digest.iter().take(16).fold(0, |hash, &byte| hash << 8 | u128::from(byte))
    }

    fn nics(&mut self) -> &mut Nics {
        self.nics.get_or_insert_with(|| Nics::new(&self.topology.fabric))
    }

    fn not_joined(&self, Ends { from, to }: Ends) -> Problem {
        let name = |node: NodeId| quoted(self.topology.names.unique_name(node));
        let message = format!("no network leads from the cards of {}'s machine to {}", name(from), name(to));
        Problem::new(message, "write `nic: any` there, or join them by links of the kind `network`")
    }

    fn not_found(&self, Ends { from, to }: Ends, way: Way<'_>, error: RouteError) -> Problem {
        let name = |node: NodeId| self.topology.names.unique_name(node);
        let (x, y) = (name(from), name(to));
        let via: Vec<&str> = way.via.iter().map(|&node| name(node)).collect();
        let through = if via.is_empty() { "its network cards".to_owned() } else { format!("`{}`", via.join("`, `")) };
        match error {
            RouteError::Unreachable(a, b) if (a, b) == (from, to) => self.no_route(from, to),
            RouteError::Unreachable(a, b) => Problem::new(
                format!(
                    "no route from `{x}` to `{y}` passes {through}: `{}` cannot be reached from `{}`",
                    name(b),
                    name(a)
                ),
                "name nodes that links join, in the order of travel",
            ),
            RouteError::NotForwarded(node) => Problem::new(
                format!("no route passes `{}`, which only starts and ends transfers", name(node)),
                "name switches, root complexes, networks or network cards",
            ),
            RouteError::Twice(node) => Problem::new(
                format!("no route from `{x}` to `{y}` passes {through} without passing `{}` twice", name(node)),
                "name the nodes in the order of travel; add nodes between them to choose another way",
            ),
            RouteError::TooMany(..) => Problem::new(
                format!("more than {MOST_BRANCHES} routes have the fewest links from `{x}` to `{y}`"),
                "write `routing: ecmp`, which takes one of them for each transfer",
            ),
        }
    }
}

/// Links of all distinct routes at most: 400 MB of them (*assumed*, above 10^7 transfers within trees).
pub(super) const MOST_LINKS: usize = 100_000_000;

/// Refuses routing other than the default for a stream.
pub(super) fn not_streamed(context: &mut Context, fields: &Fields<'_>, routing: Routing) {
    let keys = [(ROUTING, routing.rule != Rule::default()), (NIC, routing.nic != NicRule::default())];
    let mut keys = keys.into_iter().filter(|(_, set)| *set);
    if let Some(entry) = keys.find_map(|(key, _)| fields.entry(key.name)) {
        let message = format!("`{}` cannot be streamed", entry.key);
        context.error(entry.key_span, message, "leave it out, or run without --stream");
    }
}

/// Says that `routing` and `nic` of the scenario do not reach what models send.
pub(super) fn warn_of_models(context: &mut Context, fields: &Fields<'_>, workload: &Workload) {
    let Some(entry) = [ROUTING, NIC].iter().find_map(|key| fields.entry(key.name)) else { return };
    let carries = |task: TaskId| matches!(workload.tasks.tasks()[task.index()].work, Work::Carries { .. });
    if let Some(operation) = workload.operations.iter().find(|operation| operation.tasks().any(carries)) {
        let message = format!("`{}` does not apply to {}", entry.key, quoted(&operation.id));
        context.warn(entry.key_span, message, "operations of models take the routes with the fewest links");
    }
}
