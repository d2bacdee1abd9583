//! Which of several fits that are as good is taken. The rate of a copy is that of its narrowest link, so a rate of a lone
//! copy says nothing of which link that is. The links nearest a device are taken to be it, those that many devices
//! share only where rows ask for more; memory of a host only where rows of one group cross it at once.

use weir_plugin_api::{Direction, LinkId, NodeId, NodeKind};
use weir_scenario::Machine;

use super::parameter::{Kind, Parameter};
use super::problem::Task;
use super::solve::{Solved, solve_from};
use super::{FitError, start};

/// Factor over the largest measured throughput at which a link holds nothing back; *assumed*.
const ABOVE: f64 = 100.0;
/// Mean error that a fit may leave before memory of a host explains rates of lone copies; *assumed*.
const LEFT: f64 = 0.1;
/// Mean error of a fit that is nothing but rounding; *assumed*.
const ROUNDED: f64 = 1e-7;
/// Difference of the criterion that is no evidence (Kass and Raftery, *Bayes Factors*, JASA 90, 1995: below 2 "not worth
/// more than a bare mention").
const ALIKE: f64 = 2.0;

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

/// The bandwidths, those that the fewest devices share first.
pub(super) fn order(machine: &Machine, parameters: &[Parameter]) -> Vec<usize> {
    let bandwidth = |&i: &usize| parameters[i].kind == Kind::Bandwidth;
    let mut all: Vec<usize> = (0..parameters.len()).filter(bandwidth).collect();
    all.sort_by_cached_key(|&i| shared_by(machine, &parameters[i]));
    all
}

/// The coordinate of a bandwidth that holds nothing back.
pub(super) fn wide(task: &Task<'_>) -> f64 {
    let most = task.simulator.throughputs(task.measured).into_iter().fold(1.0, f64::max);
    libm::log((most * ABOVE).min(1e300))
}

/// Bandwidths of host memory that no group of the fitted rows crosses more than once at a time.
pub(super) fn never_shared(machine: &Machine, task: &Task<'_>, parameters: &[Parameter]) -> Vec<bool> {
    let near = |p: &Parameter| p.kind == Kind::Bandwidth && shared_by(machine, p) < usize::MAX;
    let held = |p: &Parameter| {
        let crossed = |e: usize| task.fitted[e] && p.links.iter().any(|&link| task.simulator.crossed_at_once(e, link));
        p.kind == Kind::Bandwidth && !near(p) && !(0..task.fitted.len()).any(crossed)
    };
    let any = parameters.iter().any(near);
    parameters.iter().map(|p| any && held(p)).collect()
}

/// Whether a fit leaves so much that memory of a host may explain rates of lone copies.
pub(super) fn leaves_much(task: &Task<'_>, solved: &Solved) -> bool {
    (solved.squares / task.rows().max(1) as f64).sqrt() > LEFT
}

/// Schwarz's criterion of a fit by so many bandwidths, down to rounding.
fn worth(task: &Task<'_>, squares: f64, bandwidths: usize) -> f64 {
    let n = task.rows().max(1) as f64;
    n * libm::log((squares / n).max(ROUNDED * ROUNDED)) + bandwidths as f64 * libm::log(n)
}

/// A fit as good as `best` by the links nearest the devices, all others wide open; `best` where there is none.
pub(super) fn closest(machine: &Machine, task: &Task<'_>, best: Solved, held: &[bool]) -> Result<Solved, FitError> {
    let order: Vec<usize> = order(machine, &best.parameters).into_iter().filter(|&i| !held[i]).collect();
    let wide = wide(task);
    let mut at = best.at.clone();
    order.iter().for_each(|&i| at[i] = wide);
    let mut taken: Vec<usize> = Vec::new();
    let mut now: Option<Solved> = None;
    let mut least = f64::INFINITY;
    for &i in &order {
        let from = now.as_ref().map_or(&at, |solved| &solved.at);
        let start = start::better_of(task, &best.parameters, from, &[i])?;
        let solved = solve_from(task, best.parameters.clone(), start, 0)?;
        let value = worth(task, solved.squares, taken.len() + 1);
        if value < least {
            (least, now) = (value, Some(solved));
            taken.push(i);
        }
    }
    let Some(mut now) = now else { return Ok(best) };
    // What came first may have become needless.
    for place in (0..taken.len()).rev() {
        let mut from = now.at.clone();
        from[taken[place]] = wide;
        let solved = solve_from(task, best.parameters.clone(), from, 0)?;
        let value = worth(task, solved.squares, taken.len() - 1);
        if value <= least {
            taken.remove(place);
            (least, now) = (value, solved);
        }
    }
    let used = super::solve::moving(task, &best.parameters, &best.at, &best.zero)?;
    let bandwidths = used.iter().filter(|&&i| best.parameters[i].kind == Kind::Bandwidth).count();
    Ok(if least <= worth(task, best.squares, bandwidths) + ALIKE { now } else { best })
}

/// For each bandwidth that rows depend on, those that could stand in its place: as narrow as it is, with it wide open,
/// they explain the rows as well.
pub(super) fn stand_ins(task: &Task<'_>, solved: &Solved) -> Result<Vec<(usize, Vec<usize>)>, FitError> {
    let wide = wide(task);
    let mut all = Vec::new();
    let bandwidth = |&i: &usize| solved.parameters[i].kind == Kind::Bandwidth;
    for taken in (0..solved.at.len()).filter(bandwidth).filter(|&i| !solved.idle[i]) {
        let mut others = Vec::new();
        for other in (0..solved.at.len()).filter(bandwidth).filter(|&i| solved.idle[i]) {
            let at = swapped(solved, (taken, other), wide);
            let squares = task.squares(&setting(task, solved, &at))?;
            if worth(task, squares, 1) <= worth(task, solved.squares, 1) + ALIKE {
                others.push(other);
            }
        }
        if !others.is_empty() {
            all.push((taken, others));
        }
    }
    Ok(all)
}

/// The coordinates with `other` as narrow as `taken`, and that wide open.
pub(super) fn swapped(solved: &Solved, (taken, other): (usize, usize), wide: f64) -> Vec<f64> {
    let mut at = solved.at.clone();
    (at[other], at[taken]) = (solved.at[taken], wide);
    at
}

/// The setting of coordinates.
pub(super) fn setting(task: &Task<'_>, solved: &Solved, at: &[f64]) -> super::parameter::Setting {
    let values: Vec<f64> = solved.parameters.iter().zip(at).map(|(p, &u)| p.value(u)).collect();
    task.setting(&solved.parameters, &values)
}
