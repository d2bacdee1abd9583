//! A plugin that crashes, or ends the program, is named before the program ends.
//!
//! Signals of a crash are delivered to the thread that caused them, so a variable of the thread says whether it is in a call
//! of a plugin. What a handler may do is little (signal-safety(7)): it writes what lies ready, and ends the program.

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use crate::call::running;
use crate::ending::is_own;
use crate::record::libraries;
use crate::stuck::{CLOSING, LIMIT_VARIABLE};

/// The code with which the program ends.
static EXIT: AtomicI32 = AtomicI32::new(1);

/// What is called before a plugin's `exit` ends the program.
static RESCUE: OnceLock<fn()> = OnceLock::new();

/// Signals of crashes.
pub(crate) const SIGNALS: [(c_int, &str); 7] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGSYS, "SIGSYS"),
];

/// Signals of timers. A plugin may set one, but so may whoever started the program: it is named only from inside its call.
pub(crate) const TIMERS: [(c_int, &str); 3] =
    [(libc::SIGALRM, "SIGALRM"), (libc::SIGVTALRM, "SIGVTALRM"), (libc::SIGPROF, "SIGPROF")];

#[cfg(target_os = "linux")]
unsafe extern "C" {
    /// C11, 7.22.4.3.
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
}

/// From now on a plugin that crashes, or calls `exit` or `quick_exit`, is named on stderr, and the program ends with a code.
/// A crash outside of any call, and an end that is not weir's own ([`crate::OwnEnd`]), name the libraries that are open. Only
/// `_exit` goes unnoticed. `rescue` is called before a plugin's `exit` ends the program; after a crash there is nothing that
/// may be called.
pub fn name_crashes(exit_code: i32, rescue: fn()) {
    EXIT.store(exit_code, Ordering::Relaxed);
    RESCUE.get_or_init(|| {
        SIGNALS.iter().for_each(|&(signal, _)| handle(signal, crashed));
        TIMERS.iter().filter(|&&(signal, _)| is_default(signal)).for_each(|&(signal, _)| handle(signal, timed));
        rescue
    });
    look_first_at_end();
}

/// Looks at the end of the program before functions that libraries, opened until now, have left for it.
pub(crate) fn look_first_at_end() {
    if RESCUE.get().is_some() {
        // SAFETY: the functions stay where they are; where no room is left for one, its kind of end goes unnoticed.
        unsafe {
            libc::atexit(exited);
            #[cfg(target_os = "linux")]
            at_quick_exit(quickly_exited);
        };
    }
}

/// Whether the end of the program is looked at, and libraries may be its cause.
pub(crate) fn is_named() -> bool {
    RESCUE.get().is_some() && libraries().next().is_some()
}

/// Sets what is called at the next signal of a kind; after that the default action is in force, so that a crash in the handler
/// ends the program.
fn handle(signal: c_int, handler: extern "C" fn(c_int)) {
    // SAFETY: `action` is valid, and the handlers do what a handler may do. Rust's threads have a stack for signals.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// Whether nobody has said what a signal does.
fn is_default(signal: c_int) -> bool {
    // SAFETY: with no new action the call writes the present one, and `action` has room for it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_DFL
    }
}

extern "C" fn timed(signal: c_int) {
    end_named("was ended by a timer in", name_of(signal));
    // SAFETY: it may be called in a handler.
    unsafe { libc::raise(signal) };
}

fn name_of(signal: c_int) -> &'static str {
    let mut known = SIGNALS.iter().chain(&TIMERS);
    known.find(|(known, _)| *known == signal).map_or("a signal", |(_, name)| name)
}

extern "C" fn crashed(signal: c_int) {
    let name = name_of(signal);
    end_named("crashed in", name);
    end_with_suspects(&["weir crashed (", name, ") outside of a plugin's call"], CRASH_ADVICE);
    // No plugin is there: the default action ends the program.
    // SAFETY: it may be called in a handler.
    unsafe { libc::raise(signal) };
}

extern "C" fn exited() {
    ended("exit");
}

#[cfg(target_os = "linux")]
extern "C" fn quickly_exited() {
    ended("quick_exit");
}

/// Names who ends the program, unless that is weir. All may be called here, so what is whole is saved first.
fn ended(how: &str) {
    if running().is_none() && is_own() {
        return;
    }
    if let Some(rescue) = RESCUE.get().filter(|_| is_named()) {
        rescue();
    }
    end_named("ended the program in", how);
    end_with_suspects(&["weir was ended (", how, ") outside of a plugin's call"], CRASH_ADVICE);
}

/// Names the plugin that this thread is in, and ends the program; returns where it is in none.
fn end_named(what: &str, how: &str) {
    let Some((record, call)) = running() else { return };
    let what = [b") ", what.as_bytes(), b" ", call.word().as_bytes(), b" (", how.as_bytes(), b"); "];
    write(&[b"error: plugin `", record.plugin(), b"` (", record.path()]);
    write(&what);
    end(b"the run has failed; remove it with `weir plugin remove`, or report it to its author\n");
}

/// Ends a program that does not end within the limit: a function that a library has left for that does not return.
pub(crate) fn end_as_stuck(limit: Duration) {
    let seconds = limit.as_secs_f64().to_string();
    let advice = format!("; results are not touched by it; remove it, or allow more time by {LIMIT_VARIABLE}=60s\n");
    end_with_suspects(&[CLOSING, " has not returned for ", &seconds, " s"], &advice);
}

const CRASH_ADVICE: &str = "; run it without them, or with --isolate\n";

/// Names all libraries that are open, and ends the program; returns where none is. A thread of theirs may be the cause, a
/// function that they left for the end of the program, or code of weir whose memory they have overwritten.
fn end_with_suspects(what: &[&str], advice: &str) {
    if libraries().next().is_none() {
        return;
    }
    write(&[b"error: "]);
    what.iter().for_each(|part| write(&[part.as_bytes()]));
    write(&[b", with plugins open that may be the cause:"]);
    libraries().for_each(|library| write(&[b" `", library.plugin(), b"` (", library.path(), b")"]));
    end(advice.as_bytes());
}

/// Writes to stderr. What that does not take has nowhere to be told.
fn write(parts: &[&[u8]]) {
    for part in parts {
        // SAFETY: the bytes are valid, and a handler may write.
        unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
    }
}

fn end(words: &[u8]) {
    write(&[words]);
    // SAFETY: nothing runs after it, no handler of the plugin's either.
    unsafe { libc::_exit(EXIT.load(Ordering::Relaxed)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_their_names() {
        for (signal, name) in SIGNALS.into_iter().chain(TIMERS) {
            assert_eq!(name_of(signal), name);
        }
        assert_eq!(name_of(libc::SIGUSR1), "a signal");
    }

    /// Nobody in this process has said what these two do, until the test does.
    #[test]
    fn a_timer_that_somebody_waits_for_is_left_alone() {
        assert!(is_default(libc::SIGURG) && is_default(libc::SIGWINCH));
        // SAFETY: both signals are ignored by default.
        unsafe { libc::signal(libc::SIGURG, libc::SIG_IGN) };
        assert!(!is_default(libc::SIGURG) && is_default(libc::SIGWINCH));
        assert!(!is_default(-1), "there is no such signal");
    }
}
