//! The library says what the command says.

use crate::common::{run, scenario};

#[test]
fn results_are_those_of_the_command() {
    for file in ["pcie/four-transfers.yaml", "multilevel/tuning-made-up.yaml"] {
        let file = scenario(file);
        let result = weir::Scenario::open(&file).and_then(|scenario| scenario.run()).expect("it runs");
        let ended = run(&["run", &file, "--json"]);
        assert_eq!((ended.code, result.to_json().expect("JSON")), (0, ended.stdout), "{file}");
        assert_eq!(result.to_text().expect("text"), run(&["run", &file]).stdout, "{file}");
        let explained = weir::Scenario::open(&file).and_then(|scenario| scenario.explain()).expect("it runs");
        assert_eq!(explained, run(&["explain", &file]).stdout, "{file}");
    }
}

#[test]
fn errors_are_those_of_the_command() {
    let file = scenario("pcie/four-transfers.yaml");
    let wrong = [("arbiter", "no-such"), ("workload[0].transfer.size", "3mb"), ("workload[0].transfer.to", "gpu99")];
    for (path, value) in wrong {
        let error = weir::Scenario::opener().set(path, value).open(&file).expect_err("it is wrong");
        let ended = run(&["run", &file, "--set", &format!("{path}={value}")]);
        assert_eq!((error.kind(), ended.code), (weir::ErrorKind::Input, 2), "{path}");
        assert_eq!(format!("{error}\n"), ended.stderr, "{path}");
    }
}

#[test]
fn typed_values_agree_with_each_other() {
    let run = weir::Scenario::open(scenario("pcie/four-transfers.yaml")).and_then(|scenario| scenario.run());
    let run = run.expect("it runs");
    let transfers = run.transfers().expect("the arbiter is asked again");
    assert_eq!(transfers.iter().map(|t| &*t.id).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    assert_eq!(transfers.iter().filter_map(|t| t.end).max(), Some(run.makespan()));
    assert_eq!(run.transfer("a").as_ref(), Some(&transfers[0]));
    assert_eq!(transfers[0].cause_kind, Some(weir::Cause::HeadOfLine));
    // 66.502 ms against 25.862 ms for 300 MB at 11.6 GB/s.
    assert!((transfers[0].slowdown().expect("it has ended") - 2.571).abs() < 1e-3);
    let carried: u64 = run.links().iter().map(|link| link.bytes).sum();
    assert_eq!(carried % 300_000_000, 0, "each link carried whole transfers");
    assert!(run.links().iter().all(|link| (0.0..=1.0 + 2e-9).contains(&link.utilisation)));
}

#[test]
fn options_that_do_not_fit_are_refused() {
    use weir::optimize::{SearchOptions, SettingsError, Vary};
    let scenario = weir::Scenario::open(scenario("optimize/order-halo-2d-t2.yaml")).expect("it is read");
    let options = SearchOptions { vary: Some(Vary::Placement), exact: true, ..SearchOptions::default() };
    let error = scenario.optimize_with(0, &options).expect_err("placements are not proven to the picosecond");
    assert_eq!(error.settings(), Some(&SettingsError::ExactIsForOrders { vary: Vary::Placement }));
    assert!(!error.to_string().contains("--"), "{error}");
}
