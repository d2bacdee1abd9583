//! A file from which a search over all orders goes on after it was killed: a part, written again and again.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use weir::Error;
use weir::optimize::{Checkpoint, OrderNames, OrderPart, PartFile, PartOf, SearchSubject, Unread};

use super::part::NOT_TEXT;
use crate::{bounded, interrupt, output};

/// A file with a part that goes on later.
pub(crate) struct CheckpointFile<'a> {
    file: &'a Path,
    /// The first thing that went wrong while saving.
    failed: Mutex<Option<Error>>,
}

impl<'a> CheckpointFile<'a> {
    pub(crate) fn new(file: &'a Path) -> Self {
        Self { file, failed: Mutex::new(None) }
    }
}

impl Checkpoint for CheckpointFile<'_> {
    fn file(&self) -> &Path {
        self.file
    }

    fn resume(&self, subject: &SearchSubject, part: &mut OrderPart) -> Result<(), Error> {
        let file = self.file.display();
        let refused = |why: &str| {
            let remedy = "remove it to start anew, or name another file";
            Error::input(format!("the checkpoint {file} {why}: {remedy}"))
        };
        match bounded::read_text(self.file) {
            Ok(text) => *part = known(&text, subject, part).map_err(|why| refused(&why))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => return Err(refused(NOT_TEXT)),
            Err(error) => return Err(Error::input(format!("the checkpoint {file}: {error}"))),
        }
        self.save(subject, part);
        self.end()
    }

    fn save(&self, subject: &SearchSubject, part: &OrderPart) {
        let of = PartOf::Order { names: OrderNames::default(), makespans: part.clone() };
        let file = PartFile::new(subject.clone(), of);
        let text = if interrupt::requested() { String::new() } else { file.line() };
        // Whoever pressed Ctrl-C meanwhile does not wait for a large file; the one before it is still there.
        if interrupt::requested() {
            return;
        }
        if let Err(failure) = output::replace(self.file, text.as_bytes()) {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        }
    }

    fn end(&self) -> Result<(), Error> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map_or(Ok(()), Err)
    }
}

/// The part of a file that goes on as `part` would begin; else what differs.
fn known(text: &str, subject: &SearchSubject, part: &OrderPart) -> Result<OrderPart, String> {
    let (of, known) = PartFile::read(text).map_err(unread)?.contents();
    let PartOf::Order { makespans, .. } = known else {
        return Err("is a shard of a search over parameters, this is one over orders".to_owned());
    };
    if let Some(what) = subject.differs(&of) {
        return Err(format!("belongs to another {what}"));
    }
    let shards = |part: &OrderPart| format!("shard {}/{}", part.shard, part.shards);
    if (makespans.shard, makespans.shards) != (part.shard, part.shards) {
        return Err(format!("holds {}, another than {}", shards(&makespans), shards(part)));
    }
    if makespans.digest != part.digest {
        return Err("belongs to another scenario: other values are set".to_owned());
    }
    Ok(makespans)
}

fn unread(error: Unread) -> String {
    match error {
        Unread::Version(_) | Unread::Damaged => error.to_string(),
        Unread::Grid => "belongs to another kind of search, over parameters; this is one over orders".to_owned(),
        Unread::Other(error) => format!("is not a checkpoint of a search over orders ({error})"),
    }
}
