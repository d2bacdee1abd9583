//! How long bytes take on a wire, exactly.

/// Picoseconds in a second.
pub(crate) const PS: u128 = 1_000_000_000_000;

/// Bytes per second on a wire, as the exact fraction `numerator / denominator`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireRate {
    numerator: u128,
    denominator: u128,
}

impl WireRate {
    /// A wire that carries `bandwidth` bytes per second, headers included.
    ///
    /// Returns `None` unless it is finite and at least 1 B/s.
    #[must_use]
    pub fn wire(bandwidth: f64) -> Option<Self> {
        if !(bandwidth.is_finite() && (1.0..1e18).contains(&bandwidth)) {
            return None;
        }
        // An f64 of this range is a whole number of 2^-52.
        let bits = bandwidth.to_bits();
        let exponent = (bits >> 52) as i32 - 1075;
        let mantissa = u128::from((bits & ((1 << 52) - 1)) | (1 << 52));
        let (numerator, denominator) =
            if exponent >= 0 { (mantissa << exponent, 1) } else { (mantissa, 1 << -exponent) };
        Some(Self { numerator, denominator }.reduced())
    }

    /// A wire on which packets of `payload` bytes with `header` bytes each carry `bandwidth` bytes of payload per second.
    ///
    /// Returns `None` as [`Self::wire`], or for a payload of 0.
    #[must_use]
    pub fn goodput(bandwidth: f64, payload: u32, header: u32) -> Option<Self> {
        let payload = u128::from(payload);
        if payload == 0 {
            return None;
        }
        let Self { numerator, denominator } = Self::wire(bandwidth)?;
        let whole = payload + u128::from(header);
        Some(Self { numerator: numerator * whole, denominator: denominator * payload }.reduced())
    }

    fn reduced(self) -> Self {
        let common = gcd(self.numerator, self.denominator);
        Self { numerator: self.numerator / common, denominator: self.denominator / common }
    }

    /// Picoseconds that `bytes` take, rounded up. The one place where bytes of packets become time.
    #[inline]
    #[must_use]
    pub fn time(self, bytes: u64) -> u64 {
        let product = (u128::from(bytes) * PS).checked_mul(self.denominator);
        product.map_or(u64::MAX, |ps| u64::try_from(ps.div_ceil(self.numerator)).unwrap_or(u64::MAX))
    }

    /// Bytes per second, rounded; for reports.
    #[must_use]
    pub fn bytes_per_second(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_packets_carry_the_bandwidth() {
        // 256 B of payload at 10 GB/s: 25.6 ns, whatever the header.
        let rate = WireRate::goodput(10e9, 256, 24).unwrap();
        assert_eq!((rate.time(280), rate.time(24)), (25_600, 2195));
        // 256 / 11.6e9 s = 22068.97 ps, rounded up.
        assert_eq!(WireRate::goodput(11.6e9, 256, 24).unwrap().time(280), 22_069);
    }

    #[test]
    fn the_wire_carries_headers_too() {
        let rate = WireRate::wire(15.753846153e9).unwrap();
        // 280 / 15.753846153e9 s = 17773.44 ps.
        assert_eq!(rate.time(280), 17_774);
        assert_eq!(WireRate::wire(1e12).unwrap().time(7), 7);
        assert_eq!(WireRate::wire(0.5e12 + 0.5).unwrap().time(1), 2);
        assert_eq!((WireRate::wire(f64::NAN), WireRate::wire(0.5), WireRate::wire(f64::INFINITY)), (None, None, None));
    }
}
