//! Who may ask for an output: the queues of inputs, and the engines of a source.

use super::{Engine, Requester};
use crate::network::{LinkSettings, Network, Queues};

impl Engine {
    /// The queue of a packet that came over `input` and waits for `out`.
    pub(super) fn queue_of(&self, input: u32, channel: u32, out: u32) -> u32 {
        let input = &self.wires[input as usize];
        let place = if input.queues == 1 { 0 } else { self.wires[out as usize].output_place };
        input.first_queue + channel * input.queues + place
    }

    /// The number of an input's queue among the requesters of an output.
    pub(super) fn slot_of_input(&self, out: u32, input: u32, channel: u32) -> u32 {
        channel * self.wires[out as usize].stride + self.wires[input as usize].input_place
    }

    /// The number of an engine among them.
    pub(super) fn slot_of_engine(&self, out: u32, engine: u32, channel: u32) -> u32 {
        let wire = &self.wires[out as usize];
        channel * wire.stride + wire.inputs + engine
    }

    /// Who has a slot at an output.
    pub(super) fn requester(&self, out: u32, slot: u32) -> Requester {
        let wire = &self.wires[out as usize];
        let (channel, place) = wire.channel_and_place(slot);
        if place >= wire.inputs {
            return Requester::Engine { node: wire.from, engine: place - wire.inputs };
        }
        let input = self.inputs[(wire.first_input + place) as usize];
        Requester::Queue { queue: self.queue_of(input, channel, out), input }
    }
}

pub(super) fn queues_per_channel(network: &Network, input: &LinkSettings) -> u32 {
    match input.queues {
        Queues::Fifo => 1,
        Queues::Voq => network.outputs[input.to as usize].len().max(1) as u32,
    }
}
