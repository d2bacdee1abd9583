//! The command in a world where calls of the system fail: a disk that is full or broken, reads and writes cut short, a clock
//! that leaps, signals. One call after the other fails, in commands that write files.
//!
//! At a kill, what was not brought to the disk is lost, as after a loss of power. stdout may be closed, full, or read by nobody.
//!
//! Whatever happens: no panic; each file is the one before or the whole new one; who says that all went well has written
//! all; and the next run finds nothing in its way. A failure names the variables that repeat it.
#![cfg(target_os = "linux")]

mod common;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use common::search::ORDER;
use common::{scenario, weir};
use tempfile::TempDir;

/// What must not be noticed.
const HARMLESS: [&str; 4] = ["short", "eintr", "clock", "noreplace"];
const ERRORS: [&str; 2] = ["enospc", "eio"];
const SIGNALS: [&str; 3] = ["kill", "int", "term"];

/// Where stdout leads that takes nothing, in the words of a shell, and the exit code.
const STDOUTS: [(&str, i32); 3] = [(">&-", 2), (">/dev/full", 2), ("| true", 0)];

/// Seeds of storms, for each command.
const STORMS: u64 = 300;
/// Seeds of storms, for a command whose files are written as those of another.
const FEW_STORMS: u64 = 40;

/// The faults, compiled once.
static LIBRARY: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = TempDir::new().expect("a folder");
    let library = folder.path().join("faults.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/faults.c");
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc")));
    cc.args(["-std=c11", "-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
    let output = cc.output().expect("these tests need a C compiler: install one, or name it in CC");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (folder, library)
});

/// A command that writes files into the folder in which it runs.
struct Job {
    arguments: Vec<String>,
    /// What lies in the folder before.
    before: Vec<(&'static str, String)>,
    storms: u64,
}

type Files = BTreeMap<String, Vec<u8>>;

/// The files of a folder and the folders in it.
fn files(folder: &Path, prefix: &str) -> Files {
    let mut found = Files::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => found.append(&mut files(&entry.path(), &format!("{name}/"))),
            false => drop(found.insert(name, untimed(std::fs::read(entry.path()).expect("is read")))),
        }
    }
    found
}

/// A result without the time that it took.
fn untimed(bytes: Vec<u8>) -> Vec<u8> {
    const KEY: &str = "\"wall_s\":";
    let Some(text) = std::str::from_utf8(&bytes).ok().filter(|text| text.contains(KEY)) else { return bytes };
    let mut pieces = text.split(KEY);
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        kept.push_str("\"wall_s\":0");
        kept.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c)));
    }
    kept.into_bytes()
}

impl Job {
    fn new(arguments: &[&str], before: &[(&'static str, &str)]) -> Self {
        let before = before.iter().map(|&(name, text)| (name, text.to_owned())).collect();
        Self { arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(), before, storms: STORMS }
    }

    /// As [`Self::new`], with few storms.
    fn like_others(arguments: &[&str], before: &[(&'static str, &str)]) -> Self {
        Self { storms: FEW_STORMS, ..Self::new(arguments, before) }
    }

    fn folder(&self) -> TempDir {
        let folder = TempDir::new().expect("a folder");
        for (name, text) in &self.before {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        folder
    }

    /// What stdout takes changes no file.
    fn writes_its_files_whatever_stdout_takes(&self, new: &Files) {
        for (stdout, code) in STDOUTS {
            let folder = self.folder();
            let mut command = Command::new("bash");
            let script = format!("\"$0\" \"$@\" {stdout}; exit ${{PIPESTATUS[0]}}");
            command.args(["-c", &script, env!("CARGO_BIN_EXE_weir")]).args(&self.arguments).current_dir(folder.path());
            let output = command.env("WEIR_CONFIG_DIR", folder.path().join("config")).output().expect("it starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(files(folder.path(), "") == *new, "weir {} {stdout}: {said}", self.arguments.join(" "));
            let status = output.status.code();
            // Who prints nothing does not notice.
            assert!(status == Some(code) || status == Some(0), "{stdout}: {status:?} {said}");
        }
    }

    fn run(&self, folder: &Path, fault: &str, at: u64) -> Output {
        let mut command = weir();
        command.args(&self.arguments).current_dir(folder).env("WEIR_CONFIG_DIR", folder.join("config"));
        if !fault.is_empty() {
            command.env("LD_PRELOAD", &LIBRARY.1).env("WEIR_FAULT", fault).env("WEIR_FAULT_AT", at.to_string());
        }
        command.output().expect("it starts")
    }

    /// What the command does where nothing fails: its output, its files, and how many calls it makes.
    fn rightly(&self) -> (Output, Files, u64) {
        let (folder, count) = (self.folder(), TempDir::new().expect("a folder"));
        let mut command = weir();
        command.args(&self.arguments).current_dir(folder.path()).env("WEIR_CONFIG_DIR", folder.path().join("config"));
        command.env("LD_PRELOAD", &LIBRARY.1).env("WEIR_FAULT_COUNT", count.path().join("count"));
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let calls = std::fs::read_to_string(count.path().join("count")).expect("it was written");
        (output, files(folder.path(), ""), calls.parse().expect("a number"))
    }

    /// One call after the other fails in each way.
    fn survives(&self) {
        let (right, new, calls) = self.rightly();
        let old: Files =
            self.before.iter().map(|(name, text)| ((*name).to_owned(), text.clone().into_bytes())).collect();
        assert!(new != old, "the command writes something");
        assert!((5..2000).contains(&calls), "{calls} calls");
        for fault in HARMLESS {
            let folder = self.folder();
            let output = self.run(folder.path(), fault, 0);
            let why = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), &output.stdout), (Some(0), &right.stdout), "{fault}: {why}");
            assert!(files(folder.path(), "") == new, "{fault} changes a file");
        }
        self.writes_its_files_whatever_stdout_takes(&new);
        let each = ERRORS.into_iter().chain(SIGNALS).map(|fault| (fault, calls));
        for (fault, last) in each.chain([("storm", self.storms), ("norename", 1)]) {
            for at in 1..=last {
                let folder = self.folder();
                let output = self.run(folder.path(), fault, at);
                let found = files(folder.path(), "");
                let again = format!("WEIR_FAULT={fault} WEIR_FAULT_AT={at} weir {}", self.arguments.join(" "));
                check(&again, fault, &output, &found, &old, &new);
                if output.status.code().is_none() {
                    let next = self.run(folder.path(), "", 0);
                    let said = String::from_utf8_lossy(&next.stderr);
                    // `init` never takes the place of a file.
                    assert!(next.status.success() || said.contains("exists already"), "after {again}: {said}");
                    let after = files(folder.path(), "");
                    assert!(new.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "after {again}");
                }
            }
        }
    }
}

fn check(again: &str, fault: &str, output: &Output, found: &Files, old: &Files, new: &Files) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{again}\n{said}");
    let is_killed = (fault == "kill" || fault == "storm") && output.status.code().is_none();
    let codes: &[i32] = if SIGNALS.contains(&fault) { &[0, 130] } else { &[0, 2, 4, 141] };
    assert!(
        is_killed || output.status.code().is_some_and(|code| codes.contains(&code)),
        "{again}: {}\n{said}",
        output.status
    );
    for (name, bytes) in found {
        if name.rsplit('/').next().is_some_and(|name| name.starts_with(".weir-unfinished-")) {
            // A broken disk may refuse to remove a file, too.
            assert!(is_killed || fault == "eio" || fault == "storm", "{again} leaves {name}");
            continue;
        }
        // A checkpoint is written again and again; whether the next run takes it is tried after a kill.
        let is_earlier = name == "state" && !bytes.is_empty();
        let is_whole = is_earlier || old.get(name) == Some(bytes) || new.get(name) == Some(bytes);
        // Ctrl-C leaves what was computed, marked as such.
        let first_line = |bytes: &[u8]| bytes.split(|&byte| byte == b'\n').next().map(<[u8]>::to_vec);
        let is_partial = || match name.rsplit('.').next() {
            Some("html") => bytes.trim_ascii_end().ends_with(b"</html>"),
            // The best scenario so far.
            Some("yaml") => bytes.starts_with(b"weir: 1\n") && bytes.ends_with(b"\n"),
            Some("csv") => new.get(name).is_some_and(|whole| first_line(whole) == first_line(bytes)),
            _ => serde_json::from_slice::<serde_json::Value>(bytes).is_ok(),
        };
        let is_partial = || output.status.code() == Some(130) && is_partial();
        assert!(
            is_whole || (fault == "int" || fault == "term") && is_partial(),
            "{again} leaves {} bytes in {name}",
            bytes.len()
        );
    }
    assert!(old.keys().all(|name| found.contains_key(name)), "{again} loses a file");
    if output.status.code() == Some(0) {
        assert!(
            new.iter().all(|(name, bytes)| found.get(name) == Some(bytes)),
            "{again} says that all went well\n{said}"
        );
    }
}

#[test]
fn a_result_with_tables_and_a_timeline() {
    let file = scenario("pcie/four-transfers.yaml");
    let arguments = ["run", &file, "--json", "-o", "out.json", "--timeline", "time.json", "--export-csv", "tables"];
    Job::new(&arguments, &[("out.json", "{}\n"), ("time.json", "[]\n")]).survives();
}

#[test]
fn a_page() {
    let file = scenario("pcie/four-transfers.yaml");
    Job::new(&["report", &file, "-o", "page.html"], &[("page.html", "before\n")]).survives();
}

#[test]
fn a_search_with_a_checkpoint_and_the_best_scenario() {
    let file = scenario("pcie/hol-blocking.yaml");
    let arguments = [
        "optimize",
        &file,
        "--arbiter",
        "pcie-congestion",
        "--vary",
        "order",
        "--method",
        "exhaustive",
        "--checkpoint",
        "state",
        "--json",
        "-o",
        "found.json",
    ];
    Job::new(&arguments, &[]).survives();
}

#[test]
fn a_new_scenario() {
    Job::new(&["init", "new.yaml"], &[]).survives();
}

#[test]
fn a_stream() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stream/flows.yaml");
    let file = file.to_str().expect("UTF-8");
    Job::like_others(&["run", file, "--stream", "out.csv"], &[("out.csv", "before\n")]).survives();
}

#[test]
fn the_best_scenario_and_tables_of_a_search() {
    let arguments = ["optimize", "s.yaml", "--write", "best.yaml", "--export-csv", "tables", "--no-timing"];
    Job::like_others(&arguments, &[("s.yaml", ORDER)]).survives();
}

#[test]
fn parts_of_a_search() {
    let file = scenario("pcie/hol-blocking.yaml");
    let part = |shard: &str| {
        let mut command = weir();
        command.args(["optimize", &file, "--arbiter", "pcie-congestion", "--vary", "order", "--no-timing"]);
        let output = command.args(["--method", "exhaustive", "--shard", shard]).output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let (one, two) = (part("1/2"), part("2/2"));
    let arguments = ["merge", "one", "two", "--json", "-o", "whole.json", "--export-csv", "tables"];
    Job::like_others(&arguments, &[("one", &one), ("two", &two)]).survives();
}

#[test]
fn a_dump_of_a_machine() {
    let file = scenario("topologies/dumps/nccl-aws-p4d-24xl-8xA100.xml");
    Job::like_others(&["import", &file, "-o", "machine.yaml"], &[("machine.yaml", "before\n")]).survives();
}

#[test]
fn packets_for_sizes() {
    let file = scenario("multilevel/tuning-made-up.yaml");
    let arguments = ["tune", &file, "--sizes", "1KiB..2KiB", "--csv", "packets.csv"];
    Job::like_others(&arguments, &[("packets.csv", "bytes,packet\n")]).survives();
}

#[test]
fn a_fitted_topology() {
    let [file, log] = ["measured/tau-t2.yaml", "measured/tau-t2.csv"].map(scenario);
    let arguments = ["calibrate", &file, "--from", &log, "--write", "fitted.yaml"];
    Job::like_others(&arguments, &[("fitted.yaml", "before\n")]).survives();
}

#[test]
fn a_comparison_with_measured_times() {
    let [file, log] = ["measured/h2d-eight-gpus.yaml", "measured/h2d-eight-gpus.csv"].map(scenario);
    Job::like_others(&["validate", &file, "--measured", &log, "--csv", "errors.csv"], &[]).survives();
}

#[test]
fn a_drawing_for_graphviz() {
    let file = scenario("pcie/four-transfers.yaml");
    Job::like_others(&["check", &file, "--dot", "machine.dot"], &[("machine.dot", "before\n")]).survives();
}

/// A plugin in a process of its own that crashes at its first, second, … call.
#[test]
fn a_plugin_that_crashes_at_some_call() {
    let folder = TempDir::new().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc")));
    cc.args(["-std=c99", "-shared", "-fPIC", "-DMODE=CRASHES_AT", "-I"]).arg(root.join("../plugin-api/include"));
    let library = folder.path().join("sick.so");
    assert!(cc.arg("-o").arg(&library).arg(root.join("tests/plugins/sick.c")).status().expect("it starts").success());
    let file = scenario("pcie/four-transfers.yaml");
    let (mut failed, mut done) = (0, 0);
    for at in 1..=12 {
        let mut command = weir();
        command.args(["run", &file, "--isolate", "--arbiter", "sick", "--json", "--plugin"]).arg(&library);
        let output = command.env("SICK_AT", at.to_string()).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => done += 1,
            Some(4) => {
                failed += 1;
                assert!(said.contains("sick.so ended the plugin's process (signal SIGABRT)"), "SICK_AT={at}: {said}");
            }
            _ => panic!("SICK_AT={at}: {}\n{said}", output.status),
        }
    }
    assert!(failed > 0 && done > 0, "{failed} failed, {done} had no such call");
}
