//! How full input buffers are, and what links carry, over time, recorded on request: means over bins of equal width.
//!
//! In a buffer a packet counts from its grant on the link to its grant on the next one, a piece on its own. Its payload crosses
//! the link evenly while it is sent. The width of bins doubles as the run goes on, so memory does not grow. A set of transfers is
//! moved on within a bin at most: what it adds there is exact.

use super::Engine;
use crate::wire::PS;

/// Bins at most (*assumed*: a page is some hundred pixels wide).
const BINS: usize = 256;
/// The first width of a bin as a power of two, ps: about the time of two packets (*assumed*).
const FIRST_WIDTH: u32 = 16;

/// How full input buffers were, and what links carried.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BufferFills {
    /// Width of a bin, ps. The first begins at 0; the last one ends with the run.
    pub bin: u64,
    /// Per link and bin: the mean of the bytes in the buffer at its far end, those on their way to it included; nothing for a link
    /// that carried no packets.
    pub means: Vec<Vec<u64>>,
    /// Per link: bytes of its buffer, all channels together; `None` for one that is never full.
    pub capacity: Vec<Option<u64>>,
    /// Per link and bin: payload that it carried, bytes per second; nothing for a link that carried no packets.
    pub loads: Vec<Vec<u64>>,
}

/// A level over time: bytes in a buffer, or bytes per second on a wire.
#[derive(Clone, Debug, Default)]
struct Level {
    value: u64,
    /// When it falls to 0 by itself.
    until: u64,
    /// Until when it has been counted.
    since: u64,
    /// Value times picoseconds: of all, and of each bin.
    area: u128,
    bins: Vec<u128>,
}

impl Level {
    /// Counts until `now`, and has another value from then on.
    fn set(&mut self, now: u64, width: u32, value: u64, until: u64) {
        if self.bins.is_empty() {
            (self.bins, self.since) = (vec![0; BINS], now);
        }
        self.count(now, width);
        (self.value, self.until) = (value, until);
    }

    /// Counts until `now`. Returns the area.
    fn count(&mut self, now: u64, width: u32) -> u128 {
        while !self.bins.is_empty() && self.since < now.min(self.until) {
            let bin = self.since >> width;
            let until = now.min(self.until).min((bin + 1) << width);
            let area = u128::from(self.value) * u128::from(until - self.since);
            self.bins[bin as usize] += area;
            self.area += area;
            self.since = until;
        }
        self.since = self.since.max(now);
        self.area
    }

    fn double(&mut self) {
        if self.bins.is_empty() {
            return;
        }
        for bin in 0..BINS / 2 {
            self.bins[bin] = self.bins[2 * bin] + self.bins[2 * bin + 1];
        }
        self.bins[BINS / 2..].fill(0);
    }

    /// It was moved on by `n` periods from `now`, within a bin; `before` was its area a period ago.
    fn repeat(&mut self, now: u64, width: u32, before: u128, (n, period): (u64, u64)) {
        let area = u128::from(n) * (self.area - before);
        self.area += area;
        if let Some(bin) = self.bins.get_mut((now >> width) as usize) {
            *bin += area;
        }
        self.since = now + n * period;
        self.until = self.until.saturating_add(n * period);
    }

    /// The mean of each bin until `at`, to which it has been counted.
    fn means(&self, at: u64, width: u32) -> Vec<u64> {
        let width = 1 << width;
        let spans = (0..at.div_ceil(width)).map(|bin| (at - bin * width).min(width));
        self.bins.iter().zip(spans).map(|(area, span)| (area / u128::from(span)) as u64).collect()
    }
}

/// What is recorded.
#[derive(Debug)]
pub(super) struct Fills {
    /// The width of bins is 2 to the power of this, ps.
    width: u32,
    /// Per link: its buffer and its wire.
    links: Vec<[Level; 2]>,
}

impl Fills {
    pub(super) fn new(links: usize) -> Self {
        Self { width: FIRST_WIDTH, links: vec![Default::default(); links] }
    }

    /// A packet is sent over a link from `now` until `sent`: with this payload, and these bytes in the buffer.
    pub(super) fn add(&mut self, (now, sent): (u64, u64), link: u32, payload: u32, bytes: u64) {
        self.widen(now);
        let [buffer, wire] = &mut self.links[link as usize];
        buffer.set(now, self.width, buffer.value + bytes, u64::MAX);
        // Rounded down, so that no bin has more than the link could carry.
        let rate = u128::from(payload) * PS / u128::from((sent - now).max(1));
        wire.set(now, self.width, rate as u64, sent);
    }

    pub(super) fn remove(&mut self, now: u64, link: u32, bytes: u64) {
        self.widen(now);
        let buffer = &mut self.links[link as usize][0];
        buffer.set(now, self.width, buffer.value - bytes, u64::MAX);
    }

    /// Counts a link until `now`. Returns its areas.
    pub(super) fn count(&mut self, now: u64, link: u32) -> [u128; 2] {
        self.widen(now);
        self.links[link as usize].each_mut().map(|level| level.count(now, self.width))
    }

    /// Makes bins wide enough for `now`.
    fn widen(&mut self, now: u64) {
        while now >> self.width >= BINS as u64 {
            self.width += 1;
            self.links.iter_mut().flatten().for_each(Level::double);
        }
    }

    /// The end of the bin of `now`.
    pub(super) fn end_of_bin(&self, now: u64) -> u64 {
        ((now >> self.width) + 1) << self.width
    }

    /// A link was moved on by `n` periods from `now`, within a bin; `before` were its areas a period ago.
    pub(super) fn repeat(&mut self, now: u64, link: u32, before: [u128; 2], n: u64, period: u64) {
        for (level, before) in self.links[link as usize].iter_mut().zip(before) {
            level.repeat(now, self.width, before, (n, period));
        }
    }
}

impl Engine {
    /// Records how full buffers are and what links carry, for [`Self::buffer_fills`].
    #[must_use]
    pub fn with_fills(mut self) -> Self {
        self.fills = Some(Box::new(Fills::new(self.ports.len())));
        self
    }

    /// How full input buffers were, and what links carried, until `at`, no earlier than [`Self::reached`]. `None` where that was not recorded.
    #[must_use]
    pub fn buffer_fills(&mut self, at: u64) -> Option<BufferFills> {
        let fills = self.fills.as_mut()?;
        (0..fills.links.len() as u32).for_each(|link| _ = fills.count(at, link));
        let means = |which: usize| fills.links.iter().map(|link| link[which].means(at, fills.width)).collect();
        let (means, loads) = (means(0), means(1));
        let channels = u64::from(self.network.channels);
        let capacity = self.network.links.iter().map(|link| link.buffer.map(|bytes| bytes.saturating_mul(channels)));
        Some(BufferFills { bin: 1 << fills.width, means, capacity: capacity.collect(), loads })
    }
}
