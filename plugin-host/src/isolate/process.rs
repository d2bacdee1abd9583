//! The child of one plugin, as the run holds it.

use std::io::{self, BufReader};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use super::child::CHILD_COMMAND;
use super::group::Group;
use super::pipe::PipeEnd;
use super::wire::{Ask, Listing, Tell, receive, send};
#[cfg(unix)]
use crate::crash::{SIGNALS, TIMERS};
use crate::error::PluginError;

/// How long a library may take to open (*assumed*: they take milliseconds).
pub const OPEN_LIMIT: Duration = Duration::from_secs(10);
/// How long a child may take to end by itself where nobody asks how (*assumed*: it takes a millisecond).
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long the system may take to end a child whose pipe has ended (*assumed*: milliseconds, more on a busy machine).
const BURIAL: Duration = Duration::from_secs(2);

/// Who reads what a plugin prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Listener {
    /// It goes to stderr, with the logs of the child.
    Stderr,
    Nobody,
}

/// A child process with a library open in it. It ends when this is dropped.
pub(crate) struct Process {
    group: Arc<Group>,
    /// `None` while this is dropped.
    to: Option<PipeEnd<ChildStdin>>,
    from: BufReader<PipeEnd<ChildStdout>>,
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
        let group = Arc::new(Group::new(child));
        let (Some(to), Some(from)) = (to, from) else { return Err(failed("it has no pipes".to_owned())) };
        let mut from = BufReader::new(PipeEnd::from_child(from, &group));
        let to = PipeEnd::to_child(to, &group).map_err(|e| failed(format!("its pipe cannot be written to: {e}")))?;
        let (say, hear) = mpsc::channel();
        std::thread::spawn(move || {
            let listing = receive(&mut from, &mut Vec::new());
            // Nobody listens any more where this took too long.
            let _ = say.send((from, listing));
        });
        let Ok((from, listing)) = hear.recv_timeout(limit) else {
            group.end();
            return Err(PluginError::ProbeTimeout { path: path.to_owned(), seconds: limit.as_secs_f64() });
        };
        let process = Self { group, to: Some(to), from, buffer: Vec::new() };
        match listing {
            Ok(Tell::Listing(Ok(listing))) => Ok((process, listing)),
            Ok(Tell::Listing(Err(refusal))) => Err(PluginError::Probed(refusal)),
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                Err(failed(format!("its answer makes no sense: {error}")))
            }
            Ok(_) => Err(failed("its answer makes no sense".to_owned())),
            Err(_) => Err(match process.status() {
                Ok(Some(status)) if !status.success() => {
                    PluginError::Crashed { path: path.to_owned(), how: how_it_ended(status) }
                }
                Ok(_) => failed("it gave no answer".to_owned()),
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
        let group = Arc::clone(&self.group);
        move || group.kill()
    }

    /// How a child that answers no more has ended.
    pub(crate) fn how_it_ended(&self) -> String {
        match self.status() {
            Ok(Some(status)) => how_it_ended(status),
            Ok(None) => "it closed its pipe".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// How a child ended whose pipe has ended. One that has only closed it is ended: it cannot be asked any more.
    fn status(&self) -> io::Result<Option<ExitStatus>> {
        let status = self.group.wait_until(Instant::now() + BURIAL);
        if matches!(status, Ok(None)) {
            self.group.end();
        }
        status
    }
}

/// How a child ended that was asked to.
pub(crate) enum Closed {
    Well,
    /// Its exit status or signal, or why that is not known.
    Badly(String),
    /// It had to be ended: what its library has left for the end does not return.
    Late,
}

impl Process {
    /// Asks a child that has answered all to end.
    pub(crate) fn ask_to_end(&mut self) {
        // One that has ended already tells how.
        let _ = self.to.as_mut().map(|to| send(to, &mut self.buffer, &Ask::End));
    }

    /// How the child ended, until the deadline.
    pub(crate) fn close_until(&self, deadline: Instant) -> Closed {
        match self.group.wait_until(deadline) {
            Ok(Some(status)) if status.success() => Closed::Well,
            Ok(Some(status)) => Closed::Badly(how_it_ended(status)),
            Ok(None) => {
                self.group.end();
                Closed::Late
            }
            Err(error) => Closed::Badly(error.to_string()),
        }
    }
}

impl Drop for Process {
    /// Closes the input of the child, which ends it; what it printed is written then. Who wants to know how has asked before.
    fn drop(&mut self) {
        self.to = None;
        let _ = self.close_until(Instant::now() + LAST_WORDS);
    }
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
