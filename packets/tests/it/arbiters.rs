//! Port arbiters, at one switch with sources that always send.

use std::collections::BTreeMap;

use weir_packets::arbiter::{
    ArrivalOrder, DeficitRoundRobin, Fixed, OldestFirst, Random, RoundRobin, StrictPriority, WeightedRoundRobin,
    built_in,
};
use weir_packets::{PacketError, WireRate};
use weir_plugin_api::{
    CallError, Direction, FabricView, GrantView, Head, LinkId, LinkKind, NodeKind, PortArbiter, PortArbiterPlugin,
    PortGrant, SimTime, TransferId,
};

use crate::net::{Tree, link, spec};

/// The output of all tests.
const OUT: LinkId = LinkId(3);
/// Requesters that it has, in one channel.
const REQUESTERS: u32 = 100;

fn grant(slot: u32, bytes: u32, heads: &[Head]) -> PortGrant<'_> {
    PortGrant { out: OUT, slot, bytes, requesters: REQUESTERS, heads: heads.into() }
}

fn head(slot: u32, bytes: u32) -> Head {
    let (ready, visible) = (SimTime(u64::from(slot)), SimTime(1000 - u64::from(slot)));
    Head {
        slot,
        channel: 0,
        bytes,
        payload: bytes,
        ready,
        visible,
        transfer: TransferId(slot),
        priority: 0,
        weight: 1.0,
    }
}

/// Who is served in a row of grants, all asking all the time; bytes per slot.
fn served(arbiter: &mut dyn PortArbiter, heads: &[Head], grants: usize) -> (Vec<u32>, BTreeMap<u32, u64>) {
    let (mut slots, mut bytes) = (Vec::new(), BTreeMap::new());
    for now in 0..grants as u64 {
        let ask = GrantView::new(OUT, SimTime(now), heads, REQUESTERS);
        let slot = arbiter.choose(&ask).expect("it does not fail");
        assert_eq!(arbiter.choose(&ask), Ok(slot), "choosing changes nothing");
        let head = heads.iter().find(|head| head.slot == slot).expect("one that asks");
        arbiter.commit(&grant(slot, head.bytes, heads)).expect("it does not fail");
        slots.push(slot);
        *bytes.entry(slot).or_insert(0) += u64::from(head.bytes);
    }
    (slots, bytes)
}

#[test]
fn round_robin_goes_round() {
    let heads = [head(1, 10), head(4, 10), head(70, 10)];
    let (slots, _) = served(&mut RoundRobin::default(), &heads, 7);
    assert_eq!(slots, [1, 4, 70, 1, 4, 70, 1]);
}

/// A quantum of two packets lets two of a requester follow each other; one of a byte, or of none, is a turn each.
#[test]
fn a_quantum_is_what_a_visit_may_send() {
    let heads = [head(1, 250), head(4, 250)];
    let of = |quantum| served(&mut DeficitRoundRobin::new(quantum, BTreeMap::new()), &heads, 6).0;
    assert_eq!(of(500), [1, 1, 4, 4, 1, 1]);
    assert_eq!(of(250), [1, 4, 1, 4, 1, 4]);
    assert_eq!([of(1), of(0)], [[1, 4, 1, 4, 1, 4]; 2]);
}

#[test]
fn weights_count_packets_in_a_row() {
    let heads = [head(1, 10), head(4, 900)];
    let weights = BTreeMap::from([((3, 1), 3), ((9, 4), 7)]);
    let (slots, _) = served(&mut WeightedRoundRobin::new(weights), &heads, 8);
    assert_eq!(slots, [1, 1, 1, 4, 1, 1, 1, 4]);
}

/// Fair in bytes, whatever the sizes: within a quantum and a packet of each other.
#[test]
fn deficits_make_round_robin_fair_in_bytes() {
    for quantum in [1, 100, 512, 5000] {
        let heads = [head(0, 88), head(2, 280), head(5, 1500)];
        let (_, bytes) = served(&mut DeficitRoundRobin::new(quantum, BTreeMap::new()), &heads, 20_000);
        let (least, most) = (bytes.values().min().unwrap(), bytes.values().max().unwrap());
        assert!(most - least <= quantum + 1500, "{quantum}: {bytes:?}");
        let weights = BTreeMap::from([((3, 2), 3)]);
        let (_, bytes) = served(&mut DeficitRoundRobin::new(quantum, weights), &heads, 20_000);
        assert!(bytes[&2].abs_diff(3 * bytes[&0]) <= 3 * (quantum + 1500), "{quantum}: {bytes:?}");
    }
}

/// Who was away has no credit from then, and who is alone collects none.
#[test]
fn deficits_of_those_who_are_away_are_gone() {
    let mut arbiter = DeficitRoundRobin::new(100, BTreeMap::new());
    let both = [head(0, 1000), head(1, 100)];
    served(&mut arbiter, &both, 5);
    arbiter.commit(&grant(1, 100, &[])).expect("it does not fail");
    let mut state = Vec::new();
    assert_eq!(arbiter.state(OUT, &mut state), Ok(true));
    assert_eq!(state, [1], "no deficit is left");
}

#[test]
fn the_oldest_the_first_to_arrive_the_lowest() {
    let heads = [head(1, 10), head(4, 10), head(7, 10)];
    assert_eq!(served(&mut OldestFirst, &heads, 2).0, [1, 1], "the least `ready`");
    assert_eq!(served(&mut ArrivalOrder, &heads, 2).0, [7, 7], "the least `visible`");
    assert_eq!(served(&mut Fixed, &heads, 2).0, [1, 1]);
}

#[test]
fn priorities_go_first_and_take_turns_among_equals() {
    let mut heads = [head(1, 10), head(4, 10), head(7, 10)];
    heads[1].priority = 2;
    heads[2].priority = 2;
    assert_eq!(served(&mut StrictPriority::default(), &heads, 4).0, [4, 7, 4, 7]);
}

#[test]
fn random_choices_are_uniform_and_the_same_again() {
    let heads = [head(1, 1), head(4, 1), head(7, 1)];
    let (first, counts) = served(&mut Random::new(5), &heads, 30_000);
    assert!(counts.values().all(|count| count.abs_diff(10_000) < 300), "{counts:?}");
    assert_eq!(served(&mut Random::new(5), &heads, 30_000).0, first);
    assert_ne!(served(&mut Random::new(6), &heads, 100).0, first[..100]);
    assert_eq!(Random::new(5).state(OUT, &mut Vec::new()), Ok(false), "runs with it do not repeat");
}

/// A switch (node 0) with three devices, each with a link up (2g − 2) and a link down (2g − 1): at the way down to the second
/// device, the weights of the first and the third count.
#[test]
fn weights_are_those_of_the_nodes_that_inputs_come_from() {
    let (from, to) = ([1, 0, 2, 0, 3, 0], [0, 1, 0, 2, 0, 3]);
    let fabric = FabricView {
        bandwidth: [1.0; 6].as_slice().into(),
        from: from.as_slice().into(),
        to: to.as_slice().into(),
        direction: [Direction::Up; 6].as_slice().into(),
        depth: [1; 6].as_slice().into(),
        kind: [LinkKind::PCIE; 6].as_slice().into(),
        node_kind: [NodeKind::Switch; 4].as_slice().into(),
    };
    let made = WeightedRoundRobin::create(&fabric, r#"{"weights": {"3": 3, "1": 2}}"#);
    let mut arbiter = made.expect("right");
    let (slots, _) = served(&mut arbiter, &[head(0, 10), head(1, 10), head(2, 10)], 7);
    assert_eq!(slots, [0, 0, 1, 2, 2, 2, 0]);
    let error = DeficitRoundRobin::create(&fabric, r#"{"quantum": 0}"#).expect_err("a quantum of 0");
    assert!(error.to_string().starts_with("parameters of `deficit-round-robin`: "), "{error}");
}

/// Channels have the same places: place 1 of channel 2 is slot 2 · 100 + 1.
#[test]
fn weights_count_in_every_channel() {
    let weights = BTreeMap::from([((3, 1), 3)]);
    let heads = [head(5, 10), head(201, 10)].map(|head| Head { visible: SimTime::ZERO, ..head });
    let (slots, _) = served(&mut WeightedRoundRobin::new(weights), &heads, 6);
    assert_eq!(slots, [5, 201, 201, 201, 5, 201]);
}

#[test]
fn names_are_distinct_and_all_are_made_without_parameters() {
    let names: Vec<_> = built_in().iter().map(|entry| entry.name.clone()).collect();
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!((names.len(), distinct.len(), &*names[0]), (8, 8, "round-robin"));
    for entry in built_in() {
        assert!((entry.make)(&FabricView::default(), "{}").is_ok(), "{}", entry.name);
        assert!((entry.make)(&FabricView::default(), r#"{"unknown": 1}"#).is_err(), "{}", entry.name);
        assert!((entry.make)(&FabricView::default(), "[]").is_err(), "{}", entry.name);
    }
}

/// Serves the first of the heads, then the last, then the first.
struct Fickle(std::cell::Cell<bool>);

impl PortArbiter for Fickle {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        let is_last = self.0.replace(!self.0.get());
        let heads = ask.heads;
        Ok(heads[if is_last { heads.len() - 1 } else { 0 }].slot)
    }

    fn commit(&mut self, _: &PortGrant<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn state(&self, _: LinkId, _: &mut Vec<u64>) -> Result<bool, CallError> {
        Ok(false)
    }
}

/// The first choice of each arbiter is asked for twice, however often others were asked before.
#[test]
fn each_arbiter_is_held_to_its_first_choice() {
    let tree = Tree::new(vec![None, Some(0), Some(0), Some(0), Some(0)], link(WireRate::wire(1e10).unwrap()));
    let mut which = vec![0; tree.links().len()];
    which[7] = 1;
    let mut engine = tree.engine(vec![Box::new(RoundRobin::default()), Box::new(Fickle(false.into()))], which);
    // Two sources send to 3 first, and then two packets each to 4.
    for (id, from) in [(0, 1), (1, 2)] {
        engine.admit(0, id, &spec(10 * 256, &tree.route(from, 3))).unwrap();
    }
    engine.step(0).unwrap();
    let later = 50_000_000;
    while let now @ 0..50_000_000 = engine.advance(later, &|| false).unwrap() {
        while engine.take_notice(now).is_some() {}
        engine.step(now).unwrap();
    }
    for (id, from) in [(2, 1), (3, 2)] {
        engine.admit(later, id, &spec(2 * 256, &tree.route(from, 4))).unwrap();
    }
    let mut next = engine.step(later).map(|()| later);
    while next.as_ref().is_ok_and(|&now| now < u64::MAX) {
        next = engine.advance(u64::MAX, &|| false);
        if let Some(&now) = next.as_ref().ok().filter(|&&now| now < u64::MAX) {
            while engine.take_notice(now).is_some() {}
            next = engine.step(now).map(|()| now);
        }
    }
    assert!(matches!(next, Err(PacketError::Impure { link: 7, .. })), "{next:?}");
}

/// The schemas of those with weights mark them as given by the names of nodes (`PortArbiterPlugin::params_schema`).
#[test]
fn weights_are_given_by_node() {
    for entry in built_in() {
        let schema: serde_json::Value = serde_json::from_str(&entry.params_schema).expect("JSON");
        let weights = &schema["properties"]["weights"];
        let has_weights = ["weighted-round-robin", "deficit-round-robin"].contains(&&*entry.name);
        assert_eq!(!weights.is_null(), has_weights, "{}", entry.name);
        assert!(!has_weights || weights["x-weir-by-node"] == true, "{}: {schema}", entry.name);
    }
}
