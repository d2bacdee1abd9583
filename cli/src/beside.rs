//! Files written beside their targets, and put in their places whole.
//!
//! Each has a name of a form that nobody else gives to files, and is locked by the program that writes it. So it is known
//! as a leftover once that program is gone.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::interrupt;

/// What names of temporary files begin with.
const PREFIX: &str = ".weir-unfinished-";
/// Letters and digits of such a name that are drawn by lot.
const DRAWN: usize = 16;
/// What such names end with.
const SUFFIX: &str = ".tmp";

/// Files that may not have got their places yet.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes all files that have not got their places, and lets no others be made: the program ends without returning.
pub(crate) fn remove_all() {
    let mut temporary = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    for path in temporary.drain(..) {
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(temporary);
}

/// A temporary file in the folder of `target`, with the permissions of the file it replaces or of a plain new one. Leftovers
/// of programs that were killed are removed from the folder.
pub(crate) fn create(target: &Path, existing: Option<Metadata>) -> io::Result<NamedTempFile> {
    let folder = folder_of(target);
    remove_leftovers(folder);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).rand_bytes(DRAWN).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Narrowed by the umask, as for any new file.
        let plain = std::fs::Permissions::from_mode(0o666);
        builder.permissions(existing.map_or(plain, |existing| existing.permissions()));
    }
    #[cfg(not(unix))]
    drop(existing);
    // Known before it is there: whoever ends the program in between removes it.
    let mut temporary = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    let file = locked(|| builder.tempfile_in(folder))?;
    temporary.retain(|path| path.exists());
    temporary.push(file.path().to_owned());
    Ok(file)
}

/// Makes a file and locks it. Before it was locked, another program may have taken it for a leftover: then it makes another.
fn locked(make: impl Fn() -> io::Result<NamedTempFile>) -> io::Result<NamedTempFile> {
    loop {
        let file = make()?;
        // Whoever removes a leftover holds its lock for a moment. Where the file system has no locks, leftovers stay. On
        // Windows nobody else could read a locked file.
        if cfg!(not(unix)) || file.as_file().lock().is_err() || file.path().exists() {
            return Ok(file);
        }
    }
}

/// Puts a file in its place, on the disk first: after a loss of power there is the file before, or the whole new one.
///
/// # Errors
/// The disk is full, or the target cannot be replaced.
pub(crate) fn put_in_place(file: NamedTempFile, target: &Path) -> io::Result<()> {
    to_disk(&file)?;
    // Locked until it has its name: else another program takes it for a leftover. Windows renames no open file.
    let (open, path) = file.into_parts();
    let _locked = cfg!(unix).then_some(open);
    std::fs::rename(&path, target)?;
    // It has another name now: there is nothing to remove.
    let _ = path.keep();
    folder_to_disk(target);
    Ok(())
}

/// As [`put_in_place`], where there is no file yet.
///
/// # Errors
/// As [`put_in_place`]; [`io::ErrorKind::AlreadyExists`] where there is one.
pub(crate) fn put_in_free_place(file: NamedTempFile, target: &Path) -> io::Result<()> {
    to_disk(&file)?;
    file.persist_noclobber(target).map_err(|error| error.error)?;
    folder_to_disk(target);
    Ok(())
}

/// The folder of a path; it need not exist.
pub(crate) fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whoever pressed Ctrl-C does not wait for the disk.
fn to_disk(file: &NamedTempFile) -> io::Result<()> {
    if interrupt::requested() { Ok(()) } else { file.as_file().sync_all() }
}

/// The name is in the folder, which is a file of its own. Not every system lets folders be opened.
fn folder_to_disk(target: &Path) {
    if !interrupt::requested() {
        let _ = File::open(folder_of(target)).and_then(|folder| folder.sync_all());
    }
}

/// Removes what programs that no longer live have left in a folder; looks at each folder once.
fn remove_leftovers(folder: &Path) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let Ok(folder) = folder.canonicalize() else { return };
    if cfg!(unix) && SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.clone()) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_temporary)) {
            remove_left_over(&entry.path());
        }
    }
}

/// Whether a name is of the form of weir's temporary files.
fn is_temporary(name: &str) -> bool {
    let drawn = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX));
    drawn.is_some_and(|drawn| drawn.len() == DRAWN && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Removes a file whose lock nobody holds, and holds it meanwhile; what cannot be removed stays.
fn remove_left_over(path: &Path) {
    if path.symlink_metadata().is_ok_and(|found| found.is_file())
        && let Ok(file) = File::options().write(true).open(path).or_else(|_| File::open(path))
        && file.try_lock().is_ok()
    {
        let _ = std::fs::remove_file(path);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("read");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("one").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_living_program_writes_is_no_leftover() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = create(&folder.path().join("out.json"), None).expect("a file");
        assert!(names(folder.path()).iter().all(|name| is_temporary(name)), "{:?}", names(folder.path()));
        remove_left_over(file.path());
        assert!(file.path().exists(), "it is locked");
        let (_, path) = file.keep().expect("it stays");
        remove_left_over(&path);
        assert!(!path.exists(), "nobody holds it");
        remove_left_over(folder.path());
        assert!(folder.path().exists(), "it is no file");
    }

    #[test]
    fn leftovers_go_and_other_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let dead = ".weir-unfinished-0123456789abcdEF.tmp";
        let others = [
            ".weir-baseline.json",
            ".weir-dead00",
            ".weir-settings",
            ".weir-unfinished-0123456789abcdEF",
            ".weir-unfinished-0123456789abcdEF.tmp.json",
            ".weir-unfinished-0123456789abcde.tmp",
            ".weir-unfinished-my-notes-of-may0.tmp",
            "weir-unfinished-0123456789abcdEF.tmp",
        ];
        for name in others.iter().chain([&dead]) {
            File::create(folder.path().join(name)).expect("a file");
        }
        drop(create(&folder.path().join("out.json"), None).expect("a file"));
        assert_eq!(names(folder.path()), others);
    }

    #[test]
    fn a_file_that_was_taken_for_a_leftover_is_made_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let made = std::cell::Cell::new(0);
        let file = locked(|| {
            made.set(made.get() + 1);
            let file = tempfile::Builder::new().tempfile_in(folder.path())?;
            if made.get() == 1 {
                remove_left_over(file.path());
            }
            Ok(file)
        });
        assert_eq!((made.get(), file.expect("a file").path().exists()), (2, true));
    }
}
