//! TCP Vegas: a window that keeps a few of its segments in queues, estimated from round trips (Brakmo and Peterson,
//! IEEE JSAC 13(8), 1995).
//!
//! Once a round trip the sender compares its actual rate with the rate its window would have without a queue, section
//! 3.2; slow start ends by the same comparison, section 3.3. The early retransmissions of section 3.1 belong to the
//! transport. Slow start's growth and the reductions are shared with NewReno ([`crate::reno_window`]).

use crate::registry::{Kind, ParamSet};
use crate::reno_window::{self, Arithmetic, Halve, RenoWindow, by_window};
use crate::{Ack, Congestion, Controller, Env, Phase, Profile, Time, Timeout};

choice! {
    /// Round trip used in the comparison.
    RttOf {
        /// Round trip of one segment, the first sent in the round trip.
        Segment = "segment",
        /// The shortest of the round trip.
        Least = "least",
    }
}

choice! {
    /// Number of excess segments in the window.
    Diff {
        /// Difference of the rates times the shortest round trip: W (1 - base / rtt).
        Rate = "rate",
        /// W (rtt - base) / base.
        Excess = "excess",
    }
}

choice! {
    /// ACK that ends a round trip.
    RoundEnd {
        /// The first ACK of data sent after the beginning of the round trip.
        Beyond = "beyond",
        /// The ACK of all data sent before the beginning of the round trip.
        At = "at",
    }
}

choice! {
    /// Window at the end of slow start.
    SlowStartEnd {
        /// Unchanged.
        Stay = "stay",
        /// At most the path's capacity without a queue, plus a segment.
        Fit = "fit",
    }
}

choice! {
    /// Window after a loss.
    AtLoss {
        /// A share of the window.
        Share = "share",
        /// The window minus a segment, or the threshold if that is less.
        Segment = "segment",
    }
}

choice! {
    /// Start of the time over which the shortest round trip is taken.
    BaseSince {
        /// Opening of the connection.
        Opening = "opening",
        /// Latest time with nothing in flight.
        Empty = "empty",
    }
}

params! {
    form of {
        /// Whole segments; the shortest of at least three samples; doubles each round trip; halves at a loss.
        "linux" = "Linux 6.1, net/ipv4/tcp_vegas.c" {
            rtt_of = "least", samples = "3", diff = "excess", double_every = "1", slow_start_end = "fit",
            loss_leaves = "0.5", base_since = "empty", slow_start_per = "segments", avoidance = "bytes",
            arithmetic = "segments", timeouts = "once", idle = "decay"
        }
        /// Whole segments; the shortest of at least three samples; doubles each round trip; a loss takes a segment.
        "ns3" = "ns-3.43, TcpVegas (src/internet/model/tcp-vegas.cc)" {
            rtt_of = "least", samples = "3", double_every = "1", slow_start_end = "fit", round_ends = "at",
            at_loss = "segment", arithmetic = "whole", timeouts = "every"
        }
    }
    /// Segments in queues below which the window grows.
    alpha: f64 = "2.0", "segments", "section 4, Vegas-2,4; Linux; ns-3", "a number above 0" => |x| *x > 0.0;
    /// Segments in queues above which the window shrinks.
    beta: f64 = "4.0", "segments", "section 4, Vegas-2,4; Linux; ns-3", "a number above 0" => |x| *x > 0.0;
    /// Segments in queues above which slow start ends.
    gamma: f64 = "1.0", "segments", "Linux; ns-3", "a number of at least 0" => |x| *x >= 0.0;
    /// Round trip compared with the shortest of all: that of one "segment", the first sent in the round trip, or the
    /// "least" of all samples.
    rtt_of: RttOf = "segment", "", "section 3.2; Linux and ns-3 have least";
    /// Samples of a round trip needed for a decision; with fewer its last ACK grows the window as NewReno's.
    samples: u32 = "1", "", "section 3.2; Linux and ns-3 have 3", "a whole number of at least 1" => |x| *x >= 1;
    /// Excess segments in a window W: "rate" for W (1 - base / rtt), the difference of the rates times the shortest
    /// round trip, "excess" for W (rtt - base) / base.
    diff: Diff = "rate", "", "section 3.2; Linux has excess";
    /// ACK that ends a round trip: the first "beyond" the data sent before its beginning, or the one "at" the end of
    /// that data.
    round_ends: RoundEnd = "beyond", "", "section 3.2; Linux; ns-3 has at";
    /// Number of round trips in which slow start doubles the window once. The window stays fixed in the others, and
    /// the last of them is compared.
    double_every: u32 = "2", "round trips", "section 3.3; Linux and ns-3 have 1", "a whole number, 1 to 16"
        => |x| (1..=16).contains(x);
    /// Window at the end of slow start: "stay" as it is, or "fit", at most the path's capacity without a queue plus a
    /// segment.
    slow_start_end: SlowStartEnd = "stay", "", "section 3.3; Linux and ns-3 have fit";
    /// Window after a loss: a "share" of the window, or a "segment" less than the window, or the threshold if that is
    /// less.
    at_loss: AtLoss = "share", "", "the authors' code; ns-3 has segment";
    /// Share of the window that remains after a loss; also the threshold after a timeout.
    loss_leaves: f64 = "0.75", "", "the authors' code, by Hengartner et al., INFOCOM 2000 (second-hand); Linux halves",
        "a number above 0, below 1" => |x| *x > 0.0 && *x < 1.0;
    /// Start of the time over which the shortest round trip is taken: the connection's "opening", or the latest time
    /// at which its path was "empty", with nothing in flight.
    base_since: BaseSince = "opening", "", "section 3.2; Linux has empty";
    then ..window: reno_window::Params {
        floor = "2.0", "Linux", "a number of at least 1" => |x| *x >= 1.0;
    };
    together {
        "alpha": "at most beta" => |p| p.alpha <= p.beta;
    }
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "vegas",
    title: "Vegas",
    source: "Brakmo and Peterson, TCP Vegas: End to end congestion avoidance on a global Internet, IEEE Journal on \
             Selected Areas in Communications 13(8), 1995, sections 3.2 and 3.3",
    what: "Delay-based: once a round trip adds a segment if fewer than alpha of its segments wait in queues, and \
           removes one if more than beta do.",
    differences: &[
        "Retransmissions and their effect on the window belong to the transport: the checks of section 3.1 at the \
         first duplicate ACK, by a clock of microseconds, are not made.",
        "The actual rate is the window over the round trip; the paper counts the bytes sent in it, which is the same \
         while the window limits sending.",
        "The window does not grow while something else than the window limits sending; Linux' Vegas grows then.",
        "After each comparison ssthresh is three quarters of the window at least, as in Linux and ns-3; the paper has \
         no \
         such rule.",
        "Round trips are not rounded to microseconds as in Linux, which also adds one to each.",
    ],
    state: &[
        ("base_rtt_s", "shortest round trip, seconds"),
        ("diff_segments", "segments of the window that wait in queues, at the latest comparison"),
    ],
    profile: Profile::TCP,
    params: Params::PARAMS,
};

/// A Vegas sender.
#[derive(Clone, Debug)]
pub struct Vegas {
    window: RenoWindow,
    params: Params,
    /// Shortest round trip; [`Time::NEVER`] before the first sample.
    base: Time,
    /// Shortest round trip since the current round trip began, and its number of samples.
    least: Time,
    count: u32,
    /// Bytes sent when the round trip began; `None` while Vegas does not compare.
    round: Option<u64>,
    /// Number of the round trip in slow start; it doubles in the first of every `double_every`.
    turn: u32,
    diff: f64,
    recovering: bool,
}

impl Vegas {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Vegas {
        Vegas {
            window: RenoWindow::new(env, params.window, Halve::Cwnd),
            params: *params,
            base: Time::NEVER,
            least: Time::NEVER,
            count: 0,
            round: None,
            turn: 0,
            diff: f64::NAN,
            recovering: false,
        }
    }

    fn is_whole(&self) -> bool {
        self.params.window.arithmetic == Arithmetic::Whole
    }

    /// Rounds a number of segments to the arithmetic.
    fn in_kind(&self, segments: f64) -> f64 {
        if self.params.window.arithmetic == Arithmetic::Real { segments } else { libm::floor(segments) }
    }

    fn begin_round(&mut self, sent: u64) {
        (self.round, self.count, self.least) = (Some(sent), 0, Time::NEVER);
    }

    /// Grows in slow start, in the round trips that allow it; `segments` of whole arithmetic.
    fn slow_start(&mut self, ack: &Ack, segments: f64) {
        if self.turn != 0 {
            return;
        }
        if self.is_whole() {
            // segments left over by slow start do not count in avoidance
            self.window.grow_whole(ack, segments.min(1.0));
        } else {
            self.window.slow_start(ack);
        }
    }

    fn reno(&mut self, ack: &Ack, segments: f64) {
        if self.is_whole() {
            self.window.grow_whole(ack, segments);
        } else {
            self.window.grow(ack);
        }
    }

    /// Sections 3.2 and 3.3: the end of a round trip that took `rtt`.
    fn compare(&mut self, ack: &Ack, rtt: Time, segments: f64) {
        let mss = self.window.mss;
        let (base, rtt) = (self.base.0 as f64, rtt.0 as f64);
        let cwnd = self.in_kind(self.window.cwnd / mss);
        let fits = self.in_kind(cwnd * base / rtt);
        self.diff = match self.params.diff {
            Diff::Rate => cwnd - fits,
            Diff::Excess => self.in_kind(cwnd * (rtt - base) / base),
        };
        if self.window.cwnd < self.window.ssthresh {
            let compares = self.turn + 1 == self.params.double_every;
            self.turn = (self.turn + 1) % self.params.double_every;
            if !(compares && self.diff > self.params.gamma) {
                return self.slow_start(ack, segments);
            }
            if self.params.slow_start_end == SlowStartEnd::Fit {
                self.window.cwnd = cwnd.min(fits + 1.0) * mss;
            }
            self.end_slow_start();
        } else if self.diff > self.params.beta {
            self.window.cwnd = (cwnd - 1.0) * mss;
            self.end_slow_start();
        } else if self.diff < self.params.alpha && ack.cwnd_limited {
            self.window.cwnd = (cwnd + 1.0) * mss;
        }
        self.window.cwnd = self.window.cwnd.max(self.params.window.floor * mss);
        self.window.ssthresh = self.window.ssthresh.max(self.window.three_quarters());
    }

    /// Raises the window to the threshold; ns-3's threshold is the window after its losses.
    fn end_slow_start(&mut self) {
        match self.params.at_loss {
            AtLoss::Share => self.window.end_slow_start(),
            AtLoss::Segment => {
                self.window.ssthresh =
                    self.after_loss(self.window.cwnd).max(self.params.window.floor * self.window.mss);
            }
        }
    }

    /// Window after a loss with a window of `in_force` bytes.
    fn after_loss(&self, in_force: f64) -> f64 {
        match self.params.at_loss {
            AtLoss::Share => self.params.loss_leaves * in_force,
            AtLoss::Segment => self.window.ssthresh.min(in_force - self.window.mss),
        }
    }
}

impl Controller for Vegas {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            (self.base, self.least) = (self.base.min(rtt), self.least.min(rtt));
            self.count += 1;
        }
        let segments = if self.is_whole() { self.window.whole_segments(ack) } else { 0.0 };
        if ack.phase != Phase::Open {
            self.round = None;
            return self.reno(ack, segments);
        }
        let Some(began) = self.round else {
            // the first round trip, or the first without a reduction
            self.begin_round(ack.round.sent);
            self.turn = 0;
            if self.window.cwnd < self.window.ssthresh {
                self.slow_start(ack, segments);
            }
            return;
        };
        let over = match self.params.round_ends {
            RoundEnd::Beyond => ack.round.is_past(began),
            RoundEnd::At => ack.round.has_reached(began),
        };
        if over && ack.acked > 0 {
            let rtt = match self.params.rtt_of {
                RttOf::Segment => ack.rtt,
                RttOf::Least => (self.count > 0).then_some(self.least),
            };
            match rtt.filter(|rtt| self.count >= self.params.samples && *rtt > Time::ZERO && !ack.ece) {
                Some(rtt) => self.compare(ack, rtt, segments),
                None => self.reno(ack, segments),
            }
            self.begin_round(ack.round.sent);
        } else if self.window.cwnd < self.window.ssthresh {
            self.slow_start(ack, segments);
        }
        if self.params.base_since == BaseSince::Empty && ack.round.acked == ack.round.sent {
            self.base = Time::NEVER;
            self.begin_round(ack.round.sent);
        }
    }

    fn on_loss(&mut self, event: &Congestion) {
        let left = self.after_loss(event.window);
        self.window.reduce(left);
        self.recovering = true;
    }

    fn on_ecn(&mut self, event: &Congestion) {
        let left = self.after_loss(event.window);
        self.window.reduce(left);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        let left = self.after_loss(event.window);
        self.window.restart(event, left);
        self.recovering = false;
    }

    fn on_recovered(&mut self, _now: Time, _in_flight: u64) {
        if core::mem::take(&mut self.recovering) {
            self.window.recovered();
        }
    }

    fn on_undo(&mut self) {
        self.window.undo();
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("base_rtt_s", if self.base == Time::NEVER { f64::NAN } else { self.base.as_secs_f64() });
        visit("diff_segments", if self.diff.is_finite() { self.diff } else { f64::NAN });
    }

    by_window!();
}
