//! What to do about a fit that does not fit.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use ordered_float::OrderedFloat;
use weir_plugin_api::NodeId;
use weir_report::rate;
use weir_scenario::Machine;

use crate::cuts::{CutPlace, Exceeded, not_explained, place_name};
use crate::drift::drifts;
use crate::fit::parameter::ParameterKind;
use crate::fit::{Compared, Fit, may_reduce};
use crate::measurement::Experiment;
use crate::proposals::proposals;
use crate::text::{percent, row_text};

/// Mean error above which a model does not fit; *assumed*, above the ±15 % that count as a good prediction.
const POOR: f64 = 0.2;
const WORST: usize = 3;
/// Difference of mean errors, as a logarithm, above which collectives and lone copies do not agree; *assumed*, more than noise and kernels make.
const APART: f64 = 0.1;
/// Rows that make a mean; *assumed*.
const FEW: usize = 3;
/// Factor between the largest size of a log and one that counts as small; *assumed*.
const SMALL: u64 = 64;

/// How a fit was made, as far as there is a choice.
#[derive(Clone, Copy, Debug)]
pub struct Made<'a> {
    /// The name of the one that the simulated times are of.
    pub arbiter: &'a str,
    /// All arbiters that there are.
    pub arbiters: &'a [String],
    /// Whether links could get values of their own.
    pub per_link: bool,
}

/// Warnings for a person, each with what to do: no row left over, rows above what a link carries, shared bandwidths that the
/// topology lacks, collectives and lone copies that ask for different bandwidths, or a mean error above 20 %, of the rows fitted or of those held out.
#[must_use]
pub fn warnings(machine: &Machine, experiments: &[Experiment], fit: &Fit, made: Made<'_>) -> Vec<String> {
    let mut all = Vec::new();
    if fit.freedom == 0 {
        let text = "there are no more rows than parameters: measure more to know how well the values fit";
        all.push(text.to_owned());
    }
    all.extend(above_cuts(machine, experiments, fit));
    all.extend(drifts(experiments, fit));
    all.extend(collectives_apart(experiments, fit));
    all.extend(proposals(machine, experiments, fit));
    let poor = |held_out: bool| {
        fit.weighted_error(fit.judged_rows(held_out)).filter(|&mean| mean > POOR).map(|mean| (held_out, mean))
    };
    let Some((held_out, mean)) = poor(false).or_else(|| poor(true)) else { return all };
    let mut worst: Vec<&Compared> = fit.judged_rows(held_out).collect();
    worst.sort_by_cached_key(|row| Reverse(OrderedFloat(row.error().abs() * fit.weight(row))));
    worst.truncate(WORST);
    let row = |row: &&Compared| {
        let experiment = &experiments[row.experiment];
        let (ends, bytes) = row_text(machine, experiment, row.row);
        format!("`{}` {ends}, {bytes}: {} ({})", experiment.name, percent(row.error()), experiment.rows[row.row].place)
    };
    let named: Vec<String> = worst.iter().map(row).collect();
    all.push(format!(
        "the model does not {}: mean error {:.1} %{}{}\n  the worst rows: {}\n  {}",
        if held_out { "predict" } else { "fit" },
        mean * 100.0,
        if fit.even > 0.0 { ", each row by how much it counts," } else { "" },
        if held_out { " of the rows held out" } else { "" },
        named.join("\n    "),
        match of_small_rows(experiments, fit) {
            Some(remedy) => remedy,
            None => remedies(experiments, &worst, made).join("\n  "),
        }
    ));
    all
}

/// Groups that ended sooner than a link of the fitted topology can carry their bytes.
fn above_cuts(machine: &Machine, experiments: &[Experiment], fit: &Fit) -> Option<String> {
    let mut found = not_explained(machine, experiments, fit);
    found.sort_by_cached_key(|(_, above)| Reverse(OrderedFloat(above.measured / above.carries)));
    let count = match found.len() {
        0 => return None,
        1 => "1 group is".to_owned(),
        count => format!("{count} groups are"),
    };
    let line = |(at, above): &(usize, Exceeded)| {
        let (experiment, place) =
            (&experiments[*at], place_name(&machine.fabric, above.place, |n| machine.node_name(n)));
        let row = experiment.rows.first().map_or_else(String::new, |row| format!(" ({})", row.place));
        let (measured, carries) = (rate(above.measured), rate(above.carries));
        format!("\n  `{}` over {place}: measured {measured}, it carries {carries}{row}", experiment.name)
    };
    let lines: String = found.iter().take(WORST).map(line).collect();
    let is_left_out = |(at, _): &(usize, Exceeded)| fit.rows.iter().any(|row| row.experiment == *at && row.outlier);
    let counts = if found.iter().all(is_left_out) { ", and left out of the fit" } else { "" };
    let rings = of_rings(machine, experiments, &found);
    Some(format!(
        "{count} not explained by this topology, under any arbiter{counts}:{lines}\n  see that the topology has every link, that the \
         devices are those of the log, and that the numbers were copied right; leave out what cannot be{rings}"
    ))
}

/// Collectives that are off in another direction than the lone copies between the same devices: kernels may send at another rate than
/// copy engines, and another algorithm than the ring may have run.
fn collectives_apart(experiments: &[Experiment], fit: &Fit) -> Option<String> {
    let bytes = |row: &Compared| experiments[row.experiment].transfers.iter().map(|t| t.bytes).max().unwrap_or(0);
    let largest = |kernels: bool| {
        let of_kind = |row: &&Compared| experiments[row.experiment].kernels == kernels;
        fit.judged_rows(false).filter(of_kind).map(bytes).max().unwrap_or(0)
    };
    let devices: BTreeSet<NodeId> =
        experiments.iter().filter(|e| e.kernels).flat_map(|e| &e.transfers).flat_map(|t| [t.from, t.to]).collect();
    let is_between = |e: &Experiment| e.transfers.iter().all(|t| devices.contains(&t.from) && devices.contains(&t.to));
    let mean = |kernels: bool| {
        let least = largest(kernels) / SMALL;
        let is_of = |row: &&Compared| {
            let experiment = &experiments[row.experiment];
            let fits = experiment.kernels == kernels && (kernels || experiment.transfers.len() == 1);
            fits && is_between(experiment) && bytes(row) >= least
        };
        let errors: Vec<f64> =
            fit.judged_rows(false).filter(is_of).map(|row| libm::log(row.simulated / row.measured)).collect();
        (errors.len() >= FEW).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    };
    let (collectives, lone) = (mean(true)?, mean(false)?);
    ((collectives - lone).abs() > APART).then(|| {
        let [collectives, lone] = [collectives, lone].map(|error| percent(libm::exp(error) - 1.0));
        format!(
            "collectives and lone copies between the same devices do not agree: simulated times are off by {collectives} and by {lone}\n  \
             kernels may send at another rate than copy engines, or another algorithm than a ring ran: fit each log alone"
        )
    })
}

/// What to do about collectives above their ring. The switch reduces only where there is one that can.
fn of_rings(machine: &Machine, experiments: &[Experiment], found: &[(usize, Exceeded)]) -> String {
    let reduces = |(_, above): &(usize, Exceeded)| match above.place {
        CutPlace::Link(link) => may_reduce(machine, link),
        CutPlace::Shared(_) => false,
    };
    let mut rings = found.iter().filter(|(at, _)| experiments[*at].kernels).peekable();
    if rings.peek().is_none() {
        return String::new();
    }
    let (such, off) = match rings.any(reduces) {
        true => (", such as reduction in the switch (NVLS)", " and NCCL_NVLS_ENABLE=0"),
        false => ("", ""),
    };
    format!(
        "\n  a collective above what its ring can carry ran by another algorithm{such}: measure with NCCL_ALGO=Ring{off}"
    )
}

/// What to do where rows of few bytes fit worst, as latencies make most of their time and none is fitted.
fn of_small_rows(experiments: &[Experiment], fit: &Fit) -> Option<String> {
    use ParameterKind::{Latency, LoggpLatency, LoggpOverhead};
    let is_latency = |kind| matches!(kind, Latency | LoggpLatency | LoggpOverhead);
    if fit.parameters.iter().any(|fitted| is_latency(fitted.parameter.kind)) {
        return None;
    }
    let bytes = |row: &Compared| experiments[row.experiment].transfers.iter().map(|t| t.bytes).max().unwrap_or(0);
    let largest = fit.judged_rows(false).map(bytes).max()?;
    let is_small = |row: &Compared| bytes(row).saturating_mul(SMALL) <= largest;
    let off = |row: &Compared| libm::log(row.simulated / row.measured) * fit.weight(row);
    let worst = |small: bool| {
        fit.judged_rows(false).filter(|row| is_small(row) == small).max_by_key(|row| OrderedFloat(off(row).abs()))
    };
    let (small, large) = (worst(true)?, worst(false)?);
    // A bandwidth between those of small and large rows makes the ones too fast and the others too slow.
    let is_cause = off(small).abs() >= off(large).abs() || off(small) * off(large) < 0.0;
    (is_cause && off(small).abs() > libm::log1p(POOR)).then(|| {
        format!(
            "`{}` of {} is off by a factor of {:.1}, and no latency is fitted: leave out small rows, or fit latencies as well (--fit \
             bandwidth,latency)",
            experiments[small.experiment].name,
            weir_report::bytes(bytes(small)),
            libm::exp(libm::log(small.simulated / small.measured).abs())
        )
    })
}

fn remedies(experiments: &[Experiment], worst: &[&Compared], made: Made<'_>) -> Vec<String> {
    let mut all = vec!["see that the devices are those that the log means (--devices, --host, --pair)".to_owned()];
    let together = worst.iter().find(|row| experiments[row.experiment].transfers.len() > 1);
    if let Some(row) = together {
        let others = made.arbiters.iter().map(String::as_str).filter(|name| *name != made.arbiter);
        let others: Vec<&str> = others.collect();
        if !others.is_empty() {
            all.push(format!("try another arbiter (--arbiter {})", others.join(", ")));
        }
        let name = &experiments[row.experiment].name;
        all.push(format!("measure the copies of `{name}` alone, too: what they share is then seen"));
        let transfers = &experiments[row.experiment].transfers;
        let repeats = |from| transfers.iter().filter(|transfer| transfer.from == from).count() > 1;
        if transfers.iter().any(|transfer| repeats(transfer.from)) {
            let engines = "see `engines` of the devices that send several of them: how many go out at once";
            all.push(engines.to_owned());
        }
    } else {
        all.push("see that the topology has the links that these copies take, and measure the copies again".to_owned());
    }
    if !made.per_link {
        all.push("let links of one type differ (--per-link auto)".to_owned());
    }
    all
}
