//! The file being written, for the moment when the program must end without returning.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::beside;

static PENDING: Mutex<Option<Pending>> = Mutex::new(None);

struct Pending {
    temporary: PathBuf,
    target: PathBuf,
    /// Bytes of results that are whole.
    whole: u64,
}

/// A file is written beside its target from now on.
pub(crate) fn begin(temporary: &Path, target: &Path) {
    *lock() = Some(Pending { temporary: temporary.to_owned(), target: target.to_owned(), whole: 0 });
}

/// The first `whole` bytes are whole results.
pub(crate) fn keep(whole: u64) {
    if let Some(pending) = lock().as_mut() {
        pending.whole = whole;
    }
}

/// The file is about to be put in its place.
pub(crate) fn forget() {
    *lock() = None;
}

/// Called when the program must end at once: the target gets the whole results there are, and none is left half-written.
pub(crate) fn rescue() {
    let pending = PENDING.try_lock().ok().and_then(|mut pending| pending.take());
    if let Some(Pending { temporary, target, whole }) = pending.filter(|pending| pending.whole > 0)
        && OpenOptions::new().write(true).open(&temporary).and_then(|file| file.set_len(whole)).is_ok()
    {
        // Where it cannot be put in its place it is removed with the others.
        let _ = std::fs::rename(&temporary, target);
    }
    beside::remove_all();
}

fn lock() -> MutexGuard<'static, Option<Pending>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}
