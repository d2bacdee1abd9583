//! Opens a library in a child process first: a broken one kills the child, not the run.
//!
//! ```text
//! probe(FILE) ─► PROGRAM __probe FILE ─► probe_main ─► Library::open ─► one marked line of JSON on standard output
//! ```

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::PluginError;
use crate::library::{Library, absolute};

/// First argument of the program that probes; a command line that sees it calls [`probe_main`] with the second.
pub const PROBE_COMMAND: &str = "__probe";
/// How long a library may take to open (*assumed*: they take milliseconds).
pub const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// Begins the line of the answer, among whatever a library prints itself.
const MARK: &str = "weir-probe: ";
/// A child that prints more than this is not listened to further (*assumed*).
const MAX_OUTPUT: u64 = 16 << 20;
/// Between two looks at the child.
const POLL: Duration = Duration::from_millis(2);

/// An arbiter that a probe found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProbedArbiter {
    /// Its name in scenarios: lower-case words and digits joined by `-`.
    pub name: String,
    /// Version of the policy.
    pub version: String,
}

/// A model that a probe found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProbedModel {
    /// Its name in scenarios and results.
    pub name: String,
    /// Version of the model, shown in results.
    pub version: String,
    /// Keys of the workload's items that it serves.
    pub operations: Vec<String>,
}

/// What a probe found in a library.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Probed {
    /// Arbiters in the order of the library; empty where it has models alone.
    pub arbiters: Vec<ProbedArbiter>,
    /// Models in the order of the library; empty where it has arbiters alone.
    pub models: Vec<ProbedModel>,
}

impl From<&Library> for Probed {
    fn from(library: &Library) -> Self {
        let arbiters =
            library.arbiters.iter().map(|a| ProbedArbiter { name: a.name.clone(), version: a.version.clone() });
        let models = library.models.iter().map(|m| ProbedModel {
            name: m.name.clone(),
            version: m.version.clone(),
            operations: m.operations.clone(),
        });
        Self { arbiters: arbiters.collect(), models: models.collect() }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Plugin(Probed),
    Error(String),
}

/// The child's part: opens the library, prints what it lists or why it was refused. The exit code is 0 in both cases; any
/// other end is a crash.
#[must_use]
pub fn probe_main(file: &Path) -> ExitCode {
    let answer = match Library::open(file) {
        Ok(library) => Answer::Plugin(Probed::from(&library)),
        Err(error) => Answer::Error(error.to_string()),
    };
    let printed = serde_json::to_string(&answer).map_err(std::io::Error::from).and_then(|line| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\n{MARK}{line}")?;
        out.flush()
    });
    if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Opens a library in a child process: `program` with the arguments [`PROBE_COMMAND`] and the file, for at most
/// [`PROBE_LIMIT`].
///
/// # Errors
/// The library was refused, crashed or did not return; or the child could not be started.
pub fn probe(file: &Path, program: &Path) -> Result<Probed, PluginError> {
    probe_within(file, program, PROBE_LIMIT)
}

/// As [`probe`], with a limit of one's own.
///
/// # Errors
/// As [`probe`].
pub fn probe_within(file: &Path, program: &Path, limit: Duration) -> Result<Probed, PluginError> {
    let path = absolute(file)?;
    let failed = |reason: String| PluginError::ProbeFailed { path: path.clone(), program: program.to_owned(), reason };
    let mut child = Command::new(program)
        .arg(PROBE_COMMAND)
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| failed(format!("it does not start: {e}")))?;
    let (send, receive) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            // The receiver is gone where the child took too long; nobody needs the line then.
            let _ = send.send(marked_line(stdout));
        });
    }
    let deadline = Instant::now() + limit;
    let status = wait_until(&mut child, deadline).map_err(|e| failed(e.to_string()))?;
    let Some(status) = status else {
        return Err(PluginError::ProbeTimeout { path, seconds: limit.as_secs_f64() });
    };
    if !status.success() {
        return Err(PluginError::Crashed { path, how: how_it_ended(status) });
    }
    // A process that the library left behind may hold the pipe open; do not wait for it for ever.
    let line = receive.recv_timeout(deadline.saturating_duration_since(Instant::now()) + POLL).ok().flatten();
    let line = line.ok_or_else(|| failed("it printed no answer".to_owned()))?;
    match serde_json::from_str(&line).map_err(|e| failed(format!("its answer makes no sense: {e}")))? {
        Answer::Plugin(probed) => Ok(probed),
        Answer::Error(error) => Err(PluginError::Probed(error)),
    }
}

/// Waits for a child; kills it at the deadline and returns none.
fn wait_until(child: &mut Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}

fn marked_line(stdout: ChildStdout) -> Option<String> {
    let lines = BufReader::new(stdout.take(MAX_OUTPUT)).split(b'\n').map_while(Result::ok);
    let mut marked = lines.filter_map(|line| String::from_utf8(line).ok()?.strip_prefix(MARK).map(str::to_owned));
    marked.next()
}

#[cfg(unix)]
fn how_it_ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match status.signal() {
        Some(signal) => format!("signal {}", signal_name(signal)),
        None => status.to_string(),
    }
}

#[cfg(not(unix))]
fn how_it_ended(status: ExitStatus) -> String {
    status.to_string()
}

/// Names of the signals that broken code raises (POSIX; the number of SIGBUS is the system's).
#[cfg(unix)]
fn signal_name(signal: i32) -> String {
    let bus = if cfg!(any(target_os = "linux", target_os = "android")) { 7 } else { 10 };
    match signal {
        4 => "SIGILL".to_owned(),
        5 => "SIGTRAP".to_owned(),
        6 => "SIGABRT".to_owned(),
        8 => "SIGFPE".to_owned(),
        9 => "SIGKILL".to_owned(),
        11 => "SIGSEGV".to_owned(),
        15 => "SIGTERM".to_owned(),
        n if n == bus => "SIGBUS".to_owned(),
        n => n.to_string(),
    }
}
