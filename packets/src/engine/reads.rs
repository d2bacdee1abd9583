//! Reads: requests one way, and packets that answer them the other way.
//!
//! ```text
//!  destination ──requests, header only──► source      at most `tags` of them unanswered
//!  destination ◄──packets with the data── source      each request `service` after it has come
//! ```
//!
//! The requests of a read are a transfer of their own, of one unit each, with a number of their own. The packets that answer
//! are those of the read itself: they leave as they are asked for, and none belongs to two requests.

use super::stalls::{Reason, push_reason};
use super::{Engine, HeldCause, PacketError, REQUESTS, ReadSpec, TransferSpec};

/// What a source has been asked for.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// Bytes of a request.
    pub(super) request: u64,
    service: u64,
    /// Bytes asked for that have no packet yet.
    pub(super) pending: u64,
    /// Since when there has been nothing to send, and why the next request had not come.
    idle: Option<(u64, Option<Reason>)>,
}

impl Asked {
    /// Bytes of the largest packet that can be sent now, after so many bytes of the transfer.
    pub(super) fn piece(&self, sent: u64) -> u64 {
        let of_this_request = self.request - sent % self.request;
        of_this_request.min(self.pending)
    }

    /// Appends what later grants depend on, after so many bytes of the transfer.
    pub(super) fn state(&self, now: u64, sent: u64, to: &mut Vec<u64>) {
        to.extend([self.pending, sent % self.request]);
        let Some((since, reason)) = self.idle else { return to.push(u64::MAX) };
        to.push(since.saturating_sub(now));
        push_reason(reason, to);
    }

    /// Since when there has been nothing to send, and why.
    pub(super) fn idle(&self) -> Option<(u64, Option<Reason>)> {
        self.idle
    }

    /// Since when there has been nothing to send.
    pub(super) fn idle_since(&mut self) -> Option<&mut u64> {
        self.idle.as_mut().map(|(since, _)| since)
    }
}

impl Engine {
    /// Sends the first request of a read that has begun.
    pub(super) fn begin_read(
        &mut self,
        now: u64,
        id: u32,
        spec: &TransferSpec<'_>,
        read: &ReadSpec<'_>,
    ) -> Result<(), PacketError> {
        let request = u64::from(read.request.max(1));
        let asked = Asked { request, service: read.service, pending: 0, idle: Some((now, None)) };
        let transfer = self.transfer_mut(id);
        (transfer.header, transfer.window) = (read.header, u64::MAX);
        transfer.read = Some(Box::new(asked));
        let requests = TransferSpec {
            bytes: spec.bytes.div_ceil(request),
            route: read.route,
            channel: read.channel,
            interval: 0,
            window: Some(u64::from(read.tags)),
            read: None,
            ..*spec
        };
        let number = id | REQUESTS;
        let mut requests = self.begin(now, number, &requests)?;
        requests.payload = 1;
        let node = self.ports[requests.first as usize].wire.from;
        self.transfers.insert(number, requests);
        self.source_ready(now, now, node, number);
        Ok(())
    }

    /// How long after it has come a request is answered.
    pub(super) fn service(&self, id: u32) -> u64 {
        self.transfer(id & !REQUESTS).read.as_ref().map_or(0, |asked| asked.service)
    }

    /// The source of a read turns to the next request.
    pub(super) fn request_came(&mut self, now: u64, id: u32) {
        let transfer = self.transfer_mut(id);
        let (unasked, node) = (transfer.left, transfer.first);
        let Some(asked) = &mut transfer.read else { return };
        let was_empty = asked.pending == 0;
        asked.pending += asked.request.min(unasked - asked.pending);
        if !was_empty {
            return;
        }
        if let Some((since, Some((cause, link, by)))) = asked.idle.take()
            && now > since
        {
            self.transfer_mut(id).held.add((cause, link, by), now - since);
        }
        let node = self.ports[node as usize].wire.from;
        self.source_ready(now, now, node, id);
    }

    /// A request was held up until `now`: the source of its read has waited with it if it has had nothing to send.
    pub(super) fn request_waited(&mut self, now: u64, number: u32, (reason, time): (Reason, u64)) {
        let read = self.transfer_mut(number & !REQUESTS);
        let Some(asked) = &mut read.read else { return };
        // Others wait with it: each moment counts once.
        if let Some((since, None)) = &mut asked.idle
            && now > *since
        {
            read.held.add(reason, time.min(now - *since));
            *since = now;
        }
    }

    /// Nothing more is asked of the source of a read: notes why, until a request comes.
    pub(super) fn nothing_asked(&mut self, now: u64, id: u32) {
        let since = self.ports[self.transfer(id).first as usize].own_end(now, id);
        let number = id | REQUESTS;
        let requests = self.transfer(number);
        let reason = if requests.shut.is_some() {
            Some((HeldCause::Tags, requests.first, super::NONE))
        } else if requests.is_asking {
            Some(self.reason(now, number))
        } else {
            None
        };
        if let Some(asked) = &mut self.transfer_mut(id).read {
            asked.idle = Some((since, reason));
        }
    }
}
