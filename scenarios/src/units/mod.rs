//! Quantities: text with a unit, read exactly.

mod decimal;
mod quantity;
#[cfg(test)]
mod tests;

pub(crate) use decimal::{Decimal, NotWhole};
pub(crate) use quantity::{
    BYTES_MOST, bandwidth, byte_size, decimal, duration, efficiency, pcie_generation, positive, seconds, whole_bytes,
    whole_number,
};
