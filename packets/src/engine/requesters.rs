//! Who may ask for an output: the queues of inputs, and the engines of a source.

use super::{Engine, Requester};
use crate::network::{Inputs, LinkSettings, Network, Queues};

impl Engine {
    /// The queue of a packet that came over `input` and waits for `out`.
    pub(super) fn queue_of(&self, input: u32, channel: u32, out: u32) -> u32 {
        let per_channel = queues_per_channel(&self.network, &self.network.links[input as usize]);
        let place = if per_channel == 1 { 0 } else { self.network.output_place[out as usize] };
        self.first_queue[input as usize] + channel * per_channel + place
    }

    /// The number of a queue's input, or of an engine, among the requesters of an output.
    pub(super) fn slot_of_input(&self, input: u32, channel: u32) -> u32 {
        let node = self.network.links[input as usize].to;
        channel * self.network.stride(node) + self.network.input_place[input as usize]
    }

    pub(super) fn slot_of_engine(&self, node: u32, engine: u32, channel: u32) -> u32 {
        channel * self.network.stride(node) + self.network.inputs[node as usize].len() as u32 + engine
    }

    /// Who has a slot at an output.
    pub(super) fn requester(&self, out: u32, slot: u32) -> Requester {
        let node = self.network.links[out as usize].from;
        let inputs = &self.network.inputs[node as usize];
        let stride = self.network.stride(node);
        let (channel, place) = (slot / stride, slot % stride);
        match inputs.get(place as usize) {
            Some(&input) => Requester::Queue(self.queue_of(input, channel, out)),
            None => Requester::Engine { node, engine: place - inputs.len() as u32 },
        }
    }

    pub(super) fn is_serial(&self, input: u32) -> bool {
        self.network.links[input as usize].inputs == Inputs::Serial
    }
}

pub(super) fn queues_per_channel(network: &Network, input: &LinkSettings) -> u32 {
    match input.queues {
        Queues::Fifo => 1,
        Queues::Voq => network.outputs[input.to as usize].len().max(1) as u32,
    }
}
