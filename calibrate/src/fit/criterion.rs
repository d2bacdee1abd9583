//! Schwarz's criterion: whether a better fit is worth its further parameters.

/// Fall of the criterion that counts: "very strong" evidence (Kass and Raftery, *Bayes Factors*, JASA 90, 1995).
pub(super) const CLEARLY: f64 = 10.0;

/// n·ln(SSE/n) + p·ln n (Schwarz, *Estimating the dimension of a model*, Annals of Statistics 6, 1978) for `rows`, the sum
/// of their `squares` and the number of `parameters`. A mean square below `least` counts as that.
pub(super) fn schwarz(rows: usize, squares: f64, parameters: usize, least: f64) -> f64 {
    let n = rows.max(1) as f64;
    n * libm::log((squares / n).max(least)) + parameters as f64 * libm::log(n)
}
