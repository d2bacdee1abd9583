//! A run of many transfers in bins of time: loads of links, and transfers by groups. The form is `aggregated` of
//! `report/web/data.md`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ordered_float::OrderedFloat;
use schemars::JsonSchema;
use serde::Serialize;

use super::bins::{Bins, Short};
use super::delays::Delays;
use super::error::PageError;
use super::groups::Grouping;
use super::phases::PhaseSource;
use crate::json::{LinkRow, NodeRow, TransferRow, bytes};

/// Intervals of time (*assumed*: a screen shows no more).
const BINS: usize = 250;
/// Most links: those that carried most (*assumed*, as are the next ones: together about 700 kB).
const MOST_LINKS: usize = 200;
/// Most groups of transfers.
const MOST_GROUPS: usize = 64;
/// Most transfers that are kept.
const MOST_KEPT: usize = 1000;
/// Most bytes of their rows.
const MOST_KEPT_BYTES: usize = 250_000;

/// What an aggregated run is made from.
pub(super) struct WholeRun<'a> {
    pub(super) transfers: &'a [TransferRow<'a>],
    pub(super) links: &'a [LinkRow<'a>],
    pub(super) nodes: &'a [NodeRow<'a>],
    /// End of the run, seconds.
    pub(super) end_s: f64,
    /// Width of the bins of loads of links, of packets; seconds.
    pub(super) load_bin_s: Option<f64>,
}

/// `aggregated` of a run.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Aggregated {
    transfers: usize,
    kept: String,
    /// `phases` where bins are integrals of the rates of phases, `means` where each transfer counts with its mean rate.
    rates: &'static str,
    pub(super) from_s: f64,
    pub(super) to_s: f64,
    bins: usize,
    pub(super) links: Vec<LinkBins>,
    by: String,
    groups: Vec<GroupBins>,
    /// Per transfer that is kept.
    group_of: Vec<usize>,
    /// How many transfers have ended.
    ended: usize,
    delays: Delays,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct LinkBins {
    pub(super) id: u32,
    pub(super) permille: Vec<u64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct GroupBins {
    name: String,
    count: usize,
    /// Payload sent, bytes.
    bytes: u64,
    /// When the first one started, and the last one ended; none where none has.
    start_s: Option<f64>,
    end_s: Option<f64>,
    #[serde(rename = "rate_Bps", serialize_with = "short")]
    #[schemars(with = "Vec<f64>")]
    rate: Vec<f64>,
    #[serde(serialize_with = "short")]
    #[schemars(with = "Vec<f64>")]
    active: Vec<f64>,
    #[serde(serialize_with = "short")]
    #[schemars(with = "Vec<f64>")]
    waiting: Vec<f64>,
}

fn short<S: serde::Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
    Short(values).serialize(to)
}

/// Sums over bins, while they grow: values times seconds.
struct Sums {
    bins: Bins,
    /// By id of a link: bytes.
    links: BTreeMap<u32, Vec<f64>>,
    /// Per group: bytes, transfers · seconds of sending and of waiting.
    rate: Vec<Vec<f64>>,
    active: Vec<Vec<f64>>,
    waiting: Vec<Vec<f64>>,
}

impl WholeRun<'_> {
    /// Bins of this run, and the places of the transfers that are kept. Loads are integrals of the phases of `source`; without
    /// one each transfer counts with its mean rate.
    pub(super) fn aggregated(&self, source: Option<&dyn PhaseSource>) -> Result<(Aggregated, Vec<usize>), PageError> {
        let grouping = Grouping::new(self.transfers, self.nodes, MOST_GROUPS);
        let mut sums = Sums::new(self.bins(), grouping.names.len());
        self.waiting(&grouping, &mut sums);
        match source {
            Some(source) => self.integrals(source, &grouping, &mut sums)?,
            None => self.means(&grouping, &mut sums),
        }
        self.known_loads(&mut sums);
        let kept = self.kept();
        let aggregated = Aggregated {
            transfers: self.transfers.len(),
            kept: format!("the {} longest", kept.len()),
            rates: if source.is_some() { "phases" } else { "means" },
            from_s: sums.bins.from,
            to_s: sums.bins.to,
            bins: sums.bins.count,
            links: self.loads(&sums),
            groups: self.groups(&grouping, &sums),
            group_of: kept.iter().map(|&place| grouping.of[place]).collect(),
            by: grouping.by,
            ended: self.transfers.iter().filter(|transfer| transfer.end_s.is_some()).count(),
            delays: Delays::of(self.transfers, self.end_s),
        };
        Ok((aggregated, kept))
    }

    /// From the first transfer that is ready to the end.
    fn bins(&self) -> Bins {
        let ready = self.transfers.iter().filter_map(|t| t.ready_s);
        let from = ready.fold(f64::INFINITY, f64::min);
        let ended = self.transfers.iter().filter_map(|t| t.end_s);
        let to = ended.fold(self.end_s, f64::max);
        // Nothing has happened: one picosecond of it.
        let from = if from < to { from } else { to - 1e-12 };
        Bins { from, to, count: BINS }
    }

    /// Transfers that are ready and have not started.
    fn waiting(&self, grouping: &Grouping<'_>, sums: &mut Sums) {
        for (transfer, &group) in self.transfers.iter().zip(&grouping.of) {
            let Some(ready) = transfer.ready_s else { continue };
            let until = transfer.start_s.unwrap_or(sums.bins.to);
            Bins::add(&mut sums.waiting[group], sums.bins.parts(ready, until), 1.0);
        }
    }

    fn integrals(&self, source: &dyn PhaseSource, grouping: &Grouping<'_>, sums: &mut Sums) -> Result<(), PageError> {
        let unknown = || PageError::damaged("its phases name a transfer that it lacks");
        source.each(false, &mut |moment| {
            let parts: Vec<_> = sums.bins.parts(moment.start_s, moment.end_s).collect();
            for active in &moment.active {
                let place = active.transfer as usize;
                let row = self.transfers.get(place).ok_or_else(unknown)?;
                sums.add((row, moment.start_s), grouping.of[place], &parts, active.rate);
            }
            Ok(true)
        })
    }

    fn means(&self, grouping: &Grouping<'_>, sums: &mut Sums) {
        for (transfer, &group) in self.transfers.iter().zip(&grouping.of) {
            let Some(sending) = transfer.sending() else { continue };
            for (from, to, bytes) in transfer.legs(sending).filter(|(from, to, _)| to > from) {
                let parts: Vec<_> = sums.bins.parts(from, to).collect();
                let whole = transfer.reroutes.is_empty();
                let mean = if whole { transfer.mean_bps.unwrap_or_default() } else { bytes as f64 / (to - from) };
                sums.add((transfer, from), group, &parts, mean);
            }
        }
    }

    /// What packets put on links, in place of the mean rates of transfers: together these can be more than a link carries.
    fn known_loads(&self, sums: &mut Sums) {
        let Some(width) = self.load_bin_s else { return };
        sums.links.clear();
        for link in self.links {
            let (Some(id), Some(loads)) = (link.id, &link.load_bps) else { continue };
            let most = link.bandwidth_bps.unwrap_or(f64::INFINITY);
            let mut bytes = vec![0.0; sums.bins.count];
            for (bin, &load) in loads.iter().enumerate() {
                let from = bin as f64 * width;
                // The answers of reads may have a smaller header than the bandwidth counts with.
                Bins::add(&mut bytes, sums.bins.parts(from, (from + width).min(self.end_s)), most.min(load as f64));
            }
            sums.links.insert(id, bytes);
        }
    }

    /// The loads of the links that carried most, in thousandths of their bandwidths, in the order of ids.
    fn loads(&self, sums: &Sums) -> Vec<LinkBins> {
        let bandwidths: BTreeMap<u32, f64> =
            self.links.iter().filter_map(|l| Some((l.id?, l.bandwidth_bps?))).collect();
        let mut most: Vec<(&u32, &Vec<f64>)> = sums.links.iter().collect();
        let carried = |bytes: &[f64]| bytes.iter().sum::<f64>();
        most.sort_by_cached_key(|(_, bytes)| Reverse(OrderedFloat(carried(bytes))));
        most.truncate(MOST_LINKS);
        most.sort_by_key(|(id, _)| **id);
        let loads = most.into_iter().filter_map(|(id, bytes)| {
            let full = bandwidths.get(id)? * sums.bins.width();
            Some(LinkBins { id: *id, permille: bytes.iter().map(|b| (1000.0 * b / full).round() as u64).collect() })
        });
        loads.collect()
    }

    fn groups(&self, grouping: &Grouping<'_>, sums: &Sums) -> Vec<GroupBins> {
        let means = |sums: &[f64], width: f64| sums.iter().map(|sum| sum / width).collect::<Vec<f64>>();
        let width = sums.bins.width();
        let empty = |(i, name): (usize, &std::borrow::Cow<'_, str>)| GroupBins {
            name: name.to_string(),
            count: 0,
            bytes: 0,
            start_s: None,
            end_s: None,
            rate: means(&sums.rate[i], width),
            active: means(&sums.active[i], width),
            waiting: means(&sums.waiting[i], width),
        };
        let mut groups: Vec<GroupBins> = grouping.names.iter().enumerate().map(empty).collect();
        for (transfer, &group) in self.transfers.iter().zip(&grouping.of) {
            let (row, group) = (transfer, &mut groups[group]);
            group.count += 1;
            group.bytes = group.bytes.saturating_add(row.sent());
            group.start_s = merged(group.start_s, row.start_s, f64::min);
            group.end_s = merged(group.end_s, row.end_s, f64::max);
        }
        groups
    }

    /// The places of the transfers that took longest, in their order.
    fn kept(&self) -> Vec<usize> {
        let span = |row: &TransferRow<'_>| row.start_s.map_or(0.0, |start| row.end_s.unwrap_or(self.end_s) - start);
        let mut order: Vec<(OrderedFloat<f64>, Reverse<usize>)> =
            self.transfers.iter().enumerate().map(|(i, t)| (OrderedFloat(span(t)), Reverse(i))).collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        let mut rest = MOST_KEPT_BYTES;
        let fits = |&place: &usize| bytes(&self.transfers[place], rest).map(|bytes| rest -= bytes).is_some();
        let mut kept: Vec<usize> = order.iter().map(|(_, i)| i.0).take(MOST_KEPT).take_while(fits).collect();
        kept.sort_unstable();
        kept
    }
}

/// One of two times, as `choose` says; the known one where one is not known.
fn merged(a: Option<f64>, b: Option<f64>, choose: fn(f64, f64) -> f64) -> Option<f64> {
    a.zip(b).map(|(a, b)| choose(a, b)).or(a).or(b)
}

impl Sums {
    fn new(bins: Bins, groups: usize) -> Self {
        let empty = || vec![vec![0.0; bins.count]; groups];
        Self { bins, links: BTreeMap::new(), rate: empty(), active: empty(), waiting: empty() }
    }

    /// A transfer at a rate over parts of bins, from a time on.
    fn add(&mut self, (row, time): (&TransferRow<'_>, f64), group: usize, parts: &[(usize, f64)], rate: f64) {
        let parts = || parts.iter().copied();
        Bins::add(&mut self.active[group], parts(), 1.0);
        Bins::add(&mut self.rate[group], parts(), rate);
        for (link, share) in row.parts_at(time) {
            let sums = self.links.entry(link).or_insert_with(|| vec![0.0; self.bins.count]);
            Bins::add(sums, parts(), rate * share);
        }
    }
}
