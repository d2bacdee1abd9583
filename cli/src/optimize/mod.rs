//! Searches of the command: its options, files and progress. The searches are those of [`weir::optimize`].

mod checkpoint;
mod part;
mod progress;
mod settings;
mod stop;
mod write;

pub(crate) use checkpoint::CheckpointFile;
pub(crate) use part::read_parts;
pub(crate) use progress::Terminal;
pub(crate) use settings::settings;
pub(crate) use stop::Stop;
pub(crate) use write::Target;
