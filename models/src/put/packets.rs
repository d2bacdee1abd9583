//! The size of packets: as written, by a tuned table, or open.
//!
//! **Ties.** `auto` prefers no packets, then the larger packet. Sizes for which a level has no time, and such as make more than
//! 10^7 tasks, are left out. **Source.** Aggarwal et al., PGAS 2010, section 6 and
//! Table 5.

use serde_json::Value as Json;
use weir_plugin_api::CallError;

use super::params::{Packet, PacketWord, PutParams, Tuned};
use crate::operation::refused;
use crate::quantities::size;

/// Sizes that `auto` tries at most (*assumed*: a tuned library has a dozen).
const MOST_PACKETS: usize = 1000;

/// The packet of a put; `None` for all in one piece, also where a packet holds all of it.
pub(super) fn packet_size(params: &PutParams) -> Result<Option<u64>, CallError> {
    let bytes = params.size.0;
    let packet = match &params.packet {
        None | Some(Packet::Word(PacketWord::None)) => None,
        Some(Packet::Word(PacketWord::Auto)) => {
            return Err(refused("packet: `auto` leaves the size open; give a size or `none` here"));
        }
        Some(Packet::Size(packet)) if packet.0 == 0 => {
            return Err(refused("packet: 0 bytes carry nothing; give a size, or `none`"));
        }
        Some(Packet::Size(packet)) => Some(packet.0),
        Some(Packet::Tuned(tuned)) => tuned_for(&tuned.table, bytes)?,
    };
    Ok(packet.filter(|&packet| packet < bytes))
}

/// The packet of the largest size of the table that is not above `bytes`.
fn tuned_for(tuned: &Tuned, bytes: u64) -> Result<Option<u64>, CallError> {
    let rows = &tuned.0;
    if let Some(at) = rows.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
        let (at, after) = (at + 1, size(rows[at + 1].0.0));
        return Err(refused(format!(
            "packet.table[{at}]: {after} stands there twice or out of order; sort the rows by size"
        )));
    }
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return Err(refused("packet.table: there is no row; write the table with `weir tune`"));
    };
    if bytes < first.0.0 || bytes > last.0.0 {
        return Err(refused(format!(
            "packet.table: {} lies outside its sizes, {} to {}; tune for this size with `weir tune`",
            size(bytes),
            size(first.0.0),
            size(last.0.0)
        )));
    }
    let at = rows.partition_point(|row| row.0.0 <= bytes);
    match rows[at - 1].1 {
        Some(packet) if packet.0 == 0 => {
            let at = at - 1;
            Err(refused(format!("packet.table[{at}]: a packet of 0 bytes; write `none` for no packets")))
        }
        packet => Ok(packet.map(|packet| packet.0)),
    }
}

/// The ways to do a put with `packet: auto`, the preferred ones first; empty where nothing is open.
pub(super) fn choices(params: &PutParams) -> Result<Vec<(String, Json)>, CallError> {
    if params.packet != Some(Packet::Word(PacketWord::Auto)) {
        return Ok(Vec::new());
    }
    let Some(packets) = &params.packets else {
        return Err(refused("packet: `auto` needs the sizes to try; add `packets: [512KiB, 2MiB, …]`"));
    };
    if packets.is_empty() {
        return Err(refused("packets: the list is empty; name the sizes to try beside no packets"));
    }
    if packets.len() > MOST_PACKETS {
        return Err(refused(format!(
            "packets: {} sizes are too many to try; give at most {MOST_PACKETS}",
            packets.len()
        )));
    }
    if packets.iter().any(|packet| packet.0 == 0) {
        return Err(refused("packets: 0 bytes carry nothing; remove it"));
    }
    let mut sizes: Vec<u64> = packets.iter().map(|packet| packet.0).filter(|&packet| packet < params.size.0).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    let none = ("none".to_owned(), Json::from("none"));
    Ok(std::iter::once(none).chain(sizes.into_iter().map(|packet| (size(packet), packet.into()))).collect())
}
