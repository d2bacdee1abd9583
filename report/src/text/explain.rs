//! An explanation for a person: the plans of operations, then per phase a row per transfer and a column per step of the
//! arbiter, as Table I of Martinasso et al., "A PCIe Congestion-Aware Performance Model for Densely Populated Accelerator
//! Servers", SC16.

use std::collections::BTreeSet;

use weir_plugin_api::{LinkId, SimTime};
use weir_scenario::Regions;
use weir_sim_core::{LIMITED, PhaseRecord, PhaseStep, TaskId, Work};

use super::{ROWS, Sheet, clean, more, timeline, title};
use crate::steps::by_transfer;
use crate::{Run, instant, rate};

/// The whole text: the plans of the first operations, then every phase, at most [`ROWS`] of them.
#[must_use]
pub fn explain(run: &Run<'_>) -> String {
    let mut out = title(run) + &timeline::plans(run);
    if run.outcome.packets.is_some() {
        return out + &super::ports::ports(run);
    }
    let phases = run.outcome.phases.as_deref().unwrap_or(&[]);
    for (i, phase) in phases.iter().take(ROWS).enumerate() {
        let (start, end) = (instant(phase.start), instant(phase.end));
        out.push_str(&format!("\nphase {} of {}, {start} to {end}\n", i + 1, phases.len()));
        match run.arbiter.regions {
            None => out.push_str(&table(run, phase, &by_transfer(phase))),
            Some(regions) => out.push_str(&by_region(run, phase, regions)),
        }
    }
    if phases.is_empty() && run.scenario.operations.is_empty() {
        out.push_str("\nno bytes moved: there is nothing to explain\n");
    }
    out + &more(phases.len(), "phases")
}

type Explained<'a> = (TaskId, Vec<&'a PhaseStep>);

/// A table for each region in use, and a line for each transfer there that another region holds back.
fn by_region(run: &Run<'_>, phase: &PhaseRecord, regions: &Regions) -> String {
    let all = by_transfer(phase);
    let used: BTreeSet<u32> = phase.steps.iter().map(|step| step.region).collect();
    let mut out = String::new();
    for number in used {
        out.push_str(&heading(run, regions, number));
        let groups = kept(&all, |step| step.region == number);
        out.push_str(&table(run, phase, &kept(&groups, |step| step.step != LIMITED)));
        let limited = groups.iter().take(ROWS).flat_map(|(_, steps)| steps.iter().filter(|step| step.step == LIMITED));
        out.extend(limited.map(|step| limited_line(run, regions, phase, step)));
    }
    out
}

fn heading(run: &Run<'_>, regions: &Regions, region: u32) -> String {
    let name = run.region_name(region).unwrap_or_default();
    let ruled = match run.shared_bandwidth(region) {
        Some(shared) => rate(shared.bandwidth),
        None => regions.region(region as usize).1.to_owned(),
    };
    format!("\n{}: {ruled}\n", clean(&name))
}

/// The transfers with those of their steps that are wanted, where there are some.
fn kept<'a>(all: &[Explained<'a>], wanted: impl Fn(&PhaseStep) -> bool) -> Vec<Explained<'a>> {
    let of = |(task, steps): &Explained<'a>| (*task, steps.iter().copied().filter(|step| wanted(step)).collect());
    all.iter().map(of).filter(|(_, steps): &Explained<'a>| !steps.is_empty()).collect()
}

/// Who is held back elsewhere: `x is limited to 3.2 GB/s by network (nic0 → leaf1)`.
fn limited_line(run: &Run<'_>, regions: &Regions, phase: &PhaseRecord, step: &PhaseStep) -> String {
    let (name, rate) = (run.scenario.task_name(step.task), rate(step.rate));
    if step.link.is_none() {
        let by = if is_at_limit(run, step) { "by its own limit" } else { "elsewhere" };
        return format!("{name} is limited to {rate} {by}\n");
    }
    let shares = |other: &&PhaseStep| (other.task, other.link) == (step.task, step.link) && other.rate <= step.rate;
    let holds = |other: &&PhaseStep| shares(other) && run.shared_bandwidth(other.region).is_some();
    if let Some(shared) = phase.steps.iter().find(holds) {
        return format!(
            "{name} is limited to {rate} by {}\n",
            clean(&run.region_name(shared.region).unwrap_or_default())
        );
    }
    let (region, _) = regions.of_link(step.link);
    format!("{name} is limited to {rate} by {} ({})\n", clean(&region.name), run.link_text(step.link))
}

/// Whether a transfer has all that its limit lets it have; a policy may give a rate without a reason.
fn is_at_limit(run: &Run<'_>, step: &PhaseStep) -> bool {
    match run.scenario.tasks.tasks()[step.task.index()].work {
        Work::Carries { class, .. } => step.rate >= run.scenario.tasks.classes().limit(class) * (1.0 - 1e-9),
        _ => false,
    }
}

fn table(run: &Run<'_>, phase: &PhaseRecord, groups: &[Explained<'_>]) -> String {
    let steps = step_names(groups.iter().map(|(_, steps)| steps.as_slice()));
    let header = ["transfer", "from → to"].map(str::to_owned).into_iter();
    let columns = steps.iter().map(|name| format!(">{}", clean(name)));
    let last = [">rate", "decided at", "because of"].map(str::to_owned);
    // The first and the last step say most.
    let between = steps.iter().skip(1).take(steps.len().saturating_sub(2)).rev().map(|name| clean(name));
    let spare = ["from → to".to_owned()].into_iter().chain(between).chain(["decided at".to_owned()]);
    let mut sheet = Sheet::new(header.chain(columns).chain(last)).spare(spare);
    for (task, group) in groups.iter().take(ROWS) {
        let granted = phase.rates.binary_search_by_key(task, |&(task, _)| task).map_or(0.0, |at| phase.rates[at].1);
        sheet.row(row(run, (*task, phase.start), group, &steps, granted));
    }
    sheet.finish() + &more(groups.len(), "transfers")
}

/// The names of the steps, in the order in which the transfers come to them.
fn step_names<'a>(groups: impl Iterator<Item = &'a [&'a PhaseStep]>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for group in groups {
        let mut at = 0;
        for step in group {
            match names.iter().position(|&name| name == step.step) {
                Some(known) => at = known + 1,
                None => {
                    names.insert(at.min(names.len()), &step.step);
                    at += 1;
                }
            }
        }
    }
    names
}

fn row(
    run: &Run<'_>,
    (task, start): (TaskId, SimTime),
    group: &[&PhaseStep],
    steps: &[&str],
    granted: f64,
) -> Vec<String> {
    let narrowest = narrowest(run, (task, start), group.first().map_or(0, |step| step.region));
    let factor = |value: f64| format!("{:.4}", value / narrowest);
    let (mut from_to, mut cells) = ("–".to_owned(), Vec::new());
    if let Some(carried) = run.carried(task) {
        from_to = format!("{} → {}", run.scenario.node_name(carried.from), run.scenario.node_name(carried.to));
    }
    for name in steps {
        let step = group.iter().rfind(|step| step.step == *name);
        cells.push(step.map_or_else(|| "–".to_owned(), |step| factor(step.rate)));
    }
    let decided = deciding(group);
    let link = decided.map_or(LinkId::NONE, |step| step.link);
    let because: Vec<_> =
        decided.map_or(&[][..], |step| &step.because).iter().map(|&t| run.scenario.task_name(t)).collect();
    let mut out = vec![run.scenario.task_name(task).into_owned(), from_to];
    out.extend(cells);
    out.push(rate(granted));
    out.push(if link.is_none() { "–".to_owned() } else { run.link_text(link) });
    out.push(if because.is_empty() { "–".to_owned() } else { because.join(", ") });
    out
}

/// The last step that changed the rate and names a link; else the last one that names a link.
fn deciding<'a>(group: &[&'a PhaseStep]) -> Option<&'a PhaseStep> {
    let named = |step: &&PhaseStep| !step.link.is_none() || !step.because.is_empty();
    let changed = (0..group.len()).rev().find(|&i| named(&group[i]) && (i == 0 || group[i].rate != group[i - 1].rate));
    changed.map(|i| group[i]).or_else(|| group.iter().copied().rfind(|step| named(step)))
}

/// The scale of a transfer's factors: the bandwidth of the narrowest link of its route at a time, of those in a region if there are any,
/// or what links share.
fn narrowest(run: &Run<'_>, (task, time): (TaskId, SimTime), region: u32) -> f64 {
    let fabric = &run.scenario.fabric;
    if let Some(shared) = run.shared_bandwidth(region) {
        return shared.bandwidth;
    }
    let links = run.carried_at(task, time).map_or_else(Vec::new, |carried| carried.shares(run.scenario));
    let here = |link: LinkId| run.arbiter.regions.is_none_or(|r| r.division.region_of(link) == region as usize);
    let rates = links.iter().filter(|(link, _)| here(*link)).map(|&(link, share)| fabric.link(link).bandwidth / share);
    rates.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step that only a later transfer comes to stands where that one comes to it.
    #[test]
    fn steps_stand_in_their_order() {
        let step = |name: &str| PhaseStep {
            task: TaskId(0),
            region: 0,
            step: name.to_owned(),
            link: LinkId::NONE,
            rate: 1.0,
            because: Vec::new(),
        };
        let all = ["A", "B", "C", "D"].map(step);
        let [a, b, c, d] = &all;
        let names = |groups: &[&[&PhaseStep]]| step_names(groups.iter().copied()).join(" ");
        assert_eq!(names(&[&[a, c], &[a, b, c], &[d, a]]), "D A B C");
        assert_eq!(names(&[&[a], &[b]]), "B A");
        assert_eq!(names(&[&[a, b], &[a, c]]), "A C B");
    }
}
