//! Holds a run of packets against what packets can do, and against the buffers that they cross.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use weir_packets::{LinkSettings, MOST_REQUESTERS, Switching};
use weir_plugin_api::{ClassId, LinkId};
use weir_sim_core::{Census, NetworkError, PacketSettings, Simulation, TaskId, Work};

use super::PacketRun;
use crate::context::{Context, Read};
use crate::source::Span;
use crate::topology::Topology;
use crate::workload::Workload;

/// Hops that are expected of a run at most where none are skipped (packets.md, section 3).
const MOST_WITHOUT_SKIPPING: u128 = 100_000_000_000;

pub(super) struct Check<'c> {
    pub(super) context: &'c mut Context,
    pub(super) run: &'c PacketRun,
    pub(super) topology: &'c Topology,
    pub(super) workload: &'c Workload,
    /// Links whose buffer slows them: no packets that cross one are carried at its whole rate.
    slow: BTreeMap<LinkId, Option<Carried>>,
}

/// What a link carries that its buffer slows.
#[derive(Clone, Copy)]
struct Carried {
    /// Of its rate, below 1.
    share: f64,
    /// Room that would do: headers, 0 where they do not count apart, and bytes.
    enough: (u64, u64),
}

impl<'c> Check<'c> {
    pub(super) fn new(
        context: &'c mut Context,
        run: &'c PacketRun,
        topology: &'c Topology,
        workload: &'c Workload,
    ) -> Self {
        Self { context, run, topology, workload, slow: BTreeMap::new() }
    }

    /// Refuses what packets do not have.
    pub(super) fn of_scenario(&mut self) -> Read<()> {
        let shared = self.topology.first_shared.map(|place| (place, "`shared` of links"));
        let memory = self.topology.written_memory.first().map(|(_, place)| (*place, "`memory` of nodes"));
        let (place, what, help) = if let Some((place, what)) = shared.or(memory) {
            (place, what, "leave it out, or run it with `fidelity: fluid`")
        } else if self.workload.routes.has_branches() {
            let help = "give `routing` one way for each pair, or run it with `fidelity: fluid`";
            (self.run.span, "transfers over several routes at once", help)
        } else {
            return Ok(());
        };
        Err(self.context.error(place, format!("packets know no {what}"), help))
    }

    /// Holds packets against the buffers that they cross, and counts hops.
    pub(super) fn of_plan(&mut self, settings: &PacketSettings) -> Read<()> {
        let workload = self.workload;
        let of_stream = workload.stream.as_ref().map(|stream| Cow::Borrowed(stream.census()));
        let census = of_stream.unwrap_or_else(|| Cow::Owned(Census::of(&workload.tasks)));
        for class in (0..workload.tasks.classes().len()).map(ClassId::from_index) {
            if let Some(most) = census.most_bytes_of(class) {
                self.class(class, most, settings)?;
            }
        }
        self.refuse_paced_queues()?;
        self.refuse_crowded_ports(&census, settings)?;
        if !self.run.skips && self.hops(settings) > MOST_WITHOUT_SKIPPING {
            let message = "with `skip_ahead: false` this is more than 10^11 packets times links";
            return Err(self.context.error(self.run.skips_place, message, "leave `skip_ahead` out, or send less"));
        }
        self.warn_of_small_buffers();
        self.warn_of_single_engines();
        Ok(())
    }

    /// Holds a class, whose largest transfer has `most` bytes, against what its packets cross.
    fn class(&mut self, class: ClassId, most: u64, settings: &PacketSettings) -> Read<()> {
        let (routes, classes) = (&self.workload.routes, self.workload.tasks.classes());
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let (route, is_read) = (routes.links(classes.route(class)), classes.carriage(class).is_read);
        self.fits(settings, route, (most, is_read))?;
        self.note_slow(settings, route, is_read);
        let priority = classes.priority(class);
        if i32::try_from(priority).is_err() {
            let message = format!("packets have priorities from -2^31 to 2^31 - 1, not {priority}");
            let place = self.place_of(class);
            return Err(self.context.error(place, message, "give smaller priorities: their order alone counts"));
        }
        Ok(())
    }

    /// Where the first transfer of a class is written.
    fn place_of(&self, wanted: ClassId) -> Span {
        if let Some(stream) = &self.workload.stream {
            let first = stream.firsts().get(wanted.index());
            return first.and_then(|&first| stream.place(&self.context.sources, first)).unwrap_or(self.run.span);
        }
        let is_wanted = |work: Work| matches!(work, Work::Carries { class, .. } if class == wanted);
        let task = (0..).map(TaskId).zip(self.workload.tasks.tasks()).find(|(_, task)| is_wanted(task.work));
        let place = task.and_then(|(task, _)| Some((task, self.workload.groups.of(task)?)));
        place.map_or(self.run.span, |(task, group)| group.place(task.0 - group.first))
    }

    /// Refuses ports at which more may ask than one serves.
    fn refuse_crowded_ports(&mut self, census: &Census, settings: &PacketSettings) -> Read<()> {
        let (topology, workload) = (self.topology, self.workload);
        let simulation = Simulation { fabric: &topology.fabric, routes: &workload.routes, tasks: &workload.tasks };
        let Err(error) = settings.network(&simulation, census) else { return Ok(()) };
        let NetworkError::Requesters { link, requesters } = error else {
            return Err(self.context.error(self.run.span, error.to_string(), "change `packet` of this link"));
        };
        let link = LinkId(link);
        let name = name_of(topology, link);
        let message =
            format!("{requesters} transfers and links may ask for {name} at once, {MOST_REQUESTERS} is the most");
        let node = topology.fabric.link(link).from;
        let into = topology.fabric.links().iter().filter(|other| other.to == node).count();
        let help = match into.saturating_sub(1) < MOST_REQUESTERS as usize {
            true => "give the devices there fewer `engines`, or run it with `fidelity: fluid`",
            false => "put switches between it and the devices, or run it with `fidelity: fluid`",
        };
        let classes = workload.tasks.classes();
        let crosses = |class: &ClassId| workload.routes.links(classes.route(*class)).contains(&link);
        let first = (0..classes.len()).map(ClassId::from_index).find(crosses);
        let place = first.map_or(self.run.span, |class| self.place_of(class));
        Err(self.context.error(place, message, help))
    }

    /// Refuses limits, windows and reads of transfers that share a queue of their device.
    fn refuse_paced_queues(&mut self) -> Read<()> {
        let (fabric, classes) = (&self.topology.fabric, self.workload.tasks.classes());
        let sources = (0..classes.len()).map(ClassId::from_index).filter_map(|class| {
            let route = self.workload.routes.links(classes.route(class));
            let (first, last) = (route.first()?, route.last()?);
            let is_read = classes.carriage(class).is_read;
            let paced = self.run.window.is_some() || classes.limit(class).is_finite() || is_read;
            let source = fabric.link(*first).from;
            paced.then_some([source, if is_read { fabric.link(*last).to } else { source }])
        });
        let sources: FxHashSet<_> = sources.flatten().collect();
        match self.topology.packets.interleaves.iter().find(|(node, ..)| sources.contains(node)) {
            None => Ok(()),
            Some(&(node, _, place)) => {
                let name = self.topology.names.unique_name(node);
                let message = format!("`{name}` has `interleave`, and transfers with a `limit`, a `window` or `read`");
                let help = "remove one of them: packets of one queue wait for each other";
                Err(self.context.error(place, message, help))
            }
        }
    }

    /// Warns of devices whose transfers are to share a queue, but go one after another.
    fn warn_of_single_engines(&mut self) {
        let is_single = |node| self.topology.engines.send_slots(node) == Some(1);
        let mut single = self.topology.packets.interleaves.iter().filter(|(node, ..)| is_single(*node));
        let Some(&(node, _, place)) = single.next() else { return };
        let others = match single.count() {
            0 => String::new(),
            others => format!(", as {others} more"),
        };
        let name = self.topology.names.unique_name(node);
        let message = format!("`interleave` of `{name}` does nothing: it serves one transfer at a time{others}");
        self.context.warn(place, message, "give it `engines`: the number of transfers that it serves at once");
    }

    /// Whether all buffers of a route hold packets of so many bytes at most.
    fn fits(&mut self, settings: &PacketSettings, route: &[LinkId], (most, is_read): (u32, bool)) -> Read<()> {
        for (link, payload) in payloads(settings, route, most) {
            let own = &settings.links[link.index()];
            let packet = largest(settings, own, payload, is_read);
            if let Some(buffer) = own.buffer.filter(|&buffer| buffer < packet) {
                let name = name_of(self.topology, link);
                let (message, help) = if own.headers.is_some() {
                    let message =
                        format!("`credits` of {name} have {buffer} B of `data`, packets {packet} B of payload");
                    (message, "give `data` room for the payload of a packet")
                } else {
                    let message = format!("the buffer of {name} holds {buffer} B, packets have {packet} B");
                    (message, "give `buffer` room for a packet with its header")
                };
                return Err(self.context.error(self.place_of_buffer(link), message, help));
            }
        }
        Ok(())
    }

    /// Where the size of a link's buffer is written, or of its packets where that is not.
    fn place_of_buffer(&self, link: LinkId) -> Span {
        let given = self.topology.packets.links.iter().find(|(pair, _)| *pair == link.0 / 2);
        let (given, run) = (given.map(|(_, given)| &given.keys), &self.run.keys);
        let buffer = given.and_then(|keys| keys.buffer_place).or(run.buffer_place);
        let size = || given.and_then(|keys| keys.size_place).or(run.size_place);
        buffer.or_else(size).unwrap_or(self.run.span)
    }

    /// Packets times links that they cross.
    fn hops(&self, settings: &PacketSettings) -> u128 {
        let Workload { routes, tasks, stream, .. } = self.workload;
        let of = |class: ClassId, bytes: u64| {
            let route = routes.links(tasks.classes().route(class));
            let is_read = tasks.classes().carriage(class).is_read;
            let packets = |payload: u32| match is_read {
                true => settings.reads.packets(bytes, payload) + bytes.div_ceil(u64::from(settings.reads.request)),
                false => bytes.div_ceil(u64::from(payload)),
            };
            payloads(settings, route, u32::MAX).map(|(_, payload)| u128::from(packets(payload))).sum::<u128>()
        };
        if let Some(stream) = stream {
            // Up to one packet for each transfer less: their sizes are not kept.
            return stream.census().bytes().map(|(class, bytes)| of(class, bytes)).sum();
        }
        let works = tasks.tasks().iter().map(|task| task.work);
        works.map(|work| if let Work::Carries { bytes, class } = work { of(class, bytes) } else { 0 }).sum()
    }

    /// Notes of the links of a route whether buffers slow full packets there. One link may carry packets of several sizes: it
    /// carries what it does of those that it carries best.
    fn note_slow(&mut self, settings: &PacketSettings, route: &[LinkId], is_read: bool) {
        let mut packets = payloads(settings, route, u32::MAX).peekable();
        while let Some((link, payload)) = packets.next() {
            let carried = carried(settings, (link, payload), packets.peek().copied(), is_read);
            let of = self.slow.entry(link).or_insert(carried);
            *of = of.zip(carried).map(|(one, other)| if one.share < other.share { other } else { one });
        }
    }

    /// Warns of the link that its buffer slows most, and says which size would do: in headers, if these count apart, and bytes.
    fn warn_of_small_buffers(&mut self) {
        let slow: Vec<(LinkId, Carried)> =
            self.slow.iter().filter_map(|(link, carried)| Some((*link, (*carried)?))).collect();
        let Some((link, Carried { share, .. })) = slow.iter().min_by(|a, b| a.1.share.total_cmp(&b.1.share)) else {
            return;
        };
        let headers = slow.iter().map(|(_, carried)| carried.enough.0).max().unwrap_or(0);
        let bytes = slow.iter().map(|(_, carried)| carried.enough.1).max().unwrap_or(0);
        let others = match slow.len() - 1 {
            0 => String::new(),
            1 => ", and those of another link are too small, too".to_owned(),
            more => format!(", and those of {more} more links are too small, too"),
        };
        let message = format!(
            "the buffer of {} is too small for its latency: it carries at most {:.1} % of its bandwidth{others}",
            name_of(self.topology, *link),
            100.0 * share
        );
        let help = match headers {
            0 => format!("{bytes} B would do"),
            _ => format!("`header: {headers}` and `data: {bytes}B` would do"),
        };
        self.context.warn(self.place_of_buffer(*link), message, help);
    }
}

/// Bytes that the largest packet of a transfer, of so much payload, takes in the buffer of a link. Packets that answer a read have
/// a header of their own, and none has more than a request asks for.
fn largest(settings: &PacketSettings, own: &LinkSettings, payload: u32, is_read: bool) -> u64 {
    let (payload, header) = match is_read {
        true => (payload.min(settings.reads.request), u32::from(settings.reads.completion_header)),
        false => (payload, own.header),
    };
    match own.headers {
        Some(_) => u64::from(payload),
        None => (u64::from(payload) + u64::from(header)).max(u64::from(own.header)),
    }
}

/// The links of a route with the payload of the packets that cross them: no more than `most`, cut as links and nodes have it.
fn payloads(settings: &PacketSettings, route: &[LinkId], most: u32) -> impl Iterator<Item = (LinkId, u32)> {
    route.iter().scan(most, |payload, &link| {
        let own = &settings.links[link.index()];
        let split = settings.nodes[own.from as usize].split.filter(|_| own.downwards && link != route[0]);
        *payload = (*payload).min(own.payload).min(split.unwrap_or(u32::MAX));
        Some((link, *payload))
    })
}

/// What a link carries of packets with so much payload, where its buffer slows it: min(1, b · s / (L + s)) of its rate, with room
/// for b packets that take s each, L from grant to credit (packets.md, section 1). A packet that is stored before it goes on is in
/// the buffer for the time, too, that it takes on the next link.
fn carried(
    settings: &PacketSettings,
    (link, payload): (LinkId, u32),
    next: Option<(LinkId, u32)>,
    is_read: bool,
) -> Option<Carried> {
    let own = &settings.links[link.index()];
    let payload = if is_read { payload.min(settings.reads.request) } else { payload };
    let header = |of: &LinkSettings| if is_read { u32::from(settings.reads.completion_header) } else { of.header };
    let room = largest(settings, own, payload, is_read);
    // Where full packets do not fit, none is full.
    let held = Some(own.buffer? / room).filter(|&held| held > 0)?;
    let held = held.min(own.headers.map_or(u64::MAX, u64::from)) as f64;
    let sends = own.rate.time(u64::from(payload + header(own))) as f64;
    let onwards = next.filter(|_| own.switching == Switching::StoreAndForward).map_or(0.0, |(link, piece)| {
        let next = &settings.links[link.index()];
        next.rate.time(u64::from(payload + payload.div_ceil(piece) * header(next))) as f64
    });
    let around = (own.latency + own.credit_return) as f64 + sends + onwards;
    let slowest = sends.max(onwards);
    let least = (around / slowest).ceil() as u64;
    let enough = (own.headers.map_or(0, |_| least), least * room);
    (held * slowest < around).then_some(Carried { share: held * sends / around, enough })
}

/// A link as messages name it.
pub(super) fn name_of(topology: &Topology, link: LinkId) -> String {
    let link = topology.fabric.link(link);
    format!("{}->{}", topology.names.unique_name(link.from), topology.names.unique_name(link.to))
}
