//! Simulated time in whole picoseconds.

use std::fmt;
use std::ops::Sub;

/// Picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// The end of simulated time: 100 days.
pub const HORIZON: SimTime = SimTime(100 * 86_400 * PS_PER_S);

/// A point of simulated time, in picoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct SimTime(pub u64);

/// A span of simulated time, in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct SimDuration(pub u64);

impl SimTime {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every time inside the horizon: "never", or "not yet known".
    pub const NEVER: Self = Self(u64::MAX);

    /// This time plus a span; [`SimTime::NEVER`] when that lies beyond the horizon.
    #[inline]
    #[must_use]
    pub fn after(self, span: SimDuration) -> Self {
        match self.0.checked_add(span.0) {
            Some(t) if t <= HORIZON.0 => Self(t),
            _ => Self::NEVER,
        }
    }

    /// Seconds, rounded to the nearest f64; for reports and closed forms only.
    #[inline]
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Whether this is [`SimTime::NEVER`].
    #[inline]
    #[must_use]
    pub fn is_never(self) -> bool {
        self == Self::NEVER
    }
}

impl SimDuration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than the horizon.
    pub const FOREVER: Self = Self(u64::MAX);

    /// Seconds, rounded to the nearest f64; for reports and closed forms only.
    #[inline]
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The sum, or [`SimDuration::FOREVER`] where it does not fit.
    #[inline]
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for SimTime {
    type Output = SimDuration;

    /// The span from `earlier` to `self`; zero when `earlier` is later.
    #[inline]
    fn sub(self, earlier: Self) -> SimDuration {
        SimDuration(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps", self.0)
    }
}
