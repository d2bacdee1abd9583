//! Loaded arbiters and models seen from the command line: trust, results, and what is said when they fail.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ended, SHARED, json_lines, scenario, weir};
use tempfile::TempDir;

/// A folder for a user's configuration, libraries and scenarios.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        self.run_within("10s", arguments)
    }

    /// With a limit for each call of a plugin.
    pub(crate) fn run_within(&self, limit: &str, arguments: &[&str]) -> Ended {
        let mut command = weir();
        command.args(arguments).env("WEIR_CONFIG_DIR", self.path("config")).current_dir(self.0.path());
        command.env("WEIR_PLUGIN_LIMIT", limit);
        crate::common::ended(command.output().expect("the command starts"))
    }

    /// Compiles a C source of the repository into a library here.
    pub(crate) fn compile(&self, source: &str, defines: &[&str], library: &str) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc")));
        cc.args(["-std=c99", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-I"])
            .arg(root.join("plugin-api/include"));
        cc.args(defines).arg("-o").arg(self.path(library)).arg(root.join(source));
        let output = cc.output().expect("these tests need a C compiler: install one, or name it in CC");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn equal_split() -> Self {
        let place = Self::new();
        place.compile("examples/plugins/c-equal-split/equal-split.c", &[], "equal-split.so");
        place
    }

    pub(crate) fn sick(mode: &str) -> Self {
        let place = Self::new();
        place.compile("cli/tests/plugins/sick.c", &[&format!("-DMODE={mode}")], "sick.so");
        std::fs::write(place.path("s.yaml"), SHARED).expect("the file is written");
        place
    }
}

/// A scenario of one operation that only a plugin serves.
fn operation(item: &str) -> String {
    let workload = SHARED.find("workload:").expect("has one");
    format!("{}workload:\n  - {item}\n", &SHARED[..workload])
}

#[test]
fn a_library_is_used_for_one_run_only_when_it_is_named() {
    let place = Place::equal_split();
    let file = scenario("pcie/four-transfers.yaml");
    let ended = place.run(&["run", &file, "--arbiter", "equal-split", "--json"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    let loaded = place.run(&["run", &file, "--arbiter", "equal-split", "--json", "--plugin", "equal-split.so"]);
    assert_eq!((loaded.code, loaded.stderr.as_str()), (0, ""));
    let built_in = place.run(&["run", &file, "--arbiter", "equal-share", "--json"]);
    let (loaded, built_in) = (&json_lines(&loaded.stdout)[0], &json_lines(&built_in.stdout)[0]);
    // The same policy, once loaded and once built in.
    assert_eq!(loaded["fingerprint"], built_in["fingerprint"]);
    assert_eq!(loaded["arbiter"]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(built_in["arbiter"].get("sha256"), None);
}

#[test]
fn an_added_library_is_trusted_until_it_changes_or_is_removed() {
    let place = Place::equal_split();
    let file = scenario("pcie/four-transfers.yaml");
    let run = ["run", &file, "--arbiter", "equal-split"];
    let added = place.run(&["plugin", "add", "equal-split.so"]);
    assert_eq!((added.code, added.stderr.as_str()), (0, ""));
    assert!(added.stdout.starts_with("added equal-split 1.0.0\n"), "{}", added.stdout);
    assert_eq!(place.run(&run).code, 0);
    assert_eq!(place.run(&[&run[..], &["--no-plugins"]].concat()).code, 2);
    let listed = &json_lines(&place.run(&["plugin", "list", "--json"]).stdout)[0]["arbiters"];
    let names: Vec<_> =
        listed.as_array().expect("a list").iter().map(|a| a["name"].as_str().expect("a name")).collect();
    assert_eq!(names.last(), Some(&"equal-split"));

    place.compile("examples/plugins/c-equal-split/equal-split.c", &["-O0"], "equal-split.so");
    let changed = place.run(&run);
    assert_eq!(changed.code, 4);
    assert!(changed.stderr.contains("has changed since it was added") && changed.stderr.contains("weir plugin add"));
    assert_eq!(changed.stderr.lines().count(), 1, "{}", changed.stderr);
    assert_eq!(place.run(&["run", &file]).code, 0, "a run that does not need it does not mind");

    assert_eq!(place.run(&["plugin", "remove", "equal-split"]).code, 0);
    assert_eq!(place.run(&run).code, 2);
}

#[test]
fn a_deadlock_names_arbiter_time_and_transfers() {
    let ended = Place::sick("STALLS").run(&["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (3, ""));
    let expected = "error: s.yaml: under arbiter `sick`, deadlock at 0 s (0 ps): every active transfer has rate 0 and \
                    nothing else is pending; waiting: p, q (2 in all)\n";
    assert_eq!(ended.stderr, expected);
}

#[test]
fn a_wrong_answer_names_arbiter_transfer_and_link() {
    let ended = Place::sick("FORGETS").run(&["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick"]);
    assert_eq!(ended.code, 4);
    let expected = "error: s.yaml: under arbiter `sick`, at 0 s (0 ps) transfer `p` was given the rate NaN B/s: rates \
                    must be finite, and 0 or at least 2.3e-308; the arbiter is wrong, report it to its author\n";
    assert_eq!(ended.stderr, expected);
    let ended = Place::sick("OVERFILLS").run(&["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick"]);
    assert_eq!(ended.code, 4);
    assert!(
        ended.stderr.contains("above its bandwidth of 1000000000 B/s, with transfer `p` on it"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("link h0 → s"), "{}", ended.stderr);
}

#[test]
fn a_wrong_answer_about_a_lone_transfer_is_a_warning_and_its_time_is_null() {
    let reasons = [("FORGETS_LONE", "it gave the rate NaN B/s"), ("FAILS_LONE", "it failed: nobody is alone")];
    for (mode, reason) in reasons {
        let ended = Place::sick(mode).run(&["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick", "--json"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let at = "warning: s.yaml: arbiter `sick`, asked about one transfer alone: ";
        assert!(ended.stderr.starts_with(&format!("{at}{reason}")), "{}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        let transfers = &json_lines(&ended.stdout)[0]["transfers"];
        let ends = [&transfers[0]["end_ps"], &transfers[1]["end_ps"]];
        assert_eq!(ends, [20_000_000_000_u64, 30_000_000_000]);
        assert!(transfers[0]["alone_s"].is_null() && transfers[1]["alone_s"].is_null(), "{transfers}");
    }
}

/// A crash, an abort and an `exit` in a call end the program, which says whose call it was; no result looks whole.
#[test]
fn a_plugin_that_ends_the_program_is_named() {
    for (mode, how) in [
        ("CRASHES", "crashed in allocate (SIGSEGV)"),
        ("ABORTS", "crashed in allocate (SIGABRT)"),
        ("EXITS", "ended the program in allocate (exit)"),
        #[cfg(target_os = "linux")]
        ("QUICKLY_EXITS", "ended the program in allocate (quick_exit)"),
        ("IS_ALARMED", "was ended by a timer in allocate (SIGALRM)"),
    ] {
        let place = Place::sick(mode);
        let ended = place.run(&["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick", "-o", "out.txt"]);
        let start = format!("error: plugin `sick` ({}) {how}; the run has failed", place.path("sick.so").display());
        assert_eq!((ended.code, ended.stdout.as_str()), (4, ""), "{}", ended.stderr);
        assert!(ended.stderr.starts_with(&start), "{}", ended.stderr);
        assert!(!place.path("out.txt").exists());
    }
}

#[test]
fn what_a_plugin_prints_is_no_part_of_a_result() {
    let place = Place::sick("PRINTS");
    for isolate in [None, Some("--isolate")] {
        let run = ["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick", "--json"];
        let ended = place.run(&run.into_iter().chain(isolate).collect::<Vec<_>>());
        assert_eq!((ended.code, json_lines(&ended.stdout).len()), (0, 1), "{}", ended.stdout);
        assert!(!ended.stdout.contains("a word of the plugin"));
        assert!(ended.stderr.contains("a word of the plugin"), "{}", ended.stderr);
    }
}

/// In a process of its own it cannot end the program: its end is an error of the run that uses it.
#[test]
fn an_isolated_plugin_that_ends_its_process_fails_the_run_that_uses_it() {
    for (mode, how) in [
        ("CRASHES", "ended the plugin's process (signal SIGSEGV); report it to its author"),
        ("ABORTS", "ended the plugin's process (signal SIGABRT); report it to its author"),
        ("EXITS", "ended the plugin's process (exit status: 0); report it to its author"),
        ("QUICKLY_EXITS", "ended the plugin's process (exit status: 0); report it to its author"),
        ("IS_ALARMED", "ended the plugin's process (signal SIGALRM); report it to its author"),
        ("HANGS", "has not returned for 0.3 s; remove it with"),
    ] {
        let place = Place::sick(mode);
        let other = scenario("pcie/four-transfers.yaml");
        let run =
            ["run", "s.yaml", "--plugin", "sick.so", "--isolate", "--arbiter", "sick", "--arbiter", "max-min", &other];
        let ended = place.run_within("300ms", &run);
        assert_eq!(ended.code, 4, "{}", ended.stderr);
        let library = place.path("sick.so");
        assert!(
            ended.stderr.contains(how) && ended.stderr.contains(library.to_str().expect("UTF-8")),
            "{}",
            ended.stderr
        );
        assert!(ended.stdout.contains("max-min"), "the other arbiter's result is there: {}", ended.stdout);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_plugin_that_changes_how_numbers_are_rounded_is_refused() {
    let place = Place::sick("ROUNDS");
    let ended = place.run(&["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick"]);
    assert_eq!(ended.code, 4);
    assert!(ended.stderr.contains("left the floating-point environment changed"), "{}", ended.stderr);
}

/// In every call, in the constructor of the library, and where instances are destroyed; built-in arbiters beside it stay exact.
#[cfg(target_arch = "x86_64")]
#[test]
fn no_call_of_a_plugin_changes_how_later_results_are_rounded() {
    let built_in = |stdout: &str| json_lines(stdout).last().map(|line| line["fingerprint"].clone());
    for (mode, call) in
        [("ROUNDS_OPENED", "opening it"), ("ROUNDS_LISTED", "opening it"), ("ROUNDS_DESTROYED", "destroy")]
    {
        let place = Place::sick(mode);
        let right = built_in(&place.run(&["run", "s.yaml", "--arbiter", "max-min", "--json"]).stdout);
        for isolate in [None, Some("--isolate")] {
            let run = ["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick", "--arbiter", "max-min", "--json"];
            let ended = place.run(&run.into_iter().chain(isolate).collect::<Vec<_>>());
            assert_eq!(ended.code, 4, "{mode}: {}", ended.stderr);
            let said = ended.stderr.replace('\n', " ");
            assert!(
                said.contains(call) && said.contains("left the floating-point environment changed"),
                "{mode}: {said}"
            );
            assert!(ended.stdout.is_empty() || built_in(&ended.stdout) == right, "{mode}");
        }
    }
}

#[test]
fn a_plugin_that_fails_while_it_is_destroyed_is_an_error() {
    let place = Place::sick("CRASHES_DESTROYED");
    for isolate in [None, Some("--isolate")] {
        let run = ["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick", "--json"];
        let ended = place.run(&run.into_iter().chain(isolate).collect::<Vec<_>>());
        assert_eq!(ended.code, 4, "{}", ended.stderr);
        assert!(ended.stderr.contains("destroy") && ended.stderr.contains("sick"), "{}", ended.stderr);
    }
}

#[test]
fn a_plugin_that_moves_the_place_of_its_error_is_named() {
    let place = Place::sick("MOVES_ERROR");
    let ended = place.run(&["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick"]);
    assert_eq!(ended.code, 4, "{}", ended.stderr);
    assert!(ended.stderr.contains("changed where the text of its error is to be"), "{}", ended.stderr);
}

#[test]
fn rates_that_are_none_and_endless_rechecks_are_errors() {
    for (mode, words) in [
        ("MINUS_ZERO", "the rate -0.0 B/s: rates must be finite, and 0 or at least 2.3e-308"),
        ("SUBNORMAL", "the rate 5e-324 B/s: rates must be finite, and 0 or at least 2.3e-308"),
        ("AGAIN_SOON", "wants to be asked again too soon"),
        ("AGAIN_IN_VAIN", "wants to be asked again too soon"),
    ] {
        let place = Place::sick(mode);
        let ended = place.run(&["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick"]);
        assert_eq!(ended.code, 4, "{mode}: {}", ended.stderr);
        assert!(ended.stderr.replace('\n', " ").contains(words), "{mode}: {}", ended.stderr);
    }
}

#[test]
fn a_call_that_never_returns_is_named_and_finished_results_are_kept() {
    for mode in [
        "HANGS",
        "EXITS",
        #[cfg(target_os = "linux")]
        "QUICKLY_EXITS",
    ] {
        keeps_finished_results(mode);
    }
}

fn keeps_finished_results(mode: &str) {
    let place = Place::sick(mode);
    let arguments = ["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "max-min", "--arbiter", "sick", "--json"];
    let hanging = |extra: &[&str]| {
        let mut command = weir();
        command.args(arguments).args(extra).env("WEIR_PLUGIN_LIMIT", "200ms").current_dir(place.0.path());
        crate::common::ended(command.output().expect("the command starts"))
    };
    let ended = hanging(&[]);
    assert_eq!(ended.code, 4, "{mode}");
    assert!(ended.stderr.contains("plugin `sick`") && ended.stderr.contains("allocate"), "{}", ended.stderr);
    assert_eq!(json_lines(&ended.stdout).len(), 1, "{mode}");
    assert_eq!(hanging(&["--output", "out.json"]).code, 4, "{mode}");
    assert_eq!(std::fs::read_to_string(place.path("out.json")).expect("is there"), ended.stdout, "{mode}");
}

#[test]
fn ctrl_c_ends_a_call_that_never_returns() {
    let place = Place::sick("HANGS");
    let took = crate::common::shortest(|| interrupt_a_hanging_run(&place));
    assert!(took < crate::common::LIMIT, "took {took:?}");
}

fn interrupt_a_hanging_run(place: &Place) -> std::time::Duration {
    let mut command = weir();
    command.args(["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick"]).current_dir(place.0.path());
    let (mut child, _log) = crate::common::started(&mut command);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(child.try_wait().expect("can be asked").is_none(), "the call never returns");
    let pressed = std::time::Instant::now();
    crate::common::interrupt(&child);
    let status = child.wait().expect("the command ends");
    let took = pressed.elapsed();
    assert_eq!(status.code(), Some(130));
    took
}

#[test]
fn an_added_model_is_trusted_until_it_changes_or_is_removed() {
    let place = Place::new();
    place.compile("examples/plugins/c-delay/delay.c", &[], "delay.so");
    std::fs::write(place.path("d.yaml"), operation("delay: { id: d, time: 3us }")).expect("the file is written");
    let run = ["run", "d.yaml", "--json"];
    let unknown = place.run(&run);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("unknown operation `delay`"), "{}", unknown.stderr);

    let added = place.run(&["plugin", "add", "delay.so"]);
    assert_eq!((added.code, added.stderr.as_str()), (0, ""));
    assert!(added.stdout.starts_with("added delay 1.0.0 (model of delay)\n"), "{}", added.stdout);
    let ended = place.run(&run);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let result = &json_lines(&ended.stdout)[0];
    assert_eq!(result["makespan_ps"], 3_000_000);
    let operation = &result["operations"][0];
    let estimate = serde_json::json!([{ "formula": "delay", "seconds": 3e-6 }]);
    assert_eq!((operation["kind"].as_str(), &operation["estimates"]), (Some("delay"), &estimate));
    let listed = place.run(&["plugin", "list"]).stdout;
    assert!(listed.lines().last().is_some_and(|line| line.contains("model of delay; /")), "{listed}");
    let listed = &json_lines(&place.run(&["plugin", "list", "--json"]).stdout)[0];
    let models = listed["models"].as_array().expect("a list");
    let (own, last) = (&models[0], &models[models.len() - 1]);
    assert_eq!((&last["name"], &last["operations"]), (&"delay".into(), &serde_json::json!(["delay"])));
    assert!(last["path"].is_string() && own.get("path").is_none() && own["operations"].is_array(), "{listed}");
    assert!(listed["arbiters"].as_array().is_some_and(|list| list.iter().all(|a| a.get("operations").is_none())));

    place.compile("examples/plugins/c-delay/delay.c", &["-O0"], "delay.so");
    let changed = place.run(&run);
    assert_eq!(changed.code, 4);
    assert!(changed.stderr.contains("has changed since it was added"), "{}", changed.stderr);
    assert_eq!(changed.stderr.lines().count(), 1, "{}", changed.stderr);
    assert!(place.run(&["plugin", "list"]).stdout.contains("model of delay; cannot be used: "));
    let removed = place.run(&["plugin", "remove", "delay"]);
    assert!(removed.stdout.starts_with("removed delay 1.0.0 (model of delay)\n"), "{}", removed.stdout);
    assert_eq!(place.run(&run).code, 2);
}

#[test]
fn a_model_may_not_serve_what_a_built_in_one_serves() {
    let place = Place::new();
    place.compile("cli/tests/plugins/sick-model.c", &["-DMODE=REFUSES", "-DKEY=\"put\""], "sick.so");
    std::fs::write(place.path("s.yaml"), SHARED).expect("the file is written");
    for arguments in [&["plugin", "add", "sick.so"][..], &["run", "s.yaml", "--plugin", "sick.so"]] {
        let ended = place.run(arguments);
        assert_eq!(ended.code, 4);
        let words = "its model `sick-model` serves `put`, which the built-in model `put` serves: choose another key";
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}

#[test]
fn a_sick_model_is_named_with_what_it_did() {
    let runs = [
        ("REFUSES", 2, "`amount` of ail `r`: nobody has so much"),
        (
            "PANICS",
            4,
            "model `sick-model` failed at ail `r`: the plugin panicked: the model is at its end (in plan of /",
        ),
        ("ODD_RECORD", 4, "emits task 0 (`one`) with queue 7, which is none of 0 (issued) or 1 (ready)"),
        ("CYCLE", 4, "model `sick-model` planned tasks that wait for each other"),
        ("HANGS", 4, "plugin `sick-model` (/"),
        ("HANGS_IN_ESTIMATE", 4, "estimate has not returned for 0.2 s"),
    ];
    for (mode, code, words) in runs {
        let place = Place::new();
        place.compile("cli/tests/plugins/sick-model.c", &[&format!("-DMODE={mode}")], "sick.so");
        std::fs::write(place.path("s.yaml"), operation("ail: { id: r, amount: 4 }")).expect("the file is written");
        let mut command = weir();
        command.args(["run", "s.yaml", "--plugin", "sick.so"]).env("WEIR_PLUGIN_LIMIT", "200ms");
        let ended = crate::common::ended(command.current_dir(place.0.path()).output().expect("the command starts"));
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "{mode}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{mode}: {}", ended.stderr);
    }
}
