//! Sizes of an all-to-all whose receivers are not equally popular, as experts of a mixture are not.

use incast_cc::Bytes;

/// Bytes of each pair of an all-to-all: n rows of a sender's n parts. Rank `order[k]` receives a part of every sender's
/// `bytes` in proportion to 1/(k+1)^`exponent`: Zipf's law. The parts of a row sum to `bytes`. `order` has each of the
/// n ranks once.
pub fn zipf(bytes: Bytes, exponent: f64, order: &[u32]) -> Vec<u64> {
    let n = order.len();
    let weights: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-exponent)).collect();
    let all: f64 = weights.iter().sum();
    let mut row = vec![0; n];
    let (mut sum, mut before) = (0.0, 0);
    for (k, (rank, weight)) in order.iter().zip(&weights).enumerate() {
        sum += weight;
        // the last part takes what is left, whatever the rounding of the sum
        let until = if k + 1 == n { bytes.0 } else { (bytes.0 as f64 * (sum / all)).round() as u64 };
        let until = until.clamp(before, bytes.0);
        if let Some(part) = row.get_mut(*rank as usize) {
            *part = until - before;
        }
        before = until;
    }
    row.repeat(n)
}
