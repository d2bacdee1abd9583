//! Quantities: text with a unit, read exactly.

mod decimal;
mod quantity;
#[cfg(test)]
mod tests;

pub(crate) use decimal::{Decimal, NotWhole};
pub(crate) use quantity::{
    BYTES_MOST, bandwidth, byte_size, bytes_per_second, decimal, duration, efficiency, pcie_generation, seconds,
    weight, whole_bytes, whole_number,
};
