//! A file from which a search over all orders goes on after it was killed: a part, written again and again.

use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};

use weir_optimize::order::Part;
use weir_report::SearchSubject;

use super::order::OrderNames;
use super::part::{PartFile, PartOf};
use crate::failure::Failure;
use crate::output;

/// Time between two checkpoints; *assumed*: little to lose, little to write.
const SAVED_EVERY: Duration = Duration::from_secs(2);

/// A file with a part that goes on later.
pub(super) struct Checkpoint<'a> {
    file: &'a Path,
    subject: &'a SearchSubject,
    last: RefCell<Instant>,
    failed: RefCell<Option<Failure>>,
}

impl<'a> Checkpoint<'a> {
    /// Takes up what the file holds, if there is one.
    pub(super) fn open(file: &'a Path, subject: &'a SearchSubject, part: &mut Part) -> Result<Self, Failure> {
        let refused = |why: String| Failure::usage(format!("the checkpoint {} {why}", file.display()));
        let other = "belongs to another search: remove it to start anew, or name another file";
        match std::fs::read_to_string(file) {
            Ok(text) => {
                let known = PartFile::read(&text).map_err(refused)?;
                let (of, PartOf::Order { makespans, .. }) = known.contents() else { return Err(refused(other.into())) };
                let same = of.arbiter == subject.arbiter
                    && of.input_sha256 == subject.input_sha256
                    && (&makespans.digest, makespans.shard, makespans.shards)
                        == (&part.digest, part.shard, part.shards);
                if !same {
                    return Err(refused(other.into()));
                }
                *part = makespans;
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(refused(format!("cannot be read: {error}"))),
        }
        let checkpoint = Self { file, subject, last: RefCell::new(Instant::now()), failed: RefCell::new(None) };
        checkpoint.save(part, true);
        if let Some(failure) = checkpoint.failed.take() {
            return Err(failure);
        }
        Ok(checkpoint)
    }

    /// Writes the part, but not too often.
    pub(super) fn save(&self, part: &Part, now: bool) {
        if !now && self.last.borrow().elapsed() < SAVED_EVERY {
            return;
        }
        let of = PartOf::Order { names: OrderNames::default(), makespans: part.clone() };
        let text = PartFile::new(self.subject.clone(), of).line();
        if let Err(failure) = output::replace(self.file, text.as_bytes()) {
            self.failed.borrow_mut().get_or_insert(failure);
        }
        *self.last.borrow_mut() = Instant::now();
    }

    /// What went wrong while saving.
    pub(super) fn end(self) -> Result<(), Failure> {
        self.failed.into_inner().map_or(Ok(()), Err)
    }
}
