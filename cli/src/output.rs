//! Where results go: stdout, a file that is written beside its target and renamed, or a pipe or device as it is.
//!
//! Files are written whatever the terminal does: once a command has files to write, a failure of stdout, a pipe or a device
//! is kept until the command ends ([`lost`]). What would have gone there is dropped.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use weir::Error;
use weir_plugin_host::{kept_stdout, stdout_was_closed};

use crate::failure::{cause, message, writing};
use crate::{beside, interrupt, pending, terminal};

/// Whether the command has files to write.
static FILES: AtomicBool = AtomicBool::new(false);
/// What went wrong first with what is no file, while there were files to write.
static LOST: Mutex<Option<Error>> = Mutex::new(None);

/// The command has files to write, whatever the terminal does. To be called before stdout is opened: afterwards a stdout
/// that takes nothing ends the command.
pub(crate) fn has_files() {
    FILES.store(true, Relaxed);
}

/// What kept results from getting to stdout, a pipe or a device while files were written.
pub(crate) fn lost() -> Option<Error> {
    LOST.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Keeps a failure of what is no file until the files are written; without any it is returned.
fn lose(failure: Error) -> Result<(), Error> {
    if !FILES.load(Relaxed) {
        return Err(failure);
    }
    LOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    Ok(())
}

/// Results on their way out.
pub(crate) struct Output {
    /// Named in messages.
    name: String,
    /// `None` for what is lost already.
    writer: Option<BufWriter<Target>>,
}

enum Target {
    Stdout,
    File {
        file: NamedTempFile,
        target: PathBuf,
    },
    /// A pipe or a device: something that cannot be replaced.
    Direct(File),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout => match kept_stdout() {
                Some(mut stdout) => stdout.write(bytes),
                None => io::stdout().write(bytes),
            },
            Self::File { file, .. } => file.write(bytes),
            Self::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout => kept_stdout().map_or_else(|| io::stdout().flush(), |mut stdout| stdout.flush()),
            Self::File { file, .. } => file.flush(),
            Self::Direct(file) => file.flush(),
        }
    }
}

impl Output {
    /// Opens stdout, or a temporary file beside `target`, so that a wrong target is known before a long run. Links are
    /// followed; pipes, devices and open descriptors are written as they are. `-` is stdout, as it is for other targets.
    pub(crate) fn open(target: Option<&Path>) -> Result<Self, Error> {
        let Some(target) = target.filter(|target| *target != Path::new("-")) else {
            return Self::stdout("stdout".to_owned());
        };
        let name = target.display().to_string();
        let opened = match std::fs::metadata(target) {
            found if found.as_ref().is_ok_and(Metadata::is_dir) || name.ends_with(std::path::MAIN_SEPARATOR) => {
                return Err(Error::input(format!("{name} is a folder: name a file for --output")));
            }
            _ if is_stdout(target) => return Self::stdout(name),
            Ok(found) if !found.is_file() || is_descriptor(target) => {
                let file = OpenOptions::new().append(true).open(target);
                Target::Direct(file.map_err(|error| not_opened(target, &error))?)
            }
            found => file_beside(&resolved(target), found.ok()).map_err(|error| not_opened(target, &error))?,
        };
        Ok(Self { name, writer: Some(buffered(opened)) })
    }

    fn stdout(name: String) -> Result<Self, Error> {
        terminal::fit_to_stdout();
        if stdout_was_closed() {
            lose(Error::input("stdout is closed: name a file with --output"))?;
            return Ok(Self { name, writer: None });
        }
        Ok(Self { name, writer: Some(buffered(Target::Stdout)) })
    }

    /// As [`Self::open`], for a command that reads `inputs`: none of them may be written over.
    pub(crate) fn open_apart(target: Option<&Path>, inputs: &[&Path]) -> Result<Self, Error> {
        target.map_or(Ok(()), |target| spare("--output", target, inputs))?;
        Self::open(target)
    }

    /// Writes one whole result and passes it on at once.
    pub(crate) fn result(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        self.attempt(|writer| write(writer).and_then(|()| writer.flush()))?;
        if let Some(Target::File { file, .. }) = self.writer.as_ref().map(BufWriter::get_ref)
            && let Ok(metadata) = file.as_file().metadata()
        {
            pending::keep(metadata.len());
        }
        Ok(())
    }

    /// As [`Self::result`]; after Ctrl-C, less of it where all would take too long, as a note says. A pipe or device that has got
    /// a part of it gets the rest.
    pub(crate) fn result_or_less(
        &mut self,
        name: &str,
        is_too_large: &dyn Fn() -> bool,
        whole: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        less: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        if !interrupt::requested() {
            let before = self.position()?;
            let written = match before {
                None => return self.result(whole),
                Some(_) => self.result(|writer| whole(&mut Impatient { writer, is_too_large, was_asked: false })),
            };
            // Else it failed for another reason.
            if written.is_ok() || !interrupt::requested() || !is_too_large() {
                return written;
            }
            self.back_to(before.unwrap_or(0))?;
        } else if !is_too_large() {
            return self.result(whole);
        }
        left_out(name);
        self.result(less)
    }

    /// Where a file is written next; `None` for what is no file.
    fn position(&mut self) -> Result<Option<u64>, Error> {
        let Some(writer) = &mut self.writer else { return Ok(None) };
        let Target::File { file, .. } = writer.get_mut() else { return Ok(None) };
        file.as_file_mut().stream_position().map(Some).map_err(|error| writing(&self.name, &error))
    }

    /// Drops what a file has got from a place on.
    fn back_to(&mut self, place: u64) -> Result<(), Error> {
        let Some(Target::File { file, target }) = self.writer.take().map(|writer| writer.into_parts().0) else {
            return Ok(());
        };
        let cut = file.as_file().set_len(place).and_then(|()| file.as_file().seek(SeekFrom::Start(place)));
        cut.map_err(|error| writing(&self.name, &error))?;
        self.writer = Some(buffered(Target::File { file, target }));
        Ok(())
    }

    /// Writes a piece of a result; the whole is passed on by [`Self::result`] or [`Self::finish`].
    pub(crate) fn part(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        self.attempt(|writer| write(writer))
    }

    fn attempt(&mut self, write: impl FnOnce(&mut BufWriter<Target>) -> io::Result<()>) -> Result<(), Error> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let Err(error) = write(writer) else { return Ok(()) };
        let failure = writing(&self.name, &error);
        if matches!(writer.get_ref(), Target::File { .. }) {
            return Err(failure);
        }
        // What the buffer still holds must not be tried again.
        self.writer.take().map(BufWriter::into_parts);
        lose(failure)
    }

    /// Puts the file in its place. Where nothing was written, because everything failed, the file before stays.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.attempt(BufWriter::flush)?;
        let Some(writer) = self.writer else { return Ok(()) };
        if let Target::File { file, target } = writer.into_parts().0 {
            pending::forget();
            if file.as_file().metadata().is_ok_and(|metadata| metadata.len() == 0) {
                return Ok(());
            }
            beside::put_in_place(file, &target).map_err(|error| writing(&self.name, &error))?;
            tracing::info!(file = self.name, "wrote a file");
        }
        Ok(())
    }
}

/// Writes a new file as a whole; an existing one stays as it is.
pub(crate) fn create_new(target: &Path, text: &str) -> Result<(), Error> {
    has_files();
    let name = target.display().to_string();
    let exists = || Error::input(format!("{name} exists already: remove it, or name another file"));
    if target.is_dir() {
        let file = target.join("scenario.yaml");
        return Err(Error::input(format!("{name} is a folder: name a file in it, such as {}", file.display())));
    }
    if target.exists() {
        return Err(exists());
    }
    let mut file = beside::create(target, None).map_err(|error| not_opened(target, &error))?;
    file.write_all(text.as_bytes()).map_err(|error| writing(&name, &error))?;
    beside::put_in_free_place(file, target).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(),
        _ => writing(&name, &error),
    })
}

/// Puts a text in the place of a file, written beside it first.
pub(crate) fn replace(target: &Path, text: &[u8]) -> Result<(), Error> {
    replaced(target, |file| file.write_all(text))
}

/// Puts bytes into a file: links are followed, and what is no file, such as a device, is written as it is.
///
/// # Errors
/// It cannot be written.
pub fn save(target: &Path, bytes: &[u8]) -> Result<(), Error> {
    let name = || target.display().to_string();
    match std::fs::metadata(target) {
        Ok(found) if found.is_dir() => Err(Error::input(format!("{} is a folder: name a file", name()))),
        Ok(found) if !found.is_file() => {
            let mut file = OpenOptions::new().append(true).open(target).map_err(|error| not_opened(target, &error))?;
            file.write_all(bytes).map_err(|error| writing(&name(), &error))
        }
        _ => replace(target, bytes),
    }
}

fn replaced(target: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), Error> {
    let name = target.display().to_string();
    let target = resolved(target);
    let mut file = beside::create(&target, std::fs::metadata(&target).ok()).map_err(|e| not_opened(&target, &e))?;
    write(file.as_file_mut()).map_err(|error| writing(&name, &error))?;
    beside::put_in_place(file, &target).map_err(|error| writing(&name, &error))?;
    tracing::info!(file = name, "wrote a file");
    Ok(())
}

/// Says what is not written after Ctrl-C.
pub(crate) fn left_out(what: &str) {
    message(&format!("note: interrupted; {what} is left out: it would take longer than 2 s"));
}

/// A result that takes nothing more once Ctrl-C has come, if it is too large.
struct Impatient<'a> {
    writer: &'a mut dyn Write,
    is_too_large: &'a dyn Fn() -> bool,
    was_asked: bool,
}

impl Write for Impatient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if interrupt::requested() && !std::mem::replace(&mut self.was_asked, true) && (self.is_too_large)() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// A file that takes nothing more once whoever pressed Ctrl-C has waited long enough.
pub(crate) struct Hurried<'a>(&'a mut File);

impl Write for Hurried<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if interrupt::is_overdue() { Err(ErrorKind::TimedOut.into()) } else { self.0.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// As [`replace`], of what is written bit by bit. After Ctrl-C, a file that takes too long is left out, and a note says so.
pub(crate) fn replace_with(
    target: &Path,
    write: impl FnOnce(&mut BufWriter<Hurried<'_>>) -> io::Result<()>,
) -> Result<(), Error> {
    let replaced = replaced(target, |file| {
        let mut writer = BufWriter::with_capacity(1 << 16, Hurried(file));
        let written = write(&mut writer).and_then(|()| writer.flush());
        // What it still holds is for a file that is not to be.
        drop(writer.into_parts());
        written
    });
    if replaced.is_err() && interrupt::is_overdue() {
        left_out(&target.display().to_string());
        return Ok(());
    }
    replaced
}

/// Refuses a target that is one of the files that are read.
pub(crate) fn spare(option: &str, target: &Path, inputs: &[&Path]) -> Result<(), Error> {
    let Ok(canonical) = target.canonicalize() else { return Ok(()) };
    match inputs.iter().find(|input| input.canonicalize().is_ok_and(|input| input == canonical)) {
        Some(input) => {
            let (target, input) = (target.display(), input.display());
            Err(Error::input(format!("{option} {target} would overwrite the input {input}: name another file")))
        }
        None => Ok(()),
    }
}

/// Refuses to write two things into one file: options and their targets.
pub(crate) fn apart(targets: &[(&str, Option<&Path>)]) -> Result<(), Error> {
    let targets: Vec<(&str, &Path)> = targets.iter().filter_map(|&(option, path)| Some((option, path?))).collect();
    for (i, &(option, path)) in targets.iter().enumerate() {
        // What is no file, such as /dev/null, takes everything.
        let file = !std::fs::metadata(path).is_ok_and(|found| !found.is_file());
        if let Some((other, _)) = targets[..i].iter().find(|(_, other)| file && resolved(path) == resolved(other)) {
            let name = path.display();
            return Err(Error::input(format!(
                "{other} and {option} name one file, {name}: name another for one of them"
            )));
        }
    }
    Ok(())
}

/// Refuses a target of [`replace`] that would not do, before a long search: an input, a folder, or one that cannot be
/// written.
pub(crate) fn check_target(option: &str, target: &Path, inputs: &[&Path]) -> Result<(), Error> {
    spare(option, target, inputs)?;
    let name = target.display();
    if std::fs::metadata(target).is_ok_and(|found| !found.is_file()) {
        return Err(Error::input(format!("{option} {name} is not a file: name a file")));
    }
    let at = resolved(target);
    beside::create(&at, None).map_err(|error| not_opened(target, &error))?;
    has_files();
    Ok(())
}

fn buffered(target: Target) -> BufWriter<Target> {
    BufWriter::with_capacity(1 << 16, target)
}

/// Whether a path means stdout itself; opened by its name, a file behind it would be written from its beginning.
fn is_stdout(target: &Path) -> bool {
    cfg!(unix) && ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| target == Path::new(name))
}

/// Whether a path names a descriptor that is open already, such as one made by the shell's `>(…)`.
fn is_descriptor(target: &Path) -> bool {
    cfg!(unix) && ["/dev/fd", "/dev/stderr", "/proc/self/fd"].iter().any(|name| target.starts_with(name))
}

/// The file that links lead to; it need not exist.
pub(crate) fn resolved(target: &Path) -> PathBuf {
    /// As many links as Linux follows (path_resolution(7)).
    const LINKS: usize = 40;
    let mut path = target.to_owned();
    for _ in 0..LINKS {
        let Ok(next) = std::fs::read_link(&path) else { break };
        path = beside::folder_of(&path).join(next);
    }
    path
}

/// A file that takes the place of `target` when it is whole.
fn file_beside(target: &Path, existing: Option<Metadata>) -> io::Result<Target> {
    let file = beside::create(target, existing)?;
    pending::begin(file.path(), target);
    has_files();
    Ok(Target::File { file, target: target.to_owned() })
}

/// What kept `target` from being opened. The system's error would name the temporary file.
fn not_opened(target: &Path, error: &io::Error) -> Error {
    let resolved = resolved(target);
    let folder = beside::folder_of(&resolved).display();
    let problem = match error.kind() {
        ErrorKind::NotFound => format!("there is no folder {folder}; create it, or name another file"),
        ErrorKind::NotADirectory => format!("{folder} is not a folder; name another file"),
        ErrorKind::PermissionDenied => {
            format!("you may not write to it or its folder {folder}; name another file, or change the permissions")
        }
        _ => format!("{} in the folder {folder}; name another file", cause(error)),
    };
    Error::input(format!("{} cannot be written: {problem}", target.display()))
}
