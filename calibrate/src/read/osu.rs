//! Tables of the OSU micro-benchmarks `osu_bw`, `osu_bibw`, `osu_latency` and `osu_mbw_mr`; others, such as collectives, are
//! skipped.
//!
//! `osu_latency`: one-way µs of a message. `osu_bw`: a window of messages back to back, then a reply of 4 bytes; MB/s are
//! 10^6 bytes per second. `osu_bibw`: windows both ways at once, the rates added. (OSU Micro-Benchmarks, README,
//! point-to-point tests; the window is 64 messages unless `-W` says otherwise.)

use weir_scenario::Diagnostic;

use super::devices::{DevicePair, pair};
use super::mapping::Used;
use super::number::{self, MOST_ROWS, NumberError};
use super::source::{LogLine, Source, Span};
use super::tag::untagged;
use crate::measurement::{Experiment, Log, MeasuredEnd, MeasuredTime, Transfer};

/// Why tests of collectives, of one-sided messages and the like are not used.
const NO_PAIR: &str = "is not a test of one pair whose messages weir knows";
/// Why those of one pair by NCCL and RCCL are not used (`osu_xccl_bw.c`: a call for each message, in one stream).
const BY_KERNELS: &str = "sends each message by a kernel of its own, whose launches are no part of a transfer: run the same test over \
                          MPI (`osu_bw D D`), or `sendrecv_perf` of nccl-tests";
/// Messages of a window (`WINDOW_SIZE_LARGE`, the default of `-W`).
const WINDOW: u32 = 64;
/// Bytes of the reply to a window.
const REPLY: u64 = 4;

#[derive(Clone, PartialEq, Eq)]
enum Test {
    Bandwidth,
    BothWays,
    Latency,
    /// Windows of several pairs at once, added: rank i sends to rank i + the number of pairs.
    Pairs,
    /// One that is not used, by its title, and why.
    Other(String, &'static str),
}

impl Test {
    fn messages(&self, window: u32) -> u32 {
        if matches!(self, Self::Bandwidth | Self::BothWays | Self::Pairs) { window } else { 1 }
    }
}

/// What is known of the log so far.
struct OsuReader<'a> {
    source: &'a Source<'a>,
    devices: Option<DevicePair>,
    /// The test that the last title or header named.
    test: Option<Test>,
    rows: usize,
    /// Messages of a window, and pairs that send at once.
    window: u32,
    pairs: usize,
    /// Whether a row was of a window of messages.
    windows: bool,
    /// Ranks that were taken for devices by their numbers.
    used: Used,
    /// Whether a row was of the pair that was named.
    of_pair: bool,
    log: Log,
}

/// Reads the tables of a log; rows are skipped unless `--pair` names the devices.
pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let devices = pair(source.machine, source.options)?;
    let mut reader = OsuReader {
        source,
        devices,
        test: None,
        rows: 0,
        window: WINDOW,
        pairs: 1,
        windows: false,
        used: Used::default(),
        of_pair: false,
        log: Log::default(),
    };
    for line in source.lines() {
        let text = untagged(line.text).0.trim();
        match text.strip_prefix('#') {
            Some(comment) => reader.comment(comment),
            None => reader.line(line, text)?,
        }
    }
    if reader.rows == 0 {
        let help = "the log may have been cut off; a table follows its header `# Size`";
        return Err(source.error(Span::line(1), "the log has no row of a table", help));
    }
    Ok(reader.finish())
}

impl OsuReader<'_> {
    fn comment(&mut self, comment: &str) {
        if comment.contains("Send Buffer on") {
            let title = test_title(comment);
            self.log.notes.push(format!("{}: {title}: see that --pair names these", self.source.file));
        }
        self.pairs = numbered(comment, "pairs:").map_or(self.pairs, |pairs| pairs as usize);
        self.window = numbered(comment, "window size:").unwrap_or(self.window);
        self.test = of(comment, self.test.is_some()).or(self.test.take());
    }

    fn line(&mut self, line: LogLine<'_>, text: &str) -> Result<(), Box<Diagnostic>> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        if !fields.first().is_some_and(|f| f.starts_with(|c: char| c.is_ascii_digit() || c == '-')) {
            return Ok(());
        }
        let error = |message: String, help: &str| Err(self.source.error(Span::line(line.number), message, help));
        let Some(test) = self.test.clone() else {
            let help = "keep the line `# OSU MPI … Test` and the header of the table in the log";
            return error("no header says what this table measured".to_owned(), help);
        };
        self.rows += 1;
        if self.rows > MOST_ROWS {
            return error(format!("more than {MOST_ROWS} rows"), "give fewer rows");
        }
        self.windows |= test.messages(self.window) > 1;
        self.row(line, &fields, &test)
    }

    fn row(&mut self, line: LogLine<'_>, fields: &[&str], test: &Test) -> Result<(), Box<Diagnostic>> {
        let source = self.source;
        let [size, value, ..] = fields else {
            let help = "complete the row: the log may have been cut off";
            let message = "the row has a size and no value".to_owned();
            return Err(source.wrong(line, fields[0], NumberError { message, help }));
        };
        let messages = test.messages(self.window);
        let copies = if *test == Test::Pairs { self.pairs as f64 } else { 1.0 };
        let (devices, pairs) = (self.devices, self.pairs);
        let transfers = |bytes: u64| transfers(source, test, devices, pairs, bytes);
        let mut skip = |field: &str, why: &str| {
            let (place, what) = (source.place_of(line, field), format!("{} B", number::excerpt(size)));
            source.skip(&mut self.log, place, what, why);
        };
        if let Test::Other(title, why) = test {
            skip(size, &format!("`{title}` {why}"));
            return Ok(());
        }
        if *size == "0" {
            skip(size, "no bytes are moved");
            return Ok(());
        }
        let bytes = number::bytes(size, "the size").map_err(|problem| source.wrong(line, size, problem))?;
        let seconds = row_seconds(test, bytes as f64 * f64::from(messages) * copies, value);
        match (seconds, transfers(bytes)) {
            (Err(why), _) => skip(value, &why),
            (_, Err(why)) => skip(size, &why),
            (Ok(seconds), Ok(transfers)) => {
                match by_number(test, devices, pairs) {
                    true => self.used.devices.extend(0..2 * pairs),
                    false => self.of_pair = true,
                }
                let rows = vec![MeasuredTime { place: source.place_of(line, value), seconds, end: MeasuredEnd::Last }];
                let reply = (*test != Test::Latency).then_some(REPLY);
                let name = format!("line {}", line.number);
                let experiment = Experiment { transfers, rows, messages, reply, ..Experiment::plain(name) };
                self.log.experiments.push(experiment);
            }
        }
        Ok(())
    }

    /// The log, with what was assumed of its devices and messages.
    fn finish(mut self) -> Log {
        let file = self.source.file;
        if let Some(DevicePair { first, second }) = self.devices.filter(|_| self.of_pair) {
            let (first, second) = (self.source.machine.path(first), self.source.machine.path(second));
            self.log.notes.push(format!("{file}: rank 0 = {first}, rank 1 = {second}"));
        }
        self.log.notes.extend(self.used.note(self.source, "rank"));
        if self.windows && !self.log.experiments.is_empty() {
            let window = self.window;
            self.log.notes.push(format!("{file}: windows of {window} messages, each with a reply of {REPLY} B"));
        }
        self.log
    }
}

/// The seconds of a row of messages of `bytes`: the value is MB/s, or µs of one message.
fn row_seconds(test: &Test, total: f64, value: &str) -> Result<f64, String> {
    number::logged(value, "the value", |value| match test {
        Test::BothWays => 2.0 * total / (value * 1e6),
        Test::Bandwidth | Test::Pairs => total / (value * 1e6),
        _ => value * 1e-6,
    })
}

/// The number behind a word of a comment, 1 to 10^5.
fn numbered(comment: &str, word: &str) -> Option<u32> {
    let rest = comment.split_once(word)?.1;
    rest.split_whitespace().next()?.parse().ok().filter(|number| (1..=100_000).contains(number))
}

/// A comment, for a message.
fn test_title(comment: &str) -> String {
    weir_report::text::clean(comment.trim()).chars().take(80).collect()
}

/// Whether messages of an interface go by kernels: `NCCL`, `NCCL-CUDA`, `RCCL-ROCM`.
fn has_kernels(api: &str) -> bool {
    api.starts_with("nccl") || api.starts_with("rccl")
}

/// The test of a comment: of a title `OSU MPI-CUDA Bandwidth Test v7.5`, or of the header of the columns where the title is
/// gone (`known` is false).
fn of(comment: &str, known: bool) -> Option<Test> {
    let text = comment.trim().to_ascii_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        // `MPI`, `MPI-CUDA`, `MPI_Put`: the last is one-sided.
        ["osu", api, ref name @ .., "test"] | ["osu", api, ref name @ .., "test", _] => Some(match (api, name) {
            ("mpi" | "mpi-cuda" | "mpi-rocm" | "mpi-openacc" | "mpi-sycl", ["latency"]) => Test::Latency,
            ("mpi" | "mpi-cuda" | "mpi-rocm" | "mpi-openacc" | "mpi-sycl", ["bandwidth"]) => Test::Bandwidth,
            ("mpi" | "mpi-cuda" | "mpi-rocm" | "mpi-openacc" | "mpi-sycl", ["bi-directional", "bandwidth"]) => {
                Test::BothWays
            }
            (_, ["multiple", "bandwidth", "/", "message", "rate"]) => Test::Pairs,
            (_, ["latency"] | ["bandwidth"] | ["bi-directional", "bandwidth"]) if has_kernels(api) => {
                Test::Other(test_title(comment), BY_KERNELS)
            }
            _ => Test::Other(test_title(comment), NO_PAIR),
        }),
        ["size", ..] if !known && text.contains("latency") => Some(Test::Latency),
        _ => None,
    }
}

/// Whether ranks are devices by their numbers: `--pair` says nothing of them.
fn by_number(test: &Test, named: Option<DevicePair>, pairs: usize) -> bool {
    *test == Test::Pairs && (pairs > 1 || named.is_none())
}

/// The transfers of a row, or which devices are to be named.
fn transfers(
    source: &Source<'_>,
    test: &Test,
    named: Option<DevicePair>,
    pairs: usize,
    bytes: u64,
) -> Result<Vec<Transfer>, String> {
    if by_number(test, named, pairs) {
        let devices = &source.devices;
        if devices.len() / 2 < pairs {
            let (ranks, count) = (pairs.saturating_mul(2), devices.len());
            return Err(format!("the log has {ranks} ranks and there are {count} devices: name all by --devices"));
        }
        return Ok((0..pairs).map(|i| Transfer { from: devices[i], to: devices[i + pairs], bytes }).collect());
    }
    let DevicePair { first, second } =
        named.ok_or("the log does not say which devices took part: add --pair gpu0,gpu1")?;
    let mut transfers = vec![Transfer { from: first, to: second, bytes }];
    if *test == Test::BothWays {
        transfers.push(Transfer { from: second, to: first, bytes });
    }
    Ok(transfers)
}
