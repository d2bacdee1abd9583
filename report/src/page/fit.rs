//! How a run goes into a page: whole, with its phases packed, or aggregated.

use schemars::JsonSchema;
use serde::Serialize;

use super::aggregate::{Aggregated, WholeRun};
use super::error::PageError;
use super::pack::Packed;
use super::phases::{PhaseSource, Saved};
use crate::Widening;
use crate::json::{LinkRow, List, Plans, RunJson, TransferRow, bytes};

/// From more transfers than this on, a run is aggregated: a browser draws so many rows at once (*assumed*).
pub const MOST_ROWS: usize = 2000;
/// Phases and explanations of up to so many bytes stay as they are (*assumed*, as the next one).
const MOST_PHASES: usize = 200_000;
/// Most bytes of a run that is not aggregated: with what the page has itself, and what the topology and characters that are
/// escaped take, it stays below 1 MB.
const MOST_BYTES: usize = 970_000 - super::embed::OWN;
/// Most bytes of the plans of operations, and of the list of operations, where these are not all of the page.
const MOST_PLANS: usize = 200_000;

/// Links of which a page shows how full buffers are, and what they carried when (*assumed*: as of loads in an aggregated run).
const MOST_FILLS: usize = 200;

/// What the page's writer adds to a run.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "RunAdditions")]
pub(super) struct Additions<'a> {
    /// The file that it was saved in, or what was changed of its scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    /// The link that would save most if it were wider, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) widening: Option<Widening>,
    /// The planned operations on their engines: the `operations` of `weir explain --json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plans: Option<List<Plans<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) packed: Option<Packed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) aggregated: Option<Aggregated>,
}

/// A run as the page has it.
#[derive(Serialize)]
pub(super) struct PageRun<'a> {
    #[serde(flatten)]
    result: RunJson<'a>,
    #[serde(flatten)]
    additions: Additions<'a>,
    /// What a reader should know, without the name of the run.
    #[serde(skip)]
    pub(super) notes: Vec<String>,
}

/// How a run goes into a page.
enum Form<'a> {
    Whole,
    Packed(Packed),
    /// With the transfers that are kept.
    Aggregated(Aggregated, Vec<TransferRow<'a>>),
}

/// Makes a run fit: its phases are taken from `source`, or from itself.
pub(super) fn fit<'a>(
    mut run: RunJson<'a>,
    mut additions: Additions<'a>,
    source: Option<&dyn PhaseSource>,
) -> Result<PageRun<'a>, PageError> {
    run.make();
    let form = form(&run, &additions, source)?;
    if !matches!(form, Form::Whole) {
        (run.phases, run.explain) = (None, None);
    }
    let mut notes = Vec::new();
    notes.extend(cut_fills(&mut run));
    notes.extend(cut_loads(&mut run, matches!(form, Form::Aggregated(..))));
    match form {
        Form::Whole => {}
        Form::Packed(packed) => additions.packed = Some(packed),
        Form::Aggregated(aggregated, kept) => {
            additions.aggregated = Some(aggregated);
            run.transfers = List::AtHand(kept);
            // No step is shown, so none is explained.
            run.arbiter.legend.clear();
            let mut note = |cut: Option<(usize, usize)>, what: &str| {
                notes.extend(cut.map(|(few, all)| format!("only the first {few} of {all} {what} are shown")));
            };
            note(
                additions.plans.as_mut().and_then(|plans| plans.cut(MOST_PLANS)),
                "plans of operations on their engines",
            );
            note(run.operations.cut(MOST_PLANS), "rows of operations");
        }
    }
    Ok(PageRun { result: run, additions, notes })
}

/// Keeps how full buffers are of the links with the fullest ones; says so where that is not all.
fn cut_fills(run: &mut RunJson<'_>) -> Option<String> {
    let List::AtHand(links) = &mut run.links else { return None };
    let order = largest(links, |row| row.fill_bytes.as_deref().map(|means| means.iter().sum()));
    let rest = order.get(MOST_FILLS..).filter(|rest| !rest.is_empty())?;
    for &place in rest {
        (links[place].fill_bytes, links[place].buffer_bytes) = (None, None);
    }
    Some(format!("how full buffers are is shown of the {MOST_FILLS} fullest of {}", order.len()))
}

/// Keeps what links carried over time, of those that carried most; of none in an aggregated run, which has its own bins.
fn cut_loads(run: &mut RunJson<'_>, is_aggregated: bool) -> Option<String> {
    let List::AtHand(links) = &mut run.links else { return None };
    let order = largest(links, |row| row.load_bps.as_ref().map(|_| row.bytes));
    let rest = order.get(if is_aggregated { 0 } else { MOST_FILLS }..).filter(|rest| !rest.is_empty())?;
    rest.iter().for_each(|&place| links[place].load_bps = None);
    let note = || format!("loads over time are shown of the {MOST_FILLS} of {} links that carried most", order.len());
    (!is_aggregated).then(note)
}

/// The places of the links with a value, the largest first.
fn largest(links: &[LinkRow<'_>], value: impl Fn(&LinkRow<'_>) -> Option<u64>) -> Vec<usize> {
    let values = links.iter().enumerate().filter_map(|(place, row)| Some((value(row)?, place)));
    let mut order: Vec<(u64, usize)> = values.collect();
    order.sort_unstable_by_key(|&(value, place)| (std::cmp::Reverse(value), place));
    order.into_iter().map(|(_, place)| place).collect()
}

fn form<'a>(
    run: &RunJson<'a>,
    additions: &Additions<'_>,
    source: Option<&dyn PhaseSource>,
) -> Result<Form<'a>, PageError> {
    let saved = Saved::of(run)?;
    let source = source.or(saved.as_ref().map(|saved| saved as &dyn PhaseSource));
    let transfers = run.transfers.at_hand();
    // Of all that grows with the load; the topology is drawn as it is.
    let rest = bytes(&(&run.transfers, &run.operations, &additions.plans), MOST_BYTES);
    if let Some(rest) = rest.filter(|_| transfers.len() <= MOST_ROWS) {
        let whole = run.phases.is_some() || source.is_none();
        let said = bytes(&(&run.phases, &run.explain), MOST_PHASES).filter(|_| whole);
        if said.is_some_and(|said| rest + said <= MOST_BYTES) {
            return Ok(Form::Whole);
        }
        let most = MOST_BYTES - rest;
        let packed = source.map(|source| Packed::new(source, transfers.len(), most)).transpose()?.flatten();
        if let Some(packed) = packed.filter(|packed| bytes(packed, most).is_some()) {
            return Ok(Form::Packed(packed));
        }
    }
    let nodes = run.nodes.as_ref().map_or(&[][..], List::at_hand);
    let end_s = run.stopped_s.unwrap_or(run.makespan_s);
    let (aggregated, kept) =
        WholeRun { transfers, links: run.links.at_hand(), nodes, end_s, load_bin_s: run.fill_bin_s }
            .aggregated(source)?;
    Ok(Form::Aggregated(aggregated, kept.into_iter().map(|place| transfers[place].clone()).collect()))
}
