//! Which assumptions of the formulas a plan does not share, and what that does.

use super::params::Method;
use super::resolve::{Offload, Way};
use crate::effect::{Departures, Effect};

pub(super) fn departures(offload: &Offload) -> Departures {
    let mut departures = Departures::default();
    fabric(offload, &mut departures);
    let chunked = matches!(offload.method, Method::Streams | Method::Hybrid) && offload.streams > 1;
    if chunked {
        chunks(offload, &mut departures);
    }
    departures
}

fn fabric(offload: &Offload, departures: &mut Departures) {
    if offload.fabric.is_none() {
        return;
    }
    let because = "over: fabric: the formula assumes that the links are the operation's own";
    departures.add(Effect::More, because);
    if !offload.divides() {
        departures.add(Effect::Any, "over: fabric: the formula assumes equal chunks that need not be whole bytes");
    }
}

fn chunks(offload: &Offload, departures: &mut Departures) {
    let switches = &offload.switches;
    if switches.whole_bytes && offload.fabric.is_none() && !offload.divides() {
        departures.add(Effect::Any, "whole_bytes: the formula's chunks are equal");
    }
    let one_engine = offload.engines == 1 && offload.method == Method::Streams;
    let both = [&offload.into, &offload.out];
    if switches.depth_first && one_engine {
        match both.map(|way| offload.issues(way)) {
            // A copy pays L where it would have paid g.
            [true, true] => {
                let effect = if both.iter().all(|way| way.gap <= way.lead) { Effect::More } else { Effect::Any };
                departures
                    .add(effect, "depth_first: the formula assumes that all copies in are issued before those out");
            }
            // Copies out wait for their own kernel alone, and no copy in is on the engine between them.
            [false, true] if offload.sync => departures
                .add(Effect::Less, "depth_first: the formula assumes that copies out wait for the last kernel's end"),
            // The engine has copies of one direction, in the order of the formula.
            _ => {}
        }
    }
    if switches.full_latency
        && let Some(effect) = full_latency(both)
    {
        departures
            .add(effect, "full_latency: the formula assumes that copies of one direction follow each other after g");
    }
    if switches.sync_released_at_start && offload.waits_for_last() {
        departures.add(
            Effect::Less,
            "sync_released_at_start: the formula assumes that copies out wait for the last kernel's end",
        );
    }
}

/// What L in the place of g does.
fn full_latency(ways: [&Way; 2]) -> Option<Effect> {
    let longer = ways.iter().any(|way| way.lead > way.gap);
    let shorter = ways.iter().any(|way| way.lead < way.gap);
    match (longer, shorter) {
        (false, false) => None,
        (true, false) => Some(Effect::More),
        (false, true) => Some(Effect::Less),
        (true, true) => Some(Effect::Any),
    }
}

impl Offload {
    /// Whether copies out wait for a kernel other than their own. In depth-first order no later kernel is issued
    /// before them.
    pub(super) fn waits_for_last(&self) -> bool {
        self.sync && self.method == Method::Streams && !self.switches.depth_first
    }
}
