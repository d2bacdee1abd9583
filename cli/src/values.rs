//! Values on the command line: times, percentages, edits.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use weir::Jitter;
use weir_optimize::parameters::Shard;
use weir_optimize::search::{Method, Objective, Vary};
use weir_plugin_api::{SimDuration, SimTime};
use weir_report::{Deviation, Lines, LinkPattern};

/// A point of simulated time such as `10ms`, written as in scenarios.
pub(crate) fn time(text: &str) -> Result<SimTime, String> {
    weir_scenario::parse_time(text).map(|span| SimTime(span.0))
}

/// A span of simulated time such as `1us`, above 0.
pub(crate) fn jitter(text: &str) -> Result<SimDuration, String> {
    let span = weir_scenario::parse_time(text)?;
    Jitter::new(span, 1).map(|_| span).map_err(|error| error.brief())
}

/// A number of runs.
pub(crate) fn seeds(text: &str) -> Result<u32, String> {
    let number = text.parse().map_err(|_| "give a whole number from 1 to 1000".to_owned())?;
    Jitter::new(SimDuration(1), number).map(|_| number).map_err(|error| error.brief())
}

/// Links of a timeline.
pub(crate) fn links(text: &str) -> Result<LinkPattern, String> {
    let is_empty = text.split("->").any(|end| end.trim().is_empty());
    if is_empty {
        Err("name a node, such as plx0, or a link, such as gpu0->plx0".to_owned())
    } else {
        Ok(LinkPattern::new(text))
    }
}

/// A number of transfers.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&count| count > 0).ok_or_else(|| "give a whole number above 0, such as 500".to_owned())
}

/// A number of hops of packets.
pub(crate) fn hops(text: &str) -> Result<u64, String> {
    let wrong = || "give a whole number above 0, such as 100000000000".to_owned();
    text.parse().ok().filter(|&hops| hops > 0).ok_or_else(wrong)
}

pub(crate) fn vary() -> impl TypedValueParser<Value = Vary> {
    PossibleValuesParser::new(Vary::ALL.map(Vary::word)).try_map(|text| text.parse::<Vary>())
}

pub(crate) fn method() -> impl TypedValueParser<Value = Method> {
    PossibleValuesParser::new(Method::ALL.map(Method::word)).try_map(|text| text.parse::<Method>())
}

/// A number of candidates.
pub(crate) fn candidates(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|&count| count > 0).ok_or_else(|| "give a whole number above 0, such as 50000".to_owned())
}

/// What a search makes small, or large; what needs items is said in the scenario.
pub(crate) fn objective() -> impl TypedValueParser<Value = Objective> {
    let alone = Objective::ALL.into_iter().filter(|objective| !objective.needs_items());
    PossibleValuesParser::new(alone.map(Objective::word)).try_map(|text| text.parse::<Objective>())
}

/// The kind of a dump.
pub(crate) fn dump_format() -> impl TypedValueParser<Value = weir_import::Format> {
    PossibleValuesParser::new(weir_import::Format::ALL.map(weir_import::Format::word))
        .try_map(|text| text.parse::<weir_import::Format>())
}

/// Which bandwidths an import writes.
pub(crate) fn figures() -> impl TypedValueParser<Value = weir_import::Figures> {
    PossibleValuesParser::new(["effective", "raw"]).map(|text| match text.as_str() {
        "raw" => weir_import::Figures::Raw,
        _ => weir_import::Figures::Effective,
    })
}

/// A time on the clock such as `60s`, above 0.
pub(crate) fn budget(text: &str) -> Result<Duration, String> {
    let span = Duration::from_secs_f64(weir_scenario::parse_time(text)?.seconds());
    if span.is_zero() { Err("give a time above 0, such as 60s".to_owned()) } else { Ok(span) }
}

/// A share of a search, `2/8`.
pub(crate) fn shard(text: &str) -> Result<Shard, String> {
    text.parse().map_err(|error: weir_optimize::parameters::ParameterError| error.to_string())
}

pub(crate) fn threads(text: &str) -> Result<usize, String> {
    /// More than any machine has cores; *assumed*.
    const MOST: usize = 4096;
    let fits = |n: &usize| (1..=MOST).contains(n);
    text.parse().ok().filter(fits).ok_or_else(|| format!("give a whole number from 1 to {MOST}"))
}

/// A percentage, `0.1%` as 0.1.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let value = text.strip_suffix('%').and_then(|digits| digits.trim().parse::<f64>().ok());
    value.filter(|v| v.is_finite() && *v >= 0.0).ok_or_else(|| "write a percentage, such as 0.1%".to_owned())
}

/// The condition of `--fail-if`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct FailIf {
    pub(crate) change: Deviation,
    pub(crate) percent: f64,
}

/// `slower:2%`, `faster:2%` or `differs:2%`.
pub(crate) fn fail_if(text: &str) -> Result<FailIf, String> {
    let condition = text.split_once(':').and_then(|(word, value)| {
        let change = Deviation::ALL.into_iter().find(|change| change.word() == word)?;
        Some(FailIf { change, percent: percent(value).ok()? })
    });
    condition.ok_or_else(|| "write slower:, faster: or differs: and a percentage, such as slower:2%".to_owned())
}

/// An edit of a scenario, `path=value`, in two.
pub(crate) fn edit(text: &str) -> Result<(String, String), String> {
    let (path, value) =
        text.split_once('=').ok_or("write a path, = and a value, such as workload[0].transfer.size=4MB")?;
    Ok((path.trim().to_owned(), value.trim().to_owned()))
}

/// What `--with` changes: its text, and the edits that it stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct With {
    /// As it was given.
    pub(crate) text: String,
    /// The edits, in their order.
    pub(crate) edits: Vec<(String, String)>,
}

/// Edits with commas between; commas in brackets, braces and quotes belong to a value, and so does a part without `=`.
pub(crate) fn with(text: &str) -> Result<With, String> {
    let mut parts: Vec<String> = Vec::new();
    for part in weir_scenario::between_commas(text) {
        match parts.last_mut() {
            Some(last) if !part.contains('=') => last.push_str(&format!(",{part}")),
            _ => parts.push(part.to_owned()),
        }
    }
    let edits = parts.iter().map(|part| edit(part)).collect::<Result<_, _>>()?;
    Ok(With { text: text.trim().to_owned(), edits })
}

/// A weight of `--cost`, `link_types.upi=3`.
pub(crate) fn cost(text: &str) -> Result<(String, f64), String> {
    let remedy = "write a name, = and a weight above 0, such as link_types.upi=3";
    let (name, weight) = text.rsplit_once('=').ok_or(remedy)?;
    let weight = weight.trim().parse::<f64>().ok().filter(|weight| weight.is_finite() && *weight > 0.0);
    Ok((name.trim().to_owned(), weight.ok_or(remedy)?))
}

/// Most sizes of one `weir tune` (*assumed*: as many as there are powers of two).
const MOST_SIZES: usize = 64;

/// Sizes in bytes, ascending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sizes(pub(crate) Vec<u64>);

/// `1KiB..32MiB`, doubling, or `1KiB,4KiB,1MiB`.
pub(crate) fn sizes(text: &str) -> Result<Sizes, String> {
    let size = |text: &str| weir_scenario::parse_bytes(text.trim());
    let Some((first, last)) = text.split_once("..") else {
        let mut sizes = text.split(',').map(size).collect::<Result<Vec<_>, _>>()?;
        sizes.sort_unstable();
        sizes.dedup();
        return if sizes.len() <= MOST_SIZES {
            Ok(Sizes(sizes))
        } else {
            Err(format!("give at most {MOST_SIZES} sizes"))
        };
    };
    let (first, last) = (size(first)?, size(last)?);
    if first > last {
        return Err("the range is empty; write the smaller size first, as in 1KiB..32MiB".to_owned());
    }
    Ok(Sizes(
        std::iter::successors(Some(first), |&size| size.checked_mul(2)).take_while(|&size| size <= last).collect(),
    ))
}

/// Where `--stream` puts transfers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StreamTarget {
    /// The file; `None` for stdout.
    pub(crate) file: Option<PathBuf>,
    /// The form of the lines.
    pub(crate) lines: Lines,
}

/// A file that ends in .csv or .jsonl, or `-`.
pub(crate) fn stream(text: &str) -> Result<StreamTarget, String> {
    if text == "-" {
        return Ok(StreamTarget { file: None, lines: Lines::Json });
    }
    let file = PathBuf::from(text);
    let lines = match file.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Lines::Csv,
        Some("jsonl") => Lines::Json,
        _ => return Err("name a file that ends in .csv or .jsonl, or `-` for JSON lines on stdout".to_owned()),
    };
    Ok(StreamTarget { file: Some(file), lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_a_doubling_range_or_a_list() {
        let read = |text| sizes(text).map(|sizes| sizes.0);
        assert_eq!(read("1KiB..8KiB"), Ok(vec![1024, 2048, 4096, 8192]));
        assert_eq!(read("1KiB .. 7KiB"), Ok(vec![1024, 2048, 4096]));
        assert_eq!(read("5MB..5MB"), Ok(vec![5_000_000]));
        assert_eq!(read("4KiB, 1KiB,4KiB"), Ok(vec![1024, 4096]));
        assert_eq!(read("1B..8PiB").map(|sizes| sizes.len()), Ok(54), "2^0 to 2^53");
        for wrong in ["", "1KiB..", "..1KiB", "8KiB..1KiB", "1024", "0B", "1KiB;4KiB", "1KiB,,4KiB", "1KiB..2KiB..4KiB"]
        {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
        let many: Vec<String> = (1..=65).map(|n| format!("{n}B")).collect();
        assert!(sizes(&many.join(",")).is_err());
    }

    #[test]
    fn fail_if_takes_a_direction_and_a_percentage() {
        assert_eq!(fail_if("slower:2%"), Ok(FailIf { change: Deviation::Slower, percent: 2.0 }));
        assert_eq!(fail_if("faster:0.5%"), Ok(FailIf { change: Deviation::Faster, percent: 0.5 }));
        assert_eq!(fail_if("differs:0%"), Ok(FailIf { change: Deviation::Differs, percent: 0.0 }));
        for wrong in
            ["2%", "slower:2", "slower:-1%", "slower:NaN%", "faster:inf%", "other:2%", "differs:%", "Slower:2%"]
        {
            assert!(fail_if(wrong).is_err(), "{wrong}");
        }
        assert_eq!(percent("0.1%"), Ok(0.1));
        assert!(percent("0.1").is_err());
    }

    #[test]
    fn edits_are_split_at_the_first_sign() {
        assert_eq!(edit("a[0].b=x=y"), Ok(("a[0].b".to_owned(), "x=y".to_owned())));
        assert!(edit("a.b").is_err());
    }

    #[test]
    fn edits_stand_between_commas() {
        let edits = |text| with(text).map(|with| with.edits).expect("edits");
        let pair = |path: &str, value: &str| (path.to_owned(), value.to_owned());
        assert_eq!(edits("a.b=1GB/s, c[0]=x"), [pair("a.b", "1GB/s"), pair("c[0]", "x")]);
        assert_eq!(edits("a={ b: 1, c: [2, 3] },d='e,f=g'"), [pair("a", "{ b: 1, c: [2, 3] }"), pair("d", "'e,f=g'")]);
        assert_eq!(edits("name=one, two"), [pair("name", "one, two")]);
        assert_eq!(edits("tree.\"gpu[0-3]\".engines=2"), [pair("tree.\"gpu[0-3]\".engines", "2")]);
        assert!(with("a").is_err() && with("").is_err());
    }

    #[test]
    fn costs_are_names_with_weights() {
        assert_eq!(cost("link_types.upi=3"), Ok(("link_types.upi".to_owned(), 3.0)));
        for wrong in ["upi", "upi=", "upi=0", "upi=-1", "upi=NaN", "upi=inf"] {
            assert!(cost(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_written_as_in_scenarios() {
        assert_eq!(time("10ms"), Ok(SimTime(10_000_000_000)));
        for wrong in ["10", "ten ms", "-1ms", ""] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
