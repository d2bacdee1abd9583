//! The tasks of a collective.
//!
//! ```text
//! 3.0-1 (bytes of round 3 from rank 0 to rank 1) ──► a3.0-1 (rank 1 adds them, where that takes time) ──► rounds after
//! .c2: of channel 2; .k5: chunk 5; .t1: of the second tree; j1.0: rank 0 has ended phase 1
//! ```
//!
//! A channel of a rank sends one message at a time, in the order of rounds; with trees one of each tree and lane. A
//! message waits for all that its sender has got in the rounds before: since the channel keeps the order, it need name
//! only what came after its last message.

use std::fmt::Write as _;

use weir_plugin_api::{EngineScope, NodeId, Plan, PlannedTask, PlannedWork, Queue, Wait};

use super::params::Algorithm;
use super::resolve::{Collective, Group};
use super::steps::{LANES, Send, Steps};

/// Adds the tasks of a collective.
pub(super) fn plan(collective: &Collective, plan: &mut Plan) {
    let ranks = collective.ranks.len();
    let mut tasks = Tasks { collective, plan, name: String::new(), first_round: 0, begun: vec![None; ranks] };
    for (number, phase) in collective.phases.iter().enumerate() {
        let mut got = vec![Vec::new(); ranks];
        for group in phase {
            (0..collective.channels).for_each(|channel| tasks.channel(group, channel, &mut got));
        }
        // Groups of a phase have equally many ranks.
        tasks.first_round += phase.first().map_or(0, |group| group.steps.rounds());
        if number + 1 < collective.phases.len() {
            tasks.join(number, got);
        }
    }
}

struct Tasks<'a> {
    collective: &'a Collective,
    plan: &'a mut Plan,
    name: String,
    /// Rounds of the phases before.
    first_round: u64,
    /// Per rank: the end of its phase before.
    begun: Vec<Option<u32>>,
}

/// What a rank has got of a chunk of a tree.
#[derive(Clone, Default)]
struct Got {
    tasks: Vec<Wait>,
    /// Whether a message has waited for them.
    is_sent: bool,
}

impl Got {
    fn add(&mut self, task: u32) {
        if self.is_sent {
            self.tasks.clear();
            self.is_sent = false;
        }
        self.tasks.push(Wait::end(task));
    }
}

/// A channel of a group.
struct Channel {
    /// Its ranks, by position.
    ranks: Vec<u32>,
    number: u64,
    steps: Steps,
    chunks: u64,
    chunk: u64,
    /// By position, then tree and lane.
    senders: Vec<Option<u32>>,
    /// By position.
    adders: Vec<Option<u32>>,
    /// By position, tree, chunk.
    got: Vec<Got>,
}

impl Channel {
    fn place(&self, position: u32, tree: u8, chunk: u64) -> usize {
        (position as usize * self.steps.trees() + tree as usize) * self.chunks as usize + chunk as usize
    }
}

impl Tasks<'_> {
    fn channel(&mut self, group: &Group, number: u64, got: &mut [Vec<Wait>]) {
        let steps = self.collective.of_channel(&group.steps, number);
        let ((chunks, chunk), n, ranks) =
            (self.collective.chunks(&steps), group.ranks.len(), group.order(number).to_vec());
        let (senders, adders) = (vec![None; steps.trees() * LANES * n], vec![None; n]);
        let of_rank = steps.trees() * chunks as usize;
        let places = vec![Got::default(); n * of_rank];
        let mut channel = Channel { ranks, number, steps, chunks, chunk, senders, adders, got: places };
        for (position, &rank) in group.order(number).iter().enumerate() {
            if let Some(begun) = self.begun[rank as usize] {
                let places = position * of_rank..(position + 1) * of_rank;
                channel.got[places].iter_mut().for_each(|got| got.add(begun));
            }
        }
        self.rounds(&mut channel, got);
    }

    fn rounds(&mut self, channel: &mut Channel, got: &mut [Vec<Wait>]) {
        let (rounds, chunks) = (channel.steps.rounds(), channel.chunks);
        let mut sends = Vec::new();
        if channel.steps.is_chunk_by_chunk() {
            let mut of_round = vec![Vec::new(); rounds as usize];
            (0..rounds).zip(&mut of_round).for_each(|(round, sends)| channel.steps.sends(round, sends));
            for chunk in 0..chunks {
                (0..rounds)
                    .zip(&of_round)
                    .for_each(|(round, sends)| self.round(channel, round, sends, chunk..chunk + 1, got));
            }
            return;
        }
        for round in 0..rounds {
            if channel.steps.waits_for_all(round) {
                self.wait_for_all(channel, round);
            }
            sends.clear();
            channel.steps.sends(round, &mut sends);
            self.round(channel, round, &sends, 0..chunks, got);
        }
    }

    /// The messages of a round; what they bring counts from the next one on.
    fn round(
        &mut self,
        channel: &mut Channel,
        round: u64,
        sends: &[Send],
        chunks: std::ops::Range<u64>,
        got: &mut [Vec<Wait>],
    ) {
        let is_last = self.collective.phases.len() == 1;
        let mut brought = Vec::with_capacity(sends.len() * (chunks.end - chunks.start) as usize);
        for send in sends {
            for chunk in chunks.clone() {
                let (sent, has) = self.message(channel, round, send, chunk);
                brought.push((channel.place(send.to, send.tree, chunk), has));
                if !is_last {
                    for (position, task) in [(send.from, sent), (send.to, has)] {
                        got[channel.ranks[position as usize] as usize].push(Wait::end(task));
                    }
                }
            }
        }
        brought.into_iter().for_each(|(place, task)| channel.got[place].add(task));
    }

    /// A chunk of a message, and its adding; returns the tasks at whose ends it is sent, and the receiver has it.
    fn message(&mut self, channel: &mut Channel, round: u64, send: &Send, chunk: u64) -> (u32, u32) {
        let collective = self.collective;
        let bytes = send.bytes.saturating_sub(chunk * channel.chunk).min(channel.chunk.max(1));
        let bytes = if channel.chunks == 1 { send.bytes } else { bytes };
        let [from, to] = [send.from, send.to].map(|position| channel.ranks[position as usize]);
        let node = |rank: u32| NodeId(collective.ranks[rank as usize]);
        let (from_node, to_node) = (node(from), node(to));
        let work = PlannedWork::Carries {
            from: from_node,
            to: to_node,
            bytes: collective.carried(bytes),
            limit: f64::INFINITY,
        };
        let sender = self.sender(channel, send);
        self.write_name("", channel, round, send, chunk);
        let place = channel.place(send.from, send.tree, chunk);
        channel.got[place].is_sent = true;
        let task = PlannedTask::new(&self.name, &channel.got[place].tasks, work).paced(0, collective.lead, 0.0);
        let task = self.plan.task(&PlannedTask { engine: sender, queue: Queue::Issued, ..task });
        if !send.adds || collective.per_byte_added == 0.0 {
            return (task, task);
        }
        let adder = self.adder(channel, send.to);
        self.write_name("a", channel, round, send, chunk);
        let work = PlannedWork::Lasts(bytes as f64 * collective.per_byte_added);
        let waits = [Wait::end(task)];
        (task, self.plan.task(&PlannedTask::new(&self.name, &waits, work).on(adder, Queue::Ready)))
    }

    /// The engine of a sender; none where all messages go at once.
    fn sender(&mut self, channel: &mut Channel, send: &Send) -> Option<u32> {
        if channel.steps.algorithm == Algorithm::Direct {
            return None;
        }
        let lanes = channel.steps.trees() * LANES;
        let lane = usize::from(send.tree) * LANES + usize::from(send.lane);
        let place = send.from as usize * lanes + lane;
        let (rank, number, first) = (channel.ranks[send.from as usize], channel.number, self.first_round);
        let name = || format!("send{first}.{rank}.{number}.{lane}");
        Some(*channel.senders[place].get_or_insert_with(|| self.plan.engine(name(), 1, EngineScope::Operation)))
    }

    fn adder(&mut self, channel: &mut Channel, position: u32) -> u32 {
        let (rank, number, first) = (channel.ranks[position as usize], channel.number, self.first_round);
        let name = || format!("add{first}.{rank}.{number}");
        *channel.adders[position as usize].get_or_insert_with(|| self.plan.engine(name(), 1, EngineScope::Operation))
    }

    fn write_name(&mut self, letter: &str, channel: &Channel, round: u64, send: &Send, chunk: u64) {
        let name = &mut self.name;
        let [from, to] = [send.from, send.to].map(|position| channel.ranks[position as usize]);
        name.clear();
        // Writing to a String cannot fail.
        let _ = write!(name, "{letter}{}.{from}-{to}", self.first_round + round);
        if send.tree > 0 {
            let _ = write!(name, ".t{}", send.tree);
        }
        if self.collective.channels > 1 {
            let _ = write!(name, ".c{}", channel.number);
        }
        if channel.chunks > 1 {
            let _ = write!(name, ".k{chunk}");
        }
    }

    fn wait_for_all(&mut self, channel: &mut Channel, round: u64) {
        let waits: Vec<Wait> = channel.got.iter().flat_map(|got| &got.tasks).copied().collect();
        let name = format!("all{}.{}.{}", self.first_round + round, channel.ranks[0], channel.number);
        let all = self.plan.task(&PlannedTask::new(&name, &waits, PlannedWork::Nothing));
        channel.got.iter_mut().for_each(|got| *got = Got { tasks: vec![Wait::end(all)], is_sent: false });
    }

    /// Each rank begins the next phase when it has all of this one.
    fn join(&mut self, phase: usize, got: Vec<Vec<Wait>>) {
        for (rank, mut waits) in got.into_iter().enumerate() {
            waits.extend(self.begun[rank].map(Wait::end));
            let name = format!("j{phase}.{rank}");
            let join = PlannedTask::new(&name, &waits, PlannedWork::Nothing);
            self.begun[rank] = (!waits.is_empty()).then(|| self.plan.task(&join));
        }
    }
}
