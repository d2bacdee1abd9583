//! Which tasks of a workload the search covers, and what follows each transfer.
//!
//! ```text
//! release (ready at 0) ─► message: carries bytes; lead, gap ─► tail: a fixed time, no engine ─► joins of no time
//! ```
//!
//! A plain transfer is a message alone, `loggp` over the fabric all of it. Releases and joins take no time, so every
//! message is ready at 0, and a run ends with the last message and its tails.

use weir_sim_core::api::{EngineScope, Queue, SimTime};
use weir_sim_core::{EngineId, ServiceId, Task, TaskGraph, TaskId, Work};

use super::error::{OrderError, TaskRefusal};

/// What a task is to the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Waits for nothing and takes no time.
    Release,
    Message,
    /// Lasts so many ps after a message.
    Tail(u64),
    /// Takes no time after others.
    Join,
}

/// Checks that the search covers every task. Per task the longest tail after it, ps; 0 for all but messages.
///
/// # Errors
/// The first task that the search does not cover.
pub(super) fn tails(tasks: &TaskGraph) -> Result<Vec<u64>, OrderError> {
    let refused = |task: TaskId| move |why| OrderError::Task { task, why };
    let each = |(id, task)| role(tasks, id, task).map_err(refused(id));
    let roles: Vec<Role> = ids(tasks).map(each).collect::<Result<_, _>>()?;
    let earlier = earlier(tasks);
    let mut tails = vec![0; roles.len()];
    for (id, _) in ids(tasks) {
        fits(tasks, &roles, id, &earlier[id.index()]).map_err(refused(id))?;
        if let Role::Tail(span) = roles[id.index()] {
            let message = earlier[id.index()][0].index();
            tails[message] = span.max(tails[message]);
        }
    }
    Ok(tails)
}

pub(super) fn ids(tasks: &TaskGraph) -> impl Iterator<Item = (TaskId, &Task)> {
    (0_u32..).map(TaskId).zip(tasks.tasks())
}

/// Per task: those for whose end it waits.
fn earlier(tasks: &TaskGraph) -> Vec<Vec<TaskId>> {
    let mut earlier = vec![Vec::new(); tasks.tasks().len()];
    for (id, _) in ids(tasks) {
        tasks.successors(id).iter().for_each(|later| earlier[later.index()].push(id));
    }
    earlier
}

/// What a task is by itself.
fn role(tasks: &TaskGraph, id: TaskId, task: &Task) -> Result<Role, TaskRefusal> {
    let free = task.engine == EngineId::NONE && task.service == ServiceId::PLAIN;
    let role = match task.work {
        Work::Carries { .. } => Role::Message,
        Work::Nothing { counted: false } if free && tasks.waits(id) == 0 => Role::Release,
        Work::Nothing { counted: false } if free => Role::Join,
        Work::Lasts(span) if free && tasks.waits(id) > 0 => Role::Tail(span.0),
        Work::Lasts(_) if sends(tasks, task.engine) => return Err(TaskRefusal::NoBytes),
        _ => return Err(TaskRefusal::NotATransfer),
    };
    if task.start != SimTime::ZERO {
        return Err(TaskRefusal::StartsLater);
    }
    if role == Role::Message && tasks.service(id).queue == Queue::Issued {
        return Err(TaskRefusal::Service);
    }
    Ok(role)
}

/// Whether an engine is what a device sends with.
fn sends(tasks: &TaskGraph, engine: EngineId) -> bool {
    let engine = tasks.engines().get(engine.0 as usize);
    engine.is_some_and(|e| matches!(e.scope, EngineScope::Device(_)) && matches!(&*e.name, "send" | "copy" | "dma"))
}

/// Whether a task follows only what one of its role may follow.
fn fits(tasks: &TaskGraph, roles: &[Role], id: TaskId, earlier: &[TaskId]) -> Result<(), TaskRefusal> {
    let role = |task: &TaskId| roles[task.index()];
    // A wait for a start is none of these.
    let ends_only = tasks.waits(id) as usize == earlier.len();
    let fits = match role(&id) {
        Role::Release => true,
        Role::Message => earlier.iter().all(|task| role(task) == Role::Release),
        Role::Tail(_) if earlier.len() == 1 && role(&earlier[0]) == Role::Message => true,
        Role::Tail(_) => return Err(TaskRefusal::NotATransfer),
        // The release of an operation that waits for another is one, too.
        Role::Join => tasks.successors(id).iter().all(|task| role(task) == Role::Join),
    };
    if fits && ends_only { Ok(()) } else { Err(TaskRefusal::Waits) }
}
