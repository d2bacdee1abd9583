//! One port arbiter of a library: its table, checked before anything in it is called.

use std::path::Path;

use weir_plugin_api::abi::{KIND_PORT_ARBITER, PORT_ARBITER_MINOR, PortArbiterTable};
use weir_plugin_api::{Flags, GrantView, Origin, PortEntry};

use crate::check::{self, Rules};
use crate::error::TableError;
use crate::loaded_port::{PortFunctions, maker};

const RULES: Rules = Rules {
    what: "port arbiters",
    kind: KIND_PORT_ARBITER,
    table: ("weir_port_arbiter_table", size_of::<PortArbiterTable>()),
    view: ("weir_grant_view", size_of::<GrantView<'_>>()),
    first_minor: (PORT_ARBITER_MINOR, "WEIR_ABI_MINOR_PORT_ARBITER"),
    flags: |_| Flags::OF_PORTS.0,
    optional: "only `reset` and `state` may be null",
};

/// Reads and checks a table of the library at `path`, whose file has this SHA-256.
///
/// # Safety
/// `table` is not null and points to memory that holds at least a header, and a whole table where that header is right.
pub(crate) unsafe fn read(table: *const PortArbiterTable, path: &Path, sha256: &str) -> Result<PortEntry, TableError> {
    // SAFETY: by contract.
    let header = unsafe { RULES.header(table) }?;
    // SAFETY: the header says that the plugin's table has at least this size.
    let table = unsafe { table.read() };
    let functions = PortFunctions {
        create: RULES.function(table.create, "create")?,
        destroy: RULES.function(table.destroy, "destroy")?,
        choose: RULES.function(table.choose, "choose")?,
        commit: RULES.function(table.commit, "commit")?,
        state: table.state,
    };
    // SAFETY: the texts are those of a table of this version.
    let (name, version, params_schema) = unsafe {
        (
            check::text("name", table.name)?,
            check::version(table.version)?,
            check::text("params_schema", table.params_schema)?,
        )
    };
    let described = !table.description.is_null();
    // SAFETY: as above.
    let description = described.then(|| unsafe { check::text("description", table.description) });
    check::check_name("name", &name)?;
    check::check_schema("params_schema", &params_schema)?;
    Ok(PortEntry {
        make: maker(&name, path, functions),
        name,
        version,
        description: description.transpose()?.unwrap_or_default(),
        flags: Flags(header.flags),
        params_schema,
        origin: Origin::Library { path: path.to_owned(), sha256: sha256.to_owned() },
    })
}
