//! What a plugin does outside of its answers: to the floating-point environment, to the host's memory, and when it ends.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::common::{Small, program, variant};
use tempfile::TempDir;
use weir_plugin_api::Registry;
use weir_plugin_host::{Library, Place, load_file, load_unprobed, probe, take_failures};

/// Opens a variant, makes an instance and destroys it; what create says, and what was noted of the library.
fn used(name: &str, defines: &[&str], place: Place) -> (PathBuf, Result<(), String>, Vec<String>) {
    let folder = TempDir::new().expect("a folder");
    let file = variant(folder.path(), name, defines).canonicalize().expect("there");
    let mut registry = Registry::new();
    match place {
        Place::Process => load_unprobed(&file, &mut registry).expect("right"),
        Place::Child => load_file(&file, program(), place, &mut registry).expect("right"),
    };
    let make = &registry.get("variant").expect("listed").make;
    let created = make(&Small::new().fabric(), "{}").map(drop).map_err(|error| error.to_string());
    drop(registry);
    let is_of_file = |failure: &String| failure.contains(file.to_str().expect("UTF-8")) || failure.contains(name);
    let failures = take_failures().into_iter().filter(is_of_file).collect();
    (file, created, failures)
}

/// Rounds up from now on.
#[cfg(target_arch = "x86_64")]
const ROUND_UP: &str = "__builtin_ia32_ldmxcsr(0x5f80)";

#[cfg(target_arch = "x86_64")]
#[test]
fn a_library_that_changes_rounding_while_it_is_opened_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let third = || std::hint::black_box(1.0_f64) / std::hint::black_box(3.0);
    let before = third().to_bits();
    let listing = format!("TABLES=({ROUND_UP},index==0?&table:NULL)");
    for (name, define) in [("start-up", format!("START_UP={ROUND_UP}")), ("listing", listing)] {
        let file = variant(folder.path(), name, &[&define]);
        for error in [probe(&file, program()).expect_err("refused"), Library::open(&file).expect_err("refused")] {
            let words = "left the floating-point environment changed";
            let text = error.to_string();
            assert!(text.contains(words) && text.contains(&*file.to_string_lossy()), "{text}");
            assert_eq!(third().to_bits(), before, "{name}: numbers are rounded as before");
        }
    }
}

/// One test, since what was noted is noted for the whole process.
#[test]
fn what_goes_wrong_while_an_instance_is_destroyed_is_noted() {
    let here_and_there = [
        #[cfg(target_arch = "x86_64")]
        ("rounds", format!("IN_DESTROY={ROUND_UP}"), "destroy of FILE left the floating-point environment changed"),
        // The control word of the x87: `long double`, and how the C library learns the mode.
        #[cfg(target_arch = "x86_64")]
        (
            "x87",
            "IN_DESTROY=unsigned short word = 0xb7f; __asm__ volatile(\"fldcw %0\" : : \"m\"(word))".to_owned(),
            "destroy of FILE left the floating-point environment changed",
        ),
    ];
    let in_a_child = [
        ("aborts", "IN_DESTROY=abort()", "destroy of FILE ended the plugin's process (signal SIGABRT)"),
        ("exits", "IN_DESTROY=_exit(0)", "destroy of FILE ended the plugin's process (exit status: 0)"),
        ("at-exit", "START_UP=atexit(abort)", "the end of its process failed (signal SIGABRT)"),
    ];
    let both = here_and_there.iter().flat_map(|(name, define, words)| {
        [Place::Process, Place::Child].map(|place| (*name, define.as_str(), *words, place))
    });
    let children = in_a_child.into_iter().map(|(name, define, words)| (name, define, words, Place::Child));
    for (name, define, words, place) in both.chain(children) {
        let (file, created, failures) = used(name, &[define], place);
        assert_eq!(created, Ok(()), "{name}");
        let words = words.replace("FILE", &file.to_string_lossy());
        assert!(failures.len() == 1 && failures[0].contains(&words), "{name} in {place:?}: {failures:?}");
    }
    for place in [Place::Process, Place::Child] {
        let (_, created, failures) = used("well", &[], place);
        assert_eq!((created, failures), (Ok(()), Vec::new()));
    }
}

/// The host reads the text of an error in its own memory, wherever the plugin says that it is.
#[test]
fn an_error_whose_place_was_moved_is_not_read() {
    for moved in ["err->data = (char *)8", "err->capacity = (size_t)-1; err->len = (size_t)1 << 40"] {
        let (file, created, _) = used("moves", &[&format!("IN_CREATE={moved}; return 1")], Place::Process);
        let error = created.expect_err("create failed");
        let words = format!("create of {} changed where the text of its error is to be", file.display());
        assert!(error.contains(&words), "{error}");
    }
}

/// What a plugin has started holds the pipe of its child: one in the group of the child, and one that has left it.
#[test]
fn a_child_that_crashes_is_noticed_while_what_it_started_goes_on() {
    const FORKS: &str = "if (fork() == 0) { LEAVE; sleep(60); _exit(0); } usleep(20000); abort()";
    let folder = TempDir::new().expect("a folder");
    for (name, leave) in [("stays", ""), ("leaves", "setsid(); close(1); close(2)")] {
        let started = Instant::now();
        let forks = FORKS.replace("LEAVE", leave);
        let (file, created, _) = used(name, &[&format!("IN_CREATE={forks}")], Place::Child);
        let error = created.expect_err("it crashed");
        let words = format!("create of {} ended the plugin's process (signal SIGABRT)", file.display());
        assert!(error.contains(&words), "{name}: {error}");
        let file = variant(folder.path(), name, &[&format!("START_UP={forks}")]);
        let error = probe(&file, program()).expect_err("it crashed").to_string();
        assert!(error.contains("crashed while opened (signal SIGABRT)"), "{name}: {error}");
        assert!(started.elapsed() < Duration::from_secs(30), "{name} was waited for");
    }
}

/// A process of the plugin that outlives its child is ended with it.
#[test]
fn what_a_child_has_started_ends_with_it() {
    let folder = TempDir::new().expect("a folder");
    let noted = folder.path().join("started");
    let define = format!(
        "IN_CREATE=pid_t pid = fork(); if (pid == 0) {{ sleep(60); _exit(0); }} \
         FILE *file = fopen(\"{}\", \"w\"); fprintf(file, \"%d\", (int)pid); fclose(file)",
        noted.display()
    );
    let (_, created, failures) = used("forks", &[&define], Place::Child);
    assert_eq!((created, failures), (Ok(()), Vec::new()));
    let started = std::fs::read_to_string(&noted).expect("noted");
    // A zombie has no command line.
    let lives = || std::fs::read(format!("/proc/{started}/cmdline")).is_ok_and(|words| !words.is_empty());
    let soon = Instant::now() + Duration::from_secs(20);
    while lives() && Instant::now() < soon {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!lives(), "process {started} goes on");
}

#[test]
fn a_child_that_closes_its_pipe_and_goes_on_is_ended() {
    let closes = "IN_CREATE=for (int at = 3; at < 1024; at++) { close(at); } for (;;) { sleep(1); }";
    let (_, created, _) = used("closes", &[closes], Place::Child);
    let error = created.expect_err("no answer");
    assert!(error.contains("ended the plugin's process (it closed its pipe)"), "{error}");
}

/// A library that was only listed has a moment to end by itself; a busy machine may not have given it that in one of the tries.
#[test]
fn a_library_that_was_listed_ends_by_itself() {
    let folder = TempDir::new().expect("a folder");
    let noted = folder.path().join("ended");
    let define = format!("AT_END=usleep(5000); fclose(fopen(\"{}\", \"w\"))", noted.display());
    let file = variant(folder.path(), "ends", &[&define]);
    let has_ended = || {
        probe(&file, program()).expect("right");
        noted.exists()
    };
    assert!((0..20).any(|_| has_ended()));
}
