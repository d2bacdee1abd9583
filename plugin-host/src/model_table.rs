//! One model of a library: its table, checked before anything in it is called.

use std::path::Path;

use serde_json::Value;
use weir_plugin_api::abi::{KIND_MODEL, MODEL_MINOR, ModelTable, TaskRecord};
use weir_plugin_api::{ModelEntry, Origin};

use crate::check::{self, Rules};
use crate::error::TableError;
use crate::loaded_model::{ModelFunctions, maker};

const RULES: Rules = Rules {
    what: "models",
    kind: KIND_MODEL,
    table: ("weir_model_table", size_of::<ModelTable>()),
    view: ("weir_task", size_of::<TaskRecord<'_>>()),
    first_minor: (MODEL_MINOR, "WEIR_ABI_MINOR_MODEL"),
    flags: |_| 0,
    optional: "only `estimate` and `alternatives` may be null",
};

/// Keys of the workload that the scenario format has itself.
const RESERVED: [&str; 4] = ["pattern", "trace", "compute", "barrier"];

/// Reads and checks a table of the library at `path`, whose file has this SHA-256.
///
/// # Safety
/// `table` is not null and points to memory that holds at least a header, and a whole table where that header is right.
pub(crate) unsafe fn read(table: *const ModelTable, path: &Path, sha256: &str) -> Result<ModelEntry, TableError> {
    // SAFETY: by contract.
    unsafe { RULES.header(table) }?;
    // SAFETY: the header says that the plugin's table has at least this size.
    let table = unsafe { table.read() };
    let functions = functions(&table)?;
    // SAFETY: the texts are those of a table of this version.
    let (name, version, operations, schema) = unsafe {
        (
            check::text("name", table.name)?,
            check::version(table.version)?,
            check::text("operations", table.operations)?,
            check::text("schema", table.schema)?,
        )
    };
    check::check_name("name", &name)?;
    let operations = keys(&operations)?;
    let json = check::check_schema("schema", &schema)?;
    check_properties(&json, &operations)?;
    Ok(ModelEntry {
        make: maker(&name, path, functions),
        name,
        version,
        operations,
        schema,
        origin: Origin::Library { path: path.to_owned(), sha256: sha256.to_owned() },
    })
}

fn functions(table: &ModelTable) -> Result<ModelFunctions, TableError> {
    Ok(ModelFunctions {
        create: RULES.function(table.create, "create")?,
        destroy: RULES.function(table.destroy, "destroy")?,
        plan: RULES.function(table.plan, "plan")?,
        estimate: table.estimate,
        alternatives: table.alternatives,
    })
}

/// The keys of a text that joins them by commas or spaces.
fn keys(text: &str) -> Result<Vec<String>, TableError> {
    let error = |problem: String| TableError::Text { field: "operations", problem };
    let mut keys: Vec<String> = Vec::new();
    for key in text.split([',', ' ']).filter(|key| !key.is_empty()) {
        check::check_name("operations", key)?;
        if RESERVED.contains(&key) {
            return Err(error(format!("has `{key}`, which is a word of the scenario format; choose another key")));
        }
        if keys.iter().any(|other| other == key) {
            return Err(error(format!("has `{key}` twice; name it once")));
        }
        keys.push(key.to_owned());
    }
    if keys.is_empty() {
        return Err(error("is empty; name the keys that the model serves, such as `put get`".to_owned()));
    }
    Ok(keys)
}

/// The host reads the map under a key by the schema's property of that name.
fn check_properties(schema: &Value, operations: &[String]) -> Result<(), TableError> {
    let missing = operations.iter().find(|key| !schema["properties"][key.as_str()].is_object());
    missing.map_or(Ok(()), |key| {
        let problem = format!("has no object `properties.{key}`; write the schema of the map under `{key}:` there");
        Err(TableError::Text { field: "schema", problem })
    })
}
