//! `fidelity: packet`: packets whose state repeats are skipped unless the scenario says otherwise.

use crate::common::{first_bad, good, on_t2};

/// 100 TB are more than 10^11 packets of any payload up to 1 kB: only a run that skips repeated periods ends.
#[test]
fn long_transfers_are_taken_where_packets_are_skipped() {
    let text = |fidelity: &str| {
        on_t2(&format!("workload:\n  - transfer: {{ from: gpu0, to: gpu1, size: 100TB }}\nfidelity: {fidelity}\n"))
    };
    for skipping in ["packet", "{ packet: {} }", "{ packet: { skip_ahead: true } }"] {
        assert!(good(&text(skipping)).arbiters.iter().all(|arbiter| arbiter.packets.is_some()), "{skipping}");
    }
    let (line, _, message, help) = first_bad(text("{ packet: { skip_ahead: false } }"));
    assert_eq!((line, &*message), (7, "with `skip_ahead: false` this is more than 10^11 packets times links"));
    assert!(help.contains("leave `skip_ahead` out"), "{help}");
}
