//! Offloads with random parameters, and their formulas written out a second time.

use proptest::prelude::*;
use serde_json::{Value, json};

/// One direction: bytes, L + o (ps), G (ps per byte), g (ps).
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub bytes: u64,
    pub latency: u64,
    pub per_byte: f64,
    pub gap: u64,
}

/// An offload without method and device.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub into: Way,
    pub out: Way,
    pub kernel: u64,
    pub streams: u64,
}

/// Gaps from none to many times a chunk; sizes from none to 16 MB.
fn way() -> impl Strategy<Value = Way> {
    let gap = prop_oneof![Just(0_u64), 0..5_000_000_u64, 0..2_000_000_000_u64];
    let bytes = prop_oneof![Just(0_u64), 1..100_000_u64, 1..16_000_000_u64];
    (bytes, 0..20_000_000_u64, 0.0..400.0_f64, gap).prop_map(|(bytes, latency, per_byte, gap)| Way {
        bytes,
        latency,
        per_byte,
        gap,
    })
}

pub fn case() -> impl Strategy<Value = Case> {
    let kernel = prop_oneof![Just(0_u64), 0..10_000_000_000_u64];
    (way(), way(), kernel, 1..40_u64).prop_map(|(into, out, kernel, streams)| Case { into, out, kernel, streams })
}

impl Case {
    /// The map under `offload`.
    pub fn params(&self, method: &str, copy_engines: u8, implicit_sync: bool) -> Value {
        let (into, out) = (self.into, self.out);
        json!({
            "device": 3, "in": into.bytes, "out": out.bytes, "kernel": self.kernel, "method": method,
            "streams": self.streams,
            "copy_engines": copy_engines, "implicit_sync": implicit_sync,
            "parameters": {
                "latency_in": into.latency, "per_byte_in": into.per_byte, "gap_in": into.gap,
                "latency_out": out.latency, "per_byte_out": out.per_byte, "gap_out": out.gap,
            },
        })
    }

    /// Equation 1 to 6 of Fig. 7 in n streams, s, with the words of the figure.
    pub fn equation(&self, number: u32, n: f64) -> f64 {
        // Nobody issues a copy of nothing.
        let of = |way: Way| if way.bytes == 0 { Way { bytes: 0, latency: 0, per_byte: 0.0, gap: 0 } } else { way };
        let (into, out) = (of(self.into), of(self.out));
        let (l_hd, l_dh) = (into.latency as f64, out.latency as f64);
        let (b_hd, b_dh) = (into.bytes as f64, out.bytes as f64);
        let (g_hd, g_dh) = (into.gap as f64 * (n - 1.0), out.gap as f64 * (n - 1.0));
        let (big_hd, big_dh) = (into.per_byte, out.per_byte);
        let t_e = self.kernel as f64;
        let all_in_then_one = l_hd + b_hd * big_hd + g_hd + t_e / n + l_dh + b_dh / n * big_dh;
        let one_in_then_all = l_hd + b_hd / n * big_hd + t_e / n + l_dh + b_dh * big_dh + g_dh;
        let kernel = l_hd + b_hd / n * big_hd + t_e + l_dh + b_dh / n * big_dh;
        let ps = match number {
            1 => l_hd + b_hd / n * big_hd + t_e + l_dh + b_dh * big_dh + g_dh,
            2 => l_hd + b_hd * big_hd + g_hd + t_e / n + l_dh + b_dh * big_dh + g_dh,
            3 => kernel,
            4 => (l_hd + b_hd * big_hd + g_hd + l_dh + b_dh * big_dh + g_dh).max(all_in_then_one).max(one_in_then_all),
            5 => all_in_then_one.max(kernel).max(one_in_then_all),
            _ => (l_hd + b_hd * big_hd + l_dh).max(l_hd + t_e + l_dh).max(l_hd + l_dh + b_dh * big_dh),
        };
        ps * 1e-12
    }
}

/// Relative closeness of two times, s.
pub fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs()) + 1e-24
}
