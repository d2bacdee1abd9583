//! The incremental side of an arbiter of a library: its table, checked before anything in it is called.

use std::path::PathBuf;
use std::sync::Arc;

use weir_plugin_api::abi::{
    AboveFn, AddClassFn, AnswerRecord, BesideFn, CreateIncrementalFn, DestroyFn, INCREMENTAL_MINOR, IncrementalTable,
    KIND_INCREMENTAL, LinkUseFn, SettleFn,
};
use weir_plugin_api::{IncrementalEntry, IncrementalFlags};

use crate::check::{self, Rules};
use crate::error::TableError;
use crate::loaded_incremental::LoadedIncremental;

const RULES: Rules = Rules {
    what: "incremental arbiters",
    kind: KIND_INCREMENTAL,
    table: ("weir_incremental_table", size_of::<IncrementalTable>()),
    view: ("weir_answer", size_of::<AnswerRecord<'_>>()),
    first_minor: (INCREMENTAL_MINOR, "WEIR_ABI_MINOR_INCREMENTAL"),
    flags: IncrementalFlags::KNOWN.0,
    optional: "only `above`, `beside` and `link_use` may be null",
};

/// The functions of a checked table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncrementalFunctions {
    pub(crate) create: CreateIncrementalFn,
    pub(crate) destroy: DestroyFn,
    pub(crate) add_class: AddClassFn,
    pub(crate) settle: SettleFn,
    pub(crate) above: Option<AboveFn>,
    pub(crate) beside: Option<BesideFn>,
    pub(crate) link_use: Option<LinkUseFn>,
}

/// The incremental side of an arbiter of an opened library, its table checked.
#[derive(Clone, Debug)]
pub struct PluginIncremental {
    /// Name of the arbiter.
    pub name: String,
    /// Version of the policy.
    pub version: String,
    /// What it claims.
    pub flags: IncrementalFlags,
    /// Absolute path of the library.
    pub path: PathBuf,
    pub(crate) functions: IncrementalFunctions,
}

impl PluginIncremental {
    /// Reads and checks a table.
    ///
    /// # Safety
    /// `table` is not null and points to memory that holds at least a header, and a whole table where that header is right.
    pub(crate) unsafe fn read(table: *const IncrementalTable, path: PathBuf) -> Result<Self, TableError> {
        // SAFETY: by contract.
        let header = unsafe { RULES.header(table) }?;
        // SAFETY: the header says that the plugin's table has at least this size.
        let table = unsafe { table.read() };
        let functions = functions(&table)?;
        // SAFETY: the texts are those of a table of this version.
        let (name, version) = unsafe { (check::text("name", table.name)?, check::version(table.version)?) };
        check::check_name("name", &name)?;
        Ok(Self { name, version, flags: IncrementalFlags(header.flags), path, functions })
    }

    /// The entry beside the arbiter of a registry.
    #[must_use]
    pub fn entry(&self) -> IncrementalEntry {
        let plugin = Arc::new(self.clone());
        IncrementalEntry {
            flags: self.flags,
            make: Box::new(move |setting, params| Ok(Box::new(LoadedIncremental::create(&plugin, setting, params)?))),
        }
    }
}

fn functions(table: &IncrementalTable) -> Result<IncrementalFunctions, TableError> {
    Ok(IncrementalFunctions {
        create: RULES.function(table.create, "create")?,
        destroy: RULES.function(table.destroy, "destroy")?,
        add_class: RULES.function(table.add_class, "add_class")?,
        settle: RULES.function(table.settle, "settle")?,
        above: table.above,
        beside: table.beside,
        link_use: table.link_use,
    })
}
