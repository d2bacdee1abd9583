//! Nodes below nodes, hung elsewhere again and again, at levels that are drawn: every end beside what each transfer was given,
//! added up; exact, since all are integers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_plugin_api::{
    Answer, CallError, Cause, Change, ClassInfo, Hang, Holder, IncrementalArbiter, Level, LinkId, NO_ID, NO_LEVEL,
    PS_PER_S, RootLevel,
};

use super::cases::Case;
use super::{build, scaled};
use crate::incremental::clocks::Clocks;

/// Nodes of the arbiter's own.
const NODES: u32 = 6;

/// Hangs things anywhere, and notes what level each class has from when on.
struct Shuffled {
    dice: ChaCha8Rng,
    first_own: u32,
    /// The most that a level may be, so that no link is overloaded.
    most: Level,
    /// Per node what it hangs below; own ones come after the classes.
    below: Vec<u32>,
    levels: Vec<Level>,
    /// Per class a link of its route, and its transfers.
    links: Vec<LinkId>,
    counts: Vec<u32>,
    /// (Instant, level) per class.
    history: Vec<Vec<(u64, Level)>>,
}

impl Shuffled {
    fn new(seed: u64, classes: u32, most: Level) -> Self {
        let all = (classes + NODES) as usize;
        Self {
            dice: ChaCha8Rng::seed_from_u64(seed),
            first_own: classes,
            most,
            below: vec![NO_ID; all],
            levels: vec![NO_LEVEL; all],
            links: vec![LinkId::NONE; classes as usize],
            counts: vec![0; classes as usize],
            history: vec![Vec::new(); classes as usize],
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.dice.next_u64() % below
    }

    fn root_of(&self, mut node: u32) -> u32 {
        while self.below[node as usize] != NO_ID {
            node = self.below[node as usize];
        }
        node
    }

    /// Hangs a node below a later one of the arbiter's own, or below nothing: there is no circle then.
    fn shuffle(&mut self, node: u32, answer: &mut Answer) {
        let first = if node < self.first_own { self.first_own } else { node + 1 };
        let room = u64::from(self.first_own + NODES - first);
        let below = match self.draw(room + 1) {
            last if last == room => NO_ID,
            at => first + at as u32,
        };
        self.below[node as usize] = below;
        answer.hung.push(Hang { node, below });
    }

    /// Draws levels for some roots, and for all that had none; tells those of roots without members, too.
    fn set_levels(&mut self, answer: &mut Answer) {
        let active: Vec<u32> = (0..self.first_own).filter(|&class| self.counts[class as usize] > 0).collect();
        let roots: Vec<u32> = active.iter().map(|&class| self.root_of(class)).collect();
        for node in 0..self.first_own + NODES {
            if self.below[node as usize] != NO_ID {
                continue;
            }
            let before = self.levels[node as usize];
            let level = match roots.contains(&node) {
                false => NO_LEVEL,
                true if before == NO_LEVEL || self.draw(3) == 0 => self.draw(8) * (self.most / 8),
                true => before,
            };
            self.levels[node as usize] = level;
            // A node that has become a root must be told in any case; a class without weight is not known.
            if node >= self.first_own || active.contains(&node) {
                answer.levels.push(RootLevel { root: node, level });
            }
        }
    }
}

impl IncrementalArbiter for Shuffled {
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        (self.below[id as usize], self.levels[id as usize]) = (NO_ID, NO_LEVEL);
        self.links[id as usize] = class.links[0];
    }

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        change.removed.iter().for_each(|change| self.counts[change.class as usize] -= 1);
        change.added.iter().for_each(|change| self.counts[change.class as usize] += 1);
        // Later nodes first, so that there is no circle on the way either.
        for node in (0..self.first_own + NODES).rev() {
            let is_known = node >= self.first_own || self.counts[node as usize] > 0;
            if is_known && self.draw(3) == 0 {
                self.shuffle(node, answer);
            }
        }
        self.set_levels(answer);
        for class in (0..self.first_own).filter(|&class| self.counts[class as usize] > 0) {
            let level = self.levels[self.root_of(class) as usize];
            self.history[class as usize].push((change.now.0, level));
        }
        Ok(())
    }

    fn holder(&self, class: u32) -> Holder {
        Holder { link: self.links[class as usize], cause: Cause::SharedLink, by: class }
    }
}

/// A transfer of the run, as it was given to the clocks.
#[derive(Clone, Copy)]
struct Sent {
    class: u32,
    start: u64,
    work: i128,
    end: Option<u64>,
}

/// When a clock at these levels has gone so far, from `from` on; `None` if it never does.
fn reaches(history: &[(u64, Level)], from: u64, mut work: i128) -> Option<u64> {
    for (at, &(since, level)) in history.iter().enumerate() {
        let until = history.get(at + 1).map_or(u64::MAX, |next| next.0);
        if until <= from && until < u64::MAX {
            continue;
        }
        let (since, level) = (since.max(from), i128::from(level));
        // A 1/1024 ps is forgiven: docs/incremental.md, "Ends".
        let left = work - (level >> 10);
        let span = if left <= 0 {
            0
        } else if level == 0 {
            i128::MAX
        } else {
            (left + level - 1) / level
        };
        if span <= i128::from(until - since) && span < i128::from(u64::MAX) {
            return Some(since + span as u64);
        }
        work -= level * i128::from(until - since);
    }
    None
}

fn run(seed: u64, in_turn: bool) -> (usize, usize) {
    let case = Case::random(seed);
    let (scale, capacities) = scaled(&case, PS_PER_S);
    let most = capacities.iter().min().map_or(1, |least| least / 200);
    let mut clocks = Clocks::with_room(capacities.len(), 0, case.offers.len());
    clocks.may_be_alone = false;
    if in_turn {
        clocks.serve_in_turn();
    }
    let mut arbiter = Shuffled::new(seed, case.offers.len() as u32, most);
    let mut plain = case.clone();
    // Limits would forbid levels, and weights would differ from one transfer of a class to the next.
    plain.offers.iter_mut().for_each(|offer| (offer.limit, offer.weight) = (None, 1));
    let paths = build(&plain, scale, &mut clocks, &arbiter);
    let (mut sent, mut gone, mut next) = (vec![None::<Sent>; paths.len()], Vec::new(), 0);
    for _ in 0..600 {
        let start = plain.offers.get(next).map_or(u64::MAX, |offer| offer.start);
        let now = start.min(clocks.next_end());
        if now == u64::MAX {
            break;
        }
        clocks.take_ended(now, &arbiter, &mut gone);
        for gone in gone.drain(..) {
            sent[gone.id as usize].as_mut().expect("it was admitted").end = Some(now);
        }
        while let Some(offer) = plain.offers.get(next).filter(|offer| offer.start == now) {
            let work = scale.work(offer.bytes, 1) / 100;
            clocks.admit(now, next as u32, paths[next], 1, work);
            sent[next] = Some(Sent { class: NO_ID, start: now, work, end: None });
            next += 1;
        }
        clocks.arbitrate(now, &mut arbiter).expect("the levels are low");
        clocks.check(&arbiter);
        for (id, class) in clocks.classes_of_active() {
            if let Some(sent) = &mut sent[id as usize] {
                sent.class = class;
            }
        }
    }
    compare(&arbiter, &sent, in_turn)
}

/// How many ends there are, and how many transfers were still under way.
fn compare(arbiter: &Shuffled, sent: &[Option<Sent>], in_turn: bool) -> (usize, usize) {
    let mut free_from = vec![0; arbiter.first_own as usize];
    let mut counted = (0, 0);
    for sent in sent.iter().flatten() {
        let history = &arbiter.history[sent.class as usize];
        let from = if in_turn { sent.start.max(free_from[sent.class as usize]) } else { sent.start };
        let expected = reaches(history, from, sent.work);
        if let Some(end) = sent.end {
            assert_eq!(Some(end), expected, "class {} from {from}", sent.class);
            free_from[sent.class as usize] = end;
            counted.0 += 1;
        } else {
            free_from[sent.class as usize] = u64::MAX;
            counted.1 += 1;
        }
    }
    counted
}

#[test]
fn clocks_below_clocks_are_exact() {
    for in_turn in [false, true] {
        let (mut ended, mut left) = (0, 0);
        for seed in 0..300 {
            let counted = run(seed, in_turn);
            (ended, left) = (ended + counted.0, left + counted.1);
        }
        println!("{ended} ends, {left} under way");
        assert!(ended > 2000, "{ended} ends, {left} under way");
    }
}
