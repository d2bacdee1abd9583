//! Stdout: whether it was open when the program began, and how it is kept from what plugins print.
//!
//! The standard library opens `/dev/null` in place of descriptors that are
//! closed, before `main`: what is written there would be lost without a word.

use std::fs::File;
use std::io::{Read, Write};
#[cfg(unix)]
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether the program was started with stdout closed, as `>&-` does it; false where that cannot be known.
#[must_use]
pub fn stdout_was_closed() -> bool {
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

/// Standard input and output of the child of a plugin: from now on, the plugin itself reads nothing, and prints to stderr.
/// The child ends when the other end of its input is closed, whatever it is doing.
///
/// # Errors
/// No descriptor is left.
pub(crate) fn child_pipes() -> std::io::Result<(Box<dyn Read>, Box<dyn Write>)> {
    #[cfg(unix)]
    {
        keep_stdout()?;
        let kept = KEPT.get().ok_or_else(|| std::io::Error::other("stdout is not kept"))?;
        let (kept, input) = (duplicate(kept.as_fd())?, duplicate(std::io::stdin().as_fd())?);
        let nothing = File::open("/dev/null")?;
        // SAFETY: both descriptors are open.
        if unsafe { libc::dup2(nothing.as_raw_fd(), libc::STDIN_FILENO) } == -1 {
            return Err(std::io::Error::last_os_error());
        }
        let watched = duplicate(input.as_fd())?;
        std::thread::spawn(move || end_with(&watched));
        Ok((Box::new(input), Box::new(kept)))
    }
    #[cfg(not(unix))]
    Ok((Box::new(std::io::stdin()), Box::new(std::io::stdout())))
}

/// Ends this process when the other end of a pipe is closed.
#[cfg(unix)]
fn end_with(pipe: &File) {
    let mut poll = libc::pollfd { fd: pipe.as_raw_fd(), events: 0, revents: 0 };
    loop {
        // SAFETY: `poll` is one descriptor, which `pipe` keeps open.
        let ready = unsafe { libc::poll(&raw mut poll, 1, -1) };
        if ready > 0 {
            // The main thread, if nothing holds it, has seen the same and ends in order. Where a plugin has closed the pipe on this
            // side, weir ends this process, and says why: that takes it two seconds.
            let is_closed_here = poll.revents & libc::POLLNVAL != 0;
            std::thread::sleep(std::time::Duration::from_secs(if is_closed_here { 10 } else { 1 }));
            // SAFETY: nothing of the plugin is to run any more.
            unsafe { libc::_exit(0) };
        }
    }
}

/// Where stdout leads, once it is kept.
static KEPT: OnceLock<File> = OnceLock::new();

/// Where the program's own output goes, after `keep_stdout`.
#[must_use]
pub fn kept_stdout() -> Option<&'static File> {
    KEPT.get()
}

/// Numbers from which descriptors of weir's own are taken, the first that the system allows: beyond those that a plugin
/// writes to by mistake, such as one that it has closed. Whoever looks for them finds them.
#[cfg(unix)]
const FROM: [libc::c_int; 3] = [500, 100, 3];

/// Another descriptor of the same file, with a high number, which no program started later gets.
#[cfg(unix)]
fn duplicate(file: BorrowedFd<'_>) -> std::io::Result<File> {
    // SAFETY: the call makes a new descriptor, which nobody else has.
    let copy = |from: libc::c_int| unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, from) };
    let descriptor = FROM.into_iter().map(copy).find(|&descriptor| descriptor != -1);
    // SAFETY: as above.
    descriptor.map(|new| unsafe { File::from_raw_fd(new) }).ok_or_else(std::io::Error::last_os_error)
}

/// From now on, what anyone prints to stdout goes to stderr; only [`kept_stdout`] leads to stdout. So nothing that a plugin
/// prints gets into a result.
///
/// # Errors
/// No descriptor is left.
#[cfg(unix)]
pub fn keep_stdout() -> std::io::Result<()> {
    if KEPT.get().is_some() {
        return Ok(());
    }
    std::io::stdout().flush()?;
    let kept = duplicate(std::io::stdout().as_fd())?;
    // SAFETY: both descriptors are open: the standard library saw to it.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } == -1 {
        return Err(std::io::Error::last_os_error());
    }
    // Another thread may have been first: then its descriptor leads to stdout, and this one is closed.
    let _ = KEPT.set(kept);
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod hook {
    use super::{Ordering, STDOUT_WAS_CLOSED};

    extern "C" fn look() {
        // SAFETY: the call asks for a flag of a descriptor, open or not, and changes nothing.
        let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
        STDOUT_WAS_CLOSED.store(is_closed, Ordering::Relaxed);
    }

    // SAFETY: the loader calls the functions of this section, of this type, once before `main`; this one needs nothing that
    // is set up later.
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    static HOOK: extern "C" fn() = look;
}
