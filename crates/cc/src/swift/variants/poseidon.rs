//! Poseidon: Swift's window, raised and cut by the largest delay of a single hop (Wang et al., NSDI 2023).
//!
//! ```text
//! T(r) = p (ln r_max - ln r) / (ln r_max - ln r_min) + k,   r = cwnd / rtt
//! U    = exp((T(r) - mpd) / p * (ln r_max - ln r_min) * m)
//! mpd <= T:           cwnd *= 1 + (U - 1) n / cwnd   (an ACK of n packets)
//! else, once an RTT:  cwnd *= max(U, 1 - max_mdf)
//! ```
//! `mpd` is the longest wait at one hop: bytes queued before the packet over the rate of the port, from the stamps
//! that ports leave (telemetry); with `feedback = "median"` the median of the last such waits ([`crate::median`]).
//! The target falls as the rate rises, so among the flows of a queue the faster yield to the slower, and a flow
//! yields only at its most congested hop. Losses, timeouts and windows below one packet are Swift's
//! ([`crate::swift`]).

use crate::median::{self, Median};
use crate::registry::{Kind, ParamSet};
use crate::swift::sender::{DelaySignal, Family, Judgement};
use crate::swift::window::{self, Verdict};
use crate::units::ps;
use crate::{Ack, Env, Hop, Profile, Time};
use alloc::boxed::Box;
use core::mem::replace;

params! {
    /// Difference of the targets at the smallest and the largest rate.
    p: Time = "40us", "", "Clark5/Poseidon, commit 6e3917b, and two other codes; the first measures bytes",
        "a time above 0 with a unit, such as \"40us\"" => |t| *t > Time::ZERO;
    /// Target of a flow at the largest rate: the queue that one flow alone keeps.
    k: Time = "2us", "", "the same";
    /// Strength of the reaction to the distance from the target.
    m: f64 = "0.25", "", "the same", "a number above 0" => |x| *x > 0.0;
    /// Largest rate r_max, of payload; none is the rate of the sender's link. All flows of a fabric need the same
    /// value.
    max_rate: Option<f64> = "none", "Mb/s", "Clark5/Poseidon: 100 Gb/s where links have that",
        "\"none\" or a number above 0" => |x| x.is_none_or(|x| x > 0.0);
    /// Ratio of the largest to the smallest rate, r_max / r_min.
    rate_range: f64 = "100.0", "", "Clark5/Poseidon, its run line: 1 Gb/s at 100 Gb/s",
        "a number above 1" => |x| *x > 1.0;
    /// Largest factor U of an ACK.
    max_factor: Option<f64> = "2.5", "", "Clark5/Poseidon; the equations have none",
        "\"none\" or a number above 1" => |x| x.is_none_or(|x| x > 1.0);
    then ..median: median::Params;
    then ..window: window::Params {
        !ai; !beta; !decrease_clock; !counts; !arithmetic;
        max_mdf = "0.5", "kalsasdf/HiNA-DCN_INET, commit ee6e27d; not verified in the paper";
    };
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "poseidon",
    title: "Poseidon",
    source: "Wang et al., Poseidon: Efficient, Robust, and Practical Datacenter CC via Deployable INT, NSDI 2023; \
             Clark5/Poseidon",
    what: "Swift's window, changed by the longest wait at a single hop, by stamps that ports leave on packets, against \
           a target that falls as the rate rises.",
    differences: &[
        "A port stamps a packet at its arrival, with the bytes queued before it: the wait is their transmission time \
         at its rate. The NIC's port stamps too.",
        "Up to six ports stamp a packet, and a flow of a longer path is refused; stamps do not enlarge packets. In the \
         paper a packet carries only the largest wait.",
        "p and k are times, as in the paper; the authors' public simulator has bytes, which mean different targets on \
         links of different rates.",
        "The increase of an ACK is at most U - 1 of the window: below one packet the printed equation gives n / cwnd \
         times that.",
        "The rate r is the window over the latest round-trip time, and T is not bounded by r_min: a slower flow has a \
         higher target than p + k.",
        "feedback = \"median\" compares the median of the last waits with the target of the latest ACK, as Gerstein et \
         al. (arXiv 2025, section III) propose and do not evaluate.",
        "Losses, timeouts and pacing below one packet are Swift's.",
    ],
    state: &[
        ("target_delay_s", "target T of the latest ACK, seconds"),
        ("fabric_delay_s", "fabric delay of the latest ACK, seconds (the target is compared with the longest wait)"),
        ("hop_delay_s", "longest wait at a single hop in the latest stamps, seconds"),
    ],
    profile: Profile { own_recovery: true, ack_every_packet: true, telemetry: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// Longest wait at a hop against a target by the rate. Times in picoseconds.
#[derive(Clone, Debug)]
pub struct LongestHop {
    /// `ln(r_max / r)` is the logarithm of this value times rtt over the window in packets.
    packets_a_ps: f64,
    /// `p / ln(r_max / r_min)`.
    slope: f64,
    k: f64,
    m: f64,
    max_factor: f64,
    /// Longest wait in the stamps of the current ACK; not a number without stamps.
    heard: f64,
    /// Longest wait in the latest stamps.
    wait: f64,
    median: Option<Box<Median>>,
}

impl DelaySignal for LongestHop {
    fn hear(&mut self, hops: &[Hop]) {
        let wait = |hop: &Hop| hop.queue.0 as f64 * 8e12 / hop.rate.as_f64();
        self.heard = hops.iter().map(wait).fold(0.0, f64::max);
        self.wait = self.heard;
    }

    fn judge(&mut self, ack: &Ack, _delay: f64, fcwnd: f64, _beta: f64) -> Judgement {
        let mut heard = replace(&mut self.heard, f64::NAN);
        if let Some(median) = &mut self.median
            && !heard.is_nan()
        {
            heard = median.hear(heard, fcwnd);
        }
        let rtt = ps(ack.rtt.unwrap_or(Time::ZERO)).max(1.0);
        let target = self.slope * libm::log(self.packets_a_ps * rtt / fcwnd) + self.k;
        let verdict = if heard.is_nan() {
            Verdict::Hold
        } else {
            let factor = libm::exp((target - heard) / self.slope * self.m).min(self.max_factor);
            if heard <= target { Verdict::Raise(factor - 1.0) } else { Verdict::Cut(1.0 - factor) }
        };
        Judgement { verdict, target }
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("hop_delay_s", self.wait * 1e-12);
    }
}

/// A Poseidon sender.
pub type Poseidon = Family<LongestHop>;

impl Poseidon {
    /// A new flow; it begins with what its link sends in an idle round trip.
    pub fn new(p: &Params, env: &Env) -> Poseidon {
        let max_rate = p.max_rate.map_or(env.line_rate.as_f64(), |mbps| mbps * 1e6);
        let rule = LongestHop {
            packets_a_ps: max_rate / 8e12 / f64::from(env.mss),
            slope: ps(p.p) / libm::log(p.rate_range),
            k: ps(p.k),
            m: p.m,
            max_factor: p.max_factor.unwrap_or(f64::MAX),
            heard: f64::NAN,
            wait: f64::NAN,
            median: p.median.filter(),
        };
        let initial_window = env.line_rate.as_f64() * ps(env.base_rtt) / 8e12;
        Family::start(rule, &p.window, None, &Env { initial_window, ..*env })
    }
}
