//! The tables of a run.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

use weir_plugin_api::{LinkId, NodeId, PS_PER_S, SimDuration};
use weir_scenario::PlannedOperation;
use weir_sim_core::{Departure, TaskId, Work};

use super::columns::{Columns, table};
use super::{ColumnValues, Dictionary, ExportTable};
use crate::Run;
use crate::cause::{CauseNumbers, link_of};
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
    cause: Option<CauseNumbers>,
}

/// What `--json` says of transfers, but for their routes: a part of each thread, one at least.
pub(super) fn transfers(run: &Run<'_>) -> Vec<ExportTable> {
    let title = &run.arbiter.title();
    let tasks: Vec<TaskId> = run.transfers().collect();
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = tasks.len().div_ceil(threads).max(OF_A_THREAD);
    if tasks.len() <= share {
        return vec![rows_of(run, title, &tasks)];
    }
    ask_alone(run, &tasks);
    let mut parts: Vec<ExportTable> = std::thread::scope(|scope| {
        let parts = tasks.chunks(share).map(|tasks| scope.spawn(move || rows_of(run, title, tasks)));
        let done = |part: ScopedJoinHandle<'_, ExportTable>| part.join().unwrap_or_else(|panic| resume_unwind(panic));
        parts.collect::<Vec<_>>().into_iter().map(done).collect()
    });
    share_names(&mut parts);
    parts
}

/// Gives the names in each column of these parts the same list.
fn share_names(parts: &mut [ExportTable]) {
    for at in 0..parts.first().map_or(0, |part| part.columns.len()) {
        Dictionary::share_texts(parts.iter_mut().filter_map(|part| match &mut part.columns[at].values {
            ColumnValues::Name(names) => Some(names),
            _ => None,
        }));
    }
}

/// Asks the arbiter of each class alone, in the order of the transfers, so that its first failure is the same for any number of
/// threads.
fn ask_alone(run: &Run<'_>, tasks: &[TaskId]) {
    let mut asked = vec![false; run.scenario.tasks.classes().len()];
    for &task in tasks {
        let Work::Carries { class, .. } = run.scenario.tasks.tasks()[task.index()].work else { continue };
        if !std::mem::replace(&mut asked[class.index()], true)
            && let Some(transfer) = run.departure(task)
        {
            let _ = (run.alone.of(&transfer), Delay::of(run.alone, &transfer));
        }
    }
}

/// The rows of these transfers.
fn rows_of(run: &Run<'_>, title: &str, tasks: &[TaskId]) -> ExportTable {
    let row = |&task: &TaskId| {
        let transfer = run.departure(task)?;
        Some(TransferRow {
            ends: Carried::of(run.scenario, transfer.class)?,
            alone: run.alone.of(&transfer),
            delay: Delay::of(run.alone, &transfer),
            cause: CauseNumbers::of(run.scenario, run.alone, run.arbiter.regions, &transfer),
            transfer,
        })
    };
    let most = tasks.len();
    let mut table = ExportTable { name: "transfers", columns: Vec::new() };
    add(run, title, &mut Columns::new(&mut table, &[], most));
    let mut rows = Vec::with_capacity(ROWS);
    for tasks in tasks.chunks(ROWS) {
        rows.clear();
        rows.extend(tasks.iter().filter_map(row));
        add(run, title, &mut Columns::new(&mut table, &rows, most));
    }
    table
}

/// Adds some rows of the transfers.
fn add(run: &Run<'_>, title: &str, to: &mut Columns<'_, '_, TransferRow<'_>>) {
    let node = |number| run.scenario.node_name(NodeId::from_index(number));
    let bottleneck = |r: &TransferRow<'_>| link_of(&r.transfer.bottleneck).map(|link| run.scenario.fabric.link(link));
    let regions = run.arbiter.regions;
    let region = |number: usize| regions.map_or("", |regions| &regions.infos[number].name);
    let times = |r: &TransferRow<'_>| r.transfer.times;
    to.owner(&run.scenario.name, title);
    to.written("id", |r, text| Some(run.scenario.write_task_name(r.transfer.task, text)));
    to.names("from", |r| Some(r.ends.from.index()), node);
    to.names("to", |r| Some(r.ends.to.index()), node);
    to.whole("bytes", |r| Some(r.transfer.bytes));
    to.real("ready_s", |r| seconds(times(r).ready));
    to.real("start_s", |r| seconds(times(r).start));
    to.real("end_s", |r| seconds(times(r).end));
    to.whole("end_ps", |r| picoseconds(times(r).end));
    to.real("mean_Bps", |r| mean_rate_of(&run.arbiter, &r.transfer));
    to.whole("sent_bytes", |r| Some(if times(r).end.is_never() { r.transfer.sent_bytes } else { r.transfer.bytes }));
    to.real("alone_s", |r| r.alone.map(SimDuration::seconds));
    to.names("bottleneck_from", |r| bottleneck(r).map(|link| link.from.index()), node);
    to.names("bottleneck_to", |r| bottleneck(r).map(|link| link.to.index()), node);
    to.written("cause", |r, text| r.cause.map(|cause| cause.write(run.scenario, regions, text)));
    to.names("region", |r| r.cause?.region(), region);
    to.real("waiting_s", |r| r.delay.map(|delay| delay.waiting_s));
    to.real("blocked_s", |r| r.delay.and_then(|delay| delay.blocked_s));
    to.real("cut_s", |r| r.delay.map(|delay| delay.cut_s));
    to.real("own_limit_s", |r| r.delay.map(|delay| delay.own_limit_s));
    let plan = run.arbiter.packets;
    let carriage = |r: &TransferRow<'_>| run.scenario.tasks.classes().carriage(r.transfer.class);
    to.whole("packets", |r| Some(plan?.packets(*r.ends.links.first()?, carriage(r), r.transfer.bytes)));
    to.real("sent_s", |r| plan.and_then(|_| seconds(times(r).sent)));
    let held = |r: &TransferRow<'_>| SimDuration(r.transfer.held.iter().map(|held| held.time).sum()).seconds();
    to.real("held_s", |r| plan.map(|_| held(r)));
}

/// Links that carried bytes.
pub(super) fn links(run: &Run<'_>) -> ExportTable {
    let totals = &run.outcome.links;
    let rows: Vec<LinkId> = (0..totals.len()).filter(|&link| totals[link].bytes > 0).map(LinkId::from_index).collect();
    let (bandwidth, total) = (|l: &LinkId| run.scenario.fabric.link(*l).bandwidth, |l: &LinkId| totals[l.index()]);
    let now = run.outcome.now.0 as f64 / PS_PER_S as f64;
    let node = |number| run.scenario.node_name(NodeId::from_index(number));
    table("links", &rows, |to| {
        to.owner(&run.scenario.name, &run.arbiter.title());
        to.whole("id", |l| Some(l.0.into()));
        to.names("from", |l| Some(run.scenario.fabric.link(*l).from.index()), node);
        to.names("to", |l| Some(run.scenario.fabric.link(*l).to.index()), node);
        to.real("bandwidth_Bps", |l| Some(bandwidth(l)));
        to.whole("bytes", |l| Some(total(l).bytes));
        to.real("busy_s", |l| Some(total(l).busy.seconds()));
        to.real("peak_Bps", |l| total(l).peak);
        to.real("utilisation", |l| (now > 0.0).then(|| total(l).bytes as f64 / (bandwidth(l) * now)));
        let counts = |l: &LinkId| run.outcome.packets.as_ref()?.links.get(l.index());
        to.whole("packets", |l| Some(counts(l)?.packets));
        to.whole("wire_bytes", |l| Some(counts(l)?.wire));
        to.whole("deepest_bytes", |l| Some(counts(l)?.deepest));
        to.real("no_credit_s", |l| Some(SimDuration(counts(l)?.starved).seconds()));
        to.real("mean_wait_s", |l| counts(l).map(|c| SimDuration(c.waited / c.whole.max(1)).seconds()));
        to.whole("dllps", |l| Some(counts(l)?.dllps));
    })
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
    table("operations", &rows, |to| {
        to.owner(&run.scenario.name, &run.arbiter.title());
        to.text("id", |row| match row {
            Operation::Own(task, _) => Some(run.scenario.task_name(*task)),
            Operation::Planned(planned) => Some(planned.id.to_string().into()),
        });
        to.text("kind", |row| match row {
            Operation::Own(_, kind) => Some(*kind),
            Operation::Planned(planned) => Some(&*planned.kind),
        });
        to.real("start_s", |row| seconds(times(row).0));
        to.real("end_s", |row| seconds(times(row).1));
        to.whole("end_ps", |row| picoseconds(times(row).1));
        to.real("alone_s", |row| Some(run.operation_alone(planned(row)?)?.seconds()));
        to.real("estimate_s", |row| Some(planned(row)?.estimates.last()?.seconds));
    })
}

/// A row per phase and active transfer.
pub(super) fn phases(run: &Run<'_>) -> ExportTable {
    let phases = run.outcome.phases.as_deref().unwrap_or_default();
    let rows: Vec<_> =
        phases.iter().flat_map(|phase| phase.rates.iter().map(move |&(task, rate)| (phase, task, rate))).collect();
    table("phases", &rows, |to| {
        to.owner(&run.scenario.name, &run.arbiter.title());
        to.real("start_s", |(phase, ..)| Some(phase.start.seconds()));
        to.real("end_s", |(phase, ..)| Some(phase.end.seconds()));
        to.whole("start_ps", |(phase, ..)| Some(phase.start.0));
        to.whole("end_ps", |(phase, ..)| Some(phase.end.0));
        to.names("transfer", |(_, task, _)| Some(task.index()), |number| run.scenario.task_name(TaskId(number as u32)));
        to.real("rate_Bps", |(.., rate)| Some(*rate));
    })
}
