//! The table of an arbiter written in Rust: C functions around it.
//!
//! The callers' duties (the safety contract of every function here) are those of `weir_plugin.h`: `state` comes from
//! `create` of the same table and was not destroyed; views, buffers and slots are valid for the call and not shared with
//! another thread.

use std::ffi::{c_char, c_void};

use super::guard::{create_instance, drop_instance, guarded, static_text};
use super::table::{ArbiterTable, DescribedArbiterTable, EmitStep, Header, Host, LegendRecord, StepRecord};
use super::{
    ABI_MAJOR, CUT_ANYWHERE_ARBITER_MINOR, DESCRIBED_ARBITER_MINOR, ErrorBuffer, KIND_ARBITER, MAGIC,
    PCIE_ARBITER_MINOR, Slice,
};
use crate::{
    ArbiterPlugin, Binding, FabricView, Flags, Grant, LegendEntry, LinkId, PhaseView, RouteTable, SimTime, Step,
};

impl DescribedArbiterTable {
    /// The table of an arbiter written in Rust. Leaks its texts, so build it once (as [`crate::export_arbiters!`] does). A
    /// text with a NUL inside, or a `params_schema` that panics, leaves a null pointer, which the host refuses.
    #[must_use]
    pub fn of<A: ArbiterPlugin>() -> Self {
        let header = Header {
            magic: MAGIC,
            abi_major: ABI_MAJOR,
            abi_minor: match A::FLAGS {
                flags if flags.contains(Flags::CUT_ANYWHERE) => CUT_ANYWHERE_ARBITER_MINOR,
                flags if flags.contains(Flags::FOR_PCIE) => PCIE_ARBITER_MINOR,
                _ => DESCRIBED_ARBITER_MINOR,
            },
            table_size: size_of::<Self>() as u32,
            view_size: size_of::<PhaseView<'_>>() as u32,
            kind: KIND_ARBITER,
            flags: A::FLAGS.0,
        };
        let arbiter = ArbiterTable {
            header,
            name: static_text(|| A::NAME.to_owned()),
            version: static_text(|| A::VERSION.to_owned()),
            params_schema: static_text(A::params_schema),
            create: Some(create::<A>),
            destroy: Some(destroy::<A>),
            reset: Some(reset::<A>),
            admit: Some(admit::<A>),
            allocate: Some(allocate::<A>),
            explain: Some(explain::<A>),
        };
        Self { arbiter, legend: static_legend(A::legend), capacity: Some(capacity::<A>) }
    }
}

/// A legend that lives as long as the library; null where it is empty or panics.
fn static_legend(legend: fn() -> Vec<LegendEntry>) -> *const LegendRecord {
    let entries = std::panic::catch_unwind(legend).unwrap_or_default();
    if entries.is_empty() {
        return std::ptr::null();
    }
    let record = |LegendEntry { step, short, meaning }| LegendRecord {
        step: static_text(|| step),
        short: static_text(|| short),
        meaning: static_text(|| meaning),
    };
    let end = LegendRecord { step: std::ptr::null(), short: std::ptr::null(), meaning: std::ptr::null() };
    let records: Vec<LegendRecord> = entries.into_iter().map(record).chain([end]).collect();
    records.leak().as_ptr()
}

unsafe extern "C" fn create<A: ArbiterPlugin>(
    _host: *const Host,
    fabric: *const FabricView<'_>,
    params: *const c_char,
    params_len: usize,
    state: *mut *mut c_void,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    unsafe { create_instance(params, params_len, state, &mut *err, |params| A::create(&*fabric, params)) }
}

unsafe extern "C" fn destroy<A: ArbiterPlugin>(state: *mut c_void) {
    // SAFETY: the module's contract.
    unsafe { drop_instance::<A>(state) };
}

unsafe extern "C" fn reset<A: ArbiterPlugin>(state: *mut c_void, err: *mut ErrorBuffer<'_>) -> i32 {
    // SAFETY: the module's contract.
    let (arbiter, err) = unsafe { (&mut *state.cast::<A>(), &mut *err) };
    guarded(err, || {
        arbiter.reset();
        Ok(())
    })
}

unsafe extern "C" fn admit<A: ArbiterPlugin>(
    state: *mut c_void,
    links: *const u32,
    len: usize,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract; LinkId is transparent over u32.
    let (arbiter, links, err) =
        unsafe { (&mut *state.cast::<A>(), std::slice::from_raw_parts(links.cast::<LinkId>(), len), &mut *err) };
    guarded(err, || arbiter.admit(links))
}

unsafe extern "C" fn allocate<A: ArbiterPlugin>(
    state: *mut c_void,
    phase: *const PhaseView<'_>,
    rates: *mut f64,
    bindings: *mut Binding,
    recheck_ps: *mut u64,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let (arbiter, phase, recheck, err) = unsafe { (&mut *state.cast::<A>(), &*phase, &mut *recheck_ps, &mut *err) };
    let len = phase.len();
    // SAFETY: both have as many slots as the phase has transfers, initialised by the host.
    let (rates, bindings) =
        unsafe { (std::slice::from_raw_parts_mut(rates, len), std::slice::from_raw_parts_mut(bindings, len)) };
    guarded(err, || {
        let mut grant = Grant { rates, bindings, recheck: SimTime(*recheck) };
        arbiter.allocate(phase, &mut grant)?;
        *recheck = grant.recheck.0;
        Ok(())
    })
}

unsafe extern "C" fn explain<A: ArbiterPlugin>(
    state: *mut c_void,
    phase: *const PhaseView<'_>,
    emit: EmitStep,
    sink: *mut c_void,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let (arbiter, phase, err) = unsafe { (&mut *state.cast::<A>(), &*phase, &mut *err) };
    guarded(err, || {
        let mut steps = Vec::new();
        if arbiter.explain(phase, &mut steps)? {
            for step in &steps {
                emit_step(step, emit, sink);
            }
        }
        Ok(())
    })
}

unsafe extern "C" fn capacity<A: ArbiterPlugin>(
    state: *mut c_void,
    link: u32,
    routes: *const RouteTable<'_>,
    most: *mut f64,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let (arbiter, routes, most, err) = unsafe { (&mut *state.cast::<A>(), &*routes, &mut *most, &mut *err) };
    guarded(err, || {
        if let Some(capacity) = arbiter.capacity(LinkId(link), routes)? {
            *most = capacity;
        }
        Ok(())
    })
}

fn emit_step(step: &Step, emit: EmitStep, sink: *mut c_void) {
    let record = StepRecord {
        transfer: step.transfer,
        link: step.link.0,
        rate: step.rate,
        step: Slice::from(step.step.as_bytes()),
        because: Slice::from(&step.because),
    };
    // SAFETY: function and sink come together from the host and are valid for the call of `explain`.
    unsafe { emit(sink, &raw const record) };
}
