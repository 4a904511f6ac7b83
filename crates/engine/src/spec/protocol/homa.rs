//! Parameters of Homa.

use super::facts::Facts;
use crate::spec::keys::keys;
use crate::spec::refused_value::Refusals;

keys! {
    $ homa_keys
    /// Homa (Montazeri et al., SIGCOMM 2018). Level 0 is the highest priority. A level is a traffic class.
    homa: Homa {
        /// Unscheduled bytes of a message, and bytes in flight of a granted one; a shorter message is all
        /// unscheduled. About the bytes of a round trip.
        unscheduled: u64 as Size,
        /// Number of priorities: switches need as many classes in their queues. Control packets have the highest.
        #[schemars(range(min = 1, max = 8))]
        levels: u8,
        /// Number of messages that a host grants at a time, one per sender. `auto`: one per priority not used by
        /// unscheduled packets.
        overcommit: Option<u32> as Auto<NonZeroU32>,
        /// Unscheduled packets of a message of at most the first size have the highest priority, and so on; those
        /// above the last size have the next priority. `auto`: from the sizes of the scenario's messages; each
        /// priority gets the same unscheduled bytes, and the number of priorities follows the unscheduled share of
        /// all bytes.
        cutoffs: Option<Vec<u64>> as Auto<Vec<Size>>,
    }
}

impl Homa {
    /// Refuses values that contradict each other.
    pub(super) fn check(&self, to: &mut Refusals) {
        let bytes = self.unscheduled;
        let message = "expected at least 1B: a receiver learns of a message by its first packet";
        to.expect(bytes > 0, "unscheduled", bytes, message);
        to.expect(self.overcommit != Some(0), "overcommit", 0, "expected at least 1 message");
        let cutoffs = self.cutoffs();
        let mut expect = |holds, message: &str| to.expect(holds, "cutoffs", format_args!("{cutoffs:?}"), message);
        expect(cutoffs.is_sorted_by(|a, b| a < b), "expected ascending sizes");
        expect(cutoffs.first() != Some(&0), "expected sizes of at least 1B: no message is shorter");
        let (has, levels) = (cutoffs.len(), self.levels);
        expect(has < levels as usize, &format!("has {has} sizes; expected fewer than levels, {levels}"));
    }

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
