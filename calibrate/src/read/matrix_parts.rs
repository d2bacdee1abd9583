//! What matrices of copies are made of: titles, the ends of copies, and rows.

use crate::measurement::MeasuredEnd;

/// An end of copies, as a log has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum End {
    /// The k-th processor.
    Cpu(usize),
    /// The k-th GPU.
    Gpu(usize),
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cpu(at) => write!(f, "CPU {at}"),
            Self::Gpu(at) => write!(f, "GPU {at}"),
        }
    }
}

/// The matrix that the lines are of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Matrix {
    OneWay,
    BothWays,
    /// Not used: why.
    Unused(&'static str),
}

/// Whether a text is of rocm-bandwidth-test or TransferBench.
pub(super) fn is_rocm(head: &str) -> bool {
    // Version 2.3 has no `copy` in its titles; `average` stands where the program prints means (`DisplayCopyTimeMatrix`).
    let titles = [
        "directional copy peak bandwidth GB/s",
        "directional copy average bandwidth GB/s",
        "directional peak bandwidth GB/s",
    ];
    head.contains("RocmBandwidthTest") || titles.iter().any(|title| head.contains(title))
}

/// Whether a text has a host matrix of busGrind.
pub(super) fn is_bus_grind(head: &str) -> bool {
    head.contains("busGrind") || head.lines().any(|line| line.trim_start().starts_with("Dir\\D"))
}

/// What a row of a matrix is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    From(End),
    /// What it and the other end copy at once, one measurement that stands twice: once for each end.
    Between(End),
    /// What it sends while the other end sends to it, by its own time.
    Sends(End),
    /// What it receives then.
    Receives(End),
    FromHost,
    ToHost,
    HostBothWays,
}

impl Row {
    /// The end that it is of, where that is no host.
    pub(super) fn end(self) -> Option<End> {
        match self {
            Self::From(end) | Self::Between(end) | Self::Sends(end) | Self::Receives(end) => Some(end),
            Self::FromHost | Self::ToHost | Self::HostBothWays => None,
        }
    }

    /// What its cells are the times of: of two copies the one to the column comes first.
    pub(super) fn measured(self) -> MeasuredEnd {
        match self {
            Self::Sends(_) => MeasuredEnd::Transfer(0),
            Self::Receives(_) => MeasuredEnd::Transfer(1),
            _ => MeasuredEnd::Last,
        }
    }
}

pub(super) fn named(kind: &str, number: &str) -> Option<End> {
    let number = number.parse().ok()?;
    Some(if kind == "CPU" { End::Cpu(number) } else { End::Gpu(number) })
}

/// The matrix that a title begins.
pub(super) fn matrix_of(title: &str) -> Option<Matrix> {
    let lower = title.to_ascii_lowercase();
    let titled = lower.contains("bandwidth") && (lower.contains("gb/s") || lower.contains("matrix"));
    let other = lower.contains("inter-device") || lower.contains("device access") || lower.contains("numa distance");
    match () {
        () if other || lower.contains("latency") && lower.contains("matrix") => {
            Some(Matrix::Unused("no bandwidths of copies")).filter(|_| titled || lower.contains("latency"))
        }
        () if !titled => None,
        () if lower.contains("p2p=") => None,
        () if lower.contains("nic rdma") => Some(Matrix::Unused("copies between network cards")),
        () if lower.contains("unpinned") || lower.contains("pageable") => {
            Some(Matrix::Unused("pageable memory is staged in the host"))
        }
        () if lower.contains("concurrent") => Some(Matrix::Unused("weir does not know which copies ran at once")),
        () if lower.contains("bidirectional") || lower.contains("bdirectional") => Some(Matrix::BothWays),
        () if lower.contains("unidirectional") || lower.contains("host/device") => Some(Matrix::OneWay),
        () => None,
    }
}
