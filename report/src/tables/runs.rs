//! The tables of a run.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

use weir_plugin_api::{LinkId, PS_PER_S, SimDuration};
use weir_scenario::PlannedOperation;
use weir_sim_core::{Departure, TaskId};

use super::{ExportTable, displayed, owner, real, text, whole};
use crate::Run;
use crate::cause::{TransferCause, link_of};
use crate::delay::Delay;
use crate::operations::{self, Operation};
use crate::run::{Carried, mean_rate_of};
use crate::units::{picoseconds, seconds};

/// Rows that are made at a time (*assumed*: they stay in a cache of some megabytes until their columns are made).
const ROWS: usize = 2048;
/// Rows of a thread at least (*assumed*: they take far longer than a thread to start).
const OF_A_THREAD: usize = 1 << 15;

/// What several columns say of a transfer.
struct TransferRow<'a> {
    transfer: Departure,
    ends: Carried<'a>,
    alone: Option<SimDuration>,
    delay: Option<Delay>,
    cause: Option<TransferCause<'a>>,
}

/// What `--json` says of transfers, but for their routes.
pub(super) fn transfers(run: &Run<'_>) -> ExportTable {
    let title = &run.arbiter.title();
    let tasks: Vec<TaskId> = run.transfers().collect();
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = tasks.len().div_ceil(threads).max(OF_A_THREAD);
    if tasks.len() <= share {
        return rows_of(run, title, &tasks);
    }
    // In this order, so that the first failure of an arbiter is the same for any number of threads.
    for &task in &tasks {
        let _ = run.time_alone(task);
    }
    let parts: Vec<ExportTable> = std::thread::scope(|scope| {
        let parts: Vec<_> = tasks.chunks(share).map(|tasks| scope.spawn(move || rows_of(run, title, tasks))).collect();
        let done = |part: ScopedJoinHandle<'_, ExportTable>| part.join().unwrap_or_else(|panic| resume_unwind(panic));
        parts.into_iter().map(done).collect()
    });
    let joined = |mut all: ExportTable, more: ExportTable| {
        all.append(more);
        all
    };
    parts.into_iter().reduce(joined).unwrap_or_else(|| part(run, title, &[]))
}

/// The rows of these transfers.
fn rows_of(run: &Run<'_>, title: &str, tasks: &[TaskId]) -> ExportTable {
    let row = |&task: &TaskId| {
        let transfer = run.departure(task)?;
        Some(TransferRow {
            ends: Carried::of(run.scenario, transfer.class)?,
            alone: run.alone.of(&transfer),
            delay: Delay::of(run.alone, &transfer),
            cause: TransferCause::of_departure(run.scenario, run.alone, run.arbiter.regions, &transfer),
            transfer,
        })
    };
    let mut table = part(run, title, &[]);
    for tasks in tasks.chunks(ROWS) {
        table.append(part(run, title, &tasks.iter().filter_map(row).collect::<Vec<_>>()));
    }
    table
}

/// Some rows of the transfers.
fn part(run: &Run<'_>, title: &str, rows: &[TransferRow<'_>]) -> ExportTable {
    let node = |node| Some(run.scenario.node_name(node));
    let bottleneck = |r: &TransferRow<'_>| link_of(&r.transfer.bottleneck).map(|link| run.link_names(link));
    let times = |r: &TransferRow<'_>| r.transfer.times;
    let mut columns = owner(&run.scenario.name, title, rows);
    columns.extend([
        text("id", rows, |r| Some(run.scenario.task_name(r.transfer.task))),
        text("from", rows, |r| node(r.ends.from)),
        text("to", rows, |r| node(r.ends.to)),
        whole("bytes", rows, |r| Some(r.transfer.bytes)),
        real("ready_s", rows, |r| seconds(times(r).ready)),
        real("start_s", rows, |r| seconds(times(r).start)),
        real("end_s", rows, |r| seconds(times(r).end)),
        whole("end_ps", rows, |r| picoseconds(times(r).end)),
        real("mean_Bps", rows, |r| mean_rate_of(&r.transfer)),
        whole("sent_bytes", rows, |r| {
            Some(if times(r).end.is_never() { r.transfer.sent_bytes } else { r.transfer.bytes })
        }),
        real("alone_s", rows, |r| r.alone.map(SimDuration::seconds)),
        text("bottleneck_from", rows, |r| bottleneck(r).map(|(from, _)| from)),
        text("bottleneck_to", rows, |r| bottleneck(r).map(|(_, to)| to)),
        displayed("cause", rows, |r| r.cause.as_ref()),
        text("region", rows, |r| r.cause.as_ref().and_then(TransferCause::region)),
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
