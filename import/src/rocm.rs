//! The output of `rocm-smi --showtopo`, with what other options of `rocm-smi` print beside it. It says of each pair of GPUs whether PCIe
//! or xGMI joins them, and the NUMA node of each GPU; there are no switches, speeds or widths.
//!
//! ```text
//! ======== Link Type between two GPUs ========
//!        GPU0         GPU1
//! GPU0   0            XGMI
//! GPU1   XGMI         0
//! ================ Numa Nodes ================
//! GPU[0]          : (Topology) Numa Node: 0
//! ```
//!
//! The form is that of `python_smi_tools/rocm_smi.py` in ROCm/rocm_smi_lib, commit 007f326c.

mod grid;
mod listed;
mod machine;
mod text;
mod xgmi;

use crate::finding::Findings;
use crate::format::Format;
use crate::machine::Machine;
use crate::refusal::Refusal;
use text::Section;

/// What prints all that is read here.
pub(crate) const COMMAND: &str = "`rocm-smi --showtopo --shownodesbw --showproductname --showbus`";

/// What only `rocm-smi` writes.
const WORDS: [&str; 5] = [
    "ROCm System Management Interface",
    "ROCm SMI",
    "between two GPUs",
    "(Topology) Numa",
    // With `--json`.
    "between DRM devices",
];

/// Whether a line begins the output, or goes on with it.
pub(crate) fn begins(line: &str) -> bool {
    WORDS.iter().any(|words| line.contains(words)) || Section::of_title(line).is_some() || listed::is_row(line)
}

/// The first line of a text that only `rocm-smi` writes.
pub(crate) fn line_of(text: &str) -> Option<u32> {
    let is = |line: &str| WORDS.iter().any(|words| line.contains(words));
    (1..).zip(text.lines()).find(|(_, line)| is(line)).map(|(number, _)| number)
}

pub(crate) fn read(text: &str, findings: &mut Findings) -> Result<Machine, Refusal> {
    let Some(first) = line_of(text) else {
        return Err(Refusal::new("no output of rocm-smi").help(format!("give the output of {COMMAND}")));
    };
    if text.contains("between DRM devices") {
        let refusal = Refusal::new("this is rocm-smi's JSON or CSV, which is not read").at(first);
        return Err(refusal.help(format!("leave out `--json` and `--csv`: run {COMMAND}")));
    }
    let topology = text::read(text, findings).map_err(|refusal| refusal.or_at(first))?;
    findings.warning(
        "the tree is a guess: `rocm-smi --showtopo` shows the NUMA node of each GPU, but no switches, network cards, speeds or widths",
        Format::RocmSmi.better_dump(false),
    );
    let listed = listed::read(text);
    let mut machine = machine::of(&topology, &listed, findings)?;
    xgmi::add(&topology, &mut machine, findings);
    machine.join_sockets();
    Ok(machine)
}
