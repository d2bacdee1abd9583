//! The rate arbiter is asked where few transfers are connected, which is quicker, and for what the fast way does not serve:
//! limited transfers, and classes that bring more to an up link than it carries.

use weir_plugin_api::{
    Answer, Binding, CallError, ClassId, Grant, Holder, PhaseColumns, RateArbiter, RouteId, SimTime, TransferId,
};

use super::tables::Class;
use super::{Factors, NONE};

/// Tables of a phase, used again and again.
#[derive(Debug, Default)]
pub(super) struct Phase {
    columns: PhaseColumns,
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
        self.columns.clear();
        self.first.clear();
    }

    /// Adds the transfers of a class.
    fn add(&mut self, class: &Class) {
        let Self { columns, first, .. } = self;
        let number = ClassId(columns.route.len() as u32);
        columns.route.push(RouteId(number.0));
        columns.limit.push(class.limit);
        columns.weight.push(1.0);
        columns.priority.push(0);
        columns.links.extend(&class.links);
        columns.offsets.push(columns.links.len() as u64);
        first.push(columns.id.len() as u32);
        for _ in 0..class.transfers {
            columns.id.push(TransferId(columns.id.len() as u32));
            columns.class.push(number);
            columns.arrival.push(0);
        }
    }

    /// Rate and binding of a class by its number here, and the number of the one that is responsible.
    fn answer(&self, number: usize) -> (f64, Binding, Option<usize>) {
        let at = self.first[number] as usize;
        let by = self.columns.class.get(self.bindings[at].by as usize).map(|class| class.index());
        (self.rates[at], self.bindings[at], by)
    }

    fn rates(&mut self, arbiter: &mut impl RateArbiter) -> Result<(), CallError> {
        self.rates.clear();
        self.rates.resize(self.columns.id.len(), f64::NAN);
        self.bindings.clear();
        self.bindings.resize(self.columns.id.len(), Binding::NONE);
        let view = self.columns.view(SimTime::ZERO);
        let mut grant = Grant { rates: &mut self.rates, bindings: &mut self.bindings, recheck: SimTime::NEVER };
        if view.is_empty() { Ok(()) } else { arbiter.allocate(&view, &mut grant) }
    }
}
