//! `lspci -tv` (the tree, without speeds and classes) and `lspci -vv` (each function with its link, best as root).

mod name;
mod tree;
mod verbose;

use crate::bus::BusId;
use crate::finding::Findings;
use crate::machine::Machine;
use crate::refusal::Refusal;

/// Whether a line may be the first of a tree.
pub(crate) fn is_tree(line: &str) -> bool {
    line.starts_with("-[") || line.starts_with("-+-[")
}

/// Whether a line may be the first of a list: `00:00.0 Host bridge: …`.
pub(crate) fn is_list(line: &str) -> bool {
    let id = line.split(' ').next().unwrap_or("");
    BusId::read(id).is_some() && line.len() > id.len()
}

pub(crate) fn read(text: &str, findings: &mut Findings) -> Result<Machine, Refusal> {
    let first = (1..).zip(text.lines()).find(|(_, line)| !line.trim().is_empty());
    match first {
        Some((_, line)) if is_tree(line) => tree::read(text, findings),
        Some((_, line)) if is_list(line) => verbose::read(text, findings),
        first => {
            let help = "give the output of `lspci -tv`, or better `sudo lspci -Dvvnn`, from its first line on";
            Err(Refusal::new("neither a tree nor a list of lspci").at(first.map_or(1, |(line, _)| line)).help(help))
        }
    }
}
