//! The options of `run` and `compare` that measure how far ends move.

use weir::{Error, Jitter};
use weir_plugin_api::SimDuration;

/// Runs with `--jitter` alone (*assumed*: enough to tell a chaotic load from a calm one).
const SEEDS: u32 = 8;

/// Further runs in which transfers start later.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct JitterArgs {
    /// Run again with every transfer starting later by a random time below this, such as 1us, and print how far the
    /// makespan and each end move. The result itself stays as it is
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = crate::values::jitter)]
    jitter: Option<SimDuration>,
    /// Number of such runs, from 1 to 1000 (default: 8): the seeds are 0, 1, …
    #[arg(long, value_name = "N", requires = "jitter", value_parser = crate::values::seeds)]
    seeds: Option<u32>,
}

impl JitterArgs {
    /// What was asked for, if anything.
    pub(crate) fn wanted(&self) -> Result<Option<Jitter>, Error> {
        self.jitter.map(|most| Jitter::new(most, self.seeds.unwrap_or(SEEDS))).transpose()
    }
}
