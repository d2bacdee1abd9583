//! Which format a dump has, by its content.

use crate::format::Format;
use crate::refusal::Refusal;
use crate::{lspci, rocm, smi};

/// The remedy where a text is no known dump.
const FORMATS: &str = "give NCCL topology XML, hwloc XML, or the output of `nvidia-smi topo -m`, `rocm-smi --showtopo`, `lspci -tv` or `lspci -vv`; \
     `--as` names the kind";

/// Outputs of AMD's tools that are not read: how a line of them begins, and what they are.
const OF_AMD: [(&str, &str); 4] = [
    ("HSA System Attributes", "`rocminfo`, which lists processors and GPUs without links and NUMA nodes"),
    ("HSA Agents", "`rocminfo`, which lists processors and GPUs without links and NUMA nodes"),
    ("WEIGHT TABLE:", "`amd-smi topology`, which has no NUMA nodes"),
    ("LINK TYPE TABLE:", "`amd-smi topology`, which has no NUMA nodes"),
];

/// Likewise of NVIDIA's.
const OF_NVIDIA: [(&str, &str); 2] = [
    ("| NVIDIA-SMI ", "`nvidia-smi`, a list of GPUs without links and NUMA nodes"),
    ("Link 0:", "`nvidia-smi nvlink`, links without their other ends"),
];

/// Likewise of hwloc, which may stand before a matrix or list that is read.
const OF_HWLOC: [(&str, &str); 4] =
    [("Machine (", LSTOPO), ("Package L#", LSTOPO), ("NUMANode L#", LSTOPO), ("HostBridge", LSTOPO)];
const LSTOPO: &str = "hwloc's `lstopo` as text";

/// Refuses what is known and not read.
fn not_read(text: &str, tools: &[(&str, &str)], instead: impl Fn() -> String) -> Result<(), Refusal> {
    let lines = || (1..).zip(text.lines());
    let of_mark =
        |&(mark, tool)| lines().find(|(_, line)| line.trim_start().starts_with(mark)).map(|(line, _)| (line, tool));
    let Some((line, tool)) = tools.iter().find_map(of_mark) else { return Ok(()) };
    Err(Refusal::new(format!("this is the output of {tool}")).at(line).help(instead()))
}

/// The format of a text, by its content.
pub(crate) fn format(text: &str) -> Result<Format, Refusal> {
    let start = text.trim_start();
    if start.starts_with('<') {
        return xml(start);
    }
    if rocm::line_of(text).is_some() {
        return Ok(Format::RocmSmi);
    }
    not_read(text, &OF_AMD, || {
        format!("give the output of {}, or better RCCL's dump: NCCL_TOPO_DUMP_FILE=topology.xml", rocm::COMMAND)
    })?;
    if text.lines().any(smi::is_head) {
        return Ok(Format::NvidiaSmi);
    }
    if lspci::start(text).is_some() {
        return Ok(Format::Lspci);
    }
    not_read(text, &OF_NVIDIA, || {
        "give the output of `nvidia-smi topo -m`, or better NCCL's dump: NCCL_TOPO_DUMP_FILE=topology.xml".to_owned()
    })?;
    if text.contains("<system") || text.contains("<topology") {
        let help = "remove what comes before `<system` or `<topology`";
        return Err(Refusal::new("there is XML in the file, but it does not begin with it").at(1).help(help));
    }
    not_read(text, &OF_HWLOC, || "give its XML, which is read: `lstopo --of xml machine.xml`".to_owned())?;
    Err(Refusal::new("no dump of a kind that is known").at(1).help(FORMATS))
}

/// By the first tag that is no declaration, comment or document type. A cut file is left to the parser.
fn xml(text: &str) -> Result<Format, Refusal> {
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let end = if rest.starts_with("<!--") {
            rest.find("-->")
        } else if rest.starts_with("<?") || rest.starts_with("<!") {
            rest.find('>')
        } else {
            break;
        };
        let Some(end) = end else { break };
        rest = &rest[end..];
    }
    let name = rest.strip_prefix('<').unwrap_or("");
    let name = name.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '!')).next().unwrap_or("");
    match name {
        "system" => Ok(Format::Nccl),
        "topology" => Ok(Format::Hwloc),
        "graphs" => Err(Refusal::new("these are NCCL's graphs (NCCL_GRAPH_DUMP_FILE), not its topology")
            .help("set `NCCL_TOPO_DUMP_FILE=topology.xml` instead and run again")),
        "" => Err(Refusal::new("the XML has no element: the file is cut, or no XML").help(FORMATS)),
        other => {
            let other: String = other.chars().take(40).collect();
            let message = format!("XML whose root is `{other}`; NCCL's is `system`, hwloc's `topology`");
            Err(Refusal::new(message).help(FORMATS))
        }
    }
}
