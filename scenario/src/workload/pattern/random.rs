//! `random`: messages between random ranks at random times, the same for the same seed on every machine.
//!
//! Per message, in this order, one 64-bit number each: the source, uniform; the destination, uniform among the others;
//! with a range of sizes, the size, log-uniform, to the nearest byte; with `within`, the start, uniform in whole
//! picoseconds. Logarithms are those of the `libm` crate, so that no platform differs.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_plugin_api::{SimDuration, SimTime};

use super::{Message, two_ranks};
use crate::context::{Context, Fields, Read};
use crate::units;
use crate::yaml::Data;

/// The name of the generator in results.
pub(super) const GENERATOR: &str = "chacha8";

pub(super) struct Random {
    pub(super) count: u64,
    seed: u64,
    /// Smallest and largest size.
    pub(super) size: (u64, u64),
    within: SimDuration,
}

/// Reads `count`, `seed`, `size` and `within`.
pub(super) fn read(context: &mut Context, fields: &Fields<'_>, ranks: u32) -> Read<Random> {
    two_ranks(context, fields, ranks)?;
    let count = fields.parse(context, "count", |text| units::whole_number(text, u64::MAX))?;
    let seed = fields.parse(context, "seed", |text| units::whole_number(text, u64::MAX))?;
    let within = fields.parse_or(context, "within", SimDuration::ZERO, units::duration)?;
    let value = fields.require(context, "size")?;
    let size = match &value.data {
        Data::Sequence(items) => {
            let [least, most] = &items[..] else {
                return Err(context.error(value.span, "a range of sizes has two ends", "write `size: [1kB, 4MB]`"));
            };
            let least = context.parse(least, "the smallest size", units::byte_size)?;
            let most = context.parse(most, "the largest size", units::byte_size)?;
            if most < least {
                return Err(context.error(value.span, "the range of sizes ends before it begins", "swap the two"));
            }
            (least, most)
        }
        _ => {
            let bytes = context.parse(value, "`size` of a pattern", units::byte_size)?;
            (bytes, bytes)
        }
    };
    Ok(Random { count, seed, size, within })
}

impl Random {
    /// Makes the messages in order.
    pub(super) fn each(&self, ranks: u32, emit: &mut dyn FnMut(Message) -> Read<()>) -> Read<()> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        for _ in 0..self.count {
            let from = below(&mut random, u64::from(ranks)) as u32;
            let other = below(&mut random, u64::from(ranks) - 1) as u32;
            let to = if other < from { other } else { other + 1 };
            let bytes = self.bytes(&mut random);
            let start = if self.within == SimDuration::ZERO { 0 } else { below(&mut random, self.within.0) };
            emit(Message { from, to, bytes, start: SimTime(start) })?;
        }
        Ok(())
    }

    fn bytes(&self, random: &mut ChaCha8Rng) -> u64 {
        let (least, most) = self.size;
        if least == most {
            return least;
        }
        // 53 random bits, as many as an f64 holds: uniform in [0, 1).
        let share = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let (low, high) = (libm::log(least as f64), libm::log(most as f64));
        (libm::round(libm::exp(low + share * (high - low))) as u64).clamp(least, most)
    }
}

/// Uniform below `n`, by the upper half of a product (Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS
/// 2019, section 3) without its rejection: the bias is below n / 2^64.
fn below(random: &mut ChaCha8Rng, n: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(n)) >> 64) as u64
}
