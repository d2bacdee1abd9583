//! Who shares links with whom: the set that a change can reach.

use weir_plugin_api::LinkId;

/// Longest pause, in arbitrations, after searches that found nearly everything connected; *assumed*.
const LONGEST_PAUSE: u32 = 64;

/// The transfers on one link.
#[derive(Clone, Debug, Default)]
struct Members {
    /// (slot, hop of its route).
    on: Vec<(u32, u32)>,
    mark: u32,
}

/// Per link the active transfers on it, and the links touched since the last arbitration.
pub(crate) struct Neighbours {
    links: Vec<Members>,
    /// Per slot and hop: the position in `Members::on` of that link. Rows of `stride`.
    positions: Vec<u32>,
    stride: usize,
    touched: Vec<LinkId>,
    slot_marks: Vec<u32>,
    mark: u32,
    queue: Vec<LinkId>,
    found: Vec<u32>,
    pause: u32,
    last_pause: u32,
}

impl Neighbours {
    pub(crate) fn new(links: usize) -> Self {
        Self {
            links: vec![Members::default(); links],
            positions: Vec::new(),
            stride: 8,
            touched: Vec::new(),
            slot_marks: Vec::new(),
            mark: 0,
            queue: Vec::new(),
            found: Vec::new(),
            pause: 0,
            last_pause: 0,
        }
    }

    /// Puts a transfer on the links of its route.
    pub(crate) fn attach(&mut self, slot: u32, route: &[LinkId]) {
        if route.len() > self.stride {
            self.widen(route.len());
        }
        let row = slot as usize * self.stride;
        if self.positions.len() < row + self.stride {
            self.positions.resize(row + self.stride, 0);
        }
        for (hop, &link) in route.iter().enumerate() {
            let on = &mut self.links[link.index()].on;
            self.positions[row + hop] = on.len() as u32;
            on.push((slot, hop as u32));
        }
        self.touched.extend_from_slice(route);
    }

    /// Takes a transfer off the links of its route.
    pub(crate) fn detach(&mut self, slot: u32, route: &[LinkId]) {
        let row = slot as usize * self.stride;
        for (hop, &link) in route.iter().enumerate() {
            let at = self.positions[row + hop] as usize;
            let on = &mut self.links[link.index()].on;
            on.swap_remove(at);
            if let Some(&(moved, moved_hop)) = on.get(at) {
                self.positions[moved as usize * self.stride + moved_hop as usize] = at as u32;
            }
        }
        self.touched.extend_from_slice(route);
    }

    /// The slots of the transfers on a link.
    pub(crate) fn on(&self, link: LinkId) -> impl Iterator<Item = u32> + '_ {
        self.links[link.index()].on.iter().map(|&(slot, _)| slot)
    }

    /// What a link carries has changed.
    pub(crate) fn touch(&mut self, link: LinkId) {
        self.touched.push(link);
    }

    /// Links whose transfers changed since [`Self::forget_touched`].
    pub(crate) fn touched(&self) -> &[LinkId] {
        &self.touched
    }

    pub(crate) fn forget_touched(&mut self) {
        self.touched.clear();
    }

    /// The slots connected to a touched link through shared links, in no particular order; `None` where that is more
    /// than half of the `active` ones (then all are columns: the answer has the same bits). After such a search the next
    /// ones are skipped, for longer each time.
    pub(crate) fn connected<'r>(
        &mut self,
        active: usize,
        slots: usize,
        route_of: impl Fn(u32) -> &'r [LinkId],
    ) -> Option<&mut [u32]> {
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        self.begin(slots);
        let most = active / 2;
        for i in 0..self.touched.len() {
            self.enqueue(self.touched[i]);
        }
        while let Some(link) = self.queue.pop() {
            for i in 0..self.links[link.index()].on.len() {
                let slot = self.links[link.index()].on[i].0;
                if self.slot_marks[slot as usize] == self.mark {
                    continue;
                }
                self.slot_marks[slot as usize] = self.mark;
                self.found.push(slot);
                for &next in route_of(slot) {
                    self.enqueue(next);
                }
            }
            if self.found.len() > most && active > 8 {
                self.queue.clear();
                self.last_pause = (2 * self.last_pause + 1).min(LONGEST_PAUSE);
                self.pause = self.last_pause;
                return None;
            }
        }
        self.last_pause = 0;
        Some(&mut self.found)
    }

    #[inline]
    fn enqueue(&mut self, link: LinkId) {
        let members = &mut self.links[link.index()];
        if members.mark != self.mark {
            members.mark = self.mark;
            self.queue.push(link);
        }
    }

    fn begin(&mut self, slots: usize) {
        self.found.clear();
        self.slot_marks.resize(slots.max(self.slot_marks.len()), 0);
        self.mark = self.mark.wrapping_add(1);
        if self.mark == 0 {
            self.links.iter_mut().for_each(|l| l.mark = 0);
            self.slot_marks.fill(0);
            self.mark = 1;
        }
    }

    /// Makes room for routes of `hops` links.
    fn widen(&mut self, hops: usize) {
        let wider = hops.next_power_of_two();
        let rows = self.positions.len() / self.stride;
        let mut positions = vec![0; rows * wider];
        for row in 0..rows {
            let old = &self.positions[row * self.stride..(row + 1) * self.stride];
            positions[row * wider..row * wider + self.stride].copy_from_slice(old);
        }
        (self.positions, self.stride) = (positions, wider);
    }
}
