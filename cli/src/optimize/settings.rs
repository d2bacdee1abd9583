//! What to search, and how: the command line above the file's `optimize:`.

use weir_optimize::search::{Method, Objective, Vary};
use weir_scenario::Scenario;

use crate::args::OptimizeArgs;
use crate::failure::Failure;

/// What to search, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// What varies.
    pub(crate) vary: Vary,
    /// Whether an order is searched for each point of a grid of parameters.
    pub(crate) sweep: bool,
    /// The method asked for.
    pub(crate) method: Method,
    /// What becomes small.
    pub(crate) objective: Objective,
}

impl Settings {
    /// Puts the two together and refuses what does not fit.
    pub(crate) fn new(args: &OptimizeArgs, scenario: &Scenario) -> Result<Self, Failure> {
        let spec = scenario.optimize.as_ref();
        let of_file = spec.map(|spec| spec.vary);
        let Some(vary) = args.vary.or(of_file) else {
            let file = &scenario.file;
            let message =
                format!("{file} does not say what to vary: add --vary order, or `optimize: {{ vary: order }}`");
            return Err(Failure::usage(message));
        };
        if vary == Vary::Parameters && spec.is_none_or(|spec| spec.parameters.is_empty()) {
            let message = "--vary parameters needs the parameters in the scenario: add \
                           `optimize: { vary: parameters, parameters: { arbiter.tau: [0.1, 0.2] } }`";
            return Err(Failure::usage(message));
        }
        // What the file says of another kind of search does not hold for this one.
        let own = spec.filter(|_| of_file == Some(vary));
        let settings = Self {
            vary,
            sweep: vary == Vary::Order && own.is_some_and(|spec| !spec.parameters.is_empty()),
            method: args.method.or(own.map(|spec| spec.method)).unwrap_or_default(),
            objective: args.objective.or(own.map(|spec| spec.objective)).unwrap_or_default(),
        };
        settings.check(args)?;
        Ok(settings)
    }

    fn check(self, args: &OptimizeArgs) -> Result<(), Failure> {
        let (vary, method) = (self.vary.word(), self.method);
        let known = self.vary.methods();
        let refused = |message: String| Err(Failure::usage(message));
        if !known.contains(&method) {
            let words: Vec<&str> = known.iter().map(|method| method.word()).collect();
            let message = format!("no method `{}` for `vary: {vary}`: use {}", method.word(), words.join(" or "));
            return refused(message);
        }
        if self.objective != Objective::Makespan && self.vary != Vary::Placement {
            let message = format!("the objective `{}` is for `vary: placement` only", self.objective.word());
            return refused(format!("{message}: leave it out, what counts is the makespan"));
        }
        if args.exact && self.vary != Vary::Order {
            return refused(format!("--exact is for `vary: order` only: leave it out for `vary: {vary}`"));
        }
        if args.csv.is_some() && self.vary != Vary::Parameters && !self.sweep {
            return refused(format!(
                "--csv is for `vary: parameters`, and for orders with `parameters`: use --json for `vary: {vary}`"
            ));
        }
        let one = [
            ("--shard", args.shard.is_some()),
            ("--checkpoint", args.checkpoint.is_some()),
            ("--write", args.write.is_some()),
        ];
        if let Some((option, _)) = one.iter().find(|(_, given)| *given && self.sweep) {
            return refused(format!(
                "{option} is for one search, and `parameters` asks for one at each point: search one alone, with `--set \
                 'optimize={{ vary: order }}'` and a `--set` for each of its values"
            ));
        }
        let split = [("--shard", args.shard.is_some()), ("--checkpoint", args.checkpoint.is_some())];
        match split.iter().find(|(_, given)| *given && self.vary == Vary::Placement) {
            Some((option, _)) => refused(format!(
                "{option} is for exhaustive searches of orders and grids: leave it out for a placement"
            )),
            None => Ok(()),
        }
    }
}
