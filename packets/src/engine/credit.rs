//! Credit: how much room the near end of a link knows of at the far end.

use std::collections::VecDeque;

/// Returns of credit that are kept before those that have come are added up (*assumed*: they stay in the cache).
const MOST_RETURNS: usize = 64;

/// Room for packets, or for pieces of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Room {
    pub(super) bytes: u32,
    /// Headers that are counted apart from bytes.
    headers: u32,
}

/// Credit of one link and channel.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    /// What is left of the buffer; nothing is counted of one that is never full.
    bytes: u64,
    headers: u32,
    is_limited: bool,
    /// Whether headers have credit of their own; else they are bytes as any.
    counts_headers: bool,
    /// Room that the near end will know of, by time.
    returns: VecDeque<(u64, Room)>,
}

impl Credit {
    /// For a buffer of `bytes`, or where there are `headers` for that many packets with bytes of payload.
    pub(super) fn new(bytes: Option<u64>, headers: Option<u32>) -> Self {
        Self {
            bytes: bytes.unwrap_or(u64::MAX / 2),
            headers: headers.unwrap_or(0),
            is_limited: bytes.is_some() || headers.is_some(),
            counts_headers: headers.is_some(),
            returns: VecDeque::new(),
        }
    }

    /// What `payload` takes, with a header of `header` bytes if it comes with one.
    #[inline]
    pub(super) fn room(&self, payload: u32, header: Option<u32>) -> Room {
        if self.counts_headers {
            return Room { bytes: payload, headers: u32::from(header.is_some()) };
        }
        Room { bytes: payload + header.unwrap_or(0), headers: 0 }
    }

    /// Whether there is `room` at `now`.
    #[inline]
    pub(super) fn allows(&mut self, now: u64, room: Room) -> bool {
        // Mostly there is enough without what has come back since.
        let has_few = self.returns.len() < MOST_RETURNS;
        has_few && room.fits(self.bytes, self.headers) || {
            self.drain(now);
            room.fits(self.bytes, self.headers)
        }
    }

    /// When there will be `room`; `None` where that depends on what is not yet granted.
    pub(super) fn allows_at(&self, room: Room) -> Option<u64> {
        let (mut bytes, mut headers) = (self.bytes, self.headers);
        for &(time, returned) in &self.returns {
            bytes += u64::from(returned.bytes);
            headers += returned.headers;
            if room.fits(bytes, headers) {
                return Some(time);
            }
        }
        None
    }

    #[inline]
    pub(super) fn take(&mut self, room: Room) {
        if self.is_limited {
            debug_assert!(room.fits(self.bytes, self.headers), "a grant has credit");
            self.bytes -= u64::from(room.bytes);
            self.headers -= room.headers;
        }
    }

    /// Room is free; the near end knows at `time`.
    #[inline]
    pub(super) fn give(&mut self, time: u64, room: Room) {
        if !self.is_limited {
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
            self.bytes += u64::from(room.bytes);
            self.headers += room.headers;
            self.returns.pop_front();
        }
    }

    /// Appends what later grants depend on, times relative to now.
    pub(super) fn state(&mut self, now: u64, to: &mut Vec<u64>) {
        self.drain(now);
        to.extend([self.bytes, u64::from(self.headers)]);
        let returns = self.returns.iter();
        to.extend(returns.flat_map(|&(time, room)| [time - now, u64::from(room.bytes), u64::from(room.headers)]));
        to.push(u64::MAX);
    }

    /// Moves what is under way by `span`.
    pub(super) fn shift(&mut self, span: u64) {
        self.returns.iter_mut().for_each(|known| known.0 += span);
    }

    /// Whether all of a buffer of so many bytes and headers is at the near end.
    pub(super) fn is_home(&mut self, now: u64, bytes: Option<u64>, headers: Option<u32>) -> bool {
        self.drain(now);
        let of = |own: u64, all: Option<u64>| all.is_none_or(|all| own == all);
        of(self.bytes, bytes) && of(u64::from(self.headers), headers.map(u64::from))
    }
}

impl Room {
    #[inline]
    fn fits(self, bytes: u64, headers: u32) -> bool {
        bytes >= u64::from(self.bytes) && headers >= self.headers
    }
}
