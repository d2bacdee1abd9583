//! Grants take no memory once tables have grown.

mod counting;
#[path = "it/net.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod net;

use counting::taken;
use net::{Tree, link, spec};
use weir_packets::WireRate;
use weir_packets::arbiter::built_in;

/// All eight devices of T2 send to all others, without end and without skipping ahead.
#[test]
fn grants_take_no_memory() {
    for entry in built_in() {
        let tree = Tree::t2(link(WireRate::wire(15.753846153e9).expect("a rate")));
        let mut engine = tree.engine_of(&entry).without_skipping();
        let pairs = (0..56).map(|pair| (pair / 7, (pair / 7 + pair % 7 + 1) % 8));
        for (id, (from, to)) in (0..).zip(pairs) {
            engine.admit(0, id, &spec(1 << 40, &tree.route(7 + from, 7 + to))).expect("an engine is free");
        }
        engine.step(0).expect("no arbiter fails");
        let warm = 1_000_000_000;
        engine.advance(warm, &|| false).expect("they never end");
        let (before, hops) = (taken(), engine.hops());
        assert!(before > 0, "the counter counts");
        engine.advance(warm + warm / 10, &|| false).expect("they never end");
        let (taken, hops) = (taken() - before, engine.hops() - hops);
        // Lists of rare causes of waits may still grow; what a grant takes would come with each of them.
        assert!(hops > 50_000 && taken < hops / 10_000, "{}: {taken} in {hops} hops", entry.name);
    }
}
