//! Which kind a log is, and what the command line says about logs.

use super::tag::untagged;
use super::{bandwidth_test, matrix_parts, nccl_head, nvbandwidth_text, perftest};

/// A program or format that logs come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogKind {
    /// A table `from,to,bytes,seconds,group`.
    Csv,
    /// What `nvbandwidth` prints, as JSON or text.
    Nvbandwidth,
    /// Text of the CUDA sample `p2pBandwidthLatencyTest`.
    P2p,
    /// The output of nccl-tests.
    Nccl,
    /// A table of an OSU micro-benchmark.
    Osu,
    /// Text of the CUDA sample `bandwidthTest`.
    BandwidthTest,
    /// Matrices of `rocm-bandwidth-test` or TransferBench `p2p`.
    Rocm,
    /// Matrices of `busGrind`.
    BusGrind,
    /// A table of perftest (`ib_write_bw`).
    Perftest,
}

impl LogKind {
    /// All kinds, in the order of the help.
    pub const ALL: [Self; 9] = [
        Self::Csv,
        Self::Nvbandwidth,
        Self::P2p,
        Self::Nccl,
        Self::Osu,
        Self::BandwidthTest,
        Self::Rocm,
        Self::BusGrind,
        Self::Perftest,
    ];

    /// The name for `--as`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Nvbandwidth => "nvbandwidth",
            Self::P2p => "p2p",
            Self::Nccl => "nccl-tests",
            Self::Osu => "osu",
            Self::BandwidthTest => "bandwidth-test",
            Self::Rocm => "rocm-bandwidth-test",
            Self::BusGrind => "bus-grind",
            Self::Perftest => "perftest",
        }
    }

    /// Whether what it numbers are GPUs.
    pub(super) fn is_of_gpus(self) -> bool {
        !matches!(self, Self::Csv | Self::Osu | Self::Perftest)
    }

    /// What of its output weir uses, for a person whose log has none of it.
    #[must_use]
    pub fn uses(self) -> &'static str {
        match self {
            Self::Csv => "rows of transfers with their seconds",
            Self::Nvbandwidth => "tests of the copy engine, such as `host_to_device_memcpy_ce`",
            Self::P2p => "copies between GPUs that reach each other (P2P enabled); for others run `nvbandwidth -j`",
            Self::Nccl => {
                "`all_reduce_perf`, `all_gather_perf`, `reduce_scatter_perf`, `alltoall_perf` and `sendrecv_perf`"
            }
            Self::Osu => "`osu_bw`, `osu_bibw`, `osu_mbw_mr` and `osu_latency`",
            Self::BandwidthTest => "copies of `bandwidthTest --memory=pinned` to and from the host",
            Self::Rocm => "the matrices of `rocm-bandwidth-test -a` and `TransferBench p2p`",
            Self::BusGrind => "the matrix of host copies, and those with P2P enabled",
            Self::Perftest => "`ib_write_bw`, `ib_read_bw` and `ib_send_bw`",
        }
    }

    /// The kind of a text by what stands in it; of several, the first of the search.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let head = untagged_lines(text, HEAD_LINES);
        if head.trim_start().starts_with('{') {
            return head.contains("nvbandwidth").then_some(Self::Nvbandwidth);
        }
        BY_MARKS.into_iter().find(|kind| kind.marks(&head))
    }

    /// The kinds whose outputs stand one behind the other in a text, each with its first line; busGrind's own output has
    /// matrices as the peer-to-peer sample writes them.
    pub(super) fn all_of(text: &str) -> Vec<(Self, u32)> {
        let text = untagged_lines(text, usize::MAX);
        let mut found: Vec<Self> = BY_MARKS.into_iter().filter(|kind| kind.marks(&text)).collect();
        if found.contains(&Self::BusGrind) {
            found.retain(|&kind| kind != Self::P2p);
        }
        let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end + 1).collect();
        let first = |kind: Self| ends.partition_point(|&end| !kind.marks(&text[..end])) as u32 + 1;
        let mut found: Vec<_> = found.into_iter().map(|kind| (kind, first(kind))).collect();
        found.sort_by_key(|found| found.1);
        found
    }

    /// Whether a text has what only this program writes.
    fn marks(self, head: &str) -> bool {
        match self {
            Self::Nvbandwidth => nvbandwidth_text::is_text(head) || head.contains("\"nvbandwidth\""),
            Self::Rocm => matrix_parts::is_rocm(head),
            Self::BusGrind => matrix_parts::is_bus_grind(head),
            Self::BandwidthTest => bandwidth_test::is_text(head),
            Self::Perftest => perftest::is_text(head),
            Self::P2p => is_p2p(head),
            Self::Nccl => head.lines().any(|line| is_nccl_title(line) || nccl_head::is_row(line)),
            Self::Osu => head.lines().map(str::trim_start).any(|l| l.starts_with("# OSU ") || l.starts_with("# Size ")),
            Self::Csv => is_csv(head),
        }
    }
}

/// The kinds, those with the surest marks first.
const BY_MARKS: [LogKind; 9] = [
    LogKind::Csv,
    LogKind::Nvbandwidth,
    LogKind::Rocm,
    LogKind::BusGrind,
    LogKind::BandwidthTest,
    LogKind::Perftest,
    LogKind::P2p,
    LogKind::Nccl,
    LogKind::Osu,
];

/// Lines that say the kind; *assumed*, enough for what programs print before their tables.
const HEAD_LINES: usize = 2000;

fn untagged_lines(text: &str, most: usize) -> String {
    text.lines().take(most).map(|line| untagged(line).0.to_owned() + "\n").collect()
}

fn is_p2p(head: &str) -> bool {
    // Without the lines before it, a matrix has a title such as `Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)`.
    let matrix = |l: &str| l.contains("P2P=") && l.contains("Matrix");
    head.contains("Peer-to-Peer") || head.contains("Bandwidth Matrix (GB/s)") || head.lines().any(matrix)
}

fn is_nccl_title(line: &str) -> bool {
    ["size", "algbw", "busbw"].iter().all(|column| line.contains(column))
}

fn is_csv(head: &str) -> bool {
    let header = head.lines().find(|l| !l.trim().is_empty() && !l.starts_with('#')).unwrap_or("");
    let columns: Vec<&str> = header.split(',').map(|c| c.trim().trim_matches('"')).collect();
    ["from", "to", "bytes", "seconds"].iter().all(|need| columns.contains(need))
}

/// Collectives of nccl-tests that weir can simulate as a ring or as pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collective {
    /// `all_reduce_perf`.
    AllReduce,
    /// `all_gather_perf`.
    AllGather,
    /// `reduce_scatter_perf`.
    ReduceScatter,
    /// `alltoall_perf`.
    AllToAll,
    /// `sendrecv_perf`.
    SendRecv,
}

impl Collective {
    /// All collectives, in the order of the help.
    pub const ALL: [Self; 5] = [Self::AllReduce, Self::AllGather, Self::ReduceScatter, Self::AllToAll, Self::SendRecv];

    /// The name for `--collective`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllToAll => "all-to-all",
            Self::SendRecv => "send-recv",
        }
    }
}

/// What the command line says about logs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// The kind, where it is not to be recognised.
    pub kind: Option<LogKind>,
    /// The device of each number in a log: `gpu[0-7]`; all gpus in file order unless it is given.
    pub devices: Option<String>,
    /// The two devices of a log of a pair: `gpu0,gpu1`.
    pub pair: Option<String>,
    /// Host memory; the nearest cpu of each device unless it is given.
    pub host: Option<String>,
    /// Which collective a table of nccl-tests is of.
    pub collective: Option<Collective>,
}
