//! What the lines of an nccl-tests log say that are no rows: columns, ranks with their machines and devices, the program, and
//! the algorithms of NCCL's own lines between them (`NCCL_DEBUG=INFO`, `NCCL_DEBUG_SUBSYS=TUNING`).

use std::collections::{BTreeMap, BTreeSet};

use super::number::MOST_ROWS;
use super::options::Collective;

/// Columns of a table, where its header is gone.
const COLUMNS: [&str; 13] =
    ["size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong"];
/// Columns before the time that no row lacks: `size count type`.
const ALWAYS: usize = 3;
/// Columns of the part in place.
const IN_PLACE: usize = 4;

/// What the lines above a row say.
pub(super) struct TableHead {
    /// Ranks of the run that the lines belong to.
    pub(super) ranks: usize,
    /// The machines of these ranks.
    pub(super) hosts: BTreeSet<String>,
    /// The number of each rank's device.
    pub(super) numbers: BTreeMap<usize, usize>,
    /// The PCI address of each rank's device.
    pub(super) addresses: BTreeMap<usize, String>,
    /// The algorithm that NCCL says it took for so many bytes.
    pub(super) algorithms: BTreeMap<u64, String>,
    /// The program that the log names last.
    pub(super) program: Option<Result<Collective, String>>,
    /// Columns: how many, and which hold times.
    pub(super) columns: usize,
    times: Vec<usize>,
}

impl TableHead {
    pub(super) fn new() -> Self {
        let mut table = Self {
            ranks: 0,
            hosts: BTreeSet::new(),
            numbers: BTreeMap::new(),
            addresses: BTreeMap::new(),
            algorithms: BTreeMap::new(),
            program: None,
            columns: 0,
            times: Vec::new(),
        };
        table.header(&COLUMNS);
        table
    }

    fn header(&mut self, words: &[&str]) {
        self.columns = words.len();
        self.times = (0..words.len()).filter(|&at| words[at] == "time").collect();
    }

    /// A line that is no row.
    pub(super) fn line(&mut self, text: &str) {
        let words: Vec<&str> = text.trim_start_matches(['#', ' ']).split_whitespace().collect();
        match words[..] {
            ["size", ..] if words.contains(&"time") => self.header(&words),
            // A run begins: earlier ranks are those of the run before.
            ["nThread", ..] => self.run_begins(),
            _ => self.rank(text, &words),
        }
        if let Some((bytes, algorithm)) = algorithm_of(&words) {
            self.algorithms.insert(bytes, algorithm);
        }
        self.program = program_of(text).or(self.program.take());
    }

    fn run_begins(&mut self) {
        self.ranks = 0;
        self.hosts.clear();
        self.numbers.clear();
        self.addresses.clear();
        self.algorithms.clear();
    }

    /// `Rank  3 Group  0 Pid  12345 on  host device  3 [0000:1b:00] NVIDIA H100`.
    fn rank(&mut self, text: &str, words: &[&str]) {
        let Some(rank) = rank_of(text).filter(|&rank| rank < MOST_ROWS) else { return };
        self.ranks = self.ranks.max(rank + 1);
        let mut after_on = words.iter().skip_while(|word| **word != "on").skip(1);
        self.hosts.extend(after_on.next().map(|host| (*host).to_owned()));
        let number = words.iter().skip_while(|word| **word != "device").nth(1).and_then(|number| number.parse().ok());
        if let Some(number) = number {
            self.numbers.insert(rank, number);
        }
        let address = after_on.find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
        if let Some(address) = address {
            self.addresses.insert(rank, address.to_owned());
        }
    }

    /// The fields that hold times; `None` for a row that was cut off. Fewer fields than columns lack the part in place,
    /// or empty ones between the type and the time (`redop` and `root`, of which old versions have only the first).
    pub(super) fn times<'a>(&self, fields: &[&'a str]) -> Option<Vec<&'a str>> {
        let missing = self.columns.checked_sub(fields.len())?;
        let first = *self.times.first()?;
        match missing {
            0 => self.times.iter().map(|&at| fields.get(at).copied()).collect(),
            IN_PLACE => fields.get(first).map(|&field| vec![field]),
            1 | 2 if first >= ALWAYS + missing => {
                self.times.iter().map(|&at| fields.get(at - missing).copied()).collect()
            }
            _ => None,
        }
    }
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

/// Names of NCCL's algorithms by their numbers (NCCL, src/include/nccl_common.h).
const ALGORITHMS: [&str; 7] = ["tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat"];

/// The bytes and the algorithm of NCCL's line `262144 Bytes -> Algo 0 proto 1`, or `Algo RING` in newer versions.
fn algorithm_of(words: &[&str]) -> Option<(u64, String)> {
    let at = words.windows(3).position(|three| three[0] == "Bytes" && three[1..] == ["->", "Algo"])?;
    let bytes = words.get(at.checked_sub(1)?)?.parse().ok()?;
    let name = words.get(at + 3)?.to_ascii_lowercase();
    let numbered = name.parse::<usize>().ok().and_then(|number| ALGORITHMS.get(number).copied());
    Some((bytes, numbered.map_or(name, str::to_owned)))
}

/// Types of elements of nccl-tests (common.cu, test_typenames).
const TYPES: [&str; 15] = [
    "int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16", "f8e4m3", "f8e5m2",
    "char", "int", "fp8",
];
/// How near the bytes over the time must be to `algbw`, which has two decimals.
const NEAR: f64 = 0.02;

/// Whether a line is a row of a table whatever stands above it: bytes, elements, their type, and bytes over time that are
/// the throughput beside it.
pub(super) fn is_row(line: &str) -> bool {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [size, count, kind, ref rest @ ..] = fields[..] else { return false };
    let (Ok(size), Ok(_)) = (size.parse::<f64>(), count.parse::<u64>()) else { return false };
    // `redop` and `root` may be empty.
    let agree = |at: usize| {
        let number = |at: usize| rest.get(at).and_then(|field| field.parse::<f64>().ok());
        let (Some(us), Some(algbw), Some(_)) = (number(at), number(at + 1), number(at + 2)) else { return false };
        us > 0.0 && (size / us / 1e3 - algbw).abs() <= 0.01 + NEAR * algbw
    };
    TYPES.contains(&kind) && (COLUMNS.len() - 6..=COLUMNS.len()).contains(&fields.len()) && (0..3).any(agree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_known_by_their_numbers() {
        for line in [
            "  33554432  4194304  double  sum  -1  182.87  183.49  321.10  0  182.88  183.48  321.08  0",
            "  33554432  4194304  float   none -1  182.87  183.49  321.10  N/A",
            "         8        2  float    sum  -1    0.52    0.02    0.03  0    0.61    0.01    0.02  0",
            "  33554432  4194304  float         182.87  183.49  321.10  0e+00  182.88  183.48  321.08  0e+00",
        ] {
            assert!(is_row(line), "{line}");
        }
        for line in [
            "  33554432  4194304  double  sum  -1  182.87  1.49  321.10  0  182.88  183.48  321.08  0",
            "  33554432  4194304  apples  sum  -1  182.87  183.49  321.10  0  182.88  183.48  321.08  0",
            "1 2 3",
            "",
        ] {
            assert!(!is_row(line), "{line}");
        }
    }

    #[test]
    fn algorithms_are_read_by_name_and_number() {
        let of = |text: &str| algorithm_of(&text.split_whitespace().collect::<Vec<_>>());
        let old = "h100:497888:497888 [0] NCCL INFO 262144 Bytes -> Algo 4 proto 2 time 54.707825";
        assert_eq!(of(old), Some((262_144, "nvls".to_owned())));
        let new = "h:1:1 [0] NCCL INFO AllReduce: 4194304 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}";
        assert_eq!(of(new), Some((4_194_304, "ring".to_owned())));
        for none in ["Bytes -> Algo", "x Bytes -> Algo 1", "1 Bytes -> Algo", ""] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
