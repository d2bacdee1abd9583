//! What changes cost.

use std::collections::BTreeMap;

use weir_scenario::{Improvement, Scenario, suggestion};

use super::target::Target;
use crate::Error;
use crate::widening::Wider;

/// Weights by name; without any, nothing has a cost.
pub(super) struct Costs<'a> {
    weights: &'a [(String, f64)],
    /// Per single link: the name of its type, and how many links are of it.
    types: BTreeMap<Wider, (&'a str, usize)>,
}

impl<'a> Costs<'a> {
    /// Checks that each weight is of something that can be changed.
    pub(super) fn new(
        weights: &'a [(String, f64)],
        scenario: &Scenario,
        targets: &[Target<'_>],
    ) -> Result<Self, Error> {
        let names: Vec<String> = targets.iter().map(|target| target.name(scenario)).collect();
        for (name, weight) in weights {
            if !names.iter().any(|of| is_name_of(name, of)) {
                let known = suggestion(name, names.iter().map(String::as_str), "names");
                return Err(Error::input(format!("--cost: nothing that is changed is named `{name}`; {known}")));
            }
            if !(weight.is_finite() && *weight > 0.0) {
                return Err(Error::input(format!("--cost: the weight of `{name}` must be a number above 0")));
            }
        }
        let given = |name: &&String| weights.iter().filter(|(word, _)| is_name_of(word, name)).count();
        if let Some(name) = names.iter().find(|name| given(name) > 1) {
            return Err(Error::input(format!("--cost: `{name}` has two weights: leave one out")));
        }
        Ok(Self { weights, types: BTreeMap::new() })
    }

    /// Learns which links that carry bytes are of a type of so many links: a single link costs an equal part of it.
    pub(super) fn of_type(&mut self, name: &'a str, links: &[Wider], of_all: usize) {
        self.types.extend(links.iter().map(|&link| (link, (name, of_all))));
    }

    /// The weight of a name.
    fn weight(&self, name: &str) -> Option<f64> {
        self.weights.iter().find(|(of, _)| is_name_of(of, name)).map(|(_, weight)| *weight)
    }

    /// The weight of a link by that of its type.
    fn part_of_type(&self, target: &Target<'_>) -> Option<f64> {
        let Target::Link(link, _) = target else { return None };
        let (name, count) = self.types.get(link)?;
        Some(self.weight(name).unwrap_or(1.0) / *count as f64)
    }

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        !self.weights.is_empty()
    }

    /// The cost of a change: the weight for twice the bandwidth, in proportion for other factors, the weight for half a
    /// latency and one engine more. None for no limit, which nobody sells.
    pub(super) fn of(&self, target: &Target<'_>, name: &str, improvement: Improvement) -> Option<f64> {
        if !self.any() {
            return None;
        }
        let weight = self.weight(name).or_else(|| self.part_of_type(target)).unwrap_or(1.0);
        match improvement {
            Improvement::Times(hundredths) => Some(weight * (f64::from(hundredths) - 100.0) / 100.0),
            Improvement::Half | Improvement::OneMore => Some(weight),
            Improvement::Bandwidth(_) => None,
        }
    }
}

/// Whether a word names something: by its whole name, or a link type by its own.
fn is_name_of(word: &str, name: &str) -> bool {
    word == name || name.strip_prefix("link_types.").is_some_and(|own| own == word)
}
