//! A 64-bit digest of all events of a run: equal runs have equal digests, on every platform and build profile.

use weir_plugin_api::SimTime;

/// What happened to a task; the numbers are part of the digest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Happened {
    Start = 1,
    Sent = 2,
    End = 3,
}

/// The digest so far. Each word is mixed with the finaliser of SplitMix64 (Steele, Lea, Flood, *Fast splittable
/// pseudorandom number generators*, OOPSLA 2014, fig. 17), chained by addition and multiplication, so order matters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    #[inline]
    pub(crate) fn add(&mut self, time: SimTime, what: Happened, task: u32, bytes: u64) {
        let id = u64::from(task) << 2 | what as u64;
        self.0 = mix(self.0 ^ mix(time.0).wrapping_add(mix(id ^ mix(bytes))));
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

#[inline]
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_and_the_order_matter() {
        let digest = |events: &[(u64, Happened, u32, u64)]| {
            let mut f = Fingerprint::new();
            for &(t, w, id, b) in events {
                f.add(SimTime(t), w, id, b);
            }
            f.value()
        };
        let (a, b) = ((5, Happened::Start, 1, 7), (5, Happened::Start, 2, 7));
        assert_eq!(digest(&[a, b]), digest(&[a, b]));
        assert_ne!(digest(&[a, b]), digest(&[b, a]));
        for other in [
            (6, Happened::Start, 1, 7),
            (5, Happened::End, 1, 7),
            (5, Happened::Start, 3, 7),
            (5, Happened::Start, 1, 8),
        ] {
            assert_ne!(digest(&[a]), digest(&[other]));
        }
    }
}
