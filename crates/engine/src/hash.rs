//! Keyed randomness: every random number is a pure function of what it is for.
//!
//! Nothing here has state. A draw is named by (seed, purpose, entity, counter), so it does not depend on earlier draws:
//! any order of simulation, any partition and any number of threads see the same numbers. The mixer is the finalizer of
//! splitmix64 (Steele, Lea, Flood, OOPSLA 2014), a bijection of 64-bit words in which every input bit changes every
//! output bit with probability close to one half.

use crate::ids::{FlowId, NodeId};
use incast_cc::Time;

/// Purposes of [`uniform`] draws. Two purposes never share a number.
pub mod purpose {
    /// Losses on links.
    pub const LOSS: u32 = 1;
    /// Early drops and marks of RED.
    pub const RED: u32 = 2;
    /// Placement: sources and destinations of flows.
    pub const PLACEMENT: u32 = 3;
    /// Random part of start times.
    pub const JITTER: u32 = 4;
    /// Engine of the host that a flow's packets take.
    pub const ENGINE: u32 = 5;
    /// Gaps between arrivals.
    pub const ARRIVAL: u32 = 6;
    /// Sizes of flows.
    pub const SIZE: u32 = 7;
    /// Order in which a round-robin switch visits its next hops.
    pub const ROUND_ROBIN: u32 = 8;
    /// Packet to trim: the arrival, or the last one in the queue.
    pub const TRIM: u32 = 20;
    /// Random drops of queues close to full.
    pub const RANDOM_DROP: u32 = 9;
    /// Entropy values of packets.
    pub const ENTROPY: u32 = 10;
    /// Losses of degraded links, and which links fail.
    pub const FAILURE: u32 = 11;
    /// Draws of an application, by flow.
    pub const APPLICATION: u32 = 12;
    /// Bit errors of radio frames.
    pub const RADIO_ERROR: u32 = 13;
    /// Backoffs and other delays of stations.
    pub const RADIO_BACKOFF: u32 = 14;
    /// Initial frame numbers of stations.
    pub const RADIO_NUMBER: u32 = 15;
    /// Paths and entropies of receiver-driven transports.
    pub const PATH: u32 = 17;
    /// Marks between two thresholds.
    pub const MARK: u32 = 18;
    /// Deadlines of flows.
    pub const DEADLINE: u32 = 19;
    /// Sizes of credits, and gaps between them.
    pub const CREDIT: u32 = 21;
    /// Shadowing between two stations.
    pub const SHADOWING: u32 = 16;
    /// Flow pacing after an echoed mark.
    pub const PACER: u32 = 22;
    /// Update times of a host's credit rate.
    pub const CORE_RATE: u32 = 23;
    /// Start of a host's epochs.
    pub const EPOCH: u32 = 24;
    /// Order in which a host divides its channels in a round of matching.
    pub const MATCHING: u32 = 25;
    /// Popularity of the receivers of an all-to-all.
    pub const SKEW: u32 = 26;
}

/// Mixes one word.
#[inline]
pub const fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Folds a further word into a mixed one.
#[inline]
const fn fold(h: u64, word: u64) -> u64 {
    mix(h ^ word)
}

/// ECMP hash of (flow, direction), salted by seed and switch. With `n` equal next hops the choice is [`pick`]`(h, n)`.
#[inline]
pub const fn ecmp(seed: u64, flow: FlowId, reverse: bool, node: NodeId) -> u64 {
    ecmp_salted(ecmp_salt(seed), flow, reverse, node)
}

/// Salt of [`ecmp`], from the seed.
pub const fn ecmp_salt(seed: u64) -> u64 {
    mix(seed ^ 0x4543_4d50)
}

/// [`ecmp`] with its salt given.
#[inline]
pub const fn ecmp_salted(salt: u64, flow: FlowId, reverse: bool, node: NodeId) -> u64 {
    fold(fold(salt, ((flow.0 as u64) << 1) | reverse as u64), node.0 as u64)
}

/// Random number of one packet at one switch: packet `id` of (flow, direction), fragment `part`, stamped `ts`. Two
/// packets of a flow differ in `id` or, 65,536 packets apart, in `ts`.
#[inline]
pub const fn spray(seed: u64, flow: FlowId, reverse: bool, id: u16, part: u8, ts: Time, node: NodeId) -> u64 {
    let packet = (flow.0 as u64) << 32 | (reverse as u64) << 31 | (part as u64) << 16 | id as u64;
    fold(fold(fold(mix(seed ^ 0x5350_5241), packet), ts.0), node.0 as u64)
}

/// Hash of (flow, direction, entropy), salted by seed and switch.
#[inline]
pub const fn entropy(seed: u64, flow: FlowId, reverse: bool, value: u16, node: NodeId) -> u64 {
    let packet = (flow.0 as u64) << 17 | (value as u64) << 1 | reverse as u64;
    fold(fold(mix(seed ^ 0x454e_5452), packet), node.0 as u64)
}

/// Chooses one of `n` (at least 1) by the upper half of a hash: multiplication, not division; bias below n / 2^32.
#[inline]
pub const fn pick(hash: u64, n: u32) -> u32 {
    (((hash >> 32) * n as u64) >> 32) as u32
}

/// Rank among arrivals at one instant. `entity` is the link.
#[inline]
pub const fn tie(seed: u64, entity: u64, time: Time) -> u32 {
    tie_salted(tie_salt(seed, entity), time)
}

/// Salt of [`tie`], from the seed and the entity.
#[inline]
pub const fn tie_salt(seed: u64, entity: u64) -> u64 {
    fold(mix(seed ^ 0x0054_4945), entity)
}

/// [`tie`] with its salt given.
#[inline]
pub const fn tie_salted(salt: u64, time: Time) -> u32 {
    (fold(salt, time.0) >> 32) as u32
}

/// 64 random bits for draw number `counter` of `entity`, for `purpose`.
#[inline]
pub const fn bits(seed: u64, purpose: u32, entity: u64, counter: u64) -> u64 {
    bits_salted(bits_salt(seed, purpose, entity), counter)
}

/// Salt of [`bits`], from everything but the counter.
#[inline]
pub const fn bits_salt(seed: u64, purpose: u32, entity: u64) -> u64 {
    fold(mix(seed ^ ((purpose as u64) << 32 | 0x5244)), entity)
}

/// [`bits`] with its salt given.
#[inline]
pub const fn bits_salted(salt: u64, counter: u64) -> u64 {
    fold(salt, counter)
}

/// A number in [0, 1), uniform over the multiples of 2^-53.
#[inline]
pub fn uniform(seed: u64, purpose: u32, entity: u64, counter: u64) -> f64 {
    (bits(seed, purpose, entity, counter) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mix_is_splitmix64() {
        // First outputs of splitmix64 from state 0 and 1234567 (published test values).
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn every_purpose_draws_by_a_number_of_its_own() {
        let numbers = include_str!("hash.rs").lines().filter_map(|line| line.trim().strip_prefix("pub const "));
        let numbers = numbers.filter_map(|line| line.split_once(": u32 = ")?.1.strip_suffix(';')?.parse().ok());
        let mut numbers: Vec<u32> = numbers.collect();
        let all = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert!(all > 20 && numbers.len() == all, "{all} purposes, {} numbers", numbers.len());
    }

    #[test]
    fn uniform_is_uniform() {
        let n = 100_000;
        let mut bins = [0u32; 20];
        for i in 0..n {
            let u = uniform(7, purpose::LOSS, 3, i);
            assert!((0.0..1.0).contains(&u));
            bins[(u * 20.0) as usize] += 1;
        }
        // chi-square with 19 degrees of freedom: 43.8 is its 99.9 % quantile.
        let expected = n as f64 / 20.0;
        let chi: f64 = bins.iter().map(|b| (*b as f64 - expected).powi(2) / expected).sum();
        assert!(chi < 43.8, "chi-square {chi}");
    }

    #[test]
    fn ecmp_spreads_and_switches_are_independent() {
        let flows = 40_000u32;
        let (mut first, mut both) = ([0u32; 4], [0u32; 16]);
        for flow in 0..flows {
            let a = pick(ecmp(1, FlowId(flow), false, NodeId(10)), 4);
            let b = pick(ecmp(1, FlowId(flow), false, NodeId(11)), 4);
            first[a as usize] += 1;
            both[(a * 4 + b) as usize] += 1;
        }
        // Five standard deviations of a binomial count.
        for (count, p) in first.iter().map(|c| (*c, 0.25)).chain(both.iter().map(|c| (*c, 0.0625))) {
            let sd = (flows as f64 * p * (1.0 - p)).sqrt();
            assert!((count as f64 - flows as f64 * p).abs() < 5.0 * sd, "{count} of {flows}");
        }
        assert_ne!(ecmp(1, FlowId(0), false, NodeId(10)), ecmp(1, FlowId(0), true, NodeId(10)));
        assert_ne!(ecmp(1, FlowId(0), false, NodeId(10)), ecmp(2, FlowId(0), false, NodeId(10)));
    }
}
