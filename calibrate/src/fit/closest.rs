//! Which of several fits that are as good is taken. The rate of a copy is that of its narrowest link, so a rate of a lone
//! copy says nothing of which link that is. The links nearest a device are taken to be it, those that many devices
//! share only where rows ask for more; memory of a host only where rows of one group cross it at once.

use weir_plugin_api::{Direction, LinkId, NodeId, NodeKind};
use weir_scenario::Machine;

use super::criterion::{Weighed, ahead, schwarz};
use super::error::FitError;
use super::parameter::{Parameter, ParameterKind};
use super::problem::Problem;
use super::shared;
use super::solve::{Solved, solve_from};
use super::start;

/// Mean error that a fit may leave before memory of a host explains rates of lone copies; *assumed*.
const LEFT: f64 = 0.1;
/// Mean error of a fit that is nothing but rounding; *assumed*.
const ROUNDED: f64 = 1e-7;
/// Difference of the criterion that is no evidence (Kass and Raftery, *Bayes Factors*, JASA 90, 1995: below 2 "not worth
/// more than a bare mention").
pub(super) const ALIKE: f64 = 2.0;

/// Number of devices behind a link, whatever side has fewer; memory of a host counts as behind none and comes last.
pub(super) fn shared_by(machine: &Machine, parameter: &Parameter) -> usize {
    let nodes = machine.fabric.nodes();
    let device = |kind| matches!(kind, NodeKind::Gpu | NodeKind::Fpga | NodeKind::Nic | NodeKind::Host);
    let below = |node: NodeId| {
        let end = nodes[node.index()].subtree_end as usize;
        match nodes[node.index()..end].iter().filter(|n| device(n.kind)).count() {
            0 => usize::MAX,
            count => count,
        }
    };
    let of = |link: &LinkId| {
        let link = machine.fabric.link(*link);
        match link.direction {
            Direction::Up => below(link.from),
            Direction::Down => below(link.to),
            Direction::Lateral => below(link.from).min(below(link.to)),
        }
    };
    parameter.links.iter().map(of).min().unwrap_or(usize::MAX)
}

/// The bandwidths, those that the fewest devices share first; what directions share comes behind what each has, and that
/// of a node last.
pub(super) fn order(machine: &Machine, parameters: &[Parameter]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..parameters.len()).filter(|&i| parameters[i].kind.is_capacity()).collect();
    let of_node = |p: &Parameter| p.shared.iter().any(|&at| machine.fabric.shared()[at as usize].node.is_some());
    let devices = |p: &Parameter| if of_node(p) { usize::MAX } else { shared_by(machine, p) };
    all.sort_by_cached_key(|&i| (devices(&parameters[i]), parameters[i].kind == ParameterKind::Shared));
    all
}

/// Bandwidths of host memory, and those that links share, that no group of the fitted rows crosses more than once at a time.
pub(super) fn never_shared(problem: &Problem<'_>, parameters: &[Parameter]) -> Vec<bool> {
    let bandwidth = |p: &Parameter| p.kind == ParameterKind::Bandwidth;
    let near = |p: &Parameter| bandwidth(p) && shared_by(problem.machine, p) < usize::MAX;
    let unshared = |p: &Parameter| {
        let crossed = |e: usize| problem.fitted[e] && p.links.iter().any(|&l| problem.simulator.crossing(e, &[l]) > 1);
        bandwidth(p) && !near(p) && !(0..problem.fitted.len()).any(crossed)
    };
    let any = parameters.iter().any(near);
    parameters.iter().map(|p| any && unshared(p) || shared::never_at_once(problem, p)).collect()
}

/// Whether a fit leaves so much that memory of a host may explain rates of lone copies.
pub(super) fn leaves_much(problem: &Problem<'_>, solved: &Solved) -> bool {
    problem.root_mean_square(solved.squares) > LEFT
}

/// Schwarz's criterion of a fit by so many bandwidths, down to rounding.
pub(super) fn criterion(problem: &Problem<'_>, squares: f64, bandwidths: usize) -> f64 {
    schwarz(problem.rows(), squares, bandwidths, ROUNDED * ROUNDED)
}

/// By how much the criterion of `fine` is lower than that of `coarse`, in as few rows as there are; parameters that are wide open,
/// or that no row depends on, cost nothing.
pub(super) fn finer_ahead(problem: &Problem<'_>, coarse: &Solved, fine: &Solved) -> Result<f64, FitError> {
    let weighed = |solved: &Solved| {
        let parameters = solved.moving(problem)?.len();
        Ok::<_, FitError>(Weighed { squares: solved.squares, parameters })
    };
    Ok(ahead(problem.rows(), weighed(coarse)?, weighed(fine)?, ROUNDED * ROUNDED))
}

/// A fit by some bandwidths, all others wide open.
struct Sparse {
    solved: Solved,
    bandwidths: Vec<usize>,
    criterion: f64,
}

/// A fit as good as `best` by the links nearest the devices, all others wide open; `best` where there is none. What is
/// `fixed` stays where it is.
pub(super) fn closest(problem: &Problem<'_>, best: Solved, fixed: &[bool]) -> Result<Solved, FitError> {
    let order: Vec<usize> = order(problem.machine, &best.parameters).into_iter().filter(|&i| !fixed[i]).collect();
    let Some(sparse) = freed(problem, &best, &order)? else { return Ok(best) };
    let sparse = without_needless(problem, sparse)?;
    let bandwidths = best.moving(problem)?.into_iter().filter(|&i| best.is_capacity(i)).count();
    let as_good = sparse.criterion <= criterion(problem, best.squares, bandwidths) + ALIKE;
    Ok(if as_good { sparse.solved } else { best })
}

/// Frees bandwidths one after the other, and keeps each that lowers the criterion; `None` where none does.
fn freed(problem: &Problem<'_>, best: &Solved, order: &[usize]) -> Result<Option<Sparse>, FitError> {
    let (wide, mut open) = (problem.wide(), best.at.clone());
    order.iter().for_each(|&i| open[i] = wide);
    let mut found: Option<Sparse> = None;
    for &i in order {
        let from = found.as_ref().map_or(&open, |sparse| &sparse.solved.at);
        let start = start::better_of(problem, &best.parameters, from, &[i])?;
        let solved = solve_from(problem, best.parameters.clone(), start, 0)?;
        let mut bandwidths = found.as_ref().map_or_else(Vec::new, |sparse| sparse.bandwidths.clone());
        bandwidths.push(i);
        let criterion = criterion(problem, solved.squares, bandwidths.len());
        if criterion < found.as_ref().map_or(f64::INFINITY, |sparse| sparse.criterion) {
            found = Some(Sparse { solved, bandwidths, criterion });
        }
    }
    Ok(found)
}

/// Opens what came first and may have become needless, the last one first.
fn without_needless(problem: &Problem<'_>, mut sparse: Sparse) -> Result<Sparse, FitError> {
    for place in (0..sparse.bandwidths.len()).rev() {
        let mut from = sparse.solved.at.clone();
        from[sparse.bandwidths[place]] = problem.wide();
        let solved = solve_from(problem, sparse.solved.parameters.clone(), from, 0)?;
        let criterion = criterion(problem, solved.squares, sparse.bandwidths.len() - 1);
        if criterion <= sparse.criterion {
            sparse.bandwidths.remove(place);
            sparse = Sparse { solved, criterion, ..sparse };
        }
    }
    Ok(sparse)
}
