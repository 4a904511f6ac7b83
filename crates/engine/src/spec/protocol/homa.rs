//! Parameters of Homa.

use super::facts::Facts;

/// Homa (Montazeri et al., SIGCOMM 2018). Level 0 is the highest priority. A level is a traffic class.
#[derive(Clone, PartialEq, Debug)]
pub struct Homa {
    /// Unscheduled bytes of a message, at least 1. A granted message has the same number of bytes in flight.
    pub unscheduled: u64,
    /// Number of priorities, 1 to 8. The class of a flow is the lowest priority; packets without a priority of their
    /// own use it.
    pub levels: u8,
    /// Degree of overcommitment: number of messages a host grants at a time; `None`: one per priority that unscheduled
    /// packets do not use.
    pub overcommit: Option<u32>,
    /// Message sizes up to which unscheduled packets have priority 0, 1, ...; larger messages use the next priority.
    /// Rising, and fewer than `levels`. `None`: all have priority 0.
    pub cutoffs: Option<Vec<u64>>,
}

impl Homa {
    /// Maximum number of levels that a program or a transport can assign to packets.
    pub const MAX_LEVELS: u8 = 8;

    fn cutoffs(&self) -> &[u64] {
        self.cutoffs.as_deref().unwrap_or_default()
    }

    /// Priority of unscheduled packets of a message of `size` bytes.
    pub fn level_of(&self, size: u64) -> u8 {
        self.cutoffs().partition_point(|cutoff| *cutoff < size) as u8
    }

    /// First priority of scheduled packets: the one after the unscheduled priorities, or the lowest one.
    fn first_scheduled(&self) -> usize {
        (self.cutoffs().len() + 1).min(self.levels as usize - 1)
    }

    /// Number of messages a host grants at a time.
    pub fn overcommit(&self) -> usize {
        self.overcommit.map_or(self.levels as usize - self.first_scheduled(), |n| n as usize)
    }

    /// Priority of scheduled packets of message `rank` of `active` granted messages. The lowest levels are used first,
    /// so that a new message gets a higher one.
    pub fn level_of_rank(&self, rank: usize, active: usize) -> u8 {
        (self.levels as usize).saturating_sub(active - rank).max(self.first_scheduled()) as u8
    }

    /// Cutoffs derived from message sizes. The share of unscheduled levels equals the share of unscheduled bytes, with
    /// at least one level and at most `levels` - 1. Each of these levels carries the same number of unscheduled bytes.
    pub fn derive(&self, mut sizes: Vec<u64>) -> Vec<u64> {
        sizes.sort_unstable();
        let unasked = |size: u64| size.min(self.unscheduled) as u128;
        let bytes: u128 = sizes.iter().map(|size| *size as u128).sum();
        let all: u128 = sizes.iter().map(|size| unasked(*size)).sum();
        let levels = self.levels as u128;
        // halves are rounded up
        let share = if bytes == 0 { 1 } else { (2 * levels * all + bytes) / (2 * bytes) };
        let count = share.min(levels.saturating_sub(1)).max(1);
        let (mut cutoffs, mut sum) = (Vec::new(), 0);
        for size in &sizes {
            sum += unasked(*size);
            let reached = sum * count >= all * (cutoffs.len() as u128 + 1);
            let last = Some(size) == sizes.last() || cutoffs.len() as u128 + 1 >= count;
            if reached && !last && cutoffs.last() != Some(size) {
                cutoffs.push(*size);
            }
        }
        cutoffs
    }
}

impl Homa {
    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts {
            lowest_class: Some(self.levels.saturating_sub(1)),
            first_cut: Some(self.unscheduled),
            ..Facts::of("homa")
        }
    }
}
