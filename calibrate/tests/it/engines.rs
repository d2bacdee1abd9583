//! How many transfers a device sends at once, from rows in which one device sends to several: 1 GB each, over links of 10 GB/s.

use crate::common::{built_in, group, machine_of};
use weir_calibrate::{Experiment, FitOptions, MeasuredEnd, fit};
use weir_scenario::Machine;

const GB: u64 = 1_000_000_000;
const NOT_TOLD: &str = "the rows do not tell how many transfers it sends at once: `engines` stays as it is";

fn machine(engines: u32) -> Machine {
    machine_of(&format!(
        "weir: 1\nlink_types: {{ slot: {{ bandwidth: 10GB/s }}, wide: {{ bandwidth: 100GB/s }} }}\ntree:\n  sw:\n    kind: switch\n    \
         children:\n      'from[0-1]': {{ kind: gpu, link: wide, engines: {engines} }}\n      'to[0-3]': {{ kind: gpu, link: slot }}\n"
    ))
}

/// Copies from a device to as many others, with the seconds of each end.
fn each(machine: &Machine, from: &str, ends: &[f64]) -> Experiment {
    let names: Vec<String> = (0..ends.len()).map(|at| format!("to{at}")).collect();
    let copies: Vec<_> = names.iter().map(|to| (from, to.as_str(), GB)).collect();
    let mut all = group(machine, "each", &copies);
    all.rows.iter_mut().zip(ends).for_each(|(row, &end)| row.seconds = end);
    all
}

/// The same with the end of the last alone.
fn last(machine: &Machine, from: &str, count: usize, seconds: f64) -> Experiment {
    let mut all = each(machine, from, &vec![seconds; count]);
    all.rows.truncate(1);
    all.rows[0].end = MeasuredEnd::Last;
    all
}

/// What is noted of engines.
fn noted(machine: &Machine, experiments: &[Experiment]) -> Vec<String> {
    let options = FitOptions { hold_out: 0.0, ..FitOptions::default() };
    let found = fit(machine, &built_in("max-min"), experiments, &options).expect("a fit");
    found.notes.into_iter().filter(|note| note.contains("at once")).collect()
}

fn show(count: &str, engines: &str) -> Vec<String> {
    vec![format!("from0: the rows show {count} out at once: write `engines: {engines}, and calibrate again")]
}

/// Batches end at multiples of the first end; what all end together tells the least number alone.
#[test]
fn ends_tell_how_many_are_sent_at_once() {
    let one = [0.1, 0.2, 0.3];
    let two = [0.1, 0.1, 0.2, 0.2];
    let all = [0.1, 0.1, 0.1];
    for (engines, rows, expected) in [
        (2, vec![&one[..]], show("1 transfer", "1`, not 2")),
        (1, vec![&one], vec![]),
        (1, vec![&two], show("2 transfers", "2`, not 1")),
        (2, vec![&two, &two], vec![]),
        // Of two transfers that go at once there may be two engines, or more.
        (3, vec![&two, &all[..2]], show("2 transfers", "2`, not 3")),
        (3, vec![&two, &all], vec![format!("from0: {NOT_TOLD}")]),
        (3, vec![&two, &one], vec![format!("from0: {NOT_TOLD}")]),
        (1, vec![&all], show("3 transfers", "3` or more, not 1")),
        (1, vec![&all[..2], &all, &all[..2]], show("3 transfers", "3` or more, not 1")),
        (3, vec![&all], vec![]),
        (4, vec![&all], vec![]),
        (1, vec![&[0.1, 0.15, 0.17]], vec![format!("from0: {NOT_TOLD}")]),
    ] {
        let machine = machine(engines);
        let experiments: Vec<Experiment> = rows.iter().map(|ends| each(&machine, "from0", ends)).collect();
        assert_eq!(noted(&machine, &experiments), expected, "{engines} engines, {rows:?}");
    }
}

/// Where the log has the last end alone, n GB until then are a sum of rates. Of the 10 GB/s of a lone copy it is r times, and
/// with more than 1.1 times there are at least r − 0.1 engines, as a whole number from above.
#[test]
fn a_sum_of_rates_tells_the_least_number() {
    for (engines, count, times, expected) in [
        (1, 4, 3.2, show("4 transfers", "4` or more, not 1")),
        (1, 4, 3.05, show("3 transfers", "3` or more, not 1")),
        (3, 4, 3.05, vec![]),
        (4, 4, 3.05, vec![]),
        (1, 4, 1.12, show("2 transfers", "2` or more, not 1")),
        (1, 4, 1.05, vec![format!("from0: {NOT_TOLD}")]),
        (1, 4, 0.95, vec![format!("from0: {NOT_TOLD}")]),
    ] {
        let machine = machine(engines);
        let lone = |from, seconds| each(&machine, from, &[seconds]);
        let together = last(&machine, "from0", count, count as f64 * 0.1 / times);
        // The fastest of its lone copies counts, not those of others and of kernels.
        let kernel = Experiment { kernels: true, ..lone("from0", 0.02) };
        let all = [lone("from0", 0.11), lone("from0", 0.1), lone("from1", 0.02), kernel, together];
        assert_eq!(noted(&machine, &all), expected, "{engines} engines, {times} times");
        let without: Vec<Experiment> = all.into_iter().skip(2).collect();
        assert_eq!(noted(&machine, &without), [format!("from0: {NOT_TOLD}")], "without a lone copy");
    }
}

/// Both sides count all messages: four at a time of a quarter of the bytes are the same rates.
#[test]
fn messages_behind_each_other_count() {
    let machine = machine(1);
    let four = |mut experiment: Experiment| {
        experiment.messages = 4;
        experiment.transfers.iter_mut().for_each(|transfer| transfer.bytes /= 4);
        experiment
    };
    let lone = each(&machine, "from0", &[0.1]);
    let together = last(&machine, "from0", 4, 0.4 / 3.05);
    let expected = show("3 transfers", "3` or more, not 1");
    for experiments in [[four(lone.clone()), together.clone()], [lone.clone(), four(together.clone())]] {
        assert_eq!(noted(&machine, &experiments), expected);
    }
}

/// Devices with the same rows share a note.
#[test]
fn a_note_names_all_devices_of_which_it_says_the_same() {
    let machine = machine(2);
    let experiments = ["from0", "from1"].map(|from| each(&machine, from, &[0.1, 0.2, 0.3]));
    let expected = "from0, from1: the rows show 1 transfer out at once: write `engines: 1`, not 2, and calibrate again";
    assert_eq!(noted(&machine, &experiments), [expected]);
}
