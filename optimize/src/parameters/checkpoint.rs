//! A file that a search adds to while it runs, so that it goes on after it was killed.
//!
//! The first line names the search, each further one a candidate: position in the shard, ps and by another objective a comma and
//! its value, or in quotes why it stops, and a sum that shows whether the line is as it was written and belongs to this search;
//! the first line has a digest. A last line without its end was being written when the search was killed; it is dropped.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use weir_digest::{DigestedLine, check_digest, sum, sum_from, with_digest};

use super::error::CheckpointError;
use super::part::Part;
use super::search::Ran;

/// Version of the format of checkpoints.
const FORMAT: u32 = 3;

/// First line of the file.
#[derive(Serialize, Deserialize)]
struct Head {
    weir_parameter_checkpoint: u32,
    /// The part without its makespans.
    of: Part,
}

/// How often what was added is brought to the disk (*assumed*: a loss of power costs a second, and the disk a hundredth of it).
const PERIOD: Duration = Duration::from_secs(1);

/// A checkpoint, open for adding.
pub(super) struct Checkpoint {
    file: File,
    /// When it was brought to the disk last.
    on_disk: Instant,
    /// Sum of the first line, from which those of the others go on.
    seed: u32,
}

impl Checkpoint {
    /// Opens a checkpoint of a part's search, or begins one. What it holds is filled into the part, whose makespans are
    /// as many as the shard has candidates.
    pub(super) fn open(path: &Path, part: &mut Part) -> Result<Self, CheckpointError> {
        let head = Head { weir_parameter_checkpoint: FORMAT, of: part.head() };
        let line = with_digest(&serde_json::to_string(&head).map_err(std::io::Error::from)?).into_bytes();
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        // Where files cannot be locked, searches over one file at once are the user's care.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(CheckpointError::InUse);
        }
        let mut checkpoint = Self { seed: sum(&line), file: file.try_clone()?, on_disk: Instant::now() };
        let end = checkpoint.read(&line, &head.of, part)?;
        if end == 0 {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&line)?;
        } else {
            file.set_len(end)?;
            file.seek(SeekFrom::Start(end))?;
        }
        file.sync_all()?;
        // Its name is in the folder, which is a file of its own. Not every system lets folders be opened.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        checkpoint.file = file;
        Ok(checkpoint)
    }

    pub(super) fn add(&mut self, position: u64, Ran { makespan, value }: Ran) -> std::io::Result<()> {
        // The shortest text that is read as the same value.
        let value = value.map_or_else(String::new, |value| format!(",{value}"));
        let line = format!("{position} {makespan}{value}");
        let line = format!("{line} {:08x}\n", sum_from(self.seed, line.as_bytes()));
        self.append(&line)
    }

    pub(super) fn add_stopped(&mut self, position: u64, reason: &str) -> std::io::Result<()> {
        // On one line, whatever the reason holds.
        let line = format!("{position} {}", serde_json::Value::from(reason));
        let line = format!("{line} {:08x}\n", sum_from(self.seed, line.as_bytes()));
        self.append(&line)
    }

    fn append(&mut self, line: &str) -> std::io::Result<()> {
        self.file.write_all(line.as_bytes())?;
        if self.on_disk.elapsed() >= PERIOD { self.bring_to_disk() } else { Ok(()) }
    }

    /// Brings all that was added to the disk.
    pub(super) fn bring_to_disk(&mut self) -> std::io::Result<()> {
        self.file.sync_data()?;
        self.on_disk = Instant::now();
        Ok(())
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
            number += 1;
            let Some(whole) = line.strip_suffix(b"\n") else {
                // A line that was being written is shorter: here its end is another byte.
                let changed = line.split_last().is_some_and(|(_, all)| self.record(all).is_some());
                return if changed { Err(CheckpointError::Damaged { line: number }) } else { Ok(end) };
            };
            let record = self.record(whole).filter(|&(position, _)| !part.knows(position));
            let kept = record.and_then(|(position, record)| match record {
                Record::Ran(ran) => part.keep(position, ran),
                Record::Stopped(reason) => {
                    part.makespans.get(usize::try_from(position).ok()?)?;
                    part.stopped.insert(position, reason);
                    Some(())
                }
            });
            kept.ok_or(CheckpointError::Damaged { line: number })?;
            end += line.len() as u64;
        }
    }

    /// A line that is as it was written, with its position.
    fn record(&self, line: &[u8]) -> Option<(u64, Record)> {
        let (numbers, check) = std::str::from_utf8(line).ok()?.rsplit_once(' ')?;
        if check != format!("{:08x}", sum_from(self.seed, numbers.as_bytes())) {
            return None;
        }
        let (position, record) = numbers.split_once(' ')?;
        let record = match record.strip_prefix('"') {
            None => {
                let (makespan, value) = record.split_once(',').map_or((record, None), |(ps, own)| (ps, Some(own)));
                let value = value.map(str::parse).transpose().ok()?;
                Record::Ran(Ran { makespan: makespan.parse().ok()?, value })
            }
            Some(_) => Record::Stopped(serde_json::from_str(record).ok()?),
        };
        Some((position.parse().ok()?, record))
    }
}

/// What a line holds of a candidate.
enum Record {
    Ran(Ran),
    /// Why it stops.
    Stopped(String),
}

/// Why a first line is not the expected one.
fn foreign(line: &[u8], of: &Part) -> CheckpointError {
    let text = String::from_utf8_lossy(line);
    let damaged = CheckpointError::Damaged { line: 1 };
    let (text, has_digest) = match check_digest(&text) {
        DigestedLine::Intact(object) => (object, true),
        DigestedLine::Damaged => return damaged,
        DigestedLine::Bare => (text.into_owned(), false),
    };
    let Ok(Head { of: found, weir_parameter_checkpoint: format }) = serde_json::from_str(&text) else {
        // Orders are kept as parts, and a part of a grid is no checkpoint.
        let other: Result<serde_json::Value, _> = serde_json::from_str(&text);
        return match other.is_ok_and(|other| other.get("weir_part").is_some()) {
            true => CheckpointError::OtherKind,
            false if text.starts_with("{\"weir_parameter_checkpoint\":") => damaged,
            false => CheckpointError::NotACheckpoint,
        };
    };
    if format == FORMAT && !has_digest {
        return damaged;
    }
    if let Some(found) = found.foreign() {
        return CheckpointError::Version { found };
    }
    if format != FORMAT {
        return CheckpointError::Version { found: format!("with format {format} of checkpoints") };
    }
    CheckpointError::Other { what: found.differs(of).unwrap_or("shard") }
}
