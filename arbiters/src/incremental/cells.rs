//! Cells: which bundles cross a link while another one holds them back.
//!
//! A link reaches through its cells what its share changes elsewhere (`cells_out`), and what it may claim
//! (`cells_in`), each without looking at bundles.

use super::NONE;
use super::state::{Cell, Hop, In, Out, Shares};

/// Cells of a link that are looked through one by one before a look at the table of the others.
const FEW: usize = 8;

impl Shares {
    /// Puts a hop into the cell (its link, `by`).
    pub(super) fn join_cell(&mut self, hop: usize, by: u32, weight: u64) {
        let on = self.hops[hop].link;
        let index = self.find_cell(on, by).unwrap_or_else(|| self.add_cell(on, by));
        self.enter_cell(hop, index, weight);
    }

    fn enter_cell(&mut self, hop: usize, index: u32, weight: u64) {
        let cell = &mut self.cells[index as usize];
        self.links[cell.by as usize].cells_out[cell.place_out as usize].weight += weight;
        let next = std::mem::replace(&mut cell.head, hop as u32);
        let h = &mut self.hops[hop];
        (h.cell, h.next, h.before) = (index, next, NONE);
        if next != NONE {
            self.hops[next as usize].before = hop as u32;
        }
    }

    /// Puts a hop into the cell (its link, `by`) instead of the one it is in. A cell that it had for itself goes along.
    pub(super) fn change_cell(&mut self, hop: usize, by: u32, weight: u64) {
        let Hop { link: on, cell, next, before, .. } = self.hops[hop];
        let found = self.find_cell(on, by);
        if found.is_none() && next == NONE && before == NONE && !self.cells[cell as usize].is_listed {
            self.pass_cell(cell, by, weight);
            return;
        }
        self.leave_cell(hop, weight);
        let index = found.unwrap_or_else(|| self.add_cell(on, by));
        self.enter_cell(hop, index, weight);
    }

    /// Lets another link hold back what is in a cell.
    fn pass_cell(&mut self, index: u32, to: u32, weight: u64) {
        let Cell { on, by, place_in, place_out, .. } = self.cells[index as usize];
        self.leave_out(by, place_out);
        self.links[on as usize].cells_in[place_in as usize].by = to;
        let list = &mut self.links[to as usize].cells_out;
        let cell = &mut self.cells[index as usize];
        (cell.by, cell.place_out) = (to, list.len() as u32);
        list.push(Out { on, cell: index, weight });
    }

    /// Takes a cell off the list of the link that holds its bundles back.
    fn leave_out(&mut self, by: u32, place: u32) {
        let list = &mut self.links[by as usize].cells_out;
        list.swap_remove(place as usize);
        if let Some(moved) = list.get(place as usize) {
            self.cells[moved.cell as usize].place_out = place;
        }
    }

    /// Takes a hop out of its cell; the last one takes the cell with it.
    pub(super) fn leave_cell(&mut self, hop: usize, weight: u64) {
        let h = &mut self.hops[hop];
        let (index, next, before) = (h.cell, h.next, h.before);
        h.cell = NONE;
        if next != NONE {
            self.hops[next as usize].before = before;
        }
        let cell = &mut self.cells[index as usize];
        self.links[cell.by as usize].cells_out[cell.place_out as usize].weight -= weight;
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
        let all = self.links[on as usize].cells_in.as_slice();
        match all.iter().take(FEW).find(|cell| cell.by == by) {
            None if all.len() > FEW => self.cell_of.get(&(on, by)).copied(),
            found => found.map(|cell| cell.cell),
        }
    }

    fn add_cell(&mut self, on: u32, by: u32) -> u32 {
        let place_in = self.links[on as usize].cells_in.len() as u32;
        let place_out = self.links[by as usize].cells_out.len() as u32;
        let is_listed = place_in as usize >= FEW;
        let cell = Cell { on, by, head: NONE, place_in, place_out, is_listed };
        let index = if let Some(index) = self.free_cells.pop() {
            self.cells[index as usize] = cell;
            index
        } else {
            self.cells.push(cell);
            (self.cells.len() - 1) as u32
        };
        self.links[on as usize].cells_in.push(In { by, cell: index });
        self.links[by as usize].cells_out.push(Out { on, cell: index, weight: 0 });
        if is_listed {
            self.cell_of.insert((on, by), index);
        }
        index
    }

    fn remove_cell(&mut self, index: u32) {
        let Cell { on, by, place_in, place_out, is_listed, .. } = self.cells[index as usize];
        let list = &mut self.links[on as usize].cells_in;
        list.swap_remove(place_in as usize);
        if let Some(moved) = list.get(place_in as usize) {
            self.cells[moved.cell as usize].place_in = place_in;
        }
        self.leave_out(by, place_out);
        if is_listed {
            self.cell_of.remove(&(on, by));
        }
        self.free_cells.push(index);
    }
}
