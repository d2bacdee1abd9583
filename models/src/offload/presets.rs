//! Measured parameters that can be named.
//!
//! **Source.** van Werkhoven, Maassen, Seinstra, Bal, *Performance models for CPU-GPU data transfers*, CCGrid 2014,
//! Tables I and II. The tables print ms and ms per byte; here are ps and ps per byte (1 ms = 10^9 ps).

use schemars::JsonSchema;
use serde::Deserialize;

/// All parameters of a device, ps and ps per byte.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Measured {
    /// L + o.
    pub(crate) latency: Pair,
    /// G.
    pub(crate) per_byte: Pair,
    /// g.
    pub(crate) gap: Pair,
}

/// A value for host to device and one for device to host.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Pair {
    pub(crate) into: f64,
    pub(crate) out: f64,
}

/// A device whose parameters are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) enum Preset {
    // Nvidia GTX Titan on PCIe 3.0, one direction at a time (Table I).
    #[serde(rename = "pcie3-gtx-titan")]
    Pcie3GtxTitan,
}

/// Times per byte while both directions carry bytes (Table II).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) enum Duplex {
    // Tesla K20 on PCIe 2.0, copies both ways.
    #[serde(rename = "pcie2-explicit-explicit")]
    Pcie2ExplicitExplicit,
    // Tesla K20 on PCIe 2.0, copies one way, mapped memory the other.
    #[serde(rename = "pcie2-explicit-mapped")]
    Pcie2ExplicitMapped,
    // GTX Titan on PCIe 3.0, copies one way, mapped memory the other.
    #[serde(rename = "pcie3-explicit-mapped")]
    Pcie3ExplicitMapped,
}

impl Preset {
    pub(crate) fn measured(self) -> Measured {
        match self {
            Self::Pcie3GtxTitan => Measured {
                latency: Pair { into: 9_420_000.0, out: 9_023_000.0 }, // 0.009420 and 0.009023 ms
                per_byte: Pair { into: 83.18392, out: 79.24734 },      // 8.318392e-8 and 7.924734e-8 ms/byte
                gap: Pair { into: 2_503_000.0, out: 2_674_000.0 },     // 0.002503 and 0.002674 ms
            },
        }
    }
}

impl Duplex {
    /// Its times per byte, ps.
    pub(crate) fn per_byte(self) -> Pair {
        match self {
            Self::Pcie2ExplicitExplicit => Pair { into: 174.1965, out: 174.7120 }, // 1.741965e-7, 1.747120e-7 ms/byte
            Self::Pcie2ExplicitMapped => Pair { into: 249.1988, out: 223.6644 },   // 2.491988e-7, 2.236644e-7 ms/byte
            Self::Pcie3ExplicitMapped => Pair { into: 119.3386, out: 148.0396 },   // 1.193386e-7, 1.480396e-7 ms/byte
        }
    }
}
