//! What to search, and how: the options of the command.

use weir::optimize::{Checkpoint, SearchOptions, Settings, Vary};
use weir::{Error, Scenario};

use crate::args::OptimizeArgs;
use crate::search_flags::one_search;

/// The options of a search.
///
/// # Errors
/// Something that varies is named twice.
pub(crate) fn search_options<'a>(
    args: &OptimizeArgs,
    checkpoint: Option<&'a dyn Checkpoint>,
) -> Result<SearchOptions<'a>, Error> {
    let twice = || Error::input("--vary names something twice: name each of what varies once, as in order,placement");
    let vary = match &args.vary[..] {
        [] => None,
        kinds => Some(Vary::of(kinds).ok_or_else(twice)?),
    };
    Ok(SearchOptions {
        vary,
        method: args.method,
        objective: args.objective,
        exact: args.exact,
        budget: args.budget,
        candidates: args.candidates,
        seed: args.seed,
        shard: args.shard,
        timing: !args.no_timing,
        checkpoint,
        ..SearchOptions::default()
    })
}

/// Refuses options that do not fit what varies, before anything is searched.
pub(crate) fn check(args: &OptimizeArgs, options: &SearchOptions<'_>, scenario: &Scenario) -> Result<(), Error> {
    let settings = Settings::new(options, scenario).map_err(Error::from)?;
    let is_table = settings.sweep || settings.vary == Vary::Parameters && !settings.simulated;
    if args.csv.is_some() && !is_table {
        let vary = settings.vary.word();
        let what =
            "--csv is for `vary: parameters` alone where all candidates are visited, and for orders with `parameters`";
        return Err(Error::input(format!("{what}: use --json for `vary: {vary}`")));
    }
    match args.write {
        Some(_) if settings.sweep => Err(Error::input(one_search("write"))),
        _ => Ok(()),
    }
}
