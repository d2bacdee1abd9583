//! Asks models: one instance of each for a scenario, made when it is first needed.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Map, Value as Json};
use weir_plugin_api::{
    Alternative, CallError, Estimate, Estimates, FabricView, Model, ModelEntry, NodeId, Plan, Registry, RouteInfo,
    RouteLookup, SharedLinks, Surroundings,
};
use weir_sim_core::{Fabric, Routes};

use super::request::Request;
use crate::arbiter::ArbiterSpec;
use crate::context::{Context, Read, Reported};
use crate::diagnostic::shortened;
use crate::schema::Schema;

/// The models of a scenario.
pub(in crate::workload) struct Models<'a> {
    pub(in crate::workload) registry: &'a Registry,
    /// The arbiter under which alternatives are tried: the scenario's first.
    pub(super) arbiter: Option<&'a ArbiterSpec>,
    ways: Ways<'a>,
    view: FabricView<'a>,
    used: Vec<Used<'a>>,
}

struct Used<'a> {
    entry: &'a ModelEntry,
    schema: Rc<Json>,
    /// Its instance; `None` before it is needed.
    instance: Option<Box<dyn Model>>,
    /// Whether it panicked, or could not be made: it is not called again.
    lost: bool,
}

/// Answers about routes, apart from the routes that the tasks use.
struct Ways<'a> {
    fabric: &'a Fabric,
    routes: RefCell<Routes>,
}

impl RouteLookup for Ways<'_> {
    fn route(&self, from: NodeId, to: NodeId) -> Option<RouteInfo> {
        let nodes = self.fabric.nodes().len();
        if from.index() >= nodes || to.index() >= nodes {
            return None;
        }
        let mut routes = self.routes.borrow_mut();
        let route = routes.between(self.fabric, from, to)?;
        let links = routes.links(route);
        let bandwidth = links.iter().map(|&link| self.fabric.link(link).bandwidth).fold(f64::INFINITY, f64::min);
        Some(RouteInfo { bandwidth, latency_ps: routes.latency(route).0 as f64, links: links.len() as u32 })
    }

    fn shared(&self, number: usize) -> Option<SharedLinks<'_>> {
        let shared = self.fabric.shared().get(number)?;
        Some(SharedLinks { bandwidth: shared.bandwidth, links: &shared.links, node: shared.node })
    }
}

impl<'a> Models<'a> {
    /// The models of a registry, none of them asked yet.
    pub(in crate::workload) fn new(
        registry: &'a Registry,
        arbiter: Option<&'a ArbiterSpec>,
        fabric: &'a Fabric,
    ) -> Self {
        let ways = Ways { fabric, routes: RefCell::new(Routes::new()) };
        Self { registry, arbiter, ways, view: fabric.view(), used: Vec::new() }
    }

    fn used(&mut self, entry: &'a ModelEntry) -> &mut Used<'a> {
        let at = self.used.iter().position(|used| std::ptr::eq(used.entry, entry)).unwrap_or_else(|| {
            let schema = serde_json::from_str(&entry.schema).unwrap_or_else(|_| Json::Object(Map::new()));
            self.used.push(Used { entry, schema: Rc::new(schema), instance: None, lost: false });
            self.used.len() - 1
        });
        &mut self.used[at]
    }

    /// The schema of a model.
    pub(in crate::workload) fn schema(&mut self, entry: &'a ModelEntry) -> Rc<Json> {
        Rc::clone(&self.used(entry).schema)
    }

    /// Calls a model about an operation.
    fn ask<T>(
        &mut self,
        context: &mut Context,
        request: &Request<'a>,
        call: impl FnOnce(&mut dyn Model, &Surroundings<'_>) -> Result<T, CallError>,
    ) -> Read<T> {
        let view = self.view;
        let used = self.used(request.entry);
        if used.lost {
            // Why was said at the operation before.
            return Err(Reported);
        }
        let schema = Rc::clone(&used.schema);
        let model = match used.instance.take() {
            Some(model) => Ok(model),
            None => (request.entry.make)(),
        };
        // A model that cannot be made, or panics, is not there for the next operation.
        let answer = model.and_then(|mut model| {
            let answer = call(&mut *model, &Surroundings { fabric: &view, routes: &self.ways });
            if !matches!(answer, Err(CallError::Panicked(_))) {
                self.used(request.entry).instance = Some(model);
            }
            answer
        });
        answer.map_err(|error| {
            let used = self.used(request.entry);
            used.lost = used.instance.is_none();
            let whole = Schema::new(&schema);
            request.failed(context, whole.property(request.key).unwrap_or(whole), &error)
        })
    }

    /// The plan of an operation, not yet checked.
    pub(super) fn plan(&mut self, context: &mut Context, request: &Request<'a>, operation: &str) -> Read<Plan> {
        self.ask(context, request, |model, surroundings| {
            let mut plan = Plan::new();
            model.plan(operation, surroundings, &mut plan).map(|()| plan)
        })
    }

    /// The same of an alternative; why not, where the model refuses it.
    pub(super) fn plan_if_allowed(
        &mut self,
        context: &mut Context,
        request: &Request<'a>,
        operation: &str,
    ) -> Read<Result<Plan, String>> {
        self.ask(context, request, |model, surroundings| {
            let mut plan = Plan::new();
            match model.plan(operation, surroundings, &mut plan) {
                Ok(()) => Ok(Ok(plan)),
                Err(CallError::Refused(reason)) => Ok(Err(reason)),
                Err(error) => Err(error),
            }
        })
    }

    /// The ways to do an operation that leaves a choice open.
    pub(super) fn alternatives(
        &mut self,
        context: &mut Context,
        request: &Request<'a>,
        operation: &str,
    ) -> Read<Vec<Alternative>> {
        self.ask(context, request, |model, surroundings| {
            let mut all = Vec::new();
            model.alternatives(operation, surroundings, &mut all).map(|()| all)
        })
    }

    /// The closed forms of an operation, and what else the model says of it.
    pub(super) fn estimate(
        &mut self,
        context: &mut Context,
        request: &Request<'a>,
        operation: &str,
    ) -> Read<(Vec<Estimate>, Map<String, Json>)> {
        let Estimates { list, details } = self.ask(context, request, |model, surroundings| {
            let mut estimates = Estimates::default();
            model.estimate(operation, surroundings, &mut estimates).map(|()| estimates)
        })?;
        for estimate in &list {
            if estimate.formula.is_empty() {
                return Err(request.wrong_answer(context, "gave an estimate without the name of its formula"));
            }
            if !(estimate.seconds.is_finite() && estimate.seconds >= 0.0) {
                let (formula, seconds) = (shortened(&estimate.formula), estimate.seconds);
                let answer = format!("estimated {seconds} s by `{formula}`: it must be finite and at least 0");
                return Err(request.wrong_answer(context, &answer));
            }
        }
        let details = if details.is_empty() { Ok(Map::new()) } else { serde_json::from_str(&details) };
        let details = details.map_err(|_| request.wrong_answer(context, "gave details that are not a JSON object"))?;
        let schema = self.schema(request.entry);
        let whole = Schema::new(&schema);
        request.warn(context, whole.property(request.key).unwrap_or(whole), &details);
        Ok((list, details))
    }
}
