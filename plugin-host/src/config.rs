//! The plugins that a user has added: `plugins.json` in the user's configuration.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use serde::{Deserialize, Serialize};
use weir_plugin_api::Registry;

use crate::error::PluginError;
use crate::library::{absolute, sha256_of};
use crate::list_file::{self, why};
use crate::names::{check_free, check_model_free, check_port_free, shared_operation};
use crate::probe::{Probed, ProbedArbiter, ProbedModel, ProbedPort, probe};

/// Names a folder to use instead of `weir` in the user's configuration folder.
pub(crate) const CONFIG_DIR_VARIABLE: &str = "WEIR_CONFIG_DIR";

const FILE_NAME: &str = "plugins.json";
/// Locked while the list is changed; the list itself cannot be, since each change is another file.
const LOCK_NAME: &str = "plugins.lock";
/// What is to be the list, while it is written. The name is always the same: whoever holds the lock may replace what a killed
/// program has left.
const NEW_NAME: &str = "plugins.json.new";

/// A library that the user has added.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PluginRecord {
    /// Where the file lies: absolute, symbolic links resolved.
    pub path: PathBuf,
    /// SHA-256 of the file when it was added, lower-case hexadecimal.
    pub sha256: String,
    /// Its arbiters as they were then.
    pub arbiters: Vec<ProbedArbiter>,
    /// Its port arbiters as they were then. Lists written before there were any have no such key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<ProbedPort>,
    /// Its models as they were then. Lists written before there were models have no such key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ProbedModel>,
}

impl PluginRecord {
    /// The names of its arbiters, port arbiters and models.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let arbiters = self.arbiters.iter().map(|a| a.name.as_str());
        let ports = self.ports.iter().map(|p| p.name.as_str());
        arbiters.chain(ports).chain(self.models.iter().map(|m| m.name.as_str()))
    }

    /// Whether the file is still there and the one that was added.
    ///
    /// # Errors
    /// It is gone, unreadable, or another one.
    pub fn check(&self) -> Result<(), PluginError> {
        let path = absolute(&self.path)?;
        if sha256_of(&path)? != self.sha256 {
            return Err(PluginError::Changed { path: self.path.clone() });
        }
        Ok(())
    }
}

/// The user's list of plugins.
#[derive(Clone, Debug)]
pub struct PluginConfig {
    file: PathBuf,
    records: Vec<PluginRecord>,
}

impl PluginConfig {
    /// The list of the current user, empty where there is none yet.
    ///
    /// # Errors
    /// There is no such folder, or the file is damaged.
    pub fn of_user() -> Result<Self, PluginError> {
        if let Some(folder) = std::env::var_os(CONFIG_DIR_VARIABLE).filter(|f| !f.is_empty()) {
            return Self::in_folder(Path::new(&folder));
        }
        let strategy = etcetera::choose_base_strategy()
            .map_err(|e| PluginError::NoConfigFolder { reason: e.to_string(), variable: CONFIG_DIR_VARIABLE })?;
        Self::in_folder(&strategy.config_dir().join("weir"))
    }

    /// The list in a folder, empty where there is none yet; the folder need not exist.
    ///
    /// # Errors
    /// The file is damaged or unreadable.
    pub fn in_folder(folder: &Path) -> Result<Self, PluginError> {
        let file = folder.join(FILE_NAME);
        let records = list_file::read(&file).map_err(|problem| PluginError::Config { path: file.clone(), problem })?;
        Ok(Self { file, records })
    }

    /// The file that holds the list.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The plugins, in the order in which they were added.
    #[must_use]
    pub fn records(&self) -> &[PluginRecord] {
        &self.records
    }

    /// Adds a library, or renews its entry: probes it in a child process of `program` (see [`crate::probe`]), checks its
    /// names and operations against the built-in ones and the other plugins, and saves the list.
    ///
    /// # Errors
    /// The library is refused, a name is taken, or the list cannot be saved; the list is as before then.
    pub fn add(&mut self, file: &Path, program: &Path, builtin: &Registry) -> Result<&PluginRecord, PluginError> {
        let path = absolute(file)?;
        // Before the probe: a file that is replaced meanwhile is refused when it is loaded.
        let sha256 = sha256_of(&path)?;
        let Probed { arbiters, ports, models } = probe(&path, program)?;
        let record = PluginRecord { path, sha256, arbiters, ports, models };
        let _lock = self.lock_and_renew()?;
        self.check_free(&record, builtin)?;
        let mut records = self.records.clone();
        let at = match records.iter().position(|other| other.path == record.path) {
            Some(at) => {
                records[at] = record;
                at
            }
            None => {
                records.push(record);
                records.len() - 1
            }
        };
        self.save(records)?;
        Ok(&self.records[at])
    }

    /// Removes the library that lists an arbiter, a port arbiter or a model of this name, or has this path (which need not exist any more).
    ///
    /// # Errors
    /// Nothing of that name or path was added, two libraries have the name (one for an arbiter, one for a model, say), or the
    /// list cannot be saved.
    pub fn remove(&mut self, name_or_path: &str) -> Result<PluginRecord, PluginError> {
        // Before anything is locked, and so created: the common mistake.
        self.position(name_or_path)?;
        let _lock = self.lock_and_renew()?;
        let at = self.position(name_or_path)?;
        let mut records = self.records.clone();
        let removed = records.remove(at);
        self.save(records)?;
        Ok(removed)
    }

    fn position(&self, name_or_path: &str) -> Result<usize, PluginError> {
        let given = Path::new(name_or_path);
        let path = std::path::absolute(given).unwrap_or_else(|_| given.to_owned());
        let resolved = given.canonicalize().unwrap_or_else(|_| path.clone());
        let has_path = |record: &PluginRecord| record.path == path || record.path == resolved;
        if let Some(at) = self.records.iter().position(has_path) {
            return Ok(at);
        }
        let has_name = |record: &PluginRecord| record.names().any(|name| name == name_or_path);
        let mut named = (0..self.records.len()).filter(|&at| has_name(&self.records[at]));
        match (named.next(), named.next()) {
            (None, _) => Err(PluginError::NotAdded { what: name_or_path.to_owned(), known: self.known() }),
            (Some(at), None) => Ok(at),
            (Some(one), Some(other)) => Err(PluginError::Ambiguous {
                name: name_or_path.to_owned(),
                one: self.records[one].path.clone(),
                other: self.records[other].path.clone(),
            }),
        }
    }

    fn known(&self) -> String {
        let names: Vec<&str> = self.records.iter().flat_map(PluginRecord::names).collect();
        if names.is_empty() {
            "none was, see `weir plugin add`".to_owned()
        } else {
            format!("there are: {}", names.join(", "))
        }
    }

    /// Whether the names and operations of a library are free among the built-in ones and those of the other libraries.
    fn check_free(&self, record: &PluginRecord, builtin: &Registry) -> Result<(), PluginError> {
        let others: Vec<&PluginRecord> = self.records.iter().filter(|other| other.path != record.path).collect();
        for arbiter in &record.arbiters {
            check_free(&record.path, &arbiter.name, builtin)?;
            let lists = |other: &&&PluginRecord| other.arbiters.iter().any(|a| a.name == arbiter.name);
            if let Some(other) = others.iter().find(lists) {
                return Err(name_taken(record, "an arbiter", &arbiter.name, other));
            }
        }
        for port in &record.ports {
            check_port_free(&record.path, &port.name, builtin)?;
            let lists = |other: &&&PluginRecord| other.ports.iter().any(|p| p.name == port.name);
            if let Some(other) = others.iter().find(lists) {
                return Err(name_taken(record, "a port arbiter", &port.name, other));
            }
        }
        for model in &record.models {
            check_model_free(&record.path, &model.name, &model.operations, builtin)?;
            for other in &others {
                check_models(record, model, other)?;
            }
        }
        Ok(())
    }

    /// Waits until no other process changes the list, and reads what it has become; the lock is free when dropped.
    fn lock_and_renew(&mut self) -> Result<File, PluginError> {
        let folder = self.folder().to_owned();
        fs::create_dir_all(&folder).map_err(|e| self.not_saved(&e))?;
        let path = folder.join(LOCK_NAME);
        // To open a FIFO waits until someone reads from it.
        if fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
            let problem = format!("cannot be written: {}", why(&ErrorKind::InvalidInput.into()));
            return Err(PluginError::Config { path, problem });
        }
        let lock = OpenOptions::new().create(true).append(true).open(path).map_err(|e| self.not_saved(&e))?;
        match lock.lock() {
            // Some network file systems have no locks: one user at a time is the rule there.
            Err(e) if e.kind() == ErrorKind::Unsupported => tracing::warn!("the list of plugins is not locked: {e}"),
            other => other.map_err(|e| self.not_saved(&e))?,
        }
        *self = Self::in_folder(&folder)?;
        Ok(lock)
    }

    fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }

    fn not_saved(&self, error: &io::Error) -> PluginError {
        PluginError::Config { path: self.file.clone(), problem: format!("cannot be written: {}", why(error)) }
    }

    /// Writes the list beside the file and renames it over, so that no one ever reads half a list.
    fn save(&mut self, records: Vec<PluginRecord>) -> Result<(), PluginError> {
        let text = list_file::written(&records).map_err(|e| self.not_saved(&e))?;
        let beside = self.folder().join(NEW_NAME);
        let written = write_new(&beside, &text).and_then(|()| fs::rename(&beside, &self.file));
        if let Err(error) = written {
            let _ = fs::remove_file(&beside);
            return Err(self.not_saved(&error));
        }
        // The new name is on the disk with its folder; not every system lets folders be opened.
        let _ = File::open(self.folder()).and_then(|folder| folder.sync_all());
        self.records = records;
        Ok(())
    }
}

/// Writes a new file, for the user alone, to the disk.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Whether no model of another library has a model's name or serves its operations.
fn check_models(record: &PluginRecord, model: &ProbedModel, other: &PluginRecord) -> Result<(), PluginError> {
    for theirs in &other.models {
        if theirs.name == model.name {
            return Err(name_taken(record, "a model", &model.name, other));
        }
        if let Some(operation) = shared_operation(&model.operations, &theirs.operations) {
            return Err(PluginError::OperationTaken {
                path: record.path.clone(),
                name: model.name.clone(),
                operation: operation.to_owned(),
                by: format!("model `{}` of {} serves too", theirs.name, other.path.display()),
                remedy: format!("choose another key, or run `weir plugin remove {}` first", theirs.name),
            });
        }
    }
    Ok(())
}

fn name_taken(record: &PluginRecord, what: &'static str, name: &str, other: &PluginRecord) -> PluginError {
    PluginError::NameTaken {
        path: record.path.clone(),
        what,
        name: name.to_owned(),
        by: format!("listed by {} too", other.path.display()),
        remedy: format!("rename one, or run `weir plugin remove {name}` first"),
    }
}
