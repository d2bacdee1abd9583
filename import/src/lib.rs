//! Reads a dump of a machine into a topology file of weir: text in, topology and findings out.
//!
//! ```text
//! bytes ─► decode ─► recognise ─► nccl, hwloc, smi, rocm, lspci ─► Machine ─► complete ─► yaml (the topology file)
//!          (text)    (format)     (one file per format)            (tree,     (ports,     show (the tree for a person)
//!                                                                   laterals)  doubts)    findings
//! ```
//!
//! What a dump does not say is assumed; what it says is written even where it is doubtful. A finding reports both, with the
//! bus id and the key that changes it. Numbers are measured medians, or NCCL's own, see `bandwidth` and `pcie`.

mod adding;
mod all_to_all;
mod bandwidth;
mod bus;
mod class;
mod complete;
mod decode;
mod detours;
mod doubts;
mod engines;
mod finding;
mod format;
mod functions;
mod gpu;
mod hwloc;
mod link_types;
mod lscpu;
mod lspci;
mod machine;
mod missing;
mod module;
mod names;
mod nccl;
mod pcie;
mod printable;
mod recognise;
mod refusal;
mod rocm;
mod show;
mod smi;
mod xml;
mod yaml;

pub use bandwidth::Figures;
pub use decode::MOST_BYTES;
pub use finding::{Finding, Level};
pub use format::Format;
pub use machine::Counts;
pub use module::{AddedLinks, Addition, Module};
pub use refusal::Refusal;

/// What to make of a dump.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The format; recognised by content where it is not given.
    pub format: Option<Format>,
    /// Which bandwidths are written.
    pub figures: Figures,
    /// What is added to what the dump has.
    pub add: Option<Addition>,
}

/// A dump that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Import {
    /// What the dump was.
    pub format: Format,
    /// The text of the topology file, ready to be written.
    pub yaml: String,
    /// The machine as a tree for a person.
    pub tree: String,
    /// Which bandwidths were written, and for each link type what it is and where its number is from.
    pub bandwidths: String,
    /// What was assumed, doubtful or left out.
    pub findings: Vec<Finding>,
    /// How many of what there are.
    pub counts: Counts,
    /// The kinds of its links that are no part of a PCIe tree.
    pub kinds_beside_pcie: Vec<&'static str>,
    /// The newest generation of PCIe in its tree, where the dump tells it.
    pub pcie_generation: Option<u8>,
    /// The command that makes a dump which says more.
    pub better_dump: &'static str,
}

/// Reads a dump. `name` becomes the name of the topology.
///
/// # Errors
/// Text that is too large, not text, not of the format or cut; a machine too large or too deep for a topology file.
pub fn import(bytes: &[u8], name: &str, options: &Options) -> Result<Import, Refusal> {
    let text = decode::text(bytes)?;
    let format = match options.format {
        Some(format) => format,
        None => recognise::format(&text)?,
    };
    // These do not name the processor.
    let (lscpu, text) = match format {
        Format::Lspci | Format::NvidiaSmi => {
            lscpu::split(&text, |line| lspci::is_sure_start(line) || smi::begins(line))
        }
        Format::RocmSmi => lscpu::split(&text, rocm::begins),
        Format::Nccl | Format::Hwloc => (None, text),
    };
    let mut findings = finding::Findings::default();
    let mut machine = match format {
        Format::Nccl => nccl::read(&text, &mut findings)?,
        Format::Hwloc => hwloc::read(&text, &mut findings)?,
        Format::NvidiaSmi => smi::read(&text, &mut findings)?,
        Format::RocmSmi => rocm::read(&text, &mut findings)?,
        Format::Lspci => lspci::read(&text, &mut findings)?,
    };
    if let Some(lscpu) = lscpu {
        lscpu.complete(&mut machine, &mut findings)?;
    }
    if let Some(addition) = options.add {
        adding::add(&mut machine, addition, &mut findings)?;
    }
    complete::complete(&mut machine, &mut findings);
    engines::complete(&mut machine, &mut findings);
    let names = names::Names::of(&machine);
    names.report_makers(&machine, &mut findings);
    let types = link_types::LinkTypes::of(&machine, options.figures);
    missing::report(&machine, &names, options.figures, &mut findings);
    detours::report(&machine, &names, options.figures, &mut findings);
    doubts::report(&machine, &names, &types, format, &mut findings);
    let counts = machine.counts();
    let pcie_generation = machine.pcie_generation();
    let better_dump = format.better_dump(machine.is_preset);
    findings.of_machine(&machine, &counts, better_dump);
    let head = yaml::Head { name, format, figures: options.figures };
    let findings = findings.list();
    let yaml = yaml::write(&machine, &names, &types, &head, &findings);
    let bandwidths = show::bandwidths(&types, options.figures);
    let (tree, kinds_beside_pcie) = (show::tree(&machine, &names, &types), types.kinds_beside_pcie());
    Ok(Import { format, yaml, tree, bandwidths, findings, counts, kinds_beside_pcie, pcie_generation, better_dump })
}
