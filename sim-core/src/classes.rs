//! Classes of transfers: what arbiters see of them, once for all that are alike.

use rustc_hash::FxHashMap;
use weir_plugin_api::{ClassId, ClassTable, RouteId};

/// How packets carry a transfer; nothing to runs by rates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Carriage {
    /// Its channel.
    pub channel: u8,
    /// Whether its destination asks for the data by requests.
    pub is_read: bool,
}

/// Attributes by class: transfers of equal route, limit, weight, priority and carriage.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    route: Vec<RouteId>,
    limit: Vec<f64>,
    weight: Vec<f64>,
    priority: Vec<i64>,
    carriage: Vec<Carriage>,
    index: FxHashMap<(RouteId, u64, u64, i64, Carriage), ClassId>,
}

impl Classes {
    /// The class of these attributes; `limit` is infinite for none. Limit and weight must be > 0.
    pub fn intern(&mut self, route: RouteId, limit: f64, weight: f64, priority: i64) -> ClassId {
        self.intern_carried(route, limit, weight, priority, Carriage::default())
    }

    /// The same of transfers that packets carry in this way.
    pub fn intern_carried(
        &mut self,
        route: RouteId,
        limit: f64,
        weight: f64,
        priority: i64,
        carriage: Carriage,
    ) -> ClassId {
        *self.index.entry((route, limit.to_bits(), weight.to_bits(), priority, carriage)).or_insert_with(|| {
            self.route.push(route);
            self.limit.push(limit);
            self.weight.push(weight);
            self.priority.push(priority);
            self.carriage.push(carriage);
            ClassId::from_index(self.route.len() - 1)
        })
    }

    /// The class of these attributes, if there is one.
    #[must_use]
    pub fn known(&self, route: RouteId, limit: f64, weight: f64, priority: i64) -> Option<ClassId> {
        self.index.get(&(route, limit.to_bits(), weight.to_bits(), priority, Carriage::default())).copied()
    }

    /// The class of the same attributes without a limit, if there is one; for one that has none, itself.
    #[must_use]
    pub fn known_without_limit(&self, class: ClassId) -> Option<ClassId> {
        if self.limit(class) == f64::INFINITY {
            return Some(class);
        }
        let unlimited = f64::INFINITY.to_bits();
        let (weight, priority) = (self.weight(class).to_bits(), self.priority(class));
        self.index.get(&(self.route(class), unlimited, weight, priority, self.carriage(class))).copied()
    }

    /// How packets carry the transfers of a class.
    #[inline]
    #[must_use]
    pub fn carriage(&self, class: ClassId) -> Carriage {
        self.carriage[class.index()]
    }

    /// The route of a class.
    #[inline]
    #[must_use]
    pub fn route(&self, class: ClassId) -> RouteId {
        self.route[class.index()]
    }

    /// Largest allowed rate of a class, bytes per second.
    #[inline]
    #[must_use]
    pub fn limit(&self, class: ClassId) -> f64 {
        self.limit[class.index()]
    }

    /// Weight of the transfers of a class.
    #[inline]
    #[must_use]
    pub fn weight(&self, class: ClassId) -> f64 {
        self.weight[class.index()]
    }

    /// Priority of the transfers of a class.
    #[inline]
    #[must_use]
    pub fn priority(&self, class: ClassId) -> i64 {
        self.priority[class.index()]
    }

    /// How many classes there are: ids are below it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.route.len()
    }

    /// Whether there is no class.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.route.is_empty()
    }

    /// The table as arbiters see it.
    #[must_use]
    pub fn table(&self) -> ClassTable<'_> {
        ClassTable {
            route: (&self.route).into(),
            limit: (&self.limit).into(),
            weight: (&self.weight).into(),
            priority: (&self.priority).into(),
        }
    }
}
