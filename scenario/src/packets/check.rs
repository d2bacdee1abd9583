//! Holds a run of packets against what packets can do, and against the buffers that they cross.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use weir_packets::{LinkSettings, MOST_REQUESTERS};
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
}

impl Check<'_> {
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
        self.warn_of_small_buffers(settings);
        self.warn_of_single_engines();
        Ok(())
    }

    /// Holds a class, whose largest transfer has `most` bytes, against what its packets cross.
    fn class(&mut self, class: ClassId, most: u64, settings: &PacketSettings) -> Read<()> {
        let (routes, classes) = (&self.workload.routes, self.workload.tasks.classes());
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        self.fits(settings, routes.links(classes.route(class)), (most, classes.carriage(class).is_read))?;
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
            true => "give the devices there `engines`, or run it with `fidelity: fluid`",
            false => "put switches between it and the devices, or run it with `fidelity: fluid`",
        };
        Err(self.context.error(self.run.span, message, help))
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
        let mut payload = most;
        for (at, &link) in route.iter().enumerate() {
            let own = &settings.links[link.index()];
            let split = settings.nodes[own.from as usize].split.filter(|_| own.downwards && at > 0);
            payload = payload.min(own.payload).min(split.unwrap_or(u32::MAX));
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

    /// Where the size of a link's buffer is written.
    fn place_of_buffer(&self, link: LinkId) -> Span {
        let given = self.topology.packets.links.iter().find(|(pair, _)| *pair == link.0 / 2);
        given.and_then(|(_, given)| given.keys.buffer_place).or(self.run.keys.buffer_place).unwrap_or(self.run.span)
    }

    /// Packets times links that they cross.
    fn hops(&self, settings: &PacketSettings) -> u128 {
        let Workload { routes, tasks, stream, .. } = self.workload;
        let of = |class: ClassId, bytes: u64| {
            let route = routes.links(tasks.classes().route(class));
            let smallest = route.iter().map(|link| settings.links[link.index()].payload).min().unwrap_or(1);
            let packets = match tasks.classes().carriage(class).is_read {
                true => settings.reads.packets(bytes, smallest) + bytes.div_ceil(u64::from(settings.reads.request)),
                false => bytes.div_ceil(u64::from(smallest)),
            };
            u128::from(packets) * route.len() as u128
        };
        if let Some(stream) = stream {
            // Up to one packet for each transfer less: their sizes are not kept.
            return stream.census().bytes().map(|(class, bytes)| of(class, bytes)).sum();
        }
        let works = tasks.tasks().iter().map(|task| task.work);
        works.map(|work| if let Work::Carries { bytes, class } = work { of(class, bytes) } else { 0 }).sum()
    }

    /// The links that packets of transfers cross, or requests of reads.
    fn crossed(&self, links: usize) -> impl Iterator<Item = LinkId> + use<> {
        let (mut is_crossed, classes) = (vec![false; links], self.workload.tasks.classes());
        for class in (0..classes.len()).map(ClassId::from_index) {
            for link in self.workload.routes.links(classes.route(class)) {
                is_crossed[link.index()] = true;
                if classes.carriage(class).is_read {
                    // Requests go the other way.
                    is_crossed[link.index() ^ 1] = true;
                }
            }
        }
        (0..links).filter(move |&link| is_crossed[link]).map(LinkId::from_index)
    }

    /// Warns of the link that its buffer slows most, and says which size would do: in headers, if these count apart, and bytes.
    fn warn_of_small_buffers(&mut self, settings: &PacketSettings) {
        let slow: Vec<_> = self
            .crossed(settings.links.len())
            .filter_map(|link| Some((link, carried(&settings.links[link.index()])?)))
            .collect();
        let Some((link, (share, _))) = slow.iter().min_by(|a, b| a.1.0.total_cmp(&b.1.0)) else { return };
        let headers = slow.iter().map(|(_, (_, least))| least.0).max().unwrap_or(0);
        let bytes = slow.iter().map(|(_, (_, least))| least.1).max().unwrap_or(0);
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

/// The share of its rate that a link carries where its buffer slows it, min(1, b · s / (L + s)) with room for b packets that
/// take s each, L from grant to credit (packets.md, section 1); and the headers and bytes that would do.
fn carried(own: &LinkSettings) -> Option<(f64, (u64, u64))> {
    let packet = u64::from(own.payload) + u64::from(own.header);
    let held = match own.headers {
        Some(headers) => (own.buffer? / u64::from(own.payload)).min(u64::from(headers)),
        None => own.buffer? / packet,
    };
    let (held, sends) = (held as f64, own.rate.time(packet) as f64);
    let around = (own.latency + own.credit_return) as f64 + sends;
    let least = (around / sends).ceil() as u64;
    let least = match own.headers {
        Some(_) => (least, least * u64::from(own.payload)),
        None => (0, least * packet),
    };
    Some((held * sends / around, least)).filter(|(share, _)| *share < 1.0)
}

/// A link as messages name it.
pub(super) fn name_of(topology: &Topology, link: LinkId) -> String {
    let link = topology.fabric.link(link);
    format!("{}->{}", topology.names.unique_name(link.from), topology.names.unique_name(link.to))
}
