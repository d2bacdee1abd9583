//! Searches of the command: its options, files and progress. The searches are those of [`weir::optimize`].

mod checkpoint;
mod part;
mod settings;
mod write;

pub(crate) use checkpoint::CheckpointFile;
pub(crate) use part::read_parts;
pub(crate) use settings::{check, search_options};
pub(crate) use write::Target;
