//! What happened over time, phase by phase, with transfers as places in the list of a result: from a run, or from a saved
//! result. Both give the same numbers.

use std::collections::HashMap;

use weir_sim_core::{Listener, PhaseRecord, PhaseStep};

use super::error::PageError;
use crate::Run;
use crate::json::{ExplainRow, List, Name, PhaseRow, RunJson, StepRow, TransferRow};
use crate::link::Ends;
use crate::steps::by_transfer;

/// An interval in which no rate changes.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Moment<'a> {
    pub(super) start_s: f64,
    pub(super) end_s: f64,
    pub(super) active: Vec<Active<'a>>,
}

/// A transfer that is active in it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Active<'a> {
    /// Its place in the list of transfers.
    pub(super) transfer: u32,
    /// Bytes per second.
    pub(super) rate: f64,
    /// What decided the rate, where that is known and asked for.
    pub(super) why: Option<Why<'a>>,
}

/// The step of the arbiter that decided: the last that names a link; where none does, the last.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Why<'a> {
    pub(super) step: &'a str,
    pub(super) link: Option<u32>,
    /// The transfers responsible, as they were named.
    pub(super) because: Vec<u32>,
}

/// Takes moments until it has enough: `false` stops.
pub(super) type MomentListener<'l> = dyn FnMut(&Moment<'_>) -> Result<bool, PageError> + 'l;

/// Phases in the order of time.
pub(super) trait PhaseSource {
    /// Hands over the phases, with what decided rates where `reasons` are asked for.
    fn each(&self, reasons: bool, listener: &mut MomentListener<'_>) -> Result<(), PageError>;
}

/// A way to hear of a run once more, without explanations; whether the listener heard all.
pub type PhaseReplay<'t> = dyn Fn(Listener<'_>) -> bool + 't;

/// The phases of a run that is run again to have them.
pub(super) struct Replayed<'a> {
    recorded: Recorded<'a>,
    replay: &'a PhaseReplay<'a>,
}

impl<'a> Replayed<'a> {
    pub(super) fn new(run: &'a Run<'a>, replay: &'a PhaseReplay<'a>) -> Self {
        Self { recorded: Recorded { phases: &[], places: places(run) }, replay }
    }
}

impl PhaseSource for Replayed<'_> {
    fn each(&self, _: bool, listener: &mut MomentListener<'_>) -> Result<(), PageError> {
        let mut wanted = Ok(true);
        let complete = (self.replay)(Listener::Phases(&mut |phase| {
            if let Ok(true) = wanted {
                wanted = listener(&self.recorded.moment(&phase, false));
            }
        }));
        wanted.and(if complete { Ok(()) } else { Err(PageError::Interrupted) })
    }
}

/// Per task: the place of its row.
fn places(run: &Run<'_>) -> Vec<u32> {
    let mut places = vec![u32::MAX; run.outcome.tasks.len()];
    for (place, task) in run.transfers().filter(|&task| run.carried(task).is_some()).enumerate() {
        places[task.index()] = place as u32;
    }
    places
}

/// The phases of a run.
pub(super) struct Recorded<'a> {
    phases: &'a [PhaseRecord],
    /// Per task: the place of its row.
    places: Vec<u32>,
}

impl<'a> Recorded<'a> {
    /// `None` where phases were not recorded.
    pub(super) fn of(run: &'a Run<'a>) -> Option<Self> {
        Some(Self { phases: run.outcome.phases.as_deref()?, places: places(run) })
    }

    fn why<'p>(&self, steps: &[&'p PhaseStep]) -> Option<Why<'p>> {
        let step = steps.iter().rfind(|step| !step.link.is_none()).or_else(|| steps.last())?;
        let because = step.because.iter().map(|task| self.places[task.index()]).collect();
        Some(Why { step: &step.step, link: (!step.link.is_none()).then_some(step.link.0), because })
    }

    fn moment<'p>(&self, phase: &'p PhaseRecord, reasons: bool) -> Moment<'p> {
        let place = |task: weir_sim_core::TaskId| self.places[task.index()];
        let active = if reasons {
            let rates = phase.rates.iter().map(|&(_, rate)| rate);
            let steps = by_transfer(phase).into_iter().zip(rates);
            steps.map(|((task, steps), rate)| Active { transfer: place(task), rate, why: self.why(&steps) }).collect()
        } else {
            phase.rates.iter().map(|&(task, rate)| Active { transfer: place(task), rate, why: None }).collect()
        };
        Moment { start_s: phase.start.seconds(), end_s: phase.end.seconds(), active }
    }
}

impl PhaseSource for Recorded<'_> {
    fn each(&self, reasons: bool, listener: &mut MomentListener<'_>) -> Result<(), PageError> {
        for phase in self.phases {
            if !listener(&self.moment(phase, reasons))? {
                break;
            }
        }
        Ok(())
    }
}

/// The phases of a saved result.
pub(super) struct Saved<'a> {
    phases: &'a [PhaseRow<'a>],
    /// One for each phase, or none at all.
    explain: &'a [ExplainRow<'a>],
    rows: &'a [TransferRow<'a>],
    transfers: HashMap<&'a str, u32>,
    /// There may be several between two nodes.
    links: HashMap<(&'a str, &'a str), Vec<u32>>,
}

impl<'a> Saved<'a> {
    /// `None` where the phases of a result are not at hand.
    pub(super) fn of(run: &'a RunJson<'_>) -> Result<Option<Self>, PageError> {
        let Some(List::AtHand(phases)) = &run.phases else { return Ok(None) };
        let explain = run.explain.as_ref().map_or(&[][..], List::at_hand);
        if !explain.is_empty() && explain.len() != phases.len() {
            return Err(PageError::damaged("`explain` and `phases` are not of one length"));
        }
        let rows = run.transfers.at_hand();
        let transfers = rows.iter().zip(0..).map(|(transfer, place)| (&*transfer.id, place)).collect();
        let mut links: HashMap<_, Vec<u32>> = HashMap::new();
        for (link, id) in run.links.at_hand().iter().filter_map(|link| Some((link, link.id?))) {
            links.entry((&*link.from, &*link.to)).or_default().push(id);
        }
        Ok(Some(Self { phases, explain, rows, transfers, links }))
    }

    fn place(&self, id: &Name<'_>) -> Result<u32, PageError> {
        let unknown = || PageError::damaged(format!("its phases name the transfer `{}`, which it lacks", id.0));
        self.transfers.get(&*id.0).copied().ok_or_else(unknown)
    }

    /// The link between two nodes that one of these transfers crosses at a time, the first that does; the first of the links
    /// where none does.
    fn link(&self, ends: &'a Ends<'a>, start_s: f64, mut transfers: impl Iterator<Item = u32>) -> Option<u32> {
        let between = self.links.get(&(&*ends.from, &*ends.to))?;
        let crossed = |place: u32| {
            let mut route = self.rows.get(place as usize)?.parts_at(start_s).map(|(link, _)| link);
            route.find(|link| between.contains(link))
        };
        let is_only = between.len() == 1;
        let found = if is_only { None } else { transfers.find_map(crossed) };
        found.or_else(|| between.first().copied())
    }

    /// Why a transfer, by its place, has its rate from a time on.
    fn why(&self, (place, start_s): (u32, f64), steps: &'a [StepRow<'a>]) -> Result<Option<Why<'a>>, PageError> {
        let Some(step) = steps.iter().rfind(|step| step.link.is_some()).or_else(|| steps.last()) else {
            return Ok(None);
        };
        let because = step.because.iter().map(|id| self.place(id)).collect::<Result<Vec<u32>, _>>()?;
        let near = std::iter::once(place).chain(because.iter().copied());
        let link = step.link.as_ref().and_then(|ends| self.link(ends, start_s, near));
        Ok(Some(Why { step: &step.step, link, because }))
    }
}

impl PhaseSource for Saved<'_> {
    fn each(&self, reasons: bool, listener: &mut MomentListener<'_>) -> Result<(), PageError> {
        for (i, phase) in self.phases.iter().enumerate() {
            let explained = self.explain.get(i).filter(|_| reasons).into_iter().flat_map(|row| &row.transfers);
            let steps: HashMap<&str, &[StepRow<'_>]> = explained.map(|row| (&*row.id, &row.steps[..])).collect();
            let active = phase.rates_bps.0.iter().map(|(id, rate)| {
                let transfer = self.place(id)?;
                let why = self.why((transfer, phase.start_s), steps.get(&*id.0).copied().unwrap_or_default())?;
                Ok(Active { transfer, rate: *rate, why })
            });
            let active = active.collect::<Result<_, PageError>>()?;
            if !listener(&Moment { start_s: phase.start_s, end_s: phase.end_s, active })? {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links 0 and 2 lie between the same nodes; `x` crosses 2, and `y` neither.
    #[test]
    fn of_several_links_between_two_nodes_it_is_the_one_that_the_transfer_crosses() {
        let row = |id: &str, route: &str| {
            format!(
                r#"{{"id":"{id}","from":"a","to":"b","bytes":1,"ready_s":0,"start_s":0,"end_s":1,"mean_Bps":1.0,"alone_s":null,"bottleneck":null,"cause":null,"route":{route}}}"#
            )
        };
        let list = format!("[{},{}]", row("x", "[2,5]"), row("y", "[7]"));
        let rows: Vec<TransferRow<'_>> = serde_json::from_str(&list).expect("transfers");
        let ends: Ends<'_> = serde_json::from_str(r#"{"from":"a","to":"rc"}"#).expect("ends");
        let links = HashMap::from([(("a", "rc"), vec![0, 2])]);
        let saved = Saved { phases: &[], explain: &[], rows: &rows, transfers: HashMap::new(), links };
        let link = |places: &[u32]| saved.link(&ends, 0.0, places.iter().copied());
        assert_eq!([link(&[0]), link(&[1, 0]), link(&[1])], [Some(2), Some(2), Some(0)]);
    }
}
