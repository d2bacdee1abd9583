//! Phases and explanations in tables: what is said again and again is said once.
//!
//! The form is `packed` of `report/web/data.md`. Nothing is lost but the rates of steps that did not decide.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::error::PageError;
use super::phases::{Active, Moment, PhaseSource, Why};

/// A span needs at least so many bytes: five numbers of one digit, and a comma after each.
const SPAN_BYTES: usize = 10;

/// A span of a transfer in which its rate and what decides it stay the same: indices of its begin, end and rate, the id of
/// the deciding link, the index of the reason. −1 for none.
type Span = [i64; 5];

/// Phases of a run in tables.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Packed {
    times_s: Vec<f64>,
    #[serde(rename = "rates_Bps")]
    rates: Vec<f64>,
    /// Step, and the transfers that share it.
    reasons: Vec<(String, Vec<u32>)>,
    /// Per transfer, five numbers a span.
    #[serde(serialize_with = "flattened")]
    #[schemars(with = "Vec<Vec<i64>>")]
    spans: Vec<Vec<Span>>,
}

struct Packing {
    packed: Packed,
    /// Place of a rate by its bits.
    rate_places: HashMap<u64, usize>,
    reason_places: HashMap<(String, Vec<u32>), usize>,
    /// Spans so far, and a lower bound of the bytes of reasons.
    spans: usize,
    reason_bytes: usize,
}

impl Packed {
    /// Packs the phases of a run of so many transfers; `None` as soon as that takes more than `most` bytes for certain.
    pub(super) fn new(source: &dyn PhaseSource, transfers: usize, most: usize) -> Result<Option<Self>, PageError> {
        let packed =
            Self { times_s: Vec::new(), rates: Vec::new(), reasons: Vec::new(), spans: vec![Vec::new(); transfers] };
        let (rate_places, reason_places) = (HashMap::new(), HashMap::new());
        let mut packing = Packing { packed, rate_places, reason_places, spans: 0, reason_bytes: 0 };
        source.each(true, &mut |moment| {
            packing.add(moment)?;
            Ok(packing.least_bytes() <= most)
        })?;
        Ok((packing.least_bytes() <= most).then_some(packing.packed))
    }
}

impl Packing {
    fn least_bytes(&self) -> usize {
        self.spans * SPAN_BYTES + self.reason_bytes
    }

    fn add(&mut self, moment: &Moment<'_>) -> Result<(), PageError> {
        let (start, end) = (self.time(moment.start_s)?, self.time(moment.end_s)?);
        for active in &moment.active {
            let (rate, link) = (self.rate(active.rate), active.why.as_ref().and_then(|why| why.link));
            let reason = active.why.as_ref().map_or(-1, |why| self.reason(why, active));
            self.span(active.transfer, [start, end, rate, link.map_or(-1, i64::from), reason])?;
        }
        Ok(())
    }

    /// The index of a time; phases come in their order, so it is the last one or a new one.
    fn time(&mut self, time: f64) -> Result<i64, PageError> {
        let times = &mut self.packed.times_s;
        if times.last().is_some_and(|&last| time < last) {
            return Err(PageError::damaged("its phases are not in the order of time"));
        }
        if times.last() != Some(&time) {
            times.push(time);
        }
        Ok(times.len() as i64 - 1)
    }

    fn rate(&mut self, rate: f64) -> i64 {
        let rates = &mut self.packed.rates;
        let place = self.rate_places.entry(rate.to_bits()).or_insert_with(|| {
            rates.push(rate);
            rates.len() - 1
        });
        *place as i64
    }

    /// Those responsible and the transfer itself, ascending, so that transfers that share a link share a reason.
    fn reason(&mut self, why: &Why<'_>, active: &Active<'_>) -> i64 {
        let mut together = why.because.clone();
        if !together.is_empty() {
            together.push(active.transfer);
            together.sort_unstable();
            together.dedup();
        }
        let key = (why.step.to_owned(), together);
        let reasons = &mut self.packed.reasons;
        let bytes = &mut self.reason_bytes;
        let place = self.reason_places.entry(key).or_insert_with_key(|key| {
            *bytes += key.0.len() + 2 * key.1.len();
            reasons.push(key.clone());
            reasons.len() - 1
        });
        *place as i64
    }

    /// Adds a span, or makes the last one longer where that touches and says the same.
    fn span(&mut self, transfer: u32, span: Span) -> Result<(), PageError> {
        let unknown = || PageError::damaged("its phases name a transfer that it lacks");
        let spans = self.packed.spans.get_mut(transfer as usize).ok_or_else(unknown)?;
        match spans.last_mut() {
            Some(last) if last[1] == span[0] && last[2..] == span[2..] => last[1] = span[1],
            _ => {
                spans.push(span);
                self.spans += 1;
            }
        }
        Ok(())
    }
}

fn flattened<S: Serializer>(spans: &[Vec<Span>], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(spans.iter().map(|spans| spans.as_flattened()))
}
