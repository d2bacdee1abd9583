//! PCI addresses.

use std::fmt;

/// `domain:bus:device.function`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct BusId {
    pub(crate) domain: u32,
    pub(crate) bus: u8,
    pub(crate) device: u8,
    pub(crate) function: u8,
}

impl BusId {
    /// Reads `0000:07:00.0`, or `07:00.0` of domain 0.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (head, rest) = text.rsplit_once(':')?;
        let (domain, bus) = head.split_once(':').unwrap_or(("0", head));
        let (device, function) = rest.split_once('.')?;
        Some(Self {
            domain: hexadecimal(domain, 8)?,
            bus: hexadecimal(bus, 2)? as u8,
            device: hexadecimal(device, 2)? as u8,
            function: hexadecimal(function, 1)? as u8,
        })
    }
}

fn hexadecimal(text: &str, most: usize) -> Option<u32> {
    let fits = (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
    if fits { u32::from_str_radix(text, 16).ok() } else { None }
}

impl fmt::Display for BusId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{:x}", self.domain, self.bus, self.device, self.function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_tools_write() {
        let normal = |text| BusId::read(text).map(|id| id.to_string());
        assert_eq!(normal("0000:07:00.0").as_deref(), Some("0000:07:00.0"));
        assert_eq!(normal("07:1f.7").as_deref(), Some("0000:07:1f.7"));
        assert_eq!(normal("00000001:A1:00.0").as_deref(), Some("0001:a1:00.0"));
        assert_eq!(normal("ffff:ff:01.0").as_deref(), Some("ffff:ff:01.0"));
        assert_eq!(normal("10000:e1:00.0").as_deref(), Some("10000:e1:00.0"));
        for wrong in ["", "07", "07:00", "fffffff:ffff:ff", "0000:07:00.", "+1:07:00.0", "0:0:0:0.0", "0000:07:00.00"] {
            assert_eq!(normal(wrong), None, "{wrong}");
        }
    }
}
