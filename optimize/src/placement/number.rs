//! The whole numbers that a search adds: the narrowest that hold every sum.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

pub(super) trait Number:
    Copy
    + Ord
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Mul<Output = Self>
    + Neg<Output = Self>
    + Sub<Output = Self>
    + SubAssign
{
    const ZERO: Self;
    /// The largest; no sum of a search comes near it.
    const MOST: Self;
    /// A number that is known to fit.
    fn of(value: i128) -> Self;
}

macro_rules! number {
    ($($kind:ty),*) => {$(
        impl Number for $kind {
            const ZERO: Self = 0;
            const MOST: Self = <$kind>::MAX;
            #[inline]
            fn of(value: i128) -> Self {
                debug_assert!(<$kind>::try_from(value).is_ok(), "the width was chosen to hold every sum");
                value as $kind
            }
        }
    )*};
}

number!(i32, i64);

impl Number for i128 {
    const ZERO: Self = 0;
    const MOST: Self = i128::MAX;
    fn of(value: i128) -> Self {
        value
    }
}
