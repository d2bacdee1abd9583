//! A file that a search adds to while it runs, so that it goes on after it was killed.
//!
//! The first line names the search, each further one a makespan: position in the shard, ps, and a sum that shows whether
//! the line is as it was written and belongs to this search. A last line without its end was being written when the
//! search was killed; it is dropped.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::num::NonZeroU64;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::CheckpointError;
use super::part::Part;

/// Version of the format of checkpoints.
const FORMAT: u32 = 1;

/// First line of the file.
#[derive(Serialize, Deserialize)]
struct Head {
    weir_parameter_checkpoint: u32,
    /// The part without its makespans.
    of: Part,
}

/// A checkpoint, open for adding.
pub(super) struct Checkpoint {
    file: File,
    /// Sum of the first line, from which those of the others go on.
    seed: u32,
}

impl Checkpoint {
    /// Opens a checkpoint of a part's search, or begins one. What it holds is filled into the part, whose makespans are
    /// as many as the shard has candidates.
    pub(super) fn open(path: &Path, part: &mut Part) -> Result<Self, CheckpointError> {
        let head = Head { weir_parameter_checkpoint: FORMAT, of: part.head() };
        let mut line = serde_json::to_vec(&head).map_err(std::io::Error::from)?;
        line.push(b'\n');
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        // Where files cannot be locked, searches over one file at once are the user's care.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(CheckpointError::InUse);
        }
        let mut checkpoint = Self { seed: sum(SUM, &line), file: file.try_clone()? };
        let end = checkpoint.read(&line, &head.of, part)?;
        if end == 0 {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&line)?;
        } else {
            file.set_len(end)?;
            file.seek(SeekFrom::Start(end))?;
        }
        checkpoint.file = file;
        Ok(checkpoint)
    }

    pub(super) fn add(&mut self, position: u64, makespan: NonZeroU64) -> std::io::Result<()> {
        let line = format!("{position} {makespan}");
        let line = format!("{line} {:08x}\n", sum(self.seed, line.as_bytes()));
        self.file.write_all(line.as_bytes())
    }

    /// Fills in what the file holds; returns where its last whole line ends.
    fn read(&self, expected: &[u8], of: &Part, part: &mut Part) -> Result<u64, CheckpointError> {
        let mut lines = BufReader::new(&self.file);
        let mut line = Vec::new();
        lines.read_until(b'\n', &mut line)?;
        if line != expected {
            // An empty file, or the first line was being written.
            return if expected.starts_with(&line) { Ok(0) } else { Err(foreign(&line, of)) };
        }
        let (mut end, mut number) = (line.len() as u64, 1);
        loop {
            line.clear();
            lines.read_until(b'\n', &mut line)?;
            let Some(whole) = line.strip_suffix(b"\n") else { return Ok(end) };
            number += 1;
            let record = self.record(whole).and_then(|(position, makespan)| {
                let place = part.makespans.get_mut(usize::try_from(position).ok()?)?;
                place.replace(makespan).is_none().then_some(())
            });
            record.ok_or(CheckpointError::Damaged { line: number })?;
            end += line.len() as u64;
        }
    }

    /// Position and makespan of a line that is as it was written.
    fn record(&self, line: &[u8]) -> Option<(u64, NonZeroU64)> {
        let (numbers, check) = std::str::from_utf8(line).ok()?.rsplit_once(' ')?;
        if check != format!("{:08x}", sum(self.seed, numbers.as_bytes())) {
            return None;
        }
        let (position, makespan) = numbers.split_once(' ')?;
        Some((position.parse().ok()?, makespan.parse().ok()?))
    }
}

/// Why a first line is not the expected one.
fn foreign(line: &[u8], of: &Part) -> CheckpointError {
    let Ok(Head { of: found, weir_parameter_checkpoint: format }) = serde_json::from_slice(line) else {
        // Orders are kept as parts, and a part of a grid is no checkpoint.
        let other: Result<serde_json::Value, _> = serde_json::from_slice(line);
        let part = other.is_ok_and(|other| other.get("weir_part").is_some());
        return if part { CheckpointError::OtherKind } else { CheckpointError::NotACheckpoint };
    };
    if let Some(found) = found.foreign() {
        return CheckpointError::Version { found };
    }
    if format != FORMAT {
        return CheckpointError::Version { found: format!("with format {format} of checkpoints") };
    }
    CheckpointError::Other { what: found.differs(of).unwrap_or("shard") }
}

/// Start of FNV-1a of 32 bits.
const SUM: u32 = 0x811c_9dc5;

/// FNV-1a of 32 bits (Fowler, Noll, Vo, *The FNV Non-Cryptographic Hash Algorithm*), continued: against torn and edited
/// lines, not against attacks. Any change of a single byte changes it.
fn sum(from: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(from, |sum, &byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
