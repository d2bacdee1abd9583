//! The child's side: opens one library and answers what it is asked.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use weir_plugin_api::{
    Binding, CallError, Estimates, FabricColumns, Grant, LinkId, Model, NodeId, PhaseColumns, Plan, PortArbiter,
    RateArbiter, RouteInfo, RouteLookup, SimTime, Surroundings,
};

use super::plans::PlanFrame;
use super::ports::{CommitFrame, GrantFrame};
use super::views::{FabricFrame, PhaseFrame, RoutesFrame, update_fabric, update_phase, update_routes};
use super::wire::{ArbiterListing, Ask, Listing, ModelListing, PortListing, StepFrame, Tell, receive, send};
use crate::descriptors::child_pipes;
use crate::failures;
use crate::library::Library;

/// First argument of the program that opens a library for another one; a command line that sees it calls [`child_main`]
/// with the second.
pub const CHILD_COMMAND: &str = "__plugin";

/// Opens a library, tells on standard output what it lists or why it was refused, and answers what standard input asks,
/// until that asks for the end or is closed.
#[must_use]
pub fn child_main(file: &Path) -> ExitCode {
    let Ok((from, to)) = child_pipes() else { return ExitCode::FAILURE };
    let mut pipe = Pipe { from, to, buffer: Vec::new() };
    let library = Library::open(file);
    let listing = library.as_ref().map(Listing::from).map_err(ToString::to_string);
    if pipe.say(&Tell::Listing(listing)).is_err() {
        return ExitCode::FAILURE;
    }
    if let Ok(library) = library {
        let mut served = Served {
            library,
            instance: Instance::None,
            fabric: FabricColumns::default(),
            phase: PhaseColumns::default(),
        };
        while let Ok(ask) = pipe.hear()
            && !matches!(ask, Ask::End)
        {
            let told = served.answer(ask, &mut pipe).unwrap_or_else(|error| Tell::Failed(error.into()));
            if pipe.say(&told).is_err() {
                break;
            }
        }
    }
    ExitCode::SUCCESS
}

struct Pipe {
    from: Box<dyn Read>,
    to: Box<dyn Write>,
    buffer: Vec<u8>,
}

impl Pipe {
    fn say(&mut self, told: &Tell) -> io::Result<()> {
        send(&mut self.to, &mut self.buffer, told)
    }

    fn hear(&mut self) -> io::Result<Ask> {
        receive(&mut self.from, &mut self.buffer)
    }
}

impl From<&Library> for Listing {
    fn from(library: &Library) -> Self {
        let arbiters = library.arbiters.iter().map(|a| ArbiterListing {
            name: a.name.clone(),
            version: a.version.clone(),
            flags: a.flags.0,
            says_what_it_reads: a.says_what_it_reads,
            legend: a.legend.iter().map(|e| (e.step.clone(), e.short.clone(), e.meaning.clone())).collect(),
            params_schema: a.params_schema.clone(),
        });
        let models = library.models.iter().map(|m| ModelListing {
            name: m.name.clone(),
            version: m.version.clone(),
            operations: m.operations.clone(),
            schema: m.schema.clone(),
        });
        let ports = library.ports.iter().map(|p| PortListing {
            name: p.name.clone(),
            version: p.version.clone(),
            description: p.description.clone(),
            flags: p.flags.0,
            params_schema: p.params_schema.clone(),
        });
        let (arbiters, ports, models) = (arbiters.collect(), ports.collect(), models.collect());
        Self { sha256: library.sha256.clone(), arbiters, ports, models }
    }
}

enum Instance {
    None,
    Arbiter(Box<dyn RateArbiter>),
    Port(Box<dyn PortArbiter>),
    Model(Box<dyn Model>),
}

struct Served {
    library: Library,
    instance: Instance,
    fabric: FabricColumns,
    phase: PhaseColumns,
}

/// The run and its child do not agree about what was said before.
fn out_of_step() -> CallError {
    CallError::Failed("the plugin's process was asked what makes no sense".to_owned())
}

/// What was asked is done, and there is nothing to tell.
fn done<T>(_: T) -> Tell {
    Tell::Done
}

impl Served {
    fn answer(&mut self, ask: Ask, pipe: &mut Pipe) -> Result<Tell, CallError> {
        match ask {
            Ask::CreateArbiter { name, fabric, params } => self.create_arbiter(&name, fabric, &params).map(done),
            Ask::CreatePort { name, fabric, params } => self.create_port(&name, fabric, &params).map(done),
            Ask::CreateModel { name } => self.create_model(&name).map(done),
            Ask::Admit(route) => self.admit(route).map(done),
            Ask::Allocate(frame) => self.allocate(frame),
            Ask::Explain(frame) => self.explain(frame),
            Ask::Capacity { link, routes } => self.capacity(LinkId(link), routes).map(Tell::Capacity),
            Ask::Reset => self.arbiter().map(RateArbiter::reset).map(done),
            Ask::Choose { grants, view } => self.choose(&grants, &view).map(Tell::Slot),
            Ask::Commit(grants) => self.committed(&grants).map(done),
            Ask::PortState(out) => self.port_state(LinkId(out)).map(Tell::State),
            Ask::Plan { operation, fabric } => self.plan(&operation, fabric, pipe),
            Ask::Estimate { operation, fabric } => self.estimate(&operation, fabric, pipe),
            Ask::Alternatives { operation, fabric } => self.alternatives(&operation, fabric, pipe),
            Ask::Destroy => self.destroy().map(done),
            Ask::Route(_) | Ask::End => Err(out_of_step()),
        }
    }

    fn create_arbiter(&mut self, name: &str, fabric: FabricFrame, params: &str) -> Result<(), CallError> {
        self.clear();
        update_fabric(&mut self.fabric, fabric).ok_or_else(out_of_step)?;
        let entry = self.library.arbiters.iter().find(|entry| entry.name == name).ok_or_else(out_of_step)?;
        self.instance = Instance::Arbiter((entry.make)(&self.fabric.view(), params)?);
        Ok(())
    }

    fn create_port(&mut self, name: &str, fabric: FabricFrame, params: &str) -> Result<(), CallError> {
        self.clear();
        update_fabric(&mut self.fabric, fabric).ok_or_else(out_of_step)?;
        let entry = self.library.ports.iter().find(|entry| entry.name == name).ok_or_else(out_of_step)?;
        self.instance = Instance::Port((entry.make)(&self.fabric.view(), params)?);
        Ok(())
    }

    fn create_model(&mut self, name: &str) -> Result<(), CallError> {
        self.clear();
        let entry = self.library.models.iter().find(|entry| entry.name == name).ok_or_else(out_of_step)?;
        self.instance = Instance::Model((entry.make)()?);
        Ok(())
    }

    /// Destroys the instance, and tells what went wrong meanwhile.
    fn destroy(&mut self) -> Result<(), CallError> {
        self.clear();
        failures::take().pop().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Forgets the instance, and what it was shown.
    fn clear(&mut self) {
        self.instance = Instance::None;
        (self.fabric, self.phase) = Default::default();
    }

    fn arbiter(&mut self) -> Result<&mut dyn RateArbiter, CallError> {
        match &mut self.instance {
            Instance::Arbiter(arbiter) => Ok(&mut **arbiter),
            Instance::None | Instance::Port(_) | Instance::Model(_) => Err(out_of_step()),
        }
    }

    fn admit(&mut self, route: Vec<u32>) -> Result<(), CallError> {
        let route: Vec<_> = route.into_iter().map(LinkId).collect();
        self.arbiter()?.admit(&route)
    }

    fn capacity(&mut self, link: LinkId, routes: RoutesFrame) -> Result<Option<f64>, CallError> {
        update_routes(&mut self.phase, routes).ok_or_else(out_of_step)?;
        let Instance::Arbiter(arbiter) = &mut self.instance else { return Err(out_of_step()) };
        arbiter.capacity(link, &self.phase.routes())
    }

    /// The port arbiter, after these grants.
    fn committed(&mut self, grants: &[CommitFrame]) -> Result<&mut dyn PortArbiter, CallError> {
        let Instance::Port(port) = &mut self.instance else { return Err(out_of_step()) };
        grants.iter().try_for_each(|grant| grant.show(|grant| port.commit(grant)))?;
        Ok(&mut **port)
    }

    fn choose(&mut self, grants: &[CommitFrame], view: &GrantFrame) -> Result<u32, CallError> {
        let port = self.committed(grants)?;
        view.show(|ask| port.choose(ask))
    }

    fn port_state(&mut self, out: LinkId) -> Result<Option<Vec<u64>>, CallError> {
        let mut words = Vec::new();
        Ok(self.committed(&[])?.state(out, &mut words)?.then_some(words))
    }

    fn allocate(&mut self, frame: PhaseFrame) -> Result<Tell, CallError> {
        let now = update_phase(&mut self.phase, frame).ok_or_else(out_of_step)?;
        let Instance::Arbiter(arbiter) = &mut self.instance else { return Err(out_of_step()) };
        let phase = self.phase.view(now);
        let (mut rates, mut bindings) = (vec![f64::NAN; phase.len()], vec![Binding::NONE; phase.len()]);
        let mut grant = Grant { rates: &mut rates, bindings: &mut bindings, recheck: SimTime::NEVER };
        arbiter.allocate(&phase, &mut grant)?;
        let recheck = grant.recheck.0;
        let bindings = bindings.into_iter().map(|b| (b.link.0, b.cause, b.by)).collect();
        Ok(Tell::Rates { rates, bindings, recheck })
    }

    fn explain(&mut self, frame: PhaseFrame) -> Result<Tell, CallError> {
        let now = update_phase(&mut self.phase, frame).ok_or_else(out_of_step)?;
        let Instance::Arbiter(arbiter) = &mut self.instance else { return Err(out_of_step()) };
        let mut steps = Vec::new();
        let explains = arbiter.explain(&self.phase.view(now), &mut steps)?;
        let frames = steps.into_iter().map(|s| StepFrame {
            transfer: s.transfer,
            step: s.step,
            link: s.link.0,
            rate: s.rate,
            because: s.because,
        });
        Ok(Tell::Steps(explains.then(|| frames.collect())))
    }

    fn plan(&mut self, operation: &str, fabric: FabricFrame, pipe: &mut Pipe) -> Result<Tell, CallError> {
        let mut plan = Plan::new();
        self.model(fabric, pipe, |model, around| model.plan(operation, around, &mut plan))?;
        Ok(Tell::Plan(PlanFrame::from(&plan)))
    }

    fn estimate(&mut self, operation: &str, fabric: FabricFrame, pipe: &mut Pipe) -> Result<Tell, CallError> {
        let mut estimates = Estimates::default();
        self.model(fabric, pipe, |model, around| model.estimate(operation, around, &mut estimates))?;
        Ok(Tell::Estimates(estimates.into()))
    }

    fn alternatives(&mut self, operation: &str, fabric: FabricFrame, pipe: &mut Pipe) -> Result<Tell, CallError> {
        let mut list = Vec::new();
        self.model(fabric, pipe, |model, around| model.alternatives(operation, around, &mut list))?;
        Ok(Tell::Alternatives(list.into()))
    }

    /// Asks the model about an operation beside a fabric.
    fn model(
        &mut self,
        fabric: FabricFrame,
        pipe: &mut Pipe,
        call: impl FnOnce(&mut dyn Model, &Surroundings<'_>) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        update_fabric(&mut self.fabric, fabric).ok_or_else(out_of_step)?;
        let Instance::Model(model) = &mut self.instance else { return Err(out_of_step()) };
        let routes = AskedRoutes(RefCell::new(pipe));
        call(&mut **model, &Surroundings { fabric: &self.fabric.view(), routes: &routes })
    }
}

/// Routes are known to the run: each look-up is a question to it.
struct AskedRoutes<'a>(RefCell<&'a mut Pipe>);

impl RouteLookup for AskedRoutes<'_> {
    fn route(&self, from: NodeId, to: NodeId) -> Option<RouteInfo> {
        let mut pipe = self.0.borrow_mut();
        pipe.say(&Tell::Route { from: from.0, to: to.0 }).ok()?;
        match pipe.hear() {
            Ok(Ask::Route(found)) => {
                found.map(|(bandwidth, latency_ps, links)| RouteInfo { bandwidth, latency_ps, links })
            }
            _ => None,
        }
    }
}
