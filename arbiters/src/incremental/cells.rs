//! Cells: which bundles cross a link while another one holds them back.
//!
//! A link reaches through its cells what its share changes elsewhere (`cells_out`), and what it may claim
//! (`cells_in`), each without looking at bundles.

use super::NONE;
use super::state::{Cell, Shares};

/// Cells of a link that are looked through one by one before a look at the table of the others.
const FEW: usize = 8;

impl Shares {
    /// Puts a hop into the cell (its link, `by`).
    pub(super) fn join_cell(&mut self, hop: usize, by: u32, weight: u64) {
        let on = self.hops[hop].link;
        let index = self.find_cell(on, by).unwrap_or_else(|| self.add_cell(on, by));
        let cell = &mut self.cells[index as usize];
        cell.weight += weight;
        let next = std::mem::replace(&mut cell.head, hop as u32);
        let h = &mut self.hops[hop];
        (h.cell, h.next, h.before) = (index, next, NONE);
        if next != NONE {
            self.hops[next as usize].before = hop as u32;
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
        cell.weight -= weight;
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
        let mut few = all.iter().take(FEW).copied();
        match few.find(|&cell| self.cells[cell as usize].by == by) {
            None if all.len() > FEW => self.cell_of.get(&(on, by)).copied(),
            found => found,
        }
    }

    fn add_cell(&mut self, on: u32, by: u32) -> u32 {
        let place_in = self.links[on as usize].cells_in.len() as u32;
        let place_out = self.links[by as usize].cells_out.len() as u32;
        let is_listed = place_in as usize >= FEW;
        let cell = Cell { on, by, weight: 0, head: NONE, place_in, place_out, is_listed };
        let index = if let Some(index) = self.free_cells.pop() {
            self.cells[index as usize] = cell;
            index
        } else {
            self.cells.push(cell);
            (self.cells.len() - 1) as u32
        };
        self.links[on as usize].cells_in.push(index);
        self.links[by as usize].cells_out.push(index);
        if is_listed {
            self.cell_of.insert((on, by), index);
        }
        index
    }

    fn remove_cell(&mut self, index: u32) {
        let Cell { on, by, place_in, place_out, is_listed, .. } = self.cells[index as usize];
        let list = &mut self.links[on as usize].cells_in;
        list.swap_remove(place_in as usize);
        if let Some(&moved) = list.get(place_in as usize) {
            self.cells[moved as usize].place_in = place_in;
        }
        let list = &mut self.links[by as usize].cells_out;
        list.swap_remove(place_out as usize);
        if let Some(&moved) = list.get(place_out as usize) {
            self.cells[moved as usize].place_out = place_out;
        }
        if is_listed {
            self.cell_of.remove(&(on, by));
        }
        self.free_cells.push(index);
    }
}
