//! Files written beside their targets, and put in their places whole.
//!
//! Each is locked by the program that writes it, and so known as a leftover once that program is gone.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::interrupt;

const PREFIX: &str = ".weir-";
/// A younger file may belong to a program that has not locked it yet (*assumed*).
const YOUNG: Duration = Duration::from_secs(60);

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
    builder.prefix(PREFIX);
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
    let file = builder.tempfile_in(folder)?;
    temporary.retain(|path| path.exists());
    temporary.push(file.path().to_owned());
    drop(temporary);
    // Where the file system has no locks, leftovers stay. On Windows nobody else could read a locked file.
    #[cfg(unix)]
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Puts a file in its place, on the disk first: after a loss of power there is the file before, or the whole new one.
///
/// # Errors
/// The disk is full, or the target cannot be replaced.
pub(crate) fn put_in_place(file: NamedTempFile, target: &Path) -> io::Result<()> {
    to_disk(&file)?;
    let path = file.into_temp_path();
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
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
            if is_left_over(&entry.path(), YOUNG) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Whether a file is old enough, and nobody holds its lock.
fn is_left_over(path: &Path, young: Duration) -> bool {
    let of = |path: &Path| -> io::Result<bool> {
        let found = path.symlink_metadata()?;
        let is_old = found.modified()?.elapsed().is_ok_and(|age| age >= young);
        Ok(found.is_file() && is_old && File::options().write(true).open(path)?.try_lock().is_ok())
    };
    of(path).unwrap_or(false)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_a_living_program_writes_is_no_leftover() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = create(&folder.path().join("out.json"), None).expect("a file");
        assert!(!is_left_over(file.path(), Duration::ZERO), "it is locked");
        let (_, path) = file.keep().expect("it stays");
        assert!(is_left_over(&path, Duration::ZERO), "nobody holds it");
        assert!(!is_left_over(&path, YOUNG), "it is young");
        assert!(!is_left_over(folder.path(), Duration::ZERO) && !is_left_over(Path::new("/nowhere"), Duration::ZERO));
    }

    #[test]
    fn leftovers_go_and_other_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let make = |name: &str, age: Duration| {
            let file = File::create(folder.path().join(name)).expect("a file");
            file.set_modified(std::time::SystemTime::now() - age).expect("its time");
        };
        make(".weir-dead", YOUNG * 2);
        make(".weir-young", Duration::ZERO);
        make("weir-other", YOUNG * 2);
        drop(create(&folder.path().join("out.json"), None).expect("a file"));
        let mut left: Vec<_> =
            std::fs::read_dir(folder.path()).expect("read").map(|entry| entry.expect("one").file_name()).collect();
        left.sort();
        assert_eq!(left, [".weir-young", "weir-other"]);
    }
}
