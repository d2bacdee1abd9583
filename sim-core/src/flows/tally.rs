//! What held each transfer back: the link at which it lost most, and why.
//!
//! Under each binding a transfer loses what it could have sent at full rate less what it sent. The link with the largest
//! loss is its bottleneck, the cause with the largest loss there is the reason; a transfer that lost nothing gets the
//! binding it had for the longest time.

use weir_plugin_api::{Binding, PS_PER_S, SimDuration, SimTime};

use crate::outcome::Bottleneck;

/// Losses below this part of the bytes sent at full rate are rounding (assumed).
const NO_LOSS: f64 = 1e-9;

/// What passed under one binding.
#[derive(Clone, Copy, Debug)]
struct Spell {
    binding: Binding,
    time: SimDuration,
    bytes: f64,
}

impl Spell {
    /// Bytes that a transfer could have sent more at rate `full`; 0 within rounding.
    fn loss(&self, full: f64) -> f64 {
        let could = full * self.time.0 as f64 / PS_PER_S as f64;
        let loss = could - self.bytes;
        if loss > NO_LOSS * could { loss } else { 0.0 }
    }
}

#[derive(Clone, Debug)]
struct Row {
    /// As the arbiter gave it, to notice a change.
    given: Binding,
    /// With the link resolved and `by` as a task id.
    current: Binding,
    since: SimTime,
    /// Bytes left at `since`.
    left: f64,
    past: Vec<Spell>,
}

/// Per slot: the binding in force since when, and what passed under earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    rows: Vec<Row>,
}

impl Tally {
    pub(crate) fn add_slot(&mut self) {
        let none = Binding::NONE;
        self.rows.push(Row { given: none, current: none, since: SimTime::NEVER, left: 0.0, past: Vec::new() });
    }

    /// Whether this binding is another one than before (link or cause; a new culprit alone is not). Always true before
    /// the first one.
    #[inline]
    pub(crate) fn differs(&self, slot: u32, given: &Binding) -> bool {
        let row = &self.rows[slot as usize];
        row.since.is_never() || (row.given.link, row.given.cause) != (given.link, given.cause) || given.link.is_none()
    }

    /// The binding from `now` on; `left` are the bytes left at `now`.
    pub(crate) fn change(&mut self, slot: u32, now: SimTime, left: f64, given: Binding, current: Binding) {
        let row = &mut self.rows[slot as usize];
        if row.since.is_never() {
            (row.since, row.left) = (now, left);
        } else if (row.current.link, row.current.cause) != (current.link, current.cause) {
            row.bank(now, left);
        }
        row.given = given;
        row.current = current;
    }

    /// The binding in force.
    pub(crate) fn current(&self, slot: u32) -> Binding {
        self.rows[slot as usize].current
    }

    /// What held the transfer back most, the first of equals; empties the slot. `full` is the rate it could have had.
    pub(crate) fn close(&mut self, slot: u32, now: SimTime, left: f64, full: f64) -> Bottleneck {
        let row = &mut self.rows[slot as usize];
        let worst = if row.since.is_never() {
            Bottleneck { binding: row.current, time: SimDuration::ZERO }
        } else if row.past.is_empty() {
            Bottleneck { binding: row.current, time: now - row.since }
        } else {
            row.bank(now, left);
            worst(&row.past, full)
        };
        (row.given, row.current, row.since) = (Binding::NONE, Binding::NONE, SimTime::NEVER);
        row.past.clear();
        worst
    }
}

impl Row {
    /// Adds what passed since the last change to the binding in force.
    fn bank(&mut self, now: SimTime, left: f64) {
        let (binding, time, bytes) = (self.current, now - self.since, self.left - left);
        (self.since, self.left) = (now, left);
        let same = |s: &&mut Spell| (s.binding.link, s.binding.cause) == (binding.link, binding.cause);
        match self.past.iter_mut().find(same) {
            Some(spell) => {
                spell.time = spell.time.plus(time);
                spell.bytes += bytes;
            }
            None => self.past.push(Spell { binding, time, bytes }),
        }
    }
}

/// Of all spells: the link with the largest loss, and there the spell with the largest loss.
fn worst(past: &[Spell], full: f64) -> Bottleneck {
    let on_link = |spell: &Spell| -> f64 {
        past.iter().filter(|s| s.binding.link == spell.binding.link).map(|s| s.loss(full)).sum()
    };
    let rank = |s: &Spell| (on_link(s), s.loss(full), s.time.0 as f64);
    let first = &past[0];
    let (best, _) = past[1..].iter().fold((first, rank(first)), |(best, highest), spell| {
        let rank = rank(spell);
        if rank > highest { (spell, rank) } else { (best, highest) }
    });
    Bottleneck { binding: best.binding, time: best.time }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_plugin_api::{Cause, LinkId};

    fn binding(link: u32) -> Binding {
        Binding::new(LinkId(link), Cause::SharedLink, 9)
    }

    /// A transfer of 100 bytes that could send 1 byte per ps.
    const FULL: f64 = PS_PER_S as f64;

    fn change(tally: &mut Tally, time: u64, left: f64, link: u32) {
        assert!(tally.differs(0, &binding(link)));
        tally.change(0, SimTime(time), left, binding(link), binding(link));
        assert!(!tally.differs(0, &binding(link)));
    }

    #[test]
    fn the_largest_loss_wins_even_in_pieces() {
        let mut tally = Tally::default();
        tally.add_slot();
        // Link 1 for 4 + 3 ps at 1/2 (3.5 lost), link 2 for 6 + 2 ps at 3/4 (2 lost).
        for (time, left, link) in [(10, 100.0, 1), (14, 98.0, 2), (20, 93.5, 1), (23, 92.0, 2)] {
            change(&mut tally, time, left, link);
        }
        let b = tally.close(0, SimTime(25), 90.5, FULL);
        assert_eq!((b.binding.link, b.time), (LinkId(1), SimDuration(7)));
        let empty = tally.close(0, SimTime(30), 0.0, FULL);
        assert_eq!((empty.binding, empty.time), (Binding::NONE, SimDuration::ZERO));
    }

    #[test]
    fn without_loss_the_longest_wins() {
        let mut tally = Tally::default();
        tally.add_slot();
        for (time, left, link) in [(0, 100.0, 1), (3, 97.0, 2)] {
            change(&mut tally, time, left, link);
        }
        let b = tally.close(0, SimTime(10), 90.0, FULL);
        assert_eq!((b.binding.link, b.time), (LinkId(2), SimDuration(7)));
    }
}
