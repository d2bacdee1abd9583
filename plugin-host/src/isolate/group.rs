//! The process of a child, and what its plugin has started in turn: one process group.

use std::io;
use std::process::{Child, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A child that leads a process group. What is left of the group ends with it.
pub(super) struct Group(Mutex<State>);

struct State {
    child: Child,
    /// How it ended, once that is known: its number may then be another process's.
    status: Option<ExitStatus>,
}

impl Group {
    pub(super) fn new(child: Child) -> Self {
        Self(Mutex::new(State { child, status: None }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the child ended; `None` while it runs.
    pub(super) fn status(&self) -> io::Result<Option<ExitStatus>> {
        let state = &mut *self.lock();
        if state.status.is_none() && has_ended(&mut state.child)? {
            // Until the child is waited for, no other group can have its number.
            kill(&mut state.child);
            state.status = Some(state.child.wait()?);
        }
        Ok(state.status)
    }

    /// How the child ended; `None` if it still runs at the deadline.
    pub(super) fn wait_until(&self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            let status = self.status()?;
            if status.is_some() || Instant::now() >= deadline {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends the child and its group, from any thread.
    pub(super) fn kill(&self) {
        let state = &mut *self.lock();
        // One that has ended already needs no end.
        if state.status.is_none() {
            kill(&mut state.child);
        }
    }

    /// As [`Self::kill`], and waits for it. Nobody asks how this one ended.
    pub(super) fn end(&self) {
        self.kill();
        let state = &mut *self.lock();
        if state.status.is_none() {
            state.status = state.child.wait().ok();
        }
    }
}

/// Whether a child has ended that is still to be waited for.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    // SAFETY: zeros are a value of this structure.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is valid; the call writes there, and does not wait.
    if unsafe { libc::waitid(libc::P_PID, child.id(), &raw mut info, flags) } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has written this field, or left it 0.
    Ok(unsafe { info.si_pid() } != 0)
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Ends a child that was not waited for, and its group.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: the number is that of the child's own group, of which nothing may be left.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    // It may have left its group, or have ended.
    let _ = child.kill();
}
