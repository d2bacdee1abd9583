//! The tables of a run.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

use weir_plugin_api::{ClassId, LinkId, NodeId, PS_PER_S, SimDuration};
use weir_scenario::PlannedOperation;
use weir_sim_core::{Departure, TaskId, TaskTimes, Work};

use super::columns::{Columns, table};
use super::{ColumnValues, Dictionary, ExportTable};
use crate::Run;
use crate::cause::{CauseNumbers, link_of};
use crate::delay::{BesideAlone, Delay};
use crate::operations::{self, Operation};
use crate::run::{Carried, mean_rate_of};
use crate::units::{picoseconds, seconds};

/// Rows that are made at a time (*assumed*: they stay in the processor's nearest cache until their columns are made).
const ROWS: usize = 128;
/// Rows of a thread at least (*assumed*: they take far longer than a thread to start).
const OF_A_THREAD: usize = 1 << 15;

/// What several columns say of a transfer.
struct TransferRow {
    task: TaskId,
    from: NodeId,
    to: NodeId,
    bytes: u64,
    sent_bytes: u64,
    times: TaskTimes,
    mean: Option<f64>,
    bottleneck: Option<LinkId>,
    alone: Option<SimDuration>,
    delay: Option<Delay>,
    cause: Option<CauseNumbers>,
    /// In a run of packets.
    packets: Option<u64>,
    /// Likewise: how long its packets were held up.
    held: Option<SimDuration>,
}

/// What `--json` says of transfers, but for their routes: a part of each thread, one at least.
pub(super) fn transfers(run: &Run<'_>) -> Vec<ExportTable> {
    let title = &run.arbiter.title();
    let tasks: Vec<TaskId> = run.transfers().collect();
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = tasks.len().div_ceil(threads).max(OF_A_THREAD);
    let ends = &ends_of_classes(run);
    if tasks.len() <= share {
        return vec![rows_of(run, title, ends, &tasks)];
    }
    ask_alone(run, &tasks);
    let mut parts: Vec<ExportTable> = std::thread::scope(|scope| {
        let parts = tasks.chunks(share).map(|tasks| scope.spawn(move || rows_of(run, title, ends, tasks)));
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
    let mut left = asked.len();
    for &task in tasks {
        if left == 0 {
            break;
        }
        let Work::Carries { class, .. } = run.scenario.tasks.tasks()[task.index()].work else { continue };
        if !std::mem::replace(&mut asked[class.index()], true)
            && let Some(transfer) = run.departure(task)
        {
            left -= 1;
            let transfer = BesideAlone::new(run.alone, &transfer);
            let _ = (transfer.since_ready(), transfer.delay());
        }
    }
}

/// From where to where transfers of each class go: to follow their links for each transfer takes longer.
fn ends_of_classes(run: &Run<'_>) -> Vec<Option<(NodeId, NodeId)>> {
    let classes = (0..run.scenario.tasks.classes().len()).map(ClassId::from_index);
    classes.map(|class| Carried::of(run.scenario, class).map(|carried| (carried.from, carried.to))).collect()
}

impl TransferRow {
    /// `None` for what is no transfer; `ends` says from where to where those of each class go.
    fn of(run: &Run<'_>, ends: &[Option<(NodeId, NodeId)>], task: TaskId) -> Option<Self> {
        let transfer = run.departure(task)?;
        let (from, to) = ends[transfer.class.index()]?;
        let beside = BesideAlone::new(run.alone, &transfer);
        let (times, bytes) = (transfer.times, transfer.bytes);
        Some(Self {
            task,
            from,
            to,
            bytes,
            sent_bytes: if times.end.is_never() { transfer.sent_bytes } else { bytes },
            times,
            mean: mean_rate_of(&run.arbiter, &transfer),
            bottleneck: link_of(&transfer.bottleneck),
            alone: beside.since_ready(),
            delay: beside.delay(),
            cause: CauseNumbers::of(run.scenario, run.arbiter.regions, &beside),
            packets: packets_of(run, &transfer),
            held: run.arbiter.packets.map(|_| SimDuration(transfer.held.iter().map(|held| held.time).sum())),
        })
    }
}

/// The packets of a transfer; `None` in a run by rates.
fn packets_of(run: &Run<'_>, transfer: &Departure) -> Option<u64> {
    let plan = run.arbiter.packets?;
    let first = *Carried::of(run.scenario, transfer.class)?.links.first()?;
    Some(plan.packets(first, run.scenario.tasks.classes().carriage(transfer.class), transfer.bytes))
}

/// The rows of these transfers.
fn rows_of(run: &Run<'_>, title: &str, ends: &[Option<(NodeId, NodeId)>], tasks: &[TaskId]) -> ExportTable {
    let most = tasks.len();
    let mut table = ExportTable { name: "transfers", columns: Vec::new() };
    add(run, title, &mut Columns::new(&mut table, &[], most));
    let mut rows = Vec::with_capacity(ROWS);
    for tasks in tasks.chunks(ROWS) {
        rows.clear();
        rows.extend(tasks.iter().filter_map(|&task| TransferRow::of(run, ends, task)));
        run.scenario.read_task_names(rows.iter().filter_map(|row| row.cause?.by));
        add(run, title, &mut Columns::new(&mut table, &rows, most));
    }
    table
}

/// Adds some rows of the transfers.
fn add(run: &Run<'_>, title: &str, to: &mut Columns<'_, '_, TransferRow>) {
    let node = |number| run.scenario.node_name(NodeId::from_index(number));
    let bottleneck = |r: &TransferRow| r.bottleneck.map(|link| run.scenario.fabric.link(link));
    let regions = run.arbiter.regions;
    let region = |number: usize| regions.map_or("", |regions| &regions.infos[number].name);
    to.owner(&run.scenario.name, title);
    to.written("id", |r, text| Some(run.scenario.write_task_name(r.task, text)));
    to.names("from", |r| Some(r.from.index()), node);
    to.names("to", |r| Some(r.to.index()), node);
    to.whole("bytes", |r| Some(r.bytes));
    to.real("ready_s", |r| seconds(r.times.ready));
    to.real("start_s", |r| seconds(r.times.start));
    to.real("end_s", |r| seconds(r.times.end));
    to.whole("end_ps", |r| picoseconds(r.times.end));
    to.real("mean_Bps", |r| r.mean);
    to.whole("sent_bytes", |r| Some(r.sent_bytes));
    to.real("alone_s", |r| r.alone.map(SimDuration::seconds));
    to.names("bottleneck_from", |r| bottleneck(r).map(|link| link.from.index()), node);
    to.names("bottleneck_to", |r| bottleneck(r).map(|link| link.to.index()), node);
    to.written("cause", |r, text| r.cause.map(|cause| cause.write(run.scenario, regions, text)));
    to.names("region", |r| r.cause?.region(), region);
    to.real("waiting_s", |r| r.delay.map(|delay| delay.waiting_s));
    to.real("blocked_s", |r| r.delay.and_then(|delay| delay.blocked_s));
    to.real("cut_s", |r| r.delay.map(|delay| delay.cut_s));
    to.real("own_limit_s", |r| r.delay.map(|delay| delay.own_limit_s));
    to.whole("packets", |r| r.packets);
    to.real("sent_s", |r| r.packets.and_then(|_| seconds(r.times.sent)));
    to.real("held_s", |r| r.held.map(SimDuration::seconds));
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
