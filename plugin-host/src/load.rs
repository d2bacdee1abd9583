//! Brings plugins into a registry.

use std::path::Path;
use std::sync::Arc;

use weir_plugin_api::{Origin, Registry};

use crate::config::PluginConfig;
use crate::error::PluginError;
use crate::isolate;
use crate::library::Library;
use crate::names::{check_free, check_model_free, check_port_free};
use crate::probe::probe;

/// An added plugin that was not loaded. It matters only to a run that names something of it.
#[derive(Debug)]
pub struct Refusal {
    /// Names of its arbiters, port arbiters and models, and the operations of these, when it was added.
    pub names: Vec<String>,
    /// Why it was not loaded, with what to do.
    pub error: PluginError,
}

/// Where the code of plugins runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the process of the run: a call costs nanoseconds, a crash ends the run.
    Process,
    /// In child processes: a call costs microseconds; a crash, an `exit` or a loop is an error of that plugin.
    Child,
}

/// Loads a library for this run only (`--plugin FILE`): opens it in a child process of `program` first, and registers its
/// arbiters, port arbiters and models. A library that is registered already is left as it is.
///
/// # Errors
/// The library is refused, or one of its names or operations is taken; nothing is registered then.
pub fn load_file(file: &Path, program: &Path, place: Place, registry: &mut Registry) -> Result<Library, PluginError> {
    if place == Place::Child {
        let library = isolate::open(file, program)?;
        register(&library, registry)?;
        return Ok(library);
    }
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
/// one that is registered already (by [`load_file`]) is passed over. `children` is the program whose children run them, if
/// this process is not to.
#[must_use]
pub fn load_configured(config: &PluginConfig, children: Option<&Path>, registry: &mut Registry) -> Vec<Refusal> {
    let open = |file: &Path| match children {
        Some(program) => isolate::open(file, program),
        None => Library::open(file),
    };
    let mut refusals = Vec::new();
    for record in config.records() {
        if is_registered(&record.path, registry) {
            continue;
        }
        let result = record.check().and_then(|()| open(&record.path)).and_then(|library| {
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
    let ports = registry.ports().map(|entry| &entry.origin);
    let mut origins = arbiters.chain(ports).chain(registry.models().map(|entry| &entry.origin));
    origins.any(|origin| matches!(origin, Origin::Library { path: other, .. } if other == path))
}

fn register(library: &Library, registry: &mut Registry) -> Result<(), PluginError> {
    if is_registered(&library.path, registry) {
        return Ok(());
    }
    for arbiter in &library.arbiters {
        check_free(&library.path, &arbiter.name, registry)?;
    }
    for port in &library.ports {
        check_port_free(&library.path, &port.name, registry)?;
    }
    for model in &library.models {
        check_model_free(&library.path, &model.name, &model.operations, registry)?;
    }
    let (arbiters, ports, models) = (library.arbiters.len(), library.ports.len(), library.models.len());
    tracing::debug!(path = %library.path.display(), arbiters, ports, models, "registered a library");
    // Cannot fail: names and operations are distinct in a library, and were found free above.
    let late = |what, name: &str, e: &dyn ToString| PluginError::NameTaken {
        path: library.path.clone(),
        what,
        name: name.to_owned(),
        by: e.to_string(),
        remedy: "rename one".to_owned(),
    };
    for arbiter in &library.arbiters {
        registry.add(Arc::clone(arbiter)).map_err(|e| late("an arbiter", &arbiter.name, &e))?;
    }
    for port in &library.ports {
        registry.add_port(Arc::clone(port)).map_err(|e| late("a port arbiter", &port.name, &e))?;
    }
    for model in &library.models {
        registry.add_model(Arc::clone(model)).map_err(|e| late("a model", &model.name, &e))?;
    }
    Ok(())
}
