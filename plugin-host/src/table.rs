//! Checks of a library's tables, before anything in them is called.

use std::ffi::{CStr, c_char};
use std::path::PathBuf;
use std::sync::Arc;

use weir_plugin_api::abi::{
    ABI_MAJOR, ABI_MINOR, AdmitFn, AllocateFn, ArbiterTable, CreateFn, DestroyFn, ExplainFn, Header, KIND_ARBITER,
    MAGIC, ResetFn,
};
use weir_plugin_api::{ArbiterEntry, Flags, Origin, PhaseView};

use crate::error::TableError;
use crate::loaded::LoadedArbiter;

/// A text of a table that is longer than this (*assumed*: no schema is) is taken for one without an end.
const MAX_TEXT: usize = 1 << 20;

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
    pub(crate) functions: Functions,
}

impl PluginArbiter {
    /// Reads and checks a table.
    ///
    /// # Safety
    /// `table` is not null and points to memory that holds at least a header, and a whole table where that header is right.
    pub(crate) unsafe fn read(table: *const ArbiterTable, path: PathBuf) -> Result<Self, TableError> {
        if !table.is_aligned() {
            return Err(TableError::Unaligned);
        }
        // SAFETY: by contract; the pointer is aligned.
        let header = unsafe { table.cast::<Header>().read() };
        check_header(&header)?;
        // SAFETY: the header says that the plugin's table has at least this size.
        let table = unsafe { table.read() };
        let functions = functions(&table)?;
        // SAFETY: the texts are those of a table of this version.
        let (name, version, params_schema) = unsafe {
            (text("name", table.name)?, text("version", table.version)?, text("params_schema", table.params_schema)?)
        };
        check_name(&name)?;
        if version.trim().is_empty() {
            return Err(TableError::Text { field: "version", problem: "is empty; write one such as 1.0.0".to_owned() });
        }
        check_schema(&params_schema)?;
        Ok(Self { name, version, flags: Flags(header.flags), params_schema, path, functions })
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
        }
    }
}

fn check_header(header: &Header) -> Result<(), TableError> {
    if header.magic != MAGIC {
        return Err(TableError::Magic { found: header.magic, expected: MAGIC });
    }
    if header.abi_major != ABI_MAJOR {
        return Err(TableError::Major { found: header.abi_major, supported: ABI_MAJOR });
    }
    if header.abi_minor > ABI_MINOR {
        return Err(TableError::Minor { major: ABI_MAJOR, found: header.abi_minor, supported: ABI_MINOR });
    }
    if header.kind != KIND_ARBITER {
        return Err(TableError::Kind { found: header.kind, expected: KIND_ARBITER });
    }
    // With one minor version there is one size; a later one compares with the sizes of the plugin's minor version.
    if (header.table_size as usize) < size_of::<ArbiterTable>() {
        return Err(TableError::Short { found: header.table_size, expected: size_of::<ArbiterTable>() });
    }
    if header.view_size as usize != size_of::<PhaseView<'_>>() {
        return Err(TableError::View { found: header.view_size, expected: size_of::<PhaseView<'_>>() });
    }
    let unknown = header.flags & !Flags::KNOWN.0;
    if unknown != 0 {
        return Err(TableError::Flags { unknown, known: Flags::KNOWN.0 });
    }
    Ok(())
}

fn functions(table: &ArbiterTable) -> Result<Functions, TableError> {
    Ok(Functions {
        create: table.create.ok_or(TableError::NullFunction("create"))?,
        destroy: table.destroy.ok_or(TableError::NullFunction("destroy"))?,
        reset: table.reset.ok_or(TableError::NullFunction("reset"))?,
        admit: table.admit.ok_or(TableError::NullFunction("admit"))?,
        allocate: table.allocate.ok_or(TableError::NullFunction("allocate"))?,
        explain: table.explain,
    })
}

/// A text of a table.
///
/// # Safety
/// `text` is null or points to a text that ends with a NUL.
unsafe fn text(field: &'static str, text: *const c_char) -> Result<String, TableError> {
    let error = |problem: String| TableError::Text { field, problem };
    if text.is_null() {
        return Err(error("is null; point it to a static text".to_owned()));
    }
    // SAFETY: by contract.
    let text = unsafe { CStr::from_ptr(text) };
    if text.count_bytes() > MAX_TEXT {
        return Err(error(format!("is longer than {MAX_TEXT} bytes; shorten it, or end it with NUL")));
    }
    match text.to_str() {
        Ok(text) => Ok(text.to_owned()),
        Err(e) => Err(error(format!("is not UTF-8 ({e})"))),
    }
}

fn check_name(name: &str) -> Result<(), TableError> {
    let word = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if name.split('-').all(word) && name.as_bytes()[0].is_ascii_lowercase() {
        return Ok(());
    }
    let problem = format!("is `{}`; write lower-case words and digits joined by `-`", name.escape_debug());
    Err(TableError::Text { field: "name", problem })
}

fn check_schema(schema: &str) -> Result<(), TableError> {
    let problem = match serde_json::from_str::<serde_json::Value>(schema) {
        Ok(serde_json::Value::Object(_)) => return Ok(()),
        Ok(_) => "is not a JSON object".to_owned(),
        Err(e) => format!("is not JSON: {e}"),
    };
    let problem = format!("{problem}; write a JSON Schema such as {{\"type\": \"object\"}}");
    Err(TableError::Text { field: "params_schema", problem })
}
