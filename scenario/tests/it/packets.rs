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

/// Transfers of a host, which has no engines, may all ask for its link at once, as may the link into it; a port serves 4,096.
#[test]
fn ports_serve_4096_requesters() {
    let text = |transfers: u32| {
        let hosts = "\"h[0-1]\": { kind: host, link: { bandwidth: 1GB/s } }";
        let group = format!("repeat: {transfers}\n    parallel: [{{ transfer: {{ from: h0, to: h1, size: 1kB }} }}]");
        format!(
            "weir: 1\nname: test\ntopology:\n  tree: {{ s: {{ kind: switch, children: {{ {hosts} }} }} }}\nworkload:\n  - {group}\nfidelity: packet\n"
        )
    };
    let (_, _, message, help) = first_bad(text(4096));
    assert!(message.starts_with("4097 transfers and links may ask for h0->s"), "{message}");
    assert!(message.ends_with("4096 is the most") && help.contains("`engines`"), "{message}: {help}");
    good(&text(4095));
}
