//! Distribution of domains among threads.

use std::ops::Range;

/// Cuts `weights`, one for each domain, into at most `parts` contiguous, nonempty runs. Minimises the heaviest.
pub fn runs(weights: &[u64], parts: usize) -> Vec<Range<usize>> {
    let heaviest = weights.iter().copied().max().unwrap_or(0);
    let (mut low, mut high) = (heaviest, weights.iter().sum::<u64>().max(heaviest));
    while low < high {
        let max = low + (high - low) / 2;
        if filled(weights, max).len() <= parts {
            high = max;
        } else {
            low = max + 1;
        }
    }
    filled(weights, high)
}

/// Contiguous runs, each filled up to the weight `max`.
fn filled(weights: &[u64], max: u64) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut weight = 0;
    for (i, w) in weights.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if weight + w <= max => {
                run.end = i + 1;
                weight += w;
            }
            _ => {
                runs.push(i..i + 1);
                weight = *w;
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn the_heaviest_run_is_as_light_as_can_be() {
        assert_eq!(runs(&[1, 1, 1, 1], 2), [0..2, 2..4]);
        assert_eq!(runs(&[5, 1, 1, 1], 2), [0..1, 1..4]);
        assert_eq!(runs(&[1, 1, 5, 1, 1], 3), [0..2, 2..3, 3..5]);
        assert_eq!(runs(&[0, 0, 0], 2).len(), 1);
        assert_eq!(runs(&[3, 4], 7), [0..1, 1..2]);
    }
}
