//! What to search, and how: what is asked for above the file's `optimize:`.

use std::time::Duration;

use weir_optimize::parameters::Shard;

use weir_optimize::search::{Method, Objective, Vary};
use weir_scenario::Scenario;

use crate::Error;

/// What is asked for in place of what the scenario's `optimize` says.
#[derive(Clone, Copy, Default, Debug)]
pub struct Overrides {
    /// What varies.
    pub vary: Option<Vary>,
    /// The method.
    pub method: Option<Method>,
    /// What becomes small.
    pub objective: Option<Objective>,
}

/// What to search, and how.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What varies.
    pub vary: Vary,
    /// Whether an order is searched for each point of a grid of parameters.
    pub sweep: bool,
    /// The method asked for.
    pub method: Method,
    /// What becomes small.
    pub objective: Objective,
    /// Whether the best order is proven to the picosecond instead of within 1e-9.
    pub exact: bool,
    /// When the search ends with the best so far; [`super::SearchContext::cancel`] must be raised then, too.
    pub budget: Option<Duration>,
    /// The part of a search over all orders or a grid.
    pub shard: Option<Shard>,
    /// Whether the result says how long the search took, so that equal searches give unequal bytes.
    pub timing: bool,
}

impl Settings {
    /// Puts the two together and refuses what does not fit.
    ///
    /// # Errors
    /// Nothing says what varies, or no search of this kind has this method or objective.
    pub fn new(overrides: Overrides, scenario: &Scenario) -> Result<Self, Error> {
        let spec = scenario.optimize.as_ref();
        let of_file = spec.map(|spec| spec.vary);
        let Some(vary) = overrides.vary.or(of_file) else {
            let file = &scenario.file;
            let message =
                format!("{file} does not say what to vary: add --vary order, or `optimize: {{ vary: order }}`");
            return Err(Error::input(message));
        };
        if vary == Vary::Parameters && spec.is_none_or(|spec| spec.parameters.is_empty()) {
            let message = "--vary parameters needs the parameters in the scenario: add \
                           `optimize: { vary: parameters, parameters: { arbiter.tau: [0.1, 0.2] } }`";
            return Err(Error::input(message));
        }
        // What the file says of another kind of search does not hold for this one.
        let own = spec.filter(|_| of_file == Some(vary));
        let settings = Self {
            vary,
            sweep: vary == Vary::Order && own.is_some_and(|spec| !spec.parameters.is_empty()),
            method: overrides.method.or(own.map(|spec| spec.method)).unwrap_or_default(),
            objective: overrides.objective.or(own.map(|spec| spec.objective)).unwrap_or_default(),
            exact: false,
            budget: None,
            shard: None,
            timing: true,
        };
        settings.check()?;
        Ok(settings)
    }

    fn check(self) -> Result<(), Error> {
        let (vary, method) = (self.vary.word(), self.method);
        let known = self.vary.methods();
        let refused = |message: String| Err(Error::input(message));
        if !known.contains(&method) {
            let words: Vec<&str> = known.iter().map(|method| method.word()).collect();
            let message = format!("no method `{}` for `vary: {vary}`: use {}", method.word(), words.join(" or "));
            return refused(message);
        }
        if self.objective != Objective::Makespan && self.vary != Vary::Placement {
            let message = format!("the objective `{}` is for `vary: placement` only", self.objective.word());
            return refused(format!("{message}: leave it out, what counts is the makespan"));
        }
        Ok(())
    }
}
