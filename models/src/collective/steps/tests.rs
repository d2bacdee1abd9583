//! What ranks hold after the rounds, followed message by message: sets of ranks whose bytes a part holds.

use super::*;
use Algorithm as A;
use Kind as K;

/// Numbers of ranks that are tried, powers of two among them.
const RANKS: [u64; 9] = [2, 3, 4, 5, 7, 8, 13, 16, 32];

fn steps(kind: Kind, algorithm: Algorithm, n: u64) -> Steps {
    Steps { kind, algorithm, n, size: 1009 * n + n / 2 }
}

/// All algorithms that do a kind among n ranks.
fn of(kind: Kind) -> impl Iterator<Item = Steps> {
    let fits = move |n: u64| {
        Algorithm::ALL.into_iter().filter(move |a| *a != A::Nvls && a.fits(kind, n)).map(move |a| steps(kind, a, n))
    };
    RANKS.into_iter().flat_map(fits)
}

/// Calls `each` for every message, and `end` after every round.
fn follow<S: Clone>(steps: &Steps, state: &mut S, mut each: impl FnMut(u64, &Send, &S, &mut S)) {
    let mut messages = 0;
    for round in 0..steps.rounds() {
        let (before, mut sends) = (state.clone(), Vec::new());
        steps.sends(round, &mut sends);
        messages += sends.len() as u64;
        sends.iter().for_each(|send| each(round, send, &before, state));
    }
    assert!(messages > 0 && messages <= steps.messages(), "{steps:?}: {messages} messages");
}

/// The parts of a message of an algorithm that adds parts.
fn parts_of(steps: &Steps, round: u64, send: &Send) -> Vec<u64> {
    let (n, from, to) = (steps.n, u64::from(send.from), u64::from(send.to));
    let block = |of: u64, distance: u64| (of / distance * distance..of / distance * distance + distance).collect();
    match (steps.algorithm, steps.kind) {
        (A::Ring, K::AllReduce) => vec![(from + 2 * n - round) % n],
        (A::Ring, K::ReduceScatter) => vec![(from + 2 * n - round - 1) % n],
        (A::RecursiveHalvingDoubling, _) if round < steps.digits() => block(to, from.abs_diff(to)),
        (A::RecursiveHalvingDoubling, _) => block(from, from.abs_diff(to)),
        (A::Pairwise | A::Direct, K::ReduceScatter) => vec![to],
        _ => (0..n).collect(),
    }
}

/// Every sum holds every rank once, where it must be.
#[test]
fn sums_are_whole_and_nothing_is_added_twice() {
    for steps in of(K::AllReduce).chain(of(K::ReduceScatter)).chain(of(K::Reduce)) {
        let n = steps.n as usize;
        // By tree, rank, part.
        let mut sums = vec![vec![vec![0_u64; n]; n]; 2];
        (0..n).for_each(|rank| sums.iter_mut().for_each(|tree| tree[rank] = vec![1 << rank; n]));
        follow(&steps, &mut sums, |round, send, before, sums| {
            let (tree, from, to) = (send.tree as usize, send.from as usize, send.to as usize);
            let parts = parts_of(&steps, round, send);
            let bytes: u64 = parts.iter().map(|&part| steps.parts(part, 1)).sum();
            assert!(steps.algorithm == A::DoubleBinaryTree || bytes == send.bytes, "{steps:?} {send:?}");
            for part in parts {
                // A direct all-reduce sends what a rank had at the beginning.
                let sent = before[tree][from][part as usize];
                let sum = &mut sums[tree][to][part as usize];
                assert!(!send.adds || *sum & sent == 0, "{steps:?} adds twice: {send:?}");
                *sum = if send.adds { *sum | sent } else { sent };
            }
        });
        let trees = steps.trees();
        for (rank, part) in (0..trees * n * n).map(|i| (i / n % n, i % n)) {
            let wanted = match steps.kind {
                K::AllReduce => true,
                K::ReduceScatter => rank == part,
                _ => rank == 0,
            };
            (0..trees).for_each(|tree| {
                assert!(!wanted || sums[tree][rank][part].count_ones() as usize == n, "{steps:?} at {rank}")
            });
        }
    }
}

/// All-gather: a message holds what the receiver lacks of what the sender has, no more; in the end everybody has all.
#[test]
fn everybody_gathers_all() {
    for steps in of(K::AllGather) {
        let n = steps.n as usize;
        let mut has: Vec<u64> = (0..n).map(|rank| 1 << rank).collect();
        follow(&steps, &mut has, |_, send, before, has| {
            let (from, to) = (before[send.from as usize], before[send.to as usize]);
            let bytes: u64 =
                (0..steps.n).filter(|part| (from & !to) >> part & 1 == 1).map(|part| steps.parts(part, 1)).sum();
            assert_eq!(bytes, send.bytes, "{steps:?} {send:?}");
            has[send.to as usize] |= from;
        });
        assert!(has.iter().all(|has| has.count_ones() as usize == n), "{steps:?}: {has:?}");
    }
}

#[test]
fn everybody_hears_the_root() {
    for steps in of(K::Broadcast) {
        let mut has = vec![[false; 2]; steps.n as usize];
        has[0] = [true; 2];
        follow(&steps, &mut has, |_, send, before, has| {
            assert!(before[send.from as usize][send.tree as usize], "{steps:?}: {send:?} has nothing");
            has[send.to as usize][send.tree as usize] = true;
        });
        let trees = steps.trees();
        assert!(has.iter().all(|has| has[..trees] == [true, true][..trees]), "{steps:?}");
    }
}

/// Scatter and gather: what is passed on is gone, and all ends where it belongs.
#[test]
fn parts_end_where_they_belong() {
    for steps in of(K::Scatter).chain(of(K::Gather)) {
        let own = |rank: u64| steps.parts(rank, 1);
        let is_scatter = steps.kind == K::Scatter;
        let mut bytes: Vec<u64> = (0..steps.n).map(|rank| if is_scatter { 0 } else { own(rank) }).collect();
        if is_scatter {
            bytes[0] = steps.size;
        }
        follow(&steps, &mut bytes, |_, send, _, bytes| {
            bytes[send.from as usize] -= send.bytes;
            bytes[send.to as usize] += send.bytes;
        });
        let wanted = |rank: u64| match (is_scatter, rank) {
            (true, rank) => own(rank),
            (false, 0) => steps.size,
            (false, _) => 0,
        };
        assert!((0..steps.n).all(|rank| bytes[rank as usize] == wanted(rank)), "{steps:?}: {bytes:?}");
    }
}

/// All-to-all: every pair meets once; by `bruck` a part of distance b travels once for each digit of b.
#[test]
fn everybody_reaches_everybody() {
    for steps in of(K::AllToAll) {
        let n = steps.n as usize;
        let mut parts = vec![vec![0_u64; n]; n];
        follow(&steps, &mut parts, |_, send, _, parts| parts[send.from as usize][send.to as usize] += send.bytes);
        for (from, to) in (0..n * n).map(|i| (i / n, i % n)).filter(|(from, to)| from != to) {
            let by = (to + n - from) % n;
            match steps.algorithm {
                A::Bruck if by.is_power_of_two() => {
                    let count = (1..n).filter(|distance| distance & by != 0).count() as u64;
                    assert_eq!(count, exchange::with_digit(steps.n, by as u64));
                    assert!(parts[from][to].abs_diff(count * steps.size / steps.n) <= 1, "{steps:?}");
                }
                A::Bruck => assert_eq!(parts[from][to], 0),
                _ => assert_eq!(parts[from][to], steps.parts(to as u64, 1), "{steps:?}"),
            }
        }
    }
}

/// Two trees: nobody passes bytes on in both, but for the one that stands in for an odd number.
#[test]
fn who_passes_bytes_on_in_one_tree_is_a_leaf_in_the_other() {
    for n in RANKS {
        let steps = steps(K::AllReduce, A::DoubleBinaryTree, n);
        let mut inner = vec![[false; 2]; n as usize];
        follow(&steps, &mut inner, |_, send, _, inner| {
            if send.lane > 0 {
                inner[send.from as usize][send.tree as usize] = true;
            }
        });
        let both = inner.iter().filter(|inner| inner[0] && inner[1]).count();
        assert!(both <= n as usize % 2 + usize::from(n == 2), "{n} ranks: {both} pass bytes on in both");
    }
}

/// Two trees: what a rank sends in a round to both of its children goes at once.
#[test]
fn children_have_lanes_of_their_own() {
    for steps in
        RANKS.into_iter().flat_map(|n| [K::AllReduce, K::Broadcast].map(|kind| steps(kind, A::DoubleBinaryTree, n)))
    {
        for round in 0..steps.rounds() {
            let mut sends = Vec::new();
            steps.sends(round, &mut sends);
            let mut lanes: Vec<_> = sends.iter().map(|send| (send.from, send.tree, send.lane)).collect();
            lanes.sort_unstable();
            assert!(lanes.windows(2).all(|pair| pair[0] != pair[1]), "{steps:?}: {sends:?}");
            assert!(lanes.iter().all(|&(.., lane)| usize::from(lane) < LANES));
        }
    }
}
