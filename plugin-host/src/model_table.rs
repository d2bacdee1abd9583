//! One model of a library: its table, checked before anything in it is called.

use std::path::PathBuf;

use serde_json::Value;
use weir_plugin_api::abi::{
    AlternativesFn, CreateModelFn, DestroyFn, EstimateFn, KIND_MODEL, MODEL_MINOR, ModelTable, PlanFn, TaskRecord,
};

use crate::check::{self, Rules};
use crate::error::TableError;

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

/// The functions of a checked table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelFunctions {
    pub(crate) create: CreateModelFn,
    pub(crate) destroy: DestroyFn,
    pub(crate) plan: PlanFn,
    pub(crate) estimate: Option<EstimateFn>,
    pub(crate) alternatives: Option<AlternativesFn>,
}

/// One model of an opened library, its table checked.
#[derive(Clone, Debug)]
pub struct PluginModel {
    /// Its name: lower-case words and digits joined by `-`.
    pub name: String,
    /// Version of the model, shown in results.
    pub version: String,
    /// Keys of the workload's items that it serves; at least one, each once.
    pub operations: Vec<String>,
    /// JSON Schema of such items: an object with a property for each key.
    pub schema: String,
    /// Absolute path of the library.
    pub path: PathBuf,
    pub(crate) functions: ModelFunctions,
}

impl PluginModel {
    /// Reads and checks a table.
    ///
    /// # Safety
    /// `table` is not null and points to memory that holds at least a header, and a whole table where that header is right.
    pub(crate) unsafe fn read(table: *const ModelTable, path: PathBuf) -> Result<Self, TableError> {
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
        Ok(Self { name, version, operations, schema, path, functions })
    }
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
