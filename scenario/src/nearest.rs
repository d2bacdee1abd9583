//! The nearest valid name to a wrong one.

use crate::diagnostic::{quoted, shortened};

/// Names compared at most, so that an error in a large scenario stays quick.
const COMPARED: usize = 100_000;
/// Pairs of letters compared at most for the same reason: the distance of two names costs the product of their lengths.
const LETTERS: usize = 2_000_000;
/// Names listed at most when none is near.
const LISTED: usize = 12;
/// Bytes of that list, but for its first name, at most.
const LISTED_BYTES: usize = 400;

/// The name that looks most like `wrong`, if one is near enough to be meant; the first among equals.
pub(crate) fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Very long texts are no misspelt names.
    if wrong.len() > 256 {
        return None;
    }
    let most = (wrong.chars().count() / 3).max(1);
    let lower = wrong.to_lowercase();
    let (mut best, mut left) = (None, LETTERS);
    for name in names.into_iter().take(COMPARED) {
        let distance = match name.eq_ignore_ascii_case(&lower) {
            true => 0,
            false if name.len().abs_diff(wrong.len()) > 2 * most => continue,
            false if name.len() * wrong.len() > left => continue,
            false => {
                left -= name.len() * wrong.len();
                strsim::osa_distance(wrong, name)
            }
        };
        if distance <= most && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// A remedy for a wrong name: the nearest one, and the valid ones when they are few.
pub fn suggestion<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str> + Clone, plural: &str) -> String {
    let near = nearest(wrong, names.clone()).map(|name| format!("did you mean {}?", quoted(name)));
    let (mut listed, mut more) = (String::new(), "");
    for (i, name) in names.into_iter().enumerate() {
        if i == LISTED || (i > 0 && listed.len() + name.len() > LISTED_BYTES) {
            more = ", …";
            break;
        }
        listed.push_str(if i > 0 { ", " } else { "" });
        listed.push_str(&shortened(name));
    }
    if listed.is_empty() {
        return format!("there are no {plural} here: remove it");
    }
    let known = format!("known {plural}: {listed}{more}");
    match near {
        Some(near) if more.is_empty() => format!("{near} ({known})"),
        Some(near) => near,
        None => known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_misspelt_name() {
        let names = ["transfer", "pattern", "trace", "gpu0", "gpu1"];
        assert_eq!(nearest("trasnfer", names), Some("transfer"));
        assert_eq!(nearest("GPU1", names), Some("gpu1"));
        assert_eq!(nearest("gpu7", names), Some("gpu0"));
        assert_eq!(nearest("completely-else", names), None);
    }

    #[test]
    fn lists_names_when_none_is_near() {
        assert_eq!(suggestion("zzz", ["a1", "b2"], "keys"), "known keys: a1, b2");
        assert_eq!(suggestion("a2", ["a1", "b9"], "keys"), "did you mean `a1`? (known keys: a1, b9)");
        assert_eq!(suggestion("a", [], "keys"), "there are no keys here: remove it");
        let long = ["a".repeat(1000), "b".repeat(1000)];
        let known = format!("known keys: {}…, …", "a".repeat(60));
        assert_eq!(suggestion("x", long.iter().map(String::as_str), "keys"), known);
    }
}
