//! An arbiter of a shared library, behind the same trait as a built-in one.

use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

use weir_plugin_api::abi::{AdmitFn, AllocateFn, CapacityFn, CreateFn, DestroyFn, ExplainFn, ResetFn, StepRecord};
use weir_plugin_api::{
    Binding, CallError, FabricView, Grant, LinkId, MakeArbiter, PhaseView, RateArbiter, RouteTable, SimTime, Step,
};

use crate::call::Call;
use crate::instance::{Instance, readable};

/// The functions of a checked table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions {
    pub(crate) create: CreateFn,
    pub(crate) destroy: DestroyFn,
    pub(crate) reset: ResetFn,
    pub(crate) admit: AdmitFn,
    pub(crate) allocate: AllocateFn,
    pub(crate) explain: Option<ExplainFn>,
    pub(crate) capacity: Option<CapacityFn>,
}

/// Makes instances of the arbiter `name` of the library at `path`.
pub(crate) fn maker(name: &str, path: &Path, functions: Functions) -> MakeArbiter {
    let (name, path) = (name.to_owned(), path.to_owned());
    Arc::new(move |fabric, params| Ok(Box::new(LoadedArbiter::create(&name, &path, functions, fabric, params)?)))
}

/// An instance of a plugin's arbiter. After a panic it is never called again, but for `destroy` when it is dropped.
struct LoadedArbiter {
    functions: Functions,
    instance: Instance,
    /// Links of the fabric: what a plugin says of links is checked against it.
    links: u32,
}

impl LoadedArbiter {
    /// Creates an instance for a fabric; `params` is a JSON object.
    fn create(
        name: &str,
        path: &Path,
        functions: Functions,
        fabric: &FabricView<'_>,
        params: &str,
    ) -> Result<Self, CallError> {
        let instance = Instance::create(name, path, functions.destroy, |host, state, err| {
            // SAFETY: all pointers are valid for the call; `params` has the length given.
            unsafe { (functions.create)(host, fabric, params.as_ptr().cast(), params.len(), state, err) }
        })?;
        let links = u32::try_from(fabric.links()).unwrap_or(u32::MAX);
        Ok(Self { functions, instance, links })
    }

    /// A binding must name things that exist; whether they fit the transfer is the simulation's check, for all arbiters.
    fn check_bindings(&self, bindings: &[Binding]) -> Result<(), CallError> {
        wrong_binding(bindings, self.links).map_or(Ok(()), |what| Err(self.instance.failed(Call::Allocate, &what)))
    }
}

/// What is wrong with the first binding that names a link or a transfer that does not exist.
pub(crate) fn wrong_binding(bindings: &[Binding], links: u32) -> Option<String> {
    let wrong =
        |b: &Binding| (b.link.0 >= links && !b.link.is_none()) || (b.by as usize >= bindings.len() && b.by != u32::MAX);
    let at = bindings.iter().position(wrong)?;
    let (Binding { link, by, .. }, count) = (bindings[at], bindings.len());
    let (link, none) = (link.0, "which do not exist; write WEIR_NONE for none");
    Some(format!("binds transfer {at} of {count} to link {link} and transfer {by}, {none}"))
}

impl RateArbiter for LoadedArbiter {
    fn admit(&mut self, route: &[LinkId]) -> Result<(), CallError> {
        let admit = self.functions.admit;
        // SAFETY: the state is alive; LinkId is transparent over u32, and the slice is valid for the call.
        self.instance.call(Call::Admit, |state, err| unsafe { admit(state, route.as_ptr().cast(), route.len(), err) })
    }

    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        if grant.rates.len() != phase.len() || grant.bindings.len() != phase.len() {
            return Err(CallError::Failed("the phase and the slots for its rates differ in length".to_owned()));
        }
        let (allocate, mut recheck) = (self.functions.allocate, grant.recheck.0);
        // SAFETY: the state is alive; rates and bindings have a slot for each transfer of the phase.
        self.instance.call(Call::Allocate, |state, err| unsafe {
            let (rates, bindings) = (grant.rates.as_mut_ptr(), grant.bindings.as_mut_ptr());
            allocate(state, phase, rates, bindings, &raw mut recheck, err)
        })?;
        grant.recheck = SimTime(recheck);
        self.check_bindings(grant.bindings)
    }

    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        let Some(explain) = self.functions.explain else { return Ok(false) };
        let mut sink = Sink { steps: Vec::new(), transfers: phase.len(), links: self.links, wrong: None };
        // SAFETY: the state is alive; `emit` casts the sink back to what it is.
        self.instance.call(Call::Explain, |state, err| unsafe {
            explain(state, phase, emit, (&raw mut sink).cast::<c_void>(), err)
        })?;
        if let Some(wrong) = sink.wrong {
            return Err(self.instance.failed(Call::Explain, &wrong));
        }
        let explained = !sink.steps.is_empty();
        steps.append(&mut sink.steps);
        Ok(explained)
    }

    fn capacity(&mut self, link: LinkId, routes: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        let Some(capacity) = self.functions.capacity else { return Ok(None) };
        let mut most = f64::INFINITY;
        // SAFETY: the state is alive; the table of routes is valid for the call, and `most` a slot.
        self.instance
            .call(Call::Capacity, |state, err| unsafe { capacity(state, link.0, routes, &raw mut most, err) })?;
        if most.is_nan() || most <= 0.0 {
            let what = format!("says that link {} can carry {most} B/s; a bound is above 0", link.0);
            return Err(self.instance.failed(Call::Capacity, &what));
        }
        Ok(most.is_finite().then_some(most))
    }

    fn reset(&mut self) {
        let reset = self.functions.reset;
        // SAFETY: the state is alive.
        let result = self.instance.call(Call::Reset, |state, err| unsafe { reset(state, err) });
        if let Err(error) = result {
            // An instance that could not forget would mix two runs.
            self.instance.stop(error);
        }
    }
}

/// Takes the steps of an explanation.
struct Sink {
    steps: Vec<Step>,
    transfers: usize,
    links: u32,
    /// What is wrong with the first wrong step.
    wrong: Option<String>,
}

unsafe extern "C" fn emit(sink: *mut c_void, step: *const StepRecord<'_>) {
    // SAFETY: `sink` is the one handed to `explain`; `step` is valid for this call, as the ABI demands of plugins.
    let (sink, step) = unsafe { (&mut *sink.cast::<Sink>(), &*step) };
    let step = Step {
        transfer: step.transfer,
        region: 0,
        step: String::from_utf8_lossy(readable(&step.step)).into_owned(),
        link: LinkId(step.link),
        rate: step.rate,
        because: readable(&step.because).to_vec(),
    };
    match wrong_step(&step, sink.transfers, sink.links) {
        Some(wrong) => _ = sink.wrong.get_or_insert(wrong),
        None => sink.steps.push(step),
    }
}

/// What is wrong with a step of an explanation: it names what does not exist, or its rate is none.
pub(crate) fn wrong_step(step: &Step, transfers: usize, links: u32) -> Option<String> {
    let (transfer, link, rate) = (step.transfer, step.link, step.rate);
    let exists = |transfer: u32| (transfer as usize) < transfers;
    if !exists(transfer) || (link.0 >= links && !link.is_none()) || !step.because.iter().all(|&t| exists(t)) {
        let what = "or because of transfers, that do not exist";
        return Some(format!("emits a step for transfer {transfer} and link {}, {what}", link.0));
    }
    let is_rate = rate.is_finite() && rate >= 0.0;
    (!is_rate).then(|| format!("emits a step for transfer {transfer} with {rate} B/s; a rate is finite and at least 0"))
}

#[cfg(test)]
mod tests {
    use weir_plugin_api::Cause;

    use super::*;

    /// Of two transfers and three links.
    #[test]
    fn bindings_name_links_and_transfers_that_exist() {
        let wrong = |link: u32, by: u32| {
            let one = Binding::new(LinkId(link), Cause::SharedLink, by);
            wrong_binding(&[Binding::NONE, one], 3)
        };
        for (link, by) in [(0, 0), (2, 1), (u32::MAX, u32::MAX), (2, u32::MAX), (u32::MAX, 1)] {
            assert_eq!(wrong(link, by), None, "{link} {by}");
        }
        for (link, by) in [(3, 0), (3, u32::MAX), (0, 2), (u32::MAX, 2), (3, 2)] {
            let what = wrong(link, by).unwrap_or_else(|| panic!("{link} {by}"));
            assert!(what.starts_with("binds transfer 1 of 2 "), "{what}");
        }
    }

    #[test]
    fn steps_name_what_exists_and_have_a_rate() {
        let wrong = |transfer: u32, link: u32, rate: f64, because: &[u32]| {
            let (step, because) = ("share".to_owned(), because.to_vec());
            wrong_step(&Step { transfer, region: 0, step, link: LinkId(link), rate, because }, 2, 3).is_some()
        };
        for (transfer, link, rate, because) in
            [(0, 0, 0.0, &[][..]), (1, 2, 0.5, &[0, 1]), (1, u32::MAX, 1e300, &[1]), (0, 0, f64::MIN_POSITIVE, &[])]
        {
            assert!(!wrong(transfer, link, rate, because), "{transfer} {link} {rate} {because:?}");
        }
        for (transfer, link, rate, because) in [
            (2, 0, 1.0, &[][..]),
            (0, 3, 1.0, &[]),
            (0, 0, 1.0, &[0, 2]),
            (0, 0, -0.5, &[]),
            (0, 0, f64::INFINITY, &[]),
            (0, 0, f64::NAN, &[]),
            (2, 3, 1.0, &[]),
            (2, u32::MAX, 1.0, &[]),
            (u32::MAX, 0, 1.0, &[]),
        ] {
            assert!(wrong(transfer, link, rate, because), "{transfer} {link} {rate} {because:?}");
        }
    }
}
