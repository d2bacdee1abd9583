//! The ends of a child's pipes that the run holds.

use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;

use super::group::Group;

/// How long to wait for a pipe before looking whether the child has ended, in ms (*assumed*: a crash may be told so late).
#[cfg(unix)]
const PAUSE: libc::c_int = 50;

/// An end of a pipe to a child. Where the child has ended, so has the pipe, although a process that the plugin has started
/// may hold the other end.
pub(super) struct PipeEnd<P> {
    pipe: P,
    #[cfg_attr(not(unix), expect(dead_code, reason = "a read ends with the child"))]
    group: Arc<Group>,
}

impl PipeEnd<ChildStdout> {
    pub(super) fn from_child(pipe: ChildStdout, group: &Arc<Group>) -> Self {
        Self { pipe, group: Arc::clone(group) }
    }
}

impl PipeEnd<ChildStdin> {
    /// # Errors
    /// The system does not let a write return while the pipe is full.
    pub(super) fn to_child(pipe: ChildStdin, group: &Arc<Group>) -> io::Result<Self> {
        // SAFETY: the descriptor is open, and its file is this end alone.
        #[cfg(unix)]
        if unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { pipe, group: Arc::clone(group) })
    }
}

#[cfg(unix)]
impl<P: AsFd> PipeEnd<P> {
    /// Waits until a read or a write goes on; false where the child has ended and it does not.
    fn is_ready(&self, events: libc::c_short) -> bool {
        let mut poll = libc::pollfd { fd: self.pipe.as_fd().as_raw_fd(), events, revents: 0 };
        let mut has_ended = false;
        loop {
            // SAFETY: `poll` is one descriptor, which `pipe` keeps open.
            let ready = unsafe { libc::poll(&raw mut poll, 1, if has_ended { 0 } else { PAUSE }) };
            match ready {
                // What the child wrote before its end was looked for once more.
                0 if has_ended => return false,
                0 => has_ended = !matches!(self.group.status(), Ok(None)),
                -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                // What is wrong is told by the read or write.
                _ => return true,
            }
        }
    }
}

impl Read for PipeEnd<ChildStdout> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        if !self.is_ready(libc::POLLIN) {
            return Ok(0);
        }
        self.pipe.read(buffer)
    }
}

impl Write for PipeEnd<ChildStdin> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.pipe.write(bytes) {
                #[cfg(unix)]
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.is_ready(libc::POLLOUT) {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                }
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// What a shell has read of a megabyte, which no pipe holds at once, and how the write ended.
    fn written_to(script: &str) -> (io::Result<()>, String) {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().expect("it starts");
        let (to, from) = (shell.stdin.take().expect("a pipe"), shell.stdout.take().expect("a pipe"));
        let group = Arc::new(Group::new(shell));
        let mut to = PipeEnd::to_child(to, &group).expect("a pipe");
        let sent = to.write_all(&vec![b'w'; 1 << 20]);
        drop(to);
        let mut answer = String::new();
        PipeEnd::from_child(from, &group).read_to_string(&mut answer).expect("UTF-8");
        (sent, answer.trim().to_owned())
    }

    #[test]
    fn a_full_pipe_is_waited_for_while_its_child_lives() {
        let (sent, answer) = written_to("sleep 0.2; wc -c");
        assert!(sent.is_ok() && answer == "1048576", "{sent:?} {answer}");
        let (sent, answer) = written_to("exec <&-; echo ended");
        assert_eq!((sent.expect_err("nobody reads").kind(), answer.as_str()), (io::ErrorKind::BrokenPipe, "ended"));
    }
}
