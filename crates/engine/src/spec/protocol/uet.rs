//! Parameters of UET.

use super::facts::Facts;
use incast_cc::Time;

/// UET (Ultra Ethernet).
#[derive(Clone, PartialEq, Debug)]
pub struct Uet {
    /// NSCC: window-based control at the sender.
    pub window: bool,
    /// RCCC: credit-based control at the receiver. At least one of `window` and `credit` is set.
    pub credit: bool,
    /// Round-trip time of the fabric; `None`: the unloaded round-trip time of each pair of hosts.
    pub rtt: Option<Time>,
    /// Queueing delay target of NSCC; `None`: three quarters of `rtt`, or `rtt` where queues do not trim.
    pub target_delay: Option<Time>,
    /// Credit rate of a host as a share of its link's rate, above 0 and at most 1.
    pub pull_rate: f64,
    /// Number of received bytes after which an ACK is due.
    pub ack_bytes: u64,
    /// Entropy selection per packet.
    pub spread: Spread,
    /// Number of entropies per flow, a power of two up to 2^15.
    pub entropies: u32,
    /// With `credit`: ratio of host capacity to core capacity, at least 1. Above 1, hosts lower their credit rate when
    /// the core trims or marks packets.
    pub oversubscription: f64,
    /// SLEEK, with `window`: loss detection by out-of-order arrivals and by probes.
    pub sleek: bool,
    /// uet-htsim's variant of UET: trimmed packets request no credit, requests repeat the last pull target, and flows
    /// whose demand is met still receive credit.
    pub htsim: bool,
}

impl Uet {
    /// Minimum round-trip time of a fabric with an oversubscribed core: hosts adapt once per 1.5 round trips.
    pub const MIN_RTT: Time = Time::ns(100);
}

/// Entropy selection of a UET sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// Round robin over all entropies.
    Oblivious,
    /// Round robin over all entropies; entropies with marks, trims or losses are skipped for a time.
    Bitmap,
    /// Recycled entropies (REPS): a ring of entropies returned without a mark, each used once.
    Reps,
    /// Entropies returned without a mark, each used once in order; without any, as `Bitmap`.
    Mixed,
}

impl Uet {
    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts {
            control: Some(match (self.window, self.credit) {
                (true, true) => "nscc+rccc",
                (_, true) => "rccc",
                _ => "nscc",
            }),
            data_slot_period: 11,
            needs_trimming: true,
            works_without_trimming: true,
            refuses_trimming: self.sleek,
            has_pulls: self.credit,
            ..Facts::of("uet")
        }
    }
}
