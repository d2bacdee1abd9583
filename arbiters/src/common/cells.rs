//! Cells: who crosses a link while another one holds them back; members of classes, or single classes.
//!
//! A link reaches through its cells what its share changes elsewhere (`outs`), and what it may claim (`ins`), each without
//! looking at members.

use rustc_hash::FxHashMap;
use weir_plugin_api::NO_ID as NONE;

/// A member on one of its links: in the cell there, or where that link itself holds it back in a list of the policy's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) link: u32,
    /// The bundle or the class.
    pub(crate) member: u32,
    pub(crate) cell: u32,
    pub(crate) next: u32,
    pub(crate) before: u32,
}

impl Hop {
    pub(crate) fn new(link: u32, member: u32) -> Self {
        Self { link, member, cell: NONE, next: NONE, before: NONE }
    }
}

/// The members that cross link `on` and are held back by another link, `by`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) on: u32,
    pub(crate) by: u32,
    pub(crate) head: u32,
    /// Positions in `ins` of `on` and in `outs` of `by`.
    place_in: u32,
    pub(crate) place_out: u32,
    /// Whether it is in `cell_of`.
    is_listed: bool,
}

/// A cell in the list of the link that it is on, with who holds its members back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct In {
    pub(crate) by: u32,
    pub(crate) cell: u32,
}

/// A cell in the list of the link that holds its members back: where it is, and their weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    pub(crate) on: u32,
    pub(crate) cell: u32,
    pub(crate) weight: u64,
}

/// The cells of a link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    pub(crate) ins: Vec<In>,
    pub(crate) outs: Vec<Out>,
}

/// All cells, and the hops in them.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    pub(crate) hops: Vec<Hop>,
    all: Vec<Cell>,
    links: Vec<Lists>,
    /// (on, by) → cell, for cells that were not among the first few on their link; for look-up only.
    cell_of: FxHashMap<(u32, u32), u32>,
    free: Vec<u32>,
}

/// Cells of a link that are looked through one by one before a look at the table of the others.
const FEW: usize = 8;

impl Cells {
    /// Makes room for one more link.
    pub(crate) fn add_link(&mut self) {
        self.links.push(Lists::default());
    }

    #[inline]
    pub(crate) fn of(&self, link: u32) -> &Lists {
        &self.links[link as usize]
    }

    #[inline]
    pub(crate) fn of_mut(&mut self, link: u32) -> &mut Lists {
        &mut self.links[link as usize]
    }

    #[inline]
    pub(crate) fn at(&self, cell: u32) -> &Cell {
        &self.all[cell as usize]
    }

    /// The weight of a cell.
    #[inline]
    pub(crate) fn weight(&self, cell: u32) -> u64 {
        let Cell { by, place_out, .. } = self.all[cell as usize];
        self.links[by as usize].outs[place_out as usize].weight
    }

    /// Changes the weight of the cell that a hop is in.
    #[inline]
    pub(crate) fn change_weight(&mut self, hop: usize, change: i64) {
        let Cell { by, place_out, .. } = self.all[self.hops[hop].cell as usize];
        let out = &mut self.links[by as usize].outs[place_out as usize];
        out.weight = out.weight.wrapping_add_signed(change);
    }

    /// The members of a cell.
    pub(crate) fn members(&self, cell: u32) -> impl Iterator<Item = u32> + '_ {
        let mut hop = self.all[cell as usize].head;
        std::iter::from_fn(move || {
            let record = self.hops.get(hop as usize)?;
            hop = record.next;
            Some(record.member)
        })
    }

    /// Puts a hop into the cell (its link, `by`).
    pub(crate) fn join(&mut self, hop: usize, by: u32, weight: u64) {
        let on = self.hops[hop].link;
        let index = self.find_cell(on, by).unwrap_or_else(|| self.add_cell(on, by));
        self.enter_cell(hop, index, weight);
    }

    fn enter_cell(&mut self, hop: usize, index: u32, weight: u64) {
        let cell = &mut self.all[index as usize];
        self.links[cell.by as usize].outs[cell.place_out as usize].weight += weight;
        let next = std::mem::replace(&mut cell.head, hop as u32);
        let h = &mut self.hops[hop];
        (h.cell, h.next, h.before) = (index, next, NONE);
        if next != NONE {
            self.hops[next as usize].before = hop as u32;
        }
    }

    /// Puts a hop into the cell (its link, `by`) instead of the one it is in. A cell that it had for itself goes along.
    pub(crate) fn change(&mut self, hop: usize, by: u32, weight: u64) {
        let Hop { link: on, cell, next, before, .. } = self.hops[hop];
        let found = self.find_cell(on, by);
        if found.is_none() && next == NONE && before == NONE && !self.all[cell as usize].is_listed {
            self.pass_cell(cell, by, weight);
            return;
        }
        self.leave(hop, weight);
        let index = found.unwrap_or_else(|| self.add_cell(on, by));
        self.enter_cell(hop, index, weight);
    }

    /// Lets another link hold back what is in a cell.
    fn pass_cell(&mut self, index: u32, to: u32, weight: u64) {
        let Cell { on, by, place_in, place_out, .. } = self.all[index as usize];
        self.leave_out(by, place_out);
        self.links[on as usize].ins[place_in as usize].by = to;
        let list = &mut self.links[to as usize].outs;
        let cell = &mut self.all[index as usize];
        (cell.by, cell.place_out) = (to, list.len() as u32);
        list.push(Out { on, cell: index, weight });
    }

    /// Takes a cell off the list of the link that holds its members back.
    fn leave_out(&mut self, by: u32, place: u32) {
        let list = &mut self.links[by as usize].outs;
        list.swap_remove(place as usize);
        if let Some(moved) = list.get(place as usize) {
            self.all[moved.cell as usize].place_out = place;
        }
    }

    /// Takes a hop out of its cell; the last one takes the cell with it.
    pub(crate) fn leave(&mut self, hop: usize, weight: u64) {
        let h = &mut self.hops[hop];
        let (index, next, before) = (h.cell, h.next, h.before);
        h.cell = NONE;
        if next != NONE {
            self.hops[next as usize].before = before;
        }
        let cell = &mut self.all[index as usize];
        self.links[cell.by as usize].outs[cell.place_out as usize].weight -= weight;
        if before != NONE {
            self.hops[before as usize].next = next;
            return;
        }
        cell.head = next;
        if next == NONE {
            self.remove_cell(index);
        }
    }

    #[inline]
    fn find_cell(&self, on: u32, by: u32) -> Option<u32> {
        let all = self.links[on as usize].ins.as_slice();
        match all.iter().take(FEW).find(|cell| cell.by == by) {
            None if all.len() > FEW => self.cell_of.get(&(on, by)).copied(),
            found => found.map(|cell| cell.cell),
        }
    }

    fn add_cell(&mut self, on: u32, by: u32) -> u32 {
        let place_in = self.links[on as usize].ins.len() as u32;
        let place_out = self.links[by as usize].outs.len() as u32;
        let is_listed = place_in as usize >= FEW;
        let cell = Cell { on, by, head: NONE, place_in, place_out, is_listed };
        let index = if let Some(index) = self.free.pop() {
            self.all[index as usize] = cell;
            index
        } else {
            self.all.push(cell);
            (self.all.len() - 1) as u32
        };
        self.links[on as usize].ins.push(In { by, cell: index });
        self.links[by as usize].outs.push(Out { on, cell: index, weight: 0 });
        if is_listed {
            self.cell_of.insert((on, by), index);
        }
        index
    }

    fn remove_cell(&mut self, index: u32) {
        let Cell { on, by, place_in, place_out, is_listed, .. } = self.all[index as usize];
        let list = &mut self.links[on as usize].ins;
        list.swap_remove(place_in as usize);
        if let Some(moved) = list.get(place_in as usize) {
            self.all[moved.cell as usize].place_in = place_in;
        }
        self.leave_out(by, place_out);
        if is_listed {
            self.cell_of.remove(&(on, by));
        }
        self.free.push(index);
    }
}
