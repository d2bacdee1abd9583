//! Questions to port arbiters, and their grants, as they travel to a child.

use serde::{Deserialize, Serialize};
use weir_plugin_api::{GrantView, Head, LinkId, PortGrant, SimTime, TransferId};

#[derive(Serialize, Deserialize)]
pub(crate) struct HeadFrame {
    slot: u32,
    channel: u32,
    bytes: u32,
    payload: u32,
    ready: u64,
    visible: u64,
    transfer: u32,
    priority: i32,
    weight: f64,
}

impl From<&Head> for HeadFrame {
    fn from(head: &Head) -> Self {
        let Head { slot, channel, bytes, payload, ready, visible, transfer, priority, weight } = *head;
        let (ready, visible, transfer) = (ready.0, visible.0, transfer.0);
        Self { slot, channel, bytes, payload, ready, visible, transfer, priority, weight }
    }
}

impl From<&HeadFrame> for Head {
    fn from(frame: &HeadFrame) -> Self {
        let HeadFrame { slot, channel, bytes, payload, ready, visible, transfer, priority, weight } = *frame;
        let (ready, visible, transfer) = (SimTime(ready), SimTime(visible), TransferId(transfer));
        Self { slot, channel, bytes, payload, ready, visible, transfer, priority, weight }
    }
}

/// Who asks for an output.
#[derive(Serialize, Deserialize)]
pub(crate) struct GrantFrame {
    out: u32,
    now: u64,
    requesters: u32,
    heads: Vec<HeadFrame>,
}

impl From<&GrantView<'_>> for GrantFrame {
    fn from(ask: &GrantView<'_>) -> Self {
        let heads = ask.heads.iter().map(HeadFrame::from).collect();
        Self { out: ask.out.0, now: ask.now.0, requesters: ask.requesters, heads }
    }
}

impl GrantFrame {
    /// Shows the view to `to`.
    pub(crate) fn show<T>(&self, to: impl FnOnce(&GrantView<'_>) -> T) -> T {
        let heads: Vec<Head> = self.heads.iter().map(Head::from).collect();
        to(&GrantView::new(LinkId(self.out), SimTime(self.now), &heads, self.requesters))
    }
}

/// A grant.
#[derive(Serialize, Deserialize)]
pub(crate) struct CommitFrame {
    out: u32,
    slot: u32,
    bytes: u32,
    requesters: u32,
    heads: Vec<HeadFrame>,
}

impl From<&PortGrant<'_>> for CommitFrame {
    fn from(grant: &PortGrant<'_>) -> Self {
        let heads = grant.heads.iter().map(HeadFrame::from).collect();
        Self { out: grant.out.0, slot: grant.slot, bytes: grant.bytes, requesters: grant.requesters, heads }
    }
}

impl CommitFrame {
    /// Shows the grant to `to`.
    pub(crate) fn show<T>(&self, to: impl FnOnce(&PortGrant<'_>) -> T) -> T {
        let heads: Vec<Head> = self.heads.iter().map(Head::from).collect();
        let (out, heads) = (LinkId(self.out), heads.as_slice().into());
        to(&PortGrant { out, slot: self.slot, bytes: self.bytes, requesters: self.requesters, heads })
    }
}
