//! What a search tells its surroundings while it goes on.

use std::path::Path;

use weir_optimize::order::Part;
use weir_report::SearchSubject;

use crate::Error;

/// Hears of the progress of a search. `()` is one that does not listen.
pub trait Watch: Sync {
    /// A search over `all` of `what` begins, 0 for as many as time allows; `known` of them are known from a checkpoint.
    fn begin(&self, what: &'static str, all: u64, known: u64) {
        let _ = (what, all, known);
    }

    /// So many are done; the last of them, or the best of them, takes `makespan` ps.
    fn progress(&self, done: u64, makespan: Option<u64>) {
        let _ = (done, makespan);
    }

    /// The search is over, and its result is put together.
    fn finish(&self) {}

    /// Something that the user should know.
    fn warn(&self, message: &str) {
        let _ = message;
    }
}

impl Watch for () {}

/// A file from which a search goes on after it was killed. A search over parameters adds to the file itself; one over
/// orders hands over its state again and again.
pub trait Checkpoint: Sync {
    /// The file.
    fn file(&self) -> &Path;

    /// Takes up what the file holds of a search over orders, if there is one.
    ///
    /// # Errors
    /// It belongs to another search, or cannot be read and written.
    fn resume(&self, subject: &SearchSubject, part: &mut Part) -> Result<(), Error>;

    /// Keeps a state of a search over orders.
    fn save(&self, subject: &SearchSubject, part: &Part);

    /// Ends a search over orders.
    ///
    /// # Errors
    /// What went wrong while saving.
    fn end(&self) -> Result<(), Error>;
}
