//! One arbiter of a library: its table, checked before anything in it is called.

use std::path::PathBuf;
use std::sync::Arc;

use weir_plugin_api::abi::{
    ARBITER_MINOR, AdmitFn, AllocateFn, ArbiterTable, CreateFn, DestroyFn, ExplainFn, KIND_ARBITER, ResetFn,
};
use weir_plugin_api::{ArbiterEntry, Flags, Origin, PhaseView};

use crate::check::{self, Rules};
use crate::error::TableError;
use crate::incremental_table::PluginIncremental;
use crate::loaded::LoadedArbiter;

const RULES: Rules = Rules {
    what: "arbiters",
    kind: KIND_ARBITER,
    table: ("weir_arbiter_table", size_of::<ArbiterTable>()),
    view: ("weir_phase", size_of::<PhaseView<'_>>()),
    first_minor: (ARBITER_MINOR, "WEIR_ABI_MINOR_ARBITER"),
    flags: Flags::KNOWN.0,
    optional: "only `explain` may be null",
};

/// The functions of a checked table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions {
    pub(crate) create: CreateFn,
    pub(crate) destroy: DestroyFn,
    pub(crate) reset: ResetFn,
    pub(crate) admit: AdmitFn,
    pub(crate) allocate: AllocateFn,
    pub(crate) explain: Option<ExplainFn>,
}

/// One arbiter of an opened library, its table checked.
#[derive(Clone, Debug)]
pub struct PluginArbiter {
    /// Name in scenarios.
    pub name: String,
    /// Version of the policy.
    pub version: String,
    /// What it claims.
    pub flags: Flags,
    /// JSON Schema of its parameters: an object.
    pub params_schema: String,
    /// Absolute path of the library.
    pub path: PathBuf,
    /// Its incremental side, where the library has one.
    pub incremental: Option<PluginIncremental>,
    pub(crate) functions: Functions,
}

impl PluginArbiter {
    /// Reads and checks a table.
    ///
    /// # Safety
    /// `table` is not null and points to memory that holds at least a header, and a whole table where that header is right.
    pub(crate) unsafe fn read(table: *const ArbiterTable, path: PathBuf) -> Result<Self, TableError> {
        // SAFETY: by contract.
        let header = unsafe { RULES.header(table) }?;
        // SAFETY: the header says that the plugin's table has at least this size.
        let table = unsafe { table.read() };
        let functions = functions(&table)?;
        // SAFETY: the texts are those of a table of this version.
        let (name, version, params_schema) = unsafe {
            (
                check::text("name", table.name)?,
                check::version(table.version)?,
                check::text("params_schema", table.params_schema)?,
            )
        };
        check::check_name("name", &name)?;
        check::check_schema("params_schema", &params_schema)?;
        Ok(Self { name, version, flags: Flags(header.flags), params_schema, path, incremental: None, functions })
    }

    /// The entry of this arbiter in a registry, for a library of this SHA-256.
    #[must_use]
    pub fn entry(&self, sha256: &str) -> ArbiterEntry {
        let plugin = Arc::new(self.clone());
        ArbiterEntry {
            name: self.name.clone(),
            version: self.version.clone(),
            flags: self.flags,
            params_schema: self.params_schema.clone(),
            origin: Origin::Library { path: self.path.clone(), sha256: sha256.to_owned() },
            make: Box::new(move |fabric, params| Ok(Box::new(LoadedArbiter::create(&plugin, fabric, params)?))),
            incremental: self.incremental.as_ref().map(PluginIncremental::entry),
        }
    }
}

fn functions(table: &ArbiterTable) -> Result<Functions, TableError> {
    Ok(Functions {
        create: RULES.function(table.create, "create")?,
        destroy: RULES.function(table.destroy, "destroy")?,
        reset: RULES.function(table.reset, "reset")?,
        admit: RULES.function(table.admit, "admit")?,
        allocate: RULES.function(table.allocate, "allocate")?,
        explain: table.explain,
    })
}
