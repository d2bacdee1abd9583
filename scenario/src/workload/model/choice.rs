//! An operation that leaves a choice open: each alternative is planned and simulated alone, the fastest is taken. Under
//! load the whole scenario decides, which knows more than one operation: see [`super::load`].

use serde_json::Value as Json;
use weir_plugin_api::{Alternative, CallError, Plan, SimDuration, SimTime};
use weir_sim_core::{
    AdmissionError, Outcome, Routes, RunOptions, SimError, Simulation, Stop, TaskGraph, TaskGraphBuilder, admit,
    make_arbiter,
};

use super::check::TaskNames;
use super::request::Request;
use super::tasks::PlanTarget;
use crate::arbiter::ArbiterSpec;
use crate::context::{Context, Problem, Read, Reported};
use crate::topology::Topology;
use crate::workload::expansion::{Expansion, TRANSFERS};
use crate::workload::planned::{Choice, NotTried};

/// Times are the same if they differ by no larger part, or by as many ps: tasks round to picoseconds; *assumed*, a hundred of
/// them behind each other.
const SAME: f64 = 1e-7;
const SAME_PS: u64 = 100;

/// The place of the least time, or of the first that is the same; 0 where there is none.
pub(super) fn fastest(mut times: impl Iterator<Item = SimDuration> + Clone) -> usize {
    let Some(least) = times.clone().min() else { return 0 };
    let is_same = |time: SimDuration| time.0 - least.0 <= SAME_PS.max((time.0 as f64 * SAME) as u64);
    times.position(is_same).unwrap_or(0)
}

/// What is planned, and how it was chosen.
pub(super) struct Chosen {
    /// The operation with nothing left open.
    pub(super) operation: String,
    pub(super) plan: Plan,
    pub(super) names: TaskNames,
    pub(super) choice: Option<Choice>,
}

impl<'a> Expansion<'a> {
    /// Plans an operation; where it leaves a choice open, the fastest alternative, the first of those that take the same time.
    pub(super) fn choose(&mut self, context: &mut Context, request: &Request<'a>) -> Read<Chosen> {
        let json = request.json();
        let operation = json.to_string();
        let alternatives = self.models.alternatives(context, request, &operation)?;
        if alternatives.is_empty() {
            leaves_something_open(context, request)?;
            // It holds whole files.
            drop(json);
            let (plan, names) = self.checked(context, request, &operation)?;
            return Ok(Chosen { operation, plan, names, choice: None });
        }
        // Operations are added in file order, so that an earlier read had this one at the same place.
        match self.decided.get(self.operations.len()).cloned().flatten() {
            Some(choice) => self.as_decided(context, request, alternatives, choice),
            None => self.fastest_alone(context, request, key(&json, &alternatives), alternatives),
        }
    }

    /// Simulates each alternative alone.
    fn fastest_alone(
        &mut self,
        context: &mut Context,
        request: &Request<'a>,
        key: Box<str>,
        alternatives: Vec<Alternative>,
    ) -> Read<Chosen> {
        let (mut tried, mut not_tried, mut count) = (Vec::with_capacity(alternatives.len()), Vec::new(), 0);
        for (at, Alternative { label, operation }) in alternatives.iter().enumerate() {
            let span = tracing::debug_span!("alternative", operation = request.what(), label).entered();
            let plan = match self.models.plan_if_allowed(context, request, operation)? {
                Ok(plan) => self.check(context, request, plan)?.0,
                Err(reason) => {
                    not_tried.push(NotTried { at, label: label.as_str().into(), reason: reason.into() });
                    continue;
                }
            };
            count += plan.len() as u64;
            if count > TRANSFERS {
                let message = format!("{}: its alternatives have more than {TRANSFERS} tasks", request.what());
                let help = "name one of them, or give fewer alternatives or larger parts";
                return Err(context.error(request.id.span, message, help));
            }
            let alone = self.alone(context, request, &plan)?;
            tracing::debug!(tasks = plan.len(), time_ps = alone.0, "simulated alone");
            drop(span);
            tried.push((label.as_str().into(), alone));
        }
        // Planned again, so that there is never more than one plan: of many ranks each has a GB. Where the model refuses all,
        // planning the first says why.
        let chosen = fastest(tried.iter().map(|&(_, time)| time));
        let operation = nth_tried(alternatives, &not_tried, chosen)?.operation;
        let (plan, names) = self.checked(context, request, &operation)?;
        let under_load = request.under_load.is_some();
        let choice = Choice { key, under_load, alternatives: tried, chosen, not_tried };
        tracing::debug!(operation = request.what(), chosen = choice.label(), "chose the fastest alternative");
        Ok(Chosen { operation, plan, names, choice: Some(choice) })
    }

    /// The alternative that was decided on; nothing is simulated.
    fn as_decided(
        &mut self,
        context: &mut Context,
        request: &Request<'a>,
        alternatives: Vec<Alternative>,
        choice: Choice,
    ) -> Read<Chosen> {
        let operation = nth_tried(alternatives, &choice.not_tried, choice.chosen)?.operation;
        let (plan, names) = self.checked(context, request, &operation)?;
        Ok(Chosen { operation, plan, names, choice: Some(choice) })
    }

    /// How long a plan takes when nothing else goes on, under the scenario's first arbiter.
    fn alone(&self, context: &mut Context, request: &Request<'a>, plan: &Plan) -> Read<SimDuration> {
        let (mut builder, mut routes) = (TaskGraphBuilder::new(), Routes::new());
        let Topology { fabric, engines, .. } = self.topology;
        let target = &mut PlanTarget { fabric, engines, builder: &mut builder, routes: &mut routes };
        let added = target.add(plan, SimTime::ZERO, request.shares);
        // The check has found neither in a plan for itself.
        added.map_err(|differs| request.wrong_answer(context, &format!("planned {}", differs.error)))?;
        let tasks = builder.build().map_err(|_| request.wrong_answer(context, "planned a cycle"))?;
        let run = self.run(&tasks, &routes).ok_or_else(|| self.no_arbiter(context, request))?;
        run.map_err(|trouble| {
            if matches!(trouble, Trouble::Cancelled) {
                return context.cancelled(request.id.span, interrupted(&request.what()));
            }
            let spec = self.models.arbiter.map_or("", |spec| &spec.name);
            let text = format!("{} cannot be tried under arbiter `{spec}`: {trouble}", request.what());
            if trouble.is_the_arbiters() {
                return context
                    .plugin_error(request.id.span, Problem::new(text, "report it to the author of the arbiter"));
            }
            let remedy = self.models.arbiter.filter(|_| matches!(trouble, Trouble::Arbiter(_))).and_then(|spec| {
                spec.remedy(&self.topology.fabric, &routes, self.models.registry.default_arbiter().unwrap_or_default())
            });
            let remedy = remedy.unwrap_or_else(|| "name another arbiter".to_owned());
            context.error(request.id.span, text, format!("{remedy}, or decide what is left open"))
        })
    }

    /// A wrong arbiter has been reported; that there is none, and no default, has not.
    fn no_arbiter(&self, context: &mut Context, request: &Request<'a>) -> Reported {
        if self.models.registry.default_arbiter().is_some() {
            return Reported;
        }
        let text = format!("{} has alternatives to try, and no arbiter to try them under", request.what());
        context.error(request.id.span, text, "name an arbiter: `arbiter: NAME`")
    }

    /// Runs tasks under a new instance of the scenario's first arbiter; `None` where there is none.
    fn run(&self, tasks: &TaskGraph, routes: &Routes) -> Option<Result<SimDuration, Trouble>> {
        let simulation = Simulation { fabric: &self.topology.fabric, routes, tasks };
        let makespan = |outcome: Outcome| SimDuration(outcome.makespan.0);
        let options = RunOptions { cancel: self.cancel, ..RunOptions::default() };
        Some(trial(self.models.arbiter?, simulation, options).map(makespan))
    }
}

/// One of the alternatives that were tried; the first of all where none was, which says why.
fn nth_tried(alternatives: Vec<Alternative>, not_tried: &[NotTried], nth: usize) -> Read<Alternative> {
    let was_tried = |at: &usize| !not_tried.iter().any(|other| other.at == *at);
    let at = (0..alternatives.len()).filter(was_tried).nth(nth).unwrap_or_default();
    alternatives.into_iter().nth(at).ok_or(Reported)
}

/// A run under a new instance of an arbiter; of a large one its incremental side decides, where it has one.
pub(super) fn trial(
    spec: &ArbiterSpec,
    simulation: Simulation<'_>,
    options: RunOptions<'_>,
) -> Result<Outcome, Trouble> {
    let Simulation { fabric, routes, tasks } = simulation;
    let (entry, params) = (&*spec.entry, spec.params_json());
    let mut arbiter = make_arbiter(entry, &params, fabric)?;
    admit(&mut *arbiter, routes, tasks.classes(), tasks.transfers())?;
    let options = RunOptions { sharing: spec.sharing(&params, 0), ..options };
    let outcome = simulation.run(&mut *arbiter, entry.flags, options)?;
    if outcome.stop == Stop::Cancelled { Err(Trouble::Cancelled) } else { Ok(outcome) }
}

/// Says at what the reader was when it was asked to end.
pub(super) fn interrupted(operation: &str) -> String {
    format!("interrupted while the alternatives of {operation} were tried")
}

/// Refuses `under: load` where the model has no alternatives.
fn leaves_something_open(context: &mut Context, request: &Request<'_>) -> Read<()> {
    let Some(span) = request.under_load else { return Ok(()) };
    let message = format!("{} leaves nothing open that could be chosen under load", request.what());
    Err(context.error(span, message, "leave `under` out, or say `auto`, as in `packet: auto`"))
}

/// Why an alternative cannot be tried.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("{0}")]
    Arbiter(#[from] AdmissionError),
    #[error("{0}")]
    Run(#[from] SimError),
    #[error("interrupted")]
    Cancelled,
}

impl Trouble {
    /// Whether the arbiter has failed, rather than the scenario being none for it.
    pub(super) fn is_the_arbiters(&self) -> bool {
        match self {
            Self::Arbiter(refusal) => !matches!(refusal.error, CallError::Refused(_)),
            Self::Run(error) => matches!(error, SimError::Arbiter(_) | SimError::Audit(_)),
            Self::Cancelled => false,
        }
    }
}

/// The parameter that the alternatives decide: the one that differs, of several the one that says `auto`; else none.
fn key(operation: &Json, alternatives: &[Alternative]) -> Box<str> {
    let params = |json: &Json| json.get("params").and_then(Json::as_object).cloned().unwrap_or_default();
    let own = params(operation);
    let read = |alternative: &Alternative| serde_json::from_str(&alternative.operation).map(|json| params(&json));
    let others: Vec<_> = alternatives.iter().filter_map(|alternative| read(alternative).ok()).collect();
    let mut keys: Vec<&String> = own.keys().collect();
    keys.extend(others.iter().flat_map(|other| other.keys()).filter(|key| !own.contains_key(*key)));
    keys.retain(|key| others.iter().any(|other| other.get(*key) != own.get(*key)));
    keys.dedup();
    let auto = keys.iter().find(|key| own.get(**key).is_some_and(|value| value == "auto"));
    match (auto, &keys[..]) {
        (Some(key), _) | (None, [key]) => key.as_str().into(),
        _ => "".into(),
    }
}
