//! Whole loads: random pairs of hosts on trees, sizes exponential with a mean of 10 MB. Rates are compared now and then, and
//! the time of an event is printed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use weir_plugin_api::{Level, NO_LEVEL};

use super::case::{BITS, Both, Dice, Tree};

const MEAN: f64 = 10e6;

/// A load of the peer benchmark.
pub(super) struct Load {
    pub(super) fanouts: &'static [u32],
    pub(super) transfers: usize,
    /// Utilisation of the busiest link; `None` where all start at once.
    pub(super) utilisation: Option<f64>,
    /// All stay below their leaf switch.
    pub(super) is_local: bool,
}

/// A transfer that is under way.
struct Active {
    class: u32,
    left: f64,
}

/// What a load took.
pub(super) struct Took {
    pub(super) events: u32,
    pub(super) time: Duration,
    pub(super) plain: Duration,
    pub(super) compared: u32,
}

impl Load {
    /// Utilisation of the busiest link per byte per second of all transfers.
    fn busiest(tree: &Tree) -> f64 {
        let hosts = tree.leaves().len() as f64;
        let mut below = vec![0.0; tree.parent.len()];
        for mut node in tree.leaves() {
            while node > 0 {
                below[node as usize] += 1.0;
                node = tree.parent[node as usize];
            }
        }
        let use_of = |node: usize| below[node] * (hosts - below[node]) / (hosts * (hosts - 1.0));
        (1..below.len()).map(|node| use_of(node) / tree.columns.bandwidth[2 * (node - 1)]).fold(0.0, f64::max)
    }

    /// (start, from, to, bytes)
    fn plan(&self, tree: &Tree) -> Vec<(f64, u32, u32, f64)> {
        let mut dice = Dice::new(7);
        let hosts = tree.leaves();
        let per_second = self.utilisation.map(|rho| rho / Self::busiest(tree) / MEAN);
        let siblings = u64::from(*self.fanouts.last().expect("levels"));
        let mut now = 0.0;
        let mut plan = Vec::new();
        while plan.len() < self.transfers {
            let from = dice.below(hosts.len() as u64);
            let near = from / siblings * siblings + dice.below(siblings);
            let to = if self.is_local { near } else { dice.below(hosts.len() as u64) };
            if from != to {
                now += per_second.map_or(0.0, |rate| -dice.part().ln_1p_neg() / rate);
                let bytes = -dice.part().ln_1p_neg() * MEAN + 1000.0;
                plan.push((now, hosts[from as usize], hosts[to as usize], bytes));
            }
        }
        plan
    }

    /// Runs it; compares all rates at each event whose number `every` divides.
    pub(super) fn run(&self, every: u32) -> (Took, Both) {
        let tree = Tree::regular(self.fanouts, 2.0);
        let mut plan = self.plan(&tree).into_iter().peekable();
        let mut both = Both::new(&tree, "{}");
        let mut known: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut active: Vec<Active> = Vec::new();
        let mut took = Took { events: 0, time: Duration::ZERO, plain: Duration::ZERO, compared: 0 };
        let mut now = 0.0;
        while plan.peek().is_some() || !active.is_empty() {
            let rates: Vec<f64> = active.iter().map(|t| rate(both.level(t.class))).collect();
            let spans = active.iter().zip(&rates).map(|(t, rate)| t.left / rate);
            let (first, span) =
                spans.enumerate().fold((usize::MAX, f64::INFINITY), |a, b| if b.1 < a.1 { b } else { a });
            let start = plan.peek().map_or(f64::INFINITY, |p| p.0);
            let end = now + span;
            let until = start.min(end);
            active.iter_mut().zip(&rates).for_each(|(t, rate)| t.left -= rate * (until - now));
            now = until;
            if end <= start {
                let gone = active.swap_remove(first).class;
                both.end(gone);
            } else {
                while let Some((_, from, to, bytes)) = plan.next_if(|p| p.0 <= start) {
                    let class = known.get(&(from, to)).copied().filter(|&c| both.classes[c as usize].2 > 0);
                    let class = class.unwrap_or_else(|| both.new_class(&tree.route(from, to), NO_LEVEL));
                    known.insert((from, to), class);
                    both.add(class);
                    active.push(Active { class, left: bytes });
                }
            }
            let clock = Instant::now();
            both.settle();
            // Another program had the processor where it took longer.
            took.time += clock.elapsed().min(Duration::from_micros(500));
            took.events += 1;
            if took.events.is_multiple_of(every) {
                both.compare(&|| format!("event {}", took.events));
                took.compared += 1;
            }
        }
        took.plain = both.plain_time;
        (took, both)
    }
}

fn rate(level: Level) -> f64 {
    level as f64 / f64::from(BITS).exp2()
}

/// ln (1 − x).
trait Ln1pNeg {
    fn ln_1p_neg(self) -> f64;
}

impl Ln1pNeg for f64 {
    fn ln_1p_neg(self) -> f64 {
        (-self).ln_1p()
    }
}

const NAMED: &[(&str, Load)] = &[
    ("po 8", Load { fanouts: &[2, 2, 2], transfers: 10_000, utilisation: Some(0.98), is_local: false }),
    ("po 64", Load { fanouts: &[4, 4, 4], transfers: 10_000, utilisation: Some(0.95), is_local: false }),
    ("po 1024", Load { fanouts: &[4, 4, 8, 8], transfers: 10_000, utilisation: Some(0.9), is_local: false }),
    ("lo 1024", Load { fanouts: &[4, 4, 8, 8], transfers: 10_000, utilisation: Some(1.5), is_local: true }),
    ("t0 64 x 3k", Load { fanouts: &[4, 4, 4], transfers: 3_000, utilisation: None, is_local: false }),
    ("t0 1024 x 3k", Load { fanouts: &[4, 4, 8, 8], transfers: 3_000, utilisation: None, is_local: false }),
];

#[test]
#[ignore = "prints times: run it in release mode"]
fn times() {
    let wanted = std::env::var("LOADS").unwrap_or_default();
    for (name, load) in NAMED.iter().filter(|(name, _)| name.contains(&wanted)) {
        let (took, both) = load.run(50);
        let per = |time: Duration, events: u32| time.as_secs_f64() * 1e6 / f64::from(events.max(1));
        let (each, plain) = (per(took.time, took.events), per(took.plain, took.compared));
        let counters = both.side.counters;
        println!(
            "{name:14} {each:7.2} µs an event, the rate arbiter {plain:7.1} µs; told {:.1}, awake {:.1} with {:.1} classes, \
             exceptions {:.1}, raised {:.1}, descents {:.1}, bases {:.1}; {} rates compared, worst {:.1e}",
            both.told as f64 / f64::from(took.events),
            counters.awake as f64 / f64::from(took.events),
            counters.classes as f64 / f64::from(took.events),
            counters.exceptions as f64 / f64::from(took.events),
            counters.raised as f64 / f64::from(took.events),
            counters.descents as f64 / f64::from(took.events),
            counters.bases as f64 / f64::from(took.events),
            both.rates,
            both.worst,
        );
    }
}
