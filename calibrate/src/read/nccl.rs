//! Tables of nccl-tests: `size count type redop root time algbw busbw #wrong`, the last four twice, out of place and in
//! place.
//!
//! A collective is simulated as a ring: n ranks in the order of `--devices`, each sending to the next in equal steps
//! (nccl-tests, doc/PERFORMANCE.md, from which the bytes per rank are). Where nccl chooses a tree or a switch that
//! reduces, this is not what ran; the fit's errors then say so.

use weir_scenarios::Diagnostic;

use super::{Collective, MOST_ROWS, Source, number};
use crate::measurement::{Experiment, Log, Row, Seen, Skipped, Transfer};

/// Reads a table.
pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let mut log = Log::default();
    let (mut ranks, mut named, mut rows) = (0_usize, None, 0_usize);
    for (at, line) in source.text.lines().enumerate() {
        let number = at as u32 + 1;
        let trimmed = line.trim();
        if trimmed.starts_with('#') || trimmed.contains("_perf") {
            ranks = ranks.max(rank_of(trimmed).filter(|&rank| rank < MOST_ROWS).map_or(0, |rank| rank + 1));
            named = collective_of(trimmed).or(named);
            continue;
        }
        let fields: Vec<&str> = trimmed.split_whitespace().collect();
        if !fields.first().is_some_and(|f| f.starts_with(|c: char| c.is_ascii_digit())) {
            continue;
        }
        rows += 1;
        if rows > MOST_ROWS {
            return Err(source.error((number, 1, 1), format!("more than {MOST_ROWS} rows"), "give fewer rows"));
        }
        let collective = source.options.collective.or(named);
        row(source, (number, line, &fields), (collective, ranks), &mut log)?;
    }
    if rows == 0 {
        let help = "the log may have been cut off; rows follow the header with algbw and busbw";
        return Err(source.error((1, 1, 1), "the log has no row of a table".to_owned(), help));
    }
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

/// The collective that a line names, such as `# Collective test starting: all_reduce_perf`.
fn collective_of(line: &str) -> Option<Collective> {
    let names = ["all_reduce_perf", "all_gather_perf", "reduce_scatter_perf", "alltoall_perf", "sendrecv_perf"];
    names.iter().position(|name| line.contains(name)).map(|at| Collective::ALL[at])
}

fn row(
    source: &Source<'_>,
    (line, text, fields): (u32, &str, &[&str]),
    (collective, ranks): (Option<Collective>, usize),
    log: &mut Log,
) -> Result<(), Box<Diagnostic>> {
    let column = |field: &str| {
        let byte = field.as_ptr() as usize - text.as_ptr() as usize;
        (line, text[..byte].chars().count() as u32 + 1, field.chars().count() as u32)
    };
    if fields.len() < 8 {
        let message =
            format!("the row has {} columns, not size count type redop root time algbw busbw …", fields.len());
        return Err(source.error((line, 1, 1), message, "the row may have been cut off: remove or complete it"));
    }
    let wrong = |field: &str, (message, help): number::Wrong| source.error(column(field), message, help);
    let skip = |why: String| Skipped { place: source.place(line, 1), what: format!("{} B", fields[0]), why };
    if fields[0] == "0" {
        log.skipped.push(skip("no bytes are moved".to_owned()));
        return Ok(());
    }
    let size = number::bytes(fields[0], "the size").map_err(|problem| wrong(fields[0], problem))?;
    // Out of place, then in place; `N/A` where one was not run.
    for time in [Some(5), (fields.len() >= 12).then_some(9)].into_iter().flatten().map(|at| fields[at]) {
        if time == "N/A" {
            continue;
        }
        let seconds = number::positive(time, "the time").and_then(|us| number::seconds(us * 1e-6, "the time"));
        let seconds = seconds.map_err(|problem| wrong(time, problem))?;
        match experiment(source, (collective, ranks), size) {
            Ok(ring) => {
                let rows = vec![Row { place: source.place(line, column(time).1), seconds, seen: Seen::Last }];
                log.experiments.push(Experiment { rows, ..ring });
            }
            Err(why) => {
                log.skipped.push(skip(why));
                break;
            }
        }
    }
    Ok(())
}

/// The transfers of a collective of `size` bytes, or why there are none.
fn experiment(
    source: &Source<'_>,
    (collective, ranks): (Option<Collective>, usize),
    size: u64,
) -> Result<Experiment, String> {
    let words = || Collective::ALL.map(Collective::word).join(", ");
    let collective =
        collective.ok_or_else(|| format!("the log does not name the collective: add --collective ({})", words()))?;
    let devices = &source.devices;
    // Without lines of ranks, the devices given are the ranks.
    let n = if ranks == 0 { devices.len() } else { ranks };
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
    Ok(match collective {
        Collective::AllReduce => ring((2 * (ranks - 1)).saturating_mul(size) / ranks, 2 * (ranks - 1)),
        Collective::AllGather | Collective::ReduceScatter => ring((ranks - 1).saturating_mul(size) / ranks, ranks - 1),
        Collective::SendRecv => ring(size, 1),
        Collective::AllToAll => {
            let pairs = (0..n).flat_map(|i| (1..n).map(move |k| (i, (i + k) % n)));
            let bytes = (size / ranks).max(1);
            let transfers = pairs.map(|(i, j)| Transfer { from: devices[i], to: devices[j], bytes });
            Experiment { transfers: transfers.collect(), ..ring(1, 1) }
        }
    })
}
