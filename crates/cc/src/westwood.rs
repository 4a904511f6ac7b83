//! TCP Westwood: NewReno that sets its window after a loss by the bandwidth estimated from its ACKs (Casetti, Gerla,
//! Mascolo, Sanadidi and Wang, Wireless Networks 8, 2002).
//!
//! The estimate is section 2.2 of the paper ([`crate::bandwidth`]), its use after a loss section 3; the window grows
//! as Reno's ([`crate::reno_window`]). Westwood+ ([`crate::westwood_plus`]) is the same with other samples.

use crate::bandwidth::{Estimate, Filter, MinOf, Sampling, Settings};
use crate::registry::{Kind, ParamSet};
use crate::reno_window::{self, Arithmetic, Halve, RenoWindow, by_window};
use crate::{Ack, Congestion, Controller, Env, Profile, Time, Timeout};

choice! {
    /// Use of the bandwidth at a loss.
    AtLoss {
        /// ssthresh becomes the bandwidth times the shortest round trip, and limits the window.
        Bound = "bound",
        /// Both become that product.
        Set = "set",
        /// Linux: the window is halved; both become that product when the recovery ends.
        Recovered = "recovered",
    }
}

choice! {
    /// Number format of the bandwidth.
    Rates {
        /// Whole bits per second where the window's arithmetic is whole, else real numbers.
        Window = "window",
        /// Real numbers.
        Real = "real",
    }
}

params! {
    form of {
        /// Whole bytes, segments and bits per second; round trips are smoothed ones.
        "ns3" = "ns-3.36 and 3.37, TcpWestwood (src/internet/model/tcp-westwood.cc)" {
            filter = "tustin", at_loss = "set", min_of = "srtt", arithmetic = "whole"
        }
        /// The same with bandwidths in real numbers. The whole advance of an ACK that repairs a timeout counts,
        /// SACKed before or not: after each timeout the bandwidth is too high.
        "ns3-35" = "ns-3.35, TcpWestwood and TcpSocketBase (src/internet/model)" {
            filter = "tustin", at_loss = "set", min_of = "srtt", arithmetic = "whole",
            rates = "real", repairs = "advance"
        }
        /// Samples of 50 ms and more in whole ticks; a loss halves the window, and the bandwidth sets the window when
        /// the recovery ends.
        "linux" = "Linux 6.1, net/ipv4/tcp_westwood.c" {
            sampling = "ticks", filter = "eighths", at_loss = "recovered", slow_start_per = "segments",
            avoidance = "bytes", arithmetic = "segments", timeouts = "once", idle = "decay"
        }
    }
    /// Definition of a sample of the bandwidth: "ack" the bytes newly reported by an ACK over the time since the
    /// previous ACK, "rtt" the bytes reported in a round trip over its time, "scheduled" the bytes reported in one
    /// smoothed round-trip time from the first ACK after a sample, "ticks" the bytes reported in a window longer than
    /// the latest round trip and than 50 ms, in whole ticks.
    sampling: Sampling = "ack", "", "paper, section 2.1; Linux has ticks";
    /// Averaging of samples: "interval" by a first-order low-pass filter with the samples' intervals, "tustin" by the
    /// same with a coefficient of 0.9, "first-order" 0.9 of the average and 0.1 of the sample, "eighths" by 7/8 and
    /// 1/8, twice, "none" not at all.
    filter: Filter = "interval", "", "paper, section 2.2; ns-3 has tustin and none, Linux eighths";
    /// Time constant of the filter "interval".
    tau: Time = "500ms", "", "Westwood's paper, section 2.2", "a time above 0"
        => |x| *x > Time::ZERO && *x < Time::NEVER;
    /// Clock of the samples "ticks".
    tick: Time = "1ms", "", "Linux with HZ = 1000", "a time above 0" => |x| *x > Time::ZERO && *x < Time::NEVER;
    /// Effect of a loss, with the product of the bandwidth and the shortest round trip: "bound" sets ssthresh to it
    /// and limits the window by it, "set" sets both to it, "recovered" halves the window and sets both when the
    /// recovery ends.
    at_loss: AtLoss = "bound", "", "paper, section 3.1; ns-3 has set, Linux recovered";
    /// Round trips whose minimum is the shortest: the samples ("rtt"), or the smoothed RTT ("srtt").
    min_of: MinOf = "rtt", "", "paper, section 3; ns-3 has srtt";
    /// Number format of the bandwidth: whole bits per second if the "window" is whole (arithmetic), or "real".
    rates: Rates = "window", "", "ns-3.36 and later; ns-3.35 has real";
    then ..window: reno_window::Params {
        floor = "2.0", "paper, section 3.2", "a number of at least 1" => |x| *x >= 1.0;
        arithmetic = "real", "own choice; ns-3 counts whole segments and bytes, Linux segments";
        timeouts = "first",
            "RFC 5681 section 3.1; Linux once; ns-3 takes every one, which finds the same estimate";
    };
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "westwood",
    title: "Westwood",
    source: "Casetti, Gerla, Mascolo, Sanadidi and Wang, TCP Westwood: end-to-end congestion control for \
             wired/wireless networks, Wireless Networks 8, 2002, sections 2 and 3",
    what: "NewReno that after a loss sets its window to the product of the bandwidth estimated from its ACKs and the \
           shortest round trip.",
    differences: &[
        "Bytes that SACK reports count when they are reported; the paper counts duplicates as a segment each and \
         corrects that at the next cumulative ACK. Without SACK the bytes behind duplicates count when they are \
         acknowledged.",
        "ACKs at one instant make one sample with the next; the paper would divide by zero, ns-3 aborts.",
        "The first ACK begins the first sample; Linux and ns-3 begin it with the connection and with the run.",
        "A duplicate that reveals a loss is already part of the estimate; in ns-3 it counts only afterwards.",
        "Fast recovery itself belongs to the transport (transport.recovery).",
    ],
    state: &[
        ("bandwidth_bps", "averaged bandwidth, bits per second of payload"),
        ("min_rtt_s", "shortest round trip, seconds"),
    ],
    profile: Profile::TCP,
    params: Params::PARAMS,
};

/// A Westwood sender.
#[derive(Clone, Debug)]
pub struct Westwood {
    window: RenoWindow,
    estimate: Estimate,
    at_loss: AtLoss,
    whole: bool,
    recovering: bool,
}

impl Westwood {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Westwood {
        let whole = params.window.arithmetic == Arithmetic::Whole;
        let Params { sampling, filter, min_of, tau, tick, rates, .. } = *params;
        Westwood {
            window: RenoWindow::new(env, params.window, Halve::Cwnd),
            estimate: Estimate::new(Settings {
                sampling,
                filter,
                min_of,
                tau,
                tick,
                whole: whole && rates == Rates::Window,
                from_zero: whole,
            }),
            at_loss: params.at_loss,
            whole,
            recovering: false,
        }
    }
}

impl Controller for Westwood {
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if self.whole {
            let segments = self.window.whole_segments(ack);
            self.estimate.on_ack(ack, self.window.whole_bytes(ack, segments));
            self.window.grow_whole(ack, segments);
        } else {
            self.estimate.on_ack(ack, ack.delivered);
            self.window.grow(ack);
        }
    }

    fn on_loss(&mut self, event: &Congestion) {
        self.on_ecn(event);
        self.recovering = true;
    }

    /// Section 3.1, for a loss or a mark in its place.
    fn on_ecn(&mut self, event: &Congestion) {
        self.estimate.advance(event.now);
        let carried = self.estimate.product();
        match self.at_loss {
            AtLoss::Bound => self.window.bound(carried),
            AtLoss::Set => self.window.reduce(carried),
            AtLoss::Recovered => {
                let half = self.window.half(event.in_flight, event.window);
                self.window.reduce(half);
            }
        }
        self.recovering = false;
    }

    /// Section 3.2.
    fn on_timeout(&mut self, event: &Timeout) {
        self.estimate.advance(event.now);
        let carried = self.estimate.product();
        let lowered = self.window.restart(event, carried);
        if lowered && self.at_loss == AtLoss::Recovered {
            self.estimate.forget_shortest();
        }
        self.recovering = false;
    }

    fn on_recovered(&mut self, _now: Time, _in_flight: u64) {
        if core::mem::take(&mut self.recovering) {
            self.window.recovered();
        }
        if self.at_loss == AtLoss::Recovered {
            self.window.settle(self.estimate.product());
        }
    }

    fn on_undo(&mut self) {
        self.window.undo();
    }

    by_window!();

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("bandwidth_bps", self.estimate.rate());
        visit("min_rtt_s", self.estimate.shortest().map_or(f64::NAN, Time::as_secs_f64));
    }
}
