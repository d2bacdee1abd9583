//! What to search, and how: the options of the command.

use weir::optimize::{Checkpoint, SearchOptions, Settings, Vary};
use weir::{Error, Scenario};

use crate::args::OptimizeArgs;
use crate::search_flags::one_search;

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
