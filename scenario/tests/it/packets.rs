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

/// 20 TB in 256 B cross two links in 1.6 · 10^11 hops at most, 10 TB in 0.8 · 10^11; the second link in pieces of 64 B makes 2 · 10^11 of these.
#[test]
fn pieces_of_packets_are_hops() {
    let text = |split: &str, size: &str| {
        format!(
            "weir: 1
name: test
topology:
  tree:
    s:
      kind: switch
      {split}children: {{ \"g[0-1]\": {{ kind: gpu, link: {{ bandwidth: 10GB/s, packet: {{ payload: 256B }} }} }} }}
workload:
  - transfer: {{ from: g0, to: g1, size: {size} }}
fidelity: {{ packet: {{ skip_ahead: false }} }}
"
        )
    };
    good(&text("", "10TB"));
    for (split, size) in [("", "20TB"), ("split: 64B\n      ", "10TB")] {
        let (_, _, message, _) = first_bad(text(split, size));
        assert!(message.contains("more than 10^11 packets times links"), "{message}");
    }
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
    // Its requests cross the way back, and are small.
    let found = far("", "  - transfer: { from: gpu0, to: nic, size: 1kB, read: true }\n");
    assert!(found.len() == 1 && found[0].starts_with("the buffer of s->nic is too small"), "{found:?}");
    assert!(!found[0].contains("too small, too"), "{found:?}");
}

/// Where a buffer is too small, whoever wrote the size of packets: the buffer of the run.
#[test]
fn small_buffers_are_found_where_they_are_written() {
    let text =
        on_t2("workload:\n  - transfer: { from: gpu0, to: gpu1, size: 1MB }\nfidelity: { packet: { buffer: 200B } }\n")
            .replace("bandwidth:", "packet: { payload: 256B }, bandwidth:");
    let (line, _, message, _) = first_bad(text.clone());
    let written = text.lines().position(|line| line.starts_with("fidelity")).map_or(0, |at| at + 1);
    assert!(message.contains("holds 200 B"), "{message}");
    assert_eq!(line as usize, written, "{text}");
}

#[test]
fn an_arbiter_beside_packets_alone_is_warned_of_once() {
    let warned = |fidelity: &str| {
        let text = format!(
            "workload:\n  - transfer: {{ from: gpu0, to: gpu1, size: 1MB }}\narbiter: pcie-congestion\nfidelity: {fidelity}\n"
        );
        let found = good(&on_t2(&text)).warnings;
        found.iter().filter(|warning| warning.message.starts_with("the arbiter has no effect")).count()
    };
    let both = "[packet, { packet: { buffer: 64KiB } }]";
    assert_eq!(["packet", both, "[fluid, packet]", "fluid"].map(warned), [1, 1, 0, 0]);
}

/// Two machines whose cards are joined by a link of 1 us with these keys; PCIe cuts packets to 256 B before.
fn joined(packet: &str) -> Vec<String> {
    let text = format!(
        "weir: 1
name: test
topology:
  link_types:
    p: {{ bandwidth: 10GB/s, latency: 100ns }}
    n: {{ bandwidth: 10GB/s, latency: 1us, kind: network, {packet} }}
  tree:
    rc: {{ kind: root-complex, children: {{ gpu0: {{ kind: gpu, link: p }}, nic: {{ kind: nic, link: p }} }} }}
    rd: {{ kind: root-complex, children: {{ gpu1: {{ kind: gpu, link: p }}, nid: {{ kind: nic, link: p }} }} }}
  links: [{{ between: [nic, nid], type: n }}]
fidelity: packet
workload:
  - transfer: {{ from: gpu0, to: gpu1, size: 1MB }}
"
    );
    good(&text).warnings.iter().map(|warning| warning.message.clone()).collect()
}

/// min(1, b · s / (L + s)) with b packets of 282 B, s = 28 ns, L = 2 us: 8 headers, 14 packets in 4 kB, 58 in 16 kB.
#[test]
fn a_buffer_is_held_against_the_packets_that_cross_it() {
    for (packet, share) in [
        ("packet: { credits: { header: 8, data: 64KiB } }", "11.1 %"),
        ("packet: { buffer: 4KiB }", "19.3 %"),
        ("packet: {}", "80.1 %"),
    ] {
        let found = joined(packet);
        assert!(found.len() == 1 && found[0].starts_with("the buffer of nic->nid is too small"), "{found:?}");
        assert!(found[0].contains(&format!("at most {share} of its bandwidth")), "{packet}: {found:?}");
    }
    assert_eq!(joined("packet: { buffer: 64KiB }"), [""; 0]);
}

/// A packet that is stored is in the buffer until it has left it, so that one alone is sent half of the time.
#[test]
fn a_packet_that_is_stored_is_in_its_buffer_for_longer() {
    let text = |buffer: &str, switching: &str| {
        format!(
            "weir: 1
name: test
topology:
  tree:
    s: {{ kind: switch, children: {{ \"gpu[0-1]\": {{ kind: gpu, link: {{ bandwidth: 10GB/s }} }} }} }}
fidelity: {{ packet: {{ buffer: {buffer}, switching: {switching} }} }}
workload:
  - transfer: {{ from: gpu0, to: gpu1, size: 1MB }}
"
        )
    };
    let of = |buffer: &str, switching: &str| good(&text(buffer, switching)).warnings;
    let found = of("280B", "store-and-forward");
    assert!(found.len() == 1 && found[0].message.contains("at most 50.0 % of its bandwidth"), "{found:?}");
    assert!(of("560B", "store-and-forward").is_empty() && of("280B", "cut-through").is_empty());
}

/// What makes a packet too large for a buffer that is not written is where the packet's size is.
#[test]
fn a_payload_that_no_buffer_holds_is_its_own_place() {
    let text = "weir: 1
name: test
topology:
  link_types:
    l: { bandwidth: 1GB/s, packet: { payload: 64KiB } }
  tree: { s: { kind: switch, children: { \"gpu[0-1]\": { kind: gpu, link: l } } } }
fidelity: packet
workload:
  - transfer: { from: gpu0, to: gpu1, size: 1MB }
";
    let (line, column, message, _) = first_bad(text.to_owned());
    assert!((line, column) == (5, 47) && message.contains("packets have 65560 B"), "{line}:{column} {message}");
}

#[test]
fn a_queue_of_transfers_that_go_one_by_one_is_warned_of() {
    let near = "  - transfer: { from: gpu0, to: gpu1, size: 1kB }\n";
    let found = far("interleave: random", near);
    assert!(found.len() == 1 && found[0].contains("one transfer at a time, as 1 more; give it `engines`"), "{found:?}");
    assert_eq!(far("interleave: random, engines: 2", near), [""; 0]);
}
