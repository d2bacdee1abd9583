//! Arbiters and models of a child, behind the same traits as built-in ones.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use weir_plugin_api::{
    Alternative, ArbiterEntry, Binding, CallError, Estimates, FabricView, Flags, Grant, LegendEntry, LinkId, Model,
    ModelEntry, NodeId, Origin, PhaseView, Plan, RateArbiter, RouteTable, SimTime, Step, Surroundings,
};

use super::process::{Closed, Listener, OPEN_LIMIT, Process};
use super::remote_port::port_entry;
use super::views::{SentFabric, SentTables};
use super::wire::{ArbiterListing, Ask, ModelListing, StepFrame, Tell};
use crate::call::{Call, CallSlot};
use crate::error::PluginError;
use crate::failures;
use crate::library::{Library, absolute, file_name};
use crate::loaded::{wrong_binding, wrong_step};
use crate::loaded_model::wrong_alternative;
use crate::stuck::{CLOSING, StuckCall};
use crate::watchdog::{DEFAULT_LIMIT, Watchdog};

/// Opens a library in a child process of `program`, never in this one.
///
/// # Errors
/// As [`Process::start`].
pub(crate) fn open(file: &Path, program: &Path) -> Result<Library, PluginError> {
    let path = absolute(file)?;
    let (process, listing) = Process::start(&path, program, Listener::Stderr, OPEN_LIMIT)?;
    let plugin = Arc::new(Plugin {
        path: path.clone(),
        sha256: listing.sha256.clone(),
        program: program.to_owned(),
        idle: Mutex::new(vec![process]),
    });
    let arbiters = listing.arbiters.into_iter().map(|listed| Arc::new(arbiter_entry(&plugin, listed))).collect();
    let ports = listing.ports.into_iter().map(|listed| Arc::new(port_entry(&plugin, listed))).collect();
    let models = listing.models.into_iter().map(|listed| Arc::new(model_entry(&plugin, listed))).collect();
    Ok(Library { path, sha256: listing.sha256, arbiters, ports, models })
}

/// A library that is open in children.
pub(super) struct Plugin {
    path: PathBuf,
    sha256: String,
    program: PathBuf,
    /// Children without an instance.
    idle: Mutex<Vec<Process>>,
}

impl Plugin {
    pub(super) fn origin(&self) -> Origin {
        Origin::Library { path: self.path.clone(), sha256: self.sha256.clone() }
    }

    /// A child without an instance.
    fn process(&self) -> Result<Process, CallError> {
        if let Some(process) = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(process);
        }
        let failed = |error: PluginError| CallError::Failed(error.to_string());
        let started = Process::start(&self.path, &self.program, Listener::Stderr, OPEN_LIMIT);
        let (process, listing) = started.map_err(failed)?;
        if listing.sha256 != self.sha256 {
            return Err(failed(PluginError::Changed { path: self.path.clone() }));
        }
        Ok(process)
    }
}

impl Drop for Plugin {
    /// A child may still fail when it ends, by what the library left for that, which may take as long as a call.
    fn drop(&mut self) {
        let mut idle = std::mem::take(self.idle.get_mut().unwrap_or_else(PoisonError::into_inner));
        idle.iter_mut().for_each(Process::ask_to_end);
        let limit = Watchdog::limit_from_env().unwrap_or(DEFAULT_LIMIT);
        let (plugin, deadline) = (file_name(&self.path), Instant::now() + limit);
        for process in idle {
            let what = match process.close_until(deadline) {
                Closed::Well => continue,
                Closed::Badly(how) => format!("the end of its process failed ({how}): report it to its author"),
                Closed::Late => {
                    StuckCall { plugin: plugin.clone(), path: self.path.clone(), call: CLOSING, limit }.to_string()
                }
            };
            failures::note(&plugin, CallError::Failed(what));
        }
    }
}

fn arbiter_entry(plugin: &Arc<Plugin>, listed: ArbiterListing) -> ArbiterEntry {
    let (name, of) = (listed.name.clone(), Arc::clone(plugin));
    let legend = listed.legend.into_iter().map(|(step, short, meaning)| LegendEntry { step, short, meaning });
    ArbiterEntry {
        name: listed.name,
        version: listed.version,
        flags: Flags(listed.flags),
        says_what_it_reads: listed.says_what_it_reads,
        legend: legend.collect(),
        params_schema: listed.params_schema,
        origin: plugin.origin(),
        make: Arc::new(move |fabric, params| Ok(Box::new(RemoteArbiter::create(&of, &name, fabric, params)?))),
        incremental: None,
    }
}

fn model_entry(plugin: &Arc<Plugin>, listed: ModelListing) -> ModelEntry {
    let (name, of) = (listed.name.clone(), Arc::clone(plugin));
    ModelEntry {
        name: listed.name,
        version: listed.version,
        operations: listed.operations,
        schema: listed.schema,
        origin: plugin.origin(),
        make: Box::new(move || {
            let mut remote = Remote::start(&of, &name)?;
            remote.done(Call::Create, &Ask::CreateModel { name: name.clone() })?;
            Ok(Box::new(RemoteModel { remote, fabric: SentFabric::default() }))
        }),
    }
}

/// An instance in a child. Once the child has ended or makes no sense, it is asked no more.
pub(super) struct Remote {
    plugin: Arc<Plugin>,
    /// `None` while this is dropped.
    process: Option<Process>,
    slot: Arc<CallSlot>,
    /// What the watchdog says of a call for which it ended the child.
    stuck: Arc<OnceLock<String>>,
    stopped: Option<CallError>,
}

impl Remote {
    pub(super) fn start(plugin: &Arc<Plugin>, name: &str) -> Result<Self, CallError> {
        let process = plugin.process()?;
        let stuck = Arc::new(OnceLock::new());
        let (kill, said) = (process.killer(), Arc::clone(&stuck));
        let slot = CallSlot::register_child(name.to_owned(), plugin.path.clone(), move |call| {
            // The first word counts.
            let _ = said.set(call.to_string());
            kill();
        });
        Ok(Self { plugin: Arc::clone(plugin), process: Some(process), slot, stuck, stopped: None })
    }

    /// Asks the child; it may ask for routes before it answers.
    pub(super) fn ask(&mut self, call: Call, ask: &Ask, around: Option<&Surroundings<'_>>) -> Result<Tell, CallError> {
        if let Some(error) = &self.stopped {
            return Err(error.clone());
        }
        let Some(process) = &mut self.process else { return Err(self.failed(call, "has no process any more")) };
        let told = self.slot.run(call, || {
            let mut told = process.ask(ask)?;
            while let Tell::Route { from, to } = told {
                told = process.ask(&Ask::Route(around.and_then(|around| found(around, from, to))))?;
            }
            Ok(told)
        });
        match told {
            Ok(Tell::Failed(failure)) => Err(failure.into()),
            Ok(told) => Ok(told),
            Err(error) => Err(self.stop(call, &error)),
        }
    }

    /// As [`Self::ask`], where there is nothing to answer.
    pub(super) fn done(&mut self, call: Call, ask: &Ask) -> Result<(), CallError> {
        match self.ask(call, ask, None)? {
            Tell::Done => Ok(()),
            _ => Err(self.senseless(call)),
        }
    }

    fn stop(&mut self, call: Call, error: &io::Error) -> CallError {
        let stuck = self.stuck.get().cloned();
        let error = match &self.process {
            _ if stuck.is_some() => CallError::Failed(stuck.unwrap_or_default()),
            Some(process) if error.kind() != io::ErrorKind::InvalidData => {
                let how = process.how_it_ended();
                self.failed(call, &format!("ended the plugin's process ({how}); report it to its author"))
            }
            _ => self.failed(call, &format!("answers what makes no sense ({error})")),
        };
        self.stopped = Some(error.clone());
        error
    }

    fn failed(&self, call: Call, what: &str) -> CallError {
        CallError::Failed(format!("{} of {} {what}", call.word(), self.plugin.path.display()))
    }

    pub(super) fn senseless(&mut self, call: Call) -> CallError {
        let error = self.failed(call, "answers what was not asked");
        self.stopped = Some(error.clone());
        error
    }

    /// Whether it is asked no more.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// The name of the plugin.
    pub(super) fn name(&self) -> &str {
        &self.slot.plugin
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // Why it is asked no more was the answer of an earlier call.
        if self.stopped.is_some() {
            return;
        }
        match self.done(Call::Destroy, &Ask::Destroy) {
            Ok(()) => {
                let process = self.process.take();
                self.plugin.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(process);
            }
            Err(error) => failures::note(&self.slot.plugin, error),
        }
    }
}

fn found(around: &Surroundings<'_>, from: u32, to: u32) -> Option<(f64, f64, u32)> {
    let nodes = around.fabric.node_kind.len();
    let exist = (from as usize) < nodes && (to as usize) < nodes;
    let route = exist.then(|| around.routes.route(NodeId(from), NodeId(to))).flatten()?;
    Some((route.bandwidth, route.latency_ps, route.links))
}

struct RemoteArbiter {
    remote: Remote,
    tables: SentTables,
    links: u32,
}

impl RemoteArbiter {
    fn create(plugin: &Arc<Plugin>, name: &str, fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
        let mut remote = Remote::start(plugin, name)?;
        let ask = Ask::CreateArbiter {
            name: name.to_owned(),
            fabric: SentFabric::default().frame(fabric),
            params: params.to_owned(),
        };
        remote.done(Call::Create, &ask)?;
        let links = u32::try_from(fabric.links()).unwrap_or(u32::MAX);
        Ok(Self { remote, tables: SentTables::default(), links })
    }
}

impl StepFrame {
    fn into_step(self) -> Step {
        let (link, StepFrame { transfer, step, rate, because, .. }) = (LinkId(self.link), self);
        Step { transfer, region: 0, step, link, rate, because }
    }
}

impl RateArbiter for RemoteArbiter {
    fn admit(&mut self, route: &[LinkId]) -> Result<(), CallError> {
        self.remote.done(Call::Admit, &Ask::Admit(route.iter().map(|link| link.0).collect()))
    }

    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        let told = self.remote.ask(Call::Allocate, &Ask::Allocate(self.tables.phase(phase)), None)?;
        let Tell::Rates { rates, bindings, recheck } = told else { return Err(self.remote.senseless(Call::Allocate)) };
        if rates.len() != grant.rates.len() || bindings.len() != grant.bindings.len() {
            return Err(self.remote.senseless(Call::Allocate));
        }
        grant.rates.copy_from_slice(&rates);
        for (slot, (link, cause, by)) in grant.bindings.iter_mut().zip(bindings) {
            *slot = Binding { link: LinkId(link), cause, by };
        }
        grant.recheck = SimTime(recheck);
        // The child looks at this, too, but its memory is the plugin's.
        wrong_binding(grant.bindings, self.links)
            .map_or(Ok(()), |wrong| Err(self.remote.failed(Call::Allocate, &wrong)))
    }

    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        let told = self.remote.ask(Call::Explain, &Ask::Explain(self.tables.phase(phase)), None)?;
        let Tell::Steps(frames) = told else { return Err(self.remote.senseless(Call::Explain)) };
        let Some(frames) = frames else { return Ok(false) };
        let mut told: Vec<_> = frames.into_iter().map(StepFrame::into_step).collect();
        // As with bindings.
        if let Some(wrong) = told.iter().find_map(|step| wrong_step(step, phase.len(), self.links)) {
            return Err(self.remote.failed(Call::Explain, &wrong));
        }
        steps.append(&mut told);
        Ok(true)
    }

    fn capacity(&mut self, link: LinkId, routes: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        // Routes of its own, not those of the phases.
        self.tables = SentTables::default();
        let ask = Ask::Capacity { link: link.0, routes: self.tables.routes(routes) };
        self.tables = SentTables::default();
        match self.remote.ask(Call::Capacity, &ask, None)? {
            Tell::Capacity(most) if most.is_none_or(|most| most > 0.0) => Ok(most),
            _ => Err(self.remote.senseless(Call::Capacity)),
        }
    }

    fn reset(&mut self) {
        self.tables = SentTables::default();
        if let Err(error) = self.remote.done(Call::Reset, &Ask::Reset) {
            // An instance that could not forget would mix two runs.
            self.remote.stopped = Some(error);
        }
    }
}

struct RemoteModel {
    remote: Remote,
    fabric: SentFabric,
}

impl RemoteModel {
    fn ask(
        &mut self,
        call: Call,
        operation: &str,
        around: &Surroundings<'_>,
        ask: impl FnOnce(String, super::views::FabricFrame) -> Ask,
    ) -> Result<Tell, CallError> {
        let ask = ask(operation.to_owned(), self.fabric.frame(around.fabric));
        self.remote.ask(call, &ask, Some(around))
    }
}

impl Model for RemoteModel {
    fn plan(&mut self, operation: &str, around: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError> {
        match self.ask(Call::Plan, operation, around, |operation, fabric| Ask::Plan { operation, fabric })? {
            Tell::Plan(frame) => frame.add_to(plan),
            _ => return Err(self.remote.senseless(Call::Plan)),
        }
        Ok(())
    }

    fn estimate(&mut self, operation: &str, around: &Surroundings<'_>, to: &mut Estimates) -> Result<(), CallError> {
        match self.ask(Call::Estimate, operation, around, |operation, fabric| Ask::Estimate { operation, fabric })? {
            Tell::Estimates(frame) => frame.add_to(to),
            _ => return Err(self.remote.senseless(Call::Estimate)),
        }
        Ok(())
    }

    fn alternatives(
        &mut self,
        operation: &str,
        around: &Surroundings<'_>,
        to: &mut Vec<Alternative>,
    ) -> Result<(), CallError> {
        let ask = |operation, fabric| Ask::Alternatives { operation, fabric };
        let Tell::Alternatives(frame) = self.ask(Call::Alternatives, operation, around, ask)? else {
            return Err(self.remote.senseless(Call::Alternatives));
        };
        let before = to.len();
        frame.add_to(to);
        wrong_alternative(operation, &to[before..])
            .map_or(Ok(()), |wrong| Err(self.remote.failed(Call::Alternatives, &wrong)))
    }
}

#[cfg(test)]
mod tests {
    use weir_plugin_api::{NodeKind, RouteLookup};

    use super::*;

    /// Knows two nodes.
    struct Two;

    impl RouteLookup for Two {
        fn route(&self, from: NodeId, to: NodeId) -> Option<weir_plugin_api::RouteInfo> {
            assert!(from.0 < 2 && to.0 < 2, "{from:?} {to:?}");
            Some(weir_plugin_api::RouteInfo { bandwidth: 8.0, latency_ps: 3.0, links: 2 })
        }
    }

    /// The memory of a child is the plugin's: it may ask for any number.
    #[test]
    fn routes_are_looked_up_between_nodes_that_exist() {
        let node_kind = [NodeKind::Gpu; 2];
        let fabric = FabricView { node_kind: node_kind[..].into(), ..FabricView::default() };
        let around = Surroundings { fabric: &fabric, routes: &Two };
        assert_eq!(found(&around, 0, 1), Some((8.0, 3.0, 2)));
        for (from, to) in [(0, 2), (2, 1), (2, 2), (u32::MAX, 0)] {
            assert_eq!(found(&around, from, to), None, "{from} {to}");
        }
    }
}
