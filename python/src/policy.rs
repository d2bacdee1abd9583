//! Rate arbiters written in Python: an object with `allocate(phase)`, asked and checked as any other arbiter.
//!
//! The columns of a phase are copied once, into `bytes` of Python; NumPy and `memoryview` look at these without another copy.
//! They belong to whoever keeps them, so a view that outlives its call is old but never wild.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyFloat, PyInt, PyMemoryView, PySlice, PyType};
use weir::{Error, Registry};
use weir_plugin_api::{ArbiterEntry, CallError, FabricView, Flags, Grant, Origin, PhaseView, RateArbiter};

/// The policies of requests: those of each request share what they raise.
#[derive(Clone)]
pub(crate) struct Policies(Vec<Arc<Shared>>);

struct Shared {
    policies: Vec<Named>,
    /// What a policy raised first.
    failure: Mutex<Option<PyErr>>,
    /// The threads in which a policy runs, as `threading.get_ident` has them.
    running: Mutex<Vec<u64>>,
    /// Whether the call that they belong to was interrupted.
    interrupted: AtomicBool,
}

thread_local! {
    /// The policies of the calls around what this thread does: a policy may call weir.
    static AROUND: RefCell<Vec<Arc<Shared>>> = const { RefCell::new(Vec::new()) };
}

/// What a call of a policy may wait for: the call in which it runs.
#[derive(Clone, Default)]
pub(crate) struct Around(Vec<Arc<Shared>>);

impl Around {
    /// Of this thread.
    pub(crate) fn here() -> Self {
        Self(AROUND.with_borrow(Clone::clone))
    }

    /// How many policies are at work, one within the call of another.
    pub(crate) fn depth(&self) -> usize {
        self.0.len()
    }

    /// Whether a call around was interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.0.iter().any(|shared| shared.interrupted.load(SeqCst))
    }

    /// Does `work`, in which these are around.
    pub(crate) fn enclose<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = AROUND.replace(self.0.clone());
        let done = work();
        AROUND.set(before);
        done
    }

    fn and(mut self, shared: &Arc<Shared>) -> Self {
        self.0.push(Arc::clone(shared));
        self
    }
}

/// A class, of which every run gets an object, or an object.
struct Named {
    name: String,
    policy: Py<PyAny>,
    /// Whether it claims [`Flags::PURE`].
    pure: bool,
}

impl Policies {
    pub(crate) fn new(policies: Vec<(String, Py<PyAny>, bool)>) -> Self {
        let policies: Vec<Named> =
            policies.into_iter().map(|(name, policy, pure)| Named { name, policy, pure }).collect();
        if policies.is_empty() {
            return Self::none();
        }
        Self(vec![Arc::new(Shared {
            policies,
            failure: Mutex::default(),
            running: Mutex::default(),
            interrupted: AtomicBool::default(),
        })])
    }

    pub(crate) fn none() -> Self {
        Self(Vec::new())
    }

    /// Those of several requests.
    pub(crate) fn of_all<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        Self(all.into_iter().flat_map(|policies| policies.0.iter().cloned()).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds these policies to arbiters.
    pub(crate) fn add_to(&self, registry: &mut Registry) -> Result<(), Error> {
        let mut each = self.0.iter().flat_map(|shared| (0..shared.policies.len()).map(move |at| shared.entry(at)));
        each.try_for_each(|entry| registry.add(entry))
    }

    /// What a policy raised.
    pub(crate) fn take_failure(&self) -> Option<PyErr> {
        self.0.iter().find_map(|shared| lock(&shared.failure).take())
    }

    /// Raises `KeyboardInterrupt` in policies that run on.
    pub(crate) fn interrupt(&self) {
        self.0.iter().for_each(|shared| shared.interrupted.store(true, SeqCst));
        let running: Vec<u64> = self.0.iter().flat_map(|shared| lock(&shared.running).clone()).collect();
        if !running.is_empty() {
            // One that cannot be interrupted is waited for.
            let _ = Python::try_attach(|py| running.into_iter().try_for_each(|thread| interrupt(py, thread)));
        }
    }
}

/// Raises `KeyboardInterrupt` in a thread.
fn interrupt(py: Python<'_>, thread: u64) -> PyResult<()> {
    static RAISE_IN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let raise_in = RAISE_IN.import(py, "weir._policy", "raise_in")?;
    raise_in.call1((thread, py.get_type::<PyKeyboardInterrupt>())).map(drop)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn entry(self: &Arc<Self>, at: usize) -> ArbiterEntry {
        let Named { name, pure, .. } = &self.policies[at];
        let flags = if *pure { Flags::WHOLE_SET.union(Flags::PURE) } else { Flags::WHOLE_SET };
        let shared = Arc::clone(self);
        ArbiterEntry {
            name: name.clone(),
            version: "python".to_owned(),
            flags: flags.union(Flags::READS_ARRIVAL),
            says_what_it_reads: false,
            legend: Vec::new(),
            params_schema: r#"{"type":"object","properties":{},"additionalProperties":false}"#.to_owned(),
            origin: Origin::BuiltIn,
            make: Arc::new(move |fabric, _| Ok(Box::new(PythonArbiter::new(&shared, at, fabric)?))),
            incremental: None,
        }
    }

    /// Does what runs code of a policy: Ctrl-C reaches it, and calls of weir in it.
    fn watched<T>(self: &Arc<Self>, py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        let thread = thread_of(py)?;
        lock(&self.running).push(thread);
        let done = Around::here().and(self).enclose(work);
        let mut running = lock(&self.running);
        if let Some(own) = running.iter().position(|&other| other == thread) {
            running.swap_remove(own);
        }
        done
    }

    /// Keeps what was raised, and says it in a line.
    fn failed(&self, py: Python<'_>, at: usize, error: PyErr) -> CallError {
        let text = format!("policy `{}`: {error}", self.policies[at].name);
        lock(&self.failure).get_or_insert_with(|| error.clone_ref(py));
        CallError::Failed(text)
    }
}

struct PythonArbiter {
    shared: Arc<Shared>,
    at: usize,
    object: Py<PyAny>,
    bandwidth: Py<PyBytes>,
}

impl PythonArbiter {
    fn new(shared: &Arc<Shared>, at: usize, fabric: &FabricView<'_>) -> Result<Self, CallError> {
        attached(|py| {
            let policy = shared.policies[at].policy.bind(py);
            let object = match policy.cast::<PyType>() {
                Ok(class) => shared.watched(py, || class.call0()),
                Err(_) => Ok(policy.clone()),
            };
            let object = object.map_err(|error| shared.failed(py, at, error))?.unbind();
            let bandwidth = column(py, fabric.bandwidth.iter().map(|bandwidth| bandwidth.to_ne_bytes()));
            let bandwidth = bandwidth.map_err(|error| shared.failed(py, at, error))?;
            Ok(Self { shared: Arc::clone(shared), at, object, bandwidth })
        })
    }

    fn rates(&self, py: Python<'_>, phase: &PhaseView<'_>) -> PyResult<Vec<f64>> {
        let number = phase.len();
        let phase = Bound::new(py, Phase::new(py, phase, self.bandwidth.clone_ref(py))?)?;
        let rates = self.object.bind(py).call_method1("allocate", (phase,))?;
        // NumPy makes -0.0 of 0 and a sign, and means 0.
        Ok(numbers(&rates, number)?.into_iter().map(|rate| rate + 0.0).collect())
    }
}

impl RateArbiter for PythonArbiter {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        attached(|py| {
            let rates = self.shared.watched(py, || self.rates(py, phase));
            grant.rates.copy_from_slice(&rates.map_err(|error| self.shared.failed(py, self.at, error))?);
            Ok(())
        })
    }
}

/// Does what needs the interpreter.
fn attached<T>(work: impl FnOnce(Python<'_>) -> Result<T, CallError>) -> Result<T, CallError> {
    Python::try_attach(work).unwrap_or_else(|| Err(CallError::Failed("Python has ended".to_owned())))
}

/// What `allocate` returned, as so many numbers: of a list, a tuple, an array, and what else is a sequence of them.
fn numbers(rates: &Bound<'_, PyAny>, number: usize) -> PyResult<Vec<f64>> {
    let py = rates.py();
    let wrong = |not: &str| {
        PyTypeError::new_err(format!("`allocate` must return a rate for each transfer, in bytes per second{not}"))
    };
    let is_bytes = rates.is_instance_of::<PyBytes>() || rates.is_instance_of::<PyByteArray>();
    if is_bytes || (rates.is_instance_of::<PyMemoryView>() && rates.getattr("itemsize")?.eq(1)?) {
        return Err(wrong(", not bytes of memory"));
    }
    let caused = |error| {
        let wrong = wrong("");
        wrong.set_cause(py, Some(error));
        wrong
    };
    let counted = |length: usize| match length == number {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("`allocate` returned {length} rates for {number} transfers"))),
    };
    // Before memory is taken for what may have no end.
    if rates.hasattr("__len__")? {
        counted(rates.len().map_err(caused)?)?;
    }
    let listed = if rates.hasattr("tolist")? { rates.call_method0("tolist")? } else { rates.clone() };
    // Neither a set nor a dict, whose order is none of transfers.
    if !listed.hasattr("__getitem__")? || listed.hasattr("keys")? {
        return Err(wrong(", in the order of the phase"));
    }
    counted(listed.len().map_err(caused)?)?;
    let value = |rate: PyResult<Bound<'_, PyAny>>| {
        let rate = rate?;
        match is_flag(&rate)? {
            true => Err(wrong(", not True and False")),
            false => rate.extract().map_err(caused),
        }
    };
    let rates: Vec<f64> = listed.try_iter().map_err(caused)?.take(number + 1).map(value).collect::<PyResult<_>>()?;
    counted(rates.len()).map(|()| rates)
}

/// Whether this is True or False, of NumPy, too.
fn is_flag(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_number = value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyInt>();
    Ok(!is_number && matches!(value.get_type().name()?.to_str()?, "bool" | "bool_"))
}

fn thread_of(py: Python<'_>) -> PyResult<u64> {
    static IDENT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    IDENT.import(py, "threading", "get_ident")?.call0()?.extract()
}

/// Numbers as the bytes of a column.
fn column<const N: usize>(py: Python<'_>, numbers: impl ExactSizeIterator<Item = [u8; N]>) -> PyResult<Py<PyBytes>> {
    let bytes = PyBytes::new_with(py, numbers.len() * N, |bytes| {
        bytes.chunks_exact_mut(N).zip(numbers).for_each(|(place, number)| place.copy_from_slice(&number));
        Ok(())
    });
    bytes.map(Bound::unbind)
}

/// The active transfers of one instant, in the order in which rates are returned.
#[pyclass(frozen, module = "weir")]
pub(crate) struct Phase {
    now_ps: u64,
    number: usize,
    id: Py<PyBytes>,
    arrival: Py<PyBytes>,
    limit: Py<PyBytes>,
    weight: Py<PyBytes>,
    priority: Py<PyBytes>,
    offsets: Py<PyBytes>,
    links: Py<PyBytes>,
    bandwidth: Py<PyBytes>,
}

impl Phase {
    fn new(py: Python<'_>, phase: &PhaseView<'_>, bandwidth: Py<PyBytes>) -> PyResult<Self> {
        let classes = || phase.class.iter().map(|class| class.index());
        let (limit, weight) = (phase.classes.limit.as_slice(), phase.classes.weight.as_slice());
        let priority = phase.classes.priority.as_slice();
        let mut offsets = vec![0_u64];
        let mut links = Vec::new();
        for at in 0..phase.len() {
            links.extend(phase.route(at).iter().map(|link| link.0));
            offsets.push(links.len() as u64);
        }
        Ok(Self {
            now_ps: phase.now.0,
            number: phase.len(),
            id: column(py, phase.id.iter().map(|id| id.0.to_ne_bytes()))?,
            arrival: column(py, phase.arrival.iter().map(|arrival| arrival.to_ne_bytes()))?,
            limit: column(py, classes().map(|class| limit[class].to_ne_bytes()))?,
            weight: column(py, classes().map(|class| weight[class].to_ne_bytes()))?,
            priority: column(py, classes().map(|class| priority[class].to_ne_bytes()))?,
            offsets: column(py, offsets.iter().map(|offset| offset.to_ne_bytes()))?,
            links: column(py, links.iter().map(|link| link.to_ne_bytes()))?,
            bandwidth,
        })
    }
}

/// Looks at a column by NumPy, or as a `memoryview` without it; `code` is that of the module `struct`.
fn view<'py>(py: Python<'py>, column: &Py<PyBytes>, code: &str) -> PyResult<Bound<'py, PyAny>> {
    static VIEW: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    VIEW.import(py, "weir._policy", "view")?.call1((column, code))
}

#[pymethods]
impl Phase {
    /// The instant for which rates are asked, picoseconds.
    #[getter]
    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    fn __len__(&self) -> usize {
        self.number
    }

    /// Per transfer: its number in the run, ascending.
    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(py, &self.id, "I")
    }

    /// Per transfer: when it began to wait for rates, picoseconds.
    #[getter]
    fn arrival_ps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(py, &self.arrival, "Q")
    }

    /// Per transfer: its largest rate, bytes per second; infinite where the scenario sets none.
    #[getter]
    fn limit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(py, &self.limit, "d")
    }

    /// Per transfer: its weight, above 0; 1 by default.
    #[getter]
    fn weight<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(py, &self.weight, "d")
    }

    /// Per transfer: its priority, larger is served first; 0 by default.
    #[getter]
    fn priority<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(py, &self.priority, "q")
    }

    /// Where the route of each transfer begins in `links`, and one entry more.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(py, &self.offsets, "Q")
    }

    /// The links of all routes, one after the other, in order of travel: places in `bandwidth`.
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(py, &self.links, "I")
    }

    /// Per link of the fabric: its bandwidth, bytes per second.
    #[getter]
    fn bandwidth<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(py, &self.bandwidth, "d")
    }

    /// The links of a transfer, by its place in the phase.
    fn route<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyAny>> {
        let offsets = self.offsets.bind(py).as_bytes();
        let at = |place: usize| offsets.chunks_exact(8).nth(place)?.try_into().ok().map(u64::from_ne_bytes);
        let ends = at(place).zip(place.checked_add(1).and_then(at));
        let missing = || PyValueError::new_err(format!("no transfer {place}: there are {}", self.number));
        let (first, end) = ends.ok_or_else(missing)?;
        let slice = PySlice::new(py, first as isize, end as isize, 1);
        self.links(py)?.get_item(slice)
    }

    fn __repr__(&self) -> String {
        format!("<weir.Phase at {} ps: {} transfers>", self.now_ps, self.number)
    }
}
