//! One matrix of the output, as words: a row and a column for each GPU.

use super::COMMAND;
use crate::finding::Findings;
use crate::refusal::Refusal;

/// GPUs at most; *assumed*, a machine has some tens.
const MOST: usize = 512;

/// The cells between GPUs, by row and column.
#[derive(Debug)]
pub(super) struct Grid<'t> {
    /// The numbers of the GPUs, in the order of rows and columns.
    pub(super) gpus: Vec<u32>,
    pub(super) cells: Vec<Vec<&'t str>>,
    /// The line of each row.
    pub(super) lines: Vec<u32>,
}

/// The line of a row, and its cells.
type Row<'t> = (u32, Vec<&'t str>);

/// The number of `GPU3`.
fn number(word: &str) -> Option<u32> {
    let digits = word.strip_prefix("GPU")?;
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn cut(message: String) -> Refusal {
    Refusal::new(message).help(format!("the matrix is cut or wrapped; redirect {COMMAND} to a file"))
}

impl<'t> Grid<'t> {
    /// Reads the lines of a section. Lines that are no rows are warnings and errors of `rocm-smi`.
    pub(super) fn read(lines: &[(u32, &'t str)], findings: &mut Findings) -> Result<Self, Refusal> {
        let head = |line: &str| line.split_whitespace().map(number).collect::<Option<Vec<u32>>>();
        let found = lines.iter().enumerate().find_map(|(at, (number, line))| {
            let gpus = head(line).filter(|gpus| !gpus.is_empty())?;
            Some((at, *number, gpus))
        });
        let Some((at, line, gpus)) = found else {
            let refusal = cut("a matrix without its head `GPU0 GPU1 …`".to_owned());
            return Err(lines.first().map_or(refusal.clone(), |(number, _)| refusal.at(*number)));
        };
        check(&gpus).map_err(|refusal| refusal.at(line))?;
        let mut rows: Vec<Option<Row<'t>>> = vec![None; gpus.len()];
        for (number, line) in &lines[at + 1..] {
            row(line, &gpus, &mut rows, *number, findings).map_err(|refusal| refusal.at(*number))?;
        }
        if let Some(missing) = rows.iter().position(Option::is_none) {
            return Err(cut(format!("the row of GPU{} is missing", gpus[missing])).at(line));
        }
        let (lines, cells) = rows.into_iter().flatten().unzip();
        Ok(Self { gpus, cells, lines })
    }
}

/// Refuses too many GPUs, and one that stands in the head twice.
fn check(gpus: &[u32]) -> Result<(), Refusal> {
    if gpus.len() > MOST {
        return Err(Refusal::new(format!("more than {MOST} GPUs")).help("give the matrix of one machine"));
    }
    let twice = (1..gpus.len()).find(|&i| gpus[..i].contains(&gpus[i]));
    twice.map_or(Ok(()), |i| Err(cut(format!("GPU{} appears twice in the head of the matrix", gpus[i]))))
}

/// Puts a line to the rows, if it is one.
fn row<'t>(
    line: &'t str,
    gpus: &[u32],
    rows: &mut [Option<Row<'t>>],
    at: u32,
    findings: &mut Findings,
) -> Result<(), Refusal> {
    let mut words = line.split_whitespace();
    let Some(name) = words.next().and_then(number) else { return Ok(()) };
    let Some(index) = gpus.iter().position(|&gpu| gpu == name) else {
        return Err(cut(format!("a row of GPU{name}, which the head of the matrix lacks")));
    };
    let cells: Vec<&str> = words.take(MOST + 1).collect();
    if cells.len() != gpus.len() {
        return Err(cut(format!(
            "the row of GPU{name} has {} cells, the head of the matrix {}",
            cells.len(),
            gpus.len()
        )));
    }
    if rows[index].is_some() {
        let message = format!("line {at}: the row of GPU{name} is there a second time");
        findings.warning(message, "only the first is read; give the output of one machine");
        return Ok(());
    }
    rows[index] = Some((at, cells));
    Ok(())
}
