//! Every candidate.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use super::space::Space;
use super::{Evaluate, JointFound};
use crate::search::best_of;

/// Visits all candidates on the threads of the current rayon pool; `seen` is shown their values in order of their numbers,
/// none for what is no candidate. None when the search was ended before it knew a value, or there is none.
///
/// # Errors
/// Of the candidates that cannot be evaluated, the one of the lowest number that was visited.
///
/// # Panics
/// Where there are more than 2^128 candidates.
pub fn visit_all<V: Evaluate>(
    space: &Space,
    evaluate: &V,
    cancel: &AtomicBool,
    mut seen: impl FnMut(Option<f64>),
) -> Result<Option<JointFound>, V::Error> {
    let all = space.candidates().expect("candidates have numbers");
    let states: Mutex<Vec<V::State>> = Mutex::new(Vec::new());
    let lock = || states.lock().unwrap_or_else(PoisonError::into_inner);
    let value = |number| {
        // On a line of its own, so that the lock is not held while the candidate is evaluated.
        let kept = lock().pop();
        let mut state = kept.unwrap_or_else(|| evaluate.start());
        let value = evaluate.value(&mut state, &space.candidate(number));
        lock().push(state);
        value.map(|value| value.unwrap_or(f64::INFINITY))
    };
    let mut evaluated = 0;
    let best = best_of(all, value, cancel, |value| {
        evaluated += u64::from(value.is_finite());
        seen(Some(value).filter(|value| value.is_finite()));
    })?;
    Ok(best.filter(|best| best.value.is_finite()).map(|best| JointFound {
        candidate: space.candidate(best.number),
        value: best.value,
        evaluated,
        all: best.complete && best.evaluated == all,
        complete: best.complete && best.evaluated == all,
    }))
}
