//! Tables of nccl-tests: `size count type redop root time algbw busbw #wrong`, the last four twice, out of place and in
//! place. Older versions leave `redop` and `root` empty where a collective has none, and call the last `error`.
//!
//! A collective is simulated as a ring: n ranks in their order, each sending to the next in equal steps (nccl-tests,
//! doc/PERFORMANCE.md, from which the bytes per rank are). Where each two ranks have links of their own (xGMI), as many rings
//! as links share the bytes, so that with S bytes and n ranks each pair carries 2·S/n each way in an all-reduce, and S/n in an
//! all-gather or reduce-scatter. Kernels move the bytes: no copy engine has a queue of them. Rows for which NCCL says that it
//! took another algorithm are skipped; of others that are faster than a ring the fit says so.

use std::collections::BTreeSet;

use weir_plugin_api::NodeId;
use weir_scenario::{Diagnostic, Machine};
use weir_sim_core::Routes;

use super::bus;
use super::mapping::Used;
use super::nccl_head::TableHead;
use super::number::{self, MOST_ROWS};
use super::options::Collective;
use super::source::{LogLine, Source, Span};
use super::tag::untagged;
use crate::measurement::{Experiment, Log, MeasuredEnd, MeasuredTime, Transfer};

/// Machines that a message names at most.
const MOST_NAMED: usize = 4;

/// What is known of the log so far.
struct NcclReader<'a> {
    source: &'a Source<'a>,
    head: TableHead,
    /// The devices of the last ranks that were used, where the log says them.
    named: Option<NamedDevices>,
    used: Used,
    rows: usize,
    log: Log,
}

pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let (head, used, log) = (TableHead::new(), Used::default(), Log::default());
    let mut reader = NcclReader { source, head, named: None, used, rows: 0, log };
    for line in source.lines() {
        reader.line(line)?;
    }
    let NcclReader { used, rows, mut log, named, .. } = reader;
    if rows == 0 {
        let help = "the log may have been cut off; rows follow the header with algbw and busbw";
        return Err(source.error(Span::line(1), "the log has no row of a table", help));
    }
    let found = named.map(|named| source.with_devices(named.devices, named.by));
    log.notes.extend(used.note(found.as_ref().unwrap_or(source), "rank"));
    if !log.experiments.is_empty() {
        log.notes.push(format!("{}: collectives are simulated as rings in the order of the devices", source.file));
    }
    Ok(log)
}

impl NcclReader<'_> {
    fn line(&mut self, line: LogLine<'_>) -> Result<(), Box<Diagnostic>> {
        let text = untagged(line.text).0.trim();
        let fields: Vec<&str> = text.split_whitespace().collect();
        let is_row = fields.len() > 1 && fields[0].bytes().all(|b| b.is_ascii_digit());
        if !is_row || text.contains("_perf") {
            self.head.line(text);
            return Ok(());
        }
        self.rows += 1;
        if self.rows > MOST_ROWS {
            let message = format!("more than {MOST_ROWS} rows");
            return Err(self.source.error(Span::line(line.number), message, "give fewer rows"));
        }
        self.row(line, &fields)
    }

    fn row(&mut self, line: LogLine<'_>, fields: &[&str]) -> Result<(), Box<Diagnostic>> {
        let source = self.source;
        let Some(times) = self.head.times(fields) else {
            let message = format!("the row has {} columns, and the table {}", fields.len(), self.head.columns);
            let help = "the row may have been cut off: remove or complete it";
            return Err(source.error(Span::line(line.number), message, help));
        };
        let size = fields[0];
        if size == "0" {
            source.skip(&mut self.log, source.place_of(line, size), "0 B", "no bytes are moved");
            return Ok(());
        }
        let bytes = number::bytes(size, "the size").map_err(|problem| source.wrong(line, size, problem))?;
        match experiment(source, &self.head, bytes) {
            Ok(ring) => {
                self.times(line, size, &ring, times);
                self.named = ring.named;
            }
            Err(why) => source.skip(&mut self.log, source.place_of(line, size), format!("{size} B"), why),
        }
        Ok(())
    }

    /// The times of a row: out of place, then in place; `N/A` where one was not run.
    fn times(&mut self, line: LogLine<'_>, size: &str, ring: &Ring, times: Vec<&str>) {
        let source = self.source;
        for time in times.into_iter().filter(|time| *time != "N/A") {
            let place = source.place_of(line, time);
            match number::logged(time, "the time", |us| us * 1e-6) {
                Ok(seconds) => {
                    self.used.devices.extend(0..ring.ranks);
                    let rows = vec![MeasuredTime { place, seconds, end: MeasuredEnd::Last }];
                    self.log.experiments.push(Experiment { rows, ..ring.experiment.clone() });
                }
                Err(why) => source.skip(&mut self.log, place, format!("{size} B"), why),
            }
        }
    }
}

/// A collective without its time.
struct Ring {
    experiment: Experiment,
    ranks: usize,
    /// The devices, where the log says them.
    named: Option<NamedDevices>,
}

/// The devices of ranks, and by what in the log they are known.
struct NamedDevices {
    devices: Vec<NodeId>,
    by: &'static str,
}

/// The collective that the command line or the log names, or why there is none.
fn collective(source: &Source<'_>, head: &TableHead) -> Result<Collective, String> {
    let words = || Collective::ALL.map(Collective::word).join(", ");
    match (source.options.collective, &head.program) {
        (Some(asked), Some(Ok(named))) if asked != *named => {
            Err(format!("the log says that it is of {}, not of {}: leave out --collective", named.word(), asked.word()))
        }
        (_, Some(Ok(named))) => Ok(*named),
        (Some(asked), None) => Ok(asked),
        (_, Some(Err(name))) => Err(format!("`{name}` is no collective that weir knows ({})", words())),
        (None, None) => Err(format!("the log does not name the collective: add --collective ({})", words())),
    }
}

/// The transfers of a collective of `size` bytes, or why there are none.
fn experiment(source: &Source<'_>, head: &TableHead, size: u64) -> Result<Ring, String> {
    let collective = collective(source, head)?;
    ran_as_a_ring(head, size)?;
    let named = match source.options.devices {
        Some(_) => None,
        None => named_devices(source, head)?,
    };
    let devices = named.as_ref().map_or(&source.devices, |named| &named.devices);
    // Without lines of ranks, the devices that are named are the ranks.
    let n = if head.ranks == 0 { devices.len() } else { head.ranks };
    if n < 2 {
        return Err("a collective of fewer than two ranks moves nothing over links".to_owned());
    }
    if n > devices.len() {
        let remedy = "name all by --devices, or give a topology with as many GPUs";
        return Err(format!("the log has {n} ranks and there are {} devices: {remedy}", devices.len()));
    }
    let ranks = n as u64;
    let joined = every_pair_is_joined(source.machine, &devices[..n]);
    let of = |transfers: Vec<Transfer>, steps: u64| Experiment {
        transfers,
        steps: steps as u32,
        kernels: true,
        ..Experiment::plain(format!("{} of {size} B", collective.word()))
    };
    // Where every pair has links of its own, rings over different links share the bytes: each pair carries an equal part.
    let ring = |bytes: u64, steps: u64| match joined && steps > 1 {
        true => of(all_to_all(&devices[..n], bytes.saturating_mul(ranks) / (ranks - 1)), steps),
        false => of(around(&devices[..n], bytes.max(1)), steps),
    };
    let experiment = match collective {
        Collective::AllReduce => ring((2 * (ranks - 1)).saturating_mul(size) / ranks, 2 * (ranks - 1)),
        Collective::AllGather | Collective::ReduceScatter => ring((ranks - 1).saturating_mul(size) / ranks, ranks - 1),
        Collective::SendRecv => ring(size, 1),
        Collective::AllToAll => of(all_to_all(&devices[..n], size), 1),
    };
    Ok(Ring { experiment, ranks: n, named })
}

/// The devices of the ranks by their PCI addresses, else by the numbers of the devices where these are not those of the ranks.
fn named_devices(source: &Source<'_>, head: &TableHead) -> Result<Option<NamedDevices>, String> {
    of_one_machine(head)?;
    let found = bus::devices(source.machine, &head.addresses, "rank");
    if let Some(devices) = found.map_err(|message| format!("{message}: {}", bus::REMEDY))? {
        return Ok(Some(NamedDevices { devices, by: bus::BY }));
    }
    // Ranks that see one device each all call it 0: their numbers say nothing.
    let distinct: BTreeSet<&usize> = head.numbers.values().collect();
    let all =
        head.ranks > 0 && distinct.len() == head.ranks && head.numbers.iter().any(|(rank, number)| rank != number);
    let devices: Option<Vec<NodeId>> = (0..head.ranks).map(|rank| source.device(*head.numbers.get(&rank)?)).collect();
    let by = "the log's device numbers; name others by --devices";
    Ok(devices.filter(|_| all).map(|devices| NamedDevices { devices, by }))
}

/// Refuses ranks on several machines: a topology of one is none of all, though it may have as many GPUs.
fn of_one_machine(head: &TableHead) -> Result<(), String> {
    match head.hosts.len() {
        0 | 1 => Ok(()),
        count => {
            let hosts: Vec<&str> = head.hosts.iter().map(String::as_str).take(MOST_NAMED).collect();
            let more = if count > MOST_NAMED { ", …" } else { "" };
            let hosts = hosts.join(", ");
            Err(format!(
                "its {} ranks are on {count} machines ({hosts}{more}): give a topology of all of them, and name all by --devices",
                head.ranks
            ))
        }
    }
}

/// Refuses bytes for which NCCL says that it took another algorithm.
fn ran_as_a_ring(head: &TableHead, size: u64) -> Result<(), String> {
    match head.algorithms.get(&size) {
        Some(algorithm) if algorithm != "ring" => Err(format!(
            "NCCL ran it by the algorithm {algorithm}, and weir simulates rings: measure with NCCL_ALGO=Ring and \
             NCCL_NVLS_ENABLE=0"
        )),
        _ => Ok(()),
    }
}

/// The same bytes from each device to the next, and from the last to the first.
fn around(devices: &[NodeId], bytes: u64) -> Vec<Transfer> {
    let n = devices.len();
    (0..n).map(|i| Transfer { from: devices[i], to: devices[(i + 1) % n], bytes }).collect()
}

/// Whether three devices or more have a direct link between each two, as GPUs with xGMI or NVLink without a switch do.
fn every_pair_is_joined(machine: &Machine, devices: &[NodeId]) -> bool {
    let mut routes = Routes::new();
    let mut direct = |a, b| {
        let route = routes.between(&machine.fabric, a, b);
        route.is_some_and(|route| routes.links(route).len() == 1)
    };
    devices.len() > 2 && devices.iter().all(|&a| devices.iter().all(|&b| a == b || direct(a, b)))
}

/// A part of `size` from each device to each other one.
fn all_to_all(devices: &[NodeId], size: u64) -> Vec<Transfer> {
    let n = devices.len();
    let bytes = (size / n as u64).max(1);
    let pairs = (0..n).flat_map(|i| (1..n).map(move |k| (i, (i + k) % n)));
    pairs.map(|(i, j)| Transfer { from: devices[i], to: devices[j], bytes }).collect()
}
