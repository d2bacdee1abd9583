//! Takes what a loaded model emits: checks texts and numbers, copies, and refuses what would fill the memory.
//!
//! ```text
//! plugin ── emit_task(planner, record) ──► PlanSink ──► Plan
//!                                             └► the first record that is wrong, reported when the call has returned
//! ```

use std::ffi::c_char;

use weir_plugin_api::abi::{
    AlternativeRecord, Chooser, EngineRecord, EstimateRecord, Estimator, Planner, TaskRecord, WaitRecord, code, scope,
    work,
};
use weir_plugin_api::{
    Alternative, EngineScope, Estimate, Estimates, Moment, NodeId, Plan, PlannedTask, PlannedWork, Queue, Relation,
    Slice, Wait,
};

use crate::instance::readable;

/// What one answer may hold at most, so that none fills the memory.
#[derive(Clone, Copy)]
struct Limits {
    tasks: usize,
    /// Of all tasks together.
    waits: usize,
    engines: usize,
    /// Estimates, or alternatives.
    answers: usize,
    /// Bytes of all texts together.
    text: usize,
}

/// As many tasks as a scenario may have transfers. *Assumed*: five waits (400 MB in all) and fifty bytes of names for each
/// of the most tasks, several engines for each of many devices, and answers that a person reads.
const LIMITS: Limits =
    Limits { tasks: 10_000_000, waits: 50_000_000, engines: 1_000_000, answers: 10_000, text: 500_000_000 };

/// Why a record is refused; follows "plan of FILE".
type Taken<T> = Result<T, String>;

/// Reads the texts of an answer.
struct Texts {
    /// What is left of the bytes that they may have.
    left: usize,
}

impl Texts {
    /// A text of a record, borrowed as the record is.
    fn read<'a>(&mut self, bytes: &'a [u8], what: impl FnOnce() -> String) -> Taken<&'a str> {
        let left = self.left.checked_sub(bytes.len());
        self.left = left.ok_or_else(|| "emits more text than an answer may have".to_owned())?;
        std::str::from_utf8(bytes).map_err(|e| format!("emits {} that is not UTF-8 ({e})", what()))
    }

    fn slice<'a>(&mut self, text: &Slice<'a, u8>, what: impl FnOnce() -> String) -> Taken<&'a str> {
        self.read(readable(text), what)
    }
}

/// Takes the records of one answer.
pub(crate) struct Sink<T> {
    answer: T,
    texts: Texts,
    /// The first thing that is wrong with them.
    pub(crate) wrong: Option<String>,
}

impl<T> Sink<T> {
    fn of(answer: T, limits: &Limits) -> Self {
        Self { answer, texts: Texts { left: limits.text }, wrong: None }
    }

    /// Takes a record; none where it is wrong, or one before it was.
    fn noted<R>(&mut self, take: impl FnOnce(&mut Self) -> Taken<R>) -> Option<R> {
        if self.wrong.is_some() {
            return None;
        }
        take(self).map_err(|problem| self.wrong = Some(problem)).ok()
    }
}

fn at_most(limit: usize, count: usize, what: &str) -> Taken<()> {
    if count > limit { Err(format!("emits more than {limit} {what}")) } else { Ok(()) }
}

fn not_null<'a, T>(record: Option<&'a T>, what: &str) -> Taken<&'a T> {
    record.ok_or_else(|| format!("emits a null {what}"))
}

pub(crate) struct PlanAnswer<'a> {
    plan: &'a mut Plan,
    limits: Limits,
    /// Waits of all tasks so far.
    waits: usize,
    /// Scratch: those of one task.
    of_task: Vec<Wait>,
}

pub(crate) type PlanSink<'a> = Sink<PlanAnswer<'a>>;

impl<'a> PlanSink<'a> {
    /// Its functions; the context is the sink.
    pub(crate) const PLANNER: Planner = Planner { context: std::ptr::null_mut(), emit_engine, emit_task };

    pub(crate) fn new(plan: &'a mut Plan) -> Self {
        Self::within(LIMITS, plan)
    }

    fn within(limits: Limits, plan: &'a mut Plan) -> Self {
        Self::of(PlanAnswer { plan, waits: 0, of_task: Vec::new(), limits }, &limits)
    }

    fn engine(&mut self, record: Option<&EngineRecord<'_>>) -> Taken<u32> {
        let record = not_null(record, "engine")?;
        let index = self.answer.plan.engines().len();
        at_most(self.answer.limits.engines, index + 1, "engines")?;
        let name = self.texts.slice(&record.name, || format!("a name of engine {index}"))?;
        let scope = match record.scope {
            scope::DEVICE => EngineScope::Device(NodeId(record.device)),
            scope::OPERATION => EngineScope::Operation,
            other => return Err(unknown("engine", index, name, "scope", other, "0 (device) or 1 (operation)")),
        };
        Ok(self.answer.plan.engine(name, record.slots, scope))
    }

    fn task(&mut self, record: Option<&TaskRecord<'_>>) -> Taken<u32> {
        let record = not_null(record, "task")?;
        let index = self.answer.plan.len();
        at_most(self.answer.limits.tasks, index + 1, "tasks")?;
        let name = self.texts.slice(&record.name, || format!("a name of task {index}"))?;
        self.read_waits(readable(&record.waits), index, name)?;
        let queue = match record.queue {
            0 => Queue::Issued,
            1 => Queue::Ready,
            other => return Err(unknown("task", index, name, "queue", other, "0 (issued) or 1 (ready)")),
        };
        Ok(self.answer.plan.task(&PlannedTask {
            name,
            waits: &self.answer.of_task,
            engine: (record.engine != u32::MAX).then_some(record.engine),
            queue,
            class: record.class,
            lead_ps: record.lead_ps,
            gap_ps: record.gap_ps,
            work: work_of(record, index, name)?,
        }))
    }

    fn read_waits(&mut self, waits: &[WaitRecord], index: usize, name: &str) -> Taken<()> {
        self.answer.waits = self.answer.waits.saturating_add(waits.len());
        at_most(self.answer.limits.waits, self.answer.waits, "waits")?;
        self.answer.of_task.clear();
        for wait in waits {
            let moment = match wait.moment {
                0 => Moment::End,
                1 => Moment::Start,
                other => return Err(unknown("task", index, name, "moment", other, "0 (end) or 1 (start)")),
            };
            self.answer.of_task.push(Wait { task: wait.task, moment });
        }
        Ok(())
    }
}

fn work_of(record: &TaskRecord<'_>, index: usize, name: &str) -> Taken<PlannedWork> {
    match record.work {
        work::NOTHING => Ok(PlannedWork::Nothing),
        work::LASTS => Ok(PlannedWork::Lasts(record.lasts_ps)),
        work::CARRIES => Ok(PlannedWork::Carries {
            from: NodeId(record.from),
            to: NodeId(record.to),
            bytes: record.bytes,
            limit: record.limit,
        }),
        other => Err(unknown("task", index, name, "work", other, "0 (nothing), 1 (lasts) or 2 (carries)")),
    }
}

/// That a number of an enum is none of those there are.
fn unknown(what: &str, index: usize, name: &str, field: &str, number: u32, known: &str) -> String {
    format!("emits {what} {index} (`{}`) with {field} {number}, which is none of {known}", name.escape_debug())
}

unsafe extern "C" fn emit_engine(planner: *const Planner, engine: *const EngineRecord<'_>) -> u32 {
    // SAFETY: the context is the sink of the running call; the record is valid for this one, as the ABI demands.
    let (sink, record) = unsafe { (&mut *(*planner).context.cast::<PlanSink<'_>>(), engine.as_ref()) };
    let position = sink.noted(|sink| sink.engine(record));
    position.unwrap_or(u32::MAX)
}

unsafe extern "C" fn emit_task(planner: *const Planner, task: *const TaskRecord<'_>) -> u32 {
    // SAFETY: as in `emit_engine`.
    let (sink, record) = unsafe { (&mut *(*planner).context.cast::<PlanSink<'_>>(), task.as_ref()) };
    let position = sink.noted(|sink| sink.task(record));
    position.unwrap_or(u32::MAX)
}

pub(crate) type EstimateSink<'a> = Sink<&'a mut Estimates>;

impl<'a> EstimateSink<'a> {
    /// Its functions; the context is the sink.
    pub(crate) const ESTIMATOR: Estimator = Estimator { context: std::ptr::null_mut(), emit_estimate, emit_details };

    pub(crate) fn new(estimates: &'a mut Estimates) -> Self {
        Self::of(estimates, &LIMITS)
    }

    fn estimate(&mut self, record: Option<&EstimateRecord<'_>>) -> Taken<()> {
        let record = not_null(record, "estimate")?;
        let index = self.answer.list.len();
        at_most(LIMITS.answers, index + 1, "estimates")?;
        let formula = self.texts.slice(&record.formula, || format!("a formula of estimate {index}"))?;
        let because = self.texts.slice(&record.because, || format!("a `because` of estimate {index}"))?;
        let relation = match record.relation {
            0 => Relation::Unstated,
            1 => Relation::Equal,
            2 => Relation::AtMost,
            3 => Relation::AtLeast,
            other => return Err(unknown("estimate", index, formula, "relation", other, RELATIONS)),
        };
        self.answer.list.push(Estimate {
            formula: formula.to_owned(),
            seconds: record.seconds,
            relation,
            because: because.to_owned(),
        });
        Ok(())
    }

    fn details(&mut self, bytes: &[u8]) -> Taken<()> {
        if !self.answer.details.is_empty() {
            return Err("emits details twice".to_owned());
        }
        self.texts.read(bytes, || "a text of details".to_owned())?.clone_into(&mut self.answer.details);
        Ok(())
    }
}

const RELATIONS: &str = "0 (unstated), 1 (equal), 2 (at most) or 3 (at least)";

/// The code that an emitting function returns.
fn taken(done: Option<()>) -> i32 {
    if done.is_some() { code::OK } else { code::ERROR }
}

unsafe extern "C" fn emit_estimate(estimator: *const Estimator, estimate: *const EstimateRecord<'_>) -> i32 {
    // SAFETY: as in `emit_engine`.
    let (sink, record) = unsafe { (&mut *(*estimator).context.cast::<EstimateSink<'_>>(), estimate.as_ref()) };
    let done = sink.noted(|sink| sink.estimate(record));
    taken(done)
}

unsafe extern "C" fn emit_details(estimator: *const Estimator, details: *const c_char, len: usize) -> i32 {
    // SAFETY: as in `emit_engine`; the plugin promises `len` readable bytes.
    let (sink, bytes) = unsafe {
        let bytes: &[u8] = if details.is_null() { &[] } else { std::slice::from_raw_parts(details.cast(), len) };
        (&mut *(*estimator).context.cast::<EstimateSink<'_>>(), bytes)
    };
    let done = sink.noted(|sink| sink.details(bytes));
    taken(done)
}

pub(crate) type AlternativeSink<'a> = Sink<&'a mut Vec<Alternative>>;

impl<'a> AlternativeSink<'a> {
    /// Its function; the context is the sink.
    pub(crate) const CHOOSER: Chooser = Chooser { context: std::ptr::null_mut(), emit_alternative };

    pub(crate) fn new(alternatives: &'a mut Vec<Alternative>) -> Self {
        Self::of(alternatives, &LIMITS)
    }

    fn alternative(&mut self, record: Option<&AlternativeRecord<'_>>) -> Taken<()> {
        let record = not_null(record, "alternative")?;
        let index = self.answer.len();
        at_most(LIMITS.answers, index + 1, "alternatives")?;
        let label = self.texts.slice(&record.label, || format!("a label of alternative {index}"))?;
        let operation = self.texts.slice(&record.operation, || format!("an operation of alternative {index}"))?;
        self.answer.push(Alternative { label: label.to_owned(), operation: operation.to_owned() });
        Ok(())
    }
}

unsafe extern "C" fn emit_alternative(chooser: *const Chooser, alternative: *const AlternativeRecord<'_>) -> i32 {
    // SAFETY: as in `emit_engine`.
    let (sink, record) = unsafe { (&mut *(*chooser).context.cast::<AlternativeSink<'_>>(), alternative.as_ref()) };
    let done = sink.noted(|sink| sink.alternative(record));
    taken(done)
}

#[cfg(test)]
mod tests {
    use weir_plugin_api::abi::{
        AlternativeRecord, Chooser, EngineRecord, EstimateRecord, Estimator, Planner, TaskRecord, WaitRecord, code,
    };
    use weir_plugin_api::{Estimates, Plan};

    use super::{AlternativeSink, EstimateSink, Limits, PlanSink};

    const SMALL: Limits = Limits { tasks: 2, waits: 3, engines: 1, answers: 0, text: 9 };

    /// Emits tasks of these names and numbers of waits, after one engine; the positions and what was wrong.
    fn emit(tasks: &[(&str, usize)], engines: usize) -> (Vec<u32>, Option<String>, usize) {
        let mut plan = Plan::new();
        let mut sink = PlanSink::within(SMALL, &mut plan);
        let planner = Planner { context: (&raw mut sink).cast(), ..PlanSink::PLANNER };
        let mut positions = Vec::new();
        for _ in 0..engines {
            let record = EngineRecord { name: b"e"[..].into(), slots: 1, scope: 1, device: 0 };
            // SAFETY: planner and record are valid here.
            positions.push(unsafe { (planner.emit_engine)(&raw const planner, &raw const record) });
        }
        for (name, waits) in tasks {
            let waits = vec![WaitRecord { task: 0, moment: 0 }; *waits];
            let record = TaskRecord {
                name: name.as_bytes().into(),
                waits: (&waits).into(),
                engine: u32::MAX,
                queue: 1,
                class: 0,
                work: 0,
                lead_ps: 0.0,
                gap_ps: 0.0,
                lasts_ps: 0.0,
                from: 0,
                to: 0,
                bytes: 0,
                limit: 0.0,
            };
            // SAFETY: as above.
            positions.push(unsafe { (planner.emit_task)(&raw const planner, &raw const record) });
        }
        let wrong = sink.wrong.take();
        (positions, wrong, plan.len())
    }

    /// Nothing is taken once something was refused: the last task would fit again.
    #[test]
    fn an_answer_that_grows_too_large_is_refused_while_it_is_emitted() {
        let none = u32::MAX;
        let refusal = |what: &str| Some(format!("emits more {what}"));
        assert_eq!(emit(&[("a", 2), ("b", 1)], 1), (vec![0, 0, 1], None, 2));
        assert_eq!(emit(&[("a", 0), ("b", 0), ("c", 0)], 0), (vec![0, 1, none], refusal("than 2 tasks"), 2));
        assert_eq!(emit(&[("a", 2), ("b", 2), ("c", 0)], 0), (vec![0, none, none], refusal("than 3 waits"), 1));
        assert_eq!(emit(&[("c", 0)], 2), (vec![0, none, none], refusal("than 1 engines"), 0));
        assert_eq!(emit(&[("a", 0), ("123456789", 0)], 0), (vec![0, none], refusal("text than an answer may have"), 1));
    }

    /// 10 000 answers are what a person reads, and no more than that.
    #[test]
    fn answers_for_a_person_have_an_end() {
        let most = super::LIMITS.answers;
        let (mut estimates, mut alternatives) = (Estimates::default(), Vec::new());
        let mut sink = EstimateSink::new(&mut estimates);
        let estimator = Estimator { context: (&raw mut sink).cast(), ..EstimateSink::ESTIMATOR };
        let estimate = EstimateRecord { formula: b"f"[..].into(), because: b""[..].into(), seconds: 1.0, relation: 1 };
        // SAFETY: estimator and record are valid here.
        let emit = || unsafe { (estimator.emit_estimate)(&raw const estimator, &raw const estimate) };
        assert_eq!((0..=most).map(|_| emit()).filter(|&code| code == code::OK).count(), most);
        assert_eq!(sink.wrong.take().as_deref(), Some("emits more than 10000 estimates"));
        let mut sink = AlternativeSink::new(&mut alternatives);
        let chooser = Chooser { context: (&raw mut sink).cast(), ..AlternativeSink::CHOOSER };
        let alternative = AlternativeRecord { label: b"l"[..].into(), operation: b"{}"[..].into() };
        // SAFETY: as above.
        let emit = || unsafe { (chooser.emit_alternative)(&raw const chooser, &raw const alternative) };
        assert_eq!((0..=most).map(|_| emit()).filter(|&code| code == code::OK).count(), most);
        assert_eq!(sink.wrong.take().as_deref(), Some("emits more than 10000 alternatives"));
        assert_eq!((estimates.list.len(), alternatives.len()), (most, most));
    }
}
