//! The table of a port arbiter written in Rust: C functions around it. Their callers' duties are those of `shims`.

use std::ffi::{c_char, c_void};

use super::guard::{create_instance, drop_instance, guarded, static_text};
use super::port_table::PortArbiterTable;
use super::{ABI_MAJOR, ErrorBuffer, Header, Host, KIND_PORT_ARBITER, MAGIC, PORT_ARBITER_MINOR};
use crate::{FabricView, GrantView, LinkId, PortArbiterPlugin, PortGrant};

impl PortArbiterTable {
    /// The table of a port arbiter written in Rust. Leaks its texts, so build it once (as [`crate::export_port_arbiters!`]
    /// does). A text with a NUL inside, or a `params_schema` that panics, leaves a null pointer, which the host refuses.
    #[must_use]
    pub fn of<A: PortArbiterPlugin>() -> Self {
        let header = Header {
            magic: MAGIC,
            abi_major: ABI_MAJOR,
            abi_minor: PORT_ARBITER_MINOR,
            table_size: size_of::<Self>() as u32,
            view_size: size_of::<GrantView<'_>>() as u32,
            kind: KIND_PORT_ARBITER,
            flags: A::FLAGS.0,
        };
        Self {
            header,
            name: static_text(|| A::NAME.to_owned()),
            version: static_text(|| A::VERSION.to_owned()),
            params_schema: static_text(A::params_schema),
            create: Some(create::<A>),
            destroy: Some(destroy::<A>),
            reset: None,
            choose: Some(choose::<A>),
            commit: Some(commit::<A>),
            state: Some(state::<A>),
            description: static_text(|| A::DESCRIPTION.to_owned()),
        }
    }
}

unsafe extern "C" fn create<A: PortArbiterPlugin>(
    _host: *const Host,
    fabric: *const FabricView<'_>,
    params: *const c_char,
    params_len: usize,
    state: *mut *mut c_void,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the contract of `shims`.
    unsafe { create_instance(params, params_len, state, &mut *err, |params| A::create(&*fabric, params)) }
}

unsafe extern "C" fn destroy<A: PortArbiterPlugin>(state: *mut c_void) {
    // SAFETY: the contract of `shims`.
    unsafe { drop_instance::<A>(state) };
}

unsafe extern "C" fn choose<A: PortArbiterPlugin>(
    state: *mut c_void,
    view: *const GrantView<'_>,
    slot: *mut u32,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the contract of `shims`.
    let (arbiter, view, slot, err) = unsafe { (&*state.cast::<A>(), &*view, &mut *slot, &mut *err) };
    guarded(err, || {
        *slot = arbiter.choose(view)?;
        Ok(())
    })
}

unsafe extern "C" fn commit<A: PortArbiterPlugin>(
    state: *mut c_void,
    grants: *const PortGrant<'_>,
    n: usize,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the contract of `shims`; `grants` points to `n` of them.
    let (arbiter, grants, err) = unsafe { (&mut *state.cast::<A>(), std::slice::from_raw_parts(grants, n), &mut *err) };
    guarded(err, || grants.iter().try_for_each(|grant| arbiter.commit(grant)))
}

unsafe extern "C" fn state<A: PortArbiterPlugin>(
    state: *mut c_void,
    out: u32,
    to: *mut u64,
    cap: usize,
    n: *mut usize,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the contract of `shims`; `to` has room for `cap` words, initialised by the host.
    let (arbiter, to, n, err) =
        unsafe { (&*state.cast::<A>(), std::slice::from_raw_parts_mut(to, cap), &mut *n, &mut *err) };
    guarded(err, || {
        let mut words = Vec::new();
        if arbiter.state(LinkId(out), &mut words)? {
            let kept = words.len().min(to.len());
            to[..kept].copy_from_slice(&words[..kept]);
            *n = words.len();
        }
        Ok(())
    })
}
