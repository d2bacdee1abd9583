//! By how much longer a transfer took than alone, in parts that add up.
//!
//! ```text
//! ready ── lead, waiting ──► start ── blocked (rate 0), cut (a lower rate than alone), own limit, time alone ──► end
//! ```

use std::cell::OnceCell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_plugin_api::{Cause, SimDuration};
use weir_sim_core::{Departure, EngineId, TaskId};

use crate::schemas::time;
use crate::{Alone, Run};

/// By how much longer a transfer took, from ready to end, than alone and without its `limit`. The parts add up to that
/// difference, but for the rounding of numbers. What a model lets pass before the first byte, such as the overhead of a
/// LogGP message, belongs to the time alone.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Delay {
    /// It waited for its engine, seconds.
    #[serde(deserialize_with = "time")]
    pub waiting_s: f64,
    /// It was under way and the arbiter gave it nothing, seconds; null where a very large run does not tell it apart from
    /// `cut_s`, which has it then.
    #[serde(deserialize_with = "time")]
    pub blocked_s: Option<f64>,
    /// The arbiter gave it less than alone, seconds; below 0 where that was more.
    pub cut_s: f64,
    /// Its `limit` was below what it would have had alone, seconds.
    pub own_limit_s: f64,
}

impl Delay {
    /// Of a transfer of a run; `None` for one that has not ended, and where its time alone is not known.
    #[must_use]
    pub fn of_task(run: &Run<'_>, task: TaskId) -> Option<Self> {
        BesideAlone::new(run.alone, &run.departure(task)?).delay()
    }
}

/// A transfer beside what it would be alone. Each time is asked for when it is first needed, and once.
pub(crate) struct BesideAlone<'t> {
    alone: &'t Alone<'t>,
    pub(crate) transfer: &'t Departure,
    time: OnceCell<Option<SimDuration>>,
    delay: OnceCell<Option<Delay>>,
}

impl<'t> BesideAlone<'t> {
    pub(crate) fn new(alone: &'t Alone<'_>, transfer: &'t Departure) -> Self {
        Self { alone, transfer, time: OnceCell::new(), delay: OnceCell::new() }
    }

    /// From start to end of the same transfer alone.
    fn time(&self) -> Option<SimDuration> {
        *self.time.get_or_init(|| self.alone.time(self.transfer.bytes, self.transfer.class))
    }

    /// From ready to end of the same transfer alone: the time to issue it, too.
    pub(crate) fn since_ready(&self) -> Option<SimDuration> {
        self.time().map(|time| self.transfer.lead.plus(time))
    }

    /// Of one that has ended; `None` where its time alone is not known.
    pub(crate) fn delay(&self) -> Option<Delay> {
        *self.delay.get_or_init(|| self.new_delay())
    }

    fn new_delay(&self) -> Option<Delay> {
        let Departure { bytes, class, times, bottleneck, .. } = *self.transfer;
        if times.end.is_never() {
            return None;
        }
        let limited = self.time()?;
        let free = self.alone.time_without_limit(bytes, class, limited)?;
        let blocked = (bottleneck.blocked != SimDuration::FOREVER).then_some(bottleneck.blocked);
        let under_way = (times.end - times.start).0 as i64 - blocked.unwrap_or(SimDuration::ZERO).0 as i64;
        Some(Delay {
            waiting_s: self.transfer.waited().seconds(),
            blocked_s: blocked.map(SimDuration::seconds),
            cut_s: signed_seconds(under_way - limited.0 as i64),
            own_limit_s: signed_seconds(limited.0 as i64 - free.0 as i64),
        })
    }

    /// Whether others, or links that changed, took from its rate, by more than what rounding does. In runs that are computed
    /// incrementally its bottleneck tells of its last byte alone, when it may have had all of its links.
    pub(crate) fn was_cut(&self) -> bool {
        let times = self.transfer.times;
        let cut = self.delay().map_or(0.0, |delay| delay.cut_s);
        !times.end.is_never() && cut > (times.end - times.start).seconds() * ROUNDING
    }

    /// Whether it lost most of its time before its start, waiting for its engine.
    pub(crate) fn is_mostly_waiting(&self) -> bool {
        let Departure { bytes, class, engine, times, sent_bytes, at, .. } = *self.transfer;
        let waiting = self.transfer.waited();
        if engine == EngineId::NONE {
            return false;
        }
        if waiting == SimDuration::ZERO || times.start.is_never() {
            return waiting > SimDuration::ZERO;
        }
        let until = if times.end.is_never() { at } else { times.end };
        match if sent_bytes == bytes { self.time() } else { self.alone.time(sent_bytes, class) } {
            Some(time) => waiting.0 > (until - times.start).0.saturating_sub(time.0),
            None => matches!(self.transfer.bottleneck.binding.cause(), Cause::FullRate | Cause::OwnLimit),
        }
    }
}

/// The part of a time that rounding to picoseconds may change (*assumed*, as in the page).
const ROUNDING: f64 = 1e-6;

/// Times are below 100 days, so differences fit.
fn signed_seconds(ps: i64) -> f64 {
    let seconds = SimDuration(ps.unsigned_abs()).seconds();
    if ps < 0 { -seconds } else { seconds }
}
