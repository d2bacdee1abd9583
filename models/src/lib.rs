//! The built-in models.

use weir_plugin_api::{Registry, RegistryError};

/// Adds the models to a registry.
///
/// # Errors
/// If a name or an operation is taken.
pub fn register(_registry: &mut Registry) -> Result<(), RegistryError> {
    Ok(())
}
