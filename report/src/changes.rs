//! Links that changed while a run went on, by `events`.

use std::borrow::Cow;
use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_plugin_api::SimDuration;
use weir_sim_core::LinkChangeTotals;

use crate::Run;
use crate::link::Ends;
use crate::schemas::time;
use crate::units::duration;

/// Links named in sentences, at most.
const NAMED: usize = 3;

/// A directed link that changed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "LinkChange")]
pub(crate) struct LinkChangeRow<'a> {
    /// The link.
    #[serde(borrow)]
    link: Ends<'a>,
    /// How often what it carries changed.
    changes: u64,
    /// For how long it was down, seconds.
    #[serde(deserialize_with = "time")]
    down_s: f64,
}

impl LinkChangeRow<'_> {
    /// The nodes of its link.
    pub(crate) fn ends(&self) -> (&str, &str) {
        (&self.link.from, &self.link.to)
    }
}

fn others_of(links: usize) -> String {
    if links == 1 { "1 more link".to_owned() } else { format!("{links} more links") }
}

impl<'a> Run<'a> {
    /// The directed links that changed, by id.
    pub(crate) fn link_changes(&self) -> Vec<LinkChangeRow<'a>> {
        let row = |totals: &LinkChangeTotals| LinkChangeRow {
            link: Ends::of(self.scenario, totals.link),
            changes: totals.changes,
            down_s: totals.down.seconds(),
        };
        self.outcome.link_changes.iter().map(row).collect()
    }

    /// What the links that changed did: a sentence for each of those that were down longest, without a full stop.
    pub(crate) fn change_sentences(&self) -> Vec<String> {
        // Both directions change together.
        let mut pairs: Vec<&LinkChangeTotals> = Vec::new();
        for totals in &self.outcome.link_changes {
            let is_other = |last: &&LinkChangeTotals| {
                (last.link.0 ^ 1, last.changes, last.down) == (totals.link.0, totals.changes, totals.down)
            };
            if !pairs.last().is_some_and(is_other) {
                pairs.push(totals);
            }
        }
        pairs.sort_by_key(|totals| (Reverse((totals.down, totals.changes)), totals.link));
        let more = pairs.len().saturating_sub(NAMED);
        let down = pairs.iter().skip(NAMED).fold(SimDuration::ZERO, |sum, totals| sum.plus(totals.down));
        let others = (more > 0).then(|| format!("{} changed, down for {} together", others_of(more), duration(down)));
        pairs.iter().take(NAMED).map(|totals| self.sentence(totals)).chain(others).collect()
    }

    fn sentence(&self, totals: &LinkChangeTotals) -> String {
        let (from, to) = self.link_names(totals.link);
        let times: Cow<'_, str> = match totals.changes {
            1 => "once".into(),
            2 => "twice".into(),
            n => format!("{n} times").into(),
        };
        let down = match totals.down {
            SimDuration::ZERO => String::new(),
            time => format!(" and was down for {}", duration(time)),
        };
        format!("link {from} – {to} changed {times}{down}")
    }
}
