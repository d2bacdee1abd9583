//! GOAL, the format of LogGOPSim (Hoefler, Schneider, Lumsdaine, *LogGOPSim: Simulating Large-Scale Applications in the LogGOPS
//! Model*, LSAP 2010, section 4.1):
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 100
//! l2: send 4096b to 1 tag 7 cpu 0 nic 0
//! l2 requires l1
//! }
//! ```
//!
//! `recv … from -1` takes a message from any rank, `tag -1` one with any tag. `calc` is in nanoseconds. `requires` waits for
//! the end, `irequires` for the begin of another operation. Comments: `// …` and `/* … */`.

use std::collections::{BTreeSet, HashMap};
use std::str::SplitWhitespace;

use weir_plugin_api::CallError;

use super::operations::{ANY, Dependency, MOST_RANKS, Operation, Problem, Program, Work, shown, wrong_line};
use crate::operation::refused;
use crate::quantities::MOST_BYTES;

/// Picoseconds of a nanosecond, the unit of `calc`.
const NS: f64 = 1e3;
/// Operations of LogGOPSim's second version, which other networks need.
const PORTALS: [&str; 5] = ["append", "put", "tput", "get", "tappend"];

/// Reads a program.
pub(super) fn read(text: &str) -> Result<Program, CallError> {
    let mut reader = Reader::default();
    // The line on which the comment begins that is open.
    let (mut in_comment, mut opened) = (false, 0);
    for (line, text) in (1..).zip(text.lines()) {
        reader.line = line;
        let was_open = in_comment;
        let code = without_comments(text, &mut in_comment);
        if in_comment && (!was_open || text.contains("*/")) {
            opened = line;
        }
        reader.statement(code.trim()).map_err(|problem| wrong_line(line, &problem))?;
    }
    if in_comment {
        return Err(wrong_line(opened, "a comment begins that does not end; close it by `*/`"));
    }
    if let Some(rank) = reader.rank {
        return Err(wrong_line(reader.line, &format!("the file ends within rank {rank}; close it by `}}`")));
    }
    if reader.program.ranks == 0 {
        return Err(refused("file: it has no `num_ranks`; begin it with `num_ranks N`"));
    }
    Ok(reader.program)
}

/// The line without what stands in comments.
pub(super) fn without_comments(line: &str, in_comment: &mut bool) -> String {
    let (mut code, mut rest) = (String::new(), line);
    loop {
        if *in_comment {
            let Some((_, after)) = rest.split_once("*/") else { return code };
            (rest, *in_comment) = (after, false);
        }
        let (short, long) = (rest.find("//"), rest.find("/*"));
        match (short, long) {
            (Some(short), long) if long.is_none_or(|long| short < long) => return code + &rest[..short],
            (_, Some(long)) => {
                code.push_str(&rest[..long]);
                (rest, *in_comment) = (&rest[long + 2..], true);
            }
            _ => return code + rest,
        }
    }
}

#[derive(Default)]
struct Reader {
    program: Program,
    /// The rank whose operations are being read.
    rank: Option<u32>,
    /// Its labels.
    labels: HashMap<Box<str>, u32>,
    /// On which line each rank begins.
    begun: HashMap<u32, u32>,
    line: u32,
}

impl Reader {
    fn statement(&mut self, code: &str) -> Result<(), Problem> {
        if code.is_empty() {
            return Ok(());
        }
        let mut words = code.split_whitespace();
        let first = words.next().unwrap_or_default();
        match (first, self.rank) {
            ("num_ranks", None) => self.num_ranks(&mut words),
            ("rank", None) => self.begin(&mut words),
            ("}", Some(_)) => {
                self.rank = None;
                self.labels.clear();
                end(&mut words)
            }
            (_, Some(rank)) => self.in_rank(rank, code),
            _ => Err(format!("`{}` stands outside of a rank; write `rank N {{` before it", shown(first))),
        }
    }

    fn num_ranks(&mut self, words: &mut SplitWhitespace<'_>) -> Result<(), Problem> {
        if self.program.ranks > 0 {
            return Err("`num_ranks` is given twice; remove one of them".to_owned());
        }
        let ranks = number(words, "the number of ranks")?;
        if !(1..=u64::from(MOST_RANKS)).contains(&ranks) {
            return Err(format!("{ranks} ranks; give 1 to {MOST_RANKS}"));
        }
        self.program.ranks = ranks as u32;
        end(words)
    }

    fn begin(&mut self, words: &mut SplitWhitespace<'_>) -> Result<(), Problem> {
        if self.program.ranks == 0 {
            return Err("`num_ranks` is missing; begin the file with `num_ranks N`".to_owned());
        }
        let rank = number(words, "the number of the rank")?;
        if rank >= u64::from(self.program.ranks) {
            let ranks = self.program.ranks;
            return Err(format!("rank {rank} of {ranks}; raise `num_ranks`, or correct the number"));
        }
        if words.next() != Some("{") {
            return Err("a rank begins with a brace; write `rank N {`".to_owned());
        }
        if let Some(line) = self.begun.insert(rank as u32, self.line) {
            return Err(format!("rank {rank} has its operations on line {line}; put all of them into one block"));
        }
        self.rank = Some(rank as u32);
        end(words)
    }

    /// An operation with or without a label, or a dependency.
    fn in_rank(&mut self, rank: u32, code: &str) -> Result<(), Problem> {
        let (label, operation) = match code.split_once(':') {
            Some((label, operation)) => (Some(label.trim()), operation),
            None => (None, code),
        };
        let mut words = operation.split_whitespace();
        let word = words.next().unwrap_or_default();
        let work = match word {
            "send" | "recv" => Some(message(word, &mut words)?),
            "calc" => Some(Work::Compute { time: number(&mut words, "the time in ns")? as f64 * NS }),
            _ => None,
        };
        match (work, label) {
            (Some(work), _) => {
                self.program.count(word);
                self.operation(rank, label, work, &mut words)
            }
            (None, None) => self.dependency(word, &mut words),
            (None, Some(_)) if PORTALS.contains(&word) => {
                Err(format!("`{word}` belongs to the Portals dialect of GOAL, which is not read; use send and recv"))
            }
            (None, Some(_)) => Err(format!("no operation is named `{}`; there are send, recv and calc", shown(word))),
        }
    }

    fn operation(
        &mut self,
        rank: u32,
        label: Option<&str>,
        work: Work,
        words: &mut SplitWhitespace<'_>,
    ) -> Result<(), Problem> {
        let mut operation = Operation { rank, work, cpu: 0, nic: 0, line: self.line };
        let keys = if matches!(work, Work::Compute { .. }) { "cpu and nic" } else { "tag, cpu and nic" };
        let mut given = BTreeSet::new();
        while let Some(word) = words.next() {
            if !given.insert(word) {
                return Err(format!("`{}` is given twice; remove one of them", shown(word)));
            }
            match (word, &mut operation.work) {
                ("tag", Work::Receive { tag, .. }) => *tag = any_or_number(words, "the tag")?,
                ("tag", Work::Send { tag, .. }) => *tag = small(words, "the tag")?,
                ("cpu", _) => operation.cpu = small(words, "the cpu")?,
                ("nic", _) => operation.nic = small(words, "the nic")?,
                _ => return Err(format!("`{}` is not known here; there are {keys}", shown(word))),
            }
        }
        let id = self.program.add(operation)?;
        if let Some(label) = label
            && self.labels.insert(label.into(), id).is_some()
        {
            return Err(format!("the label `{}` is given twice in this rank; give another one", shown(label)));
        }
        Ok(())
    }

    fn dependency(&mut self, of: &str, words: &mut SplitWhitespace<'_>) -> Result<(), Problem> {
        let begin = match words.next() {
            Some("requires") => false,
            Some("irequires") => true,
            _ if PORTALS.contains(&of) => {
                return Err(format!(
                    "`{of}` belongs to the Portals dialect of GOAL, which is not read; use send and recv"
                ));
            }
            _ => {
                let help = "write `LABEL: send …`, recv or calc, or `LABEL requires LABEL`";
                return Err(format!("`{}` is no operation; {help}", shown(of)));
            }
        };
        let on = words.next().unwrap_or_default();
        let find = |label: &str| {
            let found = self.labels.get(label).copied();
            found.ok_or_else(|| {
                format!("no operation before this line has the label `{}`; define it first", shown(label))
            })
        };
        let (of, on) = (find(of)?, find(on)?);
        self.program.dependencies.push(Dependency { of, on, begin });
        end(words)
    }
}

/// `4096b to 1`, or `4096b from 1`.
fn message(word: &str, words: &mut SplitWhitespace<'_>) -> Result<Work, Problem> {
    let size = words.next().unwrap_or_default();
    let bytes = size.strip_suffix('b').and_then(|bytes| bytes.parse().ok()).filter(|bytes: &u64| *bytes <= MOST_BYTES);
    let Some(bytes) = bytes else {
        return Err(format!("`{}` is no size; write bytes up to 2^53, as in `4096b`", shown(size)));
    };
    match (word, words.next()) {
        ("send", Some("to")) => Ok(Work::Send { to: small(words, "the rank")?, bytes, tag: 0 }),
        ("recv", Some("from")) => Ok(Work::Receive { from: any_or_number(words, "the rank")?, bytes, tag: 0 }),
        ("send", _) => Err("a send needs `to RANK` behind its size; add it".to_owned()),
        _ => Err("a recv needs `from RANK` behind its size; add it".to_owned()),
    }
}

fn number(words: &mut SplitWhitespace<'_>, what: &str) -> Result<u64, Problem> {
    let word = words.next().unwrap_or_default();
    let is_whole = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let remedy = if is_whole { "give a smaller one" } else { "give a whole number" };
    word.parse().map_err(|_| format!("{what} is `{}`; {remedy}", shown(word)))
}

fn small(words: &mut SplitWhitespace<'_>, what: &str) -> Result<u32, Problem> {
    let value = number(words, what)?;
    u32::try_from(value)
        .ok()
        .filter(|&value| value != ANY)
        .ok_or_else(|| format!("{what} is {value}; give a smaller one"))
}

/// A number, or `-1` for any.
fn any_or_number(words: &mut SplitWhitespace<'_>, what: &str) -> Result<u32, Problem> {
    if words.clone().next() == Some("-1") {
        words.next();
        return Ok(ANY);
    }
    small(words, what)
}

fn end(words: &mut SplitWhitespace<'_>) -> Result<(), Problem> {
    match words.next() {
        None => Ok(()),
        Some(word) => Err(format!("`{}` is too much on this line; remove it", shown(word))),
    }
}
