//! What held the transfers of a whole run back, summed up by link before the most are left out. Each transfer counts wholly
//! at its main bottleneck.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ordered_float::OrderedFloat;
use schemars::JsonSchema;
use serde::Serialize;

use crate::json::TransferRow;
use crate::link::Ends;
use crate::{CauseKind, TransferCause};

/// Most links that are listed one by one (*assumed*: a table shows no more).
const MOST_LINKS: usize = 60;

/// `delays` of `report/web/data.md`.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Delays {
    links: Vec<LinkDelays>,
    /// Number and sums of the links that are not listed.
    others: usize,
    rest: DelaySums,
    /// Of all transfers of the run.
    waiting: Waiting,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct LinkDelays {
    from: String,
    to: String,
    #[serde(flatten)]
    sums: DelaySums,
    /// Kinds of causes, that of most time first.
    why: Vec<&'static str>,
}

#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct DelaySums {
    /// End less start, less the same of the transfer alone, seconds; none where the time alone of one of them is not known.
    lost_s: Option<f64>,
    /// Start to last byte sent, seconds.
    delayed_s: f64,
    transfers: usize,
}

/// Time for which transfers were ready and their engines had no slot; where that is not known, between ready and start.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Waiting {
    seconds: f64,
    transfers: usize,
}

/// A link while it is summed up.
struct LinkSums {
    sums: DelaySums,
    kinds: BTreeMap<CauseKind, f64>,
}

impl Delays {
    /// Of all transfers of a run that ended, or stopped, at `end`.
    pub(super) fn of(transfers: &[TransferRow<'_>], end: f64) -> Self {
        let (mut links, mut waiting) = (BTreeMap::<&Ends<'_>, LinkSums>::new(), Waiting::default());
        for row in transfers {
            if let Some(ready) = row.ready_s {
                let so_far = || row.start_s.unwrap_or(end) - ready;
                let waited = row.delay.map_or_else(so_far, |delay| delay.waiting_s);
                if waited > 0.0 {
                    waiting.seconds += waited;
                    waiting.transfers += 1;
                }
            }
            let Some((span, at, lost)) = suffered(row, end) else { continue };
            let fresh =
                || LinkSums { sums: DelaySums { lost_s: Some(0.0), ..DelaySums::default() }, kinds: BTreeMap::new() };
            let link = links.entry(at).or_insert_with(fresh);
            link.sums.add(DelaySums { lost_s: lost, delayed_s: span, transfers: 1 });
            let kind = row.cause_detail.as_ref().map(TransferCause::at_bottleneck);
            if let Some(kind) = kind.filter(|kind| !kind.is_own()) {
                *link.kinds.entry(kind).or_default() += span;
            }
        }
        Self::listed(links, waiting)
    }

    fn listed(links: BTreeMap<&Ends<'_>, LinkSums>, waiting: Waiting) -> Self {
        let mut all: Vec<LinkDelays> = links.into_iter().map(|(ends, link)| link.listed(ends)).collect();
        let weight = |link: &LinkDelays| link.sums.lost_s.unwrap_or(link.sums.delayed_s);
        all.sort_by_key(|link| Reverse(OrderedFloat(weight(link))));
        let others = all.split_off(all.len().min(MOST_LINKS));
        let mut rest = DelaySums { lost_s: Some(0.0), ..DelaySums::default() };
        others.iter().for_each(|link| rest.add(link.sums));
        Self { links: all, others: others.len(), rest, waiting }
    }
}

impl LinkSums {
    fn listed(self, ends: &Ends<'_>) -> LinkDelays {
        let mut kinds: Vec<(CauseKind, f64)> = self.kinds.into_iter().collect();
        kinds.sort_by_key(|&(_, seconds)| Reverse(OrderedFloat(seconds)));
        let (from, to) = (ends.from.to_string(), ends.to.to_string());
        LinkDelays { from, to, sums: self.sums, why: kinds.into_iter().map(|(kind, _)| kind.words()).collect() }
    }
}

impl DelaySums {
    fn add(&mut self, other: Self) {
        self.lost_s = self.lost_s.zip(other.lost_s).map(|(a, b)| a + b);
        self.delayed_s += other.delayed_s;
        self.transfers += other.transfers;
    }
}

/// For how long a transfer was held back, where, and what it lost; `None` for one that was as fast as alone. Of one that has
/// not ended the time alone counts by the part that it has sent.
fn suffered<'a>(row: &'a TransferRow<'a>, end: f64) -> Option<(f64, &'a Ends<'a>, Option<f64>)> {
    /// Least ratio to the time alone that counts as slower; *assumed*, less is rounding.
    const SLOWER: f64 = 1.0 + 1e-6;
    let (start, at) = (row.start_s?, row.bottleneck.as_ref()?);
    let until = row.end_s.unwrap_or(end);
    let span = row.sending().map_or(until, |(_, sent)| sent.min(until)) - start;
    let free = row.cause_detail.as_ref().is_some_and(|cause| cause.at_bottleneck().is_own());
    let lost = row.alone_under_way().map(|alone| {
        let part = if row.bytes == 0 { 1.0 } else { row.sent() as f64 / row.bytes as f64 };
        (until - start, alone * part)
    });
    match lost {
        Some((took, alone)) => (took > alone * SLOWER).then_some((span, at, Some(took - alone))),
        None => (!free && span > 0.0).then_some((span, at, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two links; `b` and `c` share one, `d` has not ended, `e` waits, `f` is as fast as alone.
    #[test]
    fn losses_are_summed_by_link_over_all_transfers() {
        let row = |id: &str, start: &str, end: &str, sent: u64, alone: &str, at: &str, cause: &str| {
            format!(
                r#"{{"id":"{id}","from":"g","to":"h","bytes":10,"ready_s":0.0,"start_s":{start},"end_s":{end},"mean_Bps":5.0,"sent_bytes":{sent},"alone_s":{alone},"bottleneck":{{"from":"{at}","to":"y"}},"cause_detail":{{"kind":"{cause}"}}}}"#
            )
        };
        let list = [
            row("a", "0.0", "3.0", 10, "1.0", "x", "shared-link"),
            row("b", "0.0", "2.5", 10, "1.0", "z", "head-of-line"),
            row("c", "1.0", "3.0", 10, "1.5", "z", "earlier-transfer"),
            row("d", "0.0", "null", 5, "1.0", "z", "earlier-transfer"),
            row("e", "null", "null", 0, "1.0", "z", "shared-link"),
            row("f", "0.0", "1.0", 10, "1.0", "z", "full-rate"),
        ];
        let list = format!("[{}]", list.join(","));
        let list: Vec<TransferRow<'_>> = serde_json::from_str(&list).expect("transfers");
        let delays = serde_json::to_value(Delays::of(&list, 4.0)).expect("JSON");
        // d: 4 s for half of what takes 1 s alone.
        let link = |from: &str, lost: f64, delayed: f64, transfers: u64, why: &[&str]| serde_json::json!({"from": from, "to": "y", "lost_s": lost, "delayed_s": delayed, "transfers": transfers, "why": why});
        assert_eq!(
            delays["links"][0],
            link("z", 1.5 + 0.5 + 3.5, 5.0, 3, &["waits for an earlier transfer", "head-of-line blocked"])
        );
        assert_eq!(delays["links"][1], link("x", 2.0, 2.0, 1, &["link shared"]));
        assert_eq!(delays["waiting"], serde_json::json!({"seconds": 5.0, "transfers": 2}));
        assert_eq!((&delays["others"], &delays["rest"]["transfers"]), (&0.into(), &0.into()));
    }

    /// 62 links, at each of which one transfer loses a second more than at the one before: the first two are not listed.
    #[test]
    fn links_of_least_loss_are_summed_up() {
        let row = |i: usize| {
            format!(
                r#"{{"id":"t{i}","from":"g","to":"h","bytes":10,"ready_s":0.0,"start_s":0.0,"end_s":{},"mean_Bps":5.0,"alone_s":1.0,"bottleneck":{{"from":"x{i}","to":"y"}},"cause_detail":{{"kind":"shared-link"}}}}"#,
                i + 2
            )
        };
        let list = format!("[{}]", (0..62).map(row).collect::<Vec<_>>().join(","));
        let list: Vec<TransferRow<'_>> = serde_json::from_str(&list).expect("transfers");
        let delays = serde_json::to_value(Delays::of(&list, 64.0)).expect("JSON");
        let links = delays["links"].as_array().expect("a list");
        assert_eq!((links.len(), &links[0]["from"], &links[59]["from"]), (60, &"x61".into(), &"x2".into()));
        assert_eq!(delays["others"], 2);
        assert_eq!(delays["rest"], serde_json::json!({"lost_s": 3.0, "delayed_s": 4.0, "transfers": 2}));
        assert_eq!(delays["waiting"], serde_json::json!({"seconds": 0.0, "transfers": 0}));
    }

    /// `a` lost 4 s in a queue and 1 s at its link; of its 5 s before the start, 1 s is the lead of its work,
    /// which its 2 s alone have, too.
    #[test]
    fn a_transfer_that_lost_most_in_a_queue_counts_at_its_link_for_what_it_lost_there() {
        let list = r#"[{"id":"a","from":"g","to":"h","bytes":10,"ready_s":0,"start_s":5,"end_s":7,"mean_Bps":5.0,"alone_s":2.0,"delay":{"waiting_s":4.0,"blocked_s":0.0,"cut_s":1.0,"own_limit_s":0.0},"bottleneck":{"from":"x","to":"y"},"cause_detail":{"kind":"engine-busy","engine":"g/send","at_bottleneck":"shared-link"}}]"#;
        let list: Vec<TransferRow<'_>> = serde_json::from_str(list).expect("transfers");
        let delays = serde_json::to_value(Delays::of(&list, 7.0)).expect("JSON");
        assert_eq!(
            (&delays["links"][0]["lost_s"], &delays["links"][0]["why"]),
            (&1.0.into(), &serde_json::json!(["link shared"]))
        );
        assert_eq!(delays["waiting"], serde_json::json!({"seconds": 4.0, "transfers": 1}));
    }

    /// `a` is issued for 10 s, and then takes 5 s for what takes 3 s alone: less than its time alone, 13 s, and yet held back.
    #[test]
    fn the_time_to_issue_a_transfer_is_no_part_of_what_it_takes_under_way() {
        let list = r#"[{"id":"a","from":"g","to":"h","bytes":10,"ready_s":0,"start_s":10,"end_s":15,"mean_Bps":2.0,"alone_s":13.0,"delay":{"waiting_s":0.0,"blocked_s":0.0,"cut_s":2.0,"own_limit_s":0.0},"bottleneck":{"from":"x","to":"y"},"cause_detail":{"kind":"shared-link"}}]"#;
        let list: Vec<TransferRow<'_>> = serde_json::from_str(list).expect("transfers");
        let delays = serde_json::to_value(Delays::of(&list, 15.0)).expect("JSON");
        let expected = serde_json::json!([{"from": "x", "to": "y", "lost_s": 2.0, "delayed_s": 5.0, "transfers": 1, "why": ["link shared"]}]);
        assert_eq!(delays["links"], expected);
    }

    /// Without a time alone the cause decides: what is its own does not hold it back, and what took no time was not held back.
    #[test]
    fn where_the_time_alone_is_not_known_the_cause_decides() {
        let count = |cause: &str, end: f64| {
            let list = format!(
                r#"[{{"id":"a","from":"g","to":"h","bytes":10,"ready_s":0,"start_s":0,"end_s":{end},"mean_Bps":null,"alone_s":null,"bottleneck":{{"from":"x","to":"y"}},"cause_detail":{{"kind":"{cause}"}}}}]"#
            );
            let list: Vec<TransferRow<'_>> = serde_json::from_str(&list).expect("transfers");
            let delays = serde_json::to_value(Delays::of(&list, 4.0)).expect("JSON");
            delays["links"].as_array().map(Vec::len)
        };
        assert_eq!((count("shared-link", 4.0), count("shared-link", 0.5)), (Some(1), Some(1)));
        assert_eq!(
            (count("shared-link", 0.0), count("full-rate", 4.0), count("own-limit", 0.0)),
            (Some(0), Some(0), Some(0))
        );
    }

    #[test]
    fn where_the_time_alone_is_not_known_nothing_is_said_of_the_loss() {
        let list = r#"[{"id":"a","from":"g","to":"h","bytes":10,"ready_s":0,"start_s":0,"end_s":4,"mean_Bps":5.0,"alone_s":null,"bottleneck":{"from":"x","to":"y"},"cause_detail":{"kind":"shared-link"}}]"#;
        let list: Vec<TransferRow<'_>> = serde_json::from_str(list).expect("transfers");
        let delays = serde_json::to_value(Delays::of(&list, 4.0)).expect("JSON");
        assert_eq!(
            (&delays["links"][0]["lost_s"], &delays["links"][0]["delayed_s"]),
            (&serde_json::Value::Null, &2.0.into())
        );
    }
}
