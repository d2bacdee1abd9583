//! Quantities: text with a unit, read exactly.

mod decimal;
mod quantity;
mod range;
mod shapes;
#[cfg(test)]
mod tests;

pub(crate) use decimal::{Decimal, NotWhole};
pub use quantity::pcie_raw_figure;
pub(crate) use quantity::{
    BYTES_MOST, LANES, at_least_one, bandwidth, byte_size, bytes_per_second, decimal, duration, efficiency, generation,
    in_parallel, integer, pcie_generation, real_seconds, seconds, size_decimal, time_per_byte, weight, whole_bytes,
    whole_number,
};
pub use range::{MOST_VALUES, Range, RangeError};
pub(crate) use shapes::{BANDWIDTH, BYTES, TIME, WEIGHT};
