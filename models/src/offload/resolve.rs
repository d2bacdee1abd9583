//! An offload with every value resolved: what is written, over the preset, or from the route.

use weir_plugin_api::{CallError, Surroundings};

use super::params::{Bounds, Method, OffloadParams, Streams};
use super::presets::{Measured, Pair};
use crate::operation::{Ends, check_count, per_byte, refused, route};

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Way {
    pub(crate) bytes: u64,
    /// L + o, ps.
    pub(crate) lead: f64,
    /// g, ps.
    pub(crate) gap: f64,
    /// G, ps per byte; over the fabric that of the narrowest link.
    pub(crate) per_byte: f64,
    /// Latency of the route, ps: the bytes arrive so much after they have left. 0 unless over the fabric.
    pub(crate) travel: f64,
}

/// The switches that leave the formulas.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Switches {
    pub(crate) whole_bytes: bool,
    pub(crate) depth_first: bool,
    pub(crate) full_latency: bool,
    pub(crate) sync_released_at_start: bool,
    pub(crate) empty_copies: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Offload {
    pub(crate) device: u32,
    /// The other end, where the copies go over the fabric.
    pub(crate) fabric: Option<u32>,
    pub(crate) method: Method,
    /// As written, also where the method has no use for it.
    pub(crate) streams: u64,
    pub(crate) engines: u8,
    pub(crate) sync: bool,
    pub(crate) into: Way,
    pub(crate) out: Way,
    /// t_E, ps.
    pub(crate) kernel: f64,
    pub(crate) switches: Switches,
    pub(crate) bounds: Option<Bounds>,
}

impl Offload {
    pub(crate) fn of(params: &OffloadParams, surroundings: &Surroundings<'_>) -> Result<Self, CallError> {
        let method = method(params);
        let streams = match params.streams {
            Some(Streams::Number(0)) => return Err(refused("streams: 0 streams do nothing; give 1 or more")),
            Some(Streams::Number(n)) => n,
            Some(Streams::Auto(_)) if matches!(method, Method::Streams | Method::Hybrid) => {
                return Err(refused("streams: `auto` leaves the number open; give a number here"));
            }
            _ => 1,
        };
        if !matches!(params.copy_engines, 1 | 2) {
            return Err(refused("copy_engines: give 1 or 2"));
        }
        check_count(streams.saturating_mul(3), "streams: give fewer streams")?;
        let fabric = fabric(params)?;
        let [into, out] = ways(params, fabric, surroundings)?;
        Ok(Self {
            device: params.device.0,
            fabric,
            method,
            streams,
            engines: params.copy_engines,
            sync: params.implicit_sync,
            into,
            out,
            kernel: params.kernel.0,
            switches: Switches {
                whole_bytes: params.whole_bytes,
                depth_first: params.depth_first,
                full_latency: params.full_latency,
                sync_released_at_start: params.sync_released_at_start,
                empty_copies: params.empty_copies,
            },
            bounds: params.bounds,
        })
    }

    /// The number of streams that the method uses.
    pub(crate) fn pieces(&self) -> u64 {
        match self.method {
            Method::Explicit | Method::Mapped => 1,
            Method::Streams | Method::Hybrid => self.streams,
        }
    }

    /// Whether copies of a direction are issued: those of nothing only where the switch says so.
    pub(crate) fn issues(&self, way: &Way) -> bool {
        way.bytes > 0 || self.switches.empty_copies
    }

    /// Whether every stream gets equal whole bytes in both directions.
    pub(crate) fn divides(&self) -> bool {
        self.into.bytes.is_multiple_of(self.pieces()) && self.out.bytes.is_multiple_of(self.pieces())
    }
}

/// The method written or implied.
pub(crate) fn method(params: &OffloadParams) -> Method {
    params.method.unwrap_or(if params.streams.is_some() { Method::Streams } else { Method::Explicit })
}

/// The host, if the copies go over the fabric.
fn fabric(params: &OffloadParams) -> Result<Option<u32>, CallError> {
    if params.over.is_none() {
        return Ok(None);
    }
    let written = &params.parameters;
    for (key, given) in [
        ("parameters.per_byte_in", written.per_byte_in.is_some()),
        ("parameters.per_byte_out", written.per_byte_out.is_some()),
        ("duplex", params.duplex.is_some()),
    ] {
        if given {
            return Err(refused(format!("{key}: with `over: fabric` the links set the time per byte; remove it")));
        }
    }
    let host = params.host.ok_or_else(|| {
        refused("host: with `over: fabric` the copies need another end; name a cpu or host of the topology")
    })?;
    if host == params.device {
        return Err(refused("host: this is the device itself; name a cpu or host"));
    }
    Ok(Some(host.0))
}

fn ways(params: &OffloadParams, fabric: Option<u32>, surroundings: &Surroundings<'_>) -> Result<[Way; 2], CallError> {
    let preset = params.preset.map_or_else(Measured::default, |preset| preset.measured());
    let written = &params.parameters;
    let mut into = Way {
        bytes: params.bytes_in.0,
        lead: written.latency_in.map_or(preset.latency.into, |t| t.0),
        gap: written.gap_in.map_or(preset.gap.into, |t| t.0),
        ..Way::default()
    };
    let mut out = Way {
        bytes: params.bytes_out.0,
        lead: written.latency_out.map_or(preset.latency.out, |t| t.0),
        gap: written.gap_out.map_or(preset.gap.out, |t| t.0),
        ..Way::default()
    };
    match fabric {
        Some(host) => {
            let device = params.device.0;
            travel(&mut into, Ends::new(host, device), "from the host to the device", surroundings)?;
            travel(&mut out, Ends::new(device, host), "from the device to the host", surroundings)?;
        }
        None => {
            let pair = times_per_byte(params)?;
            (into.per_byte, out.per_byte) = (pair.into, pair.out);
        }
    }
    if !params.empty_copies {
        // Nobody issues a copy of nothing.
        for way in [&mut into, &mut out].into_iter().filter(|way| way.bytes == 0) {
            *way = Way::default();
        }
    }
    Ok([into, out])
}

fn travel(way: &mut Way, ends: Ends, what: &str, surroundings: &Surroundings<'_>) -> Result<(), CallError> {
    if way.bytes > 0 {
        let route = route(surroundings, ends, "over", what)?;
        (way.per_byte, way.travel) = (per_byte(&route), route.latency_ps);
    }
    Ok(())
}

/// G of both directions: of `duplex`, else as written, else of the preset.
fn times_per_byte(params: &OffloadParams) -> Result<Pair, CallError> {
    let written = &params.parameters;
    if let Some(duplex) = params.duplex {
        return Ok(duplex.per_byte());
    }
    let preset = params.preset.map(|preset| preset.measured().per_byte);
    let one = |key: &str, given: Option<f64>, preset: Option<f64>, bytes: u64| match given.or(preset) {
        Some(time) => Ok(time),
        None if bytes == 0 => Ok(0.0),
        None => {
            Err(refused(format!("parameters: `{key}` is missing; give it, or a `preset`, `duplex`, or `over: fabric`")))
        }
    };
    Ok(Pair {
        into: one("per_byte_in", written.per_byte_in.map(|g| g.0), preset.map(|p| p.into), params.bytes_in.0)?,
        out: one("per_byte_out", written.per_byte_out.map(|g| g.0), preset.map(|p| p.out), params.bytes_out.0)?,
    })
}
