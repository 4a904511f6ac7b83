//! The window: additive increase and multiplicative decrease around the target delay (algorithm 1, sections 3.1 and
//! 3.2).
//!
//! ```text
//! on an ACK:  delay < target:  w += n ai / w   (n ai below one packet)
//!             else, once an RTT:  w *= max(1 - beta (delay - target) / delay, 1 - max_mdf)
//! then:       w = clamp(min_cwnd, w, max_cwnd);  if w fell:  t_last_decrease = now
//! ```

use super::emulation::{self, Arithmetic, Counts, DecreaseClock, Emulation};
use crate::{Env, Time};

params! {
    /// Additive increase per round trip.
    ai: f64 = "1.0", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
    /// Multiplicative decrease for each unit of (delay - target) / delay.
    beta: f64 = "0.8", "", "htsim; not published", "a number above 0" => |x| *x > 0.0;
    /// Largest decrease in one round trip, as a share of the window.
    max_mdf: f64 = "0.5", "", "htsim; not published",
        "a number above 0, at most 1" => |x| *x > 0.0 && *x <= 1.0;
    /// Smallest window.
    min_cwnd: f64 = "0.001", "packets", "section 3.4", "a number above 0" => |x| *x > 0.0;
    /// Largest window.
    max_cwnd: f64 = "1000.0", "packets", "htsim; not published", "a number above 0" => |x| *x > 0.0;
    /// Allows windows below one packet, which are then paced; otherwise one packet is the smallest.
    below_one: bool = "true", "", "section 3.4; table 3 of the paper has both";
    /// Number of consecutive timeouts after which the window becomes min_cwnd.
    retx_reset_threshold: u32 = "5", "timeouts", "htsim; not published",
        "a whole number of at least 1" => |n| *n >= 1;
    then ..emulation: emulation::Params;
    together {
        "min_cwnd": "at most max_cwnd" => |p| p.min_cwnd <= p.max_cwnd;
        "max_cwnd": "at least 1 with below_one = false" => |p| p.below_one || p.max_cwnd >= 1.0;
        "counts": "delivered with arithmetic = bytes or segments, which have a count of their own" =>
            |p| p.emulation.counts == Counts::Delivered || !p.emulation.chosen().counts_segments();
    }
}

impl Params {
    /// Smallest window, packets.
    pub(super) fn least(&self) -> f64 {
        if self.below_one { self.min_cwnd } else { self.min_cwnd.max(1.0) }
    }

    /// The constants of algorithm 1.
    pub(super) fn constants(&self, env: &Env) -> Constants {
        Constants {
            ai: self.ai,
            beta: self.beta,
            max_mdf: self.max_mdf,
            min_cwnd: self.least(),
            max_cwnd: self.max_cwnd,
            mss: f64::from(env.mss),
            other: self.emulation.chosen(),
        }
    }
}

/// The constants of algorithm 1, windows in packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub(super) ai: f64,
    pub(super) beta: f64,
    pub(super) max_mdf: f64,
    pub(super) min_cwnd: f64,
    pub(super) max_cwnd: f64,
    /// Bytes of a packet.
    pub(super) mss: f64,
    pub(super) other: Emulation,
}

/// Change of the window requested by a delay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Verdict {
    /// Additive increase.
    Grow,
    /// Increase by this share of the window per acknowledged window of packets.
    Raise(f64),
    /// Decrease by this share of the window, limited by max_mdf, if the last decrease was at least an RTT ago.
    Cut(f64),
    /// No change.
    Hold,
}

impl Verdict {
    /// Algorithm 1: `delay` against `target`, in the same unit.
    #[inline]
    pub(super) fn of(delay: f64, target: f64, beta: f64) -> Verdict {
        if delay < target {
            return Verdict::Grow;
        }
        // At the target the decrease is zero; tested separately, because links without delay make it 0/0.
        let excess = if delay > target { (delay - target) / delay } else { 0.0 };
        Verdict::Cut(beta * excess)
    }
}

/// Event to a window: its time, the RTT that must lie between decreases, and whether a fall counts as a decrease.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: Time,
    pub(super) rtt: Time,
    pub(super) restarts: bool,
}

/// A window in packets, and the time of its last decrease.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) w: f64,
    pub(super) t_last_decrease: Time,
}

// TEXTBOOK stands for the paper's choices, which then need no lookup at every ACK.
impl Window {
    /// Algorithm 1, line 3: a decrease once every RTT.
    pub(super) fn can_decrease(&self, at: Moment) -> bool {
        at.now.saturating_sub(self.t_last_decrease) >= at.rtt
    }

    /// Algorithm 1 on an ACK for `n` packets.
    #[inline(always)]
    pub(super) fn on_ack<const TEXTBOOK: bool>(&mut self, c: &Constants, verdict: Verdict, n: f64, at: Moment) {
        let before = self.w;
        match verdict {
            Verdict::Grow if !TEXTBOOK && c.other.arithmetic == Arithmetic::Segments => {
                self.w = Emulation::whole_increase(c.ai, self.w, n);
            }
            Verdict::Grow => self.w += if self.w >= 1.0 { n * c.ai / self.w } else { n * c.ai },
            Verdict::Raise(s) => self.w += s * n.min(self.w),
            Verdict::Cut(s) if self.can_decrease(at) => {
                self.w *= (1.0 - s).max(1.0 - c.max_mdf);
            }
            _ => {}
        }
        self.settle::<TEXTBOOK>(c, before, at);
    }

    /// Algorithm 1 on a fast recovery, and on a timeout below the threshold.
    pub(super) fn on_loss(&mut self, c: &Constants, at: Moment) {
        let before = self.w;
        if self.can_decrease(at) {
            self.w *= 1.0 - c.max_mdf;
        }
        self.settle::<false>(c, before, at);
    }

    /// Algorithm 1 on the threshold-th timeout in a row.
    pub(super) fn reset(&mut self, c: &Constants, at: Moment) {
        let before = self.w;
        self.w = c.min_cwnd;
        self.settle::<false>(c, before, at);
    }

    /// The end of algorithm 1, after every event.
    #[inline(always)]
    pub(super) fn settle<const TEXTBOOK: bool>(&mut self, c: &Constants, before: f64, at: Moment) {
        if !TEXTBOOK {
            self.w = c.other.rounded(self.w, c.mss);
        }
        self.w = self.w.max(c.min_cwnd).min(c.max_cwnd);
        let unchanged = !TEXTBOOK && c.other.decrease_clock == DecreaseClock::Literal && self.w == before;
        if (self.w < before || unchanged) && (TEXTBOOK || at.restarts) {
            self.t_last_decrease = at.now;
        }
    }
}
