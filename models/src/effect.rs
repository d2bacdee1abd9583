//! How the plan of an operation departs from its closed form, and in which direction that moves the simulated time.

use weir_plugin_api::Relation;

/// What a departure does to the simulated time, against the formula's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Never shortens it.
    More,
    /// Never lengthens it.
    Less,
    /// Either.
    Any,
}

/// All departures of one operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Departures(Vec<(Effect, String)>);

impl Departures {
    /// Notes one, with the reason for a person.
    pub(crate) fn add(&mut self, effect: Effect, because: impl Into<String>) {
        self.0.push((effect, because.into()));
    }

    /// The relation of simulated time and formula that all of them leave.
    pub(crate) fn relation(&self) -> Relation {
        let all = |effect| self.0.iter().all(|&(e, _)| e == effect);
        match &self.0[..] {
            [] => Relation::Equal,
            _ if all(Effect::More) => Relation::AtLeast,
            _ if all(Effect::Less) => Relation::AtMost,
            _ => Relation::Unstated,
        }
    }

    /// The reasons, a line each, marked by what they do as [`weir_plugin_api::Estimate::because`] says.
    pub(crate) fn because(&self) -> String {
        let mark = |effect| match effect {
            Effect::More => '+',
            Effect::Less => '-',
            Effect::Any => '?',
        };
        self.0.iter().map(|(effect, because)| format!("{}{because}", mark(*effect))).collect::<Vec<_>>().join("\n")
    }
}
