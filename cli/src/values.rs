//! Values on the command line: times, percentages, edits.

use weir_plugin_api::SimTime;

/// A point of simulated time such as `10ms`, written as in scenarios.
pub(crate) fn time(text: &str) -> Result<SimTime, String> {
    weir_scenarios::parse_time(text).map(|span| SimTime(span.0))
}

/// The condition of `--fail-if`: `slower:2%` as 2.
pub(crate) fn slower(text: &str) -> Result<f64, String> {
    let percent = text.strip_prefix("slower:").and_then(|rest| rest.strip_suffix('%'));
    let value = percent.and_then(|digits| digits.trim().parse::<f64>().ok());
    value
        .filter(|v| v.is_finite() && *v >= 0.0)
        .ok_or_else(|| "write slower: and a percentage, such as slower:2%".into())
}

/// An edit of a scenario, `path=value`, in two.
pub(crate) fn edit(text: &str) -> Result<(String, String), String> {
    let (path, value) = text.split_once('=').ok_or("write a path, = and a value, such as arbiter.tau=0.1")?;
    Ok((path.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fail_if_takes_a_percentage() {
        assert_eq!(slower("slower:2%"), Ok(2.0));
        assert_eq!(slower("slower:0.5%"), Ok(0.5));
        for wrong in ["2%", "slower:2", "slower:-1%", "slower:NaN%", "slower:inf%", "faster:2%", "slower:%"] {
            assert!(slower(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn edits_are_split_at_the_first_sign() {
        assert_eq!(edit("a[0].b=x=y"), Ok(("a[0].b".to_owned(), "x=y".to_owned())));
        assert!(edit("a.b").is_err());
    }

    #[test]
    fn times_are_written_as_in_scenarios() {
        assert_eq!(time("10ms"), Ok(SimTime(10_000_000_000)));
        for wrong in ["10", "ten ms", "-1ms", ""] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
