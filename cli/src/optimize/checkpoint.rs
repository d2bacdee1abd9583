//! A file from which a search over all orders goes on after it was killed: a part, written again and again.

use std::path::Path;

use weir_optimize::order::Part;
use weir_report::SearchSubject;

use super::order::OrderNames;
use super::part::{PartFile, PartOf, Unread};
use super::stop::Stop;
use crate::failure::Failure;
use crate::output;

/// A file with a part that goes on later.
pub(super) struct Checkpoint<'a> {
    file: &'a Path,
    subject: &'a SearchSubject,
    failed: Option<Failure>,
}

impl<'a> Checkpoint<'a> {
    /// Takes up what the file holds, if there is one.
    pub(super) fn open(file: &'a Path, subject: &'a SearchSubject, part: &mut Part) -> Result<Self, Failure> {
        let refused = |why: &str| {
            let remedy = "remove it to start anew, or name another file";
            Failure::usage(format!("the checkpoint {} {why}: {remedy}", file.display()))
        };
        match std::fs::read_to_string(file) {
            Ok(text) => *part = known(&text, subject, part).map_err(|why| refused(&why))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => return Err(refused("is no text")),
            Err(error) => return Err(Failure::usage(format!("the checkpoint {}: {error}", file.display()))),
        }
        let mut checkpoint = Self { file, subject, failed: None };
        checkpoint.save(part);
        match checkpoint.failed.take() {
            Some(failure) => Err(failure),
            None => Ok(checkpoint),
        }
    }

    /// Writes the part, unless the search must end: then its last state is written instead.
    pub(super) fn save_unless(&mut self, stop: &Stop, part: &Part) {
        if !stop.raised() {
            self.save(part);
        }
    }

    /// Writes the part.
    pub(super) fn save(&mut self, part: &Part) {
        let of = PartOf::Order { names: OrderNames::default(), makespans: part.clone() };
        let text = PartFile::new(self.subject.clone(), of).line();
        if let Err(failure) = output::replace(self.file, text.as_bytes()) {
            self.failed.get_or_insert(failure);
        }
    }

    /// What went wrong while saving.
    pub(super) fn end(self) -> Result<(), Failure> {
        self.failed.map_or(Ok(()), Err)
    }
}

/// The part of a file that goes on as `part` would begin; else what differs.
fn known(text: &str, subject: &SearchSubject, part: &Part) -> Result<Part, String> {
    let (of, known) = PartFile::read(text).map_err(unread)?.contents();
    let PartOf::Order { makespans, .. } = known else {
        return Err("is a shard of a search over parameters, this is one over orders".to_owned());
    };
    if let Some(what) = subject.differs(&of) {
        return Err(format!("belongs to another {what}"));
    }
    let shards = |part: &Part| format!("shard {}/{}", part.shard, part.shards);
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
        Unread::Version(found) => format!("was written by weir {found}, this is {}", env!("CARGO_PKG_VERSION")),
        Unread::Grid => "belongs to another kind of search, over parameters; this is one over orders".to_owned(),
        Unread::Other(error) => format!("is not a checkpoint of a search over orders ({error})"),
    }
}
