//! The formats of dumps, and how a dump is recognised.

use std::fmt;

use crate::refusal::Refusal;

/// What a dump is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Format {
    /// Topology XML of NCCL or RCCL.
    Nccl,
    /// XML of hwloc 2 or 3.
    Hwloc,
    /// The matrix of `nvidia-smi topo -m`.
    NvidiaSmi,
    /// `lspci -tv` or `lspci -vv`.
    Lspci,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Nccl, Self::Hwloc, Self::NvidiaSmi, Self::Lspci];

    /// The word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Nccl => "nccl",
            Self::Hwloc => "hwloc",
            Self::NvidiaSmi => "nvidia-smi",
            Self::Lspci => "lspci",
        }
    }

    /// The command that makes a dump which says more, or the best one of this kind.
    #[must_use]
    pub fn better_dump(self) -> &'static str {
        match self {
            Self::Nccl => {
                "this is the most exact kind of dump; for another machine: `NCCL_TOPO_DUMP_FILE=topology.xml` in the \
                 environment of any NCCL or RCCL program, such as all_reduce_perf, run on all GPUs of the machine"
            }
            _ => {
                "run any NCCL or RCCL program, such as all_reduce_perf, on all GPUs of the machine with \
                 `NCCL_TOPO_DUMP_FILE=topology.xml` in its environment, and import topology.xml"
            }
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nccl => "NCCL topology XML",
            Self::Hwloc => "hwloc XML",
            Self::NvidiaSmi => "nvidia-smi topo -m",
            Self::Lspci => "lspci",
        })
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|format| format.word() == text).ok_or_else(|| format!("no dump is called `{text}`"))
    }
}

/// What the dumps are, for a remedy.
const KINDS: &str = "give NCCL topology XML, hwloc XML, or the output of `nvidia-smi topo -m`, `lspci -tv` or `lspci -vv`; \
     `--as` names the kind";

/// The format of a text, by its content.
pub(crate) fn recognise(text: &str) -> Result<Format, Refusal> {
    let start = text.trim_start();
    if start.starts_with('<') {
        return xml(start);
    }
    crate::smi::refuse_others(text)?;
    if text.lines().any(crate::smi::is_head) {
        return Ok(Format::NvidiaSmi);
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    if crate::lspci::is_tree(first) || crate::lspci::is_list(first) {
        return Ok(Format::Lspci);
    }
    if text.contains("<system") || text.contains("<topology") {
        let help = "remove what stands before `<system` or `<topology`";
        return Err(Refusal::new("there is XML in the file, but it does not begin with it").at(1).help(help));
    }
    Err(Refusal::new("no dump of a kind that is known").at(1).help(KINDS))
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
        "" => Err(Refusal::new("the XML has no element: the file is cut, or no XML").help(KINDS)),
        other => {
            let other: String = other.chars().take(40).collect();
            let message = format!("XML whose root is `{other}`; NCCL's is `system`, hwloc's `topology`");
            Err(Refusal::new(message).help(KINDS))
        }
    }
}
