//! How long a transfer would take alone under the same arbiter: the yardstick of a slowdown.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use weir_plugin_api::{CallError, ClassId, LinkId, PhaseView, RateArbiter, SimDuration, SimTime, TransferId};
use weir_scenario::{Job, PlannedOperation};
use weir_sim_core::{
    Answer, AnswerError, Classes, Fabric, PacketSettings, Routes, Task, TaskGraph, TaskTimes, packet_time_alone,
    time_to_send,
};

use crate::jobs::{begins, ends};

/// Why a time is not known although the arbiter was asked.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AloneError {
    /// It refused, failed or panicked.
    #[error("it failed: {0}")]
    Failed(#[from] CallError),
    /// A rate is not a number ≥ 0 (NaN also means: never written; −0 and subnormal numbers are none).
    #[error("it gave the rate {0:?} B/s: rates must be finite, and 0 or at least 2.3e-308")]
    NotARate(f64),
    /// A rate above the transfer's own limit, or the narrowest bandwidth of its route.
    #[error("it gave {rate} B/s, above the {most} B/s that the transfer's limit and its route's links allow")]
    TooMuch {
        /// The rate.
        rate: f64,
        /// The smaller of limit and bandwidths.
        most: f64,
    },
}

/// Times of lone transfers. The rate of a lone transfer depends on its class only, so each class is asked once.
pub struct Alone<'a> {
    fabric: &'a Fabric,
    /// Those of the run and, where any has a limit, the same without.
    classes: Cow<'a, Classes>,
    routes: &'a Routes,
    source: Source,
    /// Runs a part of the workload without the rest; those that were asked for.
    part: Option<RunPart<'a>>,
    /// Whether the workload is too large for that.
    too_large: bool,
    parts: Mutex<FxHashMap<Range<u32>, Option<SimDuration>>>,
    /// Ends what takes long: its time is not known then.
    cancel: Option<Arc<AtomicBool>>,
}

/// Runs consecutive tasks without the rest of the workload; `None` where their times are not known.
pub type RunPart<'a> = Box<dyn Fn(Range<u32>) -> Option<Vec<TaskTimes>> + Sync + 'a>;

/// Times of lone transfers by packets that are kept at most, about 3 MB: a stream may have any number of sizes. *Assumed*.
const MOST_KNOWN: usize = 1 << 16;

/// Who knows the times.
enum Source {
    /// Nobody.
    Unknown,
    /// An arbiter of rates.
    Arbiter {
        /// Per class, once it was asked: its rate, NaN where there is no answer, and the latency of its route.
        rates: Box<[OnceLock<(f64, SimDuration)>]>,
        asked: Box<Mutex<Asked>>,
    },
    /// Packets, sent alone. Times by size and class, as far as they were asked for.
    Packets(Box<PacketSettings>, Mutex<FxHashMap<(u64, ClassId), Option<SimDuration>>>),
}

/// What has a value while it is locked has it whatever a thread that panicked was doing.
fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An arbiter that is asked for lone transfers.
struct Asked {
    /// A fresh instance that no run has shown anything to; `None` once it has failed.
    arbiter: Option<Box<dyn RateArbiter>>,
    answer: Answer,
    /// The first failure or wrong answer.
    trouble: Option<AloneError>,
}

impl<'a> Alone<'a> {
    /// Asks `arbiter`, a fresh instance of the run's arbiter.
    #[must_use]
    pub fn new(fabric: &'a Fabric, tasks: &'a TaskGraph, routes: &'a Routes, arbiter: Box<dyn RateArbiter>) -> Self {
        let classes = with_unlimited(tasks.classes());
        let answer = Answer::of_routes(fabric, routes);
        let asked = Box::new(Mutex::new(Asked { arbiter: Some(arbiter), answer, trouble: None }));
        let rates = vec![OnceLock::new(); classes.len()].into();
        Self::of_source(fabric, classes, routes, Source::Arbiter { rates, asked })
    }

    /// Sends the packets of a lone transfer.
    #[must_use]
    pub fn of_packets(fabric: &'a Fabric, tasks: &'a TaskGraph, routes: &'a Routes, settings: PacketSettings) -> Self {
        let source = Source::Packets(Box::new(settings), Mutex::default());
        Self::of_source(fabric, with_unlimited(tasks.classes()), routes, source)
    }

    /// Asks nobody: no time is known. For a run that was interrupted, whose user does not want to wait.
    #[must_use]
    pub fn unknown(fabric: &'a Fabric, tasks: &'a TaskGraph, routes: &'a Routes) -> Self {
        Self::of_source(fabric, Cow::Borrowed(tasks.classes()), routes, Source::Unknown)
    }

    fn of_source(fabric: &'a Fabric, classes: Cow<'a, Classes>, routes: &'a Routes, source: Source) -> Self {
        Self { fabric, classes, routes, source, part: None, too_large: false, parts: Mutex::default(), cancel: None }
    }

    /// The same; times of packets that are not known yet remain so once `cancel` is true.
    #[must_use]
    pub fn with_cancel(self, cancel: Option<Arc<AtomicBool>>) -> Self {
        Self { cancel, ..self }
    }

    /// The same with times of operations and jobs, each of which is run when it is first asked for.
    #[must_use]
    pub fn with_parts(self, run: RunPart<'a>) -> Self {
        Self { part: Some(run), ..self }
    }

    /// The same of a workload that is too large to run each operation and job alone.
    #[must_use]
    pub fn too_large_for_parts(self) -> Self {
        Self { too_large: true, ..self }
    }

    /// Whether times of operations and jobs are left out because of the size of the workload.
    pub(crate) fn leaves_out_parts(&self) -> bool {
        self.too_large
    }

    /// From release to end of an operation without the rest of the workload.
    pub(crate) fn operation(&self, operation: &PlannedOperation) -> Option<SimDuration> {
        self.part(operation.release.0..operation.tasks.end, |times| Some(ends(times) - times.first()?.end))
    }

    /// From its begin to its end, of a job without the rest of the workload.
    pub(crate) fn job(&self, job: &Job, tasks: &[Task]) -> Option<SimDuration> {
        self.part(job.tasks.clone(), |times| Some(ends(times) - begins(tasks, times)))
    }

    fn part(&self, tasks: Range<u32>, time: impl Fn(&[TaskTimes]) -> Option<SimDuration>) -> Option<SimDuration> {
        let run = self.part.as_ref()?;
        *locked(&self.parts).entry(tasks.clone()).or_insert_with(|| time(&run(tasks)?))
    }

    /// From start to end of a lone transfer of this size and class. `None` where the arbiter gives it no steady rate:
    /// it fails, gives a wrong answer or 0, or asks to be called again while nothing changes.
    #[must_use]
    pub fn time(&self, bytes: u64, class: ClassId) -> Option<SimDuration> {
        let (rates, asked) = match &self.source {
            Source::Unknown => return None,
            Source::Packets(settings, known) => {
                let send = || {
                    let route = self.routes.links(self.classes.route(class));
                    let (limit, carriage) = (self.classes.limit(class), self.classes.carriage(class));
                    let halt = || self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed));
                    packet_time_alone(settings, self.fabric, route, bytes, limit, carriage, &halt)
                };
                let mut known = locked(known);
                if known.len() >= MOST_KNOWN {
                    known.clear();
                }
                return *known.entry((bytes, class)).or_insert_with(send);
            }
            Source::Arbiter { rates, asked } => (rates, asked),
        };
        let answer = || {
            let rate = self.ask(&mut locked(asked), class).unwrap_or(f64::NAN);
            (rate, self.routes.latency(self.classes.route(class)))
        };
        let (rate, latency) = *rates[class.index()].get_or_init(answer);
        (rate.is_finite() && rate > 0.0).then(|| time_to_send(bytes as f64, rate, SimDuration::ZERO).plus(latency))
    }

    /// As [`Self::time`], which it has as `limited`, of a transfer that has no limit of its own and is otherwise the same.
    #[must_use]
    pub(crate) fn time_without_limit(&self, bytes: u64, class: ClassId, limited: SimDuration) -> Option<SimDuration> {
        let unlimited = self.classes.known_without_limit(class)?;
        if unlimited == class { Some(limited) } else { self.time(bytes, unlimited) }
    }

    /// The first failure or wrong answer so far, for a warning: the times it concerns are `None`.
    #[must_use]
    pub fn trouble(&self) -> Option<AloneError> {
        match &self.source {
            Source::Arbiter { asked, .. } => locked(asked).trouble.clone(),
            Source::Unknown | Source::Packets(..) => None,
        }
    }

    fn ask(&self, asked: &mut Asked, class: ClassId) -> Option<f64> {
        let arbiter = asked.arbiter.as_mut()?;
        let (ids, classes, arrivals) = ([TransferId(0)], [class], [0_u64]);
        let phase = PhaseView {
            now: SimTime::ZERO,
            id: ids.as_slice().into(),
            class: classes.as_slice().into(),
            arrival: arrivals.as_slice().into(),
            classes: self.classes.table(),
            routes: self.routes.table(),
        };
        let answer = &mut asked.answer;
        let recheck = answer.ask(&mut **arbiter, &phase);
        let recheck = recheck.and_then(|recheck| answer.check(&phase, self.fabric.bandwidths()).map(|()| recheck));
        match recheck {
            Ok(recheck) => recheck.is_never().then(|| answer.rates[0]),
            Err(error) => {
                // One that has failed is asked no more, and one that is wrong once is not to be believed.
                asked.arbiter = None;
                asked.trouble = Some(self.trouble_with(class, error));
                None
            }
        }
    }

    fn trouble_with(&self, class: ClassId, error: AnswerError) -> AloneError {
        match error {
            AnswerError::Failed { error, .. } => AloneError::Failed(error),
            AnswerError::NotARate { rate, .. } | AnswerError::Impure { rate, .. } => AloneError::NotARate(rate),
            AnswerError::OverLimit { rate, .. } | AnswerError::OverCapacity { load: rate, .. } => {
                let bandwidth = |link: &LinkId| self.fabric.link(*link).bandwidth;
                let links = self.routes.links(self.classes.route(class)).iter();
                let most = links.map(bandwidth).fold(self.classes.limit(class), f64::min);
                AloneError::TooMuch { rate, most }
            }
        }
    }
}

/// The classes of a run and, behind them, each limited one without its limit.
fn with_unlimited(classes: &Classes) -> Cow<'_, Classes> {
    let limited = |&class: &ClassId| classes.limit(class).is_finite();
    let mut limited = (0..classes.len()).map(ClassId::from_index).filter(limited).peekable();
    if limited.peek().is_none() {
        return Cow::Borrowed(classes);
    }
    let mut all = classes.clone();
    for class in limited {
        all.intern(classes.route(class), f64::INFINITY, classes.weight(class), classes.priority(class));
    }
    Cow::Owned(all)
}
