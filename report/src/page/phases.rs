//! What happened over time, phase by phase, with transfers as places in the list of a result: from a run, or from a saved
//! result. Both give the same numbers.

use std::collections::HashMap;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use weir_sim_core::{PhaseRecord, PhaseStep};

use super::PageError;
use super::rows::{LinkRow, Name, Transfer};
use crate::Run;
use crate::explain::by_transfer;

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
pub(super) type Listener<'l> = dyn FnMut(&Moment<'_>) -> Result<bool, PageError> + 'l;

/// Phases in the order of time.
pub(super) trait PhaseSource {
    /// Hands over the phases, with what decided rates where `reasons` are asked for.
    fn each(&self, reasons: bool, listener: &mut Listener<'_>) -> Result<(), PageError>;
}

/// A way to have the phases of a run once more, without explanations.
pub type PhaseReplay<'t> = dyn Fn(&mut dyn FnMut(PhaseRecord)) + 't;

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
    fn each(&self, _: bool, listener: &mut Listener<'_>) -> Result<(), PageError> {
        let mut wanted = Ok(true);
        (self.replay)(&mut |phase| {
            if let Ok(true) = wanted {
                wanted = listener(&self.recorded.moment(&phase, false));
            }
        });
        wanted.map(|_| ())
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
    fn each(&self, reasons: bool, listener: &mut Listener<'_>) -> Result<(), PageError> {
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
    phases: Vec<&'a RawValue>,
    /// One for each phase, or none at all.
    explain: Vec<&'a RawValue>,
    transfers: HashMap<&'a str, u32>,
    links: HashMap<(&'a str, &'a str), u32>,
}

#[derive(serde::Deserialize)]
struct SavedPhase<'a> {
    start_s: f64,
    end_s: f64,
    #[serde(rename = "rates_Bps", borrow)]
    rates: Rates<'a>,
}

#[derive(serde::Deserialize)]
struct SavedExplained<'a> {
    #[serde(borrow)]
    transfers: Vec<SavedSteps<'a>>,
}

#[derive(serde::Deserialize)]
struct SavedSteps<'a> {
    #[serde(borrow)]
    id: Name<'a>,
    #[serde(borrow)]
    steps: Vec<SavedStep<'a>>,
}

#[derive(serde::Deserialize)]
struct SavedStep<'a> {
    #[serde(borrow)]
    step: Name<'a>,
    #[serde(borrow)]
    link: Option<SavedEnds<'a>>,
    #[serde(borrow)]
    because: Vec<Name<'a>>,
}

#[derive(serde::Deserialize)]
struct SavedEnds<'a> {
    #[serde(borrow)]
    from: Name<'a>,
    #[serde(borrow)]
    to: Name<'a>,
}

/// Rates by id, in their order.
struct Rates<'a>(Vec<(Name<'a>, f64)>);

impl<'de: 'a, 'a> Deserialize<'de> for Rates<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Vec<(Name<'de>, f64)>;

            fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str("rates by transfer")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        from.deserialize_map(Pairs).map(Self)
    }
}

impl<'a> Saved<'a> {
    pub(super) fn new(
        phases: &'a RawValue,
        explain: Option<&'a RawValue>,
        transfers: &'a [Transfer<'a>],
        links: &'a [LinkRow<'a>],
    ) -> Result<Self, PageError> {
        let ids = transfers.iter().enumerate();
        let ends = links.iter().filter_map(|link| Some(((&*link.from.0, &*link.to.0), link.id?)));
        let explain: Vec<&RawValue> = match explain {
            Some(list) => serde_json::from_str(list.get())?,
            None => Vec::new(),
        };
        let phases: Vec<&RawValue> = serde_json::from_str(phases.get())?;
        if !explain.is_empty() && explain.len() != phases.len() {
            return Err(PageError::damaged("`explain` and `phases` are not of one length"));
        }
        let transfers = ids.map(|(place, transfer)| (&*transfer.row.id.0, place as u32)).collect();
        Ok(Self { phases, explain, transfers, links: ends.collect() })
    }

    fn place(&self, id: &Name<'_>) -> Result<u32, PageError> {
        let unknown = || PageError::damaged(format!("its phases name the transfer `{}`, which it lacks", id.0));
        self.transfers.get(&*id.0).copied().ok_or_else(unknown)
    }

    fn why<'s>(&self, steps: &'s [SavedStep<'s>]) -> Result<Option<Why<'s>>, PageError> {
        let Some(step) = steps.iter().rfind(|step| step.link.is_some()).or_else(|| steps.last()) else {
            return Ok(None);
        };
        let link = step.link.as_ref().and_then(|link| self.links.get(&(&*link.from.0, &*link.to.0)).copied());
        let because = step.because.iter().map(|id| self.place(id)).collect::<Result<_, _>>()?;
        Ok(Some(Why { step: &step.step.0, link, because }))
    }
}

impl PhaseSource for Saved<'_> {
    fn each(&self, reasons: bool, listener: &mut Listener<'_>) -> Result<(), PageError> {
        for (i, phase) in self.phases.iter().enumerate() {
            let phase: SavedPhase<'_> = serde_json::from_str(phase.get())?;
            let explained: Option<SavedExplained<'_>> = match self.explain.get(i).filter(|_| reasons) {
                Some(explained) => Some(serde_json::from_str(explained.get())?),
                None => None,
            };
            let steps: HashMap<&str, &[SavedStep<'_>]> = explained
                .iter()
                .flat_map(|explained| &explained.transfers)
                .map(|transfer| (&*transfer.id.0, &transfer.steps[..]))
                .collect();
            let active = phase.rates.0.iter().map(|(id, rate)| {
                let why = self.why(steps.get(&*id.0).copied().unwrap_or_default())?;
                Ok(Active { transfer: self.place(id)?, rate: *rate, why })
            });
            let active = active.collect::<Result<_, PageError>>()?;
            if !listener(&Moment { start_s: phase.start_s, end_s: phase.end_s, active })? {
                break;
            }
        }
        Ok(())
    }
}
