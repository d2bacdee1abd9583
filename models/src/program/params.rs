//! What a person writes under `program`.

use schemars::JsonSchema;
use serde::Deserialize;
use weir_plugin_api::CallError;

use super::collective_options::Collectives;
use super::operations::{Program, Work};
use crate::level::after_first;
use crate::operation::{MOST_TIME_PS, Over, refused};
use crate::quantities::{Bandwidth, Bytes, Files, Nodes, PerByte, Positive, Time};

/// Up to how many bytes a message is sent without waiting for its receive: LogGOPSim's own value.
const EAGER: u64 = 65_535;

/// When a send is done, by its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sending {
    /// Up to so many bytes: with its overhead, the message being copied.
    pub(super) eager: u64,
    /// A larger message waits for its receive; else it goes at once. Either way its send is done with the last byte.
    pub(super) rendezvous: bool,
}

impl Sending {
    /// Up to how many bytes a message goes without its receive.
    pub(super) fn unawaited(self) -> u64 {
        if self.rendezvous { self.eager } else { u64::MAX }
    }
}

/// How a file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Format {
    // Of LogGOPSim.
    Goal,
    // Algorithms of MSCCL, as XML.
    Msccl,
    // Execution traces of Chakra, one for each rank.
    Chakra,
    // Time-independent traces of SimGrid.
    #[serde(rename = "simgrid-ti")]
    SimgridTi,
}

/// Some ranks that do collectives among themselves.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct ProcessGroup {
    /// `pg_name` in the traces.
    pub(crate) name: String,
    /// Its ranks, in their order.
    pub(crate) ranks: Vec<u32>,
}

/// The map under `program`.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramParams {
    /// The file with what the ranks do; `chakra`: one for each rank, in their order; `simgrid-ti`: one or several.
    pub(crate) file: Files,
    /// How it is written.
    pub(crate) format: Format,
    /// The device of each rank, in their order; needed where messages go over the fabric.
    #[serde(default)]
    pub(crate) ranks: Nodes,
    /// `msccl`: the size of the collective, as nccl-tests count it.
    #[serde(default)]
    #[schemars(with = "Bytes")]
    pub(crate) size: Option<Bytes>,
    /// `msccl`: the rate at which a device reduces what it has received; no time by default.
    #[serde(default)]
    #[schemars(with = "Bandwidth")]
    pub(crate) reduce: Option<Bandwidth>,
    /// The rate at which a device copies within its memory: over the fabric messages between ranks that are on one device, which
    /// need it. `msccl`: also its copies, which take no time by default. `chakra`: also memory nodes that have a `tensor_size` and
    /// no duration.
    #[serde(default)]
    #[schemars(with = "Bandwidth")]
    pub(crate) copy: Option<Bandwidth>,
    /// `simgrid-ti`, `chakra`: the flop/s of a rank.
    #[serde(default)]
    #[schemars(with = "Positive")]
    pub(crate) flop_rate: Option<Positive>,
    /// `simgrid-ti`: the bytes that a count of 1 stands for; 1B by default.
    #[serde(default)]
    #[schemars(with = "Bytes")]
    pub(crate) unit: Option<Bytes>,
    /// `chakra`: the ranks of process groups, by the names that the traces have for them.
    #[serde(default)]
    pub(crate) groups: Vec<ProcessGroup>,
    /// The host memory of each rank, for `staging` alone. Default: the nearest.
    #[serde(default)]
    #[schemars(with = "Nodes", extend("x-weir-nearest" = "ranks", "x-weir-nearest-if" = "message.staging"))]
    pub(crate) hosts: Option<Nodes>,
    /// How a message travels.
    #[serde(default)]
    pub(crate) message: MessageParams,
    /// `chakra`, `simgrid-ti`: collectives are planned as the operation `collective` is, with these keys of it. Default: they
    /// are messages.
    #[serde(default)]
    #[schemars(with = "Collectives")]
    pub(crate) collectives: Option<Collectives>,
}

/// The map under `message`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageParams {
    /// `fabric`: bytes go over the links of the topology. The default where no `per_byte` is given, which makes it the LogGOPS
    /// network.
    #[serde(default)]
    #[schemars(with = "Over")]
    pub(crate) over: Option<Over>,
    /// L: from the end of the sender's overhead to the first byte at the receiver; over the fabric from the last byte on, beside
    /// the latencies of links. 0 by default.
    #[serde(default)]
    pub(crate) latency: Time,
    /// o: time of the processor for each message, at the sender and at the receiver. 0 by default.
    #[serde(default)]
    pub(crate) overhead: Time,
    /// o_r: that of the receiver, where it differs. `overhead` by default.
    #[serde(default)]
    #[schemars(with = "Time")]
    pub(crate) receive_overhead: Option<Time>,
    /// g: least time between the begins of two messages of a network interface; over the fabric, between the end of one and the
    /// begin of the next. 0 by default.
    #[serde(default)]
    pub(crate) gap: Time,
    /// G: time per byte of the LogGOPS network.
    #[serde(default)]
    #[schemars(with = "PerByte")]
    pub(crate) per_byte: Option<PerByte>,
    /// O: time of the processor for each byte beyond the first, as for a copy. 0 by default.
    #[serde(default)]
    pub(crate) overhead_per_byte: PerByte,
    /// O of the receiver, where it differs. `overhead_per_byte` by default.
    #[serde(default)]
    #[schemars(with = "PerByte")]
    pub(crate) receive_overhead_per_byte: Option<PerByte>,
    /// S: up to this size a message is sent at once (eager); a larger one when its receive is posted, too (rendezvous). 65535B
    /// by default. In `msccl` and `chakra` files none: no message waits for its receive, unless this is given.
    #[serde(default)]
    #[schemars(with = "Bytes")]
    pub(crate) eager: Option<Bytes>,
    /// Over the fabric: bytes go through the host memory of both ranks, copied there and from there. No by default.
    #[serde(default)]
    pub(crate) staging: bool,
}

impl Format {
    /// As it is written.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::Msccl => "msccl",
            Self::Chakra => "chakra",
            Self::SimgridTi => "simgrid-ti",
        }
    }
}

impl ProgramParams {
    /// Files of a format, and nothing else.
    pub(super) fn of(file: Files, format: Format) -> Self {
        Self {
            file,
            format,
            ranks: Nodes::default(),
            size: None,
            reduce: None,
            copy: None,
            flop_rate: None,
            unit: None,
            groups: Vec::new(),
            hosts: None,
            message: MessageParams::default(),
            collectives: None,
        }
    }

    /// Refuses keys that its format does not read.
    pub(super) fn check(&self) -> Result<(), CallError> {
        let is_network = self.message.is_network();
        if self.copy.is_some() && is_network && matches!(self.format, Format::Goal | Format::SimgridTi) {
            return Err(refused(
                "copy: on the LogGOPS network no rank is on a device; remove it, or leave `per_byte` out",
            ));
        }
        let (msccl, trace) = (self.format == Format::Msccl, matches!(self.format, Format::SimgridTi | Format::Chakra));
        let unread = [
            ("size", self.size.is_some() && !msccl),
            ("reduce", self.reduce.is_some() && !msccl),
            ("flop_rate", self.flop_rate.is_some() && !trace),
            ("groups", !self.groups.is_empty() && self.format != Format::Chakra),
            ("collectives", self.collectives.is_some() && !trace),
            ("unit", self.unit.is_some() && self.format != Format::SimgridTi),
        ];
        match unread.iter().find(|(_, is_unread)| *is_unread) {
            Some((key, _)) => Err(refused(format!("{key}: files of this format do not need it; remove it"))),
            None if self.unit.is_some_and(|unit| unit.0 == 0) => Err(refused("unit: give at least 1B")),
            None if self.collectives.is_some() && is_network => {
                Err(refused("collectives: they go over links, and the LogGOPS network has none; leave `per_byte` out"))
            }
            None => Ok(()),
        }
    }

    /// Where messages are staged, one host for each rank; none where they are not.
    pub(super) fn staged(&self) -> Result<Option<Vec<u32>>, CallError> {
        if !self.message.staging {
            return match self.hosts {
                Some(_) => {
                    Err(refused("hosts: messages are not staged; add `staging: true` to `message`, or remove `hosts`"))
                }
                None => Ok(None),
            };
        }
        if self.message.is_network() {
            return Err(refused("message.staging: the LogGOPS network has no hosts; leave `per_byte` out"));
        }
        let (hosts, ranks) = (self.hosts.as_ref().map_or(&[][..], |hosts| &hosts.0), self.ranks.0.len());
        if hosts.len() != ranks {
            let text = format!("hosts: {} for {ranks} ranks; name the host memory of each", hosts.len());
            return Err(refused(text));
        }
        Ok(Some(hosts.to_vec()))
    }

    /// The text of the only file.
    pub(super) fn one_text(&self) -> Result<&str, CallError> {
        self.file.one_text().map_err(|problem| refused(format!("file: {problem}")))
    }
}

/// What a message costs a processor, ps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Overhead {
    /// o.
    message: f64,
    /// O.
    per_byte: f64,
}

impl Overhead {
    /// o + (s − 1)·O, ps.
    pub(super) fn of(&self, bytes: u64) -> f64 {
        self.message + after_first(bytes) * self.per_byte
    }

    /// o, the nearest ps.
    pub(super) fn of_message(&self) -> u64 {
        whole(self.message)
    }

    pub(super) fn is_none(&self) -> bool {
        self.message == 0.0 && self.per_byte == 0.0
    }
}

/// The LogGOPS network; times in ps, sizes in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Loggops {
    latency: u64,
    sender: Overhead,
    receiver: Overhead,
    gap: u64,
    per_byte: f64,
    pub(super) eager: u64,
}

impl MessageParams {
    /// Refuses messages that take longer than what a run may have.
    pub(super) fn check(&self, program: &Program) -> Result<(), CallError> {
        let sizes = program.operations.iter().filter_map(|operation| match operation.work {
            Work::Send { bytes, .. } => Some(bytes),
            _ => None,
        });
        let most = sizes.max().unwrap_or(0);
        let (sender, receiver) = (self.sender(), self.receiver());
        let each = self.per_byte.map_or(0.0, |per_byte| per_byte.0).max(sender.per_byte).max(receiver.per_byte);
        let fixed = [self.latency.0, sender.message, receiver.message, self.gap.0].into_iter().fold(0.0, f64::max);
        if after_first(most) * each + fixed <= MOST_TIME_PS {
            return Ok(());
        }
        Err(refused(format!("message: one of {most} B takes more than 100 days; give smaller times")))
    }

    /// Thread blocks of NCCL copy into buffers at the receiver, and traces of Chakra are of such libraries: no message of
    /// theirs waits for its receive, unless `eager` is given (*assumed*: the buffers are never full).
    pub(super) fn sending(&self, format: Format) -> Sending {
        match (self.eager, format) {
            (Some(eager), _) => Sending { eager: eager.0, rendezvous: true },
            (None, Format::Goal | Format::SimgridTi) => Sending { eager: EAGER, rendezvous: true },
            (None, Format::Msccl | Format::Chakra) => Sending { eager: 0, rendezvous: false },
        }
    }

    /// Whether messages go over the LogGOPS network, not over the fabric.
    fn is_network(&self) -> bool {
        self.over.is_none() && self.per_byte.is_some()
    }

    /// The network, unless bytes go over the fabric.
    pub(super) fn loggops(&self, sending: Sending) -> Option<Loggops> {
        let per_byte = self.per_byte.filter(|_| self.is_network())?;
        Some(Loggops {
            latency: whole(self.latency.0),
            sender: self.sender(),
            receiver: self.receiver(),
            gap: whole(self.gap.0),
            per_byte: per_byte.0,
            eager: sending.unawaited(),
        })
    }

    /// What a message costs the processor of its sender.
    pub(super) fn sender(&self) -> Overhead {
        Overhead { message: self.overhead.0, per_byte: self.overhead_per_byte.0 }
    }

    /// What it costs that of its receiver.
    pub(super) fn receiver(&self) -> Overhead {
        Overhead {
            message: self.receive_overhead.unwrap_or(self.overhead).0,
            per_byte: self.receive_overhead_per_byte.unwrap_or(self.overhead_per_byte).0,
        }
    }
}

/// The nearest ps.
fn whole(ps: f64) -> u64 {
    ps.round() as u64
}

impl Loggops {
    /// o + (s − 1)·O of the sender.
    pub(super) fn sending(&self, bytes: u64) -> u64 {
        let each = whole(after_first(bytes) * self.sender.per_byte);
        self.sender.of_message().saturating_add(each)
    }

    /// o + (s − 1)·max(O, G) of the receiver.
    pub(super) fn receiving(&self, bytes: u64) -> u64 {
        let each = whole(after_first(bytes) * self.receiver.per_byte.max(self.per_byte));
        self.receiver.of_message().saturating_add(each)
    }

    /// o + L: from the begin of a send to the first byte at the receiver.
    pub(super) fn flight(&self) -> u64 {
        self.sender.of_message().saturating_add(self.latency)
    }

    /// g + (s − 1)·G.
    pub(super) fn gap(&self, bytes: u64) -> u64 {
        self.gap.saturating_add(whole(after_first(bytes) * self.per_byte))
    }
}
