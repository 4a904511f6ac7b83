//! Ideal times: a latency a for each step and bytes at a rate B, without packets, headers or contention.

use super::method::{Algorithm, Method};
use crate::graph::Pattern;
use incast_cc::{Bytes, Rate, Time};

/// Latency and rate of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Latency a.
    pub latency: Time,
    /// Rate B.
    pub rate: Rate,
}

impl Step {
    /// Time of `steps` steps that move `bytes` in all, s.
    fn time_s(self, steps: f64, bytes: f64) -> f64 {
        steps * self.latency.as_secs_f64() + bytes * 8.0 / self.rate.as_f64()
    }
}

/// Ideal time of a collective of n members with S bytes in all; `inside` is a step in a server of a hierarchical
/// all-reduce. `None` where no closed form is known: a double tree, an all-to-all at once or by NCCL's order.
///
/// Ring all-reduce: 2(n-1)(a + S/nB); reduce-scatter and all-gather half. Halving-doubling: 2 log2 n a + 2 S(n-1)/nB;
/// recursive doubling log2 n (a + S/B). Pairwise all-to-all with m = S/n a pair: (n-1)(a + m/B); with w rounds under
/// way ceil((n-1)/w) a + (n-1) m/B. Chain of q pieces: (n-2+q)(a + S/qB). Binomial tree: ceil(log2 n)(a + S/B).
/// Hierarchical with N servers of g: 2(g-1)(a1 + S/g B1) + 2(N-1)(a + S/gN B).
pub fn ideal(pattern: Pattern, method: &Method, n: u64, bytes: Bytes, step: Step, inside: Step) -> Option<Time> {
    let s = bytes.0 as f64;
    let members = n as f64;
    let rounds = f64::from(n.max(1).next_power_of_two().ilog2());
    let half = matches!(pattern, Pattern::ReduceScatter | Pattern::AllGather);
    let times = if half { 1.0 } else { 2.0 };
    if n < 2 {
        return Some(Time::ZERO);
    }
    let others = members - 1.0;
    let seconds = match method.algorithm {
        Algorithm::Ring => step.time_s(times * others, times * others * s / members),
        Algorithm::HalvingDoubling => step.time_s(times * rounds, times * s * others / members),
        Algorithm::RecursiveDoubling if pattern == Pattern::AllGather => step.time_s(rounds, s * others / members),
        Algorithm::RecursiveDoubling | Algorithm::Binomial => step.time_s(rounds, rounds * s),
        Algorithm::Pairwise => step.time_s(others, others * s / members),
        Algorithm::Windowed => step.time_s((others / f64::from(method.window.max(1))).ceil(), others * s / members),
        Algorithm::Chain => {
            let pieces = method.chunk.map_or(1, |chunk| bytes.0.div_ceil(chunk.0.max(1))).max(1) as f64;
            let steps = members - 2.0 + pieces;
            step.time_s(steps, steps * s / pieces)
        }
        Algorithm::Hierarchical => {
            let g = f64::from(method.server.max(1));
            let servers = members / g;
            let rail = 2.0 * (servers - 1.0);
            let server = 2.0 * (g - 1.0);
            inside.time_s(server, server * s / g) + step.time_s(rail, rail * s / members)
        }
        Algorithm::Dissemination => step.time_s(rounds, 0.0),
        Algorithm::Tree | Algorithm::AtOnce | Algorithm::NcclGrouped => return None,
    };
    Some(Time::from_secs_f64(seconds))
}

/// Ideal time of an incast of n-1 messages of m bytes: a + (n-1) m/B.
pub fn incast(n: u64, bytes: Bytes, step: Step) -> Time {
    Time::from_secs_f64(step.time_s(1.0, n.saturating_sub(1) as f64 * bytes.0 as f64))
}

/// Factor of the bus bandwidth: busbw = factor S / t (NVIDIA/nccl-tests a0b82b2, `doc/PERFORMANCE.md`), with S the
/// total: n times the shard of an all-gather or a reduce-scatter.
pub fn bus_factor(pattern: Pattern, n: u64) -> f64 {
    let part = n.saturating_sub(1) as f64 / n.max(1) as f64;
    match pattern {
        Pattern::AllReduce => 2.0 * part,
        Pattern::ReduceScatter | Pattern::AllGather | Pattern::AllToAll => part,
        Pattern::Broadcast | Pattern::Reduce => 1.0,
        Pattern::Barrier => 0.0,
    }
}
