//! What is to be read: a file or a text, the changes to it, and the policies beside the built-in ones.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use weir::{Error, Input, LoadOptions, Opened, Opener, Registry, Scenario};
use weir_plugin_host::Place;

use crate::call::{Going, Watched, call};
use crate::policy::Policies;

/// A scenario to be read, with changes.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Request {
    source: Source,
    options: LoadOptions,
    registry: Arc<Registry>,
    pub(crate) policies: Policies,
}

enum Source {
    File(PathBuf),
    Text { yaml: String, name: String, folder: PathBuf },
}

#[pymethods]
impl Request {
    /// Of a file, or of a text with the folder from which it names files.
    #[new]
    #[pyo3(signature = (file, text, *, name, folder, set, arbiters, fidelity, library, plugins, program, policies))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python side")]
    fn new(
        file: Option<PathBuf>,
        text: Option<String>,
        name: String,
        folder: PathBuf,
        set: Vec<(String, String)>,
        arbiters: Vec<String>,
        fidelity: Vec<String>,
        library: Option<PathBuf>,
        plugins: Vec<PathBuf>,
        program: Option<PathBuf>,
        policies: Vec<(String, Py<PyAny>, bool)>,
        py: Python<'_>,
    ) -> PyResult<Self> {
        // A child of a fork must know of this, too.
        let _going = Going::begin()?;
        let policies = Policies::new(policies);
        let registry = py.detach(|| registry(&policies, &plugins, program.as_deref()));
        let registry = registry.map_err(|error| crate::fault::raised(py, &error, &policies))?;
        let source = match (file, text) {
            (Some(file), _) => Source::File(file),
            (None, text) => Source::Text { yaml: text.unwrap_or_default(), name, folder },
        };
        let options = LoadOptions { library, set, arbiters, fidelity, ..LoadOptions::default() };
        Ok(Self { source, options, registry, policies })
    }
}

/// The built-in arbiters and models, those of libraries, and policies in Python. Libraries are opened by the command first, in
/// another process, where that is known.
fn registry(policies: &Policies, plugins: &[PathBuf], program: Option<&Path>) -> Result<Arc<Registry>, Error> {
    static BUILT_IN: OnceLock<Result<Arc<Registry>, Error>> = OnceLock::new();
    if policies.is_empty() && plugins.is_empty() {
        return BUILT_IN.get_or_init(|| Registry::built_in().map(Arc::new)).clone();
    }
    let mut registry = Registry::built_in()?;
    for library in plugins {
        match program {
            Some(program) => registry.load_probed(library, program, Place::Process)?,
            None => registry.load(library)?,
        };
    }
    policies.add_to(&mut registry)?;
    Ok(Arc::new(registry))
}

impl Request {
    fn opener(&self, watched: &Watched, edit: Option<(String, String)>) -> Opener {
        let cancel = Some(Arc::clone(&watched.cancel));
        let mut options = LoadOptions { cancel, ..self.options.clone() };
        options.set.extend(edit);
        Opener::from(options).registry(Arc::clone(&self.registry))
    }

    /// The scenario; Ctrl-C ends what is simulated while it is read.
    pub(crate) fn open(&self, watched: &Watched) -> Result<Scenario, Error> {
        self.opener(watched, None).load(self.source.input())
    }

    fn open_any(&self, watched: &Watched) -> Result<Opened, Error> {
        self.opener(watched, None).load_any(self.source.input())
    }

    /// The scenario with one more edit.
    pub(crate) fn open_edited(&self, watched: &Watched, edit: Option<(String, String)>) -> Result<Scenario, Error> {
        self.opener(watched, edit).load(self.source.input())
    }

    /// The file, of a request for one.
    pub(crate) fn file(&self) -> Result<&Path, Error> {
        match &self.source {
            Source::File(file) => Ok(file),
            Source::Text { .. } => Err(Error::input("this needs a file: write the scenario or topology to one")),
        }
    }

    pub(crate) fn options(&self) -> &LoadOptions {
        &self.options
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }
}

impl Source {
    fn input(&self) -> Input<'_> {
        match self {
            Self::File(file) => Input::File(file),
            Self::Text { yaml, name, folder } => Input::text(yaml.clone(), name, Some(folder)),
        }
    }
}

/// What `weir check` warns of; of a topology, too.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, request: &Request) -> PyResult<Vec<String>> {
    call(py, None, &request.policies, |watched| match request.open_any(watched)? {
        Opened::Scenario(scenario) => scenario.check(),
        Opened::Topology(topology) => Ok(topology.warnings.iter().map(ToString::to_string).collect()),
    })
}

/// The YAML of a scenario with its changes, and the groups of its workload written out.
#[pyfunction]
pub(crate) fn expand(py: Python<'_>, request: &Request) -> PyResult<String> {
    call(py, None, &request.policies, |watched| request.opener(watched, None).expand(request.source.input()))
}
