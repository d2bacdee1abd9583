//! Name → schema and constructor of every arbiter that a run may use.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{ArbiterError, ArbiterPlugin, FabricView, Flags, RateArbiter};

/// Builds an arbiter for a fabric from its parameters (a JSON object).
pub type MakeArbiter = Box<dyn Fn(&FabricView<'_>, &str) -> Result<Box<dyn RateArbiter>, ArbiterError> + Send + Sync>;

/// Where an arbiter comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Part of the program.
    BuiltIn,
    /// Loaded from a shared library.
    Library {
        /// Absolute path of the library.
        path: PathBuf,
        /// SHA-256 of the file, lower-case hexadecimal.
        sha256: String,
    },
}

/// One arbiter of the registry.
pub struct ArbiterEntry {
    /// Name in scenarios.
    pub name: String,
    /// Version of the policy.
    pub version: String,
    /// What it claims.
    pub flags: Flags,
    /// JSON Schema of its parameters.
    pub params_schema: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Its constructor.
    pub make: MakeArbiter,
}

/// A name was registered twice.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("an arbiter named `{name}` is registered already")]
pub struct RegistryError {
    /// The name.
    pub name: String,
}

/// The arbiters by name, in name order.
#[derive(Default)]
pub struct Registry {
    arbiters: BTreeMap<String, ArbiterEntry>,
}

impl Registry {
    /// An empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a built-in arbiter.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn add_builtin<A: ArbiterPlugin>(&mut self) -> Result<(), RegistryError> {
        self.add(ArbiterEntry {
            name: A::NAME.to_owned(),
            version: A::VERSION.to_owned(),
            flags: A::FLAGS,
            params_schema: A::params_schema(),
            origin: Origin::BuiltIn,
            make: Box::new(|fabric, params| Ok(Box::new(A::create(fabric, params)?))),
        })
    }

    /// Registers an arbiter.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn add(&mut self, entry: ArbiterEntry) -> Result<(), RegistryError> {
        if self.arbiters.contains_key(&entry.name) {
            return Err(RegistryError { name: entry.name });
        }
        self.arbiters.insert(entry.name.clone(), entry);
        Ok(())
    }

    /// The arbiter of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ArbiterEntry> {
        self.arbiters.get(name)
    }

    /// All arbiters in name order.
    pub fn iter(&self) -> impl Iterator<Item = &ArbiterEntry> {
        self.arbiters.values()
    }
}
