//! Tables of nccl-tests: `size count type redop root time algbw busbw #wrong`, the last four twice, out of place and in
//! place. Older versions leave `redop` and `root` empty where a collective has none, and call the last `error`.
//!
//! A collective is simulated as a ring: n ranks in the order of `--devices`, each sending to the next in equal steps
//! (nccl-tests, doc/PERFORMANCE.md, from which the bytes per rank are). Where nccl chooses a tree or a switch that
//! reduces, this is not what ran; the fit's errors then say so.

use weir_scenario::Diagnostic;

use super::mapping::Used;
use super::{Collective, MOST_ROWS, Source, number, untagged};
use crate::measurement::{Experiment, Log, Row, Seen, Transfer};

/// Columns of a table, where its header is gone.
const COLUMNS: [&str; 13] =
    ["size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong"];
/// Columns of the part in place.
const IN_PLACE: usize = 4;

/// What the lines above a row say.
struct Table {
    /// Ranks of the run that the lines belong to.
    ranks: usize,
    /// The program that the log names last.
    program: Option<Result<Collective, String>>,
    /// Columns: how many, and which hold times.
    columns: usize,
    times: Vec<usize>,
}

impl Table {
    fn new() -> Self {
        let mut table = Self { ranks: 0, program: None, columns: 0, times: Vec::new() };
        table.header(&COLUMNS);
        table
    }

    fn header(&mut self, words: &[&str]) {
        self.columns = words.len();
        self.times = (0..words.len()).filter(|&at| words[at] == "time").collect();
    }

    /// A line that is no row.
    fn line(&mut self, text: &str) {
        let words: Vec<&str> = text.trim_start_matches(['#', ' ']).split_whitespace().collect();
        match words[..] {
            ["size", ..] if words.contains(&"time") => self.header(&words),
            // A run begins: earlier ranks are those of the run before.
            ["nThread", ..] => self.ranks = 0,
            _ => self.ranks = self.ranks.max(rank_of(text).filter(|&r| r < MOST_ROWS).map_or(0, |r| r + 1)),
        }
        self.program = program_of(text).or(self.program.take());
    }

    /// The fields that hold times; `None` for a row that was cut off. Fewer fields than columns lack the part in place,
    /// or the empty ones before the time.
    fn times<'a>(&self, fields: &[&'a str]) -> Option<Vec<&'a str>> {
        let missing = self.columns.checked_sub(fields.len())?;
        let first = *self.times.first()?;
        match missing {
            0 => Some(self.times.iter().map(|&at| fields[at]).collect()),
            IN_PLACE => Some(vec![fields[first]]),
            1 | 2 if first >= 5 => Some(self.times.iter().map(|&at| fields[at - missing]).collect()),
            _ => None,
        }
    }
}

/// Reads a table.
pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let (mut log, mut table, mut used, mut rows) = (Log::default(), Table::new(), Used::default(), 0_usize);
    for (at, line) in source.text.lines().enumerate() {
        let (number, text) = (at as u32 + 1, untagged(line).0.trim());
        let fields: Vec<&str> = text.split_whitespace().collect();
        let is_row = fields.len() > 1 && fields[0].bytes().all(|b| b.is_ascii_digit());
        if !is_row || text.contains("_perf") {
            table.line(text);
            continue;
        }
        rows += 1;
        if rows > MOST_ROWS {
            return Err(source.error((number, 1, 1), format!("more than {MOST_ROWS} rows"), "give fewer rows"));
        }
        row(source, ((number, line), &fields), (&table, &mut used), &mut log)?;
    }
    if rows == 0 {
        let help = "the log may have been cut off; rows follow the header with algbw and busbw";
        return Err(source.error((1, 1, 1), "the log has no row of a table".to_owned(), help));
    }
    log.notes.extend(used.note(source, "rank"));
    if !log.experiments.is_empty() {
        log.notes.push(format!("{}: collectives are simulated as rings in the order of the devices", source.file));
    }
    Ok(log)
}

/// The rank of `#  Rank  3 Group  0 Pid …`.
fn rank_of(line: &str) -> Option<usize> {
    let mut words = line.trim_start_matches(['#', ' ']).split_whitespace();
    (words.next()? == "Rank").then(|| words.next()?.parse().ok())?
}

/// The program that a line names, such as `# Collective test starting: all_reduce_perf`: its collective, or its name where
/// that is none that weir knows.
fn program_of(line: &str) -> Option<Result<Collective, String>> {
    let word = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).find(|word| word.ends_with("_perf"))?;
    let names = ["all_reduce_perf", "all_gather_perf", "reduce_scatter_perf", "alltoall_perf", "sendrecv_perf"];
    Some(match names.iter().position(|name| *name == word) {
        Some(at) => Ok(Collective::ALL[at]),
        None => Err(word.to_owned()),
    })
}

fn row(
    source: &Source<'_>,
    (line, fields): ((u32, &str), &[&str]),
    (table, used): (&Table, &mut Used),
    log: &mut Log,
) -> Result<(), Box<Diagnostic>> {
    let Some(times) = table.times(fields) else {
        let message = format!("the row has {} columns, and the table {}", fields.len(), table.columns);
        let help = "the row may have been cut off: remove or complete it";
        return Err(source.error((line.0, 1, 1), message, help));
    };
    let size = fields[0];
    if size == "0" {
        source.skip(log, source.place_of(line, size), "0 B", "no bytes are moved");
        return Ok(());
    }
    let bytes = number::bytes(size, "the size").map_err(|problem| source.wrong(line, size, problem))?;
    let ring = match experiment(source, table, bytes) {
        Ok(ring) => ring,
        Err(why) => {
            source.skip(log, source.place_of(line, size), format!("{size} B"), why);
            return Ok(());
        }
    };
    // Out of place, then in place; `N/A` where one was not run.
    for time in times.into_iter().filter(|time| *time != "N/A") {
        let place = source.place_of(line, time);
        match number::logged(time, "the time", |us| us * 1e-6) {
            Ok(seconds) => {
                used.devices.extend(0..ring.ranks);
                let rows = vec![Row { place, seconds, seen: Seen::Last }];
                log.experiments.push(Experiment { rows, ..ring.experiment.clone() });
            }
            Err(why) => source.skip(log, place, format!("{size} B"), why),
        }
    }
    Ok(())
}

/// A collective without its time.
struct Ring {
    experiment: Experiment,
    ranks: usize,
}

/// The transfers of a collective of `size` bytes, or why there are none.
fn experiment(source: &Source<'_>, table: &Table, size: u64) -> Result<Ring, String> {
    let words = || Collective::ALL.map(Collective::word).join(", ");
    let collective = match (source.options.collective, &table.program) {
        (Some(given), _) => given,
        (None, Some(Ok(named))) => *named,
        (None, Some(Err(name))) => return Err(format!("`{name}` is no collective that weir knows ({})", words())),
        (None, None) => return Err(format!("the log does not name the collective: add --collective ({})", words())),
    };
    let devices = &source.devices;
    // Without lines of ranks, the devices given are the ranks.
    let n = if table.ranks == 0 { devices.len() } else { table.ranks };
    if n < 2 {
        return Err("a collective of fewer than two ranks moves nothing over links".to_owned());
    }
    if n > devices.len() {
        return Err(format!("the log has {n} ranks and there are {} devices: name all by --devices", devices.len()));
    }
    let ranks = n as u64;
    let ring = |bytes: u64, steps: u64| Experiment {
        transfers: (0..n)
            .map(|i| Transfer { from: devices[i], to: devices[(i + 1) % n], bytes: bytes.max(1) })
            .collect(),
        steps: steps as u32,
        ..Experiment::plain(format!("{} of {size} B", collective.word()))
    };
    let experiment = match collective {
        Collective::AllReduce => ring((2 * (ranks - 1)).saturating_mul(size) / ranks, 2 * (ranks - 1)),
        Collective::AllGather | Collective::ReduceScatter => ring((ranks - 1).saturating_mul(size) / ranks, ranks - 1),
        Collective::SendRecv => ring(size, 1),
        Collective::AllToAll => {
            let pairs = (0..n).flat_map(|i| (1..n).map(move |k| (i, (i + k) % n)));
            let bytes = (size / ranks).max(1);
            let transfers = pairs.map(|(i, j)| Transfer { from: devices[i], to: devices[j], bytes });
            Experiment { transfers: transfers.collect(), ..ring(1, 1) }
        }
    };
    Ok(Ring { experiment, ranks: n })
}
