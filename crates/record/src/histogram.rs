//! Counts of picosecond values in log-linear buckets: what percentiles of delays and round-trip
//! times are read from, since a run delivers far more packets than anyone wants to keep.

use hdrhistogram::Histogram as Buckets;

use crate::statistics::nearest_rank;

/// Two significant decimal digits: the library then keeps 256 linear buckets below 256 and 128
/// for every further power of two.
const SIGNIFICANT_DIGITS: u8 = 2;

/// A histogram of `u64` values (picoseconds here) over their whole range.
///
/// Values below 256 have a bucket each; from there every power of two `[2^k, 2^(k+1))` is cut
/// into 128 buckets of equal width `2^(k-7)`. A bucket is therefore at most 1/128 of any value in
/// it wide, and a percentile read from it is never below the true one and less than 1/128 (0.8 %)
/// above. Count and largest value are kept exactly beside the buckets.
///
/// Merging adds counts, so the result of a merge is the histogram of all values, whatever the
/// order. One histogram takes 59 kB, allocated by [`Histogram::new`]; recording never allocates.
#[derive(Clone, Debug)]
pub struct Histogram {
    buckets: Buckets<u64>,
    count: u64,
    max: u64,
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        let buckets =
            Buckets::new_with_bounds(1, u64::MAX, SIGNIFICANT_DIGITS).expect("constant bounds the library accepts");
        Self { buckets, count: 0, max: 0 }
    }

    /// Adds one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        // The bounds hold every u64, so that saturating never moves a value; it only spares the
        // caller a Result.
        self.buckets.saturating_record(value);
        self.count += 1;
        self.max = self.max.max(value);
    }

    /// Adds every value of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        self.buckets.add(&other.buckets).expect("histograms of equal bounds");
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
        for bucket in self.buckets.iter_recorded() {
            seen += bucket.count_since_last_iteration();
            // In the last bucket in use the largest value ends the matter.
            if seen >= rank && seen < self.count {
                return Some(self.buckets.highest_equivalent(bucket.value_iterated_to()));
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

/// Equal when they hold the same counts in the same buckets, and the same largest value.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.max) == (other.count, other.max) && self.buckets == other.buckets
    }
}
