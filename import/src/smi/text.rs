//! The text of the matrix: columns may be apart by tabs or spaces, or by nothing where they were pasted.

use super::matrix::{Matrix, NumaNodes, Way};
use crate::finding::{Findings, Level};
use crate::refusal::Refusal;

/// Devices at most; *assumed*, a machine has some tens.
const MOST: usize = 512;

/// A line without the codes that underline its head, also where their first character was lost, as on web pages: `[4m`, `^[[4m`.
pub(super) fn without_escapes(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['\u{1b}', '[']) {
        let escaped = rest[at..].starts_with('\u{1b}');
        let code = rest[at..].trim_start_matches('\u{1b}').strip_prefix('[').unwrap_or("");
        let end = code.find(|c: char| !c.is_ascii_digit() && c != ';');
        let letter = end.and_then(|end| code[end..].chars().next());
        let before = &rest[..at];
        match (end, letter) {
            (Some(end), Some(letter)) if letter == 'm' || (escaped && letter.is_ascii_alphabetic()) => {
                out.push_str(before);
                let kept = out.strip_suffix("^[").unwrap_or(&out).len();
                out.truncate(kept);
                rest = &code[end + 1..];
            }
            _ => {
                out.push_str(before);
                let keep = if escaped { "" } else { "[" };
                out.push_str(keep);
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out.replace('\r', "")
}

pub(super) fn read(text: &str, findings: &mut Findings) -> Result<Matrix, Refusal> {
    let lines: Vec<(u32, String)> = (1..).zip(text.lines().map(without_escapes)).collect();
    let head = lines.iter().position(|(_, line)| line.trim_start().starts_with("GPU0"));
    let Some(head) = head else {
        return Err(
            Refusal::new("no header of a matrix: no line begins with `GPU0`").help("paste all of `nvidia-smi topo -m`")
        );
    };
    let names = names(&lines[head].1);
    check_names(&names).map_err(|refusal| refusal.at(lines[head].0))?;
    check_kind(&lines[head + 1..], &names)?;
    let mut rows: Vec<Option<MatrixRow>> = (0..names.len()).map(|_| None).collect();
    for (number, line) in &lines[head + 1..] {
        let Some((index, rest)) = row_name(line, &names) else { continue };
        // The legend of network cards comes after the matrix: `NIC0: mlx5_0`.
        if rest.trim_start().starts_with(':') {
            continue;
        }
        if rows[index].is_some() {
            let message = format!("line {number}: {} is there a second time", names[index]);
            findings.warning(message, "only the first is read; paste the matrix of one machine");
            continue;
        }
        rows[index] = Some(row(line, rest, &names, index).map_err(|refusal| refusal.at(*number))?);
    }
    matrix(names, rows, findings)
}

/// Refuses too many names, and one that stands there twice.
fn check_names(names: &[String]) -> Result<(), Refusal> {
    if names.len() > MOST {
        return Err(Refusal::new(format!("more than {MOST} devices")).help("give the matrix of one machine"));
    }
    let Some(twice) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) else { return Ok(()) };
    let refusal = Refusal::new(format!("{} appears twice in the header of the matrix", names[twice]));
    Err(refusal.help("paste all of one `nvidia-smi topo -m`"))
}

/// Refuses the matrix of `nvidia-smi topo -p2p`, whose cells say whether two GPUs can reach each other.
fn check_kind(lines: &[(u32, String)], names: &[String]) -> Result<(), Refusal> {
    let is = |cell: &str| ["OK", "CNS", "GNS", "TNS", "NS", "DR", "U"].contains(&cell);
    let row = |line: &str| row_name(line, names).is_some_and(|(_, rest)| rest.split_whitespace().any(is));
    let Some((number, _)) = lines.iter().find(|(_, line)| row(line)) else { return Ok(()) };
    let message =
        "this is the matrix of `nvidia-smi topo -p2p`: which GPUs can reach each other, not what lies between them";
    Err(Refusal::new(message).at(*number).help("run `nvidia-smi topo -m`, and give its whole output"))
}

struct MatrixRow {
    ways: Vec<Way>,
    cpus: String,
    numa: NumaNodes,
    has_memory_node: bool,
}

/// The devices of the head: names of GPUs and network cards up to `CPU Affinity`.
fn names(head: &str) -> Vec<String> {
    let head = head.split("CPU Affinity").next().unwrap_or("").split("CPUAffinity").next().unwrap_or("");
    let mut names = Vec::new();
    for word in head.split_whitespace() {
        // Fused: `GPU0GPU1NIC0`. A name ends where digits do.
        let mut start = 0;
        let bytes = word.as_bytes();
        for i in 1..bytes.len() {
            // None inside of a character.
            let rest = word.get(i..).unwrap_or_default();
            let new = ["GPU", "NIC", "mlx5_"].iter().any(|name| rest.starts_with(name));
            if new && bytes[i - 1].is_ascii_digit() {
                names.push(word[start..i].to_owned());
                start = i;
            }
        }
        names.push(word[start..].to_owned());
    }
    names
}

/// The row that a line is, and what follows its name.
fn row_name<'l>(line: &'l str, names: &[String]) -> Option<(usize, &'l str)> {
    let line = line.trim_start();
    let fits =
        |name: &String| line.strip_prefix(name.as_str()).filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    names.iter().enumerate().find_map(|(i, name)| Some((i, fits(name)?)))
}

/// One row: as many cells as there are devices, then affinities.
fn row(line: &str, rest: &str, names: &[String], own: usize) -> Result<MatrixRow, Refusal> {
    let mut ways = Vec::with_capacity(names.len());
    let mut rest = rest;
    for name in names {
        let Some((way, after)) = cell(rest) else {
            let found: String = rest.trim_start().chars().take(12).collect();
            let message = format!("row {}: `{found}` where the cell of {name} should be", names[own]);
            let help = "the matrix is cut or wrapped; paste all of `nvidia-smi topo -m`, or redirect it to a file";
            let column = 1 + line.chars().count() - rest.trim_start().chars().count();
            return Err(Refusal::new(message).column(column as u32).help(help));
        };
        ways.push(way);
        rest = after;
    }
    if ways[own] != Way::Own {
        let message = format!("row {}: no X where the device meets itself", names[own]);
        return Err(Refusal::new(message).help("columns are lost; paste all of `nvidia-smi topo -m`"));
    }
    let Affinities { cpus, numa, memory } = affinities(rest);
    let has_memory_node = names[own].starts_with("GPU") && NumaNodes::read(memory).is_known();
    Ok(MatrixRow { ways, cpus: cpus.to_owned(), numa: NumaNodes::read(numa), has_memory_node })
}

/// The columns behind the cells of a row.
struct Affinities<'l> {
    /// `CPU Affinity`.
    cpus: &'l str,
    /// `NUMA Affinity`.
    numa: &'l str,
    /// `GPU NUMA ID`: the node that the memory of the GPU is, else `N/A`.
    memory: &'l str,
}

/// What stands behind the cells of a row. Tabs keep the columns apart where the first one is empty; drivers before the column
/// `GPU NUMA ID` write two of them between the affinities, later ones two before that column.
fn affinities(rest: &str) -> Affinities<'_> {
    if rest.contains('\t') {
        // What stands before the first tab is the end of the last cell, unless that tab was lost.
        let lost = rest.split('\t').next().is_some_and(|text| !text.trim().is_empty());
        let columns: Vec<&str> = rest.split('\t').skip(usize::from(!lost)).map(str::trim).collect();
        let at = |column: usize| columns.get(column).copied().unwrap_or("");
        let old = columns.len() <= 3 && at(1).is_empty();
        let last = columns.iter().skip(2).rfind(|column| !column.is_empty()).copied().unwrap_or("");
        return match old {
            true => Affinities { cpus: at(0), numa: at(2), memory: "" },
            false => Affinities { cpus: at(0), numa: at(1), memory: last },
        };
    }
    let mut words = rest.split_whitespace();
    let mut next = || words.next().unwrap_or("");
    Affinities { cpus: next(), numa: next(), memory: next() }
}

/// A cell at the beginning of a text, and the rest.
fn cell(text: &str) -> Option<(Way, &str)> {
    const WORDS: [(&str, Way); 7] = [
        ("PIX", Way::Pix),
        ("PXB", Way::Pxb),
        // Within one board, of old drivers.
        ("PSB", Way::Pix),
        ("PHB", Way::Phb),
        ("NODE", Way::Node),
        ("SYS", Way::Sys),
        ("SOC", Way::Sys),
    ];
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix("NV") {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        return Some((Way::Nv(rest[..end].parse().ok()?), &rest[end..]));
    }
    let found = WORDS.iter().find_map(|(word, way)| Some((*way, text.strip_prefix(word)?)));
    found.or_else(|| Some((Way::Own, text.strip_prefix('X')?)))
}

/// Puts the rows together: both rows of a pair must say the same of it.
fn matrix(names: Vec<String>, rows: Vec<Option<MatrixRow>>, findings: &mut Findings) -> Result<Matrix, Refusal> {
    let missing = rows.iter().position(Option::is_none);
    if let Some(missing) = missing {
        let message = format!("the row of {} is missing", names[missing]);
        return Err(Refusal::new(message).help("the matrix is cut; paste all of `nvidia-smi topo -m`"));
    }
    let mut rows: Vec<MatrixRow> = rows.into_iter().flatten().collect();
    let mut unlike = Vec::new();
    for i in 0..rows.len() {
        for j in i + 1..rows.len() {
            let (a, b) = (rows[i].ways[j], rows[j].ways[i]);
            if a != b {
                unlike.push(format!("{} and {}", names[i], names[j]));
                let way = a.nearer(b);
                (rows[i].ways[j], rows[j].ways[i]) = (way, way);
            }
            if matches!(rows[i].ways[j], Way::Own) {
                let message = format!("{} and {} have an X, as if they were one", names[i], names[j]);
                return Err(Refusal::new(message).help("columns are lost; paste all of `nvidia-smi topo -m`"));
            }
        }
    }
    report_unlike(&unlike, findings);
    let numa = rows.iter().map(|row| row.numa.clone()).collect();
    let has_memory_node = rows.iter().map(|row| row.has_memory_node).collect();
    let (ways, cpus) = rows.into_iter().map(|row| (row.ways, row.cpus)).unzip();
    Ok(Matrix { names, ways, numa, cpus, has_memory_node })
}

fn report_unlike(pairs: &[String], findings: &mut Findings) {
    if !pairs.is_empty() {
        let message = "the two cells of a pair differ: {}";
        let help = "the nearer one is taken, NVLinks before all; look at both cells of the matrix";
        findings.of_ids(Level::Warning, message, &pairs.iter().collect(), Some(help.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(text: &str) -> Vec<Vec<Way>> {
        read(text, &mut Findings::default()).expect("is read").ways
    }

    #[test]
    fn tabs_spaces_codes_and_nothing_between_columns() {
        let own = Way::Own;
        let expected =
            vec![vec![own, Way::Nv(12), Way::Pxb], vec![Way::Nv(12), own, Way::Sys], vec![Way::Pxb, Way::Sys, own]];
        let tabs = "\t\u{1b}[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\u{1b}[0m\nGPU0\t X \tNV12\tPXB\t0-31\t0\n\
                    GPU1\tNV12\t X \tSYS\t32-63\t1\nNIC0\tPXB\tSYS\t X \n\nNIC Legend:\n  NIC0: mlx5_0\n";
        assert_eq!(ways(tabs), expected);
        assert_eq!(ways(&tabs.replace('\t', "   ").replace('\n', "\r\n")), expected);
        let fused = "GPU0GPU1NIC0CPU AffinityNUMA Affinity\nGPU0XNV12PXB0-31 0\nGPU1NV12XSYS32-63 1\nNIC0PXBSYSX\n";
        assert_eq!(ways(fused), expected);
        let pasted = tabs.replace('\u{1b}', "");
        assert_eq!((ways(&pasted), ways(&tabs.replace('\u{1b}', "^["))), (expected.clone(), expected));
        assert_eq!(without_escapes("[0000] ^[x [4m\u{1b}[1;31mGPU0\u{1b}[0m\u{1b}"), "[0000] ^[x GPU0");
    }

    #[test]
    fn of_two_ways_the_nearer() {
        let read = |a: &str, b: &str| ways(&format!("GPU0 GPU1\nGPU0 X {a}\nGPU1 {b} X\n"))[0][1];
        assert_eq!((read("NV4", "SYS"), read("SYS", "NV4"), read("NV12", "NV1")), (Way::Nv(4), Way::Nv(4), Way::Nv(1)));
        assert_eq!((read("PIX", "SYS"), read("PHB", "PXB")), (Way::Pix, Way::Pxb));
    }

    #[test]
    fn cut_matrices_are_refused() {
        let refused = |text: &str| read(text, &mut Findings::default()).expect_err("is refused").to_string();
        assert_eq!(refused("GPU0 GPU1\nGPU0 X PIX\n"), "the row of GPU1 is missing");
        assert_eq!(
            refused("GPU0 GPU1\nGPU0 X\nGPU1 PIX X"),
            "line 2, column 7: row GPU0: `` where the cell of GPU1 should be"
        );
        assert_eq!(
            refused("GPU0 GPU1\nGPU0 PIX X\nGPU1 X PIX"),
            "line 2: row GPU0: no X where the device meets itself"
        );
    }
}
