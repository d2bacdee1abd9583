//! What ports do in a run of packets: per phase the cycle of grants of each contended port, and who waits for it.

use weir_plugin_api::{LinkId, SimDuration, SimTime};
use weir_sim_core::{CycleGrant, Held, PortPhase, PortRecord, TaskId, cause_of};

use super::{ROWS, Sheet, more};
use crate::ports::{GrantRow, rows};
use crate::{CauseKind, Run, duration, instant};

/// Letters of a cycle at most: a table of them fits into 120 columns of a terminal.
const LETTERS: usize = 44;

/// At most [`ROWS`] phases.
pub(super) fn ports(run: &Run<'_>) -> String {
    let phases = run.port_phases();
    if phases.is_empty() {
        return "\nno port had 16 packets to choose between, and no source waited: there is nothing to explain\n"
            .to_owned();
    }
    let mut out = String::new();
    for (i, phase) in phases.iter().take(ROWS).enumerate() {
        let (start, end) = (instant(SimTime(phase.start)), instant(SimTime(phase.end)));
        out.push_str(&format!("\nphase {} of {}, {start} to {end}\n", i + 1, phases.len()));
        out.push_str(&cycles(run, phase));
        out.push_str(&waits(run, phase));
    }
    out + &more(phases.len(), "phases")
}

fn cycles(run: &Run<'_>, phase: &PortPhase) -> String {
    if phase.ports.is_empty() {
        return String::new();
    }
    let mut sheet = Sheet::new(["port", "cycle of grants", ">payload", ">lasts", ">busy", ">no credit"]).spare([
        "payload",
        "lasts",
        "no credit",
    ]);
    for port in phase.ports.iter().take(ROWS) {
        let share = |time: u64| percent(time, phase);
        let (cycle, payload, lasts) = match &port.cycle {
            Some(cycle) => {
                (cycle_text(run, port, &cycle.grants), payload(&cycle.grants), duration(SimDuration(cycle.time)))
            }
            None => (format!("none in the last {} grants", port.kept), "–".to_owned(), "–".to_owned()),
        };
        sheet.row([run.link_text(LinkId(port.link)), cycle, payload, lasts, share(port.busy), share(port.starved)]);
    }
    sheet.finish() + &more(phase.ports.len(), "ports")
}

/// The grants, each with the node that its packet comes from: `gpu0: a ×2, gpu1: b`.
fn cycle_text(run: &Run<'_>, port: &PortRecord, grants: &[CycleGrant]) -> String {
    let is_mixed = grants.iter().any(|grant| grant.payload != grants[0].payload);
    let entry = |GrantRow { grant, packets }: &GrantRow| {
        let name = run.scenario.task_name(TaskId(grant.transfer));
        let what = if grant.is_request { format!("request of {name}") } else { name.into_owned() };
        let size = if is_mixed { format!(" {}", crate::bytes(u64::from(grant.payload))) } else { String::new() };
        let times = if *packets > 1 { format!(" ×{packets}") } else { String::new() };
        format!("{}: {what}{size}{times}", run.input_name(LinkId(port.link), grant))
    };
    let (mut text, mut told) = (String::new(), 0);
    for row in rows(grants) {
        let next = entry(&row);
        if told > 0 && text.chars().count() + next.chars().count() > LETTERS {
            return format!("{text}, … {} grants", grants.len());
        }
        text = if told > 0 { format!("{text}, {next}") } else { next };
        told += row.packets;
    }
    text
}

/// The one size of all packets, or the least and the largest.
fn payload(grants: &[CycleGrant]) -> String {
    let sizes = || grants.iter().map(|grant| u64::from(grant.payload));
    match (sizes().min(), sizes().max()) {
        (Some(least), Some(most)) if least == most => crate::bytes(most),
        (Some(least), Some(most)) => format!("{least} to {}", crate::bytes(most)),
        _ => "–".to_owned(),
    }
}

/// Who waits for the ports, the longest wait of each first, and who waits for its own window, tags or limit.
fn waits(run: &Run<'_>, phase: &PortPhase) -> String {
    let at_ports = phase.ports.iter().flat_map(|port| port.waits.iter().map(|wait| (Some(port.link), wait)));
    let all: Vec<(Option<u32>, &(u32, Held))> =
        at_ports.chain(phase.own_waits.iter().map(|wait| (None, wait))).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut sheet = Sheet::new(["who waits", "for the port", ">time", ">of the phase", "because"]).spare(["time"]);
    for &(link, &(transfer, held)) in all.iter().take(ROWS) {
        let by = held.by.map(|by| run.scenario.task_name(TaskId(by)));
        let because = CauseKind::new(cause_of(held.cause), false, by.is_some()).sentence(by.as_deref());
        let name = run.scenario.task_name(TaskId(transfer)).into_owned();
        let (time, share) = (duration(SimDuration(held.time)), percent(held.time, phase));
        let port = link.map_or_else(|| "–".to_owned(), |link| run.link_text(LinkId(link)));
        sheet.row([name, port, time, share, because]);
    }
    format!("\n{}{}", sheet.finish(), more(all.len(), "waits"))
}

fn percent(time: u64, phase: &PortPhase) -> String {
    format!("{:.1} %", 100.0 * time as f64 / (phase.end - phase.start).max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_one_size_or_from_the_least_to_the_largest() {
        let grants = |sizes: &[u32]| -> Vec<CycleGrant> {
            let grant = |&payload| CycleGrant { input: None, transfer: 0, is_request: false, payload };
            sizes.iter().map(grant).collect()
        };
        assert_eq!(payload(&grants(&[256, 256])), "256 B");
        assert_eq!(payload(&grants(&[256, 40, 4096])), "40 to 4.096 kB");
        assert_eq!(payload(&[]), "–");
    }
}
