//! Answers that are wrong are refused, whatever is wrong with them, and never end in a panic or in a loop.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_arbiters::Shares;
use weir_plugin_api::{
    Answer, CallError, Change, ClassInfo, Hang, Holder, IncrementalArbiter, NO_ID, NO_LEVEL, PS_PER_S,
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

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        self.shares.settle(change, answer)?;
        (self.spoil)(answer);
        Ok(())
    }

    fn holder(&self, class: u32) -> Holder {
        self.shares.holder(class)
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
    let faults: [Fault; 8] = [
        (|a| a.hung.iter_mut().for_each(|h| h.node += 1_000_000), "ids must be below"),
        (|a| a.hung.iter_mut().for_each(|h| h.below = NO_ID - 1), "there is a node 4294967294: ids must be below"),
        (|a| a.hung.push(Hang { node: 1, below: NO_ID }), "there is no class 1"),
        (|a| a.hung.iter_mut().for_each(|h| h.below = 0), "below class 0"),
        (|a| a.hung.extend(a.hung.clone().iter().map(|h| Hang { node: h.below, below: h.node })), "and that below"),
        (|a| a.levels.clear(), "has members and no level"),
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
        0 => answer.hung.push(Hang { node: number as u32, below: near[(dice.next_u64() % 6) as usize] as u32 }),
        1 => pick(answer.hung.len(), dice).into_iter().for_each(|at| answer.hung[at].below = number as u32),
        2 => pick(answer.hung.len(), dice).into_iter().for_each(|at| answer.hung[at].below = NO_ID),
        3 => pick(answer.hung.len(), dice).into_iter().for_each(|at| answer.hung[at].node = number as u32),
        4 => pick(answer.hung.len(), dice).into_iter().for_each(|at| _ = answer.hung.remove(at)),
        5 => pick(answer.levels.len(), dice).into_iter().for_each(|at| answer.levels[at].level <<= number % 64),
        6 => pick(answer.levels.len(), dice).into_iter().for_each(|at| _ = answer.levels.remove(at)),
        _ => pick(answer.levels.len(), dice).into_iter().for_each(|at| answer.levels[at].root = number as u32),
    }
}

/// No node hangs below itself, the first one that is no class included.
#[test]
fn no_node_hangs_below_itself() {
    let case = Case::random(1);
    let mut shares: Shares = create(&case, PS_PER_S, true);
    let ran = try_run((&case, PS_PER_S), &mut shares, true, |clocks, _| {
        let first = clocks.nodes.first_own;
        for node in first..first + 3 {
            let refused = clocks.check_hang(node, node).expect_err("it is on its own way up").to_string();
            assert!(refused.contains("and that below"), "{refused}");
        }
    });
    assert!(ran.is_ok());
}
