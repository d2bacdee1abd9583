//! Runs the command and looks at what it leaves.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod search;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The scenario library.
pub fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
}

/// A file of the scenario library.
pub fn scenario(name: &str) -> String {
    library().join(name).to_str().expect("the repository's path is UTF-8").to_owned()
}

/// All scenarios of the library in order of their paths; topologies are not scenarios.
pub fn scenarios() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![library()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("is readable") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "topologies") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "yaml") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The command, with a user configuration of its own and nothing from outside that changes what it prints.
pub fn weir() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.env("WEIR_CONFIG_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-plugins"));
    command
        .env_remove("WEIR_LOG")
        .env_remove("RUST_LOG")
        .env_remove("WEIR_PLUGIN_LIMIT")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null());
    command
}

/// Starts a command with `-v`, both outputs piped, and waits until its log says that reading is over and the run begins. The
/// log is kept open: a command that cannot write it would end.
pub fn started(command: &mut Command) -> (Child, BufReader<ChildStderr>) {
    let spawned = command.arg("-v").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.expect("the command starts");
    let mut log = BufReader::new(child.stderr.take().expect("is piped"));
    let mut line = String::new();
    while !line.contains("read a scenario") {
        line.clear();
        assert_ne!(log.read_line(&mut line).expect("the log is readable"), 0, "the run never began");
    }
    (child, log)
}

/// What a command left.
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs with these arguments to the end.
pub fn run(arguments: &[&str]) -> Ended {
    ended(weir().args(arguments).output().expect("the command starts"))
}

/// As [`run`], with a text on standard input.
pub fn run_with_input(arguments: &[&str], input: &[u8]) -> Ended {
    use std::io::Write;
    let mut command = weir();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    // The command may refuse before it has read everything.
    let _ = child.stdin.take().expect("is piped").write_all(input);
    ended(child.wait_with_output().expect("the command ends"))
}

/// Exit code and texts of a process.
pub fn ended(output: Output) -> Ended {
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

/// The lines of a text as JSON.
pub fn json_lines(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

/// How long Ctrl-C may take.
pub const LIMIT: Duration = Duration::from_millis(100);
/// A busy machine may miss the limit; it will not miss it this often in a row.
const TRIES: usize = 5;

/// Tests of times run one after another, each while it holds this.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The shortest of some times, no more tries than it takes to meet the limit.
pub fn shortest(attempt: impl Fn() -> Duration) -> Duration {
    let _alone = alone();
    let mut best = Duration::MAX;
    for _ in 0..TRIES {
        best = best.min(attempt());
        if best < LIMIT {
            break;
        }
    }
    best
}

/// Presses Ctrl-C.
pub fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill starts");
    assert!(sent.success());
}

/// A small scenario: two transfers that share a link of 1 GB/s.
pub const SHARED: &str = "\
weir: 1
name: shared
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree:
    s:
      kind: switch
      children: { \"h[0-2]\": { kind: host, link: x } }
workload:
  - transfer: { id: p, from: h0, to: h2, size: 10MB }
  - transfer: { id: q, from: h1, to: h2, size: 20MB }
";
