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
    // Devices with an engine each make as many, one by one: engines are no remedy there.
    let crowded = "weir: 1
name: test
topology:
  tree: { s: { kind: switch, children: { \"g[0-4999]\": { kind: gpu, link: { bandwidth: 1GB/s } } } } }
workload:
  - transfer: { from: g0, to: g1, size: 1kB }
fidelity: packet
";
    let (_, _, message, help) = first_bad(crowded.to_owned());
    assert!(message.starts_with("5000 transfers and links") && help.starts_with("put switches"), "{message}: {help}");
}

/// A switch with two GPUs, and a card at a link of 10 µs whose buffer no transfer crosses.
fn far(keys: &str, transfers: &str) -> Vec<String> {
    let text = format!(
        "weir: 1
name: test
topology:
  link_types: {{ p: {{ bandwidth: 10GB/s, latency: 100ns }}, far: {{ bandwidth: 10GB/s, latency: 10us }} }}
  tree:
    s:
      kind: switch
      children:
        \"gpu[0-1]\": {{ kind: gpu, link: p, {keys} }}
        nic: {{ kind: nic, link: far }}
fidelity: {{ packet: {{ dllp: 0B }} }}
workload:
{transfers}"
    );
    good(&text)
        .warnings
        .iter()
        .map(|warning| format!("{}; {}", warning.message, warning.help.as_deref().unwrap_or("")))
        .collect()
}

#[test]
fn small_buffers_are_warned_of_where_packets_cross_them() {
    let near = "  - transfer: { from: gpu0, to: gpu1, size: 1kB }\n";
    assert_eq!(far("", near), [""; 0]);
    let found = far("", "  - transfer: { from: gpu0, to: nic, size: 1kB }\n");
    assert!(found.len() == 1 && found[0].starts_with("the buffer of s->nic is too small"), "{found:?}");
    // Its requests cross the way back.
    let found = far("", "  - transfer: { from: gpu0, to: nic, size: 1kB, read: true }\n");
    assert!(found.len() == 1 && found[0].contains("those of another link are too small, too"), "{found:?}");
}

#[test]
fn a_queue_of_transfers_that_go_one_by_one_is_warned_of() {
    let near = "  - transfer: { from: gpu0, to: gpu1, size: 1kB }\n";
    let found = far("interleave: random", near);
    assert!(found.len() == 1 && found[0].contains("one transfer at a time, as 1 more; give it `engines`"), "{found:?}");
    assert_eq!(far("interleave: random, engines: 2", near), [""; 0]);
}
