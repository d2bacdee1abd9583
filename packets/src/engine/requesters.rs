//! Who may ask for an output: the queues of inputs, and the engines of a source.

use super::{Engine, Requester};
use crate::network::{LinkSettings, Network, Queues};

impl Engine {
    /// The queue of a packet that came over `input` and waits for `out`.
    pub(super) fn queue_of(&self, input: u32, channel: u32, out: u32) -> u32 {
        let input = &self.ports[input as usize].wire;
        let place = if input.queues == 1 { 0 } else { self.ports[out as usize].wire.output_place };
        input.first_queue + channel * input.queues + place
    }

    /// Who has a slot at an output.
    pub(super) fn requester(&self, out: u32, slot: u32) -> Requester {
        let wire = &self.ports[out as usize].wire;
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
