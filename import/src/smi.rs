//! The matrix of `nvidia-smi topo -m`. It says of each pair of devices what their way passes; the tree is a guess from that,
//! and there are no bus ids, speeds or widths.
//!
//! ```text
//!         GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity
//! GPU0     X      PIX     SYS     0-31            0
//! ```

mod check;
mod guess;
mod listed;
mod matrix;
mod text;

use crate::finding::Findings;
use crate::format::Format;
use crate::machine::Machine;
use crate::refusal::Refusal;
use crate::rocm;

/// Whether a line may be the head of a matrix.
pub(crate) fn is_head(line: &str) -> bool {
    text::without_escapes(line).trim_start().starts_with("GPU0")
}

/// Whether a line begins a matrix, or the list of GPUs before one.
pub(crate) fn begins(line: &str) -> bool {
    is_head(line) || listed::is_row(line)
}

pub(crate) fn read(text: &str, findings: &mut Findings) -> Result<Machine, Refusal> {
    if let Some(line) = rocm::line_of(text) {
        let refusal = Refusal::new("this is the output of rocm-smi, not of nvidia-smi").at(line);
        return Err(refusal.help("leave out `--as`, or write `--as rocm-smi`"));
    }
    let matrix = text::read(text, findings)?;
    findings.warning(
        "the tree is a guess: `nvidia-smi topo -m` shows what is between two devices, but no bus ids, speeds or widths",
        Format::NvidiaSmi.better_dump(false),
    );
    guess::machine(&matrix, &listed::read(text), findings)
}
