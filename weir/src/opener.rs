//! How scenarios are read: from files or text, with changes, with which arbiters and models.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir_scenario::{Checked, Input, LoadOptions, TopologyAlone};

use crate::scenario::Source;
use crate::{Error, Registry, Scenario};

/// What to read, and with which changes. Made by [`Scenario::opener`], or from [`LoadOptions`].
///
/// ```
/// let scenario = weir::Scenario::opener()
///     .arbiter("{ name: pcie-congestion, tau: 0.1 }")
///     .set("workload[0].transfer.size", "1GB")
///     .open("../scenarios/pcie/four-transfers.yaml")?;
/// assert_eq!(scenario.arbiters()[0].name, "pcie-congestion");
/// # Ok::<(), weir::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Opener {
    options: LoadOptions,
    plugins: Vec<PathBuf>,
    registry: Option<Arc<Registry>>,
}

/// What a file holds. Made by [`Opener::load_any`].
#[derive(Debug)]
pub enum Opened {
    /// A scenario.
    Scenario(Scenario),
    /// A topology without a workload.
    Topology(Box<TopologyAlone>),
}

impl From<LoadOptions> for Opener {
    fn from(options: LoadOptions) -> Self {
        Self { options, ..Self::default() }
    }
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
        self.load(file.as_ref())
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
    pub fn read(self, yaml: impl Into<Vec<u8>>, folder: impl AsRef<Path>) -> Result<Scenario, Error> {
        self.load(Input::text(yaml, "-", Some(folder.as_ref())))
    }

    /// Reads a scenario from a file or text.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn load<'a>(self, input: impl Into<Input<'a>>) -> Result<Scenario, Error> {
        let (registry, input) = (self.loaded()?, input.into());
        let source = Source::new(&input, self.options);
        Ok(Scenario::new(load(input, &source.options, &registry)?, registry, source))
    }

    /// As [`Self::load`], or a topology without a workload.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn load_any<'a>(self, input: impl Into<Input<'a>>) -> Result<Opened, Error> {
        let (registry, input) = (self.loaded()?, input.into());
        let source = Source::new(&input, self.options);
        let checked = weir_scenario::check(input, &source.options, &registry);
        Ok(match checked.map_err(|findings| registry.error_of(findings))? {
            Checked::Scenario(scenario) => Opened::Scenario(Scenario::new(*scenario, registry, source)),
            Checked::Topology(topology) => Opened::Topology(topology),
        })
    }

    /// The YAML of a scenario with the groups of its workload written out.
    ///
    /// # Errors
    /// What is wrong with the groups; the rest is not looked at.
    pub fn expand<'a>(self, input: impl Into<Input<'a>>) -> Result<String, Error> {
        let registry = self.loaded()?;
        weir_scenario::expanded(input, &self.options).map_err(|findings| registry.error_of(findings))
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

pub(crate) fn load<'a>(
    input: impl Into<Input<'a>>,
    options: &LoadOptions,
    registry: &Registry,
) -> Result<weir_scenario::Scenario, Error> {
    let loaded = weir_scenario::load(input, options, registry);
    loaded.map(logged).map_err(|findings| registry.error_of(findings))
}

fn logged(scenario: weir_scenario::Scenario) -> weir_scenario::Scenario {
    tracing::info!(
        file = scenario.file,
        nodes = scenario.fabric.nodes().len(),
        tasks = scenario.stream.as_ref().map_or(scenario.tasks.tasks().len(), |stream| stream.census().transfers()),
        routes = scenario.routes.len(),
        "read a scenario"
    );
    scenario
}
