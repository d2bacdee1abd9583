//! One arbiter of a library: its table, checked before anything in it is called.

use std::path::Path;

use weir_plugin_api::abi::{
    ARBITER_MINOR, ArbiterTable, CUT_ANYWHERE_ARBITER_MINOR, CapacityFn, DESCRIBED_ARBITER_MINOR,
    DescribedArbiterTable, Header, KIND_ARBITER, LegendRecord, PCIE_ARBITER_MINOR,
};
use weir_plugin_api::{ArbiterEntry, Flags, LegendEntry, Origin, PhaseView};

use crate::check::{self, Rules};
use crate::error::TableError;
use crate::loaded::{Functions, maker};

const RULES: Rules = Rules {
    what: "arbiters",
    kind: KIND_ARBITER,
    table: ("weir_arbiter_table", size_of::<ArbiterTable>()),
    view: ("weir_phase", size_of::<PhaseView<'_>>()),
    first_minor: (ARBITER_MINOR, "WEIR_ABI_MINOR_ARBITER"),
    flags: |header| match header.abi_minor {
        _ if !describes_itself(header) => FIRST_FLAGS,
        ..PCIE_ARBITER_MINOR => Flags::KNOWN.0 & !Flags::FOR_PCIE.union(Flags::CUT_ANYWHERE).0,
        PCIE_ARBITER_MINOR..CUT_ANYWHERE_ARBITER_MINOR => Flags::KNOWN.0 & !Flags::CUT_ANYWHERE.0,
        _ => Flags::KNOWN.0,
    },
    optional: "only `explain` may be null",
};

/// The flags of before arbiters said what they read.
const FIRST_FLAGS: u32 = Flags::PURE.0 | Flags::WORK_CONSERVING.0 | Flags::WHOLE_SET.0 | Flags::READS_ARRIVAL.0;

/// Entries of a legend beyond which it is taken for one without an end (*assumed*: no policy has so many steps).
const MOST_STEPS: usize = 256;

/// Reads and checks a table of the library at `path`, whose file has this SHA-256.
///
/// # Safety
/// `table` is not null and points to memory that holds at least a header, and a whole table where that header is right.
pub(crate) unsafe fn read(table: *const ArbiterTable, path: &Path, sha256: &str) -> Result<ArbiterEntry, TableError> {
    // SAFETY: by contract.
    let header = unsafe { RULES.header(table) }?;
    let description = describes_itself(&header).then_some(table.cast::<DescribedArbiterTable>());
    // SAFETY: the header says that the plugin's table has at least this size.
    let table = unsafe { table.read() };
    // SAFETY: as above, of the longer table.
    let description = description.map(|table| unsafe { table.read() });
    let functions = functions(&table, description.and_then(|table| table.capacity))?;
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
    // SAFETY: the legend is that of a table of this version.
    let legend = description.map(|table| unsafe { legend(table.legend) }).transpose()?.unwrap_or_default();
    Ok(ArbiterEntry {
        make: maker(&name, path, functions),
        name,
        version,
        flags: Flags(header.flags),
        says_what_it_reads: description.is_some(),
        legend,
        params_schema,
        origin: Origin::Library { path: path.to_owned(), sha256: sha256.to_owned() },
        incremental: None,
    })
}

/// Whether the table goes on with a description: authors may name the header's own minor version over the first table.
fn describes_itself(header: &Header) -> bool {
    header.abi_minor >= DESCRIBED_ARBITER_MINOR && header.table_size as usize >= size_of::<DescribedArbiterTable>()
}

/// Reads a legend up to the record that ends it.
///
/// # Safety
/// `legend` is null or points to records of texts that end with a NUL, the last of which has a null step.
unsafe fn legend(legend: *const LegendRecord) -> Result<Vec<LegendEntry>, TableError> {
    let mut entries = Vec::new();
    while !legend.is_null() {
        // SAFETY: by contract; no record before this one ended the legend.
        let LegendRecord { step, short, meaning } = unsafe { legend.add(entries.len()).read() };
        if step.is_null() {
            break;
        }
        if entries.len() == MOST_STEPS {
            let problem = format!("has more than {MOST_STEPS} entries; end it with an entry whose step is null");
            return Err(TableError::Text { field: "legend", problem });
        }
        // SAFETY: by contract.
        let text = |text| unsafe { check::text("legend", text) };
        entries.push(LegendEntry { step: text(step)?, short: text(short)?, meaning: text(meaning)? });
    }
    Ok(entries)
}

fn functions(table: &ArbiterTable, capacity: Option<CapacityFn>) -> Result<Functions, TableError> {
    Ok(Functions {
        create: RULES.function(table.create, "create")?,
        destroy: RULES.function(table.destroy, "destroy")?,
        reset: RULES.function(table.reset, "reset")?,
        admit: RULES.function(table.admit, "admit")?,
        allocate: RULES.function(table.allocate, "allocate")?,
        explain: table.explain,
        capacity,
    })
}
