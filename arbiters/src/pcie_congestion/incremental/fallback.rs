//! The rate arbiter is asked where few transfers are connected, which is quicker, and for what the fast way does not serve:
//! limited transfers, and classes that bring more to an up link than it carries.

use weir_plugin_api::{
    Answer, Binding, CallError, ClassId, ClassTable, Grant, Holder, LinkId, PhaseView, RateArbiter, RouteId,
    RouteTable, SimTime, TransferId,
};

use super::tables::Class;
use super::{Factors, NONE};

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
    /// All rates of the subtrees that the event touches and that go this way, by the rate arbiter.
    pub(super) fn ask(&mut self, answer: &mut Answer) -> Result<(), CallError> {
        let mut classes = std::mem::take(&mut self.subtrees.asked);
        // Sums are formed in this order, whatever the numbers of the classes.
        let of = |class: u32| &self.classes[class as usize];
        classes.sort_unstable_by(|&a, &b| (of(a).links.cmp(&of(b).links)).then(of(a).limit.total_cmp(&of(b).limit)));
        self.phase.clear();
        for &class in &classes {
            self.phase.add(&self.classes[class as usize]);
        }
        let result = self.phase.rates(&mut self.plain);
        if result.is_ok() {
            for (number, &class) in classes.iter().enumerate() {
                let (rate, binding, by) = self.phase.answer(number);
                let by = by.map_or(NONE, |number| classes[number]);
                self.classes[class as usize].asked = Some(Holder { link: binding.link, cause: binding.cause(), by });
                self.tell_root(class, self.level(rate), answer);
            }
        }
        self.subtrees.asked = classes;
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

    /// Adds the transfers of a class.
    fn add(&mut self, class: &Class) {
        let number = self.route.len() as u32;
        self.route.push(RouteId(number));
        self.limit.push(class.limit);
        self.weight.push(1.0);
        self.priority.push(0);
        self.links.extend(&class.links);
        self.offsets.push(self.links.len() as u64);
        self.first.push(self.ids.len() as u32);
        for _ in 0..class.transfers {
            self.ids.push(TransferId(self.ids.len() as u32));
            self.class.push(ClassId(number));
            self.arrival.push(0);
        }
    }

    /// Rate and binding of a class by its number here, and the number of the one that is responsible.
    fn answer(&self, number: usize) -> (f64, Binding, Option<usize>) {
        let at = self.first[number] as usize;
        let by = self.class.get(self.bindings[at].by as usize).map(|class| class.index());
        (self.rates[at], self.bindings[at], by)
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
