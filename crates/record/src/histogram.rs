//! Counts of picosecond values in log-linear buckets. Percentiles of delays and round-trip times are read from them,
//! because a run delivers too many packets to keep every value.

use crate::statistics::nearest_rank;
use std::fmt;

/// log2 of the number of buckets per power of two.
const LINEAR: u32 = 7;
/// Number of buckets; all values below `2^64` have one.
const BUCKETS: usize = (64 - LINEAR as usize + 1) << LINEAR;

/// A histogram of `u64` values (picoseconds here) over their whole range.
///
/// Values below 256 have a bucket each; from there every power of two `[2^k, 2^(k+1))` is cut
/// into 128 buckets of equal width `2^(k-7)`. A bucket is therefore at most 1/128 of any value in
/// it wide, and a percentile read from it is never below the true one and less than 1/128 (0.8 %)
/// above. Count and largest value are kept exactly.
///
/// Merging adds counts, so the result of a merge is the histogram of all values, whatever the
/// order. One histogram takes 59 kB, allocated by [`Histogram::new`]; recording never allocates.
#[derive(Clone, PartialEq)]
pub struct Histogram {
    buckets: Box<[u64; BUCKETS]>,
    count: u64,
    max: u64,
}

/// Bit position above which all values of `value`'s bucket are equal.
#[inline]
fn shift(value: u64) -> u32 {
    (u64::BITS - (LINEAR + 1)).saturating_sub((value | 1).leading_zeros())
}

/// Largest value of bucket number `index`.
fn highest(index: usize) -> u64 {
    let shift = (index >> LINEAR).saturating_sub(1) as u32;
    let from = (index as u64 - ((shift as u64) << LINEAR)) << shift;
    from + ((1 << shift) - 1)
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self { buckets: Box::new([0; BUCKETS]), count: 0, max: 0 }
    }

    /// Adds one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let shift = shift(value);
        self.buckets[((shift as usize) << LINEAR) + (value >> shift) as usize] += 1;
        self.count += 1;
        self.max = self.max.max(value);
    }

    /// Adds every value of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        self.buckets.iter_mut().zip(other.buckets.iter()).for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Largest value, exact; `None` without a value.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The `p` quantile (`p` from 0 to 1) by nearest rank `ceil(p n)`, see
    /// [`crate::statistics::nearest_rank`]: the highest value the bucket of that rank can hold, but at
    /// most [`Histogram::max`]. `None` without a value.
    pub fn percentile(&self, p: f64) -> Option<u64> {
        let rank = nearest_rank(p, self.count)?;
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Some(highest(index).min(self.max));
            }
        }
        Some(self.max)
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the buckets in use only: number and count.
impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used: Vec<_> = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0).collect();
        f.debug_struct("Histogram").field("count", &self.count).field("max", &self.max).field("used", &used).finish()
    }
}
