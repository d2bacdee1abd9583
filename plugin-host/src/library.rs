//! One shared library, opened for good.

use std::error::Error as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use weir_plugin_api::abi::{ARBITER_SYMBOL, ArbiterEntryFn};

use crate::call::{Call, CallSlot};
use crate::error::{PluginError, TableError};
use crate::table::PluginArbiter;

/// More arbiters than this in one library (*assumed*: nobody writes so many) means that its list does not end.
const MAX_ARBITERS: u32 = 256;

/// An opened library. It stays open until the process ends: the code of its arbiters, and whatever threads or
/// thread-local values it made, must not vanish.
#[derive(Clone, Debug)]
pub struct Library {
    /// Absolute path, symbolic links resolved.
    pub path: PathBuf,
    /// SHA-256 of the file, lower-case hexadecimal.
    pub sha256: String,
    /// Its arbiters, in its order; at least one.
    pub arbiters: Vec<PluginArbiter>,
}

impl Library {
    /// Opens a library in this process and checks all its tables. A broken library can kill the process: probe it first
    /// ([`crate::probe`]).
    ///
    /// # Errors
    /// The file cannot be read or loaded, or breaks a rule of the ABI.
    pub fn open(file: &Path) -> Result<Self, PluginError> {
        let path = absolute(file)?;
        let sha256 = sha256_of(&path)?;
        let slot = CallSlot::register(file_name(&path), path.clone());
        let arbiters = slot.run(Call::Open, || arbiters_of(&path))?;
        Ok(Self { path, sha256, arbiters })
    }
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The absolute path of a file; anything else is refused here, where the reason is plainer than the loader's.
pub(crate) fn absolute(file: &Path) -> Result<PathBuf, PluginError> {
    let read = |error| PluginError::Read { path: file.to_owned(), error };
    let path = file.canonicalize().map_err(read)?;
    let kind = path.metadata().map_err(read)?;
    if kind.is_dir() {
        return Err(PluginError::NotAFile { path: file.to_owned(), found: "a folder" });
    }
    if !kind.is_file() {
        return Err(PluginError::NotAFile { path: file.to_owned(), found: "a device, pipe or socket" });
    }
    Ok(path)
}

pub(crate) fn sha256_of(path: &Path) -> Result<String, PluginError> {
    let read = |error| PluginError::Read { path: path.to_owned(), error };
    let mut file = File::open(path).map_err(read)?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        match file.read(&mut chunk).map_err(read)? {
            0 => break,
            n => hash.update(&chunk[..n]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn arbiters_of(path: &Path) -> Result<Vec<PluginArbiter>, PluginError> {
    let library = open_for_good(path)?;
    // SAFETY: every library that exports this symbol declares it with this type (docs/plugin-abi.md).
    let entry = unsafe { library.get::<ArbiterEntryFn>(ARBITER_SYMBOL.as_bytes()) }.map_err(|error| {
        PluginError::Symbol { path: path.to_owned(), symbol: ARBITER_SYMBOL, reason: reason(&error, path) }
    })?;
    let entry: ArbiterEntryFn = *entry;
    let mut arbiters: Vec<PluginArbiter> = Vec::new();
    for index in 0..=MAX_ARBITERS {
        // SAFETY: the function takes any index.
        let table = unsafe { entry(index) };
        if table.is_null() {
            break;
        }
        let refuse = |problem| PluginError::Table { path: path.to_owned(), symbol: ARBITER_SYMBOL, index, problem };
        if index == MAX_ARBITERS {
            return Err(refuse(TableError::Endless(MAX_ARBITERS)));
        }
        // SAFETY: not null; the library promises a table there.
        let arbiter = unsafe { PluginArbiter::read(table, path.to_owned()) }.map_err(refuse)?;
        if arbiters.iter().any(|other| other.name == arbiter.name) {
            return Err(refuse(TableError::Twice(arbiter.name)));
        }
        arbiters.push(arbiter);
    }
    if arbiters.is_empty() {
        return Err(PluginError::Empty { path: path.to_owned(), symbol: ARBITER_SYMBOL });
    }
    Ok(arbiters)
}

#[cfg(unix)]
type SystemLibrary = libloading::os::unix::Library;
#[cfg(windows)]
type SystemLibrary = libloading::os::windows::Library;

/// Opens a library and never closes it. All symbols are bound at once (lazy binding would kill the process at the first
/// call of a missing one), and none is offered to other libraries.
fn open_for_good(path: &Path) -> Result<&'static SystemLibrary, PluginError> {
    // SAFETY: running a library's start-up code is what the user asked for by adding the plugin.
    #[cfg(unix)]
    let library = unsafe {
        use libloading::os::unix::{RTLD_LOCAL, RTLD_NOW};
        SystemLibrary::open(Some(path), RTLD_NOW | RTLD_LOCAL)
    };
    // SAFETY: as above.
    #[cfg(windows)]
    let library = unsafe { SystemLibrary::new(path) };
    match library {
        Ok(library) => Ok(Box::leak(Box::new(library))),
        Err(error) => Err(PluginError::Open { path: path.to_owned(), reason: reason(&error, path) }),
    }
}

/// The loader's own words, without the path that the message has already.
fn reason(error: &libloading::Error, path: &Path) -> String {
    let words = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let prefix = format!("{}: ", path.display());
    words.strip_prefix(&prefix).unwrap_or(&words).replace('\n', " ")
}
