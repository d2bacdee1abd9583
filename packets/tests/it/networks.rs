//! What links and nodes may be: every limit at its value, and one beyond.

use weir_packets::{LinkSettings, Network, NetworkError, NodeSettings, WireRate};

use crate::net::link;

/// Two nodes with a link each way; the first node is entered by one of them.
fn network(change: impl Fn(&mut LinkSettings), engines: u32, channels: u32) -> Result<Network, NetworkError> {
    let rate = WireRate::wire(16e9).expect("a rate");
    let mut links = vec![link(rate), link(rate)];
    (links[0].to, links[1].from) = (1, 1);
    change(&mut links[0]);
    Network::new(links, vec![NodeSettings { split: None, engines }; 2], channels)
}

/// The input and the engines of a node, on each channel, ask for an output: 4096 at most (packets.md, section 3).
#[test]
fn an_output_has_at_most_4096_requesters() {
    assert!(network(|_| (), 4095, 1).is_ok());
    assert!(network(|_| (), 2047, 2).is_ok());
    let refused = |engines, channels| network(|_| (), engines, channels).expect_err("too many");
    assert_eq!(refused(4096, 1), NetworkError::Requesters { link: 0, requesters: 4097 });
    assert_eq!(refused(2048, 2), NetworkError::Requesters { link: 0, requesters: 4098 });
}

#[test]
fn payloads_are_1_b_to_64_kib_and_headers_at_most_4_kib() {
    let with = |change: fn(&mut LinkSettings)| network(change, 1, 1).map(|_| ());
    assert_eq!(with(|link| link.payload = 1), Ok(()));
    assert_eq!(with(|link| link.payload = 64 << 10), Ok(()));
    assert_eq!(with(|link| link.header = 4 << 10), Ok(()));
    assert_eq!(with(|link| link.dllp = 4 << 10), Ok(()));
    assert_eq!(with(|link| link.payload = 0), Err(NetworkError::Payload { link: 0, payload: 0 }));
    assert_eq!(with(|link| link.payload = (64 << 10) + 1), Err(NetworkError::Payload { link: 0, payload: 65_537 }));
    assert_eq!(with(|link| link.header = (4 << 10) + 1), Err(NetworkError::Header { link: 0, header: 4097 }));
    assert_eq!(with(|link| link.dllp = (4 << 10) + 1), Err(NetworkError::Header { link: 0, header: 4097 }));
}

#[test]
fn links_join_nodes_that_exist() {
    let to = |to: u32| network(move |link| link.to = to, 1, 1).map(|_| ());
    assert_eq!(to(1), Ok(()));
    assert_eq!(to(2), Err(NetworkError::Node { link: 0 }));
    let from = network(|link| link.from = 2, 1, 1).map(|_| ());
    assert_eq!(from, Err(NetworkError::Node { link: 0 }));
}
