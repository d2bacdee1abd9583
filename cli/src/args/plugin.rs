//! `weir plugin`.

use std::path::PathBuf;

use clap::Subcommand;

/// `weir plugin`.
#[derive(clap::Args, Debug)]
pub(crate) struct PluginArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: PluginAction,
}

/// What to do with plugins.
#[derive(Subcommand, Debug)]
pub(crate) enum PluginAction {
    /// List all arbiters and models, built in and added
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Trust a shared library: probe it and remember its path and SHA-256
    Add {
        /// The library
        file: PathBuf,
    },
    /// Forget a library
    Remove {
        /// The name of one of its arbiters or models, or its path
        #[arg(value_name = "NAME|FILE")]
        what: String,
    },
}
