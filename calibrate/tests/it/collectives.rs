//! Collectives beside lone copies over the same links.

use crate::common::{built_in, group, machine_of, measure};
use crate::random::Random;
use weir_calibrate::{Experiment, FitOptions, Made, MeasuredEnd, fit, warnings};

/// Four GPUs on one link each.
const MACHINE: &str = "weir: 1\nlink_types: { lane: { bandwidth: 20GB/s } }\ntree:\n  rc: { kind: root-complex, children: { 'gpu[0-3]': \
                       { kind: gpu, link: lane } } }\n";
const SIZE: u64 = 1 << 29;

fn name(at: usize) -> &'static str {
    ["gpu0", "gpu1", "gpu2", "gpu3"][at % 4]
}

/// Collectives that are slower than their ring say so of one link of many, of any as well; lone copies over it know better.
#[test]
fn slower_collectives_blame_no_single_link() {
    let machine = machine_of(MACHINE);
    let pairs = (0..4).flat_map(|a| (1..4).map(move |b| (a, a + b)));
    let lone: Vec<Experiment> = pairs.map(|(a, b)| group(&machine, "lone", &[(name(a), name(b), SIZE)])).collect();
    let mut ring = group(&machine, "ring", &[0, 1, 2, 3].map(|at| (name(at), name(at + 1), SIZE)));
    ring.rows.truncate(1);
    ring.rows[0].end = MeasuredEnd::Last;
    ring.kernels = true;
    // With few lone copies the only one over a link may be held out.
    let few = vec![lone[0].clone(), lone[3].clone(), lone[6].clone(), lone[9].clone()];
    for (slower, copies, seed) in (0..6).flat_map(|seed| [(1.03, &lone, seed), (1.3, &lone, seed), (1.3, &few, seed)]) {
        let (mut all, mut rings) = (copies.clone(), vec![ring.clone(); 8]);
        let mut random = Random::new(7);
        measure(&machine, ("max-min", None), &mut all, || random.factor(0.01));
        measure(&machine, ("max-min", None), &mut rings, || slower * random.factor(0.01));
        all.extend(rings);
        let options = FitOptions { seed, ..FitOptions::default() };
        let fit = fit(&machine, &built_in("max-min"), &all, &options).expect("a fit");
        let names: Vec<&str> = fit.parameters.iter().map(|fitted| &*fitted.parameter.name).collect();
        assert_eq!(names, ["bandwidth of lane"], "{slower}, {seed}");
        let warned =
            warnings(&machine, &all, &fit, Made { arbiter: "max-min", arbiters: &[], per_link: true }).join("\n");
        let apart = "collectives and lone copies between the same devices do not agree";
        assert!(copies.len() < 12 || warned.contains(apart) == (slower > 1.1), "{warned}");
    }
}
