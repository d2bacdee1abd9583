//! `random`: a uniform choice.
//!
//! **Definition.** Each of those that ask is served with the same probability.
//! **Ties.** None.
//! **Fairness.** Equal numbers of packets in the mean; work-conserving. Ignores priority and the weight of transfers.
//! **Source.** Karol, Hluchyj, Morgan, *Input versus output queueing on a space-division packet switch*, IEEE Trans.
//! Commun. 35 (1987).

use weir_plugin_api::{CallError, GrantView, LinkId, NO_SLOT, PortArbiter, PortGrant};

use super::PerOutput;

/// Chooses among those that ask with equal probability. The numbers are those of [`draw`] for the seed, the output and how
/// many grants it has given.
#[derive(Clone, Debug, Default)]
pub struct Random {
    seed: u64,
    grants: PerOutput<u64>,
}

impl Random {
    /// A sequence for each output from this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, grants: PerOutput::default() }
    }
}

impl PortArbiter for Random {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        let grants = self.grants.get(ask.out).copied().unwrap_or(0);
        let drawn = draw(self.seed, u64::from(ask.out.0), grants, ask.heads.len() as u64);
        Ok(ask.heads.get(drawn as usize).map_or(NO_SLOT, |head| head.slot))
    }

    fn commit(&mut self, granted: &PortGrant<'_>) -> Result<(), CallError> {
        *self.grants.of(granted.out) += 1;
        Ok(())
    }

    /// The sequence never repeats.
    fn state(&self, _: LinkId, _: &mut Vec<u64>) -> Result<bool, CallError> {
        Ok(false)
    }
}

/// A number below `end` (0 where that is 0), uniform over `count` for each seed and stream: SplitMix64 (Steele, Lea, Flood,
/// *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014) of the three, scaled by its upper half.
#[must_use]
pub fn draw(seed: u64, stream: u64, count: u64, end: u64) -> u64 {
    let mixed = mix(mix(mix(seed).wrapping_add(stream)).wrapping_add(count));
    ((u128::from(mixed) * u128::from(end)) >> 64) as u64
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
