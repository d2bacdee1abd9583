//! How many transfers a device sends at once, from rows in which one device sends to several others.
//!
//! A device with k send slots serves equal transfers in batches of k. Batch b ends at b times the end of the first, whatever
//! link is the narrowest, so that the ends of n ≥ 2 transfers tell k. Where the log has only the end of the last, a sum of
//! rates above that of the fastest lone copy tells that there are at least two slots; one below tells nothing, for n
//! transfers take as long one after the other as at once over one link.

use std::collections::BTreeMap;

use weir_plugin_api::NodeId;
use weir_scenario::Machine;

use crate::measurement::{Experiment, MeasuredEnd};

/// How near ends must be to those of a number of slots, and how far above a lone copy a sum of rates must lie; *assumed*, the
/// error that a prediction may have.
const NEAR: f64 = 0.1;

/// What the rows of a device tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    /// So many transfers at once.
    Slots(u32),
    /// All so many at once, so that there may be more slots.
    AtLeast(u32),
    /// Nothing.
    Nothing,
}

/// A note for each device with rows in which it sends to several others, where these do not confirm the topology.
pub(super) fn notes(machine: &Machine, experiments: &[Experiment]) -> Vec<String> {
    let mut devices: BTreeMap<NodeId, Vec<Told>> = BTreeMap::new();
    for experiment in experiments.iter().filter(|e| !e.kernels && !e.rows.is_empty() && e.transfers.len() > 1) {
        let from = experiment.transfers[0].from;
        let same = experiment.transfers.iter().all(|t| t.from == from && t.bytes == experiment.transfers[0].bytes);
        if same && machine.send_slots(from).is_some() {
            devices.entry(from).or_default().push(told(experiment, fastest_lone(experiments, from)));
        }
    }
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (device, told) in devices {
        if let Some(text) = finding(machine, device, &told) {
            groups.entry(text).or_default().push(machine.node_name(device));
        }
    }
    groups.into_iter().map(|(text, names)| format!("{}: {text}", names.join(", "))).collect()
}

/// What the rows of a device say together, against what the topology has; `None` where that is the same.
fn finding(machine: &Machine, device: NodeId, told: &[Told]) -> Option<String> {
    let has = machine.send_slots(device)?;
    let exact = told.iter().filter_map(|t| if let Told::Slots(slots) = t { Some(*slots) } else { None });
    let exact: Vec<u32> = exact.collect();
    let least = told.iter().filter_map(|t| if let Told::AtLeast(slots) = t { Some(*slots) } else { None }).max();
    match (exact.first(), least) {
        (Some(&slots), least) if exact.iter().all(|&s| s == slots) && least.is_none_or(|least| least <= slots) => {
            (slots != has)
                .then(|| format!("{}: write `engines: {slots}`, not {has}, and calibrate again", shown(slots)))
        }
        (None, Some(least)) => (least > has)
            .then(|| format!("{}: write `engines: {least}` or more, not {has}, and calibrate again", shown(least))),
        _ => Some("the rows do not tell how many transfers it sends at once: `engines` stays as it is".to_owned()),
    }
}

fn shown(slots: u32) -> String {
    let transfers = if slots == 1 { "1 transfer".to_owned() } else { format!("{slots} transfers") };
    format!("the rows show {transfers} out at once")
}

/// Bytes per second of the fastest lone copy of a device.
fn fastest_lone(experiments: &[Experiment], from: NodeId) -> Option<f64> {
    let lone = experiments.iter().filter(|e| e.transfers.len() == 1 && e.transfers[0].from == from && !e.kernels);
    let rate = |e: &Experiment| {
        let bytes = e.transfers[0].bytes as f64 * f64::from(e.messages);
        e.rows.iter().map(|row| bytes / row.seconds).fold(0.0, f64::max)
    };
    lone.map(rate).max_by(f64::total_cmp)
}

fn told(experiment: &Experiment, lone: Option<f64>) -> Told {
    let own = |row: &crate::MeasuredTime| matches!(row.end, MeasuredEnd::Transfer(_)).then_some(row.seconds);
    let mut ends: Vec<f64> = experiment.rows.iter().filter_map(own).collect();
    if ends.len() == experiment.transfers.len() {
        ends.sort_by(f64::total_cmp);
        return of_ends(&ends);
    }
    let last = experiment.rows.iter().filter(|row| row.end == MeasuredEnd::Last).map(|row| row.seconds).next_back();
    let bytes: f64 = experiment.transfers.iter().map(|t| t.bytes as f64 * f64::from(experiment.messages)).sum();
    match (last, lone) {
        (Some(last), Some(lone)) if bytes / last > lone * (1.0 + NEAR) => {
            Told::AtLeast((bytes / last / lone - NEAR).ceil() as u32)
        }
        _ => Told::Nothing,
    }
}

/// The number of slots whose batches end as transfers did, ascending.
fn of_ends(ends: &[f64]) -> Told {
    let count = ends.len();
    let fits = |&slots: &usize| {
        let batch = |at: usize| (at / slots + 1) as f64;
        // The last batch may be shorter, and sooner done.
        let whole = count / slots * slots;
        (0..whole).all(|at| (ends[at] / (ends[0] * batch(at)) - 1.0).abs() <= NEAR)
            && (whole..count).all(|at| ends[at] > ends[whole - 1] * (1.0 + NEAR / slots as f64))
    };
    let mut all = (1..=count).filter(fits);
    match (all.next(), all.next()) {
        (Some(slots), None) if slots == count => Told::AtLeast(slots as u32),
        (Some(slots), None) => Told::Slots(slots as u32),
        _ => Told::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_tell_how_many_go_at_once() {
        for (ends, expected) in [
            (&[1.0, 2.0, 3.0, 4.0][..], Told::Slots(1)),
            (&[1.02, 2.1, 2.9], Told::Slots(1)),
            (&[1.0, 1.0, 2.0, 2.03], Told::Slots(2)),
            (&[1.0, 1.0, 1.5], Told::Slots(2)),
            (&[4.0, 4.0, 4.1, 4.0], Told::AtLeast(4)),
            (&[1.0, 1.5, 1.7], Told::Nothing),
        ] {
            assert_eq!(of_ends(ends), expected, "{ends:?}");
        }
    }
}
