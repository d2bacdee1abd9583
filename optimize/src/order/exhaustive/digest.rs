//! A digest of a problem: results of different problems must not be merged.

use crate::order::problem::OrderProblem;
use crate::order::run::plan::{Plan, splitmix};

/// Two chains of [`splitmix`]: 128 bits, against mistakes, not against attacks.
pub(crate) struct Digest(u64, u64);

impl Digest {
    pub(crate) fn new() -> Self {
        Self(0, u64::MAX)
    }

    pub(crate) fn add(&mut self, word: u64) {
        self.0 ^= word;
        self.0 = splitmix(&mut self.0);
        self.1 = self.1.rotate_left(23) ^ word.wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.1 = splitmix(&mut self.1);
    }

    fn add_text(&mut self, text: &str) {
        self.add(text.len() as u64);
        text.bytes().for_each(|b| self.add(u64::from(b)));
    }

    pub(crate) fn text(&self) -> String {
        format!("{:016x}{:016x}", self.0, self.1)
    }
}

/// The digest of all that decides makespans: sources, messages, links, the label, and the rates where all are known.
pub(crate) fn digest(problem: &OrderProblem<'_>, plan: &Plan, table: impl Iterator<Item = f64>) -> String {
    let mut digest = Digest::new();
    digest.add_text(env!("CARGO_PKG_VERSION"));
    digest.add_text(&problem.label);
    digest.add(u64::from(problem.flags.0));
    let classes = problem.classes.table();
    for (s, source) in problem.sources.iter().enumerate() {
        digest.add(plan.counts[s] as u64);
        for m in &source.messages {
            let c = m.class.index();
            let message = [u64::from(m.task.0), m.bytes, m.latency, u64::from(m.from.0), u64::from(m.to.0)];
            let class = [classes.limit[c].to_bits(), classes.weight[c].to_bits(), classes.priority[c] as u64];
            let pace = [m.lead, m.gap, m.tail];
            message.into_iter().chain(pace).chain(class).for_each(|word| digest.add(word));
            for link in problem.routes.links(problem.classes.route(m.class)) {
                digest.add(u64::from(link.0));
                digest.add(problem.fabric.link(*link).bandwidth.to_bits());
            }
        }
    }
    table.for_each(|rate| digest.add(rate.to_bits()));
    digest.text()
}
