//! Numbers of formulas: 64 bits, with no result on overflow, and 128 bits, which saturate.

/// Picoseconds per second.
const SECOND: i128 = 1_000_000_000_000;

/// Integers. A result is `None` if it does not fit into 64 bits, or for a division by 0.
pub trait Number: Copy + Ord {
    /// Constant `n`.
    fn of(n: i64) -> Self;
    fn of_unsigned(n: u64) -> Option<Self>;
    fn plus(self, other: Self) -> Option<Self>;
    fn less(self, other: Self) -> Option<Self>;
    fn times(self, other: Self) -> Option<Self>;
    /// Quotient, rounded down.
    fn over(self, other: Self) -> Option<Self>;
    /// Number of bits sent at a rate in a time, rounded down.
    fn bits(self, other: Self) -> Option<Self>;
}

impl Number for i64 {
    #[inline]
    fn of(n: i64) -> i64 {
        n
    }

    #[inline]
    fn of_unsigned(n: u64) -> Option<i64> {
        i64::try_from(n).ok()
    }

    #[inline]
    fn plus(self, other: i64) -> Option<i64> {
        self.checked_add(other)
    }

    #[inline]
    fn less(self, other: i64) -> Option<i64> {
        self.checked_sub(other)
    }

    #[inline]
    fn times(self, other: i64) -> Option<i64> {
        self.checked_mul(other)
    }

    #[inline]
    fn over(self, other: i64) -> Option<i64> {
        let rest = self.checked_rem(other)?;
        Some(self / other - i64::from(rest != 0 && (rest < 0) != (other < 0)))
    }

    #[inline]
    fn bits(self, other: i64) -> Option<i64> {
        match self.checked_mul(other) {
            Some(product) => Some(product.div_euclid(SECOND as i64)),
            None => i64::try_from((i128::from(self) * i128::from(other)).div_euclid(SECOND)).ok(),
        }
    }
}

impl Number for i128 {
    fn of(n: i64) -> i128 {
        n.into()
    }

    fn of_unsigned(n: u64) -> Option<i128> {
        Some(n.into())
    }

    fn plus(self, other: i128) -> Option<i128> {
        Some(self.saturating_add(other))
    }

    fn less(self, other: i128) -> Option<i128> {
        Some(self.saturating_sub(other))
    }

    fn times(self, other: i128) -> Option<i128> {
        Some(self.saturating_mul(other))
    }

    fn over(self, other: i128) -> Option<i128> {
        if other == 0 {
            return None;
        }
        let whole = self.saturating_div(other);
        let rest = if other == -1 { 0 } else { self % other };
        Some(whole - i128::from(rest != 0 && (rest < 0) != (other < 0)))
    }

    fn bits(self, other: i128) -> Option<i128> {
        Some(self.saturating_mul(other).div_euclid(SECOND))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_round_down_and_over_0_have_no_result() {
        for (a, b, whole) in [(7, 2, 3), (-7, 2, -4), (7, -2, -4), (-7, -2, 3), (-8, 2, -4), (0, -3, 0)] {
            assert_eq!(i64::of(a).over(b), Some(whole), "{a} / {b}");
            assert_eq!(i128::of(a).over(b.into()), Some(whole.into()), "{a} / {b}");
        }
        assert_eq!((5i64.over(0), 5i128.over(0)), (None, None));
        assert_eq!((i64::MIN.over(-1), i128::MIN.over(-1)), (None, Some(i128::MAX)));
    }

    #[test]
    fn numbers_of_64_bits_give_up_where_those_of_128_go_on() {
        assert_eq!((i64::MAX.plus(1), i128::of(i64::MAX).plus(1)), (None, Some(1 << 63)));
        assert_eq!(i64::MIN.less(1), None);
        assert_eq!((i64::MAX.times(2), i128::MAX.times(2)), (None, Some(i128::MAX)));
        assert_eq!(i64::of_unsigned(u64::MAX), None);
        // 400 Gb/s for 300 us: the product overflows, the result fits
        assert_eq!(400_000_000_000i64.bits(300_000_000), Some(120_000_000));
        assert_eq!(1i64.bits(1), Some(0));
        assert_eq!((-1i64).bits(1), Some(-1));
        assert_eq!(i128::of(-1).bits(1), Some(-1));
    }
}
