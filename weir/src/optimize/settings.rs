//! What to search, and how: what is asked for above the file's `optimize:`.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weir_optimize::parameters::{MOST_CANDIDATES, Shard};
use weir_optimize::search::{Method, Objective, Vary};

use super::watch::{Checkpoint, Watch};
use crate::Scenario;
use weir_scenario::OptimizeSpec;

/// What is asked of a search; what is not said is as the scenario's `optimize` says.
#[derive(Clone, Copy)]
pub struct SearchOptions<'a> {
    /// Send orders, places of ranks, values of the scenario, or several of these together.
    pub vary: Option<Vary>,
    /// The way to search, such as branch and bound.
    pub method: Option<Method>,
    /// What is to become small, such as the makespan.
    pub objective: Option<Objective>,
    /// Whether the best order is proven to the picosecond instead of within 1e-9.
    pub exact: bool,
    /// The search ends after this time with the best so far.
    pub budget: Option<Duration>,
    /// Candidates that a search simulates at most, where it simulates each.
    pub candidates: Option<u64>,
    /// Of the random numbers of local search, annealing and placements by bisection.
    pub seed: u64,
    /// The part of a search over all orders or a grid.
    pub shard: Option<Shard>,
    /// Whether the result says how long the search took, so that equal searches give unequal bytes.
    pub timing: bool,
    /// Where the state of the search is kept.
    pub checkpoint: Option<&'a dyn Checkpoint>,
    /// When it becomes true the search ends with the best so far.
    pub cancel: Option<&'a AtomicBool>,
    /// What hears of progress.
    pub watch: &'a dyn Watch,
}

impl Default for SearchOptions<'_> {
    fn default() -> Self {
        Self {
            vary: None,
            method: None,
            objective: None,
            exact: false,
            budget: None,
            candidates: None,
            seed: 0,
            shard: None,
            timing: true,
            checkpoint: None,
            cancel: None,
            watch: &(),
        }
    }
}

/// An option that only searches over all candidates have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SplitOption {
    /// [`SearchOptions::shard`].
    Shard,
    /// [`SearchOptions::checkpoint`].
    Checkpoint,
}

impl SplitOption {
    /// Its name as an option of the command, without dashes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Shard => "shard",
            Self::Checkpoint => "checkpoint",
        }
    }
}

/// Why a scenario cannot be searched in the way that is asked for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Neither the options nor the scenario say what varies.
    #[error("{file} does not say what to vary: set `vary`, or add `optimize: {{ vary: order }}`")]
    NothingVaries {
        /// The scenario.
        file: String,
    },
    /// Parameters vary, and the scenario lists none.
    #[error(
        "`vary: parameters` needs the parameters in the scenario, such as `parameters: {{ workload[0].transfer.size: [1MB, 4MB] }}`"
    )]
    NoParameters,
    /// A parameter says what the search itself decides.
    #[error("`{path}` cannot be a parameter beside `vary: {}`, which decides it: leave one of the two out", kind.word())]
    Decided {
        /// The parameter.
        path: String,
        /// What decides it.
        kind: Vary,
    },
    /// What varies is not searched so.
    #[error("no method `{}` for `vary: {}`: use {}", method.word(), vary.word(), methods(*vary))]
    NoSuchMethod {
        /// What varies.
        vary: Vary,
        /// The method asked for.
        method: Method,
    },
    /// The method is of a search that does not simulate, and what is asked for must be simulated.
    #[error("the method `{}` is for {}: {}", method.word(), of_fast(*method), instead(*method))]
    MethodSimulates {
        /// The method asked for.
        method: Method,
    },
    /// A cost of pairs of devices is not what a simulation gives.
    #[error(
        "the method `local-search` simulates each placement, and the objective `{}` is a cost of pairs of devices: use \
         `auto` or `bisection`, which search by it, or the objective `makespan`",
        objective.word()
    )]
    SimulatesNoCost {
        /// The objective asked for.
        objective: Objective,
    },
    /// The objective is about items that nothing names.
    #[error(
        "the objective `{0}` needs the items in the scenario, such as `objective: {{ {0}: [a, b] }}`",
        objective.word()
    )]
    NoItems {
        /// The objective asked for.
        objective: Objective,
    },
    /// Orders at many points are searched by the makespan.
    #[error("orders at each point of a grid are searched by the makespan: leave out the objective `{}`", objective.word())]
    SweepByMakespan {
        /// The objective asked for.
        objective: Objective,
    },
    /// Costs are those of placements.
    #[error(
        "the objective `{}` is for `vary: placement` only: leave it out, what counts is the makespan",
        objective.word()
    )]
    ForPlacement {
        /// The objective asked for.
        objective: Objective,
    },
    /// Only orders are proven to the picosecond.
    #[error("`exact` is for orders alone, by the makespan and by rates: leave it out for this search (`vary: {}`)", vary.word())]
    ExactIsForOrders {
        /// What varies.
        vary: Vary,
    },
    /// A search at each point of a grid has no parts.
    #[error("`{}` is for one search, and `parameters` asks for one at each point: search one alone", option.word())]
    OneSearch {
        /// What is asked for.
        option: SplitOption,
    },
    /// Searches for placements have no parts.
    #[error("`{}` is for exhaustive searches of orders and grids: leave it out for a placement", option.word())]
    NotForPlacement {
        /// What is asked for.
        option: SplitOption,
    },
    /// Other methods than the exhaustive one have no parts.
    #[error(
        "`{}` is for the method `exhaustive`; there are {} orders: add it where these are not too many, else set a \
         `budget`",
        option.word(), count(*candidates)
    )]
    NotExhaustive {
        /// What is asked for.
        option: SplitOption,
        /// Orders; none above 2^128.
        candidates: Option<u128>,
    },
    /// A search that simulates each candidate has no parts.
    #[error(
        "`{}` is for orders alone by the makespan, and for grids alone: leave it out \
         where each candidate is simulated",
        option.word()
    )]
    NotSimulated {
        /// What is asked for.
        option: SplitOption,
    },
    /// Candidates are counted where each is simulated.
    #[error("`candidates` is for searches that simulate each candidate: leave it out, or use {}", counting(*objective))]
    NotCounted {
        /// The objective asked for.
        objective: Objective,
    },
    /// All candidates are visited, or so many at most.
    #[error("the method `exhaustive` visits all candidates: leave out `candidates`, or use the method `local-search`")]
    VisitsAll,
    /// Too many candidates to simulate each.
    #[error(
        "there are {} candidates, more than the {most} that are simulated one by one: use the method `local-search`",
        count(*candidates)
    )]
    TooManyCandidates {
        /// Candidates; none above 2^128.
        candidates: Option<u128>,
        /// Most that are simulated.
        most: u128,
    },
}

fn methods(vary: Vary) -> String {
    vary.methods().iter().map(|method| method.word()).collect::<Vec<_>>().join(" or ")
}

/// What a method is for that does not simulate each candidate.
fn of_fast(method: Method) -> &'static str {
    match method {
        Method::Bisection => "placements by the cost of pairs of devices",
        _ => "orders by the makespan, and by rates",
    }
}

/// What to write instead of such a method.
fn instead(method: Method) -> &'static str {
    match method {
        Method::Bisection => {
            "use `exhaustive` or `local-search`, which simulate each candidate, or the objective `distance`, `latency` or \
             `bandwidth`"
        }
        _ => "use `exhaustive` or `local-search`, which simulate each candidate",
    }
}

/// What to use for candidates to be simulated.
fn counting(objective: Objective) -> &'static str {
    if objective.is_cost() { "the objective `makespan`" } else { "the method `local-search`" }
}

/// A number of candidates in words; none above 2^128.
#[must_use]
pub fn count(candidates: Option<u128>) -> String {
    candidates.map_or_else(|| "more than 2^128".to_owned(), |count| count.to_string())
}

/// What to search, and how.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What the search varies, by the options or the scenario.
    pub vary: Vary,
    /// Whether an order is searched for each point of a grid of parameters.
    pub sweep: bool,
    /// Whether candidates of any kind are simulated one by one, so that there are neither parts nor a table of all. An order that the fast
    /// search does not cover is simulated all the same.
    pub simulated: bool,
    pub(super) method: Method,
    pub(super) objective: Objective,
}

impl Settings {
    /// Puts the options and the scenario's `optimize` together.
    ///
    /// # Errors
    /// Nothing says what varies, or the options do not fit it.
    pub fn new(options: &SearchOptions<'_>, scenario: &Scenario) -> Result<Self, SettingsError> {
        let scenario = scenario.contents();
        let spec = scenario.optimize.as_ref();
        let of_file = spec.map(|spec| spec.vary);
        let nothing = || SettingsError::NothingVaries { file: scenario.file.clone() };
        let vary = options.vary.or(of_file).ok_or_else(nothing)?;
        if vary.has(Vary::Parameters) && spec.is_none_or(|spec| spec.parameters.is_empty()) {
            return Err(SettingsError::NoParameters);
        }
        for parameter in spec.iter().flat_map(|spec| &spec.parameters).filter(|_| vary.has(Vary::Parameters)) {
            if let Some(kind) = parameter.decided_by(vary) {
                return Err(SettingsError::Decided { path: parameter.path.clone(), kind });
            }
        }
        // What the file says of another kind of search does not hold for this one, but for what is to become small.
        let own = spec.filter(|_| of_file == Some(vary));
        let of_any = spec.filter(|spec| own.is_some() || !spec.objective.is_cost());
        let method = options.method.or(own.map(|spec| spec.method)).unwrap_or_default();
        let objective = options.objective.or(of_any.map(|spec| spec.objective)).unwrap_or_default();
        let settings = Self {
            vary,
            sweep: vary == Vary::Order && own.is_some_and(|spec| !spec.parameters.is_empty()),
            simulated: simulated(vary, method, objective)
                || vary == Vary::Parameters && options.split().is_none() && own.is_some_and(is_large),
            method,
            objective,
        };
        let named = spec.is_some_and(|spec| spec.objective == objective && !spec.items.is_empty());
        if objective.needs_items() && !named {
            return Err(SettingsError::NoItems { objective });
        }
        settings.check(options)?;
        Ok(settings)
    }

    /// Refuses what only searches have that do not simulate each candidate.
    pub(super) fn simulating(self, options: &SearchOptions<'_>) -> Result<(), SettingsError> {
        Self { simulated: true, sweep: false, ..self }.check(options)
    }

    fn check(self, options: &SearchOptions<'_>) -> Result<(), SettingsError> {
        let Self { vary, method, objective, sweep, simulated } = self;
        if !vary.methods().contains(&method) {
            return Err(SettingsError::NoSuchMethod { vary, method });
        }
        if objective.is_cost() && vary != Vary::Placement {
            return Err(SettingsError::ForPlacement { objective });
        }
        if objective.is_cost() && method == Method::LocalSearch {
            return Err(SettingsError::SimulatesNoCost { objective });
        }
        if simulated && method.is_fast() {
            return Err(SettingsError::MethodSimulates { method });
        }
        if sweep && (objective != Objective::Makespan || method == Method::LocalSearch) {
            return Err(match objective {
                Objective::Makespan => SettingsError::NoSuchMethod { vary, method },
                _ => SettingsError::SweepByMakespan { objective },
            });
        }
        if options.exact && (vary != Vary::Order || simulated) {
            return Err(SettingsError::ExactIsForOrders { vary });
        }
        if options.candidates.is_some() && method == Method::Exhaustive {
            return Err(SettingsError::VisitsAll);
        }
        if options.candidates.is_some() && !simulated && (sweep || vary != Vary::Order) {
            return Err(SettingsError::NotCounted { objective });
        }
        match options.split() {
            Some(option) if sweep => Err(SettingsError::OneSearch { option }),
            Some(option) if vary == Vary::Placement => Err(SettingsError::NotForPlacement { option }),
            Some(option) if simulated => Err(SettingsError::NotSimulated { option }),
            _ => Ok(()),
        }
    }
}

/// Whether a search simulates each candidate of any kind: several kinds together, a placement by the makespan, and an order by
/// another objective than the makespan. A grid has its own search.
fn simulated(vary: Vary, method: Method, objective: Objective) -> bool {
    match vary {
        _ if method == Method::LocalSearch => true,
        Vary::Joint(_) => true,
        Vary::Placement => !objective.is_cost(),
        Vary::Order => !(objective == Objective::Makespan || objective.is_cost()),
        Vary::Parameters => false,
    }
}

/// Whether a grid has more points than are simulated one by one.
fn is_large(spec: &OptimizeSpec) -> bool {
    let mut counts = spec.parameters.iter().map(|parameter| parameter.values().len() as u64);
    spec.method == Method::Auto && counts.try_fold(1, u64::checked_mul).is_none_or(|all| all > MOST_CANDIDATES)
}

impl SearchOptions<'_> {
    /// The first option given that only searches over all candidates have.
    pub(super) fn split(&self) -> Option<SplitOption> {
        let checkpoint = self.checkpoint.map(|_| SplitOption::Checkpoint);
        self.shard.map(|_| SplitOption::Shard).or(checkpoint)
    }
}
