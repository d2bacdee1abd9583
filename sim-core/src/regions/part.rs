//! One region at work: its policy, the segments that cross it, what the policy offers them.

use std::sync::Arc;

use weir_plugin_api::{
    Binding, CallError, ClassId, Flags, LinkId, PhaseView, RateArbiter, Remark, RouteId, RouteTable, SimTime, Step,
    TransferId, TransferView,
};

use crate::answer::{Answer, AnswerError};
use crate::classes::Classes;
use crate::memo::Memo;
use crate::purity::PurityCheck;

/// Classes after which a region forgets all it knows: demands are new numbers all the time (*assumed*: some megabytes).
const MOST_CLASSES: usize = 1 << 16;

/// A transfer within a region: what its policy is shown of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// Position of the transfer in the phase.
    pub(super) position: u32,
    /// Its links, as the region numbers them.
    pub(super) route: RouteId,
    /// The part of the transfer's bytes that it carries. Demands and offers are in terms of the whole transfer.
    pub(super) share: f64,
}

/// What the policy is shown of the segments, in their order.
#[derive(Debug, Default)]
struct Columns {
    offsets: Vec<u64>,
    links: Vec<LinkId>,
    classes: Classes,
    ids: Vec<TransferId>,
    class: Vec<ClassId>,
    arrival: Vec<u64>,
}

impl Columns {
    fn phase(&self, now: SimTime) -> PhaseView<'_> {
        PhaseView {
            now,
            id: (&self.ids).into(),
            class: (&self.class).into(),
            arrival: (&self.arrival).into(),
            classes: self.classes.table(),
            routes: RouteTable { offsets: (&self.offsets).into(), links: (&self.links).into() },
        }
    }
}

/// A region's policy with the segments of the present phase.
pub(super) struct Part {
    arbiter: Box<dyn RateArbiter>,
    /// The policy's name; empty for what links share.
    name: Arc<str>,
    memo: Memo,
    purity: PurityCheck,
    bandwidths: Vec<f64>,
    segments: Vec<Segment>,
    columns: Columns,
    /// The answer for the demands of now.
    answer: Answer,
    /// What the policy remarks in the present phase, each once.
    remarks: Vec<Remark>,
    /// Whether demands have changed since the policy was asked.
    is_stale: bool,
    recheck: SimTime,
}

impl Part {
    pub(super) fn new(arbiter: Box<dyn RateArbiter>, name: Arc<str>, flags: Flags, bandwidths: Vec<f64>) -> Self {
        Self {
            arbiter,
            name,
            memo: Memo::new(flags),
            purity: PurityCheck::new(flags),
            answer: Answer::new(bandwidths.len()),
            bandwidths,
            remarks: Vec::new(),
            segments: Vec::new(),
            columns: Columns { offsets: vec![0], ..Columns::default() },
            is_stale: true,
            recheck: SimTime::NEVER,
        }
    }

    /// Numbers a route within the region.
    pub(super) fn add_route(&mut self, links: &[LinkId]) -> RouteId {
        self.columns.links.extend(links);
        self.columns.offsets.push(self.columns.links.len() as u64);
        RouteId::from_index(self.columns.offsets.len() - 2)
    }

    pub(super) fn admit(&mut self, route: &[LinkId]) -> Result<(), CallError> {
        self.arbiter.admit(route)
    }

    pub(super) fn capacity(&mut self, link: LinkId, routes: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        self.arbiter.capacity(link, routes)
    }

    /// The links of a segment, as the region numbers them.
    pub(super) fn route(&self, place: u32) -> &[LinkId] {
        let route = self.segments[place as usize].route.index();
        &self.columns.links[self.columns.offsets[route] as usize..self.columns.offsets[route + 1] as usize]
    }

    /// Forgets the segments of the phase before.
    pub(super) fn clear(&mut self) {
        self.segments.clear();
        self.columns.ids.clear();
        self.columns.class.clear();
        self.columns.arrival.clear();
        self.remarks.clear();
        (self.is_stale, self.recheck) = (true, SimTime::NEVER);
        if self.columns.classes.len() > MOST_CLASSES {
            self.forget();
        }
    }

    /// Forgets all classes and answers.
    fn forget(&mut self) {
        self.columns.classes = Classes::default();
        self.memo.clear();
        self.arbiter.reset();
    }

    /// Forgets all of the run: its routes, too.
    pub(super) fn reset(&mut self) {
        self.columns.links.clear();
        self.columns.offsets.truncate(1);
        self.forget();
    }

    /// Adds a segment whose demand is its transfer's limit; returns its place.
    pub(super) fn push(&mut self, segment: Segment, transfer: &TransferView<'_>) -> u32 {
        let (limit, weight) = (transfer.limit * segment.share, transfer.weight * segment.share);
        self.columns.class.push(self.columns.classes.intern(segment.route, limit, weight, transfer.priority));
        self.columns.ids.push(transfer.id);
        self.columns.arrival.push(transfer.arrival);
        self.segments.push(segment);
        self.segments.len() as u32 - 1
    }

    /// Gives a segment another demand. A demand above the offer may change it, too: by what a policy does with limits that
    /// do not bind, or by a rounding.
    pub(super) fn demand(&mut self, place: u32, demand: f64) {
        let (Segment { route, share, .. }, class) = (self.segments[place as usize], self.columns.class[place as usize]);
        let (weight, priority) = (self.columns.classes.weight(class), self.columns.classes.priority(class));
        let changed = self.columns.classes.intern(route, demand * share, weight, priority);
        self.is_stale |= changed != class;
        self.columns.class[place as usize] = changed;
    }

    /// The demand of a segment.
    pub(super) fn demanded(&self, place: u32) -> f64 {
        self.columns.classes.limit(self.columns.class[place as usize]) / self.share(place)
    }

    /// The part of its transfer's bytes that a segment carries.
    pub(super) fn share(&self, place: u32) -> f64 {
        self.segments[place as usize].share
    }

    /// What the policy offers a segment.
    pub(super) fn offer(&self, place: u32) -> f64 {
        self.answer.rates[place as usize] / self.share(place)
    }

    /// The position in the phase of the transfer at a place; `u32::MAX` for none.
    pub(super) fn position(&self, place: u32) -> u32 {
        self.segments.get(place as usize).map_or(u32::MAX, |segment| segment.position)
    }

    /// Whether it has no segment.
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Why, in terms of the region.
    pub(super) fn binding(&self, place: u32) -> Binding {
        self.answer.bindings[place as usize]
    }

    /// The policy's steps for the demands of now; from the bindings where it has no explanation. Positions are those of
    /// segments, links those of the region.
    pub(super) fn explain(&mut self, now: SimTime) -> Result<Vec<Step>, CallError> {
        let mut steps = Vec::new();
        if self.arbiter.explain(&self.columns.phase(now), &mut steps)? {
            return Ok(steps);
        }
        let steps = self.answer.rates.iter().zip(&self.answer.bindings).zip(0..);
        let step = |((&rate, binding), transfer): ((&f64, &Binding), u32)| {
            let because = (binding.by != u32::MAX).then_some(binding.by).into_iter().collect();
            Step { transfer, region: 0, step: "rate".to_owned(), link: binding.link, rate, because }
        };
        Ok(steps.map(step).collect())
    }

    /// When the policy wants to be asked again.
    pub(super) fn recheck(&self) -> SimTime {
        self.recheck
    }

    /// Asks the policy, if any demand has changed.
    pub(super) fn ask(&mut self, now: SimTime) -> Result<(), CallError> {
        if !std::mem::take(&mut self.is_stale) {
            return Ok(());
        }
        self.answer(now).map_err(|error| own_words(&self.name, error))?;
        self.keep_remarks();
        Ok(())
    }

    /// Gets the answer for the demands of now, and checks it.
    fn answer(&mut self, now: SimTime) -> Result<(), AnswerError> {
        let phase = self.columns.phase(now);
        let mut recheck = SimTime::NEVER;
        if !self.memo.recall(&phase, &mut self.answer) {
            recheck = self.answer.ask(&mut *self.arbiter, &phase)?;
            self.answer.check(&phase, &self.bandwidths)?;
            if recheck.is_never() {
                self.memo.remember(&self.answer);
            }
        }
        if recheck.is_never() {
            self.purity.check(&mut *self.arbiter, &phase, &self.answer)?;
        }
        self.recheck = self.recheck.min(recheck);
        Ok(())
    }

    fn keep_remarks(&mut self) {
        for remark in &self.answer.remarks {
            if !self.remarks.contains(remark) {
                self.remarks.push(remark.clone());
            }
        }
    }

    /// What the policy remarks in the present phase, each once.
    pub(super) fn remarks(&self) -> &[Remark] {
        &self.remarks
    }
}

/// What went wrong with a policy, without the time: the run that fails says it.
fn own_words(policy: &str, error: AnswerError) -> CallError {
    let what = match error {
        AnswerError::Failed { error: CallError::Refused(what), .. } => return CallError::Refused(what),
        AnswerError::Failed { error, .. } => error.to_string(),
        AnswerError::NotARate { rate, .. } => {
            format!("it gave a transfer the rate {rate:?} B/s; rates are finite, and 0 or at least 2.3e-308")
        }
        AnswerError::Impure { rate, again, .. } => {
            format!(
                "it gave a transfer {rate} B/s, and for the same transfers again {again} B/s, but claims to be pure"
            )
        }
        AnswerError::OverLimit { rate, limit, .. } => {
            format!("it gave a transfer {rate} B/s, above its limit of {limit} B/s")
        }
        AnswerError::OverCapacity { load, bandwidth, .. } => {
            format!("it gave a link {load} B/s, above its bandwidth of {bandwidth} B/s")
        }
    };
    CallError::Failed(format!("policy `{policy}`: {what}"))
}

#[cfg(test)]
mod tests {
    use weir_plugin_api::Grant;

    use super::*;

    /// Gives everybody its limit.
    struct Limits;

    impl RateArbiter for Limits {
        fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
            (0..phase.len()).for_each(|position| grant.rates[position] = phase.transfer(position).limit);
            Ok(())
        }
    }

    /// A segment with a quarter of the bytes asks its policy for a quarter of what its transfer demands. Demands and offers
    /// are those of the whole transfer.
    #[test]
    fn demands_and_offers_are_those_of_the_whole_transfer() {
        let mut part = Part::new(Box::new(Limits), "".into(), Flags::PURE, vec![100.0]);
        let route = part.add_route(&[LinkId(0)]);
        let id = TransferId(0);
        let (class, links) = (ClassId(0), [LinkId(0)]);
        let transfer = TransferView { id, class, arrival: 0, limit: 80.0, weight: 1.0, priority: 0, route: &links };
        part.push(Segment { position: 0, route, share: 0.25 }, &transfer);
        for demand in [80.0, 60.0] {
            part.demand(0, demand);
            part.ask(SimTime::ZERO).expect("an answer");
            assert_eq!((part.demanded(0), part.offer(0), part.answer.rates[0]), (demand, demand, demand / 4.0));
        }
    }

    /// It claims to be pure, and gives less with each call.
    struct Tired(u32);

    impl RateArbiter for Tired {
        fn allocate(&mut self, _: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
            self.0 += 1;
            grant.rates.fill(100.0 / f64::from(self.0));
            Ok(())
        }
    }

    #[test]
    fn a_policy_of_a_region_that_is_not_as_pure_as_it_claims_is_named() {
        let mut part = Part::new(Box::new(Tired(0)), "tired".into(), Flags::PURE, vec![100.0]);
        let route = part.add_route(&[LinkId(0)]);
        let (id, links) = (TransferId(0), [LinkId(0)]);
        let transfer =
            TransferView { id, class: ClassId(0), arrival: 0, limit: 100.0, weight: 1.0, priority: 0, route: &links };
        part.push(Segment { position: 0, route, share: 1.0 }, &transfer);
        let why = "policy `tired`: it gave a transfer 100 B/s, and for the same transfers again 50 B/s, but claims to be \
                   pure";
        assert_eq!(part.ask(SimTime::ZERO), Err(CallError::Failed(why.to_owned())));
    }
}
