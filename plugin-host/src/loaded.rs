//! An arbiter of a shared library, behind the same trait as a built-in one.

use std::ffi::c_void;
use std::sync::Arc;

use weir_plugin_api::abi::{ErrorBuffer, StepRecord, code};
use weir_plugin_api::{ArbiterError, Binding, FabricView, Grant, LinkId, PhaseView, RateArbiter, SimTime, Slice, Step};

use crate::call::{Call, CallSlot};
use crate::host::InstanceHost;
use crate::table::{Functions, PluginArbiter};

/// Room for the text of an error, in bytes (*assumed*: a line for a person is shorter).
const ERROR_CAPACITY: usize = 2048;

/// An instance of a plugin's arbiter. After a panic it is never called again, but for `destroy` when it is dropped.
pub struct LoadedArbiter {
    plugin: Arc<PluginArbiter>,
    state: *mut c_void,
    /// Why the instance is called no more.
    stopped: Option<ArbiterError>,
    /// Links of the fabric: what a plugin says of links is checked against it.
    links: u32,
    error_memory: Vec<u8>,
    /// Kept for the plugin until `destroy` has returned.
    _host: InstanceHost,
    slot: Arc<CallSlot>,
}

// SAFETY: the ABI lets an instance move between threads as long as one at a time calls it, which `&mut self` ensures;
// the other pointers lead to immutable memory owned by this value.
unsafe impl Send for LoadedArbiter {}

impl LoadedArbiter {
    /// Creates an instance for a fabric; `params` is a JSON object.
    ///
    /// # Errors
    /// What the plugin's `create` answers.
    pub fn create(plugin: &Arc<PluginArbiter>, fabric: &FabricView<'_>, params: &str) -> Result<Self, ArbiterError> {
        let host = InstanceHost::new(&plugin.name);
        let slot = CallSlot::register(plugin.name.clone(), plugin.path.clone());
        let mut state = std::ptr::null_mut();
        let mut error_memory = vec![0; ERROR_CAPACITY];
        let mut err = ErrorBuffer::new(&mut error_memory);
        // SAFETY: all pointers are valid for the call; `params` has the length given.
        let code = slot.run(Call::Create, || unsafe {
            let (text, len) = (params.as_ptr().cast(), params.len());
            (plugin.functions.create)(host.as_ptr(), fabric, text, len, &raw mut state, &raw mut err)
        });
        answer(plugin, Call::Create, code, &err)?;
        let links = u32::try_from(fabric.links()).unwrap_or(u32::MAX);
        Ok(Self { plugin: Arc::clone(plugin), state, stopped: None, links, error_memory, _host: host, slot })
    }

    /// Calls a function of the table, unless the instance has been stopped.
    fn call(
        &mut self,
        call: Call,
        f: impl FnOnce(&Functions, *mut c_void, *mut ErrorBuffer<'_>) -> i32,
    ) -> Result<(), ArbiterError> {
        if let Some(error) = &self.stopped {
            return Err(error.clone());
        }
        let mut err = ErrorBuffer::new(&mut self.error_memory);
        let (functions, state) = (&self.plugin.functions, self.state);
        let code = self.slot.run(call, || f(functions, state, &raw mut err));
        let result = answer(&self.plugin, call, code, &err);
        if code != code::ERROR
            && let Err(error) = &result
        {
            self.stopped = Some(error.clone());
        }
        result
    }

    fn failed(&self, call: Call, what: &str) -> ArbiterError {
        ArbiterError::Failed(format!("{} of {} {what}", call.word(), self.plugin.path.display()))
    }

    /// A binding must name things that exist; whether they fit the transfer is the simulation's check, for all arbiters.
    fn check_bindings(&self, bindings: &[Binding]) -> Result<(), ArbiterError> {
        let wrong = |b: &Binding| {
            (b.link.0 >= self.links && !b.link.is_none()) || (b.by as usize >= bindings.len() && b.by != u32::MAX)
        };
        match bindings.iter().position(wrong) {
            None => Ok(()),
            Some(at) => {
                let Binding { link, by, .. } = bindings[at];
                let what = format!(
                    "binds transfer {at} of {} to link {} and transfer {by}, which do not exist; write WEIR_NONE for none",
                    bindings.len(),
                    link.0
                );
                Err(self.failed(Call::Allocate, &what))
            }
        }
    }
}

/// What a code means.
fn answer(plugin: &PluginArbiter, call: Call, code: i32, err: &ErrorBuffer<'_>) -> Result<(), ArbiterError> {
    if code == code::OK {
        return Ok(());
    }
    let place = || format!("{} of {}", call.word(), plugin.path.display());
    let text = err.text();
    Err(match code {
        code::ERROR if text.is_empty() => ArbiterError::Failed(format!("{} failed without giving a reason", place())),
        code::ERROR if matches!(call, Call::Create | Call::Admit) => ArbiterError::Refused(text),
        code::ERROR => ArbiterError::Failed(text),
        code::PANIC if text.is_empty() => ArbiterError::Panicked(format!("in {}, without a text", place())),
        code::PANIC => ArbiterError::Panicked(format!("{text} (in {})", place())),
        other => {
            let what = format!("{} returned {other}, which is none of 0, 1 and 2; it is not called again", place());
            ArbiterError::Failed(what)
        }
    })
}

impl RateArbiter for LoadedArbiter {
    fn admit(&mut self, route: &[LinkId]) -> Result<(), ArbiterError> {
        // SAFETY: the state is alive; LinkId is transparent over u32, and the slice is valid for the call.
        self.call(Call::Admit, |functions, state, err| unsafe {
            (functions.admit)(state, route.as_ptr().cast(), route.len(), err)
        })
    }

    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), ArbiterError> {
        if grant.rates.len() != phase.len() || grant.bindings.len() != phase.len() {
            return Err(ArbiterError::Failed("the phase and the slots for its rates differ in length".to_owned()));
        }
        let mut recheck = grant.recheck.0;
        // SAFETY: the state is alive; rates and bindings have a slot for each transfer of the phase.
        self.call(Call::Allocate, |functions, state, err| unsafe {
            let (rates, bindings) = (grant.rates.as_mut_ptr(), grant.bindings.as_mut_ptr());
            (functions.allocate)(state, phase, rates, bindings, &raw mut recheck, err)
        })?;
        grant.recheck = SimTime(recheck);
        self.check_bindings(grant.bindings)
    }

    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, ArbiterError> {
        let Some(explain) = self.plugin.functions.explain else { return Ok(false) };
        let mut sink = Sink { steps: Vec::new(), transfers: phase.len(), links: self.links, wrong: None };
        // SAFETY: the state is alive; `emit` casts the sink back to what it is.
        self.call(Call::Explain, |_, state, err| unsafe {
            explain(state, phase, emit, (&raw mut sink).cast::<c_void>(), err)
        })?;
        if let Some(wrong) = sink.wrong {
            return Err(self.failed(Call::Explain, &wrong));
        }
        let explained = !sink.steps.is_empty();
        steps.append(&mut sink.steps);
        Ok(explained)
    }

    fn reset(&mut self) {
        // SAFETY: the state is alive.
        let result = self.call(Call::Reset, |functions, state, err| unsafe { (functions.reset)(state, err) });
        if let Err(error) = result {
            // An instance that could not forget would mix two runs.
            self.stopped = Some(error);
        }
    }
}

impl Drop for LoadedArbiter {
    fn drop(&mut self) {
        let (destroy, state) = (self.plugin.functions.destroy, self.state);
        // SAFETY: `create` succeeded for this state, and a value is dropped once; `_host` outlives this call.
        self.slot.run(Call::Destroy, || unsafe { destroy(state) });
    }
}

/// Takes the steps of an explanation.
struct Sink {
    steps: Vec<Step>,
    transfers: usize,
    links: u32,
    /// The first step that names what does not exist.
    wrong: Option<String>,
}

unsafe extern "C" fn emit(sink: *mut c_void, step: *const StepRecord<'_>) {
    // SAFETY: `sink` is the one handed to `explain`; `step` is valid for this call, as the ABI demands of plugins.
    let (sink, step) = unsafe { (&mut *sink.cast::<Sink>(), &*step) };
    let because = readable(&step.because);
    let exists = |transfer: u32| (transfer as usize) < sink.transfers;
    let link_exists = step.link == u32::MAX || step.link < sink.links;
    if !exists(step.transfer) || !link_exists || !because.iter().all(|&t| exists(t)) {
        sink.wrong.get_or_insert_with(|| {
            format!(
                "emits a step for transfer {} and link {}, or because of transfers, that do not exist",
                step.transfer, step.link
            )
        });
        return;
    }
    sink.steps.push(Step {
        transfer: step.transfer,
        step: String::from_utf8_lossy(readable(&step.step)).into_owned(),
        link: LinkId(step.link),
        rate: step.rate,
        because: because.to_vec(),
    });
}

/// A slice from a plugin, which may be null where it is empty.
fn readable<'a, T>(slice: &Slice<'a, T>) -> &'a [T] {
    if slice.is_null() { &[] } else { slice.as_slice() }
}
