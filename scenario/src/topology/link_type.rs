//! Link types: bandwidth each way, latency and kind.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde_json::Value as Json;
use weir_plugin_api::SimDuration;
use weir_sim_core::LinkSpec;

use super::kinds::{KindId, Kinds};
use crate::context::{Context, Fields, Read, Reported};
use crate::diagnostic::quoted;
use crate::format::{Definition, KeyTable, Shape, optional};
use crate::packets::{LINK_PACKET, PacketKeys, link_keys};
use crate::source::Span;
use crate::units::{self, Decimal};
use crate::yaml::{Data, Entry, Value};

/// What a type says of packets.
#[derive(PartialEq, Debug)]
pub(crate) struct LinkPacket {
    /// The PCIe generation.
    pub(crate) generation: Option<u8>,
    pub(crate) keys: PacketKeys,
}

/// What a link is made of.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LinkType {
    /// Bytes per second towards the root, or from first to second.
    pub(crate) up: f64,
    /// Bytes per second the other way.
    pub(crate) down: f64,
    /// Latency each way.
    pub(crate) latency: SimDuration,
    pub(crate) kind: Option<KindId>,
    /// `None` where each direction has its own bandwidth alone.
    pub(crate) shared: Option<Shared>,
    /// `None` where neither a generation nor `packet` is given.
    pub(crate) packet: Option<Arc<LinkPacket>>,
    /// Which of the types under `link_types` it is; `None` for one that stands in its place.
    pub(crate) named: Option<u32>,
    /// As it is written.
    pub(crate) text: Arc<LinkTypeText>,
}

/// What both directions of a link have together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Shared {
    /// Bytes per second.
    pub(crate) bandwidth: f64,
    /// Where it is written.
    pub(crate) place: Span,
}

impl LinkType {
    /// The link to build; it has this kind.
    pub(crate) fn spec(&self, kind: KindId) -> LinkSpec {
        LinkSpec { up: self.up, down: self.down, latency: self.latency, kind: kind.link_kind() }
    }
}

/// How the bandwidth of a type is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BandwidthForm {
    /// `bandwidth`, the same both ways.
    Both,
    /// `up` and `down`.
    UpDown,
    /// `generation` and `width`.
    Generation,
}

/// A type as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkTypeText {
    /// The key under `link_types`, by which links name it; empty for one that stands in the place of a name.
    pub name: String,
    /// How its bandwidth is written.
    pub form: BandwidthForm,
    /// The text under `efficiency`; `None` where it is not given.
    pub efficiency: Option<String>,
    /// The text under `latency`; `None` where it is not given, which means 0.
    pub latency: Option<String>,
    /// The text under `kind`; `None` where it is not given.
    pub kind: Option<String>,
}

/// The types that links of a topology may have.
#[derive(Debug, Default)]
pub(crate) struct LinkTypes {
    pub(crate) kinds: Kinds,
    named: Rc<NamedTypes>,
}

/// The types that have a name: those under `link_types`, and for a machine in place those of the topology around it.
#[derive(Debug, Default)]
pub(super) struct NamedTypes {
    own: IndexMap<Box<str>, NamedType, FxBuildHasher>,
    outer: Option<Rc<NamedTypes>>,
}

#[derive(Debug)]
struct NamedType {
    span: Span,
    /// `None` when it has errors, which were written down.
    link: Option<LinkType>,
    used: Cell<bool>,
}

impl NamedTypes {
    fn find(&self, name: &str) -> Option<&NamedType> {
        self.own.get(name).or_else(|| self.outer.as_ref()?.find(name))
    }

    fn names(&self) -> Vec<&str> {
        let own = self.own.keys().map(|name| &**name);
        own.chain(self.outer.as_ref().map(|outer| outer.names()).unwrap_or_default()).collect()
    }
}

pub(super) static LINK_TYPE: KeyTable = KeyTable::new(
    "link_type",
    "What a link is made of: its bandwidth in exactly one form.",
    &[
        optional("bandwidth", Shape::Named(&units::BANDWIDTH), "Each way."),
        optional(
            "up",
            Shape::Named(&units::BANDWIDTH),
            "Towards the root; of a lateral link from the first to the second end.",
        ),
        optional("down", Shape::Named(&units::BANDWIDTH), "The other way."),
        optional("generation", Shape::Whole(&[("minimum", 1), ("maximum", 6)]), "PCIe generation; with `width`."),
        optional("width", Shape::Choice(|| units::LANES.map(Json::from).to_vec()), "PCIe lanes."),
        optional(
            "efficiency",
            Shape::Number(&[("exclusiveMinimum", 0), ("maximum", 1)]),
            "Share of the raw figure that carries payload; 1 by default.",
        ),
        optional(
            "shared",
            Shape::Named(&units::BANDWIDTH),
            "What both directions carry together at most, beside the bandwidth of each.",
        ),
        optional("latency", Shape::Named(&units::TIME), "Each way; 0s by default."),
        optional(
            "kind",
            Shape::Text,
            "pcie, qpi, nvlink, network, memory, or any other word; `arbiter` can name a policy for each.",
        ),
        optional("packet", Shape::Map(&LINK_PACKET), "How the link carries packets, in runs with `fidelity: packet`."),
    ],
)
.in_one_of(&FORMS);

/// The forms of a bandwidth.
const FORMS: [&[&str]; 3] = [&["bandwidth"], &["up", "down"], &["generation", "width"]];

/// `link` of a node, `type` of a lateral link.
pub(super) static LINK: Definition = Definition {
    name: "link",
    about: "The name of a link type, or one in place.",
    shape: Shape::Either(&[Shape::Text, Shape::Map(&LINK_TYPE)]),
};

impl LinkTypes {
    /// Reads `link_types`; every type is checked, used or not. Types of a `machine` are in no list of the whole topology;
    /// `outer` has those of the topology around it that it may name, too.
    pub(super) fn read(
        context: &mut Context,
        value: Option<&Value>,
        mut kinds: Kinds,
        machine: bool,
        outer: Option<Rc<NamedTypes>>,
    ) -> Read<Self> {
        let mut types = NamedTypes { own: IndexMap::default(), outer };
        let Some(value) = value else { return Ok(Self { kinds, named: Rc::new(types) }) };
        let Data::Mapping(entries) = &value.data else {
            let message = format!("`link_types` must be a map, not {}", value.describe());
            return Err(context.error(value.span, message, "write `link_types: { pcie: { bandwidth: 11.6GB/s } }`"));
        };
        for entry in entries {
            let link = read(context, &entry.key, &entry.value, &mut kinds).ok();
            let link = link.map(|link| LinkType { named: (!machine).then_some(types.own.len() as u32), ..link });
            types.own.insert(entry.key.clone(), NamedType { span: entry.key_span, link, used: Cell::new(false) });
            if context.full() {
                return Err(Reported);
            }
        }
        Ok(Self { kinds, named: Rc::new(types) })
    }

    /// The types that have a name, for a machine in place.
    pub(super) fn named(&self) -> Rc<NamedTypes> {
        Rc::clone(&self.named)
    }

    /// The type that a link names, or that stands in its place. Returns the name too.
    pub(crate) fn resolve<'a>(&mut self, context: &mut Context, value: &'a Value) -> Read<(LinkType, Option<&'a str>)> {
        let Data::Scalar(scalar) = &value.data else {
            return Ok((read(context, "", value, &mut self.kinds)?, None));
        };
        if let Some(named) = self.named.find(&scalar.text) {
            named.used.set(true);
            return Ok((named.link.clone().ok_or(Reported)?, Some(&scalar.text)));
        }
        let help = match units::bandwidth(&scalar.text) {
            Ok(_) => format!("write `{{ bandwidth: {} }}` in its place", scalar.text),
            Err(_) => match self.named.names() {
                names if names.is_empty() => "define it under `link_types`".to_owned(),
                names => context.suggestion(&scalar.text, names, "link types"),
            },
        };
        Err(context.error(value.span, format!("no link type is named {}", quoted(&scalar.text)), help))
    }

    /// Name and place of its own types that no link uses.
    pub(crate) fn unused(&self) -> Vec<(String, Span)> {
        let unused = self.named.own.iter().filter(|(_, named)| !named.used.get());
        unused.map(|(name, named)| (name.to_string(), named.span)).collect()
    }
}

/// The types of a topology as they are written; what is no map is left out.
pub(crate) fn texts(types: Option<&Value>) -> Vec<LinkTypeText> {
    let Some(Data::Mapping(entries)) = types.map(|types| &types.data) else { return Vec::new() };
    entries.iter().map(|entry: &Entry| text_of(&entry.key, &entry.value)).collect()
}

fn text_of(name: &str, link: &Value) -> LinkTypeText {
    let text = |key: &str| match &link.get(key)?.data {
        Data::Scalar(scalar) => Some(scalar.text.to_string()),
        _ => None,
    };
    let form = match (text("bandwidth"), text("up")) {
        (Some(_), _) => BandwidthForm::Both,
        (None, Some(_)) => BandwidthForm::UpDown,
        (None, None) => BandwidthForm::Generation,
    };
    let (efficiency, latency, kind) = (text("efficiency"), text("latency"), text("kind"));
    LinkTypeText { name: name.to_owned(), form, efficiency, latency, kind }
}

/// Reads a type with a name, or one in the place of a name, which is then empty.
fn read(context: &mut Context, name: &str, value: &Value, kinds: &mut Kinds) -> Read<LinkType> {
    let what = if name.is_empty() { "a link type".to_owned() } else { format!("link type {}", quoted(name)) };
    let fields = context.fields(value, &what, &LINK_TYPE)?;
    let efficiency = fields.parse_or(context, "efficiency", Decimal::whole(1), units::efficiency);
    let latency = fields.parse_or(context, "latency", SimDuration::ZERO, units::duration);
    let kind = match fields.get("kind") {
        None => Ok(None),
        Some(value) => match context.text(value, "the kind of a link") {
            Ok("" | "default" | "name") => {
                let help = "give another word: in a map of arbiters this one stands for something else";
                Err(context.error(value.span, format!("{} is no kind of link", value.describe()), help))
            }
            word => word.map(|word| Some(kinds.of(word))),
        },
    };
    let packet = fields.get("packet").map(|value| link_keys(context, value, &what)).transpose();
    let efficiency = efficiency?;
    let shared = fields.parse_or(context, "shared", None, |text| {
        units::bandwidth(text)?.bytes_per_second(&efficiency, text).map(Some)
    });
    let place = fields.span_of("shared");
    let (up, down) = bandwidths(context, fields, &efficiency)?;
    let shared = shared?;
    if shared.is_some_and(|shared| shared >= up + down) {
        let message = "`shared` has no effect: both directions together carry no more";
        context.warn(place, message, "remove it, or lower it");
    }
    let shared = shared.map(|bandwidth| Shared { bandwidth, place });
    let packet = packet_of(&fields, packet?);
    let text = Arc::new(text_of(name, value));
    Ok(LinkType { up, down, latency: latency?, kind: kind?, shared, packet, named: None, text })
}

/// What a type says of packets, if anything.
fn packet_of(fields: &Fields<'_>, keys: Option<PacketKeys>) -> Option<Arc<LinkPacket>> {
    let generation = match fields.get("generation").map(|value| &value.data) {
        Some(Data::Scalar(scalar)) => scalar.text.parse().ok(),
        _ => None,
    };
    let given = keys.is_some() || generation.is_some();
    given.then(|| Arc::new(LinkPacket { generation, keys: keys.unwrap_or_default() }))
}

/// Both bandwidths, from the one of three forms that is given.
fn bandwidths(context: &mut Context, fields: Fields<'_>, efficiency: &Decimal) -> Read<(f64, f64)> {
    let forms = FORMS.map(|keys| keys.iter().any(|key| fields.get(key).is_some()));
    if forms.iter().filter(|&&f| f).count() != 1 {
        let message = "a link type needs its bandwidth, in exactly one form";
        let help = "give `bandwidth: 11.6GB/s`, or `up: …, down: …`, or `generation: 3, width: 16`";
        return Err(context.error(fields.span, message, help));
    }
    let rate = |text: &str| units::bandwidth(text)?.bytes_per_second(efficiency, text);
    if forms[0] {
        return fields.parse(context, "bandwidth", rate).map(|b| (b, b));
    }
    if forms[1] {
        let (up, down) = (fields.parse(context, "up", rate), fields.parse(context, "down", rate));
        return Ok((up?, down?));
    }
    let generation = fields.parse(context, "generation", units::generation)?;
    let both = fields.parse(context, "width", |text| {
        let lanes = units::whole_number(text, 32)?;
        units::pcie_generation(generation, lanes)?.bytes_per_second(efficiency, text)
    })?;
    Ok((both, both))
}
