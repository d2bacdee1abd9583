//! What held each transfer back, and for how long.

use weir_plugin_api::{Binding, SimDuration, SimTime};

use crate::outcome::Bottleneck;

#[derive(Clone, Debug)]
struct Row {
    /// As the arbiter gave it, to notice a change.
    given: Binding,
    /// With the link resolved and `by` as a task id.
    current: Binding,
    since: SimTime,
    past: Vec<(Binding, SimDuration)>,
}

/// Per slot: the binding in force since when, and the time spent under earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    rows: Vec<Row>,
}

impl Tally {
    pub(crate) fn add_slot(&mut self) {
        let none = Binding::NONE;
        self.rows.push(Row { given: none, current: none, since: SimTime::NEVER, past: Vec::new() });
    }

    /// Whether this binding is another one than before (link or cause; a new culprit alone is not). Always true before
    /// the first one.
    #[inline]
    pub(crate) fn differs(&self, slot: u32, given: &Binding) -> bool {
        let row = &self.rows[slot as usize];
        row.since.is_never() || (row.given.link, row.given.cause) != (given.link, given.cause) || given.link.is_none()
    }

    pub(crate) fn change(&mut self, slot: u32, now: SimTime, given: Binding, current: Binding) {
        let row = &mut self.rows[slot as usize];
        if row.since.is_never() {
            row.since = now;
        } else if (row.current.link, row.current.cause) != (current.link, current.cause) {
            row.bank(now);
        }
        row.given = given;
        row.current = current;
    }

    /// The binding in force.
    pub(crate) fn current(&self, slot: u32) -> Binding {
        self.rows[slot as usize].current
    }

    /// The binding that was in force for the longest time, the first of equals; empties the slot.
    pub(crate) fn close(&mut self, slot: u32, now: SimTime) -> Bottleneck {
        let row = &mut self.rows[slot as usize];
        let mut longest =
            if row.past.is_empty() {
                Bottleneck { binding: row.current, time: now - row.since }
            } else {
                row.bank(now);
                let mut past = row.past.iter();
                let (binding, time) = *past.next().expect("just banked");
                past.fold(Bottleneck { binding, time }, |best, &(binding, time)| {
                    if time > best.time { Bottleneck { binding, time } } else { best }
                })
            };
        if row.since.is_never() {
            longest.time = SimDuration::ZERO;
        }
        (row.given, row.current, row.since) = (Binding::NONE, Binding::NONE, SimTime::NEVER);
        row.past.clear();
        longest
    }
}

impl Row {
    /// Adds the time since the last change to the sum of the binding in force.
    fn bank(&mut self, now: SimTime) {
        let (current, time) = (self.current, now - self.since);
        self.since = now;
        match self.past.iter_mut().find(|(b, _)| (b.link, b.cause) == (current.link, current.cause)) {
            Some((_, sum)) => *sum = sum.plus(time),
            None => self.past.push((current, time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_plugin_api::{Cause, LinkId};

    fn binding(link: u32) -> Binding {
        Binding::new(LinkId(link), Cause::SharedLink, 9)
    }

    #[test]
    fn the_longest_sum_wins_even_in_pieces() {
        let mut tally = Tally::default();
        tally.add_slot();
        for (time, link) in [(10, 1), (14, 2), (20, 1), (23, 2)] {
            assert!(tally.differs(0, &binding(link)));
            tally.change(0, SimTime(time), binding(link), binding(link));
            assert!(!tally.differs(0, &binding(link)));
        }
        // Link 1: 4 + 3 = 7; link 2: 6 + 2 = 8.
        let b = tally.close(0, SimTime(25));
        assert_eq!((b.binding.link, b.time), (LinkId(2), SimDuration(8)));
        let empty = tally.close(0, SimTime(30));
        assert_eq!((empty.binding, empty.time), (Binding::NONE, SimDuration::ZERO));
    }
}
