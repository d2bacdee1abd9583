//! Brings plugins into a registry.

use std::path::Path;

use weir_plugin_api::{Origin, Registry};

use crate::config::PluginConfig;
use crate::error::PluginError;
use crate::library::Library;
use crate::probe::probe;

/// An added plugin that was not loaded. It matters only to a run that names something of it.
#[derive(Debug)]
pub struct Refusal {
    /// Names of its arbiters and models, and the operations of these, when it was added.
    pub names: Vec<String>,
    /// Why.
    pub error: PluginError,
}

/// Loads a library for this run only (`--plugin FILE`): probes it, opens it and registers its arbiters and models. A
/// library that is registered already is left as it is.
///
/// # Errors
/// The library is refused, or one of its names or operations is taken; nothing is registered then.
pub fn load_file(file: &Path, program: &Path, registry: &mut Registry) -> Result<Library, PluginError> {
    probe(file, program)?;
    load_unprobed(file, registry)
}

/// As [`load_file`], without a look from another process first: a library that crashes while it is opened ends this one.
///
/// # Errors
/// As [`load_file`].
pub fn load_unprobed(file: &Path, registry: &mut Registry) -> Result<Library, PluginError> {
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
            let operations = record.models.iter().flat_map(|model| &model.operations);
            let names = record.names().chain(operations.map(String::as_str)).map(str::to_owned).collect();
            refusals.push(Refusal { names, error });
        }
    }
    refusals
}

fn is_registered(path: &Path, registry: &Registry) -> bool {
    let arbiters = registry.iter().map(|entry| &entry.origin);
    let mut origins = arbiters.chain(registry.models().map(|entry| &entry.origin));
    origins.any(|origin| matches!(origin, Origin::Library { path: other, .. } if other == path))
}

fn register(library: &Library, registry: &mut Registry) -> Result<(), PluginError> {
    if is_registered(&library.path, registry) {
        return Ok(());
    }
    for arbiter in &library.arbiters {
        check_free(&library.path, &arbiter.name, registry)?;
    }
    for model in &library.models {
        check_model_free(&library.path, &model.name, &model.operations, registry)?;
    }
    let (arbiters, models) = (library.arbiters.len(), library.models.len());
    tracing::debug!(path = %library.path.display(), arbiters, models, "registered a library");
    // Cannot fail: names and operations are distinct in a library, and were found free above.
    let late = |what, name: &str, e: &dyn ToString| PluginError::NameTaken {
        path: library.path.clone(),
        what,
        name: name.to_owned(),
        by: e.to_string(),
        remedy: "rename one".to_owned(),
    };
    for arbiter in &library.arbiters {
        registry.add(arbiter.entry(&library.sha256)).map_err(|e| late("an arbiter", &arbiter.name, &e))?;
    }
    for model in &library.models {
        registry.add_model(model.entry(&library.sha256)).map_err(|e| late("a model", &model.name, &e))?;
    }
    Ok(())
}

/// Whether a registry has no arbiter of a name.
pub(crate) fn check_free(path: &Path, name: &str, registry: &Registry) -> Result<(), PluginError> {
    let Some(entry) = registry.get(name) else { return Ok(()) };
    Err(taken(path, "an arbiter", name, &entry.origin))
}

/// Whether a registry has no model of a name, and none that serves one of the operations.
pub(crate) fn check_model_free(
    path: &Path,
    name: &str,
    operations: &[String],
    registry: &Registry,
) -> Result<(), PluginError> {
    if let Some(entry) = registry.model(name) {
        return Err(taken(path, "a model", name, &entry.origin));
    }
    let served = operations.iter().find_map(|key| Some((key, registry.model_of(key)?)));
    let Some((operation, entry)) = served else { return Ok(()) };
    let (by, remedy) = match &entry.origin {
        Origin::BuiltIn => {
            (format!("the built-in model `{}` serves", entry.name), "choose another key for it".to_owned())
        }
        Origin::Library { path, .. } => (
            format!("model `{}` of {} serves too", entry.name, path.display()),
            "remove the other plugin with `weir plugin remove`, or leave one of the two out".to_owned(),
        ),
    };
    let (path, name, operation) = (path.to_owned(), name.to_owned(), operation.clone());
    Err(PluginError::OperationTaken { path, name, operation, by, remedy })
}

fn taken(path: &Path, what: &'static str, name: &str, origin: &Origin) -> PluginError {
    let kind = what.rsplit(' ').next().unwrap_or(what);
    let (by, remedy) = match origin {
        Origin::BuiltIn => ("built into weir".to_owned(), format!("rename the plugin's {kind}")),
        Origin::Library { path, .. } => (
            format!("listed by {} too", path.display()),
            "rename one, or remove the other plugin with `weir plugin remove`".to_owned(),
        ),
    };
    PluginError::NameTaken { path: path.to_owned(), what, name: name.to_owned(), by, remedy }
}
