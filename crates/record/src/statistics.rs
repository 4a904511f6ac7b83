//! Means, ratios, percentiles and Jain's index of all figures. Each is `None` over no values.

/// Picoseconds in a second.
pub(crate) const PS: f64 = 1e12;

/// Jain's fairness index `(sum x)^2 / (n sum x^2)` of non-negative shares: 1 when all are equal,
/// 1/n when one has everything. `None` without shares or when all are 0.
/// Source: Jain, Chiu, Hawe 1984, DEC-TR-301.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// The rank (from 1) of the `p` quantile among `n` values: `ceil(p n)`, at least 1 and at most
/// `n`. `None` if `n` is 0 or `p` is not a number from 0 to 1.
///
/// `p` is meant as the decimal it was written as: 0.07 * 100 is 7.000000000000001 in binary floating point and still
/// gives rank 7. A product within 4 units in the last place of a whole number counts as that number; two roundings,
/// of `p` and of the product, can err that much.
pub fn nearest_rank(p: f64, n: u64) -> Option<u64> {
    if n == 0 || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let product = p * n as f64;
    let whole = product.round();
    let rank = if (product - whole).abs() <= 4.0 * f64::EPSILON * whole { whole } else { product.ceil() };
    Some((rank as u64).clamp(1, n))
}

/// The `p` quantile (`p` from 0 to 1) of `sorted` by nearest rank, see [`nearest_rank`]: always one of the values.
/// `None` without values. `sorted` must be in ascending order.
pub fn percentile_nearest_rank<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    nearest_rank(p, sorted.len() as u64).map(|rank| sorted[rank as usize - 1])
}

/// `ps` picoseconds in seconds.
pub(crate) fn seconds(ps: u64) -> f64 {
    ps as f64 / PS
}

/// `bytes` in `interval_ps` as bits per second; `None` for an empty interval.
pub(crate) fn bits_per_second(bytes: f64, interval_ps: u64) -> Option<f64> {
    ratio(bytes * 8.0, seconds(interval_ps))
}

/// Quotient; `None` unless the denominator is above 0.
pub(crate) fn ratio(numerator: f64, denominator: f64) -> Option<f64> {
    (denominator > 0.0).then(|| numerator / denominator)
}

/// Mean; `None` without values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    ratio(values.iter().sum(), values.len() as f64)
}

/// Mean, in seconds, of `count` times that add up to `sum_ps`.
pub(crate) fn mean_s(sum_ps: u64, count: u64) -> Option<f64> {
    ratio(seconds(sum_ps), count as f64)
}

/// `value`, or `None` if it is not a number: a mean over an empty interval.
pub(crate) fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|v| v.is_finite())
}

/// First of the records with the largest mean queue.
pub(crate) fn busiest<'a, R>(records: impl Iterator<Item = &'a R>, mean: fn(&R) -> f64) -> Option<&'a R> {
    records.reduce(|busiest, record| if mean(record) > mean(busiest) { record } else { busiest })
}
