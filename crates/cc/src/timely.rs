//! TIMELY: a rate that follows the gradient of the round-trip time (Mittal et al., SIGCOMM 2015,
//! algorithm 1).
//!
//! ```text
//! rtt_diff = (1 - alpha) rtt_diff + alpha (rtt - previous rtt);  gradient = rtt_diff / min_rtt
//! rtt < t_low:    rate += delta
//! rtt > t_high:   rate *= 1 - beta (1 - t_high / rtt)
//! gradient <= 0:  rate += N delta,  N = hai from the hai_threshold-th such event in a row, else 1
//! otherwise:      rate *= 1 - beta gradient
//! ```
//!
//! once for each completion event. The sender paces; only a loose bound limits the bytes in flight. The thresholds of
//! the paper belong to 10 Gb/s and an idle round trip of 20 us; thresholds not given keep the paper's proportions to
//! those given, or to the idle round trip of the flow's path.

use crate::paced_rate::PacedRate;
use crate::registry::{Kind, ParamSet};
use crate::units::ps;
use crate::{Ack, Congestion, Controller, Env, Pacing, Profile, Time, Timeout};

choice! {
    /// Definition of a completion event.
    Completion {
        /// All data outstanding at the latest event is acknowledged.
        Rtt = "rtt",
        /// `segment` bytes were acknowledged.
        Segment = "segment",
    }
}

choice! {
    /// Event that counts towards hyperactive increases.
    Counts {
        /// A round trip that does not rise.
        Falls = "falls",
        /// An increase.
        Increases = "increases",
    }
}

params! {
    form of {
        /// Thresholds and segments of the paper's experiments at 10 Gb/s.
        "paper" = "Mittal et al., SIGCOMM 2015, sections 4 and 6" {
            min_rtt = "20us", t_low = "50us", t_high = "500us", completion = "segment"
        }
        /// The simulator of HPCC's authors: the paper's thresholds, an event a round trip, and hyperactive increases
        /// after five increases in a row.
        "authors" = "alibaba-edu/High-Precision-Congestion-Control, mode 7" {
            min_rtt = "20us", t_low = "50us", t_high = "500us", counts = "increases", min_rate = "0.01",
            max_cwnd = "1000000.0"
        }
    }
    /// Gain of the moving average of RTT differences.
    alpha: f64 = "0.875", "", "the paper's experiments; the authors of HPCC use it too",
        "a number above 0, at most 1" =>
        |x| *x > 0.0 && *x <= 1.0;
    /// Multiplicative decrease.
    beta: f64 = "0.8", "", "section 4.4", "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Additive increase per completion event.
    delta: f64 = "0.001", "of the line rate", "section 6: 10 Mb/s at 10 Gb/s", "a number above 0, at most 1" =>
        |x| *x > 0.0 && *x <= 1.0;
    /// RTT below which the rate rises for any gradient; auto is a tenth of t_high, or 2.5 min_rtt if both are auto.
    t_low: Option<Time> = "auto", "", "own choice; the paper 50us";
    /// RTT above which the rate is reduced for any gradient; auto is ten times t_low, or 25 min_rtt if both are auto.
    t_high: Option<Time> = "auto", "", "own choice; the paper 500us";
    /// Round-trip time that normalises the gradient; auto is the idle round-trip time of the flow's path.
    min_rtt: Option<Time> = "auto", "", "own choice; the paper 20us";
    /// Number of consecutive events without a rising RTT after which the rate rises hyperactively.
    hai_threshold: u32 = "5", "events", "section 4.4", "a whole number of at least 1" => |n| *n >= 1;
    /// Event that counts towards `hai_threshold`: a round-trip time that "falls", or does not rise, or an increase,
    /// also below t_low ("increases").
    counts: Counts = "falls", "", "section 4.4; simulator of HPCC's authors: increases";
    /// Increase at each hyperactive event.
    hai: f64 = "5.0", "delta", "section 4.4: N", "a number of at least 1" => |x| *x >= 1.0;
    /// Definition of a completion event: "rtt", all data outstanding at the latest event is acknowledged, or
    /// "segment", that many bytes are.
    completion: Completion = "rtt", "", "simulator of HPCC's authors, mode 7; the paper has segments";
    /// Bytes of a segment.
    segment: u32 = "64000", "bytes", "section 5: segments of 16 to 64 kB",
        "a whole number of at least 1" => |n| *n >= 1;
    /// Rate at which a flow starts.
    initial_rate: f64 = "1.0", "of the line rate", "simulator of HPCC's authors; the paper divides by the host's flows",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Smallest rate.
    min_rate: f64 = "0.001", "of the line rate", "own choice: delta", "a number above 0, at most 1" =>
        |x| *x > 0.0 && *x <= 1.0;
    /// Largest number of packets in flight.
    max_cwnd: f64 = "1000.0", "packets", "own choice; the paper has no window",
        "a number of at least 1" => |x| *x >= 1.0;
    together {
        "min_rate": "at most initial_rate" => |p| p.min_rate <= p.initial_rate;
        "t_low": "below t_high" => |p| match (p.t_low, p.t_high) {
            (Some(low), Some(high)) => low < high,
            _ => true,
        };
        "t_low": "above 0" => |p| p.t_low != Some(Time::ZERO);
        "min_rtt": "above 0" => |p| p.min_rtt != Some(Time::ZERO);
    }
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "timely",
    title: "TIMELY",
    source: "Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015, section 4",
    what: "Paces at a rate that rises while the round-trip time falls and falls in proportion to its gradient while it \
           rises.",
    differences: &[
        "t_low, t_high and min_rtt default to the paper's proportions of the path's idle round-trip time; the paper's \
         values are form = \"paper\".",
        "A completion event is a round trip of ACKs, not a segment of 16 to 64 kB; completion = \"segment\" counts \
         bytes.",
        "Events without a rising RTT count towards hai_threshold, as in the paper, also those beyond the thresholds; \
         the simulator of HPCC's authors counts every increase, and increases below t_low may be hyperactive too.",
        "The rate is a share of the line's and counts payload; the paper counts whole frames.",
        "A flow starts at the line rate; the paper starts it at the line rate over the host's active flows and one \
         more.",
        "Losses and timeouts do not change the rate: the paper's fabric is lossless, and the transport repairs losses.",
        "The factor of a decrease is floored at 0 and the rate at min_rate; the paper names neither.",
    ],
    state: &[
        ("pacing_rate_bps", "rate, bits per second of payload"),
        ("gradient", "normalized gradient of the RTT at the latest completion event"),
    ],
    profile: Profile { own_recovery: true, ack_every_packet: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// A TIMELY sender. Rates in bits per second, times in picoseconds as real numbers.
#[derive(Clone, Debug)]
pub struct Timely {
    rate: PacedRate,
    /// RTT of the previous event; unknown before the first.
    prev_rtt: Option<f64>,
    rtt_diff: f64,
    gradient: f64,
    /// Number of consecutive events that count towards hyperactive increases.
    falling: u32,
    /// Bytes acknowledged since the latest event, and the end of the next one.
    acked: u64,
    event_end: u64,
    min_rtt: f64,
    t_low: f64,
    t_high: f64,
    alpha: f64,
    beta: f64,
    /// Bits per second.
    delta: f64,
    hai_threshold: u32,
    hai: f64,
    counts: Counts,
    /// 0 if events are round trips.
    segment: u32,
}

impl Timely {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Timely {
        let rate = PacedRate::new(params.initial_rate, params.min_rate, params.max_cwnd, env);
        // a path without latency still has a gradient
        let min_rtt = params.min_rtt.map_or(ps(env.base_rtt), ps).max(1.0);
        let (t_low, t_high) = match (params.t_low.map(ps), params.t_high.map(ps)) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, 10.0 * low),
            (None, Some(high)) => (high / 10.0, high),
            (None, None) => (2.5 * min_rtt, 25.0 * min_rtt),
        };
        Timely {
            delta: params.delta * rate.line(),
            rate,
            prev_rtt: None,
            rtt_diff: 0.0,
            gradient: 0.0,
            falling: 0,
            acked: 0,
            event_end: 0,
            min_rtt,
            t_low,
            t_high,
            alpha: params.alpha,
            beta: params.beta,
            hai_threshold: params.hai_threshold,
            hai: params.hai,
            counts: params.counts,
            segment: match params.completion {
                Completion::Rtt => 0,
                Completion::Segment => params.segment,
            },
        }
    }

    /// Algorithm 1.
    fn completed(&mut self, rtt: f64) {
        let Some(prev_rtt) = self.prev_rtt.replace(rtt) else { return };
        self.rtt_diff = (1.0 - self.alpha) * self.rtt_diff + self.alpha * (rtt - prev_rtt);
        self.gradient = self.rtt_diff / self.min_rtt;
        let rate = self.rate.get();
        if self.counts == Counts::Increases {
            let increases = rtt < self.t_low || (rtt <= self.t_high && self.gradient <= 0.0);
            let n = if self.falling >= self.hai_threshold { self.hai } else { 1.0 };
            self.falling = if increases { self.falling.saturating_add(1) } else { 0 };
            if increases {
                return self.rate.set(rate + n * self.delta);
            }
        } else {
            self.falling = if self.gradient <= 0.0 { self.falling.saturating_add(1) } else { 0 };
        }
        self.rate.set(if rtt < self.t_low {
            rate + self.delta
        } else if rtt > self.t_high {
            rate * (1.0 - self.beta * (1.0 - self.t_high / rtt))
        } else if self.gradient <= 0.0 {
            let n = if self.falling >= self.hai_threshold { self.hai } else { 1.0 };
            rate + n * self.delta
        } else {
            rate * (1.0 - self.beta * self.gradient).max(0.0)
        });
    }
}

impl Controller for Timely {
    fn on_ack(&mut self, ack: &Ack) {
        self.acked += ack.delivered;
        let completes = match self.segment {
            0 => ack.round.is_past(self.event_end),
            bytes => self.acked >= u64::from(bytes),
        };
        let Some(rtt) = ack.fabric_delay.filter(|_| completes) else { return };
        self.acked = 0;
        self.event_end = ack.round.sent;
        self.completed(rtt.0 as f64);
    }

    fn on_loss(&mut self, _event: &Congestion) {}

    fn on_timeout(&mut self, _event: &Timeout) {}

    #[inline]
    fn cwnd(&self) -> f64 {
        self.rate.cwnd()
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        self.rate.pacing()
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("pacing_rate_bps", self.rate.get());
        visit("gradient", self.gradient);
    }
}
