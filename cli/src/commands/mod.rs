//! The commands, one file each.

pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod explain;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod optimize;
pub(crate) mod plugin;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod test;
pub(crate) mod tune;
pub(crate) mod validate;
pub(crate) mod what_if;
