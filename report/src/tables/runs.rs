//! The tables of a run.

use weir_plugin_api::{LinkId, PS_PER_S};
use weir_scenario::PlannedOperation;

use super::{ExportTable, owner, real, text, whole};
use crate::Run;
use crate::json::{TransferRow, transfer_row};
use crate::operations::{self, Operation};
use crate::units::{picoseconds, seconds};

/// Rows that are made at a time (*assumed*: they stay in a cache of some megabytes until their columns are made).
const ROWS: usize = 2048;

/// What `--json` says of transfers, but for their routes.
pub(super) fn transfers(run: &Run<'_>) -> ExportTable {
    let title = run.arbiter.title();
    let departures = run.transfers().filter_map(|task| run.departure(task));
    let mut rows = departures.filter_map(|d| transfer_row(run.scenario, run.alone, run.arbiter.regions, &d));
    let mut table = part(run, &title, &rows.by_ref().take(ROWS).collect::<Vec<_>>());
    loop {
        let more: Vec<TransferRow<'_>> = rows.by_ref().take(ROWS).collect();
        if more.is_empty() {
            return table;
        }
        table.append(part(run, &title, &more));
    }
}

/// Some rows of the transfers.
fn part(run: &Run<'_>, title: &str, rows: &[TransferRow<'_>]) -> ExportTable {
    let mut columns = owner(&run.scenario.name, title, rows);
    columns.extend([
        text("id", rows, |r| Some(&r.id)),
        text("from", rows, |r| Some(&r.from)),
        text("to", rows, |r| Some(&r.to)),
        whole("bytes", rows, |r| Some(r.bytes)),
        real("ready_s", rows, |r| r.ready_s),
        real("start_s", rows, |r| r.start_s),
        real("end_s", rows, |r| r.end_s),
        whole("end_ps", rows, |r| r.end_ps),
        real("mean_Bps", rows, |r| r.mean_bps),
        whole("sent_bytes", rows, |r| Some(r.sent())),
        real("alone_s", rows, |r| r.alone_s),
        text("bottleneck_from", rows, |r| r.bottleneck.as_ref().map(|b| &b.from)),
        text("bottleneck_to", rows, |r| r.bottleneck.as_ref().map(|b| &b.to)),
        text("cause", rows, |r| r.cause.as_ref()),
        text("region", rows, |r| r.cause_detail.as_ref().and_then(|cause| cause.region())),
        real("waiting_s", rows, |r| r.delay.map(|delay| delay.waiting_s)),
        real("blocked_s", rows, |r| r.delay.and_then(|delay| delay.blocked_s)),
        real("cut_s", rows, |r| r.delay.map(|delay| delay.cut_s)),
        real("own_limit_s", rows, |r| r.delay.map(|delay| delay.own_limit_s)),
    ]);
    ExportTable { name: "transfers", columns }
}

/// Links that carried bytes.
pub(super) fn links(run: &Run<'_>) -> ExportTable {
    let totals = &run.outcome.links;
    let rows: Vec<LinkId> = (0..totals.len()).filter(|&link| totals[link].bytes > 0).map(LinkId::from_index).collect();
    let (bandwidth, total) = (|l: &LinkId| run.scenario.fabric.link(*l).bandwidth, |l: &LinkId| totals[l.index()]);
    let now = run.outcome.now.0 as f64 / PS_PER_S as f64;
    let mut columns = owner(&run.scenario.name, &run.arbiter.title(), &rows);
    columns.extend([
        whole("id", &rows, |l| Some(l.0.into())),
        text("from", &rows, |l| Some(run.link_names(*l).0)),
        text("to", &rows, |l| Some(run.link_names(*l).1)),
        real("bandwidth_Bps", &rows, |l| Some(bandwidth(l))),
        whole("bytes", &rows, |l| Some(total(l).bytes)),
        real("busy_s", &rows, |l| Some(total(l).busy.seconds())),
        real("peak_Bps", &rows, |l| total(l).peak),
        real("utilisation", &rows, |l| (now > 0.0).then(|| total(l).bytes as f64 / (bandwidth(l) * now))),
    ]);
    ExportTable { name: "links", columns }
}

/// What is no plain transfer: operations that models planned, computations and barriers.
pub(super) fn operations(run: &Run<'_>) -> ExportTable {
    let rows: Vec<Operation<'_>> = operations::operations(run).collect();
    let times = |row: &Operation<'_>| match row {
        Operation::Own(task, _) => {
            let times = run.outcome.tasks[task.index()];
            (times.ready, times.end)
        }
        Operation::Planned(planned) => (run.released(planned), run.ended(planned)),
    };
    fn planned<'a>(row: &Operation<'a>) -> Option<&'a PlannedOperation> {
        if let Operation::Planned(planned) = row { Some(planned) } else { None }
    }
    let mut columns = owner(&run.scenario.name, &run.arbiter.title(), &rows);
    columns.extend([
        text("id", &rows, |row| match row {
            Operation::Own(task, _) => Some(run.scenario.task_name(*task)),
            Operation::Planned(planned) => Some(planned.id.to_string().into()),
        }),
        text("kind", &rows, |row| match row {
            Operation::Own(_, kind) => Some(*kind),
            Operation::Planned(planned) => Some(&*planned.kind),
        }),
        real("start_s", &rows, |row| seconds(times(row).0)),
        real("end_s", &rows, |row| seconds(times(row).1)),
        whole("end_ps", &rows, |row| picoseconds(times(row).1)),
        real("alone_s", &rows, |row| Some(run.operation_alone(planned(row)?)?.seconds())),
        real("estimate_s", &rows, |row| Some(planned(row)?.estimates.last()?.seconds)),
    ]);
    ExportTable { name: "operations", columns }
}

/// A row per phase and active transfer.
pub(super) fn phases(run: &Run<'_>) -> ExportTable {
    let phases = run.outcome.phases.as_deref().unwrap_or_default();
    let rows: Vec<_> =
        phases.iter().flat_map(|phase| phase.rates.iter().map(move |&(task, rate)| (phase, task, rate))).collect();
    let mut columns = owner(&run.scenario.name, &run.arbiter.title(), &rows);
    columns.extend([
        real("start_s", &rows, |(phase, ..)| Some(phase.start.seconds())),
        real("end_s", &rows, |(phase, ..)| Some(phase.end.seconds())),
        whole("start_ps", &rows, |(phase, ..)| Some(phase.start.0)),
        whole("end_ps", &rows, |(phase, ..)| Some(phase.end.0)),
        text("transfer", &rows, |(_, task, _)| Some(run.scenario.task_name(*task))),
        real("rate_Bps", &rows, |(.., rate)| Some(*rate)),
    ]);
    ExportTable { name: "phases", columns }
}
