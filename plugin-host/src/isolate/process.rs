//! The child of one plugin, as the run holds it.

use std::io::{self, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::child::CHILD_COMMAND;
use super::wire::{Ask, Listing, Tell, receive, send};
#[cfg(unix)]
use crate::crash::{SIGNALS, TIMERS};
use crate::error::PluginError;

/// How long a library may take to open (*assumed*: they take milliseconds).
pub const OPEN_LIMIT: Duration = Duration::from_secs(10);
/// How long a child may take to end by itself (*assumed*: it takes a millisecond).
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Who reads what a plugin prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Listener {
    /// It goes to stderr, with the logs of the child.
    Stderr,
    Nobody,
}

/// A child process with a library open in it. It ends when this is dropped.
pub(crate) struct Process {
    child: Arc<Mutex<Child>>,
    /// `None` while this is dropped.
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    buffer: Vec<u8>,
}

impl Process {
    /// Starts `program` to open the library at `path`, an absolute path, and reads what that lists.
    ///
    /// # Errors
    /// The program does not start; or the library is refused, crashes or takes longer than the limit.
    pub(crate) fn start(
        path: &Path,
        program: &Path,
        listener: Listener,
        limit: Duration,
    ) -> Result<(Self, Listing), PluginError> {
        let failed =
            |reason: String| PluginError::ProbeFailed { path: path.to_owned(), program: program.to_owned(), reason };
        let mut child =
            command(path, program, listener).spawn().map_err(|e| failed(format!("it does not start: {e}")))?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (Some(to), Some(from)) = (to, from) else { return Err(failed("it has no pipes".to_owned())) };
        let child = Arc::new(Mutex::new(child));
        let process = |from| Self { child: Arc::clone(&child), to: Some(to), from, buffer: Vec::new() };
        let (say, hear) = mpsc::channel();
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            let listing = receive(&mut from, &mut Vec::new());
            // Nobody listens any more where this took too long.
            let _ = say.send((from, listing));
        });
        let Ok((from, listing)) = hear.recv_timeout(limit) else {
            end(&child);
            return Err(PluginError::ProbeTimeout { path: path.to_owned(), seconds: limit.as_secs_f64() });
        };
        let process = process(from);
        match listing {
            Ok(Tell::Listing(Ok(listing))) => Ok((process, listing)),
            Ok(Tell::Listing(Err(refusal))) => Err(PluginError::Probed(refusal)),
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                Err(failed(format!("its answer makes no sense: {error}")))
            }
            Ok(_) => Err(failed("its answer makes no sense".to_owned())),
            Err(_) => Err(match process.status() {
                Ok(status) if status.success() => failed("it gave no answer".to_owned()),
                Ok(status) => PluginError::Crashed { path: path.to_owned(), how: how_it_ended(status) },
                Err(error) => failed(error.to_string()),
            }),
        }
    }

    /// Sends a question and waits for what the child says next.
    ///
    /// # Errors
    /// The child has ended, or says what makes no sense (`InvalidData`).
    pub(crate) fn ask(&mut self, ask: &Ask) -> io::Result<Tell> {
        let Some(to) = &mut self.to else { return Err(io::ErrorKind::BrokenPipe.into()) };
        send(to, &mut self.buffer, ask)?;
        receive(&mut self.from, &mut self.buffer)
    }

    /// Ends the child, from any thread: whoever waits for an answer gets an error.
    pub(crate) fn killer(&self) -> impl Fn() + Send + Sync + use<> {
        let child = Arc::clone(&self.child);
        move || {
            // One that has ended already needs no end.
            let _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill();
        }
    }

    /// How a child that answers no more has ended.
    pub(crate) fn how_it_ended(&self) -> String {
        self.status().map_or_else(|error| error.to_string(), how_it_ended)
    }

    /// Waits for the end of a child whose pipes are closed.
    fn status(&self) -> io::Result<ExitStatus> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).wait()
    }
}

impl Process {
    /// Closes the input of the child, which ends it; what it printed is written then. How it ended, if not well.
    pub(crate) fn close(&mut self) -> Option<String> {
        self.to = None;
        let deadline = Instant::now() + LAST_WORDS;
        while Instant::now() < deadline {
            match self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Ok(Some(status)) => return (!status.success()).then(|| how_it_ended(status)),
                Err(error) => return Some(error.to_string()),
            }
        }
        // A busy machine may be why.
        end(&self.child);
        None
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Who wants to know has asked before.
        let _ = self.close();
    }
}

fn end(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    // One that has ended already needs no end, and nobody asks how this one ended.
    let _ = child.kill();
    let _ = child.wait();
}

fn command(path: &Path, program: &Path, listener: Listener) -> Command {
    let mut command = Command::new(program);
    command.arg(CHILD_COMMAND).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
    if listener == Listener::Nobody {
        command.stderr(Stdio::null());
    }
    let level = tracing::level_filters::LevelFilter::current();
    if std::env::var_os("WEIR_LOG").is_none() {
        command.env("WEIR_LOG", level.to_string());
    }
    // Ctrl-C asks the run to stop, which then ends its children.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
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

/// The name of a signal that broken code raises, or its number.
#[cfg(unix)]
fn signal_name(signal: i32) -> String {
    let others = [(libc::SIGKILL, "SIGKILL"), (libc::SIGTERM, "SIGTERM")];
    let mut known = SIGNALS.into_iter().chain(TIMERS).chain(others);
    known.find(|(known, _)| *known == signal).map_or(signal.to_string(), |(_, name)| name.to_owned())
}
