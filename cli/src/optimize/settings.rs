//! What to search, and how: the options of the command.

use weir::optimize::{Checkpoint, SearchOptions, Settings, SettingsError, Vary, count};
use weir::{Error, Scenario};

use crate::args::OptimizeArgs;

/// The options of a search.
pub(crate) fn search_options<'a>(args: &OptimizeArgs, checkpoint: Option<&'a dyn Checkpoint>) -> SearchOptions<'a> {
    SearchOptions {
        vary: args.vary,
        method: args.method,
        objective: args.objective,
        exact: args.exact,
        budget: args.budget,
        shard: args.shard,
        timing: !args.no_timing,
        checkpoint,
        ..SearchOptions::default()
    }
}

/// Refuses options that do not fit what varies, before anything is searched.
pub(crate) fn check(args: &OptimizeArgs, options: &SearchOptions<'_>, scenario: &Scenario) -> Result<(), Error> {
    let settings = Settings::new(options, scenario).map_err(Error::from)?;
    if args.csv.is_some() && settings.vary != Vary::Parameters && !settings.sweep {
        let vary = settings.vary.word();
        return Err(Error::input(format!(
            "--csv is for `vary: parameters`, and for orders with `parameters`: use --json for `vary: {vary}`"
        )));
    }
    match args.write {
        Some(_) if settings.sweep => Err(Error::input(one_search("write"))),
        _ => Ok(()),
    }
}

/// What is wrong with the options of a search, with the flags of the command.
pub(crate) fn flagged(error: &SettingsError) -> String {
    match *error {
        SettingsError::NothingVaries { ref file } => {
            format!("{file} does not say what to vary: add --vary order, or `optimize: {{ vary: order }}`")
        }
        SettingsError::NoParameters => {
            "--vary parameters needs the parameters in the scenario: add `optimize: { vary: \
                                        parameters, parameters: { arbiter.tau: [0.1, 0.2] } }`"
                .to_owned()
        }
        SettingsError::ExactIsForOrders { vary } => {
            format!("--exact is for `vary: order` only: leave it out for `vary: {}`", vary.word())
        }
        SettingsError::OneSearch { option } => one_search(option.word()),
        SettingsError::NotForPlacement { option } => {
            format!("--{} is for exhaustive searches of orders and grids: leave it out for a placement", option.word())
        }
        SettingsError::NotExhaustive { option, candidates } => format!(
            "--{} is for `--method exhaustive`; there are {} orders: add it where these are not too many, else use \
             --budget",
            option.word(),
            count(candidates)
        ),
        SettingsError::TooManyPlacements { candidates, most } => format!(
            "there are {} placements, more than the {most} that are simulated one by one: use `--method bisection`",
            count(candidates)
        ),
        _ => error.to_string(),
    }
}

fn one_search(option: &str) -> String {
    format!(
        "--{option} is for one search, and `parameters` asks for one at each point: search one alone, with `--set \
         'optimize={{ vary: order }}'` and a `--set` for each of its values"
    )
}
