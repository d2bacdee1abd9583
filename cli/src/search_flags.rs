//! Errors of the options of a search, with the flags of the command.

use weir::optimize::{SettingsError, count};

/// What is wrong with the options of a search, with the flags of the command.
pub(crate) fn flagged(error: &SettingsError) -> String {
    match *error {
        SettingsError::NothingVaries { ref file } => {
            format!("{file} does not say what to vary: add --vary order, or `optimize: {{ vary: order }}`")
        }
        SettingsError::NoParameters => {
            "--vary parameters needs the parameters in the scenario: add `optimize: { vary: \
                                        parameters, parameters: { workload[0].transfer.size: [1MB, 4MB] } }`"
                .to_owned()
        }
        SettingsError::ExactIsForOrders { vary } => {
            format!(
                "--exact is for orders alone, by the makespan and by rates: leave it out for this search (`vary: {}`)",
                vary.word()
            )
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
        SettingsError::NotSimulated { option } => format!(
            "--{} is for orders alone by the makespan, and for grids alone: leave it out \
             where each candidate is simulated",
            option.word()
        ),
        SettingsError::SimulatesNoCost { objective } => format!(
            "`--method local-search` simulates each placement, and the objective `{}` is a cost of pairs of devices: use \
             `--method auto` or `--method bisection`, which search by it, or `--objective makespan`",
            objective.word()
        ),
        SettingsError::NotCounted { objective } => {
            let other = if objective.is_cost() { "--objective makespan" } else { "--method local-search" };
            format!("--candidates is for searches that simulate each candidate: leave it out, or use `{other}`")
        }
        SettingsError::VisitsAll => "`--method exhaustive` visits all candidates: leave out --candidates, or use \
                                     `--method local-search`"
            .to_owned(),
        SettingsError::TooManyCandidates { candidates, most } => format!(
            "there are {} candidates, more than the {most} that are simulated one by one: use `--method local-search`",
            count(candidates)
        ),
        _ => error.to_string(),
    }
}

/// What is wrong with an option that is not for searches at many points.
pub(crate) fn one_search(option: &str) -> String {
    format!(
        "--{option} is for one search, and `parameters` asks for one at each point: search one alone, with `--set \
         'optimize={{ vary: order }}'` and a `--set` for each of its values"
    )
}
