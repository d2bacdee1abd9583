//! The table of a model written in Rust: C functions around it.
//!
//! The callers' duties (the safety contract of every function here) are those of `weir_plugin.h`: `state` comes from
//! `create` of the same table and was not destroyed; texts, surroundings, sinks and buffers are valid for the call and not
//! shared with another thread.

use std::ffi::{c_char, c_void};

use super::error::{ErrorBuffer, code};
use super::guard::{drop_instance, guarded, static_text, text_of};
use super::model_table::{
    AlternativeRecord, Chooser, EngineRecord, EstimateRecord, Estimator, ModelTable, Planner, SurroundingsRecord,
    TaskRecord, WaitRecord, scope, work,
};
use super::table::{Header, Host};
use super::{ABI_MAJOR, KIND_MODEL, MAGIC, MODEL_MINOR, Slice};
use crate::{
    Alternative, CallError, EngineScope, Estimate, Estimates, ModelPlugin, NodeId, Plan, PlannedEngine, PlannedTask,
    PlannedWork, RouteInfo, RouteLookup, Surroundings, Wait,
};

impl ModelTable {
    /// The table of a model written in Rust. Leaks the four texts, so build it once (as [`crate::export_models!`] does). A
    /// text with a NUL inside, or a `schema` that panics, leaves a null pointer, which the host refuses.
    #[must_use]
    pub fn of<M: ModelPlugin>() -> Self {
        Self {
            header: Header {
                magic: MAGIC,
                abi_major: ABI_MAJOR,
                abi_minor: MODEL_MINOR,
                table_size: size_of::<Self>() as u32,
                view_size: size_of::<TaskRecord<'_>>() as u32,
                kind: KIND_MODEL,
                flags: 0,
            },
            name: static_text(|| M::NAME.to_owned()),
            version: static_text(|| M::VERSION.to_owned()),
            operations: static_text(|| M::OPERATIONS.join(" ")),
            schema: static_text(M::schema),
            create: Some(create::<M>),
            destroy: Some(destroy::<M>),
            plan: Some(plan::<M>),
            estimate: Some(estimate::<M>),
            alternatives: Some(alternatives::<M>),
        }
    }
}

/// Asks the host for routes.
struct HostRoutes<'a>(&'a SurroundingsRecord<'a>);

impl RouteLookup for HostRoutes<'_> {
    fn route(&self, from: NodeId, to: NodeId) -> Option<RouteInfo> {
        let mut info = RouteInfo { bandwidth: 0.0, latency_ps: 0.0, links: 0 };
        // SAFETY: the record comes with its function from the host and is valid for the call that shows it.
        let found = unsafe { (self.0.route)(std::ptr::from_ref(self.0), from.0, to.0, &raw mut info) };
        (found != 0).then_some(info)
    }
}

unsafe extern "C" fn create<M: ModelPlugin>(
    _host: *const Host,
    state: *mut *mut c_void,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let err = unsafe { &mut *err };
    guarded(err, || {
        let model = Box::new(M::create()?);
        // SAFETY: `state` is a slot of the host's.
        unsafe { *state = Box::into_raw(model).cast() };
        Ok(())
    })
}

unsafe extern "C" fn destroy<M: ModelPlugin>(state: *mut c_void) {
    // SAFETY: the module's contract.
    unsafe { drop_instance::<M>(state) };
}

/// What the three calls about an operation share: texts and views from pointers, and the guard.
///
/// # Safety
/// The module's contract.
unsafe fn about<M: ModelPlugin>(
    state: *mut c_void,
    operation: *const c_char,
    len: usize,
    surroundings: *const SurroundingsRecord<'_>,
    err: *mut ErrorBuffer<'_>,
    call: impl FnOnce(&mut M, &str, &Surroundings<'_>) -> Result<(), CallError>,
) -> i32 {
    // SAFETY: by contract; the fabric is valid as long as the record that points to it.
    let (model, surroundings, err) = unsafe { (&mut *state.cast::<M>(), &*surroundings, &mut *err) };
    guarded(err, || {
        // SAFETY: by contract.
        let (operation, fabric) =
            unsafe { (text_of(operation, len, "the text of the operation")?, &*surroundings.fabric) };
        call(model, operation, &Surroundings { fabric, routes: &HostRoutes(surroundings) })
    })
}

unsafe extern "C" fn plan<M: ModelPlugin>(
    state: *mut c_void,
    operation: *const c_char,
    len: usize,
    surroundings: *const SurroundingsRecord<'_>,
    planner: *const Planner,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    let call = |model: &mut M, operation: &str, surroundings: &Surroundings<'_>| -> Result<(), CallError> {
        let mut plan = Plan::new();
        model.plan(operation, surroundings, &mut plan)?;
        // The host has noted why it refused a record; nothing is left to do then.
        let _ = plan.engines().iter().all(|engine| emit_engine(planner, engine))
            && plan.iter().all(|task| emit_task(planner, &task));
        Ok(())
    };
    // SAFETY: the module's contract.
    unsafe { about(state, operation, len, surroundings, err, call) }
}

fn emit_engine(planner: *const Planner, engine: &PlannedEngine) -> bool {
    let (scope, device) = match engine.scope {
        EngineScope::Device(device) => (scope::DEVICE, device),
        EngineScope::Operation => (scope::OPERATION, NodeId::NONE),
    };
    let name = Slice::from(engine.name.as_bytes());
    let record = EngineRecord { name, slots: engine.slots, scope, device: device.0 };
    // SAFETY: the planner is the host's and valid for the call of `plan`.
    unsafe { ((*planner).emit_engine)(planner, &raw const record) != u32::MAX }
}

fn emit_task(planner: *const Planner, task: &PlannedTask<'_>) -> bool {
    // SAFETY: `Wait` and `WaitRecord` have the same layout (asserted below), and every moment is a number.
    let waits = unsafe { std::slice::from_raw_parts(task.waits.as_ptr().cast::<WaitRecord>(), task.waits.len()) };
    let mut record = TaskRecord {
        name: Slice::from(task.name.as_bytes()),
        waits: Slice::from(waits),
        engine: task.engine.unwrap_or(u32::MAX),
        queue: task.queue as u32,
        class: task.class,
        work: work::NOTHING,
        lead_ps: task.lead_ps,
        gap_ps: task.gap_ps,
        lasts_ps: 0.0,
        from: u32::MAX,
        to: u32::MAX,
        bytes: 0,
        limit: f64::INFINITY,
    };
    match task.work {
        PlannedWork::Nothing => {}
        PlannedWork::Lasts(ps) => (record.work, record.lasts_ps) = (work::LASTS, ps),
        PlannedWork::Carries { from, to, bytes, limit } => {
            record = TaskRecord { work: work::CARRIES, from: from.0, to: to.0, bytes, limit, ..record };
        }
    }
    // SAFETY: as in `emit_engine`.
    unsafe { ((*planner).emit_task)(planner, &raw const record) != u32::MAX }
}

const _: () = assert!(size_of::<Wait>() == size_of::<WaitRecord>() && align_of::<Wait>() == align_of::<WaitRecord>());

unsafe extern "C" fn estimate<M: ModelPlugin>(
    state: *mut c_void,
    operation: *const c_char,
    len: usize,
    surroundings: *const SurroundingsRecord<'_>,
    estimator: *const Estimator,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    let call = |model: &mut M, operation: &str, surroundings: &Surroundings<'_>| -> Result<(), CallError> {
        let mut estimates = Estimates::default();
        model.estimate(operation, surroundings, &mut estimates)?;
        let details = &estimates.details;
        // SAFETY: the estimator is the host's and valid for the call of `estimate`.
        let _ = estimates.list.iter().all(|estimate| emit_estimate(estimator, estimate))
            && (details.is_empty()
                || unsafe {
                    ((*estimator).emit_details)(estimator, details.as_ptr().cast(), details.len()) == code::OK
                });
        Ok(())
    };
    // SAFETY: the module's contract.
    unsafe { about(state, operation, len, surroundings, err, call) }
}

fn emit_estimate(estimator: *const Estimator, estimate: &Estimate) -> bool {
    let record = EstimateRecord {
        formula: Slice::from(estimate.formula.as_bytes()),
        because: Slice::from(estimate.because.as_bytes()),
        seconds: estimate.seconds,
        relation: estimate.relation as u32,
    };
    // SAFETY: the estimator is the host's and valid for the call of `estimate`.
    unsafe { ((*estimator).emit_estimate)(estimator, &raw const record) == code::OK }
}

unsafe extern "C" fn alternatives<M: ModelPlugin>(
    state: *mut c_void,
    operation: *const c_char,
    len: usize,
    surroundings: *const SurroundingsRecord<'_>,
    chooser: *const Chooser,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    let call = |model: &mut M, operation: &str, surroundings: &Surroundings<'_>| -> Result<(), CallError> {
        let mut alternatives = Vec::new();
        model.alternatives(operation, surroundings, &mut alternatives)?;
        let _ = alternatives.iter().all(|alternative| emit_alternative(chooser, alternative));
        Ok(())
    };
    // SAFETY: the module's contract.
    unsafe { about(state, operation, len, surroundings, err, call) }
}

fn emit_alternative(chooser: *const Chooser, alternative: &Alternative) -> bool {
    let record = AlternativeRecord {
        label: Slice::from(alternative.label.as_bytes()),
        operation: Slice::from(alternative.operation.as_bytes()),
    };
    // SAFETY: the chooser is the host's and valid for the call of `alternatives`.
    unsafe { ((*chooser).emit_alternative)(chooser, &raw const record) == code::OK }
}
