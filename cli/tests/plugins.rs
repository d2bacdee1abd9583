//! Loaded arbiters seen from the command line: trust, results, and what is said when they fail.
#![cfg(target_os = "linux")]

mod common;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Ended, SHARED, json_lines, scenario, weir};
use tempfile::TempDir;

/// A folder for a user's configuration, libraries and scenarios.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        let mut command = weir();
        command.args(arguments).env("WEIR_CONFIG_DIR", self.path("config")).current_dir(self.0.path());
        common::ended(command.output().expect("the command starts"))
    }

    /// Compiles a C source of the repository into a library here.
    fn compile(&self, source: &str, defines: &[&str], library: &str) {
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

    fn sick(mode: &str) -> Self {
        let place = Self::new();
        place.compile("cli/tests/plugins/sick.c", &[&format!("-DMODE={mode}")], "sick.so");
        std::fs::write(place.path("s.yaml"), SHARED).expect("the file is written");
        place
    }
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
                    must be finite and at least 0; the arbiter is wrong, report it to its author\n";
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

#[test]
fn a_call_that_never_returns_is_named_and_finished_results_are_kept() {
    let place = Place::sick("HANGS");
    let arguments = ["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "max-min", "--arbiter", "sick", "--json"];
    let hanging = |extra: &[&str]| {
        let mut command = weir();
        command.args(arguments).args(extra).env("WEIR_PLUGIN_LIMIT", "200ms").current_dir(place.0.path());
        common::ended(command.output().expect("the command starts"))
    };
    let ended = hanging(&[]);
    assert_eq!(ended.code, 4);
    assert!(ended.stderr.contains("plugin `sick`") && ended.stderr.contains("allocate"), "{}", ended.stderr);
    assert_eq!(json_lines(&ended.stdout).len(), 1);
    assert_eq!(hanging(&["--output", "out.json"]).code, 4);
    assert_eq!(std::fs::read_to_string(place.path("out.json")).expect("is there"), ended.stdout);
}

#[test]
fn ctrl_c_ends_a_call_that_never_returns() {
    let place = Place::sick("HANGS");
    let took = common::shortest(|| interrupt_a_hanging_run(&place));
    assert!(took < common::LIMIT, "took {took:?}");
}

fn interrupt_a_hanging_run(place: &Place) -> std::time::Duration {
    let mut child = weir()
        .args(["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick"])
        .current_dir(place.0.path())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(child.try_wait().expect("can be asked").is_none(), "the call never returns");
    let pressed = std::time::Instant::now();
    common::interrupt(&child);
    let status = child.wait().expect("the command ends");
    let took = pressed.elapsed();
    assert_eq!(status.code(), Some(130));
    took
}
