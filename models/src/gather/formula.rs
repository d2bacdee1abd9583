//! The closed forms of a gather.
//!
//! **Definition.** n nodes with f devices each, R the time to read a device, M that of a message to the root:
//! ```text
//! approach 1   f · ((n − 1) · (R + M) + R)     (5) for f = 1, (6)
//! approach 2   f · (R + (n − 1) · M)           (9) for f = 1, (10)
//! approach 3   f · R + (n − 1) · M'            (7) for f = 1, (8); M' carries the parts of all devices of a node
//! ```
//! The text writes 4 for f. Over the fabric the times differ by node: (n − 1) · M becomes the sum over the nodes, R
//! in approach 2 the longest of the round, f · R in approach 3 the longest of the nodes.
//! **Source.** Aggarwal, Yoon, George, Lam, Stitt, *Performance Modeling for Multilevel Communication in SHMEM+*, PGAS
//! 2010, section 4.1, equations (3) to (10).

use super::params::Rounds;
use super::resolve::Gather;
use crate::effect::{Departures, Effect};

impl Gather {
    /// Name of the formula and its time, ps.
    pub(super) fn formula(&self) -> (&'static str, f64) {
        let (f, messages) = (self.devices, self.messages.iter().sum::<f64>());
        let node_reads = self.reads.chunks(f).map(|reads| reads.iter().sum::<f64>());
        let name = |one, many| if f == 1 { one } else { many };
        match self.approach {
            1 => (name("eq5", "eq6"), self.reads.iter().sum::<f64>() + f as f64 * messages),
            2 => {
                let longest = |k| self.reads.iter().skip(k).step_by(f).copied().fold(0.0, f64::max);
                (name("eq9", "eq10"), (0..f).map(|k| longest(k) + messages).sum())
            }
            _ => (name("eq7", "eq8"), node_reads.fold(0.0, f64::max) + messages),
        }
    }

    /// Where the plan leaves the formula.
    pub(super) fn departures(&self) -> Departures {
        let mut departures = Departures::default();
        let alone = self.nodes.len() == 1;
        if self.approach == 2 && self.rounds == Rounds::Free && self.devices > 1 && !alone {
            departures.add(Effect::Less, "rounds: free: the formula separates the rounds by barriers");
        }
        self.fabric(alone, &mut departures);
        let gaps = self.read.gap() > 0.0 || self.network.as_ref().is_some_and(|network| network.gap() > 0.0);
        if gaps && self.reads.len() > 1 {
            departures.add(Effect::More, "loggp: the formula has no gap between messages");
        }
        departures
    }

    fn fabric(&self, alone: bool, departures: &mut Departures) {
        let own = "the formula assumes that the links are the operation's own";
        if self.read.is_fabric() {
            departures.add(Effect::More, format!("read: fabric: {own}"));
            if self.approach != 1 && self.reads.windows(2).any(|pair| pair[0] != pair[1]) {
                departures.add(Effect::Less, "read: fabric: the formula takes the longest read");
            }
        }
        if !alone && self.network.as_ref().is_some_and(|network| network.is_fabric()) {
            departures.add(Effect::More, format!("network: fabric: {own}"));
            if self.approach != 1 {
                departures.add(
                    Effect::Less,
                    "network: fabric: the formula adds up the latencies of messages that follow each other",
                );
            }
        }
    }
}
