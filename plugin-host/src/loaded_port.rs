//! A port arbiter of a shared library, behind the same trait as a built-in one.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use weir_plugin_api::abi::{ChooseFn, CommitFn, CreateFn, DestroyFn, NO_STATE, PortStateFn};
use weir_plugin_api::{CallError, FabricView, GrantView, LinkId, MakePort, NO_SLOT, PortArbiter, PortGrant};

use crate::call::Call;
use crate::instance::Instance;

/// Words of the state of an output at most (*assumed*: four for each of the 4096 requesters that an output can have).
pub(crate) const MOST_WORDS: usize = 4 * 4096;
/// Words behind them that a plugin must leave as they are, and what they hold: a short overrun is noticed.
const GUARDS: usize = 16;
const GUARD: u64 = 0x5745_4952_4755_4152;

/// The functions of a checked table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortFunctions {
    pub(crate) create: CreateFn,
    pub(crate) destroy: DestroyFn,
    pub(crate) choose: ChooseFn,
    pub(crate) commit: CommitFn,
    pub(crate) state: Option<PortStateFn>,
}

/// Makes instances of the port arbiter `name` of the library at `path`.
pub(crate) fn maker(name: &str, path: &Path, functions: PortFunctions) -> MakePort {
    let (name, path) = (name.to_owned(), path.to_owned());
    Arc::new(move |fabric, params| Ok(Box::new(LoadedPort::create(&name, &path, functions, fabric, params)?)))
}

/// An instance of a plugin's port arbiter. After a panic it is never called again, but for `destroy` when it is dropped.
///
/// Whether the slot that it chooses asks is the packet engine's check, for all port arbiters.
struct LoadedPort {
    functions: PortFunctions,
    /// Choosing leaves the policy as it is; what is noted about the call changes.
    inner: RefCell<Inner>,
}

struct Inner {
    instance: Instance,
    /// Room for a state, and guards behind it; empty before it is needed.
    words: Vec<u64>,
}

impl LoadedPort {
    /// Creates an instance for a fabric; `params` is a JSON object.
    fn create(
        name: &str,
        path: &Path,
        functions: PortFunctions,
        fabric: &FabricView<'_>,
        params: &str,
    ) -> Result<Self, CallError> {
        let instance = Instance::create(name, path, functions.destroy, |host, state, err| {
            // SAFETY: all pointers are valid for the call; `params` has the length given.
            unsafe { (functions.create)(host, fabric, params.as_ptr().cast(), params.len(), state, err) }
        })?;
        Ok(Self { functions, inner: RefCell::new(Inner { instance, words: Vec::new() }) })
    }
}

impl PortArbiter for LoadedPort {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        let (choose, mut slot) = (self.functions.choose, NO_SLOT);
        let instance = &mut self.inner.borrow_mut().instance;
        // SAFETY: the state is alive; the view is valid for the call, and `slot` a slot.
        instance.call(Call::Choose, |state, err| unsafe { choose(state, ask, &raw mut slot, err) })?;
        Ok(slot)
    }

    fn commit(&mut self, grant: &PortGrant<'_>) -> Result<(), CallError> {
        let commit = self.functions.commit;
        let instance = &mut self.inner.get_mut().instance;
        // SAFETY: the state is alive; the one grant is valid for the call.
        instance.call(Call::Commit, |state, err| unsafe { commit(state, grant, 1, err) })
    }

    fn state(&self, out: LinkId, to: &mut Vec<u64>) -> Result<bool, CallError> {
        let Some(f) = self.functions.state else { return Ok(false) };
        let Inner { instance, words } = &mut *self.inner.borrow_mut();
        words.resize(MOST_WORDS + GUARDS, GUARD);
        let (mut n, data) = (NO_STATE, words.as_mut_ptr());
        // SAFETY: the state is alive; there is room for more words than are allowed, all of them initialised.
        instance.call(Call::State, |state, err| unsafe { f(state, out.0, data, MOST_WORDS, &raw mut n, err) })?;
        if n == NO_STATE {
            return Ok(false);
        }
        if n > MOST_WORDS || words[MOST_WORDS..].iter().any(|&word| word != GUARD) {
            let error = instance.failed(Call::State, &format!("writes more than the {MOST_WORDS} words of a state"));
            instance.stop(error.clone());
            return Err(error);
        }
        to.extend_from_slice(&words[..n]);
        Ok(true)
    }
}
