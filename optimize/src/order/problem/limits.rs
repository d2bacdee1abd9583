//! The largest problems that are searched.

/// Most sources of a problem: the state of a run is a few arrays of this length.
pub(crate) const MOST_SOURCES: usize = 256;
/// Most messages of one source: numbers of alternatives must fit 16 bits.
pub const MOST_MESSAGES: usize = 255;
/// Most messages of a source in a tree search: what is left is a bit each. 32! orders are out of reach anyway.
pub(crate) const MOST_LEFT: usize = 32;
/// Most sources in a tree search: those that decide are a bit each.
pub(crate) const MOST_DECIDING: usize = 64;
