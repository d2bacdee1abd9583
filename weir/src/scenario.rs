//! A scenario from a file or text, ready to run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir_scenario::LoadOptions;
use weir_sim_core::RunOptions;

use crate::job::Job;
use crate::{Error, Registry, RunResult};

/// What to read, and with which changes. Made by [`Scenario::opener`].
#[derive(Clone, Default)]
pub struct Opener {
    options: LoadOptions,
    registry: Option<Arc<Registry>>,
}

impl Opener {
    /// Runs under this arbiter instead of the scenario's: a name, or a map such as `{name: pcie-congestion, tau: 0.1}`. Once
    /// more for each further arbiter.
    #[must_use]
    pub fn arbiter(mut self, arbiter: impl Into<String>) -> Self {
        self.options.arbiters.push(arbiter.into());
        self
    }

    /// Changes a value before the scenario is read: a path such as `arbiter.tau` or `workload[0].transfer.size`, and YAML text.
    #[must_use]
    pub fn set(mut self, path: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.set.push((path.into(), value.into()));
        self
    }

    /// The folder in which files named by the scenario may lie (default: the nearest folder above with a file
    /// `weir-library`).
    #[must_use]
    pub fn library(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.library = Some(folder.into());
        self
    }

    /// Takes arbiters and models from this registry instead of the built-in ones.
    #[must_use]
    pub fn registry(mut self, registry: Arc<Registry>) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn open(self, file: impl AsRef<Path>) -> Result<Scenario, Error> {
        let registry = self.registry.map_or_else(|| Registry::built_in().map(Arc::new), Ok)?;
        let scenario = crate::load::load(file.as_ref(), &self.options, &registry)?;
        Ok(Scenario { scenario: Arc::new(scenario), registry })
    }
}

/// A scenario that was read and checked.
#[derive(Clone)]
pub struct Scenario {
    pub(crate) scenario: Arc<weir_scenario::Scenario>,
    pub(crate) registry: Arc<Registry>,
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arbiters: Vec<&str> = self.scenario.arbiters.iter().map(|spec| &*spec.name).collect();
        f.debug_struct("Scenario")
            .field("file", &self.scenario.file)
            .field("arbiters", &arbiters)
            .finish_non_exhaustive()
    }
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn open(file: impl AsRef<Path>) -> Result<Self, Error> {
        Self::opener().open(file)
    }

    /// Reads with changes, or with other arbiters and models.
    #[must_use]
    pub fn opener() -> Opener {
        Opener::default()
    }

    /// Runs under the first arbiter.
    ///
    /// # Errors
    /// The arbiter refuses the scenario or fails, or the run cannot end.
    pub fn run(&self) -> Result<RunResult, Error> {
        let missing = || Error::input("the scenario has no arbiter");
        let spec = self.scenario.arbiters.first().ok_or_else(missing)?;
        let finished = Job::new(&self.scenario, spec, &self.registry)?.run(RunOptions::default())?;
        Ok(RunResult { scenario: self.clone(), arbiter: 0, outcome: finished.outcome })
    }
}
