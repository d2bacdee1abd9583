//! Transfers as an arbiter is shown them: parallel columns in id order.

use weir_plugin_api::{ClassId, PhaseView, SimTime, TransferId};

use super::Active;
use crate::classes::Classes;
use crate::routes::Routes;

/// Arbitrations without a use of the whole set after which its columns are no longer kept up; *assumed*.
const PATIENCE: u32 = 64;

/// Some transfers, in id order.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveColumns {
    pub(super) ids: Vec<TransferId>,
    pub(super) classes: Vec<ClassId>,
    pub(super) arrivals: Vec<u64>,
    pub(super) slots: Vec<u32>,
}

impl ActiveColumns {
    /// These transfers at `now`, as an arbiter sees them.
    pub(super) fn phase<'v>(&'v self, now: SimTime, classes: &'v Classes, routes: &'v Routes) -> PhaseView<'v> {
        PhaseView {
            now,
            id: (&self.ids).into(),
            class: (&self.classes).into(),
            arrival: (&self.arrivals).into(),
            classes: classes.table(),
            routes: routes.table(),
        }
    }

    /// Shows the transfers of these slots, given in any order.
    pub(super) fn show(&mut self, slots: &mut [u32], active: &[Active]) {
        if slots.len() > 1 {
            slots.sort_unstable_by_key(|&s| active[s as usize].task);
        }
        self.ids.clear();
        self.classes.clear();
        self.arrivals.clear();
        self.slots.clear();
        for &slot in slots.iter() {
            let transfer = &active[slot as usize];
            self.ids.push(TransferId(transfer.task.0));
            self.classes.push(transfer.class);
            self.arrivals.push(transfer.arrival.0);
            self.slots.push(slot);
        }
    }

    fn insert(&mut self, slot: u32, transfer: &Active) {
        let id = TransferId(transfer.task.0);
        // Mostly the newest has the highest id; otherwise the columns move up by one.
        let newest = self.ids.last().is_none_or(|&last| last < id);
        let at = if newest { self.ids.len() } else { self.place(id) };
        self.ids.insert(at, id);
        self.classes.insert(at, transfer.class);
        self.arrivals.insert(at, transfer.arrival.0);
        self.slots.insert(at, slot);
    }

    fn remove(&mut self, transfer: &Active) {
        let at = self.place(TransferId(transfer.task.0));
        self.ids.remove(at);
        self.classes.remove(at);
        self.arrivals.remove(at);
        self.slots.remove(at);
    }

    fn place(&self, id: TransferId) -> usize {
        self.ids.partition_point(|&other| other < id)
    }
}

/// All active transfers. The columns are kept up only while arbitrations need them: local loads never do.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveSet {
    /// The slots in use, in no particular order.
    slots: Vec<u32>,
    /// Per slot: its position in `slots`.
    places: Vec<u32>,
    columns: ActiveColumns,
    ready: bool,
    unused: u32,
}

impl ActiveSet {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn insert(&mut self, slot: u32, active: &[Active]) {
        if self.places.len() <= slot as usize {
            self.places.resize(slot as usize + 1, 0);
        }
        self.places[slot as usize] = self.slots.len() as u32;
        self.slots.push(slot);
        if self.ready {
            self.columns.insert(slot, &active[slot as usize]);
        }
    }

    pub(super) fn remove(&mut self, slot: u32, active: &[Active]) {
        let place = self.places[slot as usize] as usize;
        self.slots.swap_remove(place);
        if let Some(&moved) = self.slots.get(place) {
            self.places[moved as usize] = place as u32;
        }
        if self.ready {
            self.columns.remove(&active[slot as usize]);
        }
    }

    /// Makes the columns valid; from now on they are kept up.
    pub(super) fn make_ready(&mut self, active: &[Active]) {
        self.unused = 0;
        if !self.ready {
            let mut slots = self.slots.clone();
            self.columns.show(&mut slots, active);
            self.ready = true;
        }
    }

    /// An arbitration did without the columns.
    pub(super) fn not_needed(&mut self) {
        self.unused += 1;
        if self.unused > PATIENCE {
            self.ready = false;
        }
    }

    /// The columns; valid after [`Self::make_ready`].
    pub(super) fn columns(&self) -> &ActiveColumns {
        debug_assert!(self.ready);
        &self.columns
    }
}
