//! A port arbiter of a child, behind the same trait as a built-in one.

use std::cell::RefCell;
use std::sync::Arc;

use weir_plugin_api::{CallError, FabricView, Flags, GrantView, LinkId, PortArbiter, PortEntry, PortGrant};

use super::ports::CommitFrame;
use super::remote::{Plugin, Remote};
use super::views::SentFabric;
use super::wire::{Ask, PortListing, Tell};
use crate::call::Call;
use crate::failures;
use crate::loaded_port::MOST_WORDS;

/// Grants that travel together at most (*assumed*: a question to the child costs as much as the text of about so many).
const MOST_PENDING: usize = 1024;

pub(super) fn port_entry(plugin: &Arc<Plugin>, listed: PortListing) -> PortEntry {
    let (name, of) = (listed.name.clone(), Arc::clone(plugin));
    PortEntry {
        name: listed.name,
        version: listed.version,
        description: listed.description,
        flags: Flags(listed.flags),
        params_schema: listed.params_schema,
        origin: plugin.origin(),
        make: Arc::new(move |fabric, params| Ok(Box::new(RemotePort::create(&of, &name, fabric, params)?))),
    }
}

/// Grants are told to the child with the next question: it cannot answer differently before that.
struct RemotePort(RefCell<Inner>);

struct Inner {
    remote: Remote,
    pending: Vec<CommitFrame>,
}

impl RemotePort {
    fn create(plugin: &Arc<Plugin>, name: &str, fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
        let mut remote = Remote::start(plugin, name)?;
        let fabric = SentFabric::default().frame(fabric);
        remote.done(Call::Create, &Ask::CreatePort { name: name.to_owned(), fabric, params: params.to_owned() })?;
        Ok(Self(RefCell::new(Inner { remote, pending: Vec::new() })))
    }
}

impl Inner {
    /// Tells the child of all grants.
    fn flush(&mut self) -> Result<(), CallError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.remote.done(Call::Commit, &Ask::Commit(std::mem::take(&mut self.pending)))
    }
}

impl PortArbiter for RemotePort {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        let mut inner = self.0.borrow_mut();
        let grants = std::mem::take(&mut inner.pending);
        let call = if grants.is_empty() { Call::Choose } else { Call::CommitOrChoose };
        match inner.remote.ask(call, &Ask::Choose { grants, view: ask.into() }, None)? {
            Tell::Slot(slot) => Ok(slot),
            _ => Err(inner.remote.senseless(Call::Choose)),
        }
    }

    fn commit(&mut self, grant: &PortGrant<'_>) -> Result<(), CallError> {
        let inner = self.0.get_mut();
        inner.pending.push(grant.into());
        if inner.pending.len() < MOST_PENDING { Ok(()) } else { inner.flush() }
    }

    fn state(&self, out: LinkId, to: &mut Vec<u64>) -> Result<bool, CallError> {
        let mut inner = self.0.borrow_mut();
        inner.flush()?;
        match inner.remote.ask(Call::State, &Ask::PortState(out.0), None)? {
            Tell::State(None) => Ok(false),
            Tell::State(Some(words)) if words.len() <= MOST_WORDS => {
                to.extend(words);
                Ok(true)
            }
            _ => Err(inner.remote.senseless(Call::State)),
        }
    }
}

impl Drop for RemotePort {
    fn drop(&mut self) {
        let inner = self.0.get_mut();
        // Why it is asked no more was the answer of an earlier call.
        if !inner.remote.is_stopped()
            && let Err(error) = inner.flush()
        {
            failures::note(inner.remote.name(), error);
        }
    }
}
