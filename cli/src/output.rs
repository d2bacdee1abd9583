//! Where results go: stdout, or a file that is written beside its target and renamed.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::NamedTempFile;

use crate::failure::{Failure, writing};

/// The file being written, for the moment when the program must end without returning.
static PENDING: Mutex<Option<Pending>> = Mutex::new(None);

struct Pending {
    temporary: PathBuf,
    target: PathBuf,
    /// Bytes of results that are whole.
    whole: u64,
}

/// Results on their way out.
pub(crate) struct Output {
    /// Named in messages.
    name: String,
    writer: BufWriter<Target>,
}

enum Target {
    Stdout(io::Stdout),
    File { file: NamedTempFile, target: PathBuf },
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::File { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::File { file, .. } => file.flush(),
        }
    }
}

impl Output {
    /// Opens stdout, or a temporary file beside `target`, so that a wrong target is known before a long run.
    pub(crate) fn open(target: Option<&Path>) -> Result<Self, Failure> {
        let Some(target) = target else {
            return Ok(Self { name: "stdout".to_owned(), writer: buffered(Target::Stdout(io::stdout())) });
        };
        let name = target.display().to_string();
        if target.is_dir() {
            return Err(Failure::usage(format!("{name} is a folder: name a file for --output")));
        }
        let file = temporary_beside(target).map_err(|error| writing(&name, &error))?;
        let pending = Pending { temporary: file.path().to_owned(), target: target.to_owned(), whole: 0 };
        *lock() = Some(pending);
        Ok(Self { name, writer: buffered(Target::File { file, target: target.to_owned() }) })
    }

    /// Writes one whole result and passes it on at once.
    pub(crate) fn result(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let written = write(&mut self.writer).and_then(|()| self.writer.flush());
        written.map_err(|error| writing(&self.name, &error))?;
        if let (Some(pending), Target::File { file, .. }) = (lock().as_mut(), self.writer.get_ref()) {
            pending.whole = file.as_file().metadata().map_or(pending.whole, |m| m.len());
        }
        Ok(())
    }

    /// Puts the file in its place.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let target = self.writer.into_inner().map_err(|error| writing(&self.name, error.error()))?;
        if let Target::File { file, target } = target {
            *lock() = None;
            file.as_file().sync_all().map_err(|error| writing(&self.name, &error))?;
            file.persist(target).map_err(|error| writing(&self.name, &error.error))?;
        }
        Ok(())
    }
}

/// Called when the program must end at once: a file keeps the whole results it has, and none is left half-written.
pub(crate) fn settle() {
    let Ok(mut pending) = PENDING.try_lock() else { return };
    let Some(Pending { temporary, target, whole }) = pending.take() else { return };
    let kept = whole > 0
        && OpenOptions::new().write(true).open(&temporary).and_then(|file| file.set_len(whole)).is_ok()
        && std::fs::rename(&temporary, target).is_ok();
    if !kept {
        let _ = std::fs::remove_file(temporary);
    }
}

/// Writes a new file as a whole; an existing one stays as it is.
pub(crate) fn create_new(target: &Path, text: &str) -> Result<(), Failure> {
    let name = target.display().to_string();
    let exists = || Failure::usage(format!("{name} exists already: remove it, or name another file"));
    if target.exists() {
        return Err(exists());
    }
    let mut file = temporary_beside(target).map_err(|error| writing(&name, &error))?;
    file.write_all(text.as_bytes()).map_err(|error| writing(&name, &error))?;
    match file.persist_noclobber(target) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(exists()),
        Err(error) => Err(writing(&name, &error.error)),
    }
}

fn buffered(target: Target) -> BufWriter<Target> {
    BufWriter::with_capacity(1 << 16, target)
}

fn lock() -> std::sync::MutexGuard<'static, Option<Pending>> {
    PENDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A temporary file in the folder of `target`, with the permissions of a plain new file.
fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".weir-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Narrowed by the umask, as for any new file.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
