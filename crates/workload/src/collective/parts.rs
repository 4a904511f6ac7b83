//! Sizes of the messages of a collective: shares of channels, parts of a ring, pieces of a chain.

/// Bytes to which NCCL rounds parts up.
const GRAIN: u64 = 16;

/// The least multiple of 16 B that is not below n/d.
fn ceil(n: u64, d: u64) -> u64 {
    let part = n.div_ceil(d.max(1));
    part.checked_next_multiple_of(GRAIN).unwrap_or(part)
}

/// Share of each channel: equal, rounded up to 16 B, the last ones less.
pub(super) fn share(bytes: u64, channels: u32, channel: u32) -> u64 {
    let share = ceil(bytes, channels.into());
    bytes.saturating_sub(share.saturating_mul(channel.into())).min(share)
}

/// Parts of one channel of a ring of n: loops of n parts of at most a chunk each. The parts of the last loop are equal,
/// rounded up to 16 B, the last ones less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts {
    n: u64,
    bytes: u64,
    chunk: u64,
}

impl Parts {
    /// Parts of a share; without a chunk there is one loop.
    pub fn new(n: u64, bytes: u64, chunk: Option<u64>) -> Parts {
        let one = ceil(bytes, n).max(1);
        Parts { n: n.max(1), bytes, chunk: chunk.unwrap_or(one).clamp(1, one) }
    }
    /// Number of loops, at least 1.
    pub fn loops(self) -> u64 {
        let all = u128::from(self.chunk) * u128::from(self.n);
        u128::from(self.bytes).div_ceil(all).max(1) as u64
    }
    /// Bytes of a part of a loop.
    pub fn part(self, round: u64, part: u64) -> u64 {
        let rest = self.bytes.saturating_sub((self.chunk * self.n).saturating_mul(round));
        if rest >= self.chunk * self.n {
            return self.chunk;
        }
        let chunk = ceil(rest, self.n).min(self.chunk);
        rest.saturating_sub(chunk.saturating_mul(part)).min(chunk)
    }
}

/// Pieces of a tree or a chain: all of a chunk, the last one less. One piece of 0 B where there is no data.
pub(super) fn pieces(bytes: u64, chunk: Option<u64>) -> impl Iterator<Item = u64> + Clone {
    let chunk = chunk.unwrap_or(u64::MAX).max(1);
    let count = bytes.div_ceil(chunk).max(1);
    (0..count).map(move |i| (bytes - i * chunk.min(bytes)).min(chunk))
}

/// Place in the data at which one of n equal parts begins.
pub(super) fn bound(bytes: u64, n: u64, part: u64) -> u64 {
    (u128::from(bytes) * u128::from(part) / u128::from(n.max(1))) as u64
}
