//! Pictures of runs and searches without a browser: what `weir report --svg` writes. They are drawn from the data that the page
//! shows.
//!
//! ```text
//! RunJson ─────────────────────────────────► topology: the tree, with the use of each link
//!    └─► WholeRun::aggregated: bins of time ├─► timeline: a bar for each transfer
//!                                           └─► links: the loads of the busiest links over time
//! SearchJson ─┬────────────────────────────► values: the makespan over those of the only parameter
//!             └────────────────────────────► makespans: how many candidates have which
//! ```

mod loads;
mod makespans;
mod scale;
mod timeline;
mod topology;
mod values;

use weir_plugin_api::{PS_PER_S, SimDuration};

use super::aggregate::WholeRun;
use super::error::PageError;
use super::phases::{PhaseSource, Saved};
use crate::duration;
use crate::json::{List, RunJson, SearchJson};
use crate::run::titled;

/// Pixels of each picture, wide.
const WIDTH: f64 = 960.0;
/// Letters of the names of scenario and arbiter in that of a file.
const NAME: usize = 60;

/// A picture of a run or a search: an SVG document whose texts stay texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// The name of its file: number of the run or search, scenario, arbiter, and what it shows.
    pub file: String,
    /// The document.
    pub svg: String,
}

/// Draws a run whose lists are at hand: its timeline and, of a full result, its topology and the loads of its links.
pub(super) fn of(
    run: &RunJson<'_>,
    number: usize,
    source: Option<&dyn PhaseSource>,
) -> Result<Vec<Picture>, PageError> {
    let saved = Saved::of(run)?;
    let source = source.or(saved.as_ref().map(|saved| saved as &dyn PhaseSource));
    let (transfers, links) = (run.transfers.at_hand(), run.links.at_hand());
    let nodes = run.nodes.as_ref().map_or(&[][..], List::at_hand);
    let end_s = run.stopped_s.unwrap_or(run.makespan_s);
    let (aggregated, _) = WholeRun { transfers, links, nodes, end_s, load_bin_s: run.fill_bin_s }.aggregated(source)?;
    let title = title(&run.scenario, &titled(&run.arbiter.name, &run.arbiter.params));
    let drawn = [
        ("topology", topology::of(&title, nodes, links, end_s)),
        ("timeline", timeline::of(&title, transfers, end_s)),
        ("links", loads::of(&title, links, &aggregated)),
    ];
    let stem = stem(number, &run.scenario, &run.arbiter.name);
    let named = |(kind, svg): (&str, Option<String>)| Some(Picture { file: format!("{stem}-{kind}.svg"), svg: svg? });
    Ok(drawn.into_iter().filter_map(named).collect())
}

/// Draws the makespans of a search that knows those of all its candidates: over its parameter, where there is one.
pub(super) fn of_search(search: &SearchJson<'_>, number: usize) -> Option<Picture> {
    let arbiter = &search.arbiter;
    let title = title(&search.scenario, &titled(&arbiter.name, &arbiter.params));
    let over_values = values::of(&title, search).map(|svg| ("values", svg));
    let (kind, svg) = over_values.or_else(|| Some(("makespans", makespans::of(&title, search)?)))?;
    Some(Picture { file: format!("{}-{kind}.svg", stem(number, &search.scenario, &arbiter.name)), svg })
}

/// A time for a person.
fn time(seconds: f64) -> String {
    duration(SimDuration((seconds * PS_PER_S as f64).round() as u64))
}

fn title(scenario: &str, arbiter: &str) -> String {
    format!("{scenario}, {arbiter}")
}

/// What the names of the files of a result begin with.
fn stem(number: usize, scenario: &str, arbiter: &str) -> String {
    format!("{number}-{}", slug(&format!("{scenario} {arbiter}")))
}

/// A name as a part of that of a file: letters and digits of ASCII, other characters as `-`.
fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-");
    joined.get(..NAME).unwrap_or(&joined).trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(slug("Four transfers on T2 pcie-congestion"), "four-transfers-on-t2-pcie-congestion");
        assert_eq!(slug("../../etc/passwd \u{202e}é {a: b}"), "etc-passwd-a-b");
        assert_eq!(slug(&"ab ".repeat(100)).len(), 59);
    }
}
