//! Matrices of copies between numbered ends: of `rocm-bandwidth-test` and TransferBench `p2p` (CPUs and GPUs), and the host
//! matrix of `busGrind`.
//!
//! The row sends and the column receives. In a two-way matrix both copy at once, and a cell is the bytes of both over the
//! time of both; TransferBench also has a row for each of the two, `->` and `<-`, with its bytes over its own time. It measures
//! a pair once in each order, where rocm-bandwidth-test writes one measurement into both cells of a pair. Cells are GB/s, 10^9
//! bytes per second.

use std::collections::BTreeSet;

use weir_plugin_api::{NodeId, NodeKind};
use weir_scenario::Diagnostic;

use super::bus;
use super::matrix_parts::{End, Matrix, Row, matrix_of, named};
use super::number::{self, MOST_ROWS};
use super::source::{LogLine, Source, Span, Unmeasured};
use super::tag::untagged;
use crate::measurement::{Experiment, Log, MeasuredEnd, MeasuredTime, Transfer};

/// Bytes of a copy where the log does not say it; *assumed*, the largest default size of rocm-bandwidth-test: rates of large copies do not
/// depend on it.
const BYTES: u64 = 512 << 20;

/// First words of the line of columns: of rocm-bandwidth-test, busGrind, and TransferBench (`RunPeerToPeerBenchmarks`: both ways, one way,
/// one way with USE_REMOTE_READ).
const HEADERS: [&str; 5] = ["D/D", "Dir\\D", "SRC\\DST", "SRC+EXE\\DST", "SRC\\EXE+DST"];

/// Bytes of a copy at most: what a simulation counts.
const MOST_COPY: u64 = 1 << 53;

struct MatrixReader<'a> {
    source: &'a Source<'a>,
    /// The ends by their numbers in the log.
    ends: Vec<End>,
    matrix: Option<(Matrix, String)>,
    /// The line of its title.
    titled: u32,
    columns: Vec<Option<End>>,
    /// The line of the columns.
    head: u32,
    /// The rows so far.
    rows: Vec<Row>,
    /// The pairs that a two-way matrix has had.
    pairs: BTreeSet<[End; 2]>,
    cells: usize,
    /// Bytes of a copy, where the log says it.
    bytes: Option<u64>,
    used: Vec<End>,
    unmeasured: Unmeasured,
    log: Log,
}

/// What stands for the PCI address in `1,  AMD Instinct MI300X,  GPU-XX,  c1:0.0`.
fn bus_id(device: &str) -> Option<&str> {
    let address = |part: &&str| {
        part.contains(':') && part.contains('.') && part.bytes().all(|b| b.is_ascii_hexdigit() || b":.".contains(&b))
    };
    device.split(',').skip(2).map(str::trim).find(address)
}

/// The same with the devices at the PCI addresses of the GPUs that rocm-bandwidth-test lists, which it counts behind the processors.
pub(super) fn addressed<'a>(source: &Source<'a>) -> Result<Source<'a>, Box<Diagnostic>> {
    let address = |line: LogLine<'_>| bus_id(untagged(line.text).0.trim().strip_prefix("Device:")?).map(str::to_owned);
    bus::addressed(source, &source.lines().filter_map(address).enumerate().collect())
}

pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let mut reader = MatrixReader {
        source,
        ends: Vec::new(),
        matrix: None,
        titled: 0,
        columns: Vec::new(),
        head: 0,
        rows: Vec::new(),
        pairs: BTreeSet::new(),
        cells: 0,
        bytes: None,
        used: Vec::new(),
        unmeasured: Unmeasured::default(),
        log: Log::default(),
    };
    for line in source.lines() {
        reader.line(line)?;
    }
    reader.end()?;
    if reader.cells == 0 && reader.log.skipped.is_empty() {
        return Err(no_matrix(source));
    }
    Ok(reader.finish())
}

/// A log without matrices: of rocm-bandwidth-test it may be one of a single pair (`-s`, `-d`, `-b`), with a row for each size.
fn no_matrix(source: &Source<'_>) -> Box<Diagnostic> {
    match source.lines().find(|line| line.text.contains("directional Benchmark Result")) {
        Some(line) => {
            let message =
                "the copies of one pair (rocm-bandwidth-test with -s, -d or -b): the log has no matrix of copies";
            source.error(Span::line(line.number), message, "save the whole output of `rocm-bandwidth-test -a`")
        }
        None => {
            let help = "the log may have been cut off: save the whole output, with its matrices";
            source.error(Span::line(1), "the log has no matrix of copies", help)
        }
    }
}

impl MatrixReader<'_> {
    fn line(&mut self, line: LogLine<'_>) -> Result<(), Box<Diagnostic>> {
        let text = untagged(line.text).0;
        let trimmed = text.trim();
        if let Some(device) = trimmed.strip_prefix("Device:") {
            self.device(device);
        } else if let Some(bytes) = trimmed.strip_prefix("Bytes Per Direction") {
            // TransferBench, before its matrices.
            self.bytes = bytes.trim_matches([' ', ',']).parse().ok().filter(|bytes| (1..=MOST_COPY).contains(bytes));
        } else if let Some(matrix) = matrix_of(trimmed) {
            self.end()?;
            (self.matrix, self.titled) = (Some((matrix, trimmed.to_owned())), line.number);
        } else if trimmed.contains("Matrix") {
            self.end()?;
        } else if self.matrix.is_some() {
            self.cells(line, trimmed)?;
        }
        Ok(())
    }

    /// The end of a matrix. One of copies between ends has a row for each column; one of the host has a row for each way.
    fn end(&mut self) -> Result<(), Box<Diagnostic>> {
        let (columns, rows) = (std::mem::take(&mut self.columns), std::mem::take(&mut self.rows));
        self.pairs.clear();
        // A matrix that is not used was left at its first row.
        let Some((matrix, title)) = self.matrix.take() else { return Ok(()) };
        std::mem::take(&mut self.unmeasured).note(self.source, &mut self.log, &title);
        if columns.is_empty() && !matches!(matrix, Matrix::Unused(_)) {
            let why = format!("no line of columns that weir knows follows ({})", HEADERS.join(", "));
            self.source.skip(&mut self.log, self.source.place(self.titled, 1), title, why);
        }
        if rows.iter().any(|row| row.end().is_none()) {
            return Ok(());
        }
        let missing = columns.iter().flatten().filter(|end| !rows.iter().any(|row| row.end() == Some(**end)));
        let missing: Vec<String> = missing.map(ToString::to_string).collect();
        self.source.all_rows(self.head, &missing)
    }

    /// `Device: 1,  AMD Instinct MI300X,  GPU-XX,  c1:0.0`: a GPU has a bus id, a processor none. busGrind lists GPUs alone, as
    /// `Device: 0, NVIDIA X, pciBusID: 4, pciDeviceID: 0, pciDomainID:0`.
    fn device(&mut self, text: &str) {
        let gpu = text.contains("pciBusID:") || bus_id(text).is_some();
        let count = |of: fn(&End) -> bool| self.ends.iter().filter(|end| of(end)).count();
        self.ends.push(match gpu {
            true => End::Gpu(count(|end| matches!(end, End::Gpu(_)))),
            false => End::Cpu(count(|end| matches!(end, End::Cpu(_)))),
        });
    }

    /// The ends of a header or of a row, `CPU 00`, `GPU 01`, `1` or `H2D`.
    fn cells(&mut self, line: LogLine<'_>, text: &str) -> Result<(), Box<Diagnostic>> {
        // TransferBench puts a comma behind each cell with OUTPUT_TO_CSV.
        let words: Vec<&str> = text.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();
        match words[..] {
            [] => {}
            [first, ref names @ ..] if HEADERS.contains(&first) => {
                let matrix = self.matrix.clone();
                if !self.columns.is_empty() {
                    self.end()?;
                }
                (self.matrix, self.head, self.columns) = (matrix, line.number, self.header(first, names));
            }
            _ if self.columns.is_empty() => {}
            // Of the row above, with SHOW_ITERATIONS: its least, its largest, and the standard deviation.
            ["CPU" | "GPU", _, "min" | "max" | "sd", ..] => {}
            [kind @ ("CPU" | "GPU"), number, ref cells @ ..] => {
                let arrow = cells.first().filter(|word| word.contains(['<', '>'])).copied().unwrap_or("->");
                let cells = cells.strip_prefix(&[arrow]).unwrap_or(cells);
                if let Some(end) = named(kind, number) {
                    self.of_arrow(line, end, arrow, cells)?;
                }
            }
            [way @ ("H2D" | "D2H" | "BiDir" | "Bidir"), ref cells @ ..] => {
                let row = match way {
                    "H2D" => Row::FromHost,
                    "D2H" => Row::ToHost,
                    _ => Row::HostBothWays,
                };
                self.row(line, Some(row), cells)?;
            }
            [number, ..] if self.ends.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => {
                let message = format!("nothing says which device is number {}", number::excerpt(number));
                let help = "the list of devices (`Device: 0, …`) is missing: give the whole output of `rocm-bandwidth-test -a`, from its \
                            first line on";
                return Err(self.source.error(Span::line(line.number), message, help));
            }
            [number, ref cells @ ..] if number.bytes().all(|b| b.is_ascii_digit()) => {
                let end = number.parse().ok().and_then(|number: usize| self.ends.get(number).copied());
                let both = matches!(self.matrix, Some((Matrix::BothWays, _)));
                self.row(line, end.map(if both { Row::Between } else { Row::From }), cells)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// A row of TransferBench. Where both ways copy at once there may be three of an end: `->` what it sends, `<-` what it receives, and
    /// `<->` the sum of the two.
    fn of_arrow(&mut self, line: LogLine<'_>, end: End, arrow: &str, cells: &[&str]) -> Result<(), Box<Diagnostic>> {
        let both = matches!(self.matrix, Some((Matrix::BothWays, _)));
        let row = match arrow {
            "->" if both => Row::Sends(end),
            "<-" => Row::Receives(end),
            "<->" if self.rows.contains(&Row::Sends(end)) => return Ok(()),
            _ => Row::From(end),
        };
        self.row(line, Some(row), cells)
    }

    fn header(&self, first: &str, names: &[&str]) -> Vec<Option<End>> {
        if names.first().is_some_and(|name| ["CPU", "GPU"].contains(name)) {
            return names.chunks(2).map(|pair| named(pair[0], pair.get(1)?)).collect();
        }
        // The host matrix of busGrind numbers GPUs alone, whatever its list says of them, and may end with a total.
        let only_gpus = self.ends.is_empty() || first == "Dir\\D";
        let by_device = |name: &&str| {
            let number: usize = name.parse().ok()?;
            if only_gpus { Some(End::Gpu(number)) } else { self.ends.get(number).copied() }
        };
        names.iter().map(by_device).collect()
    }

    /// Counts the cells of a row, of which there is one for each column.
    fn count(&mut self, line: LogLine<'_>, cells: usize) -> Result<(), Box<Diagnostic>> {
        if cells != self.columns.len() {
            let message = format!("the row has {} cells, and the matrix {} columns", cells, self.columns.len());
            let help = "complete the row: the log may have been cut off";
            return Err(self.source.error(Span::line(line.number), message, help));
        }
        self.cells += cells;
        if self.cells > MOST_ROWS {
            return Err(self.source.error(
                Span::line(line.number),
                format!("more than {MOST_ROWS} cells"),
                "give fewer",
            ));
        }
        Ok(())
    }

    fn row(&mut self, line: LogLine<'_>, row: Option<Row>, cells: &[&str]) -> Result<(), Box<Diagnostic>> {
        let Some((matrix, title)) = self.matrix.clone() else { return Ok(()) };
        self.count(line, cells.len())?;
        if let Matrix::Unused(why) = matrix {
            let place = self.source.place(line.number, 1);
            self.source.skip(&mut self.log, place, title, why);
            self.matrix = None;
            return Ok(());
        }
        self.rows.extend(row);
        for (&cell, column) in cells.iter().zip(self.columns.clone()) {
            let (Some(row), Some(column)) = (row, column) else { continue };
            let own = row.end() == Some(column);
            let between_processors = matches!((row.end(), column), (Some(End::Cpu(_)), End::Cpu(_)));
            if cell == "N/A" && !own && !between_processors {
                self.unmeasured.add(self.source.place_of(line, cell));
            }
            if cell == "N/A" || own || self.is_mirrored(row, column) {
                continue;
            }
            let place = self.source.place_of(line, cell);
            match self.experiment(matrix, row, column, cell) {
                Ok((experiment, seconds)) => {
                    let rows = vec![MeasuredTime { place, seconds, end: row.measured() }];
                    self.log.experiments.push(Experiment { rows, ..experiment });
                }
                Err(why) => {
                    self.source.skip(&mut self.log, place, format!("{title}, `{}`", number::excerpt(cell)), why)
                }
            }
        }
        Ok(())
    }

    /// Whether the cell of a row stands a second time, once for each end.
    fn is_mirrored(&mut self, row: Row, column: End) -> bool {
        let Row::Between(end) = row else { return false };
        !self.pairs.insert([end.min(column), end.max(column)])
    }

    /// The copies of a cell, and their seconds.
    fn experiment(&mut self, matrix: Matrix, row: Row, column: End, cell: &str) -> Result<(Experiment, f64), String> {
        let device = self.node(column)?;
        let (from, to) = match row {
            Row::From(end) | Row::Between(end) | Row::Sends(end) | Row::Receives(end) => (self.node(end)?, device),
            Row::FromHost => (self.host(device)?, device),
            Row::ToHost | Row::HostBothWays => (device, self.host(device)?),
        };
        if from == to {
            return Err("both ends are one device of this topology".to_owned());
        }
        let both = matrix == Matrix::BothWays || row == Row::HostBothWays;
        let copies = if both && row.measured() == MeasuredEnd::Last { 2.0 } else { 1.0 };
        let bytes = self.bytes.unwrap_or(BYTES);
        let seconds = number::logged(cell, "the cell", |value| copies * bytes as f64 / (value * 1e9))?;
        let mut transfers = vec![Transfer { from, to, bytes }];
        if both {
            transfers.push(Transfer { from: to, to: from, bytes });
        }
        self.used.extend([column].into_iter().chain(row.end()));
        let name = match (row, row.end()) {
            (_, Some(end)) => format!("{end} to {column}"),
            (Row::FromHost, _) => format!("host to {column}"),
            _ => format!("{column} to host"),
        };
        let name = format!("{name}{}", if both { ", both ways" } else { "" });
        Ok((Experiment { transfers, ..Experiment::plain(name) }, seconds))
    }

    fn host(&self, device: NodeId) -> Result<NodeId, String> {
        self.source.host_of(device).ok_or_else(|| "the topology has no cpu: add one, or name it by --host".to_owned())
    }

    /// The node of an end; of a processor what `--host` names, else the one in that place of the file.
    fn node(&self, end: End) -> Result<NodeId, String> {
        let source = self.source;
        match end {
            End::Gpu(number) => source
                .device(number)
                .ok_or_else(|| format!("there are only {} devices: name all by --devices", source.devices.len())),
            End::Cpu(number) => {
                let nodes = source.machine.fabric.nodes().iter().enumerate();
                let mut cpus = nodes.filter(|(_, node)| matches!(node.kind, NodeKind::Cpu | NodeKind::Host));
                let cpu = cpus.nth(number).map(|(at, _)| NodeId::from_index(at));
                source.host.or(cpu).ok_or_else(|| format!("the topology has no processor {number}: name one by --host"))
            }
        }
    }

    fn finish(mut self) -> Log {
        self.used.sort_by_key(|end| match end {
            End::Cpu(at) => (0, *at),
            End::Gpu(at) => (1, *at),
        });
        self.used.dedup();
        let name = |end: &End| {
            let node = self.node(*end).map_or_else(|why| why, |node| self.source.machine.path(node));
            format!("{end} = {node}")
        };
        let names: Vec<String> = self.used.iter().map(name).collect();
        if !names.is_empty() {
            let file = self.source.file;
            let how = match self.source.known_by {
                Some(by) => format!("GPUs by {by}; name another host by --host"),
                None => "name others by --devices, --host".to_owned(),
            };
            self.log.notes.push(format!("{file}: {} ({how})", names.join(", ")));
            self.log.notes.push(match self.bytes {
                Some(bytes) => format!("{file}: copies of {bytes} B, as the log says"),
                None => format!("{file}: copies of 512 MiB, assumed: the log gives no size"),
            });
        }
        self.log
    }
}
