//! What the data tell of two parameters that make up for each other: the one combination that stays the same along the
//! change that they do not see.
//!
//! | parameters | the unseen change | what is told |
//! |---|---|---|
//! | two times | dB = −n · dA | n * A + B |
//! | two bandwidths | d ln A = d ln B | A / B |
//! | a bandwidth and a parameter p of the arbiter | d ln B = dp / (1 − p) | B * (1 − p) |

use weir_report::rate;

use super::certainty::Coupled;
use super::parameter::{Parameter, ParameterKind};
use crate::text::quantity;

/// How near the unseen change must be to a rule; *assumed*: derivatives are good to 10^-8.
const NEAR: f64 = 0.01;

/// One of two coupled parameters: its value, and how far an unseen change moves its coordinate.
struct Moved<'a> {
    parameter: &'a Parameter,
    value: f64,
    by: f64,
}

/// The combination that the data tell of a group, as an equation; `None` where no rule holds.
pub(super) fn told(parameters: &[Parameter], values: &[f64], group: &Coupled) -> Option<String> {
    let [a, b] = group.parameters[..] else { return None };
    let moved = |i: usize| Moved { parameter: &parameters[i], value: values[i], by: group.direction[i] };
    let (a, b) = (moved(a), moved(b));
    match (a.parameter.kind, b.parameter.kind) {
        (ParameterKind::Bandwidth, ParameterKind::Arbiter) => of_arbiter(&a, &b),
        (x, y) if x.is_capacity() && y.is_capacity() => of_bandwidths(&a, &b),
        (x, y) if x.is_time() && y.is_time() => of_times(&a, &b),
        _ => None,
    }
}

fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= NEAR * expected.abs()
}

fn of_bandwidths(a: &Moved<'_>, b: &Moved<'_>) -> Option<String> {
    near(a.by, b.by).then(|| format!("{} / {} = {:.4}", a.parameter.name, b.parameter.name, a.value / b.value))
}

fn of_arbiter(bandwidth: &Moved<'_>, arbiter: &Moved<'_>) -> Option<String> {
    let (marked, p) = (arbiter.parameter.marked.as_ref()?, arbiter.value);
    let change = arbiter.by * marked.unit();
    near(bandwidth.by * (1.0 - p), change).then(|| {
        let (key, told) = (&marked.parameter.key, rate(bandwidth.value * (1.0 - p)));
        format!("B * (1 - {key}) = {told}, where B is the {}", bandwidth.parameter.name)
    })
}

fn of_times(a: &Moved<'_>, b: &Moved<'_>) -> Option<String> {
    let whole = |n: f64| (n >= 0.5 && near(n, n.round())).then(|| n.round());
    let term = |n: f64, of: &Moved<'_>| match n {
        1.0 => of.parameter.name.clone(),
        n => format!("{n} * {}", of.parameter.name),
    };
    let (n, m) = match (whole(-b.by / a.by), whole(-a.by / b.by)) {
        (Some(n), _) => (n, 1.0),
        (_, Some(m)) => (1.0, m),
        _ => return None,
    };
    let sum = quantity(a.parameter.kind, n * a.value + m * b.value);
    Some(format!("{} + {} = {sum}", term(n, a), term(m, b)))
}
