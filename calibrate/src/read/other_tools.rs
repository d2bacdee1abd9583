//! Outputs that weir knows and cannot use as logs: what they are, and what to run in their place.

/// A tool by a mark in its output, and what to run in its place.
struct OtherTool {
    mark: &'static [&'static str],
    tool: &'static str,
    remedy: &'static str,
}

const TOOLS: [OtherTool; 22] = [
    OtherTool {
        mark: &["NVIDIA-SMI has failed"],
        tool: "`nvidia-smi`, which failed",
        remedy: "see that the driver is loaded, and run `nvbandwidth -j` for a log",
    },
    OtherTool {
        mark: &["| NVIDIA-SMI "],
        tool: "`nvidia-smi`, a list of GPUs without measured bandwidths",
        remedy: "run `nvbandwidth -j` for a log",
    },
    OtherTool {
        mark: &["TransferBench v"],
        tool: "TransferBench, of another preset than `p2p`",
        remedy: "run `TransferBench p2p`",
    },
    OtherTool {
        mark: &["Weight between two GPUs", "Hops between two GPUs", "Link Type between two GPUs"],
        tool: "`rocm-smi --showtopo`, which has weights and hops and no measured bandwidth",
        remedy: "run `rocm-bandwidth-test -a` or `TransferBench p2p`; for a topology, import it (`weir import`), or better RCCL's dump",
    },
    OtherTool {
        mark: &["Bandwidth between two GPUs"],
        tool: "`rocm-smi --shownodesbw`, whose bandwidths are computed from the links, not measured",
        remedy: "run `rocm-bandwidth-test -a` or `TransferBench p2p`",
    },
    OtherTool {
        mark: &["WEIGHT TABLE:", "LINK TYPE TABLE:"],
        tool: "`amd-smi topology`, which has no measured bandwidth",
        remedy: "run `rocm-bandwidth-test -a` or `TransferBench p2p`",
    },
    OtherTool {
        mark: &["CPU Affinity", "Legend:"],
        tool: "`nvidia-smi topo -m`, a dump of a machine without measured bandwidths",
        remedy: "use it with `weir import`, and run `nvbandwidth -j` for a log",
    },
    OtherTool {
        mark: &["<system version="],
        tool: "NCCL's dump of a machine, without measured bandwidths",
        remedy: "use it with `weir import`, and run nccl-tests for a log",
    },
    OtherTool {
        mark: &[
            "-[0000:",
            "-[00]-",
            "PCI bridge:",
            "PCI bridge [0604]",
            "LnkCap:",
            "Host bridge:",
            "Host bridge [0600]",
        ],
        tool: "`lspci`, a dump of a machine without measured bandwidths",
        remedy: "use it with `weir import`, and run `nvbandwidth -j` for a log",
    },
    OtherTool {
        mark: &["<topology", "<object type=\"Machine\"", "Machine (", "HostBridge", "Package L#0"],
        tool: "hwloc (`lstopo`), a dump of a machine without measured bandwidths",
        remedy: "use its XML (`lstopo --of xml`) with `weir import`, and run `nvbandwidth -j` for a log",
    },
    OtherTool {
        mark: &["HSA System Attributes", "HSA Agents"],
        tool: "`rocminfo`, a list of processors and GPUs without measured bandwidths",
        remedy: "run `rocm-bandwidth-test -a` or `TransferBench p2p`",
    },
    OtherTool {
        mark: &["CPU(s):", "NUMA node(s):"],
        tool: "`lscpu`, which has no measured bandwidths",
        remedy: "run `nvbandwidth -j` for a log",
    },
    OtherTool {
        mark: &["\"out_of_place\""],
        tool: "nccl-tests as JSON (`-J`)",
        remedy: "give the text output, the table that the test prints as well: save its standard output",
    },
    OtherTool {
        mark: &["#bytes #iterations", "t_typical[usec]"],
        tool: "a latency test of perftest",
        remedy: "run `ib_write_bw -a` for bandwidths",
    },
    OtherTool {
        mark: &["Couldn't connect to ", "Unable to init the socket connection"],
        tool: "a test of perftest that did not reach its server",
        remedy: "start the same test on the other machine first, without a host name",
    },
    OtherTool {
        mark: &["# nThread "],
        tool: "nccl-tests, which ended before its table",
        remedy: "mend what its last lines say, and run it again",
    },
    OtherTool {
        mark: &["Link 0: "],
        tool: "`nvidia-smi nvlink`, which has rates of wires, not measured copies",
        remedy: "run `nvbandwidth -j` for a log",
    },
    OtherTool {
        mark: &["CA type:", "Infiniband device '"],
        tool: "`ibstat`, a list of ports without measured bandwidths",
        remedy: "run `ib_write_bw -a` between two machines",
    },
    OtherTool {
        mark: &["bytes   iters   total       time     MB/sec"],
        tool: "a test of libfabric (`fi_*`)",
        remedy: "run `osu_bw` over libfabric, or write its rows as CSV: from,to,bytes,seconds",
    },
    OtherTool {
        mark: &["| Diagnostic "],
        tool: "`dcgmi diag`, which says what passed",
        remedy: "run `nvbandwidth -j` for a log",
    },
    OtherTool {
        mark: &["Intel(R) Memory Latency Checker", "STREAM version"],
        tool: "a test of the CPU's own memory, which no device takes part in",
        remedy: "write the bandwidth it found as that of `memory` in the topology; run `nvbandwidth -j` for the links",
    },
    OtherTool {
        mark: &["[ ID] Interval"],
        tool: "iperf3, streams of TCP",
        remedy: "run `ib_write_bw -a` or `osu_bw`, or write its rows as CSV: from,to,bytes,seconds",
    },
];

/// What a text is, and what to run in its place; `None` for a text that weir does not know.
pub(super) fn known(text: &str) -> Option<(&'static str, &'static str)> {
    let found = TOOLS.iter().find(|other| other.mark.iter().any(|mark| text.contains(mark)));
    found.map(|other| (other.tool, other.remedy))
}
