//! Time-independent traces of SimGrid (Desprez, Markomanolis, Suter, *Improving the Accuracy and Efficiency of
//! Time-Independent Trace Replay*, PMBS 2012): a line for each action, `<rank> <action> <arguments>`, of all
//! ranks in one file, or of each in its own.
//!
//! A rank does one action after the other; `isend` and `irecv` end with a `wait` of the same source, destination and tag, or a
//! `waitall`. A size is in bytes, in doubles after `init 1`, or in the type of data behind it. `test` takes no time. Collectives become messages, see
//! [`super::collectives`].

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use weir_plugin_api::{CallError, PS_PER_S};

use super::calls::What;
use super::collectives::Member;
use super::operations::{ANY, Dependency, MOST_RANKS, Operation, Problem, Program, Work, shown, wrong_line};
use super::params::ProgramParams;
use super::simgrid_arguments::Arguments;
use super::simgrid_collectives::{Call, Signature};
use crate::operation::refused;

/// Actions that are read.
pub(super) const ACTIONS: [&str; 28] = [
    "init",
    "finalize",
    "comm_size",
    "comm_dup",
    "location",
    "send",
    "recv",
    "isend",
    "irecv",
    "wait",
    "waitall",
    "test",
    "compute",
    "sleep",
    "barrier",
    "bcast",
    "broadcast",
    "reduce",
    "allreduce",
    "alltoall",
    "alltoallv",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "reducescatter",
];
/// Bytes of a double.
const DOUBLE: f64 = 8.0;

/// Reads a trace.
pub(super) fn read(params: &ProgramParams) -> Result<Program, CallError> {
    let files = &params.file.0;
    let mut texts = Vec::with_capacity(files.len());
    for file in files {
        let no_text = || refused(format!("file: {}", file.no_text()));
        texts.push(file.text().ok_or_else(no_text)?);
    }
    let lines = || (0..).zip(&texts).flat_map(|(file, text)| actions(text).map(move |(line, text)| (file, line, text)));
    // Of several files the line alone does not say enough.
    let wrong = |file: usize, line: u32, problem: &str| match &files[..] {
        [_] => wrong_line(line, problem),
        _ => refused(format!("file: {}: line {line}: {problem}", files[file].name)),
    };
    let (mut ranks, mut file_of): (u32, BTreeMap<u32, usize>) = (0, BTreeMap::new());
    for (file, line, text) in lines() {
        let rank = rank(text).map_err(|problem| wrong(file, line, &problem))?;
        ranks = ranks.max(rank + 1);
        let other = *file_of.entry(rank).or_insert(file);
        if other != file {
            let text = format!("rank {rank} stands in {}, too; put all its actions into one", files[other].name);
            return Err(wrong(file, line, &text));
        }
    }
    if ranks == 0 {
        return Err(refused("file: no rank sends, receives or computes; give some actions"));
    }
    let unit = params.unit.map_or(1.0, |unit| unit.0 as f64);
    // A rank without a line has no operations to name.
    let file_of = (0..ranks).map(|rank| file_of.get(&rank).map_or(0, |&file| file as u32)).collect();
    let program = Program { file_of, ..Program::of(ranks, &params.file) };
    let plans = params.collectives.is_some();
    let mut reader = Reader::new(program, params.flop_rate.map(|rate| rate.0), unit, plans);
    for (file, line, text) in lines() {
        reader.line = line;
        reader.action(text).map_err(|problem| wrong(file, line, &problem))?;
    }
    Ok(reader.program)
}

/// The lines of a file that say something, without their comments.
pub(super) fn actions(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let code = |line: &'_ str| line.find('#').unwrap_or(line.len());
    let lines = text.lines().map(move |line| line[..code(line)].trim());
    (1..).zip(lines).filter(|(_, line)| !line.is_empty())
}

/// `3`, or `p3` of older traces.
pub(super) fn rank(text: &str) -> Result<u32, Problem> {
    let word = text.split_whitespace().next().unwrap_or_default();
    let rank = word.strip_prefix('p').unwrap_or(word).parse().ok().filter(|&rank: &u32| rank < MOST_RANKS);
    rank.ok_or_else(|| format!("`{}` is no rank; begin each line with a number below {MOST_RANKS}", shown(word)))
}

/// How many arguments an action may have that is no message and no collective; `None` for those that are, and those that are not
/// read. As `src/smpi/internals/smpi_replay.cpp` has them (`CHECK_ACTION_PARAMS`).
fn most_arguments(action: &str) -> Option<usize> {
    match action {
        "finalize" => Some(0),
        "init" | "comm_size" | "compute" | "sleep" | "waitall" => Some(1),
        "wait" | "test" => Some(3),
        _ => None,
    }
}

/// A request that is not waited for yet, by source, destination and tag.
type Requests = BTreeMap<(u32, u32, u32), VecDeque<u32>>;

struct Reader {
    program: Program,
    /// Flop per second.
    rate: Option<f64>,
    line: u32,
    /// Per rank: what its next action waits for, and whether for the begin of that alone.
    last: Vec<Option<(u32, bool)>>,
    requests: Vec<Requests>,
    /// Bytes that a count of 1 stands for.
    scale: f64,
    /// Per rank: how often that an element has, and how many collectives it has begun.
    unit: Vec<f64>,
    collectives: Vec<u32>,
    /// Where collectives are planned, not messages: all ranks.
    plans: Option<Arc<[u32]>>,
}

impl Reader {
    fn new(program: Program, rate: Option<f64>, scale: f64, plans: bool) -> Self {
        let (ranks, count) = ((0..program.ranks).collect(), program.ranks as usize);
        Self {
            program,
            rate,
            line: 0,
            last: vec![None; count],
            requests: vec![Requests::new(); count],
            scale,
            unit: vec![1.0; count],
            collectives: vec![0; count],
            plans: plans.then_some(ranks),
        }
    }

    fn action(&mut self, text: &str) -> Result<(), Problem> {
        let rank = rank(text)?;
        let mut words = text.split_whitespace().skip(1);
        let action = words.next().ok_or("the line has no action; write `<rank> <action> …`")?.to_lowercase();
        let (words, unit) = (words.collect::<Vec<_>>(), self.unit[rank as usize] * self.scale);
        let given = Arguments { action: &action, words: &words, unit };
        if let Some(most) = most_arguments(&action) {
            given.typed(most, 0)?;
        }
        match action.as_str() {
            "init" => self.unit[rank as usize] = if given.words.is_empty() { 1.0 } else { DOUBLE },
            "finalize" | "comm_size" | "comm_dup" | "location" | "test" => {}
            "comm_split" => {
                return Err("communicators of a part of the ranks are not read; trace without them".to_owned());
            }
            "compute" => _ = self.compute(rank, given.real(0)?)?,
            "sleep" => _ = self.add(rank, Work::Compute { time: given.real(0)? * PS_PER_S as f64 }, false)?,
            "send" | "isend" | "recv" | "irecv" => self.message(rank, &given)?,
            "wait" => self.wait(rank, &given)?,
            "waitall" => self.wait_all(rank, &given)?,
            _ => self.collective(rank, &given)?,
        }
        self.program.count(&action);
        Ok(())
    }

    /// Adds an operation behind the last one of its rank; the next one waits for its end, or its begin.
    fn add(&mut self, rank: u32, work: Work, goes_on: bool) -> Result<u32, Problem> {
        let id = self.program.add(Operation { rank, work, cpu: 0, nic: 0, line: self.line })?;
        if let Some((on, begin)) = self.last[rank as usize] {
            self.program.dependencies.push(Dependency { of: id, on, begin });
        }
        self.last[rank as usize] = Some((id, goes_on));
        Ok(id)
    }

    fn compute(&mut self, rank: u32, flops: f64) -> Result<u32, Problem> {
        let Some(rate) = self.rate else {
            return Err("computations are in flop; give `flop_rate`, the flop/s of a rank".to_owned());
        };
        self.add(rank, Work::Compute { time: flops / rate * PS_PER_S as f64 }, false)
    }

    fn message(&mut self, rank: u32, given: &Arguments<'_>) -> Result<(), Problem> {
        let [given, _] = given.typed(3, 1)?;
        let (other, tag, bytes) = (given.rank(0)?, given.tag(1)?, given.bytes(2)?);
        let sends = given.action.ends_with("send");
        if sends && (other == ANY || tag == ANY) {
            return Err("a send names its rank and tag; -1 is for receives".to_owned());
        }
        let work = if sends { Work::Send { to: other, bytes, tag } } else { Work::Receive { from: other, bytes, tag } };
        let goes_on = given.action.starts_with('i');
        let id = self.add(rank, work, goes_on)?;
        if goes_on {
            let key = if sends { (rank, other, tag) } else { (other, rank, tag) };
            self.requests[rank as usize].entry(key).or_default().push_back(id);
        }
        Ok(())
    }

    fn wait(&mut self, rank: u32, given: &Arguments<'_>) -> Result<(), Problem> {
        let key = (given.rank(0)?, given.rank(1)?, given.tag(2)?);
        let requests = &mut self.requests[rank as usize];
        let Some(list) = requests.get_mut(&key) else {
            let (from, to, tag) = key;
            return Err(format!(
                "no isend or irecv from {from} to {to} with tag {tag} is open; write it before its wait"
            ));
        };
        let id = list.pop_front();
        if list.is_empty() {
            requests.remove(&key);
        }
        self.join(rank, id.as_slice())
    }

    /// Of all that is open; some writers say of how many.
    fn wait_all(&mut self, rank: u32, given: &Arguments<'_>) -> Result<(), Problem> {
        if !given.words.is_empty() {
            given.real(0)?;
        }
        let open: Vec<u32> = std::mem::take(&mut self.requests[rank as usize]).into_values().flatten().collect();
        self.join(rank, &open)
    }

    /// The rank goes on once some operations have ended.
    fn join(&mut self, rank: u32, on: &[u32]) -> Result<(), Problem> {
        let id = self.add(rank, Work::Join, false)?;
        self.program.dependencies.extend(on.iter().map(|&on| Dependency { of: id, on, begin: false }));
        Ok(())
    }

    fn collective(&mut self, rank: u32, given: &Arguments<'_>) -> Result<(), Problem> {
        let ranks = self.program.ranks;
        let at = self.collectives[rank as usize];
        self.collectives[rank as usize] += 1;
        let member = Member::new(rank, ranks, at);
        let signature = Signature::of(given.action, ranks as usize)?;
        let given = if given.action == "allgatherv" { given.without_displacements(ranks as usize) } else { *given };
        let sides = given.typed(signature.arguments, signature.types)?;
        let root = signature.root.map(|at| given.root(at, ranks)).transpose()?;
        let call = Call { action: given.action, rank, root: root.unwrap_or(0), ranks, sides };
        let steps = call.steps(member)?;
        let planned = if self.plans.is_some() { call.planned()? } else { None };
        match planned {
            Some(what) => self.call(rank, member.tag, what)?,
            None => {
                let which =
                    root.map_or_else(|| given.action.to_owned(), |root| format!("{} from {root}", given.action));
                self.program.agree(member.tag, rank, &which.replace("broadcast", "bcast"))?;
                self.parts(rank, &steps)?;
            }
        }
        let flops = signature.flops.map_or(Ok(0.0), |at| given.real(at))?;
        if flops > 0.0 {
            self.compute(rank, flops)?;
        }
        Ok(())
    }

    /// A collective that is planned once all ranks are read.
    fn call(&mut self, rank: u32, tag: u32, what: What) -> Result<(), Problem> {
        let ends = [self.add(rank, Work::Join, false)?, self.add(rank, Work::Join, false)?];
        let Some(ranks) = &self.plans else { return Ok(()) };
        self.program.call(tag, (what, ranks), rank, ends)
    }

    /// The messages of a collective: those of a step at once, one step after the other.
    fn parts(&mut self, rank: u32, steps: &[Vec<Work>]) -> Result<(), Problem> {
        for step in steps {
            let mut open = Vec::with_capacity(step.len());
            for &work in step {
                open.push(self.add(rank, work, true)?);
            }
            self.join(rank, &open)?;
        }
        Ok(())
    }
}
