//! Rings: all-reduce in 2(n-1) steps, reduce-scatter and all-gather in n-1 (NVIDIA/nccl 5067397c).
//!
//! In step s of an all-reduce position r sends part r-1-s (mod n), which it received in step s-1 from position r-1; it
//! receives part r-2-s. After n-1 steps it has the sum of part r. An all-gather is the second half.

use super::member::Member;
use super::parts::Parts;
use crate::graph::{Pattern, Refused};

/// Ring of one channel: sizes of all messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    n: u64,
    parts: Parts,
    /// First step and number of steps of a loop, as steps of an all-reduce.
    first: u64,
    count: u64,
}

impl Ring {
    /// Ring of n members with `bytes` in all and at most `chunk` a part; `None` for other patterns.
    pub fn new(pattern: Pattern, n: u64, bytes: u64, chunk: Option<u64>) -> Option<Ring> {
        let half = n.saturating_sub(1);
        let (first, count) = match pattern {
            Pattern::AllReduce => (0, 2 * half),
            Pattern::ReduceScatter => (0, half),
            Pattern::AllGather => (half, half),
            _ => return None,
        };
        Some(Ring { n: n.max(1), parts: Parts::new(n, bytes, chunk), first, count })
    }
    /// Number of steps of all loops.
    pub fn steps(&self) -> u64 {
        self.parts.loops() * self.count
    }
    /// Part that a position sends in a step.
    pub fn part(&self, position: u64, step: u64) -> u64 {
        let step = self.first + step % self.count.max(1);
        (position + 2 * self.n - 1 - step % self.n) % self.n
    }
    /// Bytes that a position sends in a step; it receives what the position before it sends.
    pub fn sent(&self, position: u64, step: u64) -> u64 {
        self.parts.part(step / self.count.max(1), self.part(position, step))
    }
    /// Bytes that a position receives in a step.
    pub(super) fn received(&self, position: u64, step: u64) -> u64 {
        self.sent((position + self.n - 1) % self.n, step)
    }
    /// Number of loops, and of the steps of one.
    pub(super) fn loops(&self) -> (u64, u64) {
        (self.parts.loops(), self.count)
    }
    /// Number of the first steps of a loop whose data is added to own data.
    pub(super) fn reducing(&self) -> u64 {
        (self.n - 1).saturating_sub(self.first).min(self.count)
    }
    /// Returns whether what is received in a step is added to own data.
    pub fn reduces(&self, step: u64) -> bool {
        self.first + step % self.count.max(1) < self.n - 1
    }
}

/// Place of a ring among the members, and the tasks before it.
pub(super) struct Around<'a> {
    /// Positions of the ring's members; the member's own is at `at`.
    pub ring: &'a [u64],
    pub at: usize,
    pub channel: u32,
    pub after: Option<u32>,
}

/// Adds the steps of a ring; returns the last task, `after` for a ring of one.
pub(super) fn add(member: &mut Member, ring: &Ring, around: &Around) -> Result<Option<u32>, Refused> {
    let n = around.ring.len();
    let (next, before) = ((around.at + 1) % n, (around.at + n - 1) % n);
    let mut last = around.after;
    for step in 0..ring.steps() {
        let after = last.as_slice();
        let (sent, received) = (ring.sent(around.at as u64, step), ring.sent(before as u64, step));
        member.send(around.ring[next], sent, around.channel, after)?;
        let arrived = member.recv(around.ring[before], received, around.channel, after)?;
        last = Some(if ring.reduces(step) { member.reduce(received, arrived)? } else { arrived });
    }
    Ok(last)
}
