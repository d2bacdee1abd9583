//! The rows of a result: borrowed from the run while one is written, or from the text of a saved result.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::changes::RerouteRow;
use crate::link::Ends;
use crate::pairs::Pairs;
use crate::schemas::time;
use crate::spread::EndSpreadJson;
use crate::{Delay, TransferCause};

/// A name, not copied where that can be.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Name<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'a> From<&'a str> for Name<'a> {
    fn from(name: &'a str) -> Self {
        Self(Cow::Borrowed(name))
    }
}

/// A transfer of the workload: when it was ready, started and ended, and what delayed it.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Transfer")]
pub(crate) struct TransferRow<'a> {
    /// The id of the operation in the scenario, with what its expansion adds.
    #[serde(borrow)]
    pub(crate) id: Cow<'a, str>,
    /// The node that sends.
    #[serde(borrow)]
    pub(crate) from: Cow<'a, str>,
    /// The node that receives.
    #[serde(borrow)]
    pub(crate) to: Cow<'a, str>,
    /// Payload, bytes.
    pub(crate) bytes: u64,
    /// All it waited for had ended; null if that did not happen.
    #[serde(deserialize_with = "time")]
    pub(crate) ready_s: Option<f64>,
    /// Its source's engine took it; null if that did not happen.
    #[serde(deserialize_with = "time")]
    pub(crate) start_s: Option<f64>,
    /// Its last byte arrived; null if that did not happen.
    #[serde(deserialize_with = "time")]
    pub(crate) end_s: Option<f64>,
    /// The same in picoseconds, exact.
    pub(crate) end_ps: Option<u64>,
    /// Where `spread` is given: its end in those runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end_spread_s: Option<EndSpreadJson>,
    /// Where `spread` is given: the longest less the shortest time from ready to end in those runs, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "time")]
    pub(crate) time_spread_s: Option<f64>,
    /// Bytes over the time from its start to its last byte sent, in runs of packets to its end; of an unfinished transfer, so
    /// far.
    #[serde(rename = "mean_Bps")]
    pub(crate) mean_bps: Option<f64>,
    /// Only of an unfinished transfer: whole bytes sent so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sent_bytes: Option<u64>,
    /// Runs of packets: its packets where it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) packets: Option<u64>,
    /// Runs of packets: its last byte left its source; null if that did not happen.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "time")]
    pub(crate) sent_s: Option<f64>,
    /// Runs of packets: how long its source had a packet ready that did not start, by what held it, longest first.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) held: Option<Vec<HeldRow<'a>>>,
    /// Ready to end of the same transfer alone under the same arbiter, with the time to issue it; null where the arbiter
    /// has no steady answer, and after an interrupt.
    #[serde(deserialize_with = "time")]
    pub(crate) alone_s: Option<f64>,
    /// By how much longer it took than alone, in parts; null where its time alone is not known, or it has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delay: Option<Delay>,
    /// The link that held it back for the largest part of its time.
    #[serde(borrow)]
    pub(crate) bottleneck: Option<Ends<'a>>,
    /// Why it was held back there, in words.
    pub(crate) cause: Option<Cow<'a, str>>,
    /// The same for programs; absent where `cause` is null.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) cause_detail: Option<TransferCause<'a>>,
    /// Full results: the ids of its links in order of travel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) route: Option<Vec<u32>>,
    /// Full results, of a transfer that takes several routes at once: the part of its bytes that each link of `route` carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shares: Option<Vec<f64>>,
    /// With `on_failure: reroute`, the other routes that it took, by time; absent if none.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reroutes: Vec<RerouteRow<'a>>,
}

/// What held packets of a transfer back at its source.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Held")]
pub(crate) struct HeldRow<'a> {
    /// `arbitration`, `dllp`, `head-of-line`, `credit`, `window`, `tags`, `limit` or `link-down`.
    #[serde(borrow)]
    pub(crate) cause: Cow<'a, str>,
    /// The link where, for a window or a limit the first of its route; null where it is not known.
    #[serde(borrow)]
    pub(crate) link: Option<Ends<'a>>,
    /// The transfer responsible; null where it is its own.
    #[serde(borrow)]
    pub(crate) by: Option<Cow<'a, str>>,
    /// How long, seconds.
    #[serde(deserialize_with = "time")]
    pub(crate) time_s: f64,
}

impl TransferRow<'_> {
    /// Bytes sent: all, unless the run stopped before.
    pub(crate) fn sent(&self) -> u64 {
        self.sent_bytes.unwrap_or(self.bytes)
    }

    /// Between ready and start, seconds: the time to issue it, which its time alone has, too. None is known of a transfer that
    /// has not ended.
    pub(crate) fn issuing(&self) -> f64 {
        let issuing = || Some(self.start_s? - self.ready_s? - self.delay?.waiting_s);
        issuing().unwrap_or(0.0)
    }

    /// From its start to its end alone, seconds.
    pub(crate) fn alone_under_way(&self) -> Option<f64> {
        self.alone_s.map(|alone| alone - self.issuing())
    }

    /// The links that carry it from a time on, seconds, each with its part of the bytes; of full results.
    pub(crate) fn parts_at(&self, time: f64) -> impl Iterator<Item = (u32, f64)> + '_ {
        let other = self.reroutes.iter().rev().find(|other| other.at_s <= time);
        let (route, shares) = other.map_or((&self.route, &self.shares), |other| (&other.route, &other.shares));
        let share = move |at: usize| shares.as_ref().and_then(|shares| shares.get(at)).copied().unwrap_or(1.0);
        route.iter().flatten().enumerate().map(move |(at, &link)| (link, share(at)))
    }

    /// What it sent route by route: (from when on, seconds; until when; bytes). The last time is that of its last byte.
    pub(crate) fn legs(&self, (start, sent): (f64, f64)) -> impl Iterator<Item = (f64, f64, u64)> + '_ {
        let begins =
            std::iter::once((start, 0)).chain(self.reroutes.iter().map(|other| (other.at_s, other.sent_bytes)));
        let ends = self.reroutes.iter().map(|other| (other.at_s, other.sent_bytes)).chain([(sent, self.sent())]);
        begins.zip(ends).map(|((from, before), (to, then))| (from, to, then.saturating_sub(before)))
    }

    /// The time in which it sent, seconds: [start, start + bytes / mean rate); the mean rate is over exactly this time. In runs
    /// of packets, until it has come.
    pub(crate) fn sending(&self) -> Option<(f64, f64)> {
        let (start, mean) = (self.start_s?, self.mean_bps?);
        (mean > 0.0).then(|| (start, start + self.sent() as f64 / mean))
    }
}

/// One direction between two nodes, with what crossed it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Link")]
pub(crate) struct LinkRow<'a> {
    /// Full results: the number by which routes name it, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u32>,
    /// The node it leaves.
    #[serde(borrow)]
    pub(crate) from: Cow<'a, str>,
    /// The node it enters.
    #[serde(borrow)]
    pub(crate) to: Cow<'a, str>,
    /// Payload bytes that crossed it.
    pub(crate) bytes: u64,
    /// Time with a rate above 0.
    #[serde(deserialize_with = "time")]
    pub(crate) busy_s: f64,
    /// Runs of packets: those that crossed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) packets: Option<u64>,
    /// Runs of packets: bytes that crossed it, headers included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wire_bytes: Option<u64>,
    /// Runs of packets: most bytes in the buffer at its far end, those on their way to it included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deepest_bytes: Option<u64>,
    /// Runs of packets: time in which it was free and nobody who asked for it had credit, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "time")]
    pub(crate) no_credit_s: Option<f64>,
    /// Runs of packets: mean time that a packet waited for it, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "time")]
    pub(crate) mean_wait_s: Option<f64>,
    /// Runs of packets: DLLPs that crossed it, which `packets` and `wire_bytes` do not count; absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dllps: Option<u64>,
    /// Full results of packets: bytes of the buffer at its far end, all channels together; absent for one that is never full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) buffer_bytes: Option<u64>,
    /// Full results of packets: in each bin of `fill_bin_s` the mean of the bytes in that buffer, those on their way to it
    /// included; absent where it was always empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fill_bytes: Option<Vec<u64>>,
    /// Full results of packets: in each bin of `fill_bin_s` the payload that it carried, bytes per second; absent where it carried
    /// none.
    #[serde(rename = "load_Bps", default, skip_serializing_if = "Option::is_none")]
    pub(crate) load_bps: Option<Vec<u64>>,
    /// Largest sum of rates; null where it is not known (very large runs).
    #[serde(rename = "peak_Bps")]
    pub(crate) peak_bps: Option<f64>,
    /// Full results: bandwidth, bytes per second.
    #[serde(rename = "bandwidth_Bps", skip_serializing_if = "Option::is_none")]
    pub(crate) bandwidth_bps: Option<f64>,
    /// Full results: latency, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "time", default)]
    pub(crate) latency_s: Option<f64>,
    /// Full results: `up`, `down` or `lateral`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction: Option<Cow<'a, str>>,
    /// Full results: the name of its region; absent where one policy has the whole fabric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) region: Option<Cow<'a, str>>,
}

/// A maximal interval in which no rate changes.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Phase")]
pub(crate) struct PhaseRow<'a> {
    /// When it begins, seconds of simulated time.
    #[serde(deserialize_with = "time")]
    pub(crate) start_s: f64,
    /// When it ends, seconds of simulated time.
    #[serde(deserialize_with = "time")]
    pub(crate) end_s: f64,
    /// The rate of every active transfer by id, rate 0 included.
    #[serde(borrow, rename = "rates_Bps")]
    pub(crate) rates_bps: Pairs<Name<'a>, f64>,
}

/// A node of the topology.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "TopologyNode")]
pub(crate) struct NodeRow<'a> {
    /// Number of the node, from 0.
    pub(crate) id: u32,
    /// Full name, such as `node0/gpu1`.
    #[serde(borrow)]
    pub(crate) name: Cow<'a, str>,
    /// What it is, such as `gpu` or `switch`.
    #[serde(borrow)]
    pub(crate) kind: Cow<'a, str>,
    /// The id of its parent; null for a root.
    pub(crate) parent: Option<u32>,
}

/// The explanation of one phase.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "ExplainedPhase")]
pub(crate) struct ExplainRow<'a> {
    /// When the phase begins, seconds.
    #[serde(deserialize_with = "time")]
    pub(crate) start_s: f64,
    /// When the phase ends, seconds.
    #[serde(deserialize_with = "time")]
    pub(crate) end_s: f64,
    /// Every active transfer, in expansion order.
    #[serde(borrow)]
    pub(crate) transfers: Vec<ExplainedRow<'a>>,
}

/// The steps of one transfer in one phase.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "ExplainedTransfer")]
pub(crate) struct ExplainedRow<'a> {
    /// The id of the transfer.
    #[serde(borrow)]
    pub(crate) id: Cow<'a, str>,
    /// The arbiter's steps in order.
    #[serde(borrow)]
    pub(crate) steps: Vec<StepRow<'a>>,
}

/// One step of the arbiter.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Step")]
pub(crate) struct StepRow<'a> {
    /// The region in which it was taken, where parts of the fabric have policies of their own.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) region: Option<Cow<'a, str>>,
    /// Name of the step; `limited` where another region decides.
    #[serde(borrow)]
    pub(crate) step: Cow<'a, str>,
    /// The link whose bandwidth decided the rate.
    #[serde(borrow)]
    pub(crate) link: Option<Ends<'a>>,
    /// The rate of the transfer after this step, bytes per second.
    #[serde(rename = "rate_Bps")]
    pub(crate) rate_bps: f64,
    /// Ids of the transfers responsible.
    #[serde(borrow)]
    #[schemars(with = "Vec<String>")]
    pub(crate) because: Vec<Name<'a>>,
}
