//! Who was in an operation's way: on the engines of its devices, and on the links of its transfers.

use std::borrow::Cow;
use std::collections::BTreeMap;

use weir_plugin_api::{Binding, Cause, Direction, LinkId, SimDuration, SimTime};
use weir_sim_core::{Bottleneck, EngineId, TaskId};

use crate::cause::CauseKind;
use crate::operations::owner_name;
use crate::served::{Served, engine_name};
use crate::{Run, duration};
use weir_scenario::PlannedOperation;

/// Others named in a reason (*assumed*: more do not help a reader).
const NAMED: usize = 3;

/// A sentence for the engines that served the same others while the operation was going on, in the order of first use.
pub(crate) fn shared_engines(run: &Run<'_>, served: &Served<'_>, operation: &PlannedOperation) -> Vec<String> {
    let mut shared: Vec<(String, Vec<EngineId>)> = Vec::new();
    // Looks at all tasks, and there are as many engines.
    let during = (run.released(operation), run.ended(operation));
    for (engine, first) in engines(run, operation) {
        let others = shared_with(run, served, (operation, during), engine, first);
        match shared.iter_mut().find(|(known, _)| *known == others) {
            _ if others.is_empty() => {}
            Some((_, engines)) => engines.push(engine),
            None => shared.push((others, vec![engine])),
        }
    }
    shared
        .into_iter()
        .map(|(others, engines)| format!("{} shared with {others}", engines_text(run, &engines)))
        .collect()
}

/// `gpu0/copy is`, `gpu0/copy, gpu0/compute are`, `gpu0/copy and 15 more engines are`.
fn engines_text(run: &Run<'_>, engines: &[EngineId]) -> String {
    let names =
        |number| engines.iter().take(number).map(|&e| engine_name(run.scenario, e)).collect::<Vec<_>>().join(", ");
    match engines.len() {
        1 => format!("{} is", names(1)),
        all if all <= NAMED => format!("{} are", names(all)),
        all => format!("{} and {} more engines are", names(1), all - 1),
    }
}

/// The engines of an operation in the order of their first use by the plan, each with the task that started first there.
fn engines(run: &Run<'_>, operation: &PlannedOperation) -> Vec<(EngineId, TaskId)> {
    let start = |task: TaskId| run.outcome.tasks[task.index()].start;
    let (mut engines, mut seen) = (Vec::new(), BTreeMap::new());
    for task in operation.tasks() {
        let engine = run.scenario.tasks.tasks()[task.index()].engine;
        if engine == EngineId::NONE {
            continue;
        }
        let at = *seen.entry(engine).or_insert_with(|| {
            engines.push((engine, task));
            engines.len() - 1
        });
        if start(task) < start(engines[at].1) {
            engines[at].1 = task;
        }
    }
    engines
}

/// Who else an engine served from the release of an operation to its end, as `b, c`; empty for nobody. `first` is the
/// operation's first task there.
fn shared_with(
    run: &Run<'_>,
    served: &Served<'_>,
    (operation, during): (&PlannedOperation, (SimTime, SimTime)),
    engine: EngineId,
    first: TaskId,
) -> String {
    let before = served.before(first).filter(|&before| delays(run, before, first));
    let mut names = Names::default();
    for task in before.into_iter().chain(served.others(engine, operation, during)) {
        if !names.add(owner_name(run, task)) {
            break;
        }
    }
    names.text()
}

/// Whether the gap after `before`, which may have ended before the operation's release, is what `task` waited for.
fn delays(run: &Run<'_>, before: TaskId, task: TaskId) -> bool {
    let (graph, times) = (&run.scenario.tasks, &run.outcome.tasks);
    let service = graph.service(task);
    let free = times[before.index()].sent.after(service.gap);
    service.class == graph.service(before).class && free > times[task.index()].ready.after(service.lead)
}

/// Links of another direction are named where they held the transfers back for at least this part of the worst link's time
/// (*assumed*).
const WORTH: u64 = 10;

/// Where transfers are held back: at a link, or by what links share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Link(LinkId),
    /// By its number in the fabric.
    Shared(u32),
}

impl Place {
    fn of(binding: &Binding) -> Self {
        binding.shared().map_or(Self::Link(binding.link), Self::Shared)
    }

    /// The direction of a link; none of what links of all directions share.
    fn direction(self, run: &Run<'_>) -> Option<Direction> {
        match self {
            Self::Link(link) => Some(run.scenario.fabric.link(link).direction),
            Self::Shared(_) => None,
        }
    }

    fn text(self, run: &Run<'_>) -> String {
        match self {
            Self::Link(link) => run.link_text(link),
            Self::Shared(number) => run.shared_text(&run.scenario.fabric.shared()[number as usize]),
        }
    }
}

/// For each direction (up, down, lateral), and for what links share, the place at which the operation's transfers were held
/// back for longest, all taken together, and why; the worst first. Empty where none was held back.
pub(crate) fn shared_links(run: &Run<'_>, operation: &PlannedOperation) -> Option<String> {
    let mut places: BTreeMap<Place, u64> = BTreeMap::new();
    for (_, delay) in delayed(run, operation) {
        add(&mut places, Place::of(&delay.binding), delay.time);
    }
    let mut worst: Vec<(Place, u64)> = [Some(Direction::Up), Some(Direction::Down), Some(Direction::Lateral), None]
        .into_iter()
        .filter_map(|d| largest(places.iter().map(|(&p, &s)| (p, s)).filter(|(p, _)| p.direction(run) == d).collect()))
        .collect();
    worst.sort_by_key(|&(_, span)| std::cmp::Reverse(span));
    let most = worst.first()?.1;
    worst.retain(|&(_, span)| span >= most / WORTH);
    let texts: Vec<String> = worst.iter().map(|&(place, span)| held_at(run, operation, place, span)).collect();
    Some(format!("held back {}", texts.join(", and ")))
}

/// `at plx0 → rc for 22.069 ms (sum over 4 transfers): upstream port shared with b`.
fn held_at(run: &Run<'_>, operation: &PlannedOperation, place: Place, span: u64) -> String {
    let (mut causes, mut transfers): (BTreeMap<u32, u64>, u64) = (BTreeMap::new(), 0);
    for (_, delay) in delayed(run, operation).filter(|(_, delay)| Place::of(&delay.binding) == place) {
        add(&mut causes, delay.binding.cause, delay.time);
        transfers += 1;
    }
    let cause = largest(causes).map_or(Cause::Unknown as u32, |(cause, _)| cause);
    let others = culprits(run, operation, place, cause);
    let others = Some(&*others).filter(|others| !others.is_empty());
    let why = match place {
        Place::Shared(_) => others.map_or_else(|| "shared".to_owned(), |others| format!("shared with {others}")),
        Place::Link(link) => {
            let lateral = run.scenario.fabric.link(link).direction == Direction::Lateral;
            let binding = Binding { link, cause, by: u32::MAX };
            CauseKind::new(binding.cause(), lateral, others.is_some()).sentence(others)
        }
    };
    // Those of transfers that wait at the same time add up to more than the operation takes.
    let sum = if transfers > 1 { format!(" (sum over {transfers} transfers)") } else { String::new() };
    format!("at {} for {}{sum}: {why}", place.text(run), duration(SimDuration(span)))
}

/// The transfers of an operation that had less than their full rate, and by what.
fn delayed<'r>(run: &'r Run<'_>, operation: &PlannedOperation) -> impl Iterator<Item = (TaskId, &'r Bottleneck)> {
    operation.tasks().map(|task| (task, &run.outcome.bottlenecks[task.index()])).filter(|(_, delay)| {
        let free = matches!(delay.binding.cause(), Cause::FullRate | Cause::OwnLimit);
        !free && !delay.binding.link.is_none()
    })
}

fn add<K: Ord>(sums: &mut BTreeMap<K, u64>, key: K, time: SimDuration) {
    let sum = sums.entry(key).or_default();
    *sum = sum.saturating_add(time.0);
}

/// The largest sum, the first key of equals.
fn largest<K: Ord>(sums: BTreeMap<K, u64>) -> Option<(K, u64)> {
    // `max_by_key` takes the last of equals.
    sums.into_iter().rev().max_by_key(|&(_, sum)| sum)
}

/// Who is responsible for what held the operation's transfers at a place, as `b, c`; empty for nobody known.
fn culprits(run: &Run<'_>, operation: &PlannedOperation, place: Place, cause: u32) -> String {
    let mut names = Names::default();
    for (task, delay) in delayed(run, operation) {
        let (binding, by) = (&delay.binding, TaskId(delay.binding.by));
        if (Place::of(binding), binding.cause) != (place, cause) || by.0 == u32::MAX || by == task {
            continue;
        }
        let name = if operation.owns(by) { "its own transfers".into() } else { owner_name(run, by) };
        if !names.add(name) {
            break;
        }
    }
    names.text()
}

/// The first few of several names.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    more: bool,
}

impl Names {
    /// Adds a name once; false when there are enough.
    fn add(&mut self, name: Cow<'_, str>) -> bool {
        if self.names.iter().all(|known| *known != *name) {
            self.more = self.names.len() == NAMED;
            if !self.more {
                self.names.push(name.into_owned());
            }
        }
        !self.more
    }

    fn text(self) -> String {
        self.names.join(", ") + if self.more { " and others" } else { "" }
    }
}
