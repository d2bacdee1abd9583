//! What ports do in each phase, recorded on request: their cycles of grants, and who waits for them.
//!
//! A phase lasts from one begin, or end, of a transfer to the next. The last grants of each output are kept, up to the last
//! packet of a transfer: what follows is no more what the phase is like. Its cycle is the shortest sequence that the
//! later half of them repeats. Where a set of transfers is moved on by n periods, what it granted in the last period is added n
//! times: cycles are the same with and without skip-ahead.

use std::collections::VecDeque;

use super::grants::{Asked, Offer};
use super::{Engine, Held, REQUESTS, Requester};

/// Grants that are kept of each output: cycles of up to a quarter of them are found (*assumed*).
const KEPT: usize = 2048;
/// With fewer grants in a phase an output has no cycle to speak of (*assumed*).
const LEAST: u64 = 16;
/// Phases that are kept at most (*assumed*).
const MOST_PHASES: usize = 1000;

/// What contended ports did from `start` to `end`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortPhase {
    /// A transfer began, or the last byte of one came; ps.
    pub start: u64,
    /// The next time that happened, or the end of the run; ps.
    pub end: u64,
    /// Outputs with 16 grants or more, in the later half of which two or more asked, ascending.
    pub ports: Vec<PortRecord>,
    /// The transfers whose sources waited for their own window, tags or limit; the longest wait first.
    pub own_waits: Vec<(u32, Held)>,
}

/// What an output did in a phase.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortRecord {
    /// The output's link.
    pub link: u32,
    /// Picoseconds in which it sent.
    pub busy: u64,
    /// Picoseconds in which it was free, and nobody who asked for it had credit.
    pub starved: u64,
    /// Packets, pieces of split ones each, that it granted.
    pub grants: u64,
    /// The last ones of these, among which the cycle was looked for.
    pub kept: u64,
    /// What it repeats; `None` where the later half of those that were kept repeats nothing.
    pub cycle: Option<GrantCycle>,
    /// The transfers whose sources waited for it, and why; the longest wait first.
    pub waits: Vec<(u32, Held)>,
}

/// Grants that an output repeats.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantCycle {
    /// In order, from the lowest requester on.
    pub grants: Vec<CycleGrant>,
    /// Picoseconds that it takes, on average.
    pub time: u64,
}

/// One grant of an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CycleGrant {
    /// The link that the packet came in by; `None` for one that starts here.
    pub input: Option<u32>,
    /// Whose packet it is.
    pub transfer: u32,
    /// Whether it is a request of that transfer, a read.
    pub is_request: bool,
    /// Bytes of payload.
    pub payload: u32,
}

/// A grant as it is kept.
#[derive(Clone, Copy, Debug)]
struct Kept {
    time: u64,
    slot: u32,
    transfer: u32,
    payload: u32,
    /// Whether others asked for the output, too.
    has_rivals: bool,
}

impl Kept {
    fn key(&self) -> (u32, u32, u32) {
        (self.slot, self.transfer, self.payload)
    }
}

/// An output in the phase that goes on.
#[derive(Debug, Default)]
struct Output {
    last: VecDeque<Kept>,
    /// The last packet of a transfer has passed: no more grants of this phase are kept.
    is_closed: bool,
    grants: u64,
    /// When the phase began: busy and starved until then.
    before: (u64, u64),
}

/// What is recorded.
#[derive(Debug)]
pub(super) struct Cycles {
    outputs: Vec<Output>,
    /// When the phase began.
    since: u64,
    /// Whether something was granted in it.
    is_open: bool,
    /// Waits until it began, of each transfer that had packets to send.
    held: Vec<(u32, Vec<Held>)>,
    phases: Vec<PortPhase>,
}

impl Cycles {
    pub(super) fn new(links: usize) -> Self {
        let outputs = (0..links).map(|_| Output::default()).collect();
        Self { outputs, since: 0, is_open: false, held: Vec::new(), phases: Vec::new() }
    }

    /// The last `grants` of an output have taken place `n` times more, in periods of `period` ps.
    pub(super) fn repeat(&mut self, link: u32, grants: u64, n: u64, period: u64) {
        let output = &mut self.outputs[link as usize];
        output.grants += n * grants;
        if output.is_closed {
            return;
        }
        let length = usize::try_from(grants).unwrap_or(usize::MAX);
        if length == 0 {
            return;
        }
        let Some(first) = output.last.len().checked_sub(length) else {
            // More than are kept: those of the last period are the same ones, later.
            return output.last.iter_mut().for_each(|kept| kept.time += n * period);
        };
        let copies = n.min((KEPT / length) as u64 + 1);
        let one: Vec<Kept> = output.last.range(first..).copied().collect();
        for copy in n - copies + 1..=n {
            one.iter().for_each(|kept| output.push(Kept { time: kept.time + copy * period, ..*kept }));
        }
    }
}

impl Output {
    fn push(&mut self, kept: Kept) {
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(kept);
    }

    /// The first of the later half of the grants that are kept.
    fn later_half(&self) -> usize {
        self.last.len() / 2
    }

    fn is_contended(&self) -> bool {
        let first = self.last.back().map(|kept| kept.slot);
        let mut later = self.last.range(self.later_half()..);
        self.grants >= LEAST && later.any(|kept| kept.has_rivals || Some(kept.slot) != first)
    }
}

/// The length of the shortest sequence that `of` is made of, at least twice.
fn shortest_period<T: PartialEq>(of: &[T]) -> Option<usize> {
    // Of each beginning, the longest proper one that it also ends with (Knuth, Morris, Pratt 1977).
    let mut borders = vec![0; of.len()];
    for end in 1..of.len() {
        let mut border: usize = borders[end - 1];
        while border > 0 && of[end] != of[border] {
            border = borders[border - 1];
        }
        borders[end] = border + usize::from(of[end] == of[border]);
    }
    let period = of.len() - borders.last()?;
    (2 * period <= of.len()).then_some(period)
}

/// The place of the least among the rotations of `of`.
fn least_rotation<T: Ord>(of: &[T]) -> usize {
    let rotated = |from: usize| of[from..].iter().chain(&of[..from]);
    (0..of.len()).min_by(|&a, &b| rotated(a).cmp(rotated(b))).unwrap_or(0)
}

impl Engine {
    /// Records what ports do, for [`Self::port_phases`].
    #[must_use]
    pub fn with_cycles(mut self) -> Self {
        self.cycles = Some(Box::new(Cycles::new(self.ports.len())));
        self
    }

    /// What contended ports did until `at`, phase by phase: the first 1000 phases in which any did something. `None` where
    /// that was not recorded.
    #[must_use]
    pub fn port_phases(&mut self, at: u64) -> Option<Vec<PortPhase>> {
        self.end_port_phase(at);
        self.cycles.take().map(|cycles| cycles.phases)
    }

    /// A grant takes place.
    pub(super) fn record_grant(&mut self, now: u64, offer: &Offer, asked: &Asked) {
        let Offer { out, slot, heads, .. } = *offer;
        let (transfer, payload, is_last) = (asked.transfer(), asked.head.payload, asked.is_last);
        let Some(mut cycles) = self.cycles.take() else { return };
        if cycles.phases.len() == MOST_PHASES {
            self.cycles = Some(cycles);
            return;
        }
        if !cycles.is_open {
            self.begin_port_phase(&mut cycles);
        }
        let output = &mut cycles.outputs[out as usize];
        output.grants += 1;
        // It may be a shorter one.
        output.is_closed |= is_last;
        if !output.is_closed {
            output.push(Kept { time: now, slot, transfer, payload, has_rivals: heads.1 - heads.0 > 1 });
        }
        self.cycles = Some(cycles);
    }

    /// The first grant since a phase began.
    fn begin_port_phase(&self, cycles: &mut Cycles) {
        cycles.is_open = true;
        let senders = self.left().into_iter().map(|id| (id, self.transfer(id))).filter(|(_, of)| of.left > 0);
        cycles.held = senders.map(|(id, of)| (id, of.held.until(cycles.since))).collect();
        for (link, output) in (0..).zip(&mut cycles.outputs) {
            output.before = self.times_until(cycles.since, link);
        }
    }

    /// A transfer begins, or its last byte has come.
    pub(super) fn end_port_phase(&mut self, now: u64) {
        let Some(mut cycles) = self.cycles.take() else { return };
        if cycles.is_open {
            let contended = (0..).zip(&cycles.outputs).filter(|(_, output)| output.is_contended());
            let ports: Vec<PortRecord> =
                contended.map(|(link, output)| self.port(now, link, output, &cycles)).collect();
            let own_waits = self.waits(now, &cycles.held, |held| held.cause.is_own());
            if !(ports.is_empty() && own_waits.is_empty()) {
                cycles.phases.push(PortPhase { start: cycles.since, end: now, ports, own_waits });
            }
            for output in &mut cycles.outputs {
                output.last.clear();
                (output.grants, output.is_closed) = (0, false);
            }
        }
        (cycles.since, cycles.is_open) = (now, false);
        self.cycles = Some(cycles);
    }

    fn port(&self, now: u64, link: u32, output: &Output, cycles: &Cycles) -> PortRecord {
        let (busy, starved) = self.times_until(now, link);
        PortRecord {
            link,
            busy: busy - output.before.0,
            starved: starved - output.before.1,
            grants: output.grants,
            kept: output.last.len() as u64,
            cycle: self.cycle_of_grants(link, output),
            waits: self.waits(now, &cycles.held, |held| held.link == link && !held.cause.is_own()),
        }
    }

    fn cycle_of_grants(&self, link: u32, output: &Output) -> Option<GrantCycle> {
        let half: Vec<Kept> = output.last.range(output.later_half()..).copied().collect();
        let keys: Vec<_> = half.iter().map(Kept::key).collect();
        let length = shortest_period(&keys)?;
        let whole = (half.len() - 1) / length;
        let time = (half[whole * length].time - half[0].time) / whole as u64;
        let first = least_rotation(&keys[..length]);
        let grant = |kept: &Kept| CycleGrant {
            input: match self.requester(link, kept.slot) {
                Requester::Queue { input, .. } => Some(input),
                Requester::Engine { .. } => None,
            },
            transfer: kept.transfer & !REQUESTS,
            is_request: kept.transfer >= REQUESTS,
            payload: kept.payload,
        };
        Some(GrantCycle { grants: half[first..first + length].iter().map(grant).collect(), time })
    }

    /// Those waits since a phase began that `counts` is true of.
    fn waits(&self, now: u64, before: &[(u32, Vec<Held>)], counts: impl Fn(&Held) -> bool) -> Vec<(u32, Held)> {
        let since = |(id, before): &(u32, Vec<Held>)| {
            let all = self.transfer(*id).held.until(now).into_iter().filter(&counts);
            let in_phase = |held: Held| {
                let same = |b: &&Held| (b.cause, b.link, b.by) == (held.cause, held.link, held.by);
                let earlier = before.iter().find(same).map_or(0, |before| before.time);
                (held.time > earlier).then_some((*id, Held { time: held.time - earlier, ..held }))
            };
            all.filter_map(in_phase).collect::<Vec<_>>()
        };
        let mut waits: Vec<(u32, Held)> = before.iter().flat_map(since).collect();
        waits.sort_by_key(|(id, held)| (std::cmp::Reverse(held.time), *id, held.cause, held.by));
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_period_is_found() {
        assert_eq!(shortest_period(b"abababab"), Some(2));
        assert_eq!(shortest_period(b"aabaabaa"), Some(3));
        assert_eq!(shortest_period(b"aaaa"), Some(1));
        assert_eq!(shortest_period(b"abcabcab"), Some(3));
        assert_eq!(shortest_period(b"abab"), Some(2), "twice is enough");
        assert_eq!(shortest_period(b"abcdab"), None);
        assert_eq!(shortest_period::<u8>(&[]), None);
        assert_eq!([least_rotation(b"baa"), least_rotation(b"ab"), least_rotation(b"")], [1, 0, 0]);
    }

    /// What is kept after periods were skipped is what is kept without.
    #[test]
    fn skipped_periods_are_kept_as_if_they_were_granted() {
        let kept = |at: u64| Kept { time: 10 * at, slot: (at % 3) as u32, transfer: 0, payload: 1, has_rivals: false };
        for (lead, n) in [(5, 1), (7, 4), (5, 5000), (3000, 2)] {
            let (mut skipping, mut plain) = (Cycles::new(1), Cycles::new(1));
            (0..lead + 3).for_each(|at| skipping.outputs[0].push(kept(at)));
            skipping.repeat(0, 3, n, 30);
            (0..lead + 3 + 3 * n).for_each(|at| plain.outputs[0].push(kept(at)));
            let of = |cycles: &Cycles| cycles.outputs[0].last.iter().map(|k| (k.time, k.key())).collect::<Vec<_>>();
            assert_eq!(of(&skipping), of(&plain), "{lead} {n}");
        }
        // Of a period with more grants than are kept, those that are kept come later by all that was skipped.
        let mut long = Cycles::new(1);
        (0..5).for_each(|at| long.outputs[0].push(kept(at)));
        long.repeat(0, 9, 2, 90);
        let times: Vec<u64> = long.outputs[0].last.iter().map(|kept| kept.time).collect();
        assert_eq!(times, [180, 190, 200, 210, 220]);
    }
}
