//! Values as they are written, and what stands in their place when they are better.

use super::Improvement;
use crate::source::Span;
use crate::units::{self, Decimal};
use crate::yaml::{Data, Entry, Scalar, Value, flow};

/// How a value is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Written {
    /// A bandwidth under a key of its own.
    Bandwidth(String),
    /// A link type in braces: in the place of its name, or of its generation.
    InPlace(Value),
    /// A time.
    Time(String),
    /// The number of an engine with one more of it, or all of `engines` with that.
    OneMore(String),
}

impl Written {
    /// The edit of the value at `path`; `None` where it cannot be made better so.
    pub(super) fn edit(&self, path: &str, improvement: Improvement) -> Option<(String, String)> {
        let text = match (self, improvement) {
            (Self::Bandwidth(text), Improvement::Times(hundredths)) => product(text, hundredths)?,
            (Self::Bandwidth(_), Improvement::Bandwidth(text)) => text.to_owned(),
            (Self::InPlace(link), Improvement::Times(hundredths)) => in_place(link, &|text| product(text, hundredths))?,
            (Self::InPlace(link), Improvement::Bandwidth(text)) => in_place(link, &|_| Some(text.to_owned()))?,
            (Self::Time(text), Improvement::Half) => half(text)?,
            (Self::OneMore(text), Improvement::OneMore) => text.clone(),
            _ => return None,
        };
        Some((path.to_owned(), text))
    }
}

/// A link type with other bandwidths, in braces.
fn in_place(link: &Value, wider: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut link = link.clone();
    for key in ["bandwidth", "up", "down", "shared"] {
        if let Some(value) = link.get_mut(key) {
            let text = wider(scalar(value)?)?;
            value.data = Data::Scalar(Scalar { text: text.into(), plain: true });
        }
    }
    Some(flow(&link))
}

/// A link type that gives a generation, by the bandwidth that follows from it; `packets` says whether its packets must stay
/// those of the generation. `None` where it is not right.
pub(super) fn of_generation(link: &Value, packets: bool) -> Option<Value> {
    let whole = |key: &str| units::whole_number(scalar(link.get(key)?)?, 99).ok();
    let generation = whole("generation")?;
    let raw =
        units::pcie_generation(generation, whole("width")?).ok()?.bytes_per_second(&Decimal::whole(1), "").ok()?;
    let mut entries = vec![text_entry("bandwidth", &in_gb(&exact(raw)?), link.span)];
    for key in ["shared", "efficiency", "latency", "kind"] {
        entries.extend(link.get(key).map(|value| entry(key, value.clone())));
    }
    let packet = packet_of(link.get("packet"), packets.then_some(generation));
    entries.extend(packet.map(|packet| entry("packet", packet)));
    Some(Value { span: link.span, data: Data::Mapping(entries) })
}

/// `packet` of a type that gives no generation any more; the defaults of a generation are written out.
fn packet_of(packet: Option<&Value>, generation: Option<u64>) -> Option<Value> {
    let Some(generation) = generation else { return packet.cloned() };
    let mut entries = match packet.map(|packet| &packet.data) {
        Some(Data::Mapping(entries)) => entries.clone(),
        _ => Vec::new(),
    };
    let span = packet.map_or(Span { source: 0, line: 1, column: 1, width: 1 }, |packet| packet.span);
    // packets.md: with a generation the bandwidth counts headers, and those of generation 6 have 16 bytes.
    let defaults = [("rate", "wire")].into_iter().chain((generation == 6).then_some(("header", "16B")));
    for (key, text) in defaults {
        if entries.iter().all(|entry| &*entry.key != key) {
            entries.push(text_entry(key, text, span));
        }
    }
    Some(Value { span, data: Data::Mapping(entries) })
}

/// A key with a text that stands at no place of its own.
pub(super) fn text_entry(key: &str, text: &str, span: Span) -> Entry {
    entry(key, Value { span, data: Data::Scalar(Scalar { text: text.into(), plain: true }) })
}

fn entry(key: &str, value: Value) -> Entry {
    Entry { key: key.into(), key_span: value.span, value }
}

/// The text of a scalar.
pub(super) fn scalar(value: &Value) -> Option<&str> {
    let Data::Scalar(scalar) = &value.data else { return None };
    (!scalar.is_null()).then_some(&*scalar.text)
}

/// So many hundredths.
fn share(hundredths: u32) -> Decimal {
    Decimal::scaled(hundredths.into(), -2)
}

/// A bandwidth times hundredths, in its unit; lanes of PCIe in GB/s.
fn product(text: &str, hundredths: u32) -> Option<String> {
    let (number, unit) = Decimal::read(text)?;
    if unit.trim_start().starts_with("GT/s") {
        let bandwidth = units::bandwidth(text).ok()?.bytes_per_second(&Decimal::whole(1), text).ok()?;
        return Some(in_gb(&exact(bandwidth)?.product(&share(hundredths))));
    }
    Some(format!("{}{unit}", number.product(&share(hundredths))))
}

/// Half of a time, in its unit.
fn half(text: &str) -> Option<String> {
    let (number, unit) = Decimal::read(text)?;
    (!number.is_zero()).then(|| format!("{}{unit}", number.product(&share(50))))
}

/// A number as the shortest decimal that stands for it.
fn exact(number: f64) -> Option<Decimal> {
    Decimal::read_all(&number.to_string())
}

fn in_gb(bandwidth: &Decimal) -> String {
    format!("{}GB/s", bandwidth.clone().times_power_of_ten(-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_multiplied_exactly_in_their_unit() {
        assert_eq!(product("20.8GB/s", 200).as_deref(), Some("41.6GB/s"));
        assert_eq!(product("20.8 GB/s", 110).as_deref(), Some("22.88 GB/s"));
        assert_eq!(product("200Gb/s", 184).as_deref(), Some("368Gb/s"));
        assert_eq!(product("16GT/s x16", 200).as_deref(), Some("63.015384615384614GB/s"));
        assert_eq!((half("1us").as_deref(), half("0s")), (Some("0.5us"), None));
    }
}
