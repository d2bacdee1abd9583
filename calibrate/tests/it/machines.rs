//! Random machines with random logs: a fit finds what made them, or names what the data do not tell. It never panics, also
//! on times that no machine has.

use crate::common::{built_in, group, measure, registry};
use proptest::prelude::*;
use weir_calibrate::fit::{Choice, Known};
use weir_calibrate::{Experiment, Fit, FitOptions, fit, write_topology};
use weir_scenario::{LoadOptions, Machine};

const MB: u64 = 1_000_000;

/// A machine of one or two sockets with switches, its values in GB/s.
#[derive(Clone, Debug)]
struct Plan {
    sockets: usize,
    switches: usize,
    gpus: usize,
    slot: [f64; 2],
    uplink: f64,
    memory: f64,
    socket: f64,
}

impl Plan {
    fn text(&self) -> String {
        let Self { sockets, switches, gpus, slot: [up, down], uplink, memory, socket } = self;
        let mut text = format!(
            "weir: 1\nlink_types:\n  slot: {{ up: {up}GB/s, down: {down}GB/s }}\n  uplink: {{ bandwidth: {uplink}GB/s }}\n  \
             memory: {{ bandwidth: {memory}GB/s, kind: memory }}\n  socket: {{ bandwidth: {socket}GB/s, kind: qpi }}\ntree:\n"
        );
        for s in 0..*sockets {
            text += &format!(
                "  rc{s}:\n    kind: root-complex\n    children:\n      cpu{s}: {{ kind: cpu, link: memory }}\n"
            );
            for w in 0..*switches {
                let first = (s * switches + w) * gpus;
                let last = first + gpus - 1;
                text += &format!(
                    "      sw{}: {{ kind: switch, link: uplink, children: {{ 'gpu[{first}-{last}]': {{ kind: gpu, link: slot }} }} }}\n",
                    s * switches + w
                );
            }
        }
        if *sockets == 2 {
            text += "links:\n  - { between: [rc0, rc1], type: socket }\n";
        }
        text
    }

    fn machine(&self, folder: &std::path::Path, name: &str) -> Machine {
        let file = folder.join(name);
        std::fs::write(&file, self.text()).expect("a file");
        Machine::load(&file, &LoadOptions::default(), &registry()).expect("a machine of the test")
    }

    fn devices(&self) -> Vec<String> {
        let gpus = (0..self.sockets * self.switches * self.gpus).map(|i| format!("gpu{i}"));
        gpus.chain((0..self.sockets).map(|i| format!("cpu{i}"))).collect()
    }
}

fn plans() -> impl Strategy<Value = Plan> {
    let rate = || 5.0_f64..80.0;
    (1_usize..3, 1_usize..3, 1_usize..4, [rate(), rate()], rate(), 20.0_f64..300.0, rate()).prop_map(
        |(sockets, switches, gpus, slot, uplink, memory, socket)| Plan {
            sockets,
            switches,
            gpus,
            slot,
            uplink,
            memory,
            socket,
        },
    )
}

/// Groups of transfers, by the places of their ends among the devices.
type Groups = Vec<Vec<(usize, usize, u64)>>;

fn groups() -> impl Strategy<Value = Groups> {
    // Sizes that differ by less than a factor of 100: latencies are not fitted.
    let transfer = (0_usize..64, 0_usize..64, 50_u64..1024);
    prop::collection::vec(prop::collection::vec(transfer, 1..4), 1..10)
}

/// The experiments of groups; transfers from a device to itself are left out.
fn experiments(machine: &Machine, plan: &Plan, groups: &Groups) -> Vec<Experiment> {
    let names = plan.devices();
    let ends = |&(a, b, mb): &(usize, usize, u64)| (&*names[a % names.len()], &*names[b % names.len()], mb * MB);
    let all = groups.iter().enumerate().map(|(at, transfers)| {
        let transfers: Vec<_> = transfers.iter().map(ends).filter(|(a, b, _)| a != b).collect();
        group(machine, &format!("group {at}"), &transfers)
    });
    all.filter(|e| !e.rows.is_empty()).collect()
}

/// Whether a parameter is one of which the fit says that its value is not known.
fn is_open(found: &Fit, at: usize) -> bool {
    let named = found.unclear.iter().any(|group| group.parameters.contains(&at));
    named || matches!(found.parameters[at].known, Known::Together | Known::Unseen | Known::Enough | Known::AtZero)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// From data without noise, with one value per type: what is called fitted is what made the data, or the same rows come
    /// out of other values.
    #[test]
    fn a_fit_finds_what_made_the_data_or_says_what_is_open(
        truth in plans(), start in 8.0_f64..60.0, groups in groups(),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let machine = truth.machine(folder.path(), "truth.yaml");
        let mut all = experiments(&machine, &truth, &groups);
        prop_assume!(!all.is_empty());
        measure(&machine, ("max-min", None), &mut all, || 1.0);
        let begin = Plan { slot: [start, start * 1.01], uplink: start, memory: start * 4.0, socket: start, ..truth.clone() };
        let begin = begin.machine(folder.path(), "start.yaml");
        let options = FitOptions { finer: Choice::No, ..FitOptions::default() };
        let found = fit(&begin, &built_in("max-min"), &all, &options).expect("a fit");
        let worst = found.rows.iter().map(|row| row.error().abs()).fold(0.0, f64::max);
        // Where rates of contending copies hide each other, the search may end at values that are nearly as good.
        // With no more rows than parameters, one parameter less costs the criterion little, whatever error it leaves.
        let rows: usize = all.iter().map(|e| e.rows.len()).sum();
        let open = (0..found.parameters.len()).any(|at| is_open(&found, at));
        let few_rows = rows <= found.parameters.len() && open;
        prop_assert!(worst < 0.25 || few_rows, "{worst}: {:#?}", found.parameters);
        if worst > 1e-6 {
            return Ok(());
        }
        let [up, down] = truth.slot;
        let made = [("slot, up", up), ("slot, down", down), ("uplink", truth.uplink), ("memory", truth.memory),
            ("socket", truth.socket)];
        for (_, fitted) in found.parameters.iter().enumerate().filter(|&(at, _)| !is_open(&found, at)) {
            let (_, gbps) = made.iter().find(|(name, _)| fitted.parameter.name == format!("bandwidth of {name}")).expect("a type");
            prop_assert!((fitted.value / (gbps * 1e9) - 1.0).abs() < 1e-5, "{}: {} of {gbps}", fitted.parameter.name, fitted.value);
        }
    }

    /// Any times, with parameters as fine as the data ask for: a fit ends, its values are numbers, and it can be written.
    #[test]
    fn any_times_are_fitted_or_refused(
        plan in plans(), groups in groups(), times in prop::collection::vec(-9.0_f64..4.0, 40), tau in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let machine = plan.machine(folder.path(), "plan.yaml");
        let mut all = experiments(&machine, &plan, &groups);
        let mut times = times.into_iter().cycle();
        for row in all.iter_mut().flat_map(|e| &mut e.rows) {
            row.seconds = libm::pow(10.0, times.next().expect("cycles"));
        }
        let arbiter = built_in(if tau { "pcie-congestion" } else { "max-min" });
        let Ok(found) = fit(&machine, &arbiter, &all, &FitOptions::default()) else { return Ok(()) };
        prop_assert!(found.parameters.iter().all(|f| f.value.is_finite()), "{:#?}", found.parameters);
        prop_assert!(found.rows.iter().all(|row| row.simulated.is_finite() && row.simulated > 0.0));
        let file = folder.path().join("plan.yaml");
        let text = write_topology(&file, &machine, &found, &LoadOptions::default(), &["x.csv".to_owned()]);
        let text = text.unwrap_or_else(|problems| panic!("{problems:#?}"));
        std::fs::write(&file, text).expect("a file");
        Machine::load(&file, &LoadOptions::default(), &registry()).expect("what was written is read");
    }

    /// Rates that differ by direction, and by link: the case of which every split must leave links on both sides.
    #[test]
    fn lone_copies_of_any_rates_are_split_without_harm(
        rates in prop::collection::vec(10.0_f64..60.0, 2..24), gpus in 1_usize..9,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = Plan { sockets: 1, switches: 1, gpus, slot: [50.0, 50.0], uplink: 400.0, memory: 400.0, socket: 20.0 };
        let machine = plan.machine(folder.path(), "one.yaml");
        let lone = |(at, rate): (usize, &f64)| {
            let gpu = format!("gpu{}", (at / 2) % gpus);
            let ends = if at % 2 == 0 { ("cpu0", &*gpu) } else { (&*gpu, "cpu0") };
            let mut copy = group(&machine, "lone", &[(ends.0, ends.1, 1000 * MB)]);
            copy.rows[0].seconds = 1.0 / rate;
            copy
        };
        let all: Vec<Experiment> = rates.iter().enumerate().map(lone).collect();
        let found = fit(&machine, &built_in("max-min"), &all, &FitOptions::default()).expect("a fit");
        prop_assert!(found.parameters.iter().all(|f| !f.parameter.links.is_empty() || f.parameter.marked.is_some()));
    }
}
