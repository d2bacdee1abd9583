//! Credit: how much room the near end of a link knows of at the far end.

use std::collections::VecDeque;

/// Room for packets, or for pieces of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Room {
    pub(super) bytes: u64,
    /// Headers that are counted apart from bytes.
    headers: u32,
}

/// Credit of one link and channel.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    /// Of the buffer; `None` for one that is never full.
    buffer: Option<Room>,
    /// Whether headers have credit of their own; else they are bytes as any.
    counts_headers: bool,
    available: Room,
    /// Room that the near end will know of, by time.
    returns: VecDeque<(u64, Room)>,
    /// Bytes in the buffer or on their way to it.
    pub(super) inside: u64,
}

impl Credit {
    /// For a buffer of `bytes`, or where there are `headers` for that many packets with bytes of payload.
    pub(super) fn new(bytes: Option<u64>, headers: Option<u32>) -> Self {
        let buffer = match (bytes, headers) {
            (None, None) => None,
            _ => Some(Room { bytes: bytes.unwrap_or(u64::MAX / 2), headers: headers.unwrap_or(0) }),
        };
        let available = buffer.unwrap_or_default();
        Self { buffer, counts_headers: headers.is_some(), available, returns: VecDeque::new(), inside: 0 }
    }

    /// What `payload` takes, with a header of `header` bytes if it comes with one.
    #[inline]
    pub(super) fn room(&self, payload: u32, header: Option<u32>) -> Room {
        if self.counts_headers {
            return Room { bytes: u64::from(payload), headers: u32::from(header.is_some()) };
        }
        Room { bytes: u64::from(payload) + u64::from(header.unwrap_or(0)), headers: 0 }
    }

    /// Whether there is `room` at `now`.
    #[inline]
    pub(super) fn allows(&mut self, now: u64, room: Room) -> bool {
        self.drain(now);
        self.buffer.is_none() || self.available.has(room)
    }

    /// When there will be `room`; `None` where that depends on what is not yet granted.
    pub(super) fn allows_at(&self, room: Room) -> Option<u64> {
        let mut available = self.available;
        for &(time, returned) in &self.returns {
            available.add(returned);
            if available.has(room) {
                return Some(time);
            }
        }
        None
    }

    /// Whether the near end knows of no `room` at `now`.
    pub(super) fn is_full(&self, now: u64, room: Room) -> bool {
        let mut available = self.available;
        self.returns.iter().take_while(|known| known.0 <= now).for_each(|known| available.add(known.1));
        self.buffer.is_some() && !available.has(room)
    }

    pub(super) fn take(&mut self, room: Room) {
        self.inside += room.bytes;
        if self.buffer.is_some() {
            debug_assert!(self.available.has(room), "a grant has credit");
            self.available.bytes -= room.bytes;
            self.available.headers -= room.headers;
        }
    }

    /// Room is free; the near end knows at `time`.
    pub(super) fn give(&mut self, time: u64, room: Room) {
        self.inside -= room.bytes;
        if self.buffer.is_none() {
            return;
        }
        // Nearly always the latest: inputs that send to several outputs at once can free room out of order.
        if self.returns.back().is_none_or(|last| last.0 <= time) {
            return self.returns.push_back((time, room));
        }
        let behind = self.returns.iter().rev().take_while(|known| known.0 > time).count();
        self.returns.insert(self.returns.len() - behind, (time, room));
    }

    #[inline]
    fn drain(&mut self, now: u64) {
        while let Some(&(_, room)) = self.returns.front().filter(|first| first.0 <= now) {
            self.available.add(room);
            self.returns.pop_front();
        }
    }

    /// Appends what later grants depend on, times relative to now.
    pub(super) fn state(&mut self, now: u64, to: &mut Vec<u64>) {
        self.drain(now);
        to.extend([self.available.bytes, u64::from(self.available.headers), self.inside]);
        let returns = self.returns.iter();
        to.extend(returns.flat_map(|&(time, room)| [time - now, room.bytes, u64::from(room.headers)]));
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

impl Room {
    #[inline]
    fn has(self, other: Self) -> bool {
        self.bytes >= other.bytes && self.headers >= other.headers
    }

    #[inline]
    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.headers += other.headers;
    }
}
