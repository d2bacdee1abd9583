//! Schwarz's criterion: whether a better fit is worth its further parameters, and how much that is worth in few rows.

/// Fall of the criterion that counts: "very strong" evidence (Kass and Raftery, *Bayes Factors*, JASA 90, 1995).
pub(super) const CLEARLY: f64 = 10.0;

/// n·ln(SSE/n) + p·ln n (Schwarz, *Estimating the dimension of a model*, Annals of Statistics 6, 1978) for `rows`, the sum
/// of their `squares` and the number of `parameters`. A mean square below `least` counts as that.
pub(super) fn schwarz(rows: usize, squares: f64, parameters: usize, least: f64) -> f64 {
    let n = rows.max(1) as f64;
    n * libm::log((squares / n).max(least)) + parameters as f64 * libm::log(n)
}

/// A fit as it is weighed against another.
#[derive(Clone, Copy)]
pub(super) struct Weighed {
    /// The sum of squares.
    pub(super) squares: f64,
    /// Independent parameters.
    pub(super) parameters: usize,
}

/// By how much the criterion of `fine` is lower than that of `coarse` in so few `rows`: m·ln(SSE/SSE') − d·ln n, for d parameters
/// more.
///
/// n·ln(SSE/SSE') is χ² with d degrees of freedom only where rows are many: few rows are fitted too well by chance. With
/// Bartlett's factor m = n − p' − 1 + d/2 in the place of n, where p' are the parameters of the finer fit, it is nearly so in any
/// number of rows (Bartlett, *Proc. Cambridge Phil. Soc.* 34, 1938; Anderson, *An Introduction to Multivariate Statistical
/// Analysis*, 2003, section 8.5.2). A fit that leaves no row over has no evidence for it.
pub(super) fn ahead(rows: usize, coarse: Weighed, fine: Weighed, least: f64) -> f64 {
    let n = rows.max(1) as f64;
    let [before, after] = [coarse, fine].map(|fit| (fit.squares / n).max(least));
    let further = fine.parameters as f64 - coarse.parameters as f64;
    let most = coarse.parameters.max(fine.parameters) as f64;
    let factor = (n - most - 1.0 + further.abs() / 2.0).max(0.0);
    factor * libm::log(before / after) - further * libm::log(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_one_more(rows: usize, ratio: f64) -> f64 {
        let fit = |squares, parameters| Weighed { squares, parameters };
        ahead(rows, fit(ratio, 3), fit(1.0, 4), 1e-300)
    }

    /// Six rows and four parameters: m = 6 − 4 − 1 + ½ = 1.5. At the limit the squares fall by e^(11.79/1.5) = 2596 times, which
    /// F(1, 2) = 5190 does by chance in 2 of 10 000 cases; by Schwarz's criterion alone by 7.1, in 7 of 100. In 1000 rows they
    /// need fall only as by Schwarz's.
    /// 100 rows with a mean square of 0.01 and two parameters: 100·ln 0.01 + 2·ln 100 = −98·ln 100.
    #[test]
    fn each_parameter_costs_the_logarithm_of_the_rows() {
        assert!((schwarz(100, 1.0, 2, 0.0) + 98.0 * libm::log(100.0)).abs() < 1e-9);
        assert!((schwarz(100, 1.0, 2, 0.1) + 50.0 * libm::log(100.0) - 2.0 * libm::log(100.0)).abs() < 1e-9);
    }

    #[test]
    fn few_rows_are_weak_evidence() {
        let limit = libm::exp((CLEARLY + libm::log(6.0)) / 1.5);
        assert!((2500.0..2700.0).contains(&limit));
        assert!(of_one_more(6, limit * 1.01) > CLEARLY && of_one_more(6, limit * 0.99) < CLEARLY);
        assert!(of_one_more(6, 7.2) < CLEARLY);
        let plain = |ratio: f64| 1000.0 * libm::log(ratio) - libm::log(1000.0);
        assert!((of_one_more(1000, 1.02) / plain(1.02) - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_fit_without_rows_left_over_has_no_evidence() {
        assert!(of_one_more(4, 1e200) < 0.0);
    }

    #[test]
    fn two_fits_are_weighed_alike_from_both_sides() {
        let (a, b) = (Weighed { squares: 3.0, parameters: 2 }, Weighed { squares: 1.0, parameters: 5 });
        assert!((ahead(20, a, b, 0.0) + ahead(20, b, a, 0.0)).abs() < 1e-12);
    }
}
