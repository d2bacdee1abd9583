//! Why a plugin was not loaded, in one line for a person.

use std::io;
use std::path::PathBuf;

use weir_plugin_api::abi::{ARBITER_SYMBOL, MODEL_SYMBOL, PORT_ARBITER_SYMBOL};

use crate::call::Call;
use crate::rounding::CHANGED;

/// What can go wrong between a file and a registered arbiter, port arbiter or model.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// The path leads to something other than a file.
    #[error("{} is {found}, not a shared library: name the library's file", path.display())]
    NotAFile {
        /// As given.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// The file cannot be read.
    #[error("{} cannot be read: {error}; check the name and its permissions", path.display())]
    Read {
        /// As given.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// The loader refused it.
    #[error(
        "{} cannot be loaded: {reason}; it must be a whole shared library for this machine, with everything it needs",
        path.display()
    )]
    Open {
        /// The library.
        path: PathBuf,
        /// The loader's own words.
        reason: String,
    },
    /// It changes how numbers are rounded while it is opened or lists what it has.
    #[error("{}: {} {CHANGED}; report it to its author", path.display(), Call::Open.word())]
    Rounding {
        /// The library.
        path: PathBuf,
    },
    /// It exports none of the functions.
    #[error(
        "{} is not a weir plugin: no function `{ARBITER_SYMBOL}`, `{PORT_ARBITER_SYMBOL}` or `{MODEL_SYMBOL}` ({reason}); \
         export one as export_arbiters!, export_port_arbiters!, export_models! or weir_plugin.h do",
        path.display()
    )]
    Symbol {
        /// The library.
        path: PathBuf,
        /// The loader's own words.
        reason: String,
    },
    /// A table breaks a rule.
    #[error("{}: `{symbol}({index})` {problem}", path.display())]
    Table {
        /// The library.
        path: PathBuf,
        /// The function that gave the table.
        symbol: &'static str,
        /// The table's index.
        index: u32,
        /// The rule.
        problem: TableError,
    },
    /// The library lists nothing.
    #[error("{}: `{symbol}(0)` is null, so it lists no {what}; name at least one", path.display())]
    Empty {
        /// The library.
        path: PathBuf,
        /// The function.
        symbol: &'static str,
        /// What it is to list.
        what: &'static str,
    },
    /// The probe's own process died.
    #[error("{} crashed while opened ({how}): truncated, or built for another machine? Build or copy it again", path.display())]
    Crashed {
        /// The library.
        path: PathBuf,
        /// The signal or exit code.
        how: String,
    },
    /// The probe did not end.
    #[error("{} was still being opened after {seconds} s and was stopped: its start-up code does not return", path.display())]
    ProbeTimeout {
        /// The library.
        path: PathBuf,
        /// How long it was given.
        seconds: f64,
    },
    /// The probe could not be started or understood.
    #[error("{} could not be probed by {}: {reason}", path.display(), program.display())]
    ProbeFailed {
        /// The library.
        path: PathBuf,
        /// The program that was to open it.
        program: PathBuf,
        /// Why.
        reason: String,
    },
    /// The probe opened the library and refused it.
    #[error("{0}")]
    Probed(String),
    /// A name is in use.
    #[error("{} lists {what} `{name}`, which is {by}: {remedy}", path.display())]
    NameTaken {
        /// The library.
        path: PathBuf,
        /// `an arbiter`, `a port arbiter` or `a model`.
        what: &'static str,
        /// The name.
        name: String,
        /// By what.
        by: String,
        /// What to do.
        remedy: String,
    },
    /// An operation is served already.
    #[error("{}: its model `{name}` serves `{operation}`, which {by}: {remedy}", path.display())]
    OperationTaken {
        /// The library.
        path: PathBuf,
        /// The model.
        name: String,
        /// The key.
        operation: String,
        /// By what.
        by: String,
        /// What to do.
        remedy: String,
    },
    /// A name says too little.
    #[error("`{name}` is listed by {} and by {}: name the one you mean by its path", one.display(), other.display())]
    Ambiguous {
        /// As typed.
        name: String,
        /// A library.
        one: PathBuf,
        /// Another one.
        other: PathBuf,
    },
    /// The file is not the one that was added.
    #[error("{} has changed since it was added: if you trust it, run `weir plugin add {}`", path.display(), path.display())]
    Changed {
        /// The library.
        path: PathBuf,
    },
    /// Nothing of that name or path was added.
    #[error("no plugin `{what}` was added; {known}")]
    NotAdded {
        /// As typed.
        what: String,
        /// What there is.
        known: String,
    },
    /// The user's configuration cannot be used.
    #[error("{}: {problem}", path.display())]
    Config {
        /// The file or folder.
        path: PathBuf,
        /// What and what to do.
        problem: String,
    },
    /// There is no folder for the user's configuration.
    #[error("no folder for your configuration: {reason}; set {variable} to one")]
    NoConfigFolder {
        /// Why.
        reason: String,
        /// The variable that names one.
        variable: &'static str,
    },
    /// The limit of the watchdog is not a time.
    #[error("{variable} is `{text}`: write a time above 0 such as 10s or 500ms")]
    Limit {
        /// The variable.
        variable: &'static str,
        /// Its text.
        text: String,
    },
}

/// A rule of the C table that a library breaks; follows "`weir_arbiter(0)`" and the like.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TableError {
    /// The pointer cannot be one to a table.
    #[error("is not aligned to 8 bytes, so it is not a table; return the address of a {table}")]
    Unaligned {
        /// The table's structure.
        table: &'static str,
    },
    /// Wrong first word.
    #[error("begins with {found:#018x} instead of WEIR_MAGIC {expected:#018x}; fill its header as weir_plugin.h shows")]
    Magic {
        /// What is there.
        found: u64,
        /// What should be.
        expected: u64,
    },
    /// Another major version.
    #[error("is for ABI {found} and this weir loads ABI {supported}; rebuild it against this weir's weir_plugin.h")]
    Major {
        /// The plugin's.
        found: u32,
        /// The host's.
        supported: u32,
    },
    /// A younger minor version.
    #[error(
        "is for ABI {major}.{found}, newer than this weir's {major}.{supported}; update weir, or rebuild the plugin"
    )]
    Minor {
        /// Of both.
        major: u32,
        /// The plugin's.
        found: u32,
        /// The host's.
        supported: u32,
    },
    /// Of another kind than the function lists.
    #[error("is of kind {found}, but this function lists {what} (kind {expected}); set header.kind")]
    Kind {
        /// What is there.
        found: u32,
        /// What the function lists.
        what: &'static str,
        /// What should be.
        expected: u32,
    },
    /// A minor version that did not have this kind.
    #[error("is for ABI {major}.{found}, but {what} begin with {major}.{first}; set abi_minor to {name}")]
    BeforeFirst {
        /// Of both.
        major: u32,
        /// The plugin's.
        found: u32,
        /// What the table describes.
        what: &'static str,
        /// The first that has them.
        first: u32,
        /// Its name in `weir_plugin.h`.
        name: &'static str,
    },
    /// Too short for its version.
    #[error("has a table of {found} bytes, less than the {expected} of its ABI; set table_size to sizeof({table})")]
    Short {
        /// The plugin's size.
        found: u32,
        /// The least size.
        expected: usize,
        /// The table's structure.
        table: &'static str,
    },
    /// Another phase view, or another record of tasks.
    #[error("was built for a {view} of {found} bytes, not the {expected} of its ABI; set view_size to sizeof({view})")]
    View {
        /// The plugin's size.
        found: u32,
        /// The size of this version.
        expected: usize,
        /// The structure.
        view: &'static str,
    },
    /// Unknown flags.
    #[error("sets unknown flags {unknown:#x}; this weir knows {known:#x}, so clear the others or update weir")]
    Flags {
        /// The bits.
        unknown: u32,
        /// Those that are known.
        known: u32,
    },
    /// A missing function.
    #[error("has a null function `{function}`; {optional}")]
    NullFunction {
        /// Which.
        function: &'static str,
        /// Which ones may be null.
        optional: &'static str,
    },
    /// A missing or faulty text.
    #[error("has a `{field}` that {problem}")]
    Text {
        /// Which.
        field: &'static str,
        /// What is wrong, and what it should be.
        problem: String,
    },
    /// A name listed twice.
    #[error("is a second {what} `{name}` in the same library; rename one")]
    Twice {
        /// What.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// An operation served twice.
    #[error("serves `{operation}`, as model `{by}` of the same library does; one operation has one model")]
    OperationTwice {
        /// The key.
        operation: String,
        /// The earlier model.
        by: String,
    },
    /// No end of tables.
    #[error("is not null: a library lists at most {most} {what}s, and ends with null")]
    Endless {
        /// The limit.
        most: u32,
        /// What.
        what: &'static str,
    },
}
