//! `fidelity`: whether a run divides bandwidth by rates, or sends packets.

mod check;
mod defaults;
mod keys;
mod plan;
mod ports;

use serde_json::{Map, Value as Json};
use weir_plugin_api::SimDuration;
use weir_sim_core::ReadSettings;

use crate::Position;
use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::format::{Definition, KeyTable, Shape, optional};
use crate::source::Span;
use crate::units;
use crate::yaml::{self, Data, Value};
use keys::RUN_PACKET;
pub(crate) use keys::{LINK_PACKET, PacketKeys, read as link_keys};
pub use plan::PacketPlan;
pub(crate) use plan::spec;

/// One way to simulate the scenario.
#[derive(Clone, Debug)]
pub(crate) enum Fidelity {
    /// By rates, under each arbiter of the scenario.
    Fluid,
    /// Packet by packet.
    Packet(Box<PacketRun>),
}

/// A run of packets as it is written.
#[derive(Clone, Debug)]
pub(crate) struct PacketRun {
    keys: PacketKeys,
    window: Option<u64>,
    reads: ReadSettings,
    skips: bool,
    /// Where `skip_ahead` is written, or where packets are asked for.
    skips_place: Span,
    span: Span,
    position: Option<Position>,
    written: Map<String, Json>,
}

impl PacketRun {
    /// Where it is asked for.
    pub(crate) fn span(&self) -> Span {
        self.span
    }
}

static WITH_KEYS: KeyTable = KeyTable::new(
    "fidelity_map",
    "Packets, and how links carry them.",
    &[optional("packet", Shape::Map(&RUN_PACKET), "How links carry packets, unless their types say it.")],
);

const ONE: Shape = Shape::Either(&[Shape::Choice(|| vec!["fluid".into(), "packet".into()]), Shape::Map(&WITH_KEYS)]);

/// `fidelity` of a scenario.
pub(crate) static FIDELITY: Definition = Definition {
    name: "fidelity",
    about: "`fluid`, by rates (the default), or `packet`; of a list each is run.",
    shape: Shape::OneOrMore(1, &ONE),
};

/// The fidelities of the file, or of the command line in their place.
pub(crate) fn read(context: &mut Context, value: Option<&Value>, options: &[String]) -> Read<Vec<Fidelity>> {
    let written = match value {
        None => Ok(vec![Fidelity::Fluid]),
        Some(Value { data: Data::Sequence(items), span }) if items.is_empty() => {
            Err(context.error(*span, "the list of fidelities is empty", "write `fluid` or `packet`"))
        }
        Some(Value { data: Data::Sequence(items), .. }) => {
            let all = context.each(items, one);
            all.inspect(|_| context.warn_of_repeats(items))
        }
        Some(value) => one(context, value).map(|one| vec![one]),
    };
    if options.is_empty() {
        return written;
    }
    context.each(options, |context, text| {
        let source = context.sources.add("--fidelity", text);
        let value = yaml::parse(context, source)?;
        if let Data::Sequence(_) = &value.data {
            let help = "write names with commas between, as in `--fidelity fluid,packet`, or give it several times";
            return Err(context.error(value.span, "`--fidelity` takes no list", help));
        }
        let mut fidelity = one(context, &value)?;
        // A name stands for what the file says of it.
        if let (Fidelity::Packet(asked), Ok(written)) = (&mut fidelity, &written)
            && asked.written.is_empty()
            && let Some(Fidelity::Packet(own)) = written.iter().find(|own| matches!(own, Fidelity::Packet(_)))
        {
            asked.clone_from(own);
        }
        Ok(fidelity)
    })
}

fn one(context: &mut Context, value: &Value) -> Read<Fidelity> {
    if let Data::Mapping(entries) = &value.data {
        if let Some(entry) = entries.iter().find(|entry| &*entry.key != "packet" && is_fidelity(&entry.value)) {
            let message = format!(
                "{} has no fidelity of its own: a run sends packets on all links or on none",
                quoted(&entry.key)
            );
            return Err(context.error(
                entry.key_span,
                message,
                "write `fidelity: packet`, `fluid`, or a list to run both",
            ));
        }
        let fields = context.fields(value, "`fidelity`", &WITH_KEYS)?;
        let packet = fields.require(context, "packet")?;
        return run(context, packet).map(|run| Fidelity::Packet(Box::new(run)));
    }
    match context.text(value, "`fidelity`")? {
        "fluid" => Ok(Fidelity::Fluid),
        "packet" => {
            let (keys, position) = (PacketKeys::default(), Some(context.sources.position(value.span)));
            let (reads, written) = (READS, Map::new());
            let (skips, span) = (true, value.span);
            let run = PacketRun { keys, window: None, reads, skips, skips_place: span, span, position, written };
            Ok(Fidelity::Packet(Box::new(run)))
        }
        other => {
            let help = context.suggestion(other, ["fluid", "packet"], "fidelities");
            Err(context.error(value.span, format!("no fidelity is named {}", quoted(other)), help))
        }
    }
}

/// Whether a value in place of the keys of packets names a fidelity, as for some of the links.
fn is_fidelity(value: &Value) -> bool {
    match &value.data {
        Data::Scalar(scalar) => matches!(&*scalar.text, "fluid" | "packet"),
        Data::Mapping(entries) => entries.iter().any(|entry| &*entry.key == "packet"),
        Data::Sequence(_) => false,
    }
}

/// Packets.md, section 3.
const READS: ReadSettings = ReadSettings { request: 512, tags: 256, service: SimDuration::ZERO, completion_header: 20 };

fn reads(context: &mut Context, fields: &Fields<'_>) -> Read<ReadSettings> {
    let request = fields.parse_or(context, "request", READS.request, |text| match units::byte_size(text)? {
        bytes @ 1.. if bytes <= u64::from(u32::MAX) => Ok(bytes as u32),
        _ => Err(Problem::new(
            format!("no request asks for {text}"),
            "give 1B or more, and less than 4GiB, as in `512B`",
        )),
    });
    let tags = fields.parse_or(context, "tags", READS.tags, |text| {
        units::at_least_one(text, u64::from(u32::MAX)).map(|tags| tags as u32)
    });
    let service = fields.parse_or(context, "service", READS.service, units::duration);
    let completion_header = fields.parse_or(context, "completion_header", READS.completion_header, |text| {
        keys::header(text).map(|bytes| bytes.map_or(READS.completion_header, |bytes| bytes as u16))
    });
    Ok(ReadSettings { request: request?, tags: tags?, service: service?, completion_header: completion_header? })
}

fn run(context: &mut Context, value: &Value) -> Read<PacketRun> {
    let fields = context.fields(value, "`packet`", &RUN_PACKET)?;
    let keys = keys::keys(context, &fields)?;
    let at_least_one = |text: &str| units::at_least_one(text, u64::MAX).map(Some);
    let window = fields.parse_or(context, "window", None, at_least_one)?;
    let skips = fields.parse_or(context, "skip_ahead", true, |text| match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Problem::new(format!("{} is neither", quoted(text)), "write `true` or `false`")),
    })?;
    let reads = reads(context, &fields)?;
    let Data::Mapping(entries) = &value.data else { unreachable!("fields are those of a map") };
    let written = entries.iter().map(|entry| (entry.key.to_string(), yaml::flow(&entry.value).into())).collect();
    let position = Some(context.sources.position(value.span));
    let (span, skips_place) = (value.span, fields.get("skip_ahead").map_or(value.span, |given| given.span));
    Ok(PacketRun { keys, window, reads, skips, skips_place, span, position, written })
}
