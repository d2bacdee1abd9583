//! What the data say of each parameter: standard errors, and which parameters they cannot tell apart.
//!
//! J is the matrix of derivatives, its columns scaled to length 1. Its singular values say how well the data separate
//! directions in the space of parameters: one below [`NONE`] of the largest is not determined at all, one below
//! [`HARDLY`] hardly. Parameters belong coupled where the projector on these directions couples them.
//! Standard errors are s · √diag((JᵀJ)⁻¹), with s² the sum of squares over the degrees of freedom (Seber and Wild,
//! *Nonlinear Regression*, 1989, section 2.1.2), which holds if all rows have errors of one size. Where the rows that determine
//! a parameter have larger ones than the others, it is too small. Then the error is that of White's estimator,
//! √diag((JᵀJ)⁻¹ Jᵀ diag(r²) J (JᵀJ)⁻¹ · n/(n − p)), which lets each row have its own (White, *Econometrica* 48, 1980; the
//! factor: MacKinnon and White, *J. Econometrics* 29, 1985, HC1). The larger of the two is taken.

use nalgebra::{DMatrix, DVector};
use ordered_float::OrderedFloat;

/// Singular value over the largest below which a direction is not determined (*assumed*: derivatives are good to 10^-8).
const NONE: f64 = 1e-6;
/// The same below which it hardly is: errors are a thousand times those of the best direction.
const HARDLY: f64 = 1e-3;
/// Length of a column, change of ln time per unit, below which no row depends on a parameter (*assumed*).
pub(crate) const LEAST_COLUMN: f64 = 1e-7;
/// Correlation of errors from which it is told; *assumed*: half of one error is then the other's.
const CORRELATED: f64 = 0.9;
/// Entry of a projector above which parameters belong coupled (*assumed*): in directions that are hardly determined a part of a
/// tenth, in those that are not at all one of a twentieth, above what derivatives beside a bend are wrong by.
const COUPLED: f64 = 0.01;
const COUPLED_AT_ALL: f64 = 3e-3;

/// Parameters that the data do not tell apart.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Coupled {
    /// Places of the parameters, ascending.
    pub(crate) parameters: Vec<usize>,
    /// A change of all coordinates that the data do not see, of length 1.
    pub(crate) direction: Vec<f64>,
    /// Whether they are not seen at all, or only hardly.
    pub(crate) hardly: bool,
}

/// How well derivatives determine each parameter.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Certainty {
    /// Per parameter the standard error of its coordinate; `None` where the data do not determine it.
    pub(crate) error: Vec<Option<f64>>,
    pub(crate) coupled: Vec<Coupled>,
    /// Independent parameters.
    pub(crate) rank: usize,
    /// Rows less independent parameters.
    pub(crate) freedom: usize,
    /// Pairs of parameters whose errors go together, with the correlation.
    pub(crate) correlated: Vec<(usize, usize, f64)>,
}

/// Judges derivatives by the residuals of their rows.
pub(crate) fn certainty(jacobian: &DMatrix<f64>, residuals: &[f64]) -> Certainty {
    let (rows, columns) = jacobian.shape();
    let lengths: Vec<f64> = jacobian.column_iter().map(|c| c.norm()).collect();
    let Some(spectrum) = Spectrum::of(jacobian, &lengths) else {
        return Certainty {
            error: vec![None; columns],
            coupled: Vec::new(),
            rank: 0,
            freedom: rows,
            correlated: Vec::new(),
        };
    };
    // Columns that no row depends on are directions with the value 0, too.
    let rank = columns - spectrum.within(0.0, NONE).len();
    let freedom = rows.saturating_sub(rank);
    let lost = spectrum.projector(0.0, NONE);
    let coupled = coupled(&lost, &spectrum.projector(NONE, HARDLY), &lengths);
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    let variance = squares / freedom as f64;
    let whites = spectrum.whites(jacobian, &lengths, residuals);
    let error = |at: usize| {
        let white = whites[at] * rows as f64 / freedom.max(1) as f64;
        let error = (variance * spectrum.inverse(at, at)).max(white).sqrt() / lengths[at];
        (lengths[at] > LEAST_COLUMN && freedom > 0 && lost[(at, at)] < COUPLED_AT_ALL).then_some(error)
    };
    let error: Vec<Option<f64>> = (0..columns).map(error).collect();
    let correlated = correlated(&spectrum, &error);
    Certainty { error, coupled, rank, freedom, correlated }
}

/// Pairs of parameters with an error whose errors go together.
fn correlated(spectrum: &Spectrum, error: &[Option<f64>]) -> Vec<(usize, usize, f64)> {
    let known: Vec<usize> = (0..error.len()).filter(|&i| error[i].is_some_and(f64::is_finite)).collect();
    let pairs = known.iter().enumerate().flat_map(|(at, &a)| known[at + 1..].iter().map(move |&b| (a, b)));
    let correlation = |(a, b)| {
        let both = (spectrum.inverse(a, a) * spectrum.inverse(b, b)).sqrt();
        (a, b, spectrum.inverse(a, b) / both)
    };
    pairs.map(correlation).filter(|(_, _, correlation)| correlation.abs() >= CORRELATED).collect()
}

/// Singular values of scaled derivatives, and the directions in the space of parameters that belong to them.
struct Spectrum {
    values: DVector<f64>,
    v_t: DMatrix<f64>,
    largest: f64,
}

impl Spectrum {
    /// Of derivatives whose columns have these lengths; `None` where no row depends on any parameter.
    fn of(jacobian: &DMatrix<f64>, lengths: &[f64]) -> Option<Self> {
        let (rows, columns) = jacobian.shape();
        if columns == 0 {
            return None;
        }
        let mut scaled = jacobian.clone().resize_vertically(rows.max(columns), 0.0);
        for (mut column, &length) in scaled.column_iter_mut().zip(lengths) {
            column.scale_mut(if length > LEAST_COLUMN { 1.0 / length } else { 0.0 });
        }
        let svd = scaled.svd(false, true);
        let (largest, values) = (svd.singular_values.max(), svd.singular_values);
        svd.v_t.filter(|_| largest > 0.0).map(|v_t| Self { values, v_t, largest })
    }

    /// The directions whose values are from `least` to below `most` of the largest.
    fn within(&self, least: f64, most: f64) -> Vec<usize> {
        let range = least * self.largest..most * self.largest;
        (0..self.values.len()).filter(|&i| range.contains(&self.values[i])).collect()
    }

    /// The projector on these directions.
    fn projector(&self, least: f64, most: f64) -> DMatrix<f64> {
        let mut sum = DMatrix::zeros(self.v_t.ncols(), self.v_t.ncols());
        for at in self.within(least, most) {
            let v = self.v_t.row(at);
            sum += v.transpose() * v;
        }
        sum
    }

    /// The diagonal of (JᵀJ)⁻¹ Jᵀ diag(r²) J (JᵀJ)⁻¹, scaled.
    fn whites(&self, jacobian: &DMatrix<f64>, lengths: &[f64], residuals: &[f64]) -> Vec<f64> {
        let columns = lengths.len();
        let inverse = DMatrix::from_fn(columns, columns, |a, b| self.inverse(a, b));
        let mut all = vec![0.0; columns];
        for (row, residual) in jacobian.row_iter().zip(residuals) {
            let scaled = |b: usize| if lengths[b] > LEAST_COLUMN { row[b] / lengths[b] } else { 0.0 };
            let scaled = DVector::from_fn(columns, |b, _| scaled(b));
            let step = &inverse * scaled * *residual;
            all.iter_mut().zip(step.iter()).for_each(|(sum, part)| *sum += part * part);
        }
        all
    }

    /// An entry of (JᵀJ)⁻¹, scaled, over the directions that are determined.
    fn inverse(&self, a: usize, b: usize) -> f64 {
        let each = |&i: &usize| self.v_t[(i, a)] / self.values[i] * (self.v_t[(i, b)] / self.values[i]);
        self.within(NONE, f64::INFINITY).iter().map(each).sum()
    }
}

/// The sets of parameters that are not told apart at all, and those that hardly are: what is hardly told of parameters that are not
/// told at all is nothing new.
fn coupled(lost: &DMatrix<f64>, hardly: &DMatrix<f64>, lengths: &[f64]) -> Vec<Coupled> {
    let several = |group: &Coupled| group.parameters.len() > 1;
    let mut all: Vec<Coupled> = groups(lost, lengths, false).into_iter().filter(several).collect();
    let new = |group: &Coupled| {
        let within = |other: &Coupled| group.parameters.iter().all(|i| other.parameters.contains(i));
        !all.iter().any(within)
    };
    let others: Vec<Coupled> = groups(hardly, lengths, true).into_iter().filter(several).filter(new).collect();
    all.extend(others);
    all
}

/// The sets of parameters that a projector couples.
fn groups(projector: &DMatrix<f64>, lengths: &[f64], hardly: bool) -> Vec<Coupled> {
    let least = if hardly { COUPLED } else { COUPLED_AT_ALL };
    let mut left: Vec<usize> =
        (0..lengths.len()).filter(|&i| projector[(i, i)] > least && lengths[i] > LEAST_COLUMN).collect();
    let mut all = Vec::new();
    while let Some(first) = left.first().copied() {
        let mut group = vec![first];
        let mut next = 0;
        while next < group.len() {
            let at = group[next];
            let (joined, others) = left.iter().partition(|&&i| i != at && projector[(i, at)].abs() > least);
            left = others;
            group.extend::<Vec<usize>>(joined);
            left.retain(|i| !group.contains(i));
            next += 1;
        }
        group.sort_unstable();
        group.dedup();
        let strongest = group.iter().copied().max_by_key(|&i| OrderedFloat(projector[(i, i)]));
        let unit = projector.column(strongest.unwrap_or(first));
        let of = |i: usize| if group.contains(&i) { unit[i] / lengths[i] } else { 0.0 };
        let direction = DVector::from_iterator(lengths.len(), (0..lengths.len()).map(of));
        let length = direction.norm();
        let direction = direction.iter().map(|d| d / length).collect();
        all.push(Coupled { parameters: group, direction, hardly });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two columns that are equal and one that is its own: the data see the sum of the first two only.
    #[test]
    fn equal_columns_cannot_be_told_apart() {
        let j = DMatrix::from_row_slice(4, 3, &[1.0, 1.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
        let found = certainty(&j, &[0.005; 4]);
        assert_eq!(found.freedom, 2);
        assert_eq!(found.coupled.len(), 1);
        let group = &found.coupled[0];
        assert_eq!((&*group.parameters, group.hardly), (&[0, 1][..], false));
        assert!((group.direction[0] + group.direction[1]).abs() < 1e-9 && group.direction[2] == 0.0);
        assert!(found.error[0].is_none() && found.error[1].is_none() && found.error[2].is_some());
    }

    /// y = a + b·x at x = 0, 1, 2: the textbook errors, s² = Σr²/(n − 2), var b = s²/Σ(x − x̄)² = s²/2,
    /// var a = s²·(1/3 + 1/2). White's are smaller: with r = (c, −2c, c), 6c² = Σr², var b = 3·c²/2 = s²/4.
    #[test]
    fn errors_are_those_of_a_straight_line() {
        let j = DMatrix::from_row_slice(3, 2, &[1.0, 0.0, 1.0, 1.0, 1.0, 2.0]);
        let c = (0.25_f64 / 6.0).sqrt();
        let found = certainty(&j, &[c, -2.0 * c, c]);
        let expected = [(0.25_f64 * (1.0 / 3.0 + 0.5)).sqrt(), (0.25_f64 / 2.0).sqrt()];
        for (error, expected) in found.error.iter().zip(expected) {
            assert!((error.unwrap() - expected).abs() < 1e-12);
        }
        assert!(found.coupled.is_empty());
    }

    /// Twenty rows of one parameter without error do not hide that the two of the other differ by ±0.2: the error of their mean
    /// is 0.2/√2, by White times √(22/20). Of all rows together it would be √(0.08/20)/√2 = 0.045.
    #[test]
    fn rows_that_contradict_each_other_count_for_their_own_parameter() {
        let j = DMatrix::from_fn(22, 2, |row, column| f64::from(u8::from((row < 20) == (column == 0))));
        let residuals: Vec<f64> = (0..22).map(|row| [0.0, 0.2, -0.2][(row - 19_usize.min(row)).min(2)]).collect();
        let found = certainty(&j, &residuals);
        let expected = 0.2 / 2_f64.sqrt() * (22.0_f64 / 20.0).sqrt();
        assert!((found.error[1].unwrap() - expected).abs() < 1e-12, "{:?}", found.error);
        assert!((found.error[0].unwrap() - (0.08_f64 / 20.0 / 20.0).sqrt()).abs() < 1e-12, "{:?}", found.error);
    }

    #[test]
    fn a_column_that_nothing_depends_on_has_no_error_and_no_company() {
        let j = DMatrix::from_row_slice(3, 2, &[1.0, 0.0, 1.1, 0.0, 0.9, 0.0]);
        let found = certainty(&j, &[0.1, 0.0, 0.0]);
        assert!(found.error[0].is_some() && found.error[1].is_none() && found.coupled.is_empty());
        assert_eq!(found.freedom, 2);
    }

    /// c₀ − 2·c₁ + c₂ = 0 is not seen at all, c₀ − c₂ hardly: both are of the same parameters, which are named once.
    #[test]
    fn what_is_lost_is_not_named_again_as_hardly_told() {
        let j = DMatrix::from_fn(3, 3, |row, column| if row == 1 { 1.0 + 1e-4 * column as f64 } else { 1.0 });
        let found = certainty(&j, &[1e-3, 0.0, 0.0]);
        assert_eq!(found.coupled.len(), 1, "{:?}", found.coupled);
        assert_eq!((&*found.coupled[0].parameters, found.coupled[0].hardly), (&[0, 1, 2][..], false));
    }

    #[test]
    fn nearly_equal_columns_are_named_with_errors() {
        let j = DMatrix::from_row_slice(3, 2, &[1.0, 1.0, 1.0, 1.0 + 1e-4, 1.0, 1.0 - 1e-4]);
        let found = certainty(&j, &[1e-3, 0.0, 0.0]);
        assert!(found.coupled.len() == 1 && found.coupled[0].hardly);
        assert!(found.error.iter().all(Option::is_some));
    }
}
