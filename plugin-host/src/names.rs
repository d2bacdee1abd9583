//! Names and operations of plugins, each of which one library has.

use std::path::Path;

use weir_plugin_api::{Origin, Registry, TRANSFER};

use crate::error::PluginError;

/// Whether a registry has no arbiter of a name.
pub(crate) fn check_free(path: &Path, name: &str, registry: &Registry) -> Result<(), PluginError> {
    let Some(entry) = registry.get(name) else { return Ok(()) };
    Err(taken(path, "an arbiter", name, &entry.origin))
}

/// Whether a registry has no port arbiter of a name.
pub(crate) fn check_port_free(path: &Path, name: &str, registry: &Registry) -> Result<(), PluginError> {
    let Some(entry) = registry.port(name) else { return Ok(()) };
    Err(taken(path, "a port arbiter", name, &entry.origin))
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
    let kind = what.split_once(' ').map_or(what, |(_, kind)| kind);
    let (by, remedy) = match origin {
        Origin::BuiltIn => ("built into weir".to_owned(), format!("rename the plugin's {kind}")),
        Origin::Library { path, .. } => (
            format!("listed by {} too", path.display()),
            "rename one, or remove the other plugin with `weir plugin remove`".to_owned(),
        ),
    };
    PluginError::NameTaken { path: path.to_owned(), what, name: name.to_owned(), by, remedy }
}

/// The first of a model's operations that is among those of another one, but for `transfer`.
pub(crate) fn shared_operation<'a>(operations: &'a [String], others: &[String]) -> Option<&'a str> {
    operations.iter().find(|key| *key != TRANSFER && others.contains(key)).map(String::as_str)
}
