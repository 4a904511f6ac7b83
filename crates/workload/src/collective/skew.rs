//! Skew of experts: tokens of some go to few.

use incast_cc::Bytes;

/// Share of each expert in the tokens, the most popular first: Zipf's law with exponent `z`, with at most 1 of `k`
/// each, as the k experts of a token differ. What an expert cannot take goes to the others in their proportions.
pub fn shares(experts: u64, k: u64, z: f64) -> Vec<f64> {
    let most = 1.0 / k.max(1) as f64;
    let weights: Vec<f64> = (1..=experts).map(|rank| (rank as f64).powf(-z)).collect();
    let mut full = 0;
    loop {
        let rest: f64 = weights[full..].iter().sum();
        let left = 1.0 - full as f64 * most;
        let share = |i: usize| if i < full { most } else { weights[i] / rest * left };
        // weights fall: the first that is not full is the next to be
        if full >= weights.len() || share(full) <= most {
            return (0..weights.len()).map(share).collect();
        }
        full += 1;
    }
}

/// Bytes that each of `ep` ranks takes of a total, whole and in all the total; `turn` moves the popular experts on.
pub(crate) fn parts(shares: &[f64], ep: u64, turn: u64, total: u64) -> Vec<u64> {
    let own = shares.len() / ep as usize;
    let of = |rank: u64| shares[rank as usize * own..][..own].iter().sum::<f64>();
    let (mut sum, mut before) = (0.0, 0u64);
    (0..ep)
        .map(|rank| {
            sum += of((rank + turn) % ep);
            let here = if rank + 1 == ep { total } else { ((total as f64 * sum).round() as u64).clamp(before, total) };
            let part = here - before;
            before = here;
            part
        })
        .collect()
}

/// Bytes of each pair of an all-to-all: n rows of a sender's n parts. Rank `order[k]` receives a part of every sender's
/// `bytes` in proportion to 1/(k+1)^`exponent`: Zipf's law. The parts of a row sum to `bytes`. `order` has each of the
/// n ranks once.
pub fn zipf(bytes: Bytes, exponent: f64, order: &[u32]) -> Vec<u64> {
    let n = order.len();
    let mut row = vec![0; n];
    for (rank, part) in order.iter().zip(parts(&shares(n as u64, 1, exponent), n as u64, 0, bytes.0)) {
        if let Some(own) = row.get_mut(*rank as usize) {
            *own = part;
        }
    }
    row.repeat(n)
}
