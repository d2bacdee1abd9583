//! What the fast way does not serve is asked of the rate arbiter: limited transfers, lateral links, and classes that bring
//! more to an up link than it carries.

use weir_plugin_api::{
    Answer, Binding, CallError, ClassId, ClassTable, Grant, LinkId, PhaseView, RateArbiter, RouteId, RouteTable,
    SimTime, TransferId,
};

use super::Factors;

/// Tables of a phase, used again and again.
#[derive(Debug, Default)]
pub(super) struct Phase {
    ids: Vec<TransferId>,
    class: Vec<ClassId>,
    arrival: Vec<u64>,
    route: Vec<RouteId>,
    limit: Vec<f64>,
    weight: Vec<f64>,
    priority: Vec<i64>,
    offsets: Vec<u64>,
    links: Vec<LinkId>,
    rates: Vec<f64>,
    bindings: Vec<Binding>,
    /// Per class its first transfer.
    first: Vec<u32>,
}

impl Factors {
    /// All rates, by the rate arbiter.
    pub(super) fn ask(&mut self, answer: &mut Answer) -> Result<(), CallError> {
        let mut phase = std::mem::take(&mut self.phase);
        phase.clear();
        for (number, &class) in self.active.iter().enumerate() {
            let class = &self.classes[class as usize];
            phase.route.push(RouteId(number as u32));
            phase.limit.push(class.limit);
            phase.weight.push(1.0);
            phase.priority.push(0);
            phase.links.extend(&class.links);
            phase.offsets.push(phase.links.len() as u64);
            phase.first.push(phase.ids.len() as u32);
            for _ in 0..class.transfers {
                phase.ids.push(TransferId(phase.ids.len() as u32));
                phase.class.push(ClassId(number as u32));
                phase.arrival.push(0);
            }
        }
        let result = phase.rates(&mut self.plain);
        if result.is_ok() {
            self.regions.all = true;
            for number in 0..self.active.len() {
                let class = self.active[number];
                self.flag(class);
                self.tell_root(class, self.level(phase.rates[phase.first[number] as usize]), answer);
            }
        }
        self.phase = phase;
        result
    }
}

impl Phase {
    fn clear(&mut self) {
        self.ids.clear();
        self.class.clear();
        self.arrival.clear();
        self.route.clear();
        self.limit.clear();
        self.weight.clear();
        self.priority.clear();
        self.offsets.clear();
        self.links.clear();
        self.first.clear();
        self.offsets.push(0);
    }

    /// What binds the class of a number, and the number of the one that is responsible.
    pub(super) fn binding(&self, number: usize) -> (Binding, Option<usize>) {
        let binding = self.bindings[self.first[number] as usize];
        (binding, self.class.get(binding.by as usize).map(|class| class.index()))
    }

    fn rates(&mut self, arbiter: &mut impl RateArbiter) -> Result<(), CallError> {
        self.rates.clear();
        self.rates.resize(self.ids.len(), f64::NAN);
        self.bindings.clear();
        self.bindings.resize(self.ids.len(), Binding::NONE);
        let view = PhaseView {
            now: SimTime::ZERO,
            id: (&self.ids).into(),
            class: (&self.class).into(),
            arrival: (&self.arrival).into(),
            classes: ClassTable {
                route: (&self.route).into(),
                limit: (&self.limit).into(),
                weight: (&self.weight).into(),
                priority: (&self.priority).into(),
            },
            routes: RouteTable { offsets: (&self.offsets).into(), links: (&self.links).into() },
        };
        let mut grant = Grant { rates: &mut self.rates, bindings: &mut self.bindings, recheck: SimTime::NEVER };
        if self.ids.is_empty() { Ok(()) } else { arbiter.allocate(&view, &mut grant) }
    }
}
