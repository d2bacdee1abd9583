//! Which bandwidths could be the narrowest in the place of one that was taken to be: with that one wide open, another value
//! of one of them explains the rows as well.
//!
//! A bandwidth may also explain what a latency or a parameter of the arbiter was taken to: then that is at its least, as
//! `tau` at 0.
//!
//! A bandwidth of both directions can stand in by one direction alone, whatever the rows tell of the other.

use super::closest::{ALIKE, criterion};
use super::error::FitError;
use super::parameter::{Parameter, ParameterKind};
use super::problem::Problem;
use super::refine::directions;
use super::solve::Solved;
use super::start;

/// How much wider a bandwidth is that another could be the narrowest in the place of, in ln B/s, where it is not wide open;
/// *assumed*, far above what logs round.
const WIDER: f64 = 0.03;

/// A bandwidth that rows depend on, and those that could be the narrowest in its place.
pub(super) struct StandIns {
    pub(super) taken: usize,
    /// At least one.
    pub(super) others: Vec<StandIn>,
    /// The first of the others in its place.
    pub(super) with_first: Candidate,
}

/// A bandwidth, or one direction of it, that could be the narrowest in the place of another.
pub(super) struct StandIn {
    /// The place of the parameter.
    pub(super) parameter: usize,
    /// Its name, with the direction where only that stands in.
    pub(super) name: String,
}

/// Parameters at coordinates. Of two for one link the last counts.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) parameters: Vec<Parameter>,
    pub(super) at: Vec<f64>,
}

/// The bandwidths, latencies and parameters of the arbiter that bandwidths could stand in for.
pub(super) fn stand_ins(problem: &Problem<'_>, solved: &Solved) -> Result<Vec<StandIns>, FitError> {
    let capacities = || (0..solved.at.len()).filter(|&i| solved.is_capacity(i));
    let moving = solved.moving(problem)?;
    let mut all = Vec::new();
    let slows = |&i: &usize| matches!(solved.parameters[i].kind, ParameterKind::Latency | ParameterKind::Arbiter);
    let others = moving.iter().copied().filter(slows);
    for taken in capacities().filter(|&i| !solved.idle[i]).chain(others) {
        let search = Search { problem, solved, taken, moving: &moving };
        let (mut others, mut with_first) = (Vec::new(), None);
        for other in capacities().filter(|&i| i != taken) {
            let Some((stand_in, candidate)) = search.stand_in(other)? else { continue };
            others.push(stand_in);
            with_first.get_or_insert(candidate);
        }
        all.extend(with_first.map(|with_first| StandIns { taken, others, with_first }));
    }
    Ok(all)
}

/// The search for what could be the narrowest in the place of one parameter.
struct Search<'a> {
    problem: &'a Problem<'a>,
    solved: &'a Solved,
    taken: usize,
    /// The parameters that rows depend on.
    moving: &'a [usize],
}

impl Search<'_> {
    /// Another bandwidth in the place of the one taken: with what no row depends on wide open, else with it as it is, since
    /// two of those may stand in together alone; else with the one taken only wider, since other rows may need it.
    fn stand_in(&self, other: usize) -> Result<Option<(StandIn, Candidate)>, FitError> {
        let (solved, wide) = (self.solved, self.problem.wide());
        let is_bandwidth = solved.is_capacity(self.taken);
        let open = if is_bandwidth { wide } else { self.least(self.taken) };
        // What no row depends on may be just as narrow, by chance or because another was found from it.
        let others_idle = solved.idle.iter().enumerate().any(|(i, &idle)| idle && i != other);
        let wider = (true, solved.at[self.taken] + WIDER, is_bandwidth && solved.idle[other]);
        for (idle_open, taken_at, is_tried) in [(true, open, true), (false, open, others_idle), wider] {
            if is_tried && let Some((stand_in, candidate)) = self.stand_in_with(other, idle_open, taken_at)? {
                return Ok(Some((stand_in, self.with_idle_back(candidate, other)?)));
            }
        }
        Ok(None)
    }

    /// The same, as it is where no row depends on it, else one direction of it.
    fn stand_in_with(
        &self,
        other: usize,
        idle_open: bool,
        taken_at: f64,
    ) -> Result<Option<(StandIn, Candidate)>, FitError> {
        let (solved, wide) = (self.solved, self.problem.wide());
        let place = |i: usize| match i {
            i if i == self.taken => taken_at,
            i if idle_open && solved.idle[i] && solved.is_capacity(i) => wide,
            i => solved.at[i],
        };
        let at = (0..solved.at.len()).map(place).collect();
        let open = Candidate { parameters: solved.parameters.clone(), at };
        // A latency that is as good at 0 was taken for nothing.
        if !solved.is_capacity(self.taken) && self.is_as_good(&open)? {
            return Ok(None);
        }
        let parameter = &solved.parameters[other];
        // Rows that hardly tell a latency fit as well without it, whatever the other is.
        let must_need = !idle_open || taken_at < wide;
        if solved.idle[other]
            && let Some(candidate) = self.as_good(open.clone(), other, other)?
            && (!must_need || self.needs(&candidate, other)?)
        {
            return Ok(Some((StandIn { parameter: other, name: parameter.name.clone() }, candidate)));
        }
        // What explains the rows as it is needs no direction of another.
        if !idle_open && self.is_as_good(&open)? {
            return Ok(None);
        }
        let halves = directions(parameter).filter(|_| parameter.kind == ParameterKind::Bandwidth);
        for half in halves.into_iter().flatten().filter(|half| !half.links.is_empty()) {
            let (name, mut with_half) = (half.name.clone(), open.clone());
            with_half.parameters.push(half);
            with_half.at.push(wide);
            let place = with_half.at.len() - 1;
            if let Some(candidate) = self.as_good(with_half, place, other)?
                && (!must_need || self.needs(&candidate, place)?)
            {
                return Ok(Some((StandIn { parameter: other, name }, candidate)));
            }
        }
        Ok(None)
    }

    /// The same with what no row depends on where it was, if the rows then fit as well: only what stands in should differ.
    fn with_idle_back(&self, candidate: Candidate, other: usize) -> Result<Candidate, FitError> {
        let mut back = candidate.clone();
        (0..self.solved.at.len())
            .filter(|&i| i != self.taken && i != other && self.solved.idle[i])
            .for_each(|i| back.at[i] = self.solved.at[i]);
        Ok(if self.is_as_good(&back)? { back } else { candidate })
    }

    /// Whether the rows fit less well with a bandwidth of a candidate wide open: it has a part in them.
    fn needs(&self, candidate: &Candidate, place: usize) -> Result<bool, FitError> {
        let mut without = candidate.clone();
        without.at[place] = self.problem.wide();
        Ok(!self.is_as_good(&without)?)
    }

    /// A candidate with the parameter `other`, one of the `whole` or a half of it, where it explains the rows best: as narrow
    /// as what it stands in for was, or at another throughput that was measured, and then at the least squares near it.
    /// `None` where the rows fit less well.
    fn as_good(&self, mut candidate: Candidate, other: usize, whole: usize) -> Result<Option<Candidate>, FitError> {
        if self.solved.is_capacity(self.taken) {
            candidate.at[other] = self.solved.at[self.taken];
        }
        candidate.at = start::better_of(self.problem, &candidate.parameters, &candidate.at, &[other])?;
        if self.is_as_good(&candidate)? {
            return Ok(Some(candidate));
        }
        // The other half stays where it is: it must not be what stands in.
        let moves = |&i: &usize| i != self.taken && i != whole && !self.solved.idle[i];
        let mut moves: Vec<usize> = self.moving.iter().copied().filter(moves).collect();
        moves.push(other);
        let base = self.problem.setting_at(&candidate.parameters, &candidate.at);
        let moved: Vec<Parameter> = moves.iter().map(|&i| candidate.parameters[i].clone()).collect();
        let from: Vec<f64> = moves.iter().map(|&i| candidate.at[i]).collect();
        let found = Problem { base: &base, ..*self.problem }.solve(&moved, &from)?;
        for (&i, u) in moves.iter().zip(found) {
            let parameter = &candidate.parameters[i];
            let least = if parameter.kind.is_time() { 0.0 } else { f64::NEG_INFINITY };
            candidate.at[i] = parameter.within_limits(u).max(least);
        }
        Ok(self.is_as_good(&candidate)?.then_some(candidate))
    }

    /// The least coordinate of a parameter that is no bandwidth.
    fn least(&self, parameter: usize) -> f64 {
        self.solved.parameters[parameter].limits().map_or(0.0, |[least, _]| least)
    }

    fn is_as_good(&self, candidate: &Candidate) -> Result<bool, FitError> {
        let squares = self.problem.squares(&self.problem.setting_at(&candidate.parameters, &candidate.at))?;
        let enough = criterion(self.problem, self.solved.squares, 1) + ALIKE;
        Ok(criterion(self.problem, squares, 1) <= enough)
    }
}
