//! Sizes of packets by kind of link.

use super::keys::PacketKeys;

/// Input buffer of a link, bytes per channel (packets.md, section 3).
pub(super) const BUFFER: u64 = 16 << 10;

/// Payload and header of packets, bytes.
pub(super) struct Sizes {
    pub(super) payload: u32,
    pub(super) header: u32,
}

/// What packets on links of a kind have, unless the file says it.
pub(super) fn sizes(kind: &str, generation: Option<u8>) -> Sizes {
    let (payload, header) = match kind {
        // Framing is within the 236 of 256 bytes of a flit.
        "pcie" if generation == Some(6) => (256, 16),
        // 8 of framing, sequence and LCRC, 16 of a TLP with a 64-bit address: Neugebauer et al., SIGCOMM 2018 (pcie-bench).
        "pcie" => (256, 24),
        // InfiniBand: LRH 8, BTH 12, ICRC 4, VCRC 2.
        "network" | "infiniband" => (4096, 26),
        // RoCEv2: preamble 8, Ethernet 14 + 4, IP 20, UDP 8, BTH 12, ICRC 4, gap 12.
        "ethernet" => (4096, 82),
        // Assumed.
        "nvlink" => (128, 16),
        // Assumed.
        _ => (256, 16),
    };
    Sizes { payload, header }
}

impl Sizes {
    /// With what is given.
    pub(super) fn with(self, keys: &PacketKeys) -> Self {
        Self { payload: keys.payload.unwrap_or(self.payload), header: keys.header.unwrap_or(self.header) }
    }
}
