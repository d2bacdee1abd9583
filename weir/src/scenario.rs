//! A scenario from a file or text, ready to run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use weir_scenario::{Input, LoadOptions};

use crate::job::Job;
use crate::optimize::{self, Overrides, SearchContext, SearchOutcome, Settings};
use crate::{Error, Registry};

/// What to read, and with which changes. Made by [`Scenario::opener`].
///
/// ```
/// let scenario = weir::Scenario::opener()
///     .arbiter("{ name: pcie-congestion, tau: 0.1 }")
///     .set("workload[0].transfer.size", "1GB")
///     .open("../scenarios/pcie/four-transfers.yaml")?;
/// assert_eq!(scenario.arbiters(), ["pcie-congestion"]);
/// # Ok::<(), weir::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Opener {
    options: LoadOptions,
    plugins: Vec<PathBuf>,
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

    /// Loads the arbiters and models of a shared library. It is opened in this process: one that crashes while it is opened
    /// ends the program. [`Registry::load_probed`] looks first, in another process.
    #[must_use]
    pub fn plugin(mut self, library: impl Into<PathBuf>) -> Self {
        self.plugins.push(library.into());
        self
    }

    /// Takes arbiters and models from this registry instead of the built-in ones and those of [`Self::plugin`].
    #[must_use]
    pub fn registry(mut self, registry: Arc<Registry>) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    /// Everything that is wrong with it, or a plugin that is refused.
    pub fn open(self, file: impl AsRef<Path>) -> Result<Scenario, Error> {
        let registry = self.loaded()?;
        let scenario = Arc::new(crate::load::load(file.as_ref(), &self.options, &registry)?);
        let source = Some(Arc::new(Source { file: file.as_ref().into(), options: self.options }));
        Ok(Scenario { scenario, registry, source })
    }

    /// Reads a scenario from YAML text. Files that it names are looked for from `folder`.
    ///
    /// ```
    /// let yaml = "
    /// weir: 1
    /// topology:
    ///   link_types: { x16: { bandwidth: 16GB/s } }
    ///   tree:
    ///     rc: { kind: root-complex, children: { cpu0: { kind: cpu, link: x16 }, gpu0: { kind: gpu, link: x16 } } }
    /// workload:
    ///   - transfer: { from: gpu0, to: cpu0, size: 16GB }
    /// ";
    /// let scenario = weir::Scenario::opener().read(yaml, ".")?;
    /// assert_eq!(scenario.run()?.makespan().seconds(), 1.0);
    /// # Ok::<(), weir::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(self, yaml: impl Into<String>, folder: impl AsRef<Path>) -> Result<Scenario, Error> {
        let registry = self.loaded()?;
        let input = Input::text(yaml.into(), "-", Some(folder.as_ref()));
        let scenario = crate::load::load(input, &self.options, &registry)?;
        Ok(Scenario { scenario: Arc::new(scenario), registry, source: None })
    }

    fn loaded(&self) -> Result<Arc<Registry>, Error> {
        if let Some(registry) = &self.registry {
            return Ok(Arc::clone(registry));
        }
        let mut registry = Registry::built_in()?;
        for library in &self.plugins {
            registry.load(library)?;
        }
        Ok(Arc::new(registry))
    }
}

/// A scenario that was read and checked.
#[derive(Clone)]
pub struct Scenario {
    pub(crate) scenario: Arc<weir_scenario::Scenario>,
    pub(crate) registry: Arc<Registry>,
    /// None where it was read from text.
    source: Option<Arc<Source>>,
}

/// From where and how a scenario was read: searches read it again with other values.
struct Source {
    file: PathBuf,
    options: LoadOptions,
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

    /// Its name; the file's where it has none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.scenario.name
    }

    /// The names of the arbiters that it runs under.
    #[must_use]
    pub fn arbiters(&self) -> Vec<&str> {
        self.scenario.arbiters.iter().map(|spec| &*spec.name).collect()
    }

    /// Asks every arbiter whether it accepts the scenario, and looks for what may not mean what its author thinks, without a
    /// run. Returns the warnings that `weir check` prints.
    ///
    /// ```
    /// let scenario = weir::Scenario::open("../scenarios/pcie/four-transfers.yaml")?;
    /// assert_eq!(scenario.check()?, Vec::<String>::new());
    /// # Ok::<(), weir::Error>(())
    /// ```
    ///
    /// # Errors
    /// An arbiter refuses the scenario.
    pub fn check(&self) -> Result<Vec<String>, Error> {
        let lints = weir_scenario::lint(&self.scenario);
        let mut warnings: Vec<String> = self.scenario.warnings.iter().chain(&lints).map(ToString::to_string).collect();
        for at in 0..self.scenario.arbiters.len() {
            let job = self.job(at)?;
            job.arbiter()?;
            warnings.extend(job.ignored_attributes());
        }
        Ok(warnings)
    }

    /// The scenario under the arbiter at a place of its list.
    pub(crate) fn job(&self, arbiter: usize) -> Result<Job<'_>, Error> {
        let missing = || Error::input("the scenario has no arbiter");
        let spec = self.scenario.arbiters.get(arbiter).ok_or_else(missing)?;
        Job::new(&self.scenario, spec, &self.registry)
    }

    /// Searches as the scenario's `optimize` says, under its first arbiter, on all cores: for the order in which each source
    /// sends, the device of each rank, or values of parameters. [`crate::optimize::search`] takes a budget and other settings.
    ///
    /// ```
    /// let found = weir::Scenario::open("../scenarios/optimize/order-halo-2d-t2.yaml")?.optimize()?;
    /// let report = found.report.expect("one search");
    /// assert!(report.result.best < report.result.baseline && report.result.proved_optimal);
    /// # Ok::<(), weir::Error>(())
    /// ```
    ///
    /// # Errors
    /// The scenario does not say what to vary, was read from text, a candidate cannot be run, or the arbiter fails.
    pub fn optimize(&self) -> Result<SearchOutcome, Error> {
        self.job(0)?;
        let unread =
            || Error::input("a scenario from text cannot be read again with other values: open it from a file");
        let source = self.source.as_ref().ok_or_else(unread)?;
        optimize::search(&SearchContext {
            file: &source.file,
            options: &source.options,
            registry: &self.registry,
            scenario: &self.scenario,
            arbiter: 0,
            settings: Settings::new(Overrides::default(), &self.scenario)?,
            checkpoint: None,
            cancel: &AtomicBool::new(false),
            begin: Instant::now(),
            watch: &(),
        })
    }
}
