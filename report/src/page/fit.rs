//! How a run goes into a page: whole, with its phases packed, or aggregated.

use serde_json::value::RawValue;

use super::PageError;
use super::aggregate::Whole;
use super::pack::Packed;
use super::phases::{PhaseSource, Saved};
use super::rows::{LinkRow, NodeRow, Transfer, transfers};
use crate::object::Object;

/// From more transfers than this on, a run is aggregated: a browser draws so many rows at once (*assumed*).
pub const MOST_ROWS: usize = 2000;
/// Phases and explanations of up to so many bytes stay as they are (*assumed*, as the next one).
pub(super) const MOST_PHASES: usize = 200_000;
/// Most bytes of a run that is not aggregated: with what the page has itself, and what the topology and characters that are
/// escaped take, it stays below 1 MB.
const MOST_BYTES: usize = 970_000 - super::embed::OWN;
/// Most bytes of the plans of operations, and of the list of operations, where these are not all of the page.
const MOST_PLANS: usize = 200_000;

/// A run as it goes into a page.
pub(super) struct Fitted {
    pub(super) json: String,
    /// What a reader should know, without the name of the run.
    pub(super) notes: Vec<String>,
}

/// Makes a result fit: its phases are taken from `source`, or from itself.
pub(super) fn fit(mut run: Object<'_>, source: Option<&dyn PhaseSource>) -> Result<Fitted, PageError> {
    let list = run.take("transfers").ok_or_else(|| PageError::lacks("transfers"))?;
    let links = run.get("links").ok_or_else(|| PageError::lacks("links"))?.to_owned();
    let (transfers, links) = (transfers(&list)?, serde_json::from_str::<Vec<LinkRow<'_>>>(links.get())?);
    let (phases, explain) = (run.take("phases"), run.take("explain"));
    let saved = match &phases {
        Some(phases) => Some(Saved::new(phases, explain.as_deref(), &transfers, &links)?),
        None => None,
    };
    let source = source.or(saved.as_ref().map(|saved| saved as &dyn PhaseSource));
    let said = [&phases, &explain].into_iter().flatten().map(|list| list.get().len()).sum::<usize>();
    // Of all that grows with the load; the topology is drawn as it is.
    let lists = ["operations", "plans"].iter().filter_map(|key| run.get(key));
    let rest = list.get().len() + lists.map(|list| list.get().len()).sum::<usize>();
    let few = transfers.len() <= MOST_ROWS;
    if few && said <= MOST_PHASES && (phases.is_some() || source.is_none()) && rest + said <= MOST_BYTES {
        run.set("transfers", &list)?;
        for (key, value) in [("phases", &phases), ("explain", &explain)] {
            value.as_ref().map_or(Ok(()), |value| run.set(key, value))?;
        }
        return Fitted::new(&run, Vec::new());
    }
    if let Some(source) = source.filter(|_| few && rest <= MOST_BYTES)
        && let Some(packed) = Packed::new(source, transfers.len(), MOST_BYTES - rest)?
    {
        let packed = serde_json::value::to_raw_value(&packed)?;
        if rest + packed.get().len() <= MOST_BYTES {
            run.set("transfers", &list)?;
            run.set("packed", &packed)?;
            return Fitted::new(&run, Vec::new());
        }
    }
    aggregated(run, &transfers, &links, source)
}

/// The end of a run, seconds.
fn end(run: &Object<'_>) -> f64 {
    let number = |key| run.get(key).and_then(|value| serde_json::from_str::<Option<f64>>(value.get()).ok().flatten());
    number("stopped_s").or_else(|| number("makespan_s")).unwrap_or_default()
}

fn aggregated(
    mut run: Object<'_>,
    transfers: &[Transfer<'_>],
    links: &[LinkRow<'_>],
    source: Option<&dyn PhaseSource>,
) -> Result<Fitted, PageError> {
    let nodes = run.get("nodes").map(ToOwned::to_owned);
    let nodes: Vec<NodeRow<'_>> = match &nodes {
        Some(nodes) => serde_json::from_str(nodes.get())?,
        None => Vec::new(),
    };
    let whole = Whole { transfers, links, nodes: &nodes, end_s: end(&run) };
    let (aggregated, kept) = whole.aggregated(source)?;
    let mut notes = Vec::new();
    for (key, what) in [("plans", "plans of operations on their engines"), ("operations", "rows of operations")] {
        let Some(list) = run.take(key) else { continue };
        let all: Vec<&RawValue> = serde_json::from_str(list.get())?;
        let few = within(&all, MOST_PLANS);
        if few < all.len() {
            notes.push(format!("only the first {few} of {} {what} are shown", all.len()));
        }
        run.set(key, &&all[..few])?;
    }
    // No step is shown, so none is explained.
    if let Some(arbiter) = run.take("arbiter") {
        let mut arbiter: Object<'_> = serde_json::from_str(arbiter.get())?;
        arbiter.take("legend");
        run.set("arbiter", &arbiter)?;
    }
    run.set("transfers", &kept)?;
    run.set("aggregated", &aggregated)?;
    Fitted::new(&run, notes)
}

/// How many of the first values are within so many bytes.
fn within(values: &[&RawValue], most: usize) -> usize {
    let mut bytes = 0;
    let fits = |value: &&&RawValue| {
        bytes += value.get().len();
        bytes <= most
    };
    values.iter().take_while(fits).count()
}

impl Fitted {
    fn new(run: &Object<'_>, notes: Vec<String>) -> Result<Self, PageError> {
        Ok(Self { json: serde_json::to_string(run)?, notes })
    }
}
