//! The full product of axes.

use std::collections::BTreeSet;

use super::axis::Axis;
use super::error::ParameterError;

/// Most candidates of a grid; *assumed*: as many makespans as are kept and written one by one.
pub const MOST_CANDIDATES: u64 = 10_000_000;

/// The full product of axes. Candidates are numbered from 0 in mixed radix with the first axis slowest: with axes of 2 and
/// 3 values, candidate 4 has the second value of the first and the second of the second.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    axes: Vec<Axis>,
    candidates: u64,
}

impl Grid {
    /// A grid over some axes. Values are set in the order of the axes.
    ///
    /// # Errors
    /// No axis, one without values, a path or a value twice, a path whose value a later axis replaces, more than
    /// 10^7 candidates.
    pub fn new(axes: Vec<Axis>) -> Result<Self, ParameterError> {
        Self::check(&axes)?;
        Self::repeating(axes)
    }

    /// Whether axes make a grid, however many candidates it has.
    ///
    /// # Errors
    /// As [`Self::new`], but for too many candidates.
    pub fn check(axes: &[Axis]) -> Result<(), ParameterError> {
        axes.iter().try_for_each(distinct)?;
        usable(axes)
    }

    /// A grid whose axes may have a value several times.
    ///
    /// # Errors
    /// As [`Self::new`], but for values that are there twice.
    pub fn repeating(axes: Vec<Axis>) -> Result<Self, ParameterError> {
        usable(&axes)?;
        let all = axes.iter().try_fold(1_u128, |all, axis| all.checked_mul(axis.values.len() as u128));
        let candidates = all.and_then(|all| u64::try_from(all).ok()).filter(|&all| all <= MOST_CANDIDATES);
        let candidates = candidates.ok_or_else(|| ParameterError::TooManyCandidates {
            candidates: all.map_or_else(|| "more than 2^128".to_owned(), |all| all.to_string()),
            most: MOST_CANDIDATES,
        })?;
        Ok(Self { axes, candidates })
    }

    /// The axes, slowest first.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The product of the numbers of values of all axes.
    #[must_use]
    pub fn candidates(&self) -> u64 {
        self.candidates
    }

    /// Path and value of each axis for a candidate, in the order of the axes. Numbers beyond the last start again.
    #[must_use]
    pub fn values(&self, candidate: u64) -> Vec<(&str, &str)> {
        let mut left = candidate;
        let mut digit = |axis: &'_ Axis| {
            let radix = axis.values.len() as u64;
            let digit = (left % radix) as usize;
            left /= radix;
            digit
        };
        let mut values: Vec<(&str, &str)> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            values.push((&axis.path, &axis.values[digit(axis)]));
        }
        values.reverse();
        values
    }
}

/// Whether there are axes, all with values, none of which replaces what another sets.
fn usable(axes: &[Axis]) -> Result<(), ParameterError> {
    if axes.is_empty() {
        return Err(ParameterError::NoAxes);
    }
    for (i, axis) in axes.iter().enumerate() {
        if axis.values.is_empty() {
            return Err(ParameterError::NoValues { path: axis.path.clone() });
        }
        for earlier in &axes[..i] {
            independent(&earlier.path, &axis.path)?;
        }
    }
    Ok(())
}

fn distinct(axis: &Axis) -> Result<(), ParameterError> {
    let path = || axis.path.clone();
    let mut seen = BTreeSet::new();
    match axis.values.iter().find(|value| !seen.insert(value.as_str())) {
        Some(value) => Err(ParameterError::ValueTwice { path: path(), value: value.clone() }),
        None => Ok(()),
    }
}

/// Whether setting `later` leaves what was set at `earlier`.
fn independent(earlier: &str, later: &str) -> Result<(), ParameterError> {
    match earlier.strip_prefix(later) {
        Some("") => Err(ParameterError::PathTwice { path: later.to_owned() }),
        Some(below) if below.starts_with(['.', '[']) => {
            Err(ParameterError::Replaced { path: earlier.to_owned(), by: later.to_owned() })
        }
        _ => Ok(()),
    }
}
