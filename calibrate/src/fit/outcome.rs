//! What comes out of a fit: values, how well they are known, what cannot be told apart, and every row.

use weir_scenario::ArbiterSpec;

use super::noise::weight;
use super::parameter::{Parameter, Setting};

/// What the data say of a value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Known {
    /// Fitted, with its standard error in the unit of the value.
    Error(f64),
    /// Fitted if it is the narrowest link, or others are that are taken to be, with its standard error where there are more
    /// rows than parameters. Other links in that place explain the rows as well; it may then be anything above, or elsewhere.
    IfNarrowest(Option<f64>),
    /// Fitted, but there are no more rows than parameters, so that nothing is known of its error.
    Exactly,
    /// Not determined: others can make up for it.
    Together,
    /// A whole number that rows fit with, and with no other.
    Counted,
    /// Left as it was: no fitted row depends on it.
    Unseen,
    /// Moved to where it holds no fitted row back; any larger bandwidth, or smaller time, fits as well.
    Enough,
    /// Of a shared bandwidth that rows of several transfers cross at once: it is not below what its links carry anyway, so that
    /// the data show no limit.
    NoLimit,
    /// Held at 0, below which the fit would have gone.
    AtZero,
    /// At the least value that it may have, below which the fit would have gone.
    AtLeast,
    /// At the largest value that it may have, above which the fit would have gone.
    AtMost,
}

/// A parameter after the fit.
#[derive(Clone, PartialEq, Debug)]
pub struct Fitted {
    /// What it stands for in the machine, with the value before the fit.
    pub parameter: Parameter,
    /// Its value, in the unit of its kind.
    pub value: f64,
    /// How well it is known.
    pub known: Known,
}

/// In what way parameters are not told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unseparated {
    /// One makes up for the other.
    NotAtAll,
    /// They are told apart after all, but with errors a thousand times those of what is seen best.
    Hardly,
    /// The first is taken to be the narrowest link, as the nearest to a device; any of the others in its place explains
    /// the rows as well.
    Narrowest,
    /// The first, a latency or a parameter of the arbiter, is taken; with it at its least any of the others, as the narrowest
    /// link, explains the rows as well.
    Instead,
}

impl Unseparated {
    /// What the data do not do, for a person: `the data {}: a; b`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NotAtAll => "do not distinguish",
            Self::Hardly => "hardly distinguish",
            Self::Narrowest => "do not show which is the narrowest (the first is taken)",
            Self::Instead => "do not show which of these slows the copies (the first is taken)",
        }
    }
}

/// Parameters that the data do not tell apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unclear {
    /// Places among the parameters.
    pub parameters: Vec<usize>,
    /// Their names, with the direction where only one of a parameter's is meant.
    pub names: Vec<String>,
    /// Whether another measurement could tell them apart at all.
    pub how: Unseparated,
    /// The combination of them that the data tell, as an equation, where there is a simple one.
    pub told: Option<String>,
    /// What measurement would separate them.
    pub remedy: String,
}

/// A row with what was simulated for it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Compared {
    /// Its place among the experiments of all logs.
    pub experiment: usize,
    /// Its place among the rows of that experiment.
    pub row: usize,
    /// The time of the row, seconds, above 0.
    pub measured: f64,
    /// The time with the fitted values, seconds.
    pub simulated: f64,
    /// Whether it was held out of the fit.
    pub held_out: bool,
    /// Whether it does not count: an outlier, or of a group that no fit explains.
    pub outlier: bool,
}

impl Compared {
    /// Simulated over measured, less 1.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.simulated / self.measured - 1.0
    }
}

/// Fitted values, how well the data know them, and every row against its simulation.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The arbiter that it was made under, with its values before the fit.
    pub arbiter: ArbiterSpec,
    /// The parameters with their values.
    pub parameters: Vec<Fitted>,
    /// Sets that cannot be told apart.
    pub unclear: Vec<Unclear>,
    /// Pairs of parameters whose errors go together, with the correlation, above 0.9 or below −0.9.
    pub correlated: Vec<(usize, usize, f64)>,
    /// Independent parameters: the rank of the derivatives of the rows.
    pub rank: usize,
    /// Every row, measured and simulated, in the order of the logs.
    pub rows: Vec<Compared>,
    /// Fitted rows less independent parameters.
    pub freedom: usize,
    /// How the fit went about what it was not told.
    pub notes: Vec<String>,
    /// Everything that a simulation depends on, fitted or not.
    pub setting: Setting,
    /// Seconds of a row below which rows count less; 0 where all count the same.
    pub even: f64,
}

impl Fit {
    /// The rows that were fitted, or those that were held out; no outliers.
    pub fn judged_rows(&self, held_out: bool) -> impl Iterator<Item = &Compared> {
        self.rows.iter().filter(move |row| row.held_out == held_out && !row.outlier)
    }

    /// How much a row counts, from 0 to 1.
    pub(crate) fn weight(&self, row: &Compared) -> f64 {
        if row.outlier { 0.0 } else { weight(self.even, row.measured) }
    }

    /// The same as [`mean_error`] of rows by how much they count.
    pub(crate) fn weighted_error<'a>(&self, rows: impl IntoIterator<Item = &'a Compared>) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for row in rows {
            sum += row.error().abs() * self.weight(row);
            weights += self.weight(row);
        }
        (weights > 0.0).then(|| sum / weights)
    }
}

/// Mean of |simulated / measured − 1| over some rows, as `weir validate` and docs/accuracy.md have it; `None` for no rows.
#[must_use]
pub fn mean_error<'a>(rows: impl IntoIterator<Item = &'a Compared>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for row in rows {
        sum += row.error().abs();
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}
