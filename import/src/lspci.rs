//! `lspci -tv` (the tree, without speeds and classes) and `lspci -vv` (each function with its link, best as root).

mod name;
mod tree;
mod verbose;

use crate::bus::BusId;
use crate::finding::Findings;
use crate::machine::Machine;
use crate::refusal::Refusal;

/// Whether a line may be the first of a tree.
fn is_tree(line: &str) -> bool {
    line.starts_with("-[") || line.starts_with("-+-[")
}

/// What follows the bus id of a line of a list: ` Host bridge: …`. Times of a log such as `12:30:45.1` are no bus ids, as a bus has 32
/// devices of 8 functions.
fn after_id(line: &str) -> Option<&str> {
    let id = line.split(' ').next().unwrap_or("");
    BusId::read(id).filter(|bus| bus.device < 32 && bus.function < 8)?;
    line.get(id.len()..).filter(|rest| !rest.is_empty())
}

/// Whether a line may be the first of a list: `00:00.0 Host bridge: …`.
fn is_list(line: &str) -> bool {
    after_id(line).is_some()
}

/// Whether a line begins a tree or list also where other lines stand before it: it has a domain, or a class.
pub(crate) fn is_sure_start(line: &str) -> bool {
    let root = line.strip_prefix("-+-[").or_else(|| line.strip_prefix("-["));
    let domain = root.and_then(|inner| inner.split_once(':')).map(|(domain, _)| domain);
    domain.is_some_and(|domain| domain.len() >= 4 && domain.bytes().all(|b| b.is_ascii_hexdigit()))
        || after_id(line).is_some_and(|rest| rest.contains(": "))
}

/// The line, from 0, with which the output begins: the first that is not empty, or the first that surely is one after a prompt, the
/// `[sudo]` line or a log.
pub(crate) fn start(text: &str) -> Option<usize> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let first = lines.next().filter(|(_, line)| is_tree(line) || is_list(line) || is_sure_start(line));
    first.or_else(|| lines.find(|(_, line)| is_sure_start(line))).map(|(at, _)| at)
}

/// Whether a line is a shell's prompt, perhaps with a command behind it: `user@host:~$ exit`.
fn is_prompt(line: &str) -> bool {
    let line = line.trim();
    let begins = ["$ ", "# ", "% ", "> "].iter().any(|prompt| line.starts_with(prompt));
    begins
        || line.ends_with(['$', '#', '%', '>'])
        || (line.contains('@') && (line.contains("$ ") || line.contains("# ")))
}

/// The text without what a terminal shows before and after it; lines keep their numbers. Also how many lines that were.
fn without_shell(text: &str, start: usize) -> (String, usize) {
    let lines: Vec<&str> = text.lines().collect();
    let is_blank = |line: &&&str| line.trim().is_empty();
    let after = lines.iter().rev().take_while(|line| is_blank(line) || is_prompt(line)).count();
    let end = (lines.len() - after).max(start + 1);
    let kept = |at: usize| (start..end).contains(&at);
    let skipped = lines.iter().enumerate().filter(|(at, line)| !kept(*at) && !is_blank(line)).count();
    let text = lines.iter().enumerate().flat_map(|(at, line)| [if kept(at) { line } else { "" }, "\n"]).collect();
    (text, skipped)
}

pub(crate) fn read(text: &str, findings: &mut Findings) -> Result<Machine, Refusal> {
    let Some(start) = start(text) else {
        let help = "give the output of `lspci -tv`, or better `sudo lspci -Dvvnn`, from its first line on";
        let first = (1..).zip(text.lines()).find(|(_, line)| !line.trim().is_empty());
        return Err(Refusal::new("neither a tree nor a list of lspci")
            .at(first.map_or(1, |(line, _)| line))
            .help(help));
    };
    let (text, skipped) = without_shell(text, start);
    if skipped > 0 {
        findings.note(format!("{skipped} lines before or after the output of lspci (prompt, log) are skipped"));
    }
    let is_tree = text.lines().nth(start).is_some_and(is_tree);
    if is_tree { tree::read(&text, findings) } else { verbose::read(&text, findings) }
}
