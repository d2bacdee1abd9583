//! What to search, and how: the command line above the file's `optimize:`.

use weir::optimize::{Overrides, Settings};
use weir_optimize::search::Vary;
use weir_scenario::Scenario;

use crate::args::OptimizeArgs;
use crate::failure::Failure;

/// Puts the two together and refuses options that do not fit what varies.
pub(crate) fn settings(args: &OptimizeArgs, scenario: &Scenario) -> Result<Settings, Failure> {
    let overrides = Overrides { vary: args.vary, method: args.method, objective: args.objective };
    let settings = Settings {
        exact: args.exact,
        budget: args.budget,
        shard: args.shard,
        timing: !args.no_timing,
        ..Settings::new(overrides, scenario)?
    };
    check(settings, args)?;
    Ok(settings)
}

fn check(settings: Settings, args: &OptimizeArgs) -> Result<(), Failure> {
    let vary = settings.vary.word();
    let refused = |message: String| Err(Failure::usage(message));
    if args.exact && settings.vary != Vary::Order {
        return refused(format!("--exact is for `vary: order` only: leave it out for `vary: {vary}`"));
    }
    if args.csv.is_some() && settings.vary != Vary::Parameters && !settings.sweep {
        return refused(format!(
            "--csv is for `vary: parameters`, and for orders with `parameters`: use --json for `vary: {vary}`"
        ));
    }
    let one = [
        ("--shard", args.shard.is_some()),
        ("--checkpoint", args.checkpoint.is_some()),
        ("--write", args.write.is_some()),
    ];
    if let Some((option, _)) = one.iter().find(|(_, given)| *given && settings.sweep) {
        return refused(format!(
            "{option} is for one search, and `parameters` asks for one at each point: search one alone, with `--set \
             'optimize={{ vary: order }}'` and a `--set` for each of its values"
        ));
    }
    let split = [("--shard", args.shard.is_some()), ("--checkpoint", args.checkpoint.is_some())];
    match split.iter().find(|(_, given)| *given && settings.vary == Vary::Placement) {
        Some((option, _)) => {
            refused(format!("{option} is for exhaustive searches of orders and grids: leave it out for a placement"))
        }
        None => Ok(()),
    }
}
