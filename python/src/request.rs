//! What is to be read: a file or a text, the changes to it, and the policies beside the built-in ones.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use tempfile::NamedTempFile;
use weir::{Error, Input, LoadOptions, Opened, Opener, Registry, Scenario};

use crate::call::call;
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
    #[pyo3(signature = (file, text, *, name, folder, set, arbiters, fidelity, library, policies))]
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
        policies: Vec<(String, Py<PyAny>, bool)>,
        py: Python<'_>,
    ) -> PyResult<Self> {
        let policies = Policies::new(policies);
        let registry = policies.registry().map_err(|error| crate::fault::raised(py, &error, &policies))?;
        let source = match (file, text) {
            (Some(file), _) => Source::File(file),
            (None, text) => Source::Text { yaml: text.unwrap_or_default(), name, folder },
        };
        let options = LoadOptions { library, set, arbiters, fidelity, stream: false };
        Ok(Self { source, options, registry, policies })
    }
}

/// The registry without policies in Python.
pub(crate) fn built_in() -> Result<Arc<Registry>, Error> {
    static BUILT_IN: OnceLock<Result<Arc<Registry>, Error>> = OnceLock::new();
    BUILT_IN.get_or_init(|| Registry::built_in().map(Arc::new)).clone()
}

impl Request {
    fn opener(&self) -> Opener {
        Opener::from(self.options.clone()).registry(Arc::clone(&self.registry))
    }

    /// The scenario.
    pub(crate) fn open(&self) -> Result<Scenario, Error> {
        match &self.source {
            Source::File(file) => self.opener().open(file),
            text => self.opener().load(text.input()),
        }
    }

    fn open_any(&self) -> Result<Opened, Error> {
        self.opener().load_any(self.source.input())
    }

    /// Does `search` with the scenario in a file: it is read again and again. A text gets one for that long, in its folder,
    /// so that the files that it names are found.
    pub(crate) fn with_file<T>(&self, search: impl FnOnce(&Scenario) -> Result<T, Error>) -> Result<T, Error> {
        let Source::Text { yaml, folder, .. } = &self.source else { return search(&self.open()?) };
        let written = |folder: &Path| -> std::io::Result<NamedTempFile> {
            let mut file = tempfile::Builder::new().prefix(".weir-").suffix(".yaml").tempfile_in(folder)?;
            file.write_all(yaml.as_bytes())?;
            file.flush()?;
            Ok(file)
        };
        let file = written(folder).map_err(|error| {
            let folder = folder.display();
            Error::input(format!(
                "a search reads its scenario from a file, which cannot be written in {folder}: {error}"
            ))
        })?;
        search(&self.opener().open(file.path())?)
    }

    /// The same with further edits.
    pub(crate) fn edited(&self, edit: (String, String)) -> Self {
        let mut options = self.options.clone();
        options.set.push(edit);
        let source = match &self.source {
            Source::File(file) => Source::File(file.clone()),
            Source::Text { yaml, name, folder } => {
                Source::Text { yaml: yaml.clone(), name: name.clone(), folder: folder.clone() }
            }
        };
        Self { source, options, registry: Arc::clone(&self.registry), policies: self.policies.clone() }
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
    call(py, None, &request.policies, |_| match request.open_any()? {
        Opened::Scenario(scenario) => scenario.check(),
        Opened::Topology(topology) => Ok(topology.warnings.iter().map(ToString::to_string).collect()),
    })
}

/// The YAML of a scenario with its changes, and the groups of its workload written out.
#[pyfunction]
pub(crate) fn expand(py: Python<'_>, request: &Request) -> PyResult<String> {
    call(py, None, &request.policies, |_| request.opener().expand(request.source.input()))
}
