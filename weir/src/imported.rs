//! Dumps of machines as topologies, with the arbiters that fit their links.

use std::fmt::Write as _;

use weir_calibrate::LogKind;
use weir_import::{Counts, Import, Level, Options, Refusal};
use weir_report::text::clean;

use crate::{Error, MachineArbiters, Registry};

/// A topology that was made of a dump of a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ImportedTopology {
    /// The topology, with the arbiters for it as a comment on top.
    pub yaml: String,
    /// What was found and what was assumed, for a person.
    pub summary: String,
    /// What may be wrong.
    pub warnings: Vec<String>,
}

/// Makes a topology of a dump of a machine, called `name`; `file` is what errors call the dump.
///
/// # Errors
/// It is no dump that is known, or lacks what a topology needs.
pub fn import_topology(bytes: &[u8], name: &str, file: &str, options: &Options) -> Result<ImportedTopology, Error> {
    let import = weir_import::import(bytes, name, options)
        .map_err(|refusal| measured(bytes, file, options).unwrap_or_else(|| refused(file, &refusal)))?;
    let registry = Registry::built_in()?;
    let (kinds, generation) = (&import.kinds_beside_pcie, import.pcie_generation);
    let (arbiters, others) = (registry.map_for(kinds, generation), registry.others_for(kinds, generation));
    let mut summary = summary(&import);
    if let Some(arbiters) = &arbiters {
        for source in &arbiters.sources {
            let _ = writeln!(summary, "{}: {source}", Level::Assumed.word());
        }
        let _ = writeln!(summary, "in a scenario: `arbiter: {}`", arbiters.map);
    }
    for other in &others {
        let _ = writeln!(summary, "or `arbiter: {}`; {}", other.map, other.sources.join("; "));
    }
    let warnings = import.findings.iter().filter(|finding| finding.level == Level::Warning);
    let warnings = warnings.map(ToString::to_string).collect();
    Ok(ImportedTopology { yaml: with_arbiters(&import.yaml, arbiters.as_ref()), summary, warnings })
}

/// The topology with the arbiters for its links, which a scenario names, as a comment on top.
fn with_arbiters(yaml: &str, arbiters: Option<&MachineArbiters>) -> String {
    let comment = |arbiters: &MachineArbiters| {
        let sources: String = arbiters.sources.iter().map(|source| folded(source)).collect();
        format!("# For scenarios on this machine:\n#   arbiter: {}\n{sources}#\n", arbiters.map)
    };
    format!("{}{yaml}", arbiters.map(comment).unwrap_or_default())
}

/// A text as lines of a comment, below others.
fn folded(text: &str) -> String {
    /// Characters of a line; *assumed*, as in the topology below.
    const WIDTH: usize = 100;
    let mut lines = vec!["#  ".to_owned()];
    for word in text.split_whitespace() {
        if lines.last().is_some_and(|line| line.chars().count() + 1 + word.chars().count() > WIDTH) {
            lines.push("#    ".to_owned());
        }
        lines.last_mut().into_iter().for_each(|line| line.extend([" ", word]));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Refuses a log of measurements in the place of a dump.
fn measured(bytes: &[u8], file: &str, options: &Options) -> Option<Error> {
    let text = std::str::from_utf8(bytes).ok().filter(|_| options.format.is_none())?;
    let kind = LogKind::of(text)?.word();
    Some(Error::input(format!(
        "{}: this is a log of measurements ({kind}), not a dump of a machine\n\
         help: give it to `weir calibrate`, beside the topology of the machine",
        clean(file)
    )))
}

fn refused(name: &str, refusal: &Refusal) -> Error {
    let place = [refusal.line, refusal.column].into_iter().map_while(|number| number);
    let line: String = place.map(|number| format!(":{number}")).collect();
    let help = refusal.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {}", clean(help)));
    Error::input(format!("{}{line}: {}{help}", clean(name), clean(&refusal.message)))
}

/// What was found, what was assumed, and the command that makes a better dump.
fn summary(import: &Import) -> String {
    let mut out = format!("{}: {}\n\n{}\n{}\n", import.format, counts(&import.counts), import.tree, import.bandwidths);
    for finding in import.findings.iter().filter(|finding| finding.level != Level::Warning) {
        let help = finding.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
        let _ = writeln!(out, "{}: {}{help}", finding.level.word(), finding.message);
    }
    let _ = writeln!(out, "better dump: {}", import.better_dump);
    out
}

fn counts(counts: &Counts) -> String {
    let of = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let always =
        [of(counts.gpus as u64, "GPU"), of(counts.nics as u64, "network card"), of(counts.roots as u64, "NUMA node")];
    let mut parts: Vec<String> = always.into();
    parts.extend(counts.sockets.map(|sockets| of(sockets as u64, "socket")));
    let more = [
        (counts.switches as u64, "switch"),
        (counts.fpgas as u64, "FPGA"),
        (counts.nvlinks, "NVLink"),
        (counts.xgmi, "xGMI link"),
    ];
    parts.extend(more.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| match (number, what) {
        (2.., "switch") => format!("{number} switches"),
        _ => of(number, what),
    }));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines have 100 characters at most, and a word begins the next one only if it does not fit.
    #[test]
    fn comments_are_as_wide_as_the_topology() {
        let words = ["a".repeat(50), "b".repeat(45), "c".repeat(94), "d".to_owned()];
        let [a, b, c, d] = &words;
        // 4 and 50 and 46, which are 100; 6 and 94; and the rest.
        assert_eq!(folded(&words.join(" ")), format!("#   {a} {b}\n#     {c}\n#     {d}\n"));
        assert_eq!(folded(&format!("{a}  {b}b")), format!("#   {a}\n#     {b}b\n"));
    }
}
