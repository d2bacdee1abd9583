//! The sections of the output, and what they say together.

use std::collections::BTreeMap;

use super::COMMAND;
use super::grid::Grid;
use super::listed::of_gpu;
use crate::finding::{Findings, Ids, Level};
use crate::refusal::Refusal;

/// A matrix of the output.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Section {
    Weights,
    Hops,
    Kinds,
    /// Of `--showtopoaccess`: whether one GPU reaches the memory of another.
    Access,
    /// Of `--shownodesbw`: the least and the largest bandwidth in MB/s.
    Bandwidths,
}

impl Section {
    /// By the title of a section, between signs `=`.
    pub(super) fn of_title(line: &str) -> Option<Self> {
        match title(line) {
            "Weight between two GPUs" => Some(Self::Weights),
            "Hops between two GPUs" => Some(Self::Hops),
            "Link Type between two GPUs" => Some(Self::Kinds),
            "Link accessibility between two GPUs" => Some(Self::Access),
            "Bandwidth" | "Bandwidth between two GPUs" => Some(Self::Bandwidths),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::Hops => "hops",
            Self::Kinds => "link types",
            Self::Access => "accessibility",
            Self::Bandwidths => "bandwidths",
        }
    }
}

fn title(line: &str) -> &str {
    line.trim().trim_matches('=').trim()
}

/// What joins two GPUs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    Xgmi,
    Pcie,
    /// The tool could not read it, or does not know it (`XXXX`).
    Unknown,
}

/// What the sections say of two GPUs, where they are there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pair {
    pub(super) kind: Kind,
    pub(super) hops: Option<u64>,
    pub(super) weight: Option<u64>,
    /// The least and the largest bandwidth.
    pub(super) bandwidth: Option<(u64, u64)>,
    pub(super) access: Option<bool>,
}

#[derive(Debug)]
pub(super) struct Topology {
    pub(super) gpus: Vec<u32>,
    /// By indexes into the GPUs, the smaller first.
    pub(super) pairs: BTreeMap<(usize, usize), Pair>,
    /// The NUMA node of a GPU, by its number.
    pub(super) numa: BTreeMap<u32, u32>,
}

impl Topology {
    /// The names of some pairs.
    pub(super) fn names(&self, is: impl Fn(&Pair) -> bool) -> Ids {
        let name = |(&(i, j), _): (&(usize, usize), &Pair)| format!("GPU{} and GPU{}", self.gpus[i], self.gpus[j]);
        self.pairs.iter().filter(|(_, pair)| is(pair)).map(name).collect()
    }
}

pub(super) fn read(text: &str, findings: &mut Findings) -> Result<Topology, Refusal> {
    let mut grids = grids(text, findings)?;
    let Some(kinds) = grids.remove(&Section::Kinds) else {
        let has: Vec<&str> = grids.keys().map(|section| section.word()).collect();
        let has = if has.is_empty() { String::new() } else { format!(", only that of {}", has.join(" and of ")) };
        let message = format!("the output of rocm-smi has no section `Link Type between two GPUs`{has}");
        return Err(Refusal::new(message).help(format!("run {COMMAND}")));
    };
    for (section, _) in grids.iter().filter(|(_, grid)| grid.gpus != kinds.gpus) {
        let message =
            format!("the section of {} has other GPUs than that of link types: it is left out", section.word());
        findings.warning(message, format!("run {COMMAND} once, for all GPUs"));
    }
    grids.retain(|_, grid| grid.gpus == kinds.gpus);
    let pairs = pairs(&kinds, &grids, findings)?;
    Ok(Topology { gpus: kinds.gpus, pairs, numa: numa(text, findings) })
}

/// The lines of a section, with their numbers.
struct Lines<'t> {
    section: Section,
    title: u32,
    lines: Vec<(u32, &'t str)>,
}

/// The sections of a text that are matrices.
fn sections(text: &str) -> Vec<Lines<'_>> {
    let (mut sections, mut inside) = (Vec::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(section) = Section::of_title(line) {
            sections.push(Lines { section, title: number, lines: Vec::new() });
            inside = true;
        } else if line.trim_start().starts_with("==") || title(line) == "Numa Nodes" {
            inside = false;
        } else if let Some(last) = sections.last_mut().filter(|_| inside) {
            last.lines.push((number, line));
        }
    }
    sections
}

/// The matrices of a text; of two of one section the first.
fn grids<'t>(text: &'t str, findings: &mut Findings) -> Result<BTreeMap<Section, Grid<'t>>, Refusal> {
    let mut grids = BTreeMap::new();
    for Lines { section, title, lines } in sections(text) {
        if grids.contains_key(&section) {
            let message = format!("line {title}: a second section of {}", section.word());
            findings.warning(message, "only the first is read; give the output of one machine");
            continue;
        }
        let grid = Grid::read(&lines, findings).map_err(|refusal| refusal.or_at(title))?;
        grids.insert(section, grid);
    }
    Ok(grids)
}

/// The pairs of the matrix of link types; where the two cells of a pair differ, the nearer counts.
fn pairs(
    kinds: &Grid<'_>,
    grids: &BTreeMap<Section, Grid<'_>>,
    findings: &mut Findings,
) -> Result<BTreeMap<(usize, usize), Pair>, Refusal> {
    let (mut pairs, mut unlike) = (BTreeMap::new(), Ids::default());
    for i in 0..kinds.gpus.len() {
        own(kinds, i)?;
        for j in i + 1..kinds.gpus.len() {
            let one = pair(kind(kinds, i, j)?, grids, i, j);
            let other = pair(kind(kinds, j, i)?, grids, j, i);
            if one != other {
                unlike.add(&format!("GPU{} and GPU{}", kinds.gpus[i], kinds.gpus[j]));
            }
            pairs.insert((i, j), nearer(one, other));
        }
    }
    if !unlike.is_empty() {
        let help = "the nearer one is taken, xGMI before PCIe; look at both cells in each section".to_owned();
        findings.of_ids(Level::Warning, "the two cells of a pair differ: {}", &unlike, Some(help));
    }
    Ok(pairs)
}

/// What a cell of the matrix of link types says.
fn kind(kinds: &Grid<'_>, i: usize, j: usize) -> Result<Kind, Refusal> {
    match kinds.cells[i][j] {
        "XGMI" => Ok(Kind::Xgmi),
        "PCIE" => Ok(Kind::Pcie),
        // A cell that the tool could not read stays 0.
        "XXXX" | "0" | "N/A" => Ok(Kind::Unknown),
        other => Err(wrong(kinds, i, j, other)),
    }
}

/// Refuses a link of a GPU to itself: columns are lost.
fn own(kinds: &Grid<'_>, i: usize) -> Result<(), Refusal> {
    match kind(kinds, i, i)? {
        Kind::Unknown => Ok(()),
        Kind::Xgmi | Kind::Pcie => Err(wrong(kinds, i, i, kinds.cells[i][i])),
    }
}

fn wrong(kinds: &Grid<'_>, i: usize, j: usize, cell: &str) -> Refusal {
    let cell: String = cell.chars().take(12).collect();
    let message =
        format!("link types: `{cell}` in the row of GPU{}, the column of GPU{}", kinds.gpus[i], kinds.gpus[j]);
    let help = format!("columns are lost, or it is no output of rocm-smi; redirect {COMMAND} to a file");
    Refusal::new(message).at(kinds.lines[i]).help(help)
}

fn pair(kind: Kind, grids: &BTreeMap<Section, Grid<'_>>, i: usize, j: usize) -> Pair {
    let cell = |section: Section| grids.get(&section).map(|grid| grid.cells[i][j]);
    let number = |section: Section| cell(section).and_then(|word| word.parse().ok());
    let range = |word: &str| {
        let (least, most) = word.split_once('-')?;
        Some((least.parse().ok()?, most.parse().ok()?))
    };
    let access = cell(Section::Access).and_then(|word| word.to_lowercase().parse().ok());
    let bandwidth = cell(Section::Bandwidths).and_then(range);
    Pair { kind, hops: number(Section::Hops), weight: number(Section::Weights), bandwidth, access }
}

fn nearer(a: Pair, b: Pair) -> Pair {
    let least = |a: Option<u64>, b: Option<u64>| [a, b].into_iter().flatten().min();
    Pair {
        kind: a.kind.min(b.kind),
        hops: least(a.hops, b.hops),
        weight: least(a.weight, b.weight),
        bandwidth: a.bandwidth.max(b.bandwidth),
        access: a.access.max(b.access),
    }
}

/// The NUMA node of each GPU: `Numa Node`, or else `Numa Affinity`. A node that the tool does not know is -1, also as 32 bits.
fn numa(text: &str, findings: &mut Findings) -> BTreeMap<u32, u32> {
    let (mut nodes, mut affinities) = (BTreeMap::new(), BTreeMap::new());
    for (gpu, key, value) in text.lines().filter_map(of_gpu) {
        let Some(node) = value.parse().ok().filter(|&node: &u32| node < 1024) else { continue };
        match key {
            "(Topology) Numa Node" => drop(nodes.entry(gpu).or_insert(node)),
            "(Topology) Numa Affinity" => drop(affinities.entry(gpu).or_insert(node)),
            _ => {}
        }
    }
    let differ = |(gpu, node): &(&u32, &u32)| affinities.get(*gpu).is_some_and(|affinity| affinity != *node);
    let unlike: Ids = nodes.iter().filter(differ).map(|(gpu, _)| format!("GPU{gpu}")).collect();
    if !unlike.is_empty() {
        let help = "move them below the right `rc` in the written file, if the affinity is right".to_owned();
        findings.of_ids(
            Level::Assumed,
            "{} have another NUMA affinity than NUMA node: the node is taken",
            &unlike,
            Some(help),
        );
    }
    for (gpu, node) in affinities {
        nodes.entry(gpu).or_insert(node);
    }
    nodes
}
