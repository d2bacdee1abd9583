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

    /// The kind of a text by what stands in it.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let head: String = text.lines().take(2000).map(|line| untagged(line).0.to_owned() + "\n").collect();
        let begin = head.trim_start();
        if begin.starts_with('{') {
            return head.contains("nvbandwidth").then_some(Self::Nvbandwidth);
        }
        if nvbandwidth_text::is_text(&head) {
            return Some(Self::Nvbandwidth);
        }
        if matrix_parts::is_rocm(&head) {
            return Some(Self::Rocm);
        }
        if matrix_parts::is_bus_grind(&head) {
            return Some(Self::BusGrind);
        }
        if bandwidth_test::is_text(&head) {
            return Some(Self::BandwidthTest);
        }
        if perftest::is_text(&head) {
            return Some(Self::Perftest);
        }
        // Without the lines before it, a matrix has a title such as `Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)`.
        let matrix = |l: &str| l.contains("P2P=") && l.contains("Matrix");
        if head.contains("Peer-to-Peer") || head.contains("Bandwidth Matrix (GB/s)") || head.lines().any(matrix) {
            return Some(Self::P2p);
        }
        let titled = |l: &str| l.contains("size") && l.contains("algbw") && l.contains("busbw");
        if head.lines().any(|l| titled(l) || nccl_head::is_row(l)) {
            return Some(Self::Nccl);
        }
        if head.lines().any(|l| l.trim_start().starts_with("# OSU ") || l.trim_start().starts_with("# Size ")) {
            return Some(Self::Osu);
        }
        let header = head.lines().find(|l| !l.trim().is_empty() && !l.starts_with('#'))?;
        let columns: Vec<&str> = header.split(',').map(|c| c.trim().trim_matches('"')).collect();
        ["from", "to", "bytes", "seconds"].iter().all(|need| columns.contains(need)).then_some(Self::Csv)
    }
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
