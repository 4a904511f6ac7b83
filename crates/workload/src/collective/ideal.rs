//! Ideal times: a latency a for each step and bytes at a rate B, without packets, headers or contention.

use super::method::{Algorithm, Method};
use super::parts::Parts;
use crate::evaluate::delay::Network;
use crate::graph::{Collective, Pattern};
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
/// all-reduce. `None` where no closed form is known: a double tree, an all-to-all at once or by NCCL's order, several
/// channels in chunks, a hierarchical all-reduce in chunks, a chain that reduces pieces by calculations.
///
/// Ring all-reduce: 2(n-1)(a + S/nB), with parts S/n rounded up to 16 B; in l loops of chunks 2(n-1)(l a + S/nB).
/// Reduce-scatter and all-gather half. Halving-doubling: 2 log2 n a + 2 S(n-1)/nB; recursive doubling
/// log2 n (a + S/B). Pairwise all-to-all with m = S/n a pair: (n-1)(a + m/B); with w rounds under way
/// ceil((n-1)/w) a + (n-1) m/B. Chain of q pieces: (n-2+q)(a + S/qB). Binomial tree: ceil(log2 n)(a + S/B).
/// Hierarchical with N servers of g: 2(g-1)(a1 + S/g B1) + 2(N-1)(a + S/gN B). With a rate of reduction, the bytes that
/// are reduced one after the other take their time beside these: (n-1) S/n of a ring.
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
    // time, and bytes that are reduced one after the other
    let (seconds, reduced) = match method.algorithm {
        Algorithm::Ring => {
            let (loops, part) = ring(method, n, bytes)?;
            (step.time_s(times * others * loops, times * others * part), others * part)
        }
        Algorithm::HalvingDoubling => {
            let half = s * others / members;
            (step.time_s(times * rounds, times * half), half)
        }
        Algorithm::RecursiveDoubling if pattern == Pattern::AllGather => {
            (step.time_s(rounds, s * others / members), 0.0)
        }
        Algorithm::RecursiveDoubling | Algorithm::Binomial => (step.time_s(rounds, rounds * s), rounds * s),
        Algorithm::Pairwise => (step.time_s(others, others * s / members), 0.0),
        Algorithm::Windowed => {
            (step.time_s((others / f64::from(method.window.max(1))).ceil(), others * s / members), 0.0)
        }
        Algorithm::Chain => {
            let pieces = method.chunk.map_or(1, |chunk| bytes.0.div_ceil(chunk.0.max(1))).max(1) as f64;
            if pieces > 1.0 && (method.channels > 1 || (pattern == Pattern::Reduce && method.reduce.is_some())) {
                return None;
            }
            let steps = members - 2.0 + pieces;
            (step.time_s(steps, steps * s / pieces), others * s)
        }
        Algorithm::Hierarchical => {
            if method.chunk.is_some() {
                return None;
            }
            let g = u64::from(method.server.max(1));
            let share = Parts::new(g, bytes.0, None).part(0, 0);
            let part = Parts::new(n / g, share, None).part(0, 0);
            // steps of half the time, and their bytes
            let (server, rail) = ((g - 1) as f64, (n / g) as f64 - 1.0);
            let (in_server, on_rail) = (server * share as f64, rail * part as f64);
            (inside.time_s(2.0 * server, 2.0 * in_server) + step.time_s(2.0 * rail, 2.0 * on_rail), in_server + on_rail)
        }
        Algorithm::Dissemination => (step.time_s(rounds, 0.0), 0.0),
        Algorithm::Tree | Algorithm::AtOnce | Algorithm::NcclGrouped => return None,
    };
    let reduces = matches!(pattern, Pattern::AllReduce | Pattern::ReduceScatter | Pattern::Reduce);
    let calculations = method.reduce.filter(|_| reduces).map_or(0.0, |rate| reduced * 8.0 / rate.as_f64());
    Some(Time::from_secs_f64(seconds + calculations))
}

/// Bound of the messages of a collective of n members, to the picosecond that of their expansion. `None` where it takes
/// an expansion: the closed form is that of rings of one channel, and of rounds, with messages of equal size, none of
/// which overtakes another.
pub fn known_bound(what: &Collective, method: &Method, n: u64, network: Network) -> Option<Time> {
    let others = n.saturating_sub(1);
    match method.algorithm {
        _ if n < 2 || method.credits > 0 || method.channels > 1 => None,
        // a message a step; half the steps of an all-reduce reduce it
        Algorithm::Ring => {
            let parts = Parts::new(n, what.bytes.0, method.chunk.map(|chunk| chunk.0));
            let last = parts.loops() - 1;
            if parts.part(last, 0) != parts.part(last, n - 1) {
                return None;
            }
            let reductions = if what.pattern == Pattern::AllGather { 0 } else { others };
            let steps = if what.pattern == Pattern::AllReduce { 2 * others } else { others };
            let reduce = |part: u64| method.reduce.map_or(Time::ZERO, |rate| rate.serialize(part));
            let time = |round: u64| {
                let part = parts.part(round, 0);
                let messages = network.message(Bytes(part)).saturating_mul(steps);
                messages.saturating_add(reduce(part).saturating_mul(reductions))
            };
            let full = if last > 0 { time(0).saturating_mul(last) } else { Time::ZERO };
            Some(full.saturating_add(time(last)))
        }
        Algorithm::Pairwise if what.sizes.is_none() && what.bytes.0 % n == 0 => {
            Some(network.message(Bytes(what.bytes.0 / n)).saturating_mul(others))
        }
        _ => None,
    }
}

/// Loops of a ring, and the bytes of its largest part in all of them. `None` with several channels in loops.
fn ring(method: &Method, n: u64, bytes: Bytes) -> Option<(f64, f64)> {
    let parts = Parts::new(n, bytes.0, method.chunk.map(|chunk| chunk.0));
    let loops = parts.loops();
    if method.channels > 1 && method.chunk.is_some() && loops > 1 {
        return None;
    }
    let last = parts.part(loops - 1, 0) as f64;
    let full = if loops > 1 { parts.part(0, 0) as f64 } else { 0.0 };
    Some((loops as f64, (loops - 1) as f64 * full + last))
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
