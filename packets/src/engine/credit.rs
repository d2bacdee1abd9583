//! Credit: how much room the near end of a link knows of at the far end.

use super::Returns;

/// Credit of one link and channel.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    /// Bytes of the buffer; `None` for one that is never full.
    buffer: Option<u64>,
    available: u64,
    /// Room that the near end will know of, by time.
    returns: Returns,
    /// Bytes in the buffer or on their way to it.
    pub(super) inside: u64,
}

impl Credit {
    pub(super) fn new(buffer: Option<u64>) -> Self {
        Self { buffer, available: buffer.unwrap_or(0), returns: Returns::new(), inside: 0 }
    }

    /// Whether there is room for `bytes` at `now`.
    pub(super) fn allows(&mut self, now: u64, bytes: u64) -> bool {
        self.drain(now);
        self.buffer.is_none() || self.available >= bytes
    }

    /// When there will be room for `bytes`; `None` where that depends on what is not yet granted.
    pub(super) fn allows_at(&self, bytes: u64) -> Option<u64> {
        let mut available = self.available;
        for &(time, returned) in &self.returns {
            available += returned;
            if available >= bytes {
                return Some(time);
            }
        }
        None
    }

    /// Whether the near end knows of no room for `bytes` at `now`.
    pub(super) fn is_full(&self, now: u64, bytes: u64) -> bool {
        let known = || self.returns.iter().take_while(|known| known.0 <= now).map(|known| known.1).sum::<u64>();
        self.buffer.is_some() && self.available < bytes && self.available + known() < bytes
    }

    pub(super) fn take(&mut self, bytes: u64) {
        self.inside += bytes;
        if self.buffer.is_some() {
            debug_assert!(self.available >= bytes, "a grant has credit");
            self.available -= bytes;
        }
    }

    /// Room of `bytes` is free; the near end knows at `time`.
    pub(super) fn give(&mut self, time: u64, bytes: u64) {
        self.inside -= bytes;
        if self.buffer.is_none() {
            return;
        }
        // Nearly always the latest: inputs that send to several outputs at once can free room out of order.
        if self.returns.back().is_none_or(|last| last.0 <= time) {
            return self.returns.push_back((time, bytes));
        }
        let behind = self.returns.iter().rev().take_while(|known| known.0 > time).count();
        self.returns.insert(self.returns.len() - behind, (time, bytes));
    }

    fn drain(&mut self, now: u64) {
        while self.returns.front().is_some_and(|first| first.0 <= now) {
            self.available += self.returns.pop_front().map_or(0, |first| first.1);
        }
    }

    /// Appends what later grants depend on, times relative to now.
    pub(super) fn state(&mut self, now: u64, to: &mut Vec<u64>) {
        self.drain(now);
        to.extend([self.available, self.inside]);
        to.extend(self.returns.iter().flat_map(|&(time, bytes)| [time - now, bytes]));
        to.push(u64::MAX);
    }

    /// Moves what is under way by `span`.
    pub(super) fn shift(&mut self, span: u64) {
        self.returns.iter_mut().for_each(|known| known.0 += span);
    }

    /// Whether all of it is at the near end.
    pub(super) fn is_home(&mut self, now: u64) -> bool {
        self.drain(now);
        self.inside == 0 && self.buffer.is_none_or(|buffer| buffer == self.available)
    }
}
