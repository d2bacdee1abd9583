//! One shared library, opened for good.

use std::error::Error as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use weir_plugin_api::abi::{
    ARBITER_SYMBOL, ArbiterTable, MODEL_SYMBOL, ModelTable, PORT_ARBITER_SYMBOL, PortArbiterTable,
};
use weir_plugin_api::{ArbiterEntry, ModelEntry, PortEntry};

use crate::call::{Call, CallSlot};
use crate::error::{PluginError, TableError};
use crate::names::shared_operation;
use crate::{model_table, port_table, table};

/// More arbiters, port arbiters or models than this in one library (*assumed*: nobody writes so many) means that a list does not end.
const MAX_LISTED: u32 = 256;

/// An opened library. It stays open until the process ends: the code of its plugins, and whatever threads or
/// thread-local values it made, must not vanish.
#[derive(Clone, Debug)]
pub struct Library {
    /// Absolute path, symbolic links resolved.
    pub path: PathBuf,
    /// SHA-256 of the file, lower-case hexadecimal.
    pub sha256: String,
    /// Its arbiters, in its order.
    pub arbiters: Vec<Arc<ArbiterEntry>>,
    /// Its port arbiters, in its order.
    pub ports: Vec<Arc<PortEntry>>,
    /// Its models, in its order; at least one where there is no arbiter of either kind.
    pub models: Vec<Arc<ModelEntry>>,
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
        let (library, is_kept) = slot.run_code(Call::Open, || Self::load(path.clone(), sha256));
        #[cfg(unix)]
        crate::crash::look_first_at_end();
        if is_kept { library } else { Err(PluginError::Rounding { path }) }
    }

    /// Reads all that the library at `path` lists; at least one arbiter, port arbiter or model.
    fn load(path: PathBuf, sha256: String) -> Result<Self, PluginError> {
        let library = open_for_good(&path)?;
        let arbiters = list(library, &path, &sha256)?;
        let (ports, models) = (list(library, &path, &sha256)?, list(library, &path, &sha256)?);
        if let (Err(missing), Err(_), Err(_)) = (&arbiters, &ports, &models) {
            return Err(PluginError::Symbol { reason: reason(missing, &path), path });
        }
        let (arbiters, ports) = (arbiters.unwrap_or_default(), ports.unwrap_or_default());
        Ok(Self { path, sha256, arbiters, ports, models: models.unwrap_or_default() })
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

/// What the function of one kind lists.
trait Listed: Sized {
    const SYMBOL: &'static str;
    /// What the function lists, as a message names it.
    const WHAT: &'static str;
    type Table;

    /// Reads and checks a table of the library at `path`, whose file has this SHA-256.
    ///
    /// # Safety
    /// `table` is not null and points to memory that holds at least a header, and a whole table where that header is right.
    unsafe fn read(table: *const Self::Table, path: &Path, sha256: &str) -> Result<Self, TableError>;

    /// Whether it can stand beside an earlier one of the same library.
    fn check_beside(&self, other: &Self) -> Result<(), TableError>;
}

impl Listed for ArbiterEntry {
    const SYMBOL: &'static str = ARBITER_SYMBOL;
    const WHAT: &'static str = "arbiter";
    type Table = ArbiterTable;

    unsafe fn read(table: *const ArbiterTable, path: &Path, sha256: &str) -> Result<Self, TableError> {
        // SAFETY: by contract.
        unsafe { table::read(table, path, sha256) }
    }

    fn check_beside(&self, other: &Self) -> Result<(), TableError> {
        check_names::<Self>(&self.name, &other.name)
    }
}

impl Listed for PortEntry {
    const SYMBOL: &'static str = PORT_ARBITER_SYMBOL;
    const WHAT: &'static str = "port arbiter";
    type Table = PortArbiterTable;

    unsafe fn read(table: *const PortArbiterTable, path: &Path, sha256: &str) -> Result<Self, TableError> {
        // SAFETY: by contract.
        unsafe { port_table::read(table, path, sha256) }
    }

    fn check_beside(&self, other: &Self) -> Result<(), TableError> {
        check_names::<Self>(&self.name, &other.name)
    }
}

impl Listed for ModelEntry {
    const SYMBOL: &'static str = MODEL_SYMBOL;
    const WHAT: &'static str = "model";
    type Table = ModelTable;

    unsafe fn read(table: *const ModelTable, path: &Path, sha256: &str) -> Result<Self, TableError> {
        // SAFETY: by contract.
        unsafe { model_table::read(table, path, sha256) }
    }

    fn check_beside(&self, other: &Self) -> Result<(), TableError> {
        check_names::<Self>(&self.name, &other.name)?;
        match shared_operation(&self.operations, &other.operations) {
            None => Ok(()),
            Some(key) => Err(TableError::OperationTwice { operation: key.to_owned(), by: other.name.clone() }),
        }
    }
}

fn check_names<T: Listed>(name: &str, other: &str) -> Result<(), TableError> {
    if name == other { Err(TableError::Twice { what: T::WHAT, name: name.to_owned() }) } else { Ok(()) }
}

/// What the library lists of a kind, or the loader's words where it has no such function.
fn list<T: Listed>(
    library: &SystemLibrary,
    path: &Path,
    sha256: &str,
) -> Result<Result<Vec<Arc<T>>, libloading::Error>, PluginError> {
    // SAFETY: every library that exports this symbol declares it with this type (docs/plugin-abi.md).
    let entry = unsafe { library.get::<unsafe extern "C" fn(u32) -> *const T::Table>(T::SYMBOL.as_bytes()) };
    let entry = match entry {
        Ok(entry) => *entry,
        Err(missing) => return Ok(Err(missing)),
    };
    let mut listed: Vec<Arc<T>> = Vec::new();
    for index in 0..=MAX_LISTED {
        // SAFETY: the function takes any index.
        let table = unsafe { entry(index) };
        if table.is_null() {
            break;
        }
        let refuse = |problem| PluginError::Table { path: path.to_owned(), symbol: T::SYMBOL, index, problem };
        if index == MAX_LISTED {
            return Err(refuse(TableError::Endless { most: MAX_LISTED, what: T::WHAT }));
        }
        // SAFETY: not null; the library promises a table there.
        let one = unsafe { T::read(table, path, sha256) }.map_err(refuse)?;
        listed.iter().try_for_each(|other| one.check_beside(other)).map_err(refuse)?;
        listed.push(Arc::new(one));
    }
    if listed.is_empty() {
        return Err(PluginError::Empty { path: path.to_owned(), symbol: T::SYMBOL, what: T::WHAT });
    }
    Ok(Ok(listed))
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
