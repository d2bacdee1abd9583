//! Golden cases of packets.md, section 6: T2, a wire of 15.753846153 GB/s, 100 ns, 16 KiB, 256 + 24 B, 10 MB each.

use weir_packets::{LinkSettings, WireRate};

use crate::net::{Tree, at_once, link};

const SIZE: u64 = 10_000_000;

fn gpu(number: u32) -> u32 {
    7 + number
}

fn t2(change: impl Fn(&mut LinkSettings)) -> Tree {
    let mut link = link(WireRate::wire(15.753846153e9).unwrap());
    change(&mut link);
    Tree::t2(link)
}

fn ends(tree: &Tree, pairs: &[(u32, u32)]) -> Vec<u64> {
    let transfers: Vec<_> = pairs.iter().map(|&(from, to)| (gpu(from), gpu(to), SIZE)).collect();
    at_once(tree, &mut tree.round_robin(), &transfers).iter().map(|times| times.1).collect()
}

#[test]
fn lone_transfers_end_to_the_picosecond() {
    let tree = t2(|_| ());
    assert_eq!(ends(&tree, &[(0, 1)]), [694_499_161]);
    assert_eq!(ends(&tree, &[(0, 2)]), [694_702_209]);
    assert_eq!(ends(&tree, &[(0, 4)]), [694_905_257]);
}

#[test]
fn two_into_one() {
    let found = ends(&t2(|_| ()), &[(0, 1), (4, 1)]);
    assert!(found[0].abs_diff(1_388_400_000) < 100_000 && found[1].abs_diff(1_388_800_000) < 100_000, "{found:?}");
}

#[test]
fn table_one() {
    let mut tree = t2(|link| link.header = 20);
    tree.nodes[0].split = Some(64);
    let found = ends(&tree, &[(0, 2), (1, 4), (3, 2), (6, 4)]);
    for (end, expected) in found.iter().zip([1916, 1916, 849, 893]) {
        assert!(end.abs_diff(expected * 1_000_000) < expected * 10_000, "{found:?}");
    }
}

#[test]
fn a_buffer_below_the_credit_loop_starves_the_link() {
    let found = ends(&t2(|link| link.buffer = Some(1000)), &[(0, 1)]);
    assert!(found[0].abs_diff(2_855_500_000) < 100_000, "{found:?}");
}
