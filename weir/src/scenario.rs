//! A scenario that was read, ready to run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir_plugin_api::Origin;
use weir_scenario::{ArbiterSpec, Input, LoadOptions};
use weir_sim_core::Listener;

use crate::optimize::{SearchOptions, Settings, check_parameters};
use crate::prepared::{PreparedRun, StreamedRun};
use crate::{Error, Opener, Registry, Run, RunOptions};

/// A scenario that was read and checked.
#[derive(Clone)]
pub struct Scenario {
    contents: Arc<weir_scenario::Scenario>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) source: Arc<Source>,
}

/// From where and how a scenario was read: searches read it again with other values.
pub(crate) struct Source {
    text: SourceText,
    pub(crate) options: LoadOptions,
}

/// Where the YAML of a scenario is.
#[derive(Clone)]
enum SourceText {
    File(PathBuf),
    /// What was read, its name in messages, and from where it names files.
    Text(Vec<u8>, String, Option<PathBuf>),
}

impl Source {
    pub(crate) fn new(input: &Input<'_>, options: LoadOptions) -> Self {
        let text = match input {
            Input::File(file) => SourceText::File(file.to_path_buf()),
            Input::Text { text, name, folder } => {
                SourceText::Text(text.clone(), (*name).to_owned(), folder.map(Path::to_path_buf))
            }
        };
        Self { text, options }
    }

    /// The scenario, to be read once more.
    pub(crate) fn input(&self) -> Input<'_> {
        match &self.text {
            SourceText::File(file) => Input::File(file),
            SourceText::Text(text, name, folder) => Input::text(text.clone(), name, folder.as_deref()),
        }
    }

    /// The same with further edits.
    pub(crate) fn with(&self, edits: &[(String, String)]) -> Self {
        Self { text: self.text.clone(), options: self.edited(edits) }
    }

    /// The options with further edits.
    pub(crate) fn edited(&self, edits: &[(String, String)]) -> LoadOptions {
        LoadOptions { set: [&self.options.set, edits].concat(), ..self.options.clone() }
    }

    /// The same for a candidate that is only run: without what the options say of the search, which may be a long list of values.
    /// What the file says of it may not fit the candidate, so that gives way, too.
    pub(crate) fn candidate(&self, edits: &[(String, String)]) -> LoadOptions {
        let mut options = self.edited(edits);
        let before = options.set.len();
        options.set.retain(|(path, _)| path != "optimize" && !path.starts_with("optimize."));
        if options.set.len() < before {
            options.set.push(("optimize".to_owned(), "{ vary: order }".to_owned()));
        }
        options
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arbiters: Vec<&str> = self.arbiters().iter().map(|spec| &*spec.name).collect();
        f.debug_struct("Scenario")
            .field("file", &self.contents.file)
            .field("arbiters", &arbiters)
            .finish_non_exhaustive()
    }
}

impl Scenario {
    pub(crate) fn new(contents: weir_scenario::Scenario, registry: Arc<Registry>, source: Source) -> Self {
        Self { contents: Arc::new(contents), registry, source: Arc::new(source) }
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn open(file: impl AsRef<std::path::Path>) -> Result<Self, Error> {
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
        &self.contents.name
    }

    /// The arbiters that it runs under.
    #[must_use]
    pub fn arbiters(&self) -> &[ArbiterSpec] {
        &self.contents.arbiters
    }

    /// The built-in arbiters that it does not name, with their default parameters. Some may refuse it.
    #[must_use]
    pub fn other_arbiters(&self) -> Vec<ArbiterSpec> {
        let builtin = self.registry.iter().filter(|entry| entry.origin == Origin::BuiltIn);
        let others = builtin.filter(|entry| self.arbiters().iter().all(|spec| spec.name != entry.name));
        others.map(|entry| self.contents().arbiter(entry)).collect()
    }

    /// What was read, as the crates below know it.
    #[doc(hidden)]
    #[must_use]
    pub fn contents(&self) -> &weir_scenario::Scenario {
        &self.contents
    }

    /// Asks every arbiter whether it accepts the scenario, tries the values at both ends of what a search may vary, and looks
    /// for what may not mean what its author thinks, without a run. Returns the warnings that `weir check` prints.
    ///
    /// ```
    /// let scenario = weir::Scenario::open("../scenarios/pcie/four-transfers.yaml")?;
    /// assert_eq!(scenario.check()?, Vec::<String>::new());
    /// # Ok::<(), weir::Error>(())
    /// ```
    ///
    /// # Errors
    /// An arbiter refuses the scenario, or the scenario a value of a parameter.
    pub fn check(&self) -> Result<Vec<String>, Error> {
        let mut warnings = Vec::new();
        self.check_each(&mut |warning| warnings.push(warning))?;
        Ok(warnings)
    }

    /// As [`Self::check`], with each warning as soon as it is known: those before an error, too.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn check_each(&self, warn: &mut dyn FnMut(String)) -> Result<(), Error> {
        let lints = weir_scenario::lint(&self.contents);
        self.contents.warnings.iter().chain(&lints).for_each(|warning| warn(warning.to_string()));
        for spec in self.arbiters() {
            let run = self.prepared(spec);
            run.arbiter()?;
            run.warnings().into_iter().for_each(&mut *warn);
        }
        if self.contents.optimize.is_some() {
            Settings::new(&SearchOptions::default(), self)?;
        }
        check_parameters(&self.contents, &self.source, &self.registry)
    }

    /// Warnings about what the transfers set and this arbiter does not read (`weight`, `priority`), and about links that
    /// they take and it is not made for; and about defaults of its parameters for another generation of PCIe.
    ///
    /// # Errors
    /// There is no such arbiter.
    pub fn warnings_under(&self, arbiter: &ArbiterSpec) -> Result<Vec<String>, Error> {
        Ok(self.prepared(arbiter).warnings())
    }

    /// Runs under the first arbiter.
    ///
    /// # Errors
    /// The arbiter refuses the scenario or fails, or the run cannot end.
    pub fn run(&self) -> Result<Run, Error> {
        self.run_with(&RunOptions::default())
    }

    /// Runs under the first arbiter with these options.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_with(&self, options: &RunOptions) -> Result<Run, Error> {
        let first = self.arbiters().first().ok_or_else(|| Error::input("the scenario has no arbiter"))?;
        self.run_under(first, options)
    }

    /// Runs under each arbiter.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_all(&self, options: &RunOptions) -> Result<Vec<Run>, Error> {
        self.arbiters().iter().map(|spec| self.run_under(spec, options)).collect()
    }

    /// Runs under an arbiter, one of [`Self::arbiters`] or another.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_under(&self, arbiter: &ArbiterSpec, options: &RunOptions) -> Result<Run, Error> {
        let outcome = self.prepared(arbiter).run(options)?;
        let mut run = Run {
            scenario: self.clone(),
            arbiter: arbiter.clone(),
            outcome,
            spread: None,
            cancel: options.cancel.clone(),
        };
        if let Some(jitter) = options.jitter {
            run.spread = run.measure(jitter, options)?;
        }
        Ok(run)
    }

    /// Runs under an arbiter, and tells a listener of phases or progress instead of recording them.
    ///
    /// # Errors
    /// As [`Self::run`].
    #[doc(hidden)]
    pub fn run_with_listener(
        &self,
        arbiter: &ArbiterSpec,
        options: &RunOptions,
        listener: Listener<'_>,
    ) -> Result<Run, Error> {
        let outcome = self.prepared(arbiter).run_with_listener(options, listener)?;
        Ok(Run {
            scenario: self.clone(),
            arbiter: arbiter.clone(),
            outcome,
            spread: None,
            cancel: options.cancel.clone(),
        })
    }

    /// What `weir explain` prints of a run under the first arbiter: phase by phase the steps by which it comes to its rates, or
    /// what ports grant.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn explain(&self) -> Result<String, Error> {
        self.run_with(&RunOptions { explanations: true, ..RunOptions::default() })?.explanation()
    }

    /// Prepares a run whose transfers are read while they are simulated, of a scenario that was read so.
    ///
    /// # Errors
    /// It was not read with [`LoadOptions::stream`], or the arbiter refuses it.
    #[doc(hidden)]
    pub fn streamed<'a>(&'a self, arbiter: &'a ArbiterSpec) -> Result<StreamedRun<'a>, Error> {
        StreamedRun::new(self.prepared(arbiter))
    }

    pub(crate) fn prepared<'a>(&'a self, arbiter: &'a ArbiterSpec) -> PreparedRun<'a> {
        PreparedRun::new(&self.contents, arbiter)
    }
}
