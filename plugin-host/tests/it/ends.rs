//! How the program ends with libraries open, in a process of its own: who ended it is known, and it ends.
#![cfg(unix)]
#![allow(unsafe_code, reason = "a handler of signals")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Small, arbiter_of, program, variant};
use tempfile::TempDir;
use weir_plugin_api::Registry;
use weir_plugin_host::{
    Library, OwnEnd, Place, Watchdog, end_at_once, load_file, name_crashes, probe, stdout_was_closed, take_failures,
};

/// The library that the process opens.
const LIBRARY: &str = "WEIR_TEST_LIBRARY";
/// What it does then.
const THEN: &str = "WEIR_TEST_THEN";
/// The code with which a plugin ends a program.
const CODE: i32 = 4;

/// Not a test of its own: the process that the others start.
#[test]
fn the_program() {
    let Some(file) = std::env::var_os(LIBRARY) else { return };
    let then = std::env::var(THEN).expect("said");
    let report = |stuck: &_| {
        eprintln!("{stuck}");
        end_at_once(CODE);
    };
    let limit = Watchdog::limit_from_env().expect("a time");
    let _watchdog = Watchdog::start(limit, report).expect("a thread");
    // SAFETY: the handler does what a handler may do.
    unsafe { libc::signal(libc::SIGINT, interrupted as extern "C" fn(libc::c_int) as usize) };
    name_crashes(CODE, || eprintln!("rescued"));
    let library = Library::open(Path::new(&file)).expect("right");
    let small = Small::new();
    let made = (arbiter_of(&library, "variant").make)(&small.fabric(), "{}");
    eprintln!("opened, and {then}");
    match then.as_str() {
        "ends" => {
            drop(OwnEnd);
            std::process::exit(0);
        }
        "is interrupted" => {
            // SAFETY: nothing is passed. The handler ends this process.
            unsafe { libc::raise(libc::SIGINT) };
        }
        _ => {}
    }
    std::thread::sleep(Duration::from_secs(60));
    drop(made);
}

/// Started a second time without one, the test sees that.
#[test]
fn a_closed_stdout_is_known() {
    const CLOSED: &str = "WEIR_TEST_CLOSED";
    assert_eq!(stdout_was_closed(), std::env::var_os(CLOSED).is_some());
    if !stdout_was_closed() {
        let mut program = Command::new("sh");
        program.args(["-c", r#"exec "$0" "$@" >&-"#]).arg(std::env::current_exe().expect("a test has a program"));
        program.args(["--exact", "ends::a_closed_stdout_is_known"]).env(CLOSED, "1");
        assert!(program.status().expect("it starts").success());
    }
}

extern "C" fn interrupted(_: libc::c_int) {
    end_at_once(130);
}

/// Starts it with a variant, and a limit for calls.
fn start(name: &str, defines: &[&str], then: &str, limit: &str) -> (TempDir, PathBuf, Child) {
    let folder = TempDir::new().expect("a folder");
    let file = variant(folder.path(), name, defines).canonicalize().expect("there");
    let mut program = Command::new(std::env::current_exe().expect("a test has a program"));
    program.args(["--exact", "ends::the_program", "--nocapture"]).stdout(Stdio::null()).stderr(Stdio::piped());
    program.env(LIBRARY, &file).env(THEN, then).env("WEIR_PLUGIN_LIMIT", limit);
    (folder, file, program.spawn().expect("it starts"))
}

/// How it ended, and what it said; `None` where it did not end.
fn ended(mut child: Child) -> Option<(ExitStatus, String)> {
    let soon = Instant::now() + Duration::from_secs(20);
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > soon {
            child.kill().expect("ended");
            child.wait().expect("ended");
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("UTF-8");
    Some((child.wait().expect("a child"), said))
}

#[test]
fn a_thread_of_a_plugin_that_ends_the_program_is_found_out() {
    for how in [
        "exit",
        #[cfg(target_os = "linux")]
        "quick_exit",
    ] {
        let define = format!("IN_THREAD=usleep(20000); {how}(0)");
        let (_folder, file, child) = start(how, &[&define], "waits", "500ms");
        let (status, said) = ended(child).expect("it ended");
        let words = format!(
            "rescued\nerror: weir was ended ({how}) outside of a plugin's call, with plugins open that may be the cause: \
             `{how}.so` ({})",
            file.display()
        );
        assert!(status.code() == Some(CODE) && said.contains(&words), "{status}: {said}");
    }
}

#[test]
fn an_end_of_its_own_names_nobody() {
    for (then, code) in [("ends", 0), ("is interrupted", 130)] {
        let (_folder, _, child) = start("well", &[], then, "500ms");
        let (status, said) = ended(child).expect("it ended");
        assert!(status.code() == Some(code) && !said.contains("error"), "{then}: {status}: {said}");
    }
}

/// What a library leaves for the end: in its own sections, and noted while it is opened or later.
const LOOPS: [&str; 3] = ["AT_END=for (;;) { sleep(1); }", "START_UP=atexit(sleeps)", "IN_CREATE=atexit(sleeps)"];

#[test]
fn an_end_that_does_not_return_is_an_error_within_the_limit_of_a_call() {
    for define in LOOPS {
        let (_folder, file, child) = start("loops", &[define], "ends", "500ms");
        let (status, said) = ended(child).expect("it ended");
        let words = format!(
            "error: closing it has not returned for 0.5 s, with plugins open that may be the cause: `loops.so` ({})",
            file.display()
        );
        assert!(status.code() == Some(CODE) && said.contains(&words), "{define}: {status}: {said}");
    }
}

/// What the library has left for the end, which would not return either, is not run.
#[test]
fn a_call_that_does_not_return_ends_the_program_at_once() {
    let (_folder, _, child) = start("hangs", &[LOOPS[0], "IN_CREATE=for (;;) { sleep(1); }"], "waits", "500ms");
    let (status, said) = ended(child).expect("it ended");
    let (stuck, closing) = ("create has not returned for 0.5 s", "closing it");
    assert!(status.code() == Some(CODE) && said.contains(stuck) && !said.contains(closing), "{status}: {said}");
}

/// The limit is longer than the test waits.
#[test]
fn signals_end_a_program_whose_end_does_not_return() {
    for (define, then) in LOOPS.into_iter().flat_map(|define| ["ends", "is interrupted"].map(|then| (define, then))) {
        let (_folder, _, mut child) = start("loops", &[define], then, "60s");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.starts_with("opened") {
            line.clear();
            assert_ne!(said.read_line(&mut line).expect("UTF-8"), 0, "{define}: it says what it does");
        }
        let (pid, soon) = (child.id().to_string(), Instant::now() + Duration::from_secs(20));
        while child.try_wait().expect("a child").is_none() && Instant::now() < soon {
            std::thread::sleep(Duration::from_millis(200));
            // It may have ended since.
            let _ = Command::new("kill").args(["-INT", &pid]).stderr(Stdio::null()).status().expect("it starts");
        }
        child.kill().expect("ended");
        let status = child.wait().expect("a child");
        assert_eq!(status.code(), Some(130), "{define}, {then}: {status}");
    }
}

/// Results of the instance stand; what the library has left for the end is the plugin's error. In a process of its own, whose
/// limit is short.
#[test]
fn a_child_whose_end_does_not_return_is_an_error_of_the_plugin() {
    const ALONE: &str = "WEIR_TEST_CHILD_END";
    if std::env::var_os(ALONE).is_none() {
        let mut program = Command::new(std::env::current_exe().expect("a test has a program"));
        program.args(["--exact", "ends::a_child_whose_end_does_not_return_is_an_error_of_the_plugin", "--nocapture"]);
        let output = program.env(ALONE, "1").env("WEIR_PLUGIN_LIMIT", "500ms").output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let folder = TempDir::new().expect("a folder");
    for define in LOOPS {
        let file = variant(folder.path(), "loops", &[define]).canonicalize().expect("there");
        let mut registry = Registry::new();
        load_file(&file, program(), Place::Child, &mut registry).expect("right");
        let made = (registry.get("variant").expect("listed").make)(&Small::new().fabric(), "{}").map(drop);
        assert_eq!(made, Ok(()));
        drop(registry);
        let words = format!("plugin `loops.so` ({}): closing it has not returned for 0.5 s", file.display());
        let failures = take_failures();
        assert!(failures.len() == 1 && failures[0].starts_with(&words), "{define}: {failures:?}");
    }
}

/// What a library prints goes to stderr where it is loaded, and nowhere where it is only listed.
#[test]
fn what_a_library_prints_is_read_where_it_is_loaded() {
    const ALONE: &str = "WEIR_TEST_PRINTS";
    if let Some(place) = std::env::var_os(ALONE) {
        let folder = TempDir::new().expect("a folder");
        let file = variant(folder.path(), "prints", &["START_UP=fputs(\"opened\\n\", stderr); puts(\"printed\")"]);
        if place == "listed" {
            probe(&file, program()).expect("right");
        } else {
            load_file(&file, program(), Place::Child, &mut Registry::new()).expect("right");
        }
        return;
    }
    for (place, times) in [("listed", 0), ("loaded", 1)] {
        let mut alone = Command::new(std::env::current_exe().expect("a test has a program"));
        alone.args(["--exact", "ends::what_a_library_prints_is_read_where_it_is_loaded", "--nocapture"]);
        let output = alone.env(ALONE, place).output().expect("it starts");
        let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && !text.contains("printed"), "{place}: {text}");
        assert_eq!(said.matches("opened").count(), times, "{place}: {said}");
        assert_eq!(said.matches("printed").count(), times, "{place}: {said}");
    }
}
