//! Brings plugins into a registry.

use std::path::Path;

use weir_plugin_api::{Origin, Registry};

use crate::config::PluginConfig;
use crate::error::PluginError;
use crate::library::Library;
use crate::probe::probe;

/// An added plugin that was not loaded. It matters only to a run that names one of its arbiters.
#[derive(Debug)]
pub struct Refusal {
    /// Names of its arbiters when it was added.
    pub names: Vec<String>,
    /// Why.
    pub error: PluginError,
}

/// Loads a library for this run only (`--plugin FILE`): probes it, opens it and registers its arbiters. A library that is
/// registered already is left as it is.
///
/// # Errors
/// The library is refused, or one of its names is taken; nothing is registered then.
pub fn load_file(file: &Path, program: &Path, registry: &mut Registry) -> Result<Library, PluginError> {
    probe(file, program)?;
    let library = Library::open(file)?;
    register(&library, registry)?;
    Ok(library)
}

/// Loads the plugins that the user has added. One that is gone, has changed or no longer loads is left out and reported;
/// one that is registered already (by [`load_file`]) is passed over.
#[must_use]
pub fn load_configured(config: &PluginConfig, registry: &mut Registry) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for record in config.records() {
        if is_registered(&record.path, registry) {
            continue;
        }
        let result = record.check().and_then(|()| Library::open(&record.path)).and_then(|library| {
            if library.sha256 == record.sha256 {
                register(&library, registry)
            } else {
                Err(PluginError::Changed { path: record.path.clone() })
            }
        });
        if let Err(error) = result {
            refusals.push(Refusal { names: record.arbiters.iter().map(|a| a.name.clone()).collect(), error });
        }
    }
    refusals
}

fn is_registered(path: &Path, registry: &Registry) -> bool {
    registry.iter().any(|entry| matches!(&entry.origin, Origin::Library { path: other, .. } if other == path))
}

fn register(library: &Library, registry: &mut Registry) -> Result<(), PluginError> {
    if is_registered(&library.path, registry) {
        return Ok(());
    }
    for arbiter in &library.arbiters {
        check_free(&library.path, &arbiter.name, registry)?;
    }
    for arbiter in &library.arbiters {
        // Cannot fail: names are distinct in a library, and were found free above.
        registry.add(arbiter.entry(&library.sha256)).map_err(|e| PluginError::NameTaken {
            path: library.path.clone(),
            name: arbiter.name.clone(),
            by: e.to_string(),
            remedy: "rename one".to_owned(),
        })?;
    }
    Ok(())
}

/// Whether a registry has no arbiter of a name.
pub(crate) fn check_free(path: &Path, name: &str, registry: &Registry) -> Result<(), PluginError> {
    let Some(entry) = registry.get(name) else { return Ok(()) };
    let (by, remedy) = match &entry.origin {
        Origin::BuiltIn => ("built into weir".to_owned(), "rename the plugin's arbiter".to_owned()),
        Origin::Library { path, .. } => (
            format!("listed by {} too", path.display()),
            "rename one, or remove the other plugin with `weir plugin remove`".to_owned(),
        ),
    };
    Err(PluginError::NameTaken { path: path.to_owned(), name: name.to_owned(), by, remedy })
}
