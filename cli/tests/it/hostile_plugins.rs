//! What plugins do outside of their answers, seen from the command line: to memory, to descriptors, and when they end.
#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use crate::common::{json_lines, weir};
use crate::plugins::Place;

const RUN: [&str; 6] = ["run", "s.yaml", "--plugin", "sick.so", "--arbiter", "sick"];

/// The names that a crash writes are out of reach of what the plugin overwrites.
#[test]
fn a_plugin_that_overruns_its_rates_is_named() {
    let place = Place::sick("OVERRUNS");
    let ended = place.run(&RUN);
    let start = format!("error: plugin `sick` ({}) crashed in allocate (SIGSEGV)", place.path("sick.so").display());
    assert_eq!((ended.code, ended.stdout.as_str()), (4, ""), "{}", ended.stderr);
    assert!(ended.stderr.starts_with(&start), "{}", ended.stderr);
}

#[test]
fn a_crash_outside_of_a_call_names_the_libraries_that_are_open() {
    let place = Place::sick("ABORTS_AT_EXIT");
    let ended = place.run(&RUN);
    let library = format!("`sick.so` ({})", place.path("sick.so").display());
    assert_eq!(ended.code, 4, "{}", ended.stderr);
    assert!(
        ended.stderr.starts_with("error: weir crashed (SIGABRT) outside of a plugin's call")
            && ended.stderr.contains(&library),
        "{}",
        ended.stderr
    );
}

/// The results stand, since they were there before; the command fails.
#[test]
fn a_failure_in_destroy_is_an_error_of_the_plugin() {
    let cases = [
        ("CRASHES_DESTROYED", true, "destroy of FILE ended the plugin's process (signal SIGSEGV)"),
        ("HANGS_DESTROYED", true, "(FILE): destroy has not returned for 0.3 s"),
        #[cfg(target_arch = "x86_64")]
        ("ROUNDS_DESTROYED", false, "destroy of FILE left the floating-point environment changed"),
        #[cfg(target_arch = "x86_64")]
        ("ROUNDS_DESTROYED", true, "destroy of FILE left the floating-point environment changed"),
        ("ABORTS_AT_EXIT", true, "the end of its process failed (signal SIGABRT)"),
    ];
    for (mode, isolate, words) in cases {
        let place = Place::sick(mode);
        let flag = isolate.then_some("--isolate");
        let ended =
            place.run_within("300ms", &RUN.into_iter().chain(["--arbiter", "max-min"]).chain(flag).collect::<Vec<_>>());
        let words = words.replace("FILE", &place.path("sick.so").to_string_lossy());
        assert_eq!((ended.code, ended.stderr.lines().count()), (4, 1), "{mode}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("error: plugin `sick") && ended.stderr.contains(&words), "{}", ended.stderr);
        assert!(ended.stdout.contains("max-min"), "{mode}: {}", ended.stdout);
    }
}

/// A child whose run was killed ends by itself, also where the plugin never returns.
#[test]
fn no_child_outlives_a_killed_run() {
    let place = Place::sick("HANGS");
    let mut command = weir();
    command.args(RUN).arg("--isolate").current_dir(place.path("")).env("WEIR_PLUGIN_LIMIT", "60s");
    let mut run = command.spawn().expect("the command starts");
    let children = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", run.id())).into_iter().flatten().flatten();
        let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        lists.collect::<String>().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let soon = Instant::now() + Duration::from_secs(20);
    while children().is_empty() && Instant::now() < soon {
        std::thread::sleep(Duration::from_millis(20));
    }
    let child = children().pop().expect("a child");
    std::thread::sleep(Duration::from_millis(300));
    run.kill().expect("killed");
    run.wait().expect("it ended");
    // One that nobody waits for stays as a zombie, without a command line.
    let lives = || std::fs::read(format!("/proc/{child}/cmdline")).is_ok_and(|words| !words.is_empty());
    while lives() && Instant::now() < soon {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!lives(), "process {child} goes on");
}

/// It writes to each of the descriptors that follow the standard ones.
#[test]
fn a_result_on_stdout_has_nothing_that_a_plugin_writes_to_descriptors() {
    let place = Place::sick("SCRIBBLES");
    for isolate in [None, Some("--isolate")] {
        let ended = place.run(&RUN.into_iter().chain(["--json"]).chain(isolate).collect::<Vec<_>>());
        assert_eq!((ended.code, json_lines(&ended.stdout).len()), (0, 1), "{} {}", ended.stdout, ended.stderr);
    }
}
