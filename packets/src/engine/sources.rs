//! Where transfers start: an engine for each, or one queue in which their packets meet.

use std::collections::VecDeque;

use super::events::Event;
use super::grants::Asked;
use super::{Engine, HeldCause, NONE};
use crate::arbiter::draw;

/// Which transfer of a device has the next packet in its queue (packets.md, section 7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interleave {
    /// One after the other.
    RoundRobin,
    /// Any, with equal probability; numbers of [`draw`].
    Random {
        /// Of the sequence.
        seed: u64,
    },
}

/// The transfers that start at a node.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Per engine: its transfer. With one queue: the transfer of the packet at its head alone.
    pub(super) engines: Vec<u32>,
    free: Vec<u32>,
    most: u32,
    queue: Option<SharedQueue>,
}

/// Transfers whose packets meet in one queue.
#[derive(Clone, Debug)]
struct SharedQueue {
    how: Interleave,
    waiting: VecDeque<u32>,
    drawn: u64,
}

impl Source {
    pub(super) fn new(most: u32) -> Self {
        Self { engines: Vec::new(), free: Vec::new(), most, queue: None }
    }

    pub(super) fn interleave(&mut self, how: Interleave) {
        self.queue = Some(SharedQueue { how, waiting: VecDeque::new(), drawn: 0 });
        self.engines = vec![NONE];
    }

    /// Whether the packets of all of its transfers meet in one queue.
    pub(super) fn is_queue(&self) -> bool {
        self.queue.is_some()
    }

    /// A free engine for a transfer.
    pub(super) fn begin(&mut self, transfer: u32) -> Option<u32> {
        if let Some(queue) = &mut self.queue {
            queue.waiting.push_back(transfer);
            return Some(0);
        }
        let engine = match self.free.pop() {
            Some(engine) => engine,
            None if self.engines.len() < self.most as usize => {
                self.engines.push(NONE);
                self.engines.len() as u32 - 1
            }
            None => return None,
        };
        self.engines[engine as usize] = transfer;
        Some(engine)
    }

    /// Appends whose turn it is. Returns false where that is drawn.
    pub(super) fn state(&self, to: &mut Vec<u64>) -> bool {
        let Some(queue) = &self.queue else { return true };
        to.push(u64::from(self.engines[0]));
        to.extend(queue.waiting.iter().map(|&waiting| u64::from(waiting)));
        queue.how == Interleave::RoundRobin || queue.waiting.len() < 2
    }

    /// The transfer has no more packets.
    pub(super) fn end(&mut self, engine: u32, transfer: u32) {
        match &mut self.queue {
            Some(queue) => queue.waiting.retain(|&waiting| waiting != transfer),
            None => {
                self.engines[engine as usize] = NONE;
                // The lowest first, so that engines have the same numbers whatever ended before.
                let at = self.free.partition_point(|&free| free > engine);
                self.free.insert(at, engine);
            }
        }
    }
}

impl SharedQueue {
    /// A packet of a transfer has left: those that wait are before its next one.
    fn left(&mut self, transfer: u32) {
        if self.how == Interleave::RoundRobin && self.waiting.front() == Some(&transfer) {
            self.waiting.rotate_left(1);
        }
    }

    /// Whose packet comes to the head of the queue.
    fn draw(&mut self, node: u32) -> Option<u32> {
        match self.how {
            Interleave::RoundRobin => self.waiting.front().copied(),
            // No number is drawn, so that a set that is moved on need not know how many were.
            Interleave::Random { .. } if self.waiting.len() < 2 => self.waiting.front().copied(),
            Interleave::Random { seed } => {
                let at = draw(seed, u64::from(node), self.drawn, self.waiting.len() as u64);
                self.drawn += 1;
                self.waiting.get(at as usize).copied()
            }
        }
    }
}

impl Engine {
    /// A transfer has a packet to send since `from`, or from when its limit allows it.
    pub(super) fn source_ready(&mut self, now: u64, from: u64, node: u32, id: u32) {
        if self.sources[node as usize].queue.is_some() {
            // Who begins in the same instant is drawn from, too.
            self.unfilled.push(node);
            return;
        }
        let transfer = self.transfers.get_mut(id).expect("a transfer under way");
        if transfer.read.as_ref().is_some_and(|asked| asked.pending == 0) {
            return self.nothing_asked(now, id);
        }
        if transfer.granted - transfer.come >= transfer.window {
            transfer.shut = Some(self.ports[transfer.first as usize].own_end(now, id));
            // A window holds up packets that are ready.
            transfer.ready = from;
            return;
        }
        // A packet that its limit allows earlier than its engine gets to it counts as ready since then.
        let due = transfer.due();
        // Nor is one that has not been asked for.
        let due = if transfer.read.is_some() { due.max(now) } else { due };
        let ready = if transfer.interval == 0 { from } else { due };
        transfer.ready = ready;
        if ready > now {
            let since = self.ports[transfer.first as usize].own_end(now, id);
            self.hold(since, ready, id, HeldCause::Limit);
            self.events.push(ready, Event::Ready(id));
        } else {
            self.ask_from_source(now, id);
        }
    }

    /// Fills the queues of devices at which transfers have begun.
    pub(super) fn fill_queues(&mut self, now: u64) {
        while let Some(node) = self.unfilled.pop() {
            self.fill(now, node);
        }
    }

    /// Draws the packet at the head of a device's queue, where that is empty.
    fn fill(&mut self, now: u64, node: u32) {
        let source = &mut self.sources[node as usize];
        if source.engines[0] != NONE {
            return;
        }
        let Some(id) = source.queue.as_mut().and_then(|queue| queue.draw(node)) else { return };
        source.engines[0] = id;
        self.transfer_mut(id).ready = now;
        self.ask_from_source(now, id);
    }

    /// The packet of a transfer at an engine has been granted: its next one, or the next one of another transfer.
    pub(super) fn source_granted(&mut self, now: u64, node: u32, asked: &Asked) {
        let (id, is_last) = (asked.transfer(), asked.is_last);
        let source = &mut self.sources[node as usize];
        if is_last {
            source.end(asked.from, id);
        }
        if let Some(queue) = &mut source.queue {
            queue.left(id);
            source.engines[0] = NONE;
            self.fill(now, node);
        } else if !is_last {
            self.source_ready(now, now, node, id);
        }
    }
}
