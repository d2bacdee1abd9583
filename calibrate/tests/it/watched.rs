//! What a fit simulates: how often, and with which bandwidths.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weir_plugin_api::{
    ArbiterEntry, CallError, FabricView, Grant, LinkId, PhaseView, RateArbiter, Registry, RouteTable,
};
use weir_scenario::Machine;

/// A registry whose arbiters count what they are asked.
pub struct Watched {
    pub registry: Registry,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    phases: usize,
    /// The bandwidths of all links, for each arbiter that was made.
    bandwidths: Vec<Vec<f64>>,
}

impl Watched {
    pub fn new() -> Self {
        let (seen, mut registry) = (Arc::<Mutex<Seen>>::default(), Registry::new());
        for entry in crate::common::registry().iter() {
            registry.add(watched(entry, &seen)).expect("names are distinct");
        }
        registry.set_default_arbiter("max-min");
        Self { registry, seen }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many phases were simulated, and with how many sets of bandwidths.
    pub fn count(&self) -> String {
        let seen = self.seen();
        format!("simulated {} phases with {} sets of bandwidths", seen.phases, seen.bandwidths.len())
    }

    /// The same, with the least, the mean and the largest bandwidth of each link in GB/s.
    pub fn of(&self, machine: &Machine) -> String {
        let mut text = self.count() + ":\n";
        let seen = self.seen();
        let (made, all) = (seen.bandwidths.len(), &seen.bandwidths);
        for at in (0..machine.fabric.links().len()).map(LinkId::from_index) {
            let of = || all.iter().map(|bandwidths| bandwidths[at.index()] / 1e9);
            let (least, most) = (of().fold(f64::INFINITY, f64::min), of().fold(0.0, f64::max));
            let link = machine.fabric.link(at);
            let (from, to) = (machine.node_name(link.from), machine.node_name(link.to));
            writeln!(text, "  {from} > {to}: {least:.4} {:.4} {most:.4}", of().sum::<f64>() / made as f64)
                .expect("a text");
        }
        text
    }
}

/// An entry whose arbiters tell what they are made for.
fn watched(entry: &Arc<ArbiterEntry>, seen: &Arc<Mutex<Seen>>) -> ArbiterEntry {
    let (inner, seen) = (entry.clone(), seen.clone());
    let make = move |fabric: &FabricView<'_>, params: &str| {
        let arbiter = (inner.make)(fabric, params)?;
        seen.lock().unwrap_or_else(PoisonError::into_inner).bandwidths.push(fabric.bandwidth.to_vec());
        Ok(Box::new(Counted { arbiter, seen: seen.clone() }) as Box<dyn RateArbiter>)
    };
    ArbiterEntry {
        name: entry.name.clone(),
        version: entry.version.clone(),
        flags: entry.flags,
        says_what_it_reads: entry.says_what_it_reads,
        legend: entry.legend.clone(),
        params_schema: entry.params_schema.clone(),
        origin: entry.origin.clone(),
        make: Arc::new(make),
        incremental: None,
    }
}

struct Counted {
    arbiter: Box<dyn RateArbiter>,
    seen: Arc<Mutex<Seen>>,
}

impl RateArbiter for Counted {
    fn admit(&mut self, route: &[LinkId]) -> Result<(), CallError> {
        self.arbiter.admit(route)
    }

    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).phases += 1;
        self.arbiter.allocate(phase, grant)
    }

    fn capacity(&mut self, link: LinkId, routes: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        self.arbiter.capacity(link, routes)
    }

    fn reset(&mut self) {
        self.arbiter.reset();
    }
}
