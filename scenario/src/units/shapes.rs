//! Quantities as the schema of the format has them.

use super::quantity::{LANES, SIZES, TIMES, Unit, WEIGHT as WEIGHTS};
use crate::format::{Definition, Shape};

pub(crate) static BYTES: Definition = Definition {
    name: "bytes",
    about: "An amount with its unit: `300MB` is 3 * 10^8 bytes, `300MiB` is 300 * 2^20.",
    shape: Shape::Pattern(|| quantity(&one_of(&SIZES))),
};

pub(crate) static BANDWIDTH: Definition = Definition {
    name: "bandwidth",
    about: "An amount per second, `11.6GB/s`, or PCIe lanes, `16GT/s x16`.",
    shape: Shape::Pattern(|| {
        let lanes = LANES.map(|lanes| lanes.to_string()).join("|");
        quantity(&format!("({}/s|GT/s *x({lanes}))", one_of(&SIZES)))
    }),
};

pub(crate) static TIME: Definition = Definition {
    name: "time",
    about: "A time with its unit: ps, ns, us, µs, ms, s, min, h or d.",
    shape: Shape::Pattern(|| quantity(&one_of(&TIMES))),
};

pub(crate) static WEIGHT: Definition =
    Definition { name: "weight", about: "A share, without unit.", shape: Shape::Between(WEIGHTS.least, WEIGHTS.most) };

/// A regular expression of a number and its unit.
fn quantity(unit: &str) -> String {
    format!(r"^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)? ?{unit}$")
}

fn one_of(units: &[Unit]) -> String {
    let names: Vec<&str> = units.iter().map(|unit| unit.0).collect();
    format!("({})", names.join("|"))
}
