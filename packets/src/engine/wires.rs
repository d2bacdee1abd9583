//! What every grant reads of a link, beside one another in memory; settings that a run reads rarely stay in the network.

use super::requesters::queues_per_channel;
use super::{NONE, OF_LINK};
use crate::network::{Inputs, LinkSettings, Network, Switching};
use crate::wire::WireRate;

/// A link, as grants need it.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Wire {
    pub(super) latency: u64,
    pub(super) credit_return: u64,
    /// How long its header takes.
    pub(super) header_time: u64,
    /// The last two numbers of bytes, and how long they take: few sizes cross a link.
    recent_times: [u64; 2],
    recent: [u32; 2],
    pub(super) header: u32,
    pub(super) payload: u32,
    /// Largest payload of packets from other ports, where it leads down from a node that splits.
    split: u32,
    to: u32,
    pub(super) from: u32,
    /// Requesters of the link per channel; the first are inputs, the others engines.
    pub(super) stride: u32,
    /// The first word of its mask of requesters, and the one after the last; and its first place among all requesters.
    pub(super) masks: (u32, u32),
    pub(super) first_slot: u32,
    /// Its place among the inputs of the node that it enters, and among the outputs of that which it leaves.
    pub(super) input_place: u32,
    pub(super) output_place: u32,
    /// Queues per channel at its far end, and the first of all.
    pub(super) queues: u32,
    pub(super) first_queue: u32,
    pub(super) is_serial: bool,
    pub(super) is_stored: bool,
    /// Where its inputs are in the list of all, and how many.
    pub(super) first_input: u32,
    pub(super) inputs: u32,
    /// The link that carries DLLPs for its packets; [`NONE`] for none.
    pub(super) dllps_over: u32,
    /// How long one of its DLLPs takes.
    pub(super) dllp_time: u64,
    rate: Box<WireRate>,
}

/// The links, and all inputs of nodes in one list.
pub(super) fn wires(network: &Network) -> (Vec<Wire>, Vec<u32>) {
    let mut inputs = Vec::new();
    let mut first_input = Vec::new();
    for own in &network.inputs {
        first_input.push(inputs.len() as u32);
        inputs.extend_from_slice(own);
    }
    let (mut queues, mut words, mut slots) = (0, 0, 0);
    let wire = |(id, link): (usize, &LinkSettings)| {
        let per_channel = queues_per_channel(network, link);
        let first_queue = queues;
        queues += network.channels * per_channel;
        let stride = network.stride(link.from);
        let first_word = words;
        words += (stride * network.channels).div_ceil(64);
        let first_slot = slots;
        slots += stride * network.channels;
        let node = link.from as usize;
        Wire {
            latency: link.latency,
            credit_return: link.credit_return,
            header_time: link.rate.time(u64::from(link.header)),
            recent_times: [0; 2],
            recent: [0; 2],
            rate: Box::new(link.rate),
            header: link.header,
            dllp_time: link.rate.time(u64::from(link.dllp)),
            dllps_over: network.opposite[id].filter(|&over| network.links[over as usize].dllp > 0).unwrap_or(NONE),
            payload: link.payload,
            split: network.nodes[node].split.filter(|_| link.downwards).unwrap_or(u32::MAX),
            from: link.from,
            to: link.to,
            stride,
            first_input: first_input[node],
            inputs: network.inputs[node].len() as u32,
            input_place: network.input_place[id],
            output_place: network.output_place[id],
            queues: per_channel,
            first_queue,
            masks: (first_word, words),
            first_slot,
            is_serial: link.inputs == Inputs::Serial,
            is_stored: link.switching == Switching::StoreAndForward,
        }
    };
    (network.links.iter().enumerate().map(wire).collect(), inputs)
}

impl Wire {
    /// It has another rate from now on.
    pub(super) fn change(&mut self, link: &LinkSettings) {
        *self.rate = link.rate;
        (self.recent, self.recent_times) = ([0; 2], [0; 2]);
        self.header_time = link.rate.time(u64::from(link.header));
        self.dllp_time = link.rate.time(u64::from(link.dllp));
    }

    /// Picoseconds that `bytes` take.
    #[inline]
    pub(super) fn time(&mut self, bytes: u32) -> u64 {
        if self.recent[0] != bytes {
            self.look_up(bytes);
        }
        self.recent_times[0]
    }

    /// Makes a number of bytes the one of which the time was asked last.
    #[cold]
    fn look_up(&mut self, bytes: u32) {
        self.recent.swap(0, 1);
        self.recent_times.swap(0, 1);
        if self.recent[0] != bytes {
            self.recent[0] = bytes;
            self.recent_times[0] = self.rate.time(u64::from(bytes));
        }
    }

    /// How much of the time that `payload` takes on the link that it comes by must pass before it begins on this one, so that its
    /// tail keeps up: all its pieces together take no longer than what is still to come.
    #[inline]
    pub(super) fn lead(&mut self, takes: u64, node: u32, payload: u32, own: u16) -> u64 {
        let largest = self.piece(node);
        let pieces = if payload <= largest { 1 } else { payload.div_ceil(largest) };
        takes.saturating_sub(self.time(payload + pieces * self.header_of(own)))
    }

    /// Bytes of header of packets with this one of their own, or none.
    #[inline]
    pub(super) fn header_of(&self, own: u16) -> u32 {
        if own == OF_LINK { self.header } else { u32::from(own) }
    }

    /// The channel of a requester, and its place among those of the channel.
    #[inline]
    pub(super) fn channel_and_place(&self, slot: u32) -> (u32, u32) {
        if slot < self.stride { (0, slot) } else { (slot / self.stride, slot % self.stride) }
    }

    /// Largest payload that may leave over it of a packet that came in from `node`.
    #[inline]
    pub(super) fn piece(&self, node: u32) -> u32 {
        if self.to == node { self.payload } else { self.payload.min(self.split) }
    }
}
