//! Answers that are wrong are refused, whatever is wrong with them, and never end in a panic or in a loop.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_arbiters::Shares;
use weir_plugin_api::{
    Answer, CallError, Change, ClassInfo, ClassMove, IncrementalArbiter, LinkId, NO_LEVEL, PS_PER_S,
};

use super::cases::Case;
use super::{create, try_run};

/// Max-min whose answers are spoilt.
struct Spoilt<F> {
    shares: Shares,
    spoil: F,
}

impl<F: FnMut(&mut Answer) + Send> IncrementalArbiter for Spoilt<F> {
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        self.shares.add_class(id, class);
    }

    fn arbitrate(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        self.shares.arbitrate(change, answer)?;
        (self.spoil)(answer);
        Ok(())
    }
}

/// What a run says of an arbiter whose answers are spoilt.
fn verdict(seed: u64, spoil: impl FnMut(&mut Answer) + Send) -> Result<(), String> {
    let case = Case::random(seed);
    let mut spoilt = Spoilt { shares: create(&case, PS_PER_S, true), spoil };
    // What an interrupted run asks must not fail either.
    let ran =
        try_run((&case, PS_PER_S), &mut spoilt, true, |clocks, arbiter| drop(clocks.standings(u64::MAX >> 2, arbiter)));
    ran.map(|_| ()).map_err(|error| error.to_string())
}

/// The texts of all refusals among many cases.
fn refusals(spoil: impl FnMut(&mut Answer) + Send + Copy) -> Vec<String> {
    (0..50).filter_map(|seed| verdict(seed, spoil).err()).collect()
}

#[test]
fn each_fault_is_told() {
    type Fault = (fn(&mut Answer), &'static str);
    let faults: [Fault; 9] = [
        (|a| a.groups.iter_mut().for_each(|m| m.group += 1_000_000), "below root"),
        (|a| a.groups.iter_mut().for_each(|m| m.root = u32::MAX), "below root 4294967295: ids must be below"),
        (|a| a.classes.iter_mut().for_each(|m| m.class = 99), "class 99 in group"),
        (|a| a.classes.clear(), "no group that hangs below a root"),
        (|a| a.dropped = a.groups.iter().map(|m| m.group).collect(), "no group that hangs below a root"),
        (|a| a.levels.clear(), "has members and no level"),
        (|a| a.levels.iter_mut().for_each(|l| l.link = LinkId(77)), "held back by link 77 of"),
        (|a| a.levels.iter_mut().for_each(|l| l.level = NO_LEVEL - 1), "has the level 18446744073709551614"),
        (|a| a.levels.iter_mut().filter(|l| l.level != NO_LEVEL).for_each(|l| l.level *= 2), "its bandwidth"),
    ];
    for (spoil, words) in faults {
        let texts = refusals(spoil);
        assert!(texts.iter().all(|text| text.starts_with("its changes are wrong: ")), "{texts:?}");
        assert!(texts.iter().any(|text| text.contains(words)), "`{words}` is missing in: {texts:?}");
    }
}

/// One entry of one answer in ten is replaced by numbers that are near, or far off.
#[test]
fn random_faults_end_in_a_text() {
    let mut refused = 0;
    for seed in 0..2000 {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        let ran = verdict(seed % 200, |answer| {
            if dice.next_u64() % 10 == 0 {
                spoil_one(answer, &mut dice);
            }
        });
        refused += usize::from(ran.is_err());
    }
    println!("{refused} of 2000 are refused");
    assert!(refused > 500, "{refused} of 2000 are refused");
}

fn spoil_one(answer: &mut Answer, dice: &mut ChaCha8Rng) {
    let near = [0, 1, 2, 5, 30, u64::from(u32::MAX)];
    let number = near[(dice.next_u64() % 6) as usize];
    let pick = |len: usize, dice: &mut ChaCha8Rng| (len > 0).then(|| (dice.next_u64() % len as u64) as usize);
    match dice.next_u64() % 8 {
        0 => answer.dropped.push(number as u32),
        1 => pick(answer.groups.len(), dice).into_iter().for_each(|at| answer.groups[at].root = number as u32),
        6 => pick(answer.classes.len(), dice).into_iter().for_each(|at| answer.classes[at].class = number as u32),
        7 => answer.classes.push(ClassMove { class: number as u32, group: 0 }),
        2 => pick(answer.groups.len(), dice).into_iter().for_each(|at| _ = answer.groups.remove(at)),
        3 => pick(answer.classes.len(), dice).into_iter().for_each(|at| answer.classes[at].group = number as u32),
        4 => pick(answer.levels.len(), dice).into_iter().for_each(|at| answer.levels[at].level <<= number % 64),
        _ => pick(answer.levels.len(), dice).into_iter().for_each(|at| answer.levels[at].root = number as u32),
    }
}
