//! How full input buffers are over time, recorded on request: means over bins of equal width.
//!
//! A packet counts from its grant on the link to its grant on the next one, a piece on its own. The width of bins doubles as the
//! run goes on, so memory does not grow. A set of transfers is moved on within a bin at most: what it adds there is exact.

use super::Engine;

/// Bins at most (*assumed*: a page is some hundred pixels wide).
const BINS: usize = 256;
/// The first width of a bin as a power of two, ps: about the time of two packets (*assumed*).
const FIRST_WIDTH: u32 = 16;

/// How full input buffers were.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BufferFills {
    /// Width of a bin, ps. The first begins at 0; the last one ends with the run.
    pub bin: u64,
    /// Per link and bin: the mean of the bytes in the buffer at its far end, those on their way to it included; nothing for a link
    /// that carried no packets.
    pub means: Vec<Vec<u64>>,
    /// Per link: bytes of its buffer, all channels together; `None` for one that is never full.
    pub capacity: Vec<Option<u64>>,
}

/// One buffer.
#[derive(Clone, Debug, Default)]
struct Fill {
    inside: u64,
    /// Until when it has been counted.
    since: u64,
    /// Bytes times picoseconds: of all, and of each bin.
    area: u128,
    bins: Vec<u128>,
}

/// What is recorded.
#[derive(Debug)]
pub(super) struct Fills {
    /// The width of bins is 2 to the power of this, ps.
    width: u32,
    links: Vec<Fill>,
}

impl Fills {
    pub(super) fn new(links: usize) -> Self {
        Self { width: FIRST_WIDTH, links: vec![Fill::default(); links] }
    }

    pub(super) fn add(&mut self, now: u64, link: u32, bytes: u64) {
        self.count(now, link);
        let fill = &mut self.links[link as usize];
        if fill.bins.is_empty() {
            fill.bins = vec![0; BINS];
        }
        fill.inside += bytes;
    }

    pub(super) fn remove(&mut self, now: u64, link: u32, bytes: u64) {
        self.count(now, link);
        self.links[link as usize].inside -= bytes;
    }

    /// Counts a buffer until `now`. Returns its area.
    pub(super) fn count(&mut self, now: u64, link: u32) -> u128 {
        while now >> self.width >= BINS as u64 {
            self.double();
        }
        let (width, fill) = (self.width, &mut self.links[link as usize]);
        if fill.bins.is_empty() {
            fill.since = now;
        }
        while fill.since < now {
            let bin = fill.since >> width;
            let until = now.min((bin + 1) << width);
            let area = u128::from(fill.inside) * u128::from(until - fill.since);
            fill.bins[bin as usize] += area;
            fill.area += area;
            fill.since = until;
        }
        fill.area
    }

    fn double(&mut self) {
        self.width += 1;
        for fill in self.links.iter_mut().filter(|fill| !fill.bins.is_empty()) {
            for bin in 0..BINS / 2 {
                fill.bins[bin] = fill.bins[2 * bin] + fill.bins[2 * bin + 1];
            }
            fill.bins[BINS / 2..].fill(0);
        }
    }

    /// The end of the bin of `now`.
    pub(super) fn end_of_bin(&self, now: u64) -> u64 {
        ((now >> self.width) + 1) << self.width
    }

    /// A link was moved on by `n` periods from `now`, within a bin; `before` was its area a period ago.
    pub(super) fn repeat(&mut self, now: u64, link: u32, before: u128, n: u64, period: u64) {
        let fill = &mut self.links[link as usize];
        let area = u128::from(n) * (fill.area - before);
        fill.area += area;
        if let Some(bin) = fill.bins.get_mut((now >> self.width) as usize) {
            *bin += area;
        }
        fill.since = now + n * period;
    }

    fn means(&mut self, at: u64, link: u32) -> Vec<u64> {
        if self.links[link as usize].bins.is_empty() {
            return Vec::new();
        }
        self.count(at, link);
        let width = 1 << self.width;
        let spans = (0..at.div_ceil(width)).map(|bin| (at - bin * width).min(width));
        let bins = self.links[link as usize].bins.iter();
        bins.zip(spans).map(|(area, span)| (area / u128::from(span)) as u64).collect()
    }
}

impl Engine {
    /// Records how full buffers are, for [`Self::buffer_fills`].
    #[must_use]
    pub fn with_fills(mut self) -> Self {
        self.fills = Some(Box::new(Fills::new(self.ports.len())));
        self
    }

    /// How full input buffers were until `at`, no earlier than [`Self::reached`]. `None` where that was not recorded.
    #[must_use]
    pub fn buffer_fills(&mut self, at: u64) -> Option<BufferFills> {
        let fills = self.fills.as_mut()?;
        while at >> fills.width >= BINS as u64 {
            fills.double();
        }
        let means = (0..self.ports.len() as u32).map(|link| fills.means(at, link)).collect();
        let channels = u64::from(self.network.channels);
        let capacity = self.network.links.iter().map(|link| link.buffer.map(|bytes| bytes.saturating_mul(channels)));
        Some(BufferFills { bin: 1 << fills.width, means, capacity: capacity.collect() })
    }
}
