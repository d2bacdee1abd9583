//! What else the closed forms say of an offload: `details` of the results.
//!
//! - `dominant`: `kernel` where the formula's kernel branch ((1), (3), the middle of (5)) is longest, else
//!   `transfers`. With one stream all branches agree; then, and for (6), `kernel` where t_E is at least the time of
//!   the bytes of either direction.
//! - `stream_estimate`: section VI; `stream_optimum`: the best whole number of streams by the formula itself, at most [`MOST_STREAMS`].
//! - `second_copy_engine_helps`: whether, without implicit synchronisation and with these streams, two copy engines
//!   are faster than one by the formulas: the first branch of (4) is longer than all of (5). In the words of section
//!   IV, with t_hd for all copies in and t_hd/n for the first: t_E/n + t_hd/n < t_hd and t_E/n + t_dh/n < t_dh and
//!   t_hd/n + t_E + t_dh/n < t_hd + t_dh. The text prints the first condition alone, and the wrong way round.
//! - `roofline`: section III-A.
//!
//! **Source.** van Werkhoven et al., CCGrid 2014, as in [`super::formulas`].

use serde::Serialize;

use super::params::{Bounds, MOST_STREAMS, Method};
use super::resolve::Offload;
use crate::operation::seconds;
use weir_plugin_api::PS_PER_S;

/// Most streams tried (Figs. 5 and 6 measure 1 to 256).
pub(super) const TRIED_STREAMS: u64 = 256;

#[derive(Serialize)]
pub(super) struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    dominant: Option<&'static str>,
    streams: u64,
    methods: Methods,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_estimate: Option<StreamEstimate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_optimum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second_copy_engine_helps: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roofline: Option<Roofline>,
}

/// Seconds by the formula of each method, with the streams written.
#[derive(Serialize)]
struct Methods {
    #[serde(skip_serializing_if = "Option::is_none")]
    explicit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<f64>,
    hybrid: Option<f64>,
    mapped: Option<f64>,
}

/// The number of streams by section VI, a real number.
#[derive(Serialize)]
struct StreamEstimate {
    formula: &'static str,
    streams: f64,
}

/// Upper bounds of performance, flop/s, and the times they stand for, s.
#[derive(Serialize)]
struct Roofline {
    full: Bound,
    zero: Bound,
    mapped: Bound,
}

#[derive(Serialize)]
struct Bound {
    flops: f64,
    seconds: f64,
}

/// The details of an offload.
pub(super) fn details(offload: &Offload) -> Details {
    let by = |method| offload.by_method(method).map(seconds);
    let chunked = matches!(offload.method, Method::Streams | Method::Hybrid);
    Details {
        dominant: kernel_dominates(offload).map(|kernel| if kernel { "kernel" } else { "transfers" }),
        streams: offload.pieces(),
        methods: Methods {
            explicit: by(Method::Explicit),
            streams: by(Method::Streams),
            hybrid: by(Method::Hybrid),
            mapped: by(Method::Mapped),
        },
        stream_estimate: if chunked { stream_estimate(offload) } else { None },
        stream_optimum: if chunked { stream_optimum(offload) } else { None },
        second_copy_engine_helps: (chunked && !offload.sync).then(|| second_engine_helps(offload)),
        roofline: offload.bounds.as_ref().map(|bounds| roofline(offload, bounds)),
    }
}

/// The formula that stands for the operation, in n streams, ps.
pub(super) fn formula(offload: &Offload, n: f64) -> Option<f64> {
    match offload.method {
        Method::Mapped => Some(offload.eq6()),
        Method::Hybrid => Some(offload.eq5(n)),
        Method::Explicit | Method::Streams => offload.category(n),
    }
}

/// Whether two engines count as the device's, without implicit synchronisation: equation (5).
fn full_duplex(offload: &Offload) -> bool {
    offload.method == Method::Hybrid || offload.engines == 2
}

fn kernel_dominates(offload: &Offload) -> Option<bool> {
    let n = offload.pieces() as f64;
    let time = formula(offload, n)?;
    if offload.pieces() == 1 {
        return Some(offload.kernel >= offload.into.chunk(1.0).max(offload.out.chunk(1.0)));
    }
    Some(if full_duplex(offload) || !offload.sync { offload.eq3(n) >= time } else { offload.eq1(n) >= time })
}

/// Section VI; none where the text gives none (a dominant kernel without implicit synchronisation) or g is 0.
fn stream_estimate(offload: &Offload) -> Option<StreamEstimate> {
    let kernel = kernel_dominates(offload)?;
    let (into, out, t_e) = (&offload.into, &offload.out, offload.kernel);
    // The text speaks of unequal sizes; of equal ones the slower direction counts as the larger.
    let into_larger = (into.bytes, into.per_byte) >= (out.bytes, out.per_byte);
    let (large, small) = if into_larger { (into, out) } else { (out, into) };
    let whole = small.chunk(1.0);
    let (formula, streams) = if full_duplex(offload) {
        match (kernel, into_larger) {
            (true, _) => return None,
            (false, true) => ("sqrt((B_dh*G_dh + t_E) / g_hd)", ((whole + t_e) / large.gap).sqrt()),
            (false, false) => ("sqrt((B_hd*G_hd + t_E) / g_dh)", ((whole + t_e) / large.gap).sqrt()),
        }
    } else if offload.sync {
        match kernel {
            true => ("sqrt(B_hd*G_hd / g_dh)", (into.chunk(1.0) / out.gap).sqrt()),
            false => ("sqrt(t_E / (g_hd + g_dh))", (t_e / (into.gap + out.gap)).sqrt()),
        }
    } else {
        match (kernel, into_larger) {
            (true, _) => return None,
            (false, true) => ("B_dh*G_dh + g_dh*(n-1) = t_E/n + B_dh*G_dh/n", balance(whole, t_e, small.gap)),
            (false, false) => ("B_hd*G_hd + g_hd*(n-1) = B_hd*G_hd/n + t_E/n", balance(whole, t_e, small.gap)),
        }
    };
    (streams.is_finite() && streams > 0.0).then_some(StreamEstimate { formula, streams })
}

/// The positive n with T + g·(n − 1) = (t_E + T) / n: g·n² + (T − g)·n − (t_E + T) = 0. In the form that has no
/// difference of large numbers where T > g.
fn balance(whole: f64, t_e: f64, gap: f64) -> f64 {
    let (linear, constant) = (whole - gap, t_e + whole);
    let root = (linear * linear + 4.0 * gap * constant).sqrt();
    if linear >= 0.0 { 2.0 * constant / (linear + root) } else { (root - linear) / (2.0 * gap) }
}

/// The number of streams with the least time by the formula; the smallest among equals. Every formula is the maximum of
/// branches a/n + g·n + c, hence convex in n: the first n from which it does not fall any more is the best.
pub(super) fn stream_optimum(offload: &Offload) -> Option<u64> {
    let time = |n: u64| formula(offload, n as f64);
    time(1)?;
    let (mut low, mut high) = (1, MOST_STREAMS);
    while low < high {
        let middle = low + (high - low) / 2;
        if time(middle + 1)? < time(middle)? { low = middle + 1 } else { high = middle }
    }
    Some(low)
}

fn second_engine_helps(offload: &Offload) -> bool {
    let n = offload.streams as f64;
    offload.eq3(n).max(offload.eq4(n)) > offload.eq5(n)
}

fn roofline(offload: &Offload, bounds: &Bounds) -> Roofline {
    let flops = bounds.flops.0;
    let bytes = offload.into.bytes as f64 + offload.out.bytes as f64;
    let time = offload.into.chunk(1.0) + offload.out.chunk(1.0);
    let effective = if time > 0.0 { bytes / time * PS_PER_S as f64 } else { f64::INFINITY };
    let pcie = bounds.pcie_bandwidth.map_or(effective, |b| b.0);
    let intensity = bounds.operational_intensity.0;
    let kernel = bounds.peak_flops.0.min(bounds.memory_bandwidth.0 * intensity);
    // 0 without bytes: PCIe does not bound the kernel then.
    let transfer = bytes / pcie;
    let bound = |rate: f64| Bound { flops: rate, seconds: flops / rate };
    Roofline {
        full: bound(if transfer > 0.0 { kernel.min(flops / transfer) } else { kernel }),
        zero: bound(flops / (transfer + flops / kernel)),
        mapped: bound(bounds.peak_flops.0.min(pcie * intensity)),
    }
}
